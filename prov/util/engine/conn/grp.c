/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/grp.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/api.h"
#include "engine/dev.h"
#include "engine/recv.h"
#include "engine/serve.h"
#include "engine/tx.h"

/* A shortage of memory does not end sooner by asking in every poll. */
#define RETRY_NS CLOCK_NS_PER_MS

static const char grp_key;

/* The engine's poller is the group's memory, too: it is freed with the last endpoint. */
static struct eng_grp *grp_of(struct obj_poller *poller)
{
	return container_of(poller, struct eng_grp, poller);
}

/* Each runs once: what cannot be done yet goes behind what is added meanwhile, so a poll ends. */
static int grp_poll(struct obj_poller *poller, unsigned budget)
{
	struct eng_grp *grp = grp_of(poller);
	struct eng_work *work;
	struct list todo;
	int done = 0;

	list_init(&todo);
	list_splice_tail(&grp->work, &todo);
	while (budget-- && (work = list_pop_entry(&todo, struct eng_work, node))) {
		if (work->run(work))
			eng_grp_defer(grp, work);
		else
			done++;
	}
	list_splice_tail(&todo, &grp->work);
	obj_poller_rest(poller, list_empty(&grp->work));
	return done;
}

/* Work that was refused memory has no descriptor that could wake its thread: a timer does. */
static int grp_arm(struct obj_poller *poller, uint64_t *deadline_ns)
{
	uint64_t then;

	if (list_empty(&grp_of(poller)->work))
		return 0;
	then = clock_ns() + RETRY_NS;
	if (then < *deadline_ns)
		*deadline_ns = then;
	return 0;
}

/* Requests in the pools end with their endpoints, which are closed before the group. */
static void grp_close(struct obj_poller *poller)
{
	struct eng_grp *grp = grp_of(poller);

	eng_dev_grp_fini(grp);
	ids_fini(&grp->ids);
	pool_destroy(&grp->txs);
	pool_destroy(&grp->recvs);
	pool_destroy(&grp->msgs);
	pool_destroy(&grp->outs);
	pool_destroy(&grp->bounces);
	pool_destroy(&grp->serves);
	pool_destroy(&grp->amos);
	free(grp);
}

static void grp_revoke(struct obj_poller *poller, const struct obj_mr *mr, unsigned phases,
		       enum obj_revoke how)
{
	eng_serve_revoke(grp_of(poller), mr, phases, how);
}

static const struct obj_poller_ops grp_ops = {
	.poll = grp_poll,
	.arm = grp_arm,
	.revoke = grp_revoke,
	.close = grp_close,
};

/* Found by the address of a static object: one for each group, made by the first endpoint that asks. */
int eng_grp_get(struct obj_prog *prog, struct eng_grp **grp_p)
{
	struct obj_poller *poller = obj_prog_find(prog, &grp_key);
	struct eng_grp *grp;

	if (poller) {
		*grp_p = grp_of(poller);
		return 0;
	}
	grp = calloc(1, sizeof(*grp));
	if (!grp)
		return -FI_ENOMEM;
	grp->poller.ops = &grp_ops;
	grp->poller.key = &grp_key;
	grp->poller.fd = -1;
	ids_init(&grp->ids);
	pool_init(&grp->txs, sizeof(struct eng_tx), 16, 0);
	pool_init(&grp->recvs, sizeof(struct eng_recv), 32, 0);
	pool_init(&grp->msgs, sizeof(struct eng_msg), 32, 0);
	pool_init(&grp->outs, sizeof(struct eng_out), 16, 0);
	pool_init(&grp->bounces, ENG_INJECT_MAX, 8, 0);
	pool_init(&grp->serves, sizeof(struct eng_serve), 8, 0);
	pool_init(&grp->amos, ENG_AMO_ROOM, 4, 0);
	list_init(&grp->work);
	list_init(&grp->serving);
	obj_prog_add(prog, &grp->poller);
	obj_poller_rest(&grp->poller, true);
	*grp_p = grp;
	return 0;
}

/* The group may be asleep: it is told when to wake. */
void eng_grp_defer(struct eng_grp *grp, struct eng_work *work)
{
	if (!list_empty(&work->node))
		return;
	list_add_tail(&work->node, &grp->work);
	obj_poller_rest(&grp->poller, false);
	obj_prog_moved(grp->poller.prog, clock_ns() + RETRY_NS);
}
