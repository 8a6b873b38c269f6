/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * async.h - asynchronous events of devices: ports that go down and come up, errors that belong to
 * no request.  They are logged, for diagnosis of a job that makes no progress.  librdmacm reports
 * the removal of a device to each endpoint besides.
 */
#ifndef VRB_ASYNC_H
#define VRB_ASYNC_H

#include "progress/group.h"
#include "lib.h"

/* vrb_async_watch - read the events of @ctx in the group @prog, once for each device.
 *
 * Where several groups of a process watch a device, one of them gets each event.
 * Threading: caller holds prog->lock.
 * Errors:    -FI_ENOMEM, -FI_EMFILE, -FI_ENFILE.
 */
int vrb_async_watch(struct obj_prog *prog, struct ibv_context *ctx);

#endif
