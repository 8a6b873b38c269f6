/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * imported.h - the memory monitor that the program imported (fi_export(3)), for watch.c.  Each
 * of these functions may call the program, so no lock may be held that its calls of notify()
 * need.
 *
 * Threading: any thread.
 */
#ifndef MR_IMPORTED_H
#define MR_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/monitor.h"

/* mr_imported_init - once, before all others. */
void mr_imported_init(void);

/* mr_imported_start - have @notify called until mr_imported_stop().
 * Errors: -FI_ENOSYS: none is imported.  Errors of the monitor's start, logged.
 */
int mr_imported_start(ofi_monitor_notify_fn notify);

/* mr_imported_any - true when a monitor is imported.  Valid between start and stop. */
bool mr_imported_any(void);

void mr_imported_stop(ofi_monitor_notify_fn notify);

/* mr_imported_subscribe - watch a range.
 * @life_p: [out] identifies the import, for the other calls about this range
 * Errors: -FI_ENOSYS: none is imported any more.  Errors of the monitor.
 */
int mr_imported_subscribe(const void *addr, size_t len, unsigned *life_p);

/* For a monitor that is no longer imported, unsubscribe does nothing and valid returns false. */
void mr_imported_unsubscribe(const void *addr, size_t len, unsigned life);
bool mr_imported_valid(const void *addr, size_t len, unsigned life);

#endif
