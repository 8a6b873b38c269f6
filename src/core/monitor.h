/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* monitor.h - a program's own memory monitor, for the registration cache.
 *
 * A program that watches its memory anyway (an MPI) imports its monitor; the
 * cache then subscribes to it and none of the library's own is used.
 */
#ifndef CORE_MONITOR_H
#define CORE_MONITOR_H

#include <rdma/fi_ext.h>

#include "core/import.h"

/* core_monitor_import - use @monitor; NULL: none any more.
 *
 * Sets monitor->import_ops, and keeps it until fi_close(&monitor->fid).
 *
 * Errors: -FI_EINVAL not a monitor; -FI_ENOSYS it lacks an operation; -FI_EBUSY
 *         another one is in.
 */
int core_monitor_import(struct fid_mem_monitor *monitor);

/* core_monitor - the slot that it is in, to be entered for each call. */
extern struct core_import core_monitor;

/* core_monitor_notified - whom to tell about memory that changed, or NULL.
 *
 * The registration cache sets it while it holds anything.
 */
extern void (*core_monitor_notified)(const void *addr, size_t len);

#endif
