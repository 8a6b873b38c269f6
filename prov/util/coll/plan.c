/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "coll/plan.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/array.h"

static struct coll_step *step_add(struct coll_plan *p, enum coll_kind kind, size_t len)
{
	struct coll_step *steps;

	if (array_reserve(&p->steps, p->cnt, &p->room, sizeof(*steps))) {
		p->failed = true;
		return NULL;
	}
	steps = &p->steps[p->cnt++];
	*steps = (struct coll_step) { .kind = (uint8_t) kind, .wait = p->wait, .len = len };
	p->wait = false;
	return steps;
}

void coll_plan_send(struct coll_plan *p, uint32_t peer, struct coll_at src, size_t len)
{
	struct coll_step *step = step_add(p, COLL_SEND, len);

	if (!step)
		return;
	step->peer = peer;
	step->src = src;
}

void coll_plan_recv(struct coll_plan *p, uint32_t peer, struct coll_at dst, size_t len)
{
	struct coll_step *step = step_add(p, COLL_RECV, len);

	if (!step)
		return;
	step->peer = peer;
	step->dst = dst;
}

static void add_local(struct coll_plan *p, enum coll_kind kind, struct coll_at dst,
		      struct coll_at src, size_t len)
{
	struct coll_step *step;

	p->wait = true;
	if (!len)
		return;
	step = step_add(p, kind, len);
	if (!step)
		return;
	step->src = src;
	step->dst = dst;
}

void coll_plan_copy(struct coll_plan *p, struct coll_at dst, struct coll_at src, size_t len)
{
	add_local(p, COLL_COPY, dst, src, len);
}

void coll_plan_reduce(struct coll_plan *p, struct coll_at dst, struct coll_at src, size_t len)
{
	add_local(p, COLL_REDUCE, dst, src, len);
}

static void plan_begin(struct coll_plan *p)
{
	p->cnt = 0;
	p->tmp = 0;
	p->failed = false;
	p->wait = false;
}

int coll_plan_make(struct coll_plan *p, const struct coll_task *task)
{
	static void (*const make[])(struct coll_plan *, const struct coll_task *) = {
		[FI_BARRIER] = coll_barrier,
		[FI_BROADCAST] = coll_broadcast,
		[FI_ALLTOALL] = coll_alltoall,
		[FI_ALLREDUCE] = coll_allreduce,
		[FI_ALLGATHER] = coll_allgather,
		[FI_REDUCE_SCATTER] = coll_reduce_scatter,
		[FI_REDUCE] = coll_reduce,
		[FI_SCATTER] = coll_scatter,
		[FI_GATHER] = coll_gather,
	};
	struct coll_task t = *task;

	if (!t.long_len)
		t.long_len = COLL_LONG;
	plan_begin(p);
	make[t.op](p, &t);
	return p->failed ? -FI_ENOMEM : 0;
}

int coll_plan_join(struct coll_plan *p, uint32_t n, uint32_t rank, size_t len)
{
	struct coll_task t = { .n = n, .rank = rank, .count = len, .size = 1 };

	plan_begin(p);
	coll_report_tree(p, &t);
	coll_plan_wait(p);
	coll_broadcast_tree(p, &t, coll_out(0));
	return p->failed ? -FI_ENOMEM : 0;
}

void coll_plan_free(struct coll_plan *p)
{
	free(p->steps);
	*p = (struct coll_plan) { 0 };
}
