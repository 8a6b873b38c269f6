/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* monitor.h - a memory monitor of the program, for the registration cache.
 *
 * A program that watches its memory anyway (an MPI library) imports its monitor; the cache then
 * uses it instead of the library's monitors.
 */
#ifndef CORE_MONITOR_H
#define CORE_MONITOR_H

#include "base/monitor.h"

/* core_monitor_import - use @monitor; NULL: none any more.
 * Sets monitor->import_ops, and keeps it until fi_close(&monitor->fid).
 * Errors: -FI_EINVAL not a monitor; -FI_ENOSYS it lacks an operation; -FI_EBUSY another one is
 *         imported; the errors of its start, if the cache has listeners.
 */
int core_monitor_import(struct fid_mem_monitor *monitor);

/* core_monitor_ops - the operations for the registration cache. */
extern struct ofi_monitor_ops core_monitor_ops;

/* core_monitor_fork_child - after fork(): discount the calls of threads that the child does not
 * have.
 */
void core_monitor_fork_child(void);

#endif
