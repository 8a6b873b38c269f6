/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The poller: one per progress group, for all its links.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conn.h"

#define BURST 32			/* completions read at a time */
/* Looks for connections, each maybe a system call, are so far apart at most. */
#define EQ_TURNS 32u			/* polls */
#define EQ_NS CLOCK_NS_PER_MS		/* time: somebody who polls rarely is called, too */
#define RETRY_NS (CLOCK_NS_PER_MS / 10)
#define RETRY_PAUSED_NS CLOCK_NS_PER_MS

static struct rxm_poller *poller_of(struct obj_poller *base)
{
	return container_of(base, struct rxm_poller, base);
}

/* ---- completions below ----------------------------------------------------------------- */

static void complete(struct rxm_op *op, size_t len, int err)
{
	struct rxm_sock *sock = op->sock;

	switch (op->kind) {
	case RXM_OP_RECV:
		if (!err)
			rxm_on_message(container_of(op, struct rxm_buf, op), len);
		break;
	case RXM_OP_SEND:
		rxm_on_sent(container_of(op, struct rxm_out, op));
		break;
	case RXM_OP_READ:
		rxm_on_read(container_of(op, struct rxm_read, op), err);
		return;
	}
	if (err && sock->conn && err != FI_ECANCELED)
		rxm_conn_fail(sock->conn, err);
}

/* Takes one error away.  False: there is none. */
static bool complete_error(struct rxm_dom *dom)
{
	struct fi_cq_err_entry err = { 0 };

	if (fi_cq_readerr(dom->cq, &err, 0) != 1)
		return false;
	if (err.op_context)
		complete(err.op_context, 0, err.err ? err.err : FI_EIO);
	return true;
}

static unsigned read_cq(struct rxm_dom *dom, unsigned budget)
{
	struct fi_cq_msg_entry entry[BURST];
	unsigned done = 0;
	ssize_t got, i;

	do {
		got = fi_cq_read(dom->cq, entry, BURST);
		if (got == -FI_EAVAIL)
			got = complete_error(dom) ? 0 : -FI_EAGAIN;
		for (i = 0; i < got; i++)
			complete(entry[i].op_context, entry[i].len, 0);
		done += got > 0 ? (unsigned) got : !got;
	} while (got >= 0 && done < budget);
	if (got < 0)
		rxm_dom_reap(dom);
	return done;
}

/* ---- events below ------------------------------------------------------------------------ */

/* An event, with the most private data that one can have. */
union event {
	struct fi_eq_cm_entry cm;
	char room[sizeof(struct fi_eq_cm_entry) + 512];
};

static void on_error(struct rxm_dom *dom)
{
	char data[512];
	struct fi_eq_err_entry err = { .err_data = data, .err_data_size = sizeof(data) };
	struct rxm_sock *sock;

	if (fi_eq_readerr(dom->eq, &err, 0) < 0)
		return;
	sock = hmap_find(&dom->fids, (uintptr_t) err.fid);
	if (sock && sock->conn)
		rxm_on_refused(sock, err.err, err.err_data, err.err_data_size);
}

static void on_event(struct rxm_dom *dom, uint32_t event, union event *ev, size_t len)
{
	void *owner = hmap_find(&dom->fids, (uintptr_t) ev->cm.fid);
	size_t size = len > sizeof(ev->cm) ? len - sizeof(ev->cm) : 0;

	if (event == FI_CONNREQ) {
		if (owner)
			rxm_on_connreq(owner, ev->cm.info, ev->cm.data, size);
		fi_freeinfo(ev->cm.info);
		return;
	}
	if (!owner)
		return;		/* closed since */
	if (event == FI_CONNECTED) {
		rxm_on_connected(owner, ev->cm.data, size);
	} else if (event == FI_SHUTDOWN) {
		while (read_cq(dom, UINT32_MAX))
			;
		if (hmap_find(&dom->fids, (uintptr_t) ev->cm.fid) == owner)
			rxm_on_ended(owner);
	}
}

static unsigned read_eq(struct rxm_dom *dom)
{
	union event ev;
	unsigned done = 0;
	uint32_t event;
	ssize_t len;

	do {
		len = fi_eq_read(dom->eq, &event, &ev, sizeof(ev), 0);
		if (len == -FI_EAVAIL)
			on_error(dom);
		else if (len >= (ssize_t) sizeof(ev.cm))
			on_event(dom, event, &ev, (size_t) len);
		done += len >= 0 || len == -FI_EAVAIL;
	} while (len >= 0 || len == -FI_EAVAIL);
	return done;
}

/* Connections that come about are looked after at once, others when arm() was told of an
 * event, or now and then.
 */
static bool eq_is_due(const struct rxm_poller *poller, struct rxm_dom *dom)
{
	uint64_t now = clock_coarse_ns();

	if (++dom->eq_turn < EQ_TURNS && now < dom->eq_due &&
	    timers_next(&poller->timers) == UINT64_MAX)
		return false;
	dom->eq_turn = 0;
	dom->eq_due = now + EQ_NS;
	return true;
}

