/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * imported.h - the memory monitor that the program imported (fi_export(3)), as watch.c uses
 * it.  Each call of these may end in one of the program's, so no lock is held that its calls
 * of notify() could want.
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

/* mr_imported_start - have @told called until mr_imported_stop().
 * Errors: -FI_ENOSYS: none is imported.  Those of the monitor's start, logged.
 */
int mr_imported_start(ofi_monitor_told told);

/* mr_imported_any - is there one?  To be asked between start and stop. */
bool mr_imported_any(void);

void mr_imported_stop(ofi_monitor_told told);

/* mr_imported_subscribe - @life_p: [out] for the other calls about this range
 * Errors: -FI_ENOSYS: it is gone.  Its own.
 */
int mr_imported_subscribe(const void *addr, size_t len, unsigned *life_p);

/* Of a monitor that is gone meanwhile nothing is asked, and nothing is valid. */
void mr_imported_unsubscribe(const void *addr, size_t len, unsigned life);
bool mr_imported_valid(const void *addr, size_t len, unsigned life);

#endif
