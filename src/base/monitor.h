/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* monitor.h - how the registration cache reaches a memory monitor of the program.
 *
 * A program imports its monitor into fi_open("mr_cache").  The cache opens the same name and
 * gets these operations from the handle by fi_open_ops().  That works also for a copy of the
 * cache in a provider that was loaded from a file.
 */
#ifndef OFI_BASE_MONITOR_H
#define OFI_BASE_MONITOR_H

#include <rdma/fi_ext.h>

#define OFI_MONITOR_OPS "ofi_monitor"

/* Callback: [@addr, @addr + @len) changes or may have changed.  Any range, in any thread; the
 * thread may hold any lock of the program and may be inside an allocation function.  All of
 * memory when the monitor is removed.
 */
typedef void (*ofi_monitor_notify_fn)(const void *addr, size_t len);

struct ofi_monitor_ops {
	size_t size;

	/* listen - register @notify.  The first listener starts the monitor; a monitor that is
	 * imported while there are listeners is started at the import.
	 * Errors: -FI_ENOSYS: none is imported.  -FI_ENOMEM: too many listeners.  Errors of the
	 *         monitor's start, which are logged.
	 */
	int (*listen)(ofi_monitor_notify_fn notify);

	/* unlisten - unregister @notify.  On return no call of it is in progress; the last
	 * listener stops the monitor.
	 */
	void (*unlisten)(ofi_monitor_notify_fn notify);

	/* enter - get the monitor and hold it until leave(); NULL: none is imported any more.
	 * @life_p: [out] a number that differs for each import
	 * Threading: not from inside notify().
	 */
	struct fid_mem_monitor *(*enter)(unsigned *life_p);
	void (*leave)(void);
};

#endif
