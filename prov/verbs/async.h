/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * async.h - what devices say by themselves: ports that go down and come up, errors that no
 * request is to blame for.  It is said in the log, to who looks there when a job stands still;
 * that a device goes, librdmacm says as well, to each endpoint.
 */
#ifndef VRB_ASYNC_H
#define VRB_ASYNC_H

#include "obj/prog.h"
#include "lib.h"

/* vrb_async_watch - have @ctx looked after by the group @prog; once for each device.
 *
 * Where several groups of a process watch a device, one of them is told of each event.
 * Threading: caller holds prog->lock.
 * Errors:    -FI_ENOMEM, -FI_EMFILE, -FI_ENFILE.
 */
int vrb_async_watch(struct obj_prog *prog, struct ibv_context *ctx);

#endif
