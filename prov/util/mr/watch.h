/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * watch.h - is memory still the memory that it was?
 *
 * A range that is watched is gone once any page of it was unmapped, moved, mapped over or
 * given back (madvise).  Either the kernel says so by a userfaultfd, to a thread of ours, and
 * the call that does it does not return before the thread has heard.  Or the program says so,
 * by a monitor that it imported (imported.h), before it does it.  So whoever looks after
 * that call sees it.  No function of libc is replaced, no page is protected, no fault is
 * caught.  A forked child watches nothing.
 */
#ifndef MR_WATCH_H
#define MR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct fi_provider;

enum mr_watch_by {
	MR_BY_NOBODY,
	MR_BY_KERNEL,
	MR_BY_PROGRAM,
};

struct mr_range {
	struct list node;		/* of all that are watched */
	uintptr_t start, end;		/* whole pages */
	enum mr_watch_by by;
	unsigned life;			/* by the program: of the monitor that knows of it */
	bool gone;			/* guarded by the watcher's lock: see mr_watch_gone() */
};

/* mr_watch_get - have that watcher until mr_watch_put(): the first user starts it.
 * @by:   MR_BY_KERNEL or MR_BY_PROGRAM
 * @prov: in whose name it is logged why there is none
 * Errors: -FI_ENOSYS: the kernel has none or does not let us; the program imported none.
 *         -FI_ENOMEM, -FI_EAGAIN; those of the program's.
 * Threading: any thread, as for all calls here.
 */
int mr_watch_get(enum mr_watch_by by, const struct fi_provider *prov);
void mr_watch_put(enum mr_watch_by by);

/* mr_watch_add - watch [@addr, @addr + @len) from now on.
 *
 * Ownership: @range is the watcher's until mr_watch_del().
 * Errors: -FI_EOPNOTSUPP: this memory cannot be watched (a file's or a device's).
 *         -FI_ENOSYS: the program's watcher has gone.  Its own.
 */
int mr_watch_add(struct mr_range *range, enum mr_watch_by by, const void *addr, size_t len);
void mr_watch_del(struct mr_range *range);

/* mr_watch_gone - has it changed since it was added?   Cost: a lock; and a call of the
 * program's.
 */
bool mr_watch_gone(struct mr_range *range);

/* mr_watch_changes - counts up whenever a range may have gone; wraps.   Cost: a load. */
unsigned mr_watch_changes(void);

#endif
