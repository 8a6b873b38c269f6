/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* monitor.h - the program's own memory monitor, as the registration cache reaches it.
 *
 * A program imports it into fi_open("mr_cache").  The cache opens the same name and asks the
 * handle for these operations, by fi_open_ops(): so it finds what was imported from a
 * provider that was loaded from a file, too.
 */
#ifndef OFI_BASE_MONITOR_H
#define OFI_BASE_MONITOR_H

#include <rdma/fi_ext.h>

#define OFI_MONITOR_OPS "ofi_monitor"

/* Memory changes, or may have: any range, from any thread, which may hold any lock of the
 * program's and may be in the middle of an allocation.  All of memory when the monitor goes.
 */
typedef void (*ofi_monitor_told)(const void *addr, size_t len);

struct ofi_monitor_ops {
	size_t size;

	/* listen - have @told called from now on; the first of all who listen starts the monitor.
	 * One that is imported while somebody listens is started then.
	 * Errors: -FI_ENOSYS: none is imported.  -FI_ENOMEM: too many listen.  Those of its
	 *         start, logged.
	 */
	int (*listen)(ofi_monitor_told told);

	/* unlisten - no more calls, and none is under way; the last one stops the monitor. */
	void (*unlisten)(ofi_monitor_told told);

	/* enter - the monitor, which stays until leave(); NULL: there is none (any more).
	 * @life_p: [out] another one for each import
	 * Not inside told().
	 */
	struct fid_mem_monitor *(*enter)(unsigned *life_p);
	void (*leave)(void);
};

#endif
