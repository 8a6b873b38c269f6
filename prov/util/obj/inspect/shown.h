/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * shown.h - the endpoints of this process that can be looked at, and how they are read.
 *
 * Calls of the program pay nothing for it.  An endpoint is read in steps, each of which lasts some
 * microseconds, by the next progress of a thread of the program: a poll in vain serves the request now
 * and then, and so does one after a read of a completion.  Where none comes and the group has a lock, the
 * inspecting thread takes it.  Without a lock, as under FI_THREAD_DOMAIN, lists cannot be read while
 * the program makes no progress: then the answer says so.
 *
 * Lock order: the lock of the registry, then prog->lock, which is only tried for.
 */
#ifndef OBJ_INSPECT_SHOWN_H
#define OBJ_INSPECT_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "obj/inspect/record.h"

struct obj_prog;
struct obj_shown;

#define OBJ_LOOK_SIZE 65536
#define OBJ_LOOK_ITEMS 16	/* a step ends after so many records, or what takes as long: some 0.3 us each */
#define OBJ_LOOK_STEP_NS 10000	/* it ends after so long, too */
#define OBJ_LOOK_LONG_NS 20000	/* one that lasts longer is counted */

/* One look at an endpoint, and how far it is. */
struct obj_look {
	uint32_t want;		/* enum inspect_want */
	unsigned part;		/* the endpoint's: what is read next; 0 at first */
	size_t pos, sub, done;	/* .. where in it */
	unsigned items;		/* in this step */
	uint64_t end_ns;	/* of it */
	/* of all steps so far, in processor time: so long is a group held, or a thread of the program kept */
	uint64_t steps, long_steps, longest_ns;
	uint64_t served_ns;	/* by threads of the program, together */
	size_t len;		/* bytes in @buf */
	_Alignas(8) uint8_t buf[OBJ_LOOK_SIZE];
};

struct obj_shown {
	struct list node;
	struct obj_prog *prog;
	/* step - append some records.  Returns true: there is more.
	 * Caller holds prog->lock, or is the thread that may use the group.
	 */
	bool (*step)(struct obj_shown *shown, struct obj_look *look);
	void *next;		/* step's: an element that it continues with; NULL: none */
};

/* obj_shown_add - @shown, with prog and step filled in, can be looked at.  The first one starts the
 * thread that answers (server.h).
 * obj_shown_remove - no more; returns when no thread looks at it.
 * Threading: any; the caller does not hold prog->lock.
 */
void obj_shown_add(struct obj_shown *shown);
void obj_shown_remove(struct obj_shown *shown);

/* obj_look_trim - what was added last ends where only zeros follow, which a record need not have.
 * obj_look_add - a zeroed record of @size bytes, or NULL: the step ends.
 * obj_look_ends - is the step over?
 * obj_look_passed - the same, after as much work as for a record, of which nothing is shown
 */
void obj_look_trim(struct obj_look *look, void *rec);
void *obj_look_add(struct obj_look *look, enum inspect_type type, size_t size);
bool obj_look_ends(const struct obj_look *look);
bool obj_look_passed(struct obj_look *look);

/* obj_shown_count - how many there are.
 * obj_shown_each - look at all: @send gets what each step has written, and returns false to end it.
 * @wait_ns: how long the program may take to answer, for all endpoints together
 * Threading: one thread at a time.
 */
unsigned obj_shown_count(void);
void obj_shown_each(struct obj_look *look, uint64_t wait_ns,
		    bool (*send)(void *arg, struct obj_look *look), void *arg);

#endif
