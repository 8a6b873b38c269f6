/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * watch.h - has memory changed since it was registered?
 *
 * A watched range is gone once any page of it was unmapped, moved, mapped over or released
 * (madvise).  The kernel reports that by a userfaultfd to a thread of ours, and the system call
 * that changes memory returns only after the thread has read the event.  Or the program reports
 * it, by an imported monitor (imported.h), before the change.  So a query after the change sees
 * it.  No function of libc is replaced, no page is protected, no fault is caught.  A forked
 * child watches nothing.
 */
#ifndef MR_WATCH_H
#define MR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct fi_provider;

enum mr_watch_by {
	MR_BY_NONE,
	MR_BY_KERNEL,
	MR_BY_PROGRAM,
	MR_BY_OWNER,		/* not watched: the cache's owner knows (struct mr_cache_ops) */
};

struct mr_range {
	struct list node;		/* list of all watched ranges */
	uintptr_t start, end;		/* whole pages */
	enum mr_watch_by by;
	unsigned life;			/* imported monitor: which import watches it */
	bool gone;			/* protected by the watcher's lock: see mr_watch_gone() */
};

/* mr_watch_get - use a watcher until mr_watch_put(); the first user starts it.
 *
 * @by:   MR_BY_KERNEL or MR_BY_PROGRAM
 * @prov: for the log line on failure
 * Errors: -FI_ENOSYS: the kernel has none or does not permit it; the program imported none.
 *         -FI_ENOMEM, -FI_EAGAIN; those of the program's monitor.
 * Threading: any thread, as for all functions here.
 */
int mr_watch_get(enum mr_watch_by by, const struct fi_provider *prov);
void mr_watch_put(enum mr_watch_by by);

/* mr_watch_add - start watching [@addr, @addr + @len).
 *
 * Ownership: the watcher refers to @range until mr_watch_del().
 * Errors: -FI_EOPNOTSUPP: this memory cannot be watched (of a file or a device). -FI_ENOSYS:
 *         the program's monitor was closed.  Errors of the monitor.
 */
int mr_watch_add(struct mr_range *range, enum mr_watch_by by, const void *addr, size_t len);
void mr_watch_del(struct mr_range *range);

/* mr_watch_gone - true when the range has changed since it was added.
 * Cost: a lock; and a call of the program's monitor.
 */
bool mr_watch_gone(struct mr_range *range);

/* mr_watch_unsure - is a thread changing watched memory just now, whose event was not read yet?  That
 * thread waits, but another one may have mapped memory of its own where the old was.  Called before
 * mr_watch_gone() by a caller that is about to use what the range stands for.
 * Cost: a system call where the kernel watches.
 */
bool mr_watch_unsure(const struct mr_range *range);

/* mr_watch_changes - a counter that increases whenever a range may have changed; wraps.
 * Cost: a load.
 */
unsigned mr_watch_changes(void);

#endif
