/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* asked.h - work that another thread asks of the next thread that polls a group: a look at its endpoints. */
#ifndef PROGRESS_ASKED_H
#define PROGRESS_ASKED_H

#include <stdatomic.h>
#include <stdbool.h>

struct obj_prog;

/* obj_asked - the group that is asked, or NULL.
 * obj_asked_take - does what is asked of it; set before the first group is.  Caller holds prog->lock.
 */
extern _Atomic(struct obj_prog *) obj_asked;
extern void (*obj_asked_take)(struct obj_prog *prog);

/* obj_asked_serve - do what is asked of @prog.  Returns whether anything was.  Caller holds prog->lock. */
static inline bool obj_asked_serve(struct obj_prog *prog)
{
	if (__builtin_expect(atomic_load_explicit(&obj_asked, memory_order_relaxed) != prog, 1))
		return false;
	obj_asked_take(prog);
	return true;
}

#endif
