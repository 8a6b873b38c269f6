/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* monitor.h - a program's own memory monitor, for the registration cache.
 *
 * A program that watches its memory anyway (an MPI) imports its monitor; the
 * cache then subscribes to it and none of the library's own is used.
 */
#ifndef CORE_MONITOR_H
#define CORE_MONITOR_H

#include "base/monitor.h"

/* core_monitor_import - use @monitor; NULL: none any more.
 *
 * Sets monitor->import_ops, and keeps it until fi_close(&monitor->fid).
 *
 * Errors: -FI_EINVAL not a monitor; -FI_ENOSYS it lacks an operation; -FI_EBUSY
 *         another one is in; those of its start, if the cache waits for one.
 */
int core_monitor_import(struct fid_mem_monitor *monitor);

/* core_monitor_ops - what the registration cache gets. */
extern struct ofi_monitor_ops core_monitor_ops;

/* core_monitor_fork_child - what threads were about that the child lacks is over. */
void core_monitor_fork_child(void);

#endif
