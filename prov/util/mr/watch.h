/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * watch.h - is memory still the memory that it was?
 *
 * A range that is watched is gone once any page of it was unmapped, moved, mapped over or
 * given back (madvise): the kernel says so by a userfaultfd, to a thread of ours, and the
 * call that does it does not return before the thread has heard.  So whoever looks after
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

struct mr_range {
	struct list node;		/* of all that are watched */
	uintptr_t start, end;		/* whole pages */
	bool gone;			/* guarded by the watcher's lock: see mr_watch_gone() */
};

/* mr_watch_get - have a watcher until mr_watch_put(): the first user starts it.
 * @prov: in whose name it is logged why there is none
 * Errors: -FI_ENOSYS: the kernel has none or does not let us.  -FI_ENOMEM, -FI_EAGAIN.
 * Threading: any thread, as for all calls here.
 */
int mr_watch_get(const struct fi_provider *prov);
void mr_watch_put(void);

/* mr_watch_add - watch [@addr, @addr + @len) from now on.
 *
 * Ownership: @range is the watcher's until mr_watch_del().
 * Errors: -FI_EOPNOTSUPP: this memory cannot be watched (a file's or a device's).
 */
int mr_watch_add(struct mr_range *range, const void *addr, size_t len);
void mr_watch_del(struct mr_range *range);

/* mr_watch_gone - has it changed since it was added?   Cost: a lock. */
bool mr_watch_gone(const struct mr_range *range);

/* mr_watch_changes - counts up whenever a range goes; wraps.   Cost: a load. */
unsigned mr_watch_changes(void);

#endif
