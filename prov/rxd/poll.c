/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The poller: one per progress group, for all its links.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conn.h"

#define RETRY_PAUSED_NS RXD_RETRY_NS
#define RETRY_BLOCKED_NS (CLOCK_NS_PER_MS / 10)
#define LOOK_EVERY 64

static struct rxd_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct rxd_poller, base);
}

static struct rxd_conn *conn_at(struct list *node)
{
	return container_of(node, struct rxd_conn, dirty_node);
}

/* Each in its turn a quantum, until all have had what they may send. */
void rxd_poller_flush(struct rxd_poller *poller, uint64_t now)
{
	struct rxd_conn *conn;
	struct list again, *node;

	list_init(&again);
	while ((node = list_pop(&poller->dirty))) {
		conn = conn_at(node);
		if (conn->state != RXD_READY)
			continue;
		if (rxd_tx_push(conn, now) && conn->state == RXD_READY)
			list_add_tail(node, conn->link->dg->blocked ? &again : &poller->dirty);
		if (conn->state == RXD_READY)
			rxd_conn_rearm(conn, now);
	}
	list_splice_tail(&again, &poller->dirty);
}

static int resume_paused(struct rxd_poller *poller, uint64_t now)
{
	struct list again, *node;
	int done = 0;

	list_init(&again);
	list_splice_tail(&poller->paused, &again);
	while ((node = list_pop(&again)))
		done += rxd_rx_resume(container_of(node, struct rxd_conn, state_node), now);
	return done;
}

static int bury_failed(struct rxd_poller *poller)
{
	struct list *node;
	int done = 0;

	while ((node = list_pop(&poller->failed))) {
		rxd_conn_lost(container_of(node, struct rxd_conn, state_node));
		done++;
	}
	return done;
}

/* note_caller - is it the application that polls?  Then a burst that it sends may
 * wait for its next poll; with nobody but the progress thread, it may not.
 */
static void note_caller(struct rxd_poller *poller)
{
	uint64_t polls = atomic_load_explicit(&poller->base.prog->polls, memory_order_relaxed);

	poller->app_active = polls != poller->app_polls;
	poller->app_polls = polls;
}

/* look_due - without a connection there is nothing but callers to be expected, who need
 * not be looked for in each poll where others have their peers in shared memory.
 */
static bool look_due(struct rxd_poller *poller)
{
	if (!poller->timers.cnt && poller->until_look-- && obj_prog_others_hot(&poller->base))
		return false;
	poller->until_look = LOOK_EVERY;
	return true;
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct rxd_poller *poller = poller_of(base);
	uint64_t now;
	int done = 0;

	poller->seq++;
	poller->input_ns = 0;
	note_caller(poller);
	poller->polling = true;
	if (poller->after)
		rxd_rx_after(poller);
	if (!list_empty(&poller->dirty))
		rxd_poller_flush(poller, rxd_dg_now());
	if (look_due(poller))
		done += rxd_dg_poll(poller, budget, rxd_link_input);
	now = poller->input_ns;
	if (poller->timers.cnt) {
		now = now ? now : rxd_dg_now();
		if (timers_next(&poller->timers) <= now)
			done += timers_fire(&poller->timers, now);
	}
	if (!list_empty(&poller->paused))
		done += resume_paused(poller, now);
	if (!list_empty(&poller->dirty))
		rxd_poller_flush(poller, now ? now : rxd_dg_now());
	if (!list_empty(&poller->failed))
		done += bury_failed(poller);
	poller->polling = false;
	return done;
}

static int arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct rxd_poller *poller = poller_of(base);
	uint64_t due = timers_next(&poller->timers), retry;
	struct list *pos;

	poller->until_look = 0;
	poller->armed_seq = poller->seq;
	if (poller->after || !list_empty(&poller->failed))
		return -FI_EAGAIN;
	list_for_each(pos, &poller->dirty)
		if (!conn_at(pos)->link->dg->blocked)
			return -FI_EAGAIN;
	if (rxd_dg_arm(poller))
		return -FI_EAGAIN;
	if (!list_empty(&poller->dirty) || !list_empty(&poller->paused)) {
		retry = rxd_dg_now() + (list_empty(&poller->dirty) ? RETRY_PAUSED_NS :
					RETRY_BLOCKED_NS);
		due = retry < due ? retry : due;
	}
	if (due < *deadline_ns)
		*deadline_ns = due;
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct rxd_poller *poller = poller_of(base);

	timers_fini(&poller->timers);
	pool_destroy(&poller->chunks);
	pool_destroy(&poller->items);
	pool_destroy(&poller->bodies);
	if (poller->base.fd >= 0)
		close(poller->base.fd);
	free(poller);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = arm,
	.close = close_poller,
};

int rxd_poller_get(struct obj_prog *prog, struct rxd_poller **poller_p)
{
	struct rxd_poller *poller;
	struct obj_poller *base;
	int ret = obj_prog_share(prog, &poller_ops, sizeof(*poller), rxd_conf.prov, &base);

	if (ret < 0)
		return ret;
	poller = poller_of(base);
	*poller_p = poller;
	if (!ret)
		return 0;
	list_init(&poller->doms);
	list_init(&poller->links);
	list_init(&poller->dirty);
	list_init(&poller->failed);
	list_init(&poller->paused);
	timers_init(&poller->timers);
	pool_init(&poller->chunks, sizeof(struct rxd_item) + RXD_CHUNK, 8, 0);
	pool_init(&poller->items, sizeof(struct rxd_item), 64, 0);
	pool_init(&poller->bodies, sizeof(struct rxd_body), 16, 0);
	return 0;
}
