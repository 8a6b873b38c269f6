/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fake_prog.h - a progress group for the tests of a link: a list of pollers, which the test polls.
 * In place of progress/group.c; included by one file of a program.
 */
#ifndef OBJ_FAKE_PROG_H
#define OBJ_FAKE_PROG_H

#include "progress/group.h"

bool obj_prog_others_active(const struct obj_poller *poller)
{
	return false;
}

void obj_poller_set_active(struct obj_poller *poller, bool active)
{
	poller->active = active;
}

void obj_poller_set_quiet(struct obj_poller *poller, bool quiet)
{
	poller->quiet = quiet;
}

int obj_prog_poll_quiet_now(struct obj_prog *prog)
{
	return 0;
}

struct obj_poller *obj_prog_find(struct obj_prog *prog, const void *key)
{
	struct obj_poller *poller;

	list_for_each_entry(poller, &prog->pollers, node)
		if (poller->key == key)
			return poller;
	return NULL;
}

void obj_prog_add(struct obj_prog *prog, struct obj_poller *poller)
{
	poller->prog = prog;
	list_add_tail(&poller->node, &prog->pollers);
}

void obj_prog_set_timer(struct obj_prog *prog, uint64_t deadline_ns)
{
}

#endif