int rxm_poller_once(struct rxm_poller *poller, unsigned budget)
{
	struct rxm_dom *dom;
	struct list *pos;
	unsigned done = 0;

	list_for_each(pos, &poller->doms) {
		dom = container_of(pos, struct rxm_dom, node);
		done += read_cq(dom, budget);
		if (eq_is_due(poller, dom))
			done += read_eq(dom);
	}
	return (int) done;
}

/* ---- all of it ------------------------------------------------------------------------------ */

void rxm_poller_flush(struct rxm_poller *poller)
{
	struct list todo, *node;
	struct rxm_conn *conn;

	list_init(&todo);
	list_splice_tail(&poller->dirty, &todo);
	poller->blocked = false;
	while ((node = list_pop(&todo))) {
		conn = container_of(node, struct rxm_conn, dirty_node);
		if (conn->state != RXM_READY)
			continue;
		if (rxm_tx_push(conn)) {
			poller->blocked = true;
			rxm_conn_touch(conn);
		} else if (!poller->polling && !list_empty(&conn->pending)) {
			rxm_conn_touch(conn);	/* these are a matter for poll() */
		}
	}
}

static int resume_paused(struct rxm_poller *poller)
{
	struct list todo, *node;
	int done = 0;

	list_init(&todo);
	list_splice_tail(&poller->paused, &todo);
	while ((node = list_pop(&todo))) {
		rxm_rx_run(container_of(node, struct rxm_conn, state_node));
		done++;
	}
	return done;
}

static int resume_stalled(struct rxm_poller *poller)
{
	struct list todo, *node;
	struct rxm_read *read;
	int done = 0;

	list_init(&todo);
	list_splice_tail(&poller->stalled, &todo);
	while ((node = list_pop(&todo))) {
		read = container_of(node, struct rxm_read, stall_node);
		if (!rxm_read_go(read))
			list_add_tail(node, &poller->stalled);
		else if (!read->out)
			rxm_on_read(read, 0);	/* there was nothing to read */
		done++;
	}
	return done;
}

static int bury_failed(struct rxm_poller *poller)
{
	struct list *node;
	int done = 0;

	for (; (node = list_pop(&poller->failed)); done++)
		rxm_conn_lost(container_of(node, struct rxm_conn, state_node));
	return done;
}

/* Is it the application that polls?  Then a burst that it sends may wait for its next
 * poll; with nobody but the progress thread, it may not.
 */
static void note_caller(struct rxm_poller *poller)
{
	uint64_t polls = atomic_load_explicit(&poller->base.prog->polls, memory_order_relaxed);

	poller->app_active = polls != poller->app_polls;
	poller->app_polls = polls;
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct rxm_poller *poller = poller_of(base);
	int done = 0;

	poller->seq++;
	note_caller(poller);
	poller->polling = true;
	if (!list_empty(&poller->dirty))
		rxm_poller_flush(poller);
	done += rxm_poller_once(poller, budget);
	if (poller->timers.cnt)
		done += timers_fire(&poller->timers, clock_ns());
	if (!list_empty(&poller->stalled))
		done += resume_stalled(poller);
	if (!list_empty(&poller->paused))
		done += resume_paused(poller);
	if (!list_empty(&poller->failed))
		done += bury_failed(poller);
	if (!list_empty(&poller->dirty))
		rxm_poller_flush(poller);
	poller->polling = false;
	return done;
}

static int arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct rxm_poller *poller = poller_of(base);
	uint64_t due = timers_next(&poller->timers), retry;
	struct list *pos;

	if (!list_empty(&poller->failed) || (!list_empty(&poller->dirty) && !poller->blocked))
		return -FI_EAGAIN;
	list_for_each(pos, &poller->doms)
		if (rxm_dom_arm(container_of(pos, struct rxm_dom, node)))
			return -FI_EAGAIN;
	if (!list_empty(&poller->dirty) || !list_empty(&poller->stalled) ||
	    !list_empty(&poller->paused)) {
		retry = clock_ns() + (list_empty(&poller->paused) ? RETRY_NS : RETRY_PAUSED_NS);
		due = retry < due ? retry : due;
	}
	if (due < *deadline_ns)
		*deadline_ns = due;
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct rxm_poller *poller = poller_of(base);

	timers_fini(&poller->timers);
	if (poller->base.fd >= 0)
		close(poller->base.fd);
	free(poller);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = arm,
	.close = close_poller,
};

int rxm_poller_get(struct obj_prog *prog, struct rxm_poller **poller_p)
{
	struct rxm_poller *poller;
	struct obj_poller *base;
	int ret = obj_prog_share(prog, &poller_ops, sizeof(*poller), rxm_conf.prov, &base);

	if (ret < 0)
		return ret;
	poller = poller_of(base);
	*poller_p = poller;
	if (!ret)
		return 0;
	list_init(&poller->doms);
	list_init(&poller->dirty);
	list_init(&poller->failed);
	list_init(&poller->paused);
	list_init(&poller->stalled);
	timers_init(&poller->timers);
	return 0;
}
