/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.c - what a poll of the stream link does, in this order.
 *
 * 1. Send what is staged.
 * 2. Rarely: fire timers, offer again what the engine had no memory for, make attempts that have waited.
 * 3. Find input.  There are two ways: read a socket, which costs a system call whether it has anything or not, or
 *    ask the set of descriptors for those that have.  poll.h says which one is used when; the numbers are below.
 * 4. Send what the upcalls have staged, report what has failed, free what was closed.
 *
 * poller_arm() comes before a sleep: all sockets are put back into the set.
 */
#include "poll.h"

#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "link.h"

#define ASKED_IN_MS 32	/* times a millisecond, at least, that the whole set is asked while a connection is active */
#define LONG_POLLS 256		/* without input a connection makes room for others; active for so long it leaves the set */
#define ACKS_EVERY 32		/* events of input between two times that ACKs are delayed */

/* ---- the set --------------------------------------------------------------- */

/* rest_if_idle - the set has reported nothing: with no connection active and nothing to send or
 * report, another poller that is active decides when it is asked again.
 */
static void rest_if_idle(struct tcp_poller *poller)
{
	struct chan_poller *base = &poller->base;

	if (!poller->active && !poller->blocked && list_empty(&base->dirty) &&
	    list_empty(&base->failed) && list_empty(&base->paused) && list_empty(&base->queued) &&
	    list_empty(&poller->dead) && obj_prog_others_active(&base->base))
		obj_poller_set_quiet(&base->base, true);
}

/* run_checks - a peer may be silent: of what is sent over a socket, and of what goes over paths. */
static __attribute__((noinline)) void run_checks(struct tcp_poller *poller)
{
	if (poller->polled_ns >= poller->unacked_due_ns)
		tcp_unacked_check(poller, poller->polled_ns);
	if (poller->polled_ns >= poller->watch_due_ns)
		tcp_recover_look(poller);
	poller->checks_due_ns = poller->unacked_due_ns;
	clock_earlier(&poller->checks_due_ns, poller->watch_due_ns);
}

static __attribute__((noinline)) int ask_set(struct tcp_poller *poller)
{
	int cnt;

	poller->polled_ns = clock_coarse_ns();
	if (poller->polled_ns >= poller->checks_due_ns)
		run_checks(poller);
	cnt = chan_poller_events(&poller->base);
	poller->asked_seq = poller->base.seq;
	poller->asked = clock_cycles();
	poller->asked_all = cnt < CHAN_EVENTS_MAX;
	if (cnt)
		obj_poller_set_quiet(&poller->base.base, false);
	else
		rest_if_idle(poller);
	return cnt;
}

/* ---- active connections ----------------------------------------------------- */

void tcp_poller_deactivate(struct tcp_poller *poller, struct tcp_conn *conn)
{
	bool detached = conn->detached;

	tcp_conn_inactive(conn);
	if (detached && conn->state == TCP_CONN_READY && tcp_conn_watch(conn))
		tcp_conn_fail(conn, FI_ENOMEM, false);
}

void tcp_poller_activate(struct tcp_poller *poller, struct tcp_conn *conn)
{
	conn->used_seq = poller->base.seq;
	if (conn->active)
		return;
	if (poller->active)
		tcp_poller_deactivate(poller, poller->active);
	conn->active = true;
	poller->active = conn;
	obj_poller_set_active(&poller->base.base, true);
}

/* set_attach - a thread is about to block: put a detached connection back into the set. */
static int set_attach(struct tcp_poller *poller)
{
	struct tcp_conn *conn = poller->active;

	if (!conn)
		return 0;
	conn->streak = 0;
	if (!conn->detached)
		return 0;
	conn->detached = false;
	return tcp_conn_watch(conn);
}

static __attribute__((noinline)) void set_detach(struct tcp_poller *poller, struct tcp_conn *conn)
{
	if (conn->rec) {
		conn->streak = 0;	/* the set watches its paths */
		return;
	}
	conn->detached = true;
	tcp_conn_watch(conn);
	obj_prog_disarm(poller->base.base.prog);
}

/* no_more - has @conn had no input for so long that it makes room for others? */
static inline bool no_more(const struct tcp_poller *poller, const struct tcp_conn *conn)
{
	return __builtin_expect(poller->base.seq - conn->used_seq > LONG_POLLS &&
				(poller->ready_cnt > 1 || obj_prog_others_active(&poller->base.base)), 0);
}

static inline int read_one(struct tcp_poller *poller, struct tcp_conn *conn, unsigned budget)
{
	int got = tcp_rx_read(conn, budget);

	if (got) {
		conn->used_seq = poller->base.seq;
	} else if (no_more(poller, conn)) {
		tcp_poller_deactivate(poller, conn);
		return got;
	}
	if (__builtin_expect(!conn->detached, 0) && conn->active && ++conn->streak >= LONG_POLLS)
		set_detach(poller, conn);
	return got;
}

/* ---- what the set reports of a connection that carries a channel ------------------ */

/* few_acks - a peer on the same host that sends and gets nothing, as in many collectives, would be sent an
 * ACK for each packet that is read; it needs none of them soon.
 */
static void few_acks(struct tcp_conn *conn)
{
	if (conn->same_host && conn->state == TCP_CONN_READY && !(conn->acks++ % ACKS_EVERY))
		net_sock_delay_acks(conn->src.fd);
}

/* Output first: it may end the connection, and input is then read no more. */
void tcp_event(struct chan_src *src, uint32_t events)
{
	struct tcp_conn *conn = container_of(src, struct tcp_conn, src);

	tcp_conn_note_end(conn, events);
	if (events & POLLOUT)
		tcp_tx_pump(conn);
	if (conn->state == TCP_CONN_READY && !conn->rx.kept && events & ~(uint32_t) POLLOUT) {
		tcp_poller_activate(conn->poller, conn);
		tcp_rx_read(conn, OBJ_POLL_BUDGET);
		few_acks(conn);
	}
	if (conn->state == TCP_CONN_READY && conn->rx.body == TCP_BODY_OTHERS && !conn->rx.masked) {
		conn->rx.masked = true;
		tcp_conn_watch(conn);
	}
	/* the peer has reset the connection, and what it announced is not wanted yet */
	if (conn->stream && conn->rx.masked && events & POLLERR)
		tcp_conn_fail(conn, FI_ECONNRESET, false);
	/* nothing is read now, so the end of the stream is found later: ask for no event until then */
	if (conn->state == TCP_CONN_READY && (conn->rx.kept || conn->rx.masked) &&
	    events & (POLLHUP | POLLERR))
		chan_src_want(&conn->poller->base, &conn->src, 0);
}

/* ---- work lists -------------------------------------------------------------- */

static int resume_conn(struct list *item)
{
	return tcp_rx_resume(container_of(item, struct tcp_conn, state_node));
}

__attribute__((noinline)) void tcp_poller_flush(struct tcp_poller *poller)
{
	struct list *item;

	obj_prog_unstaged(poller->base.base.prog);
	while ((item = list_pop(&poller->base.dirty)))
		tcp_tx_flush(container_of(item, struct tcp_conn, tx.dirty_node));
}

static int report_lost(struct list *item)
{
	struct tcp_conn *conn = container_of(item, struct tcp_conn, state_node);

	conn->wireup->lost(conn);
	return 1;
}

void tcp_poller_reap(struct tcp_poller *poller)
{
	struct list *item;

	while ((item = list_pop(&poller->dead)))
		tcp_conn_free(container_of(item, struct tcp_conn, state_node));
}

/* ---- the poller ops ------------------------------------------------------------ */

/* look_all - at all that has arrived, for a timer that is due: also at sockets outside of the set. */
static bool look_all(struct chan_poller *base, int *done_p)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base);
	unsigned calls = chan_poller_calls(base);

	if (poller->rest || set_attach(poller))
		return false;
	do
		*done_p += ask_set(poller);
	while (!poller->asked_all && !poller->rest && --calls);
	return !poller->rest;
}

/* poll_rare - timers, paused connections and queued connects: most polls have none. */
static __attribute__((noinline)) int poll_rare(struct tcp_poller *poller)
{
	int done = 0;

	if (poller->base.timers.cnt)
		done += chan_poller_timers(&poller->base, look_all);
	if (chan_poller_resumes(&poller->base))
		done += chan_poller_drain(&poller->base.paused, resume_conn);
	chan_poller_next(&poller->base);
	return done;
}

/* poll_end - send what was staged, report what has failed, free what was closed. */
static __attribute__((noinline)) int poll_end(struct tcp_poller *poller)
{
	int done = 0;

	while (!list_empty(&poller->base.dirty) || !list_empty(&poller->base.failed)) {
		tcp_poller_flush(poller);
		done += chan_poller_drain(&poller->base.failed, report_lost);
	}
	tcp_poller_reap(poller);
	return done;
}

static inline bool set_due(struct tcp_poller *poller)
{
	if (poller->blocked || clock_cycles() - poller->asked > clock_cycles_in_ms() / ASKED_IN_MS)
		return true;
	return !poller->active &&
	       (poller->base.base.quiet || !obj_prog_others_active(&poller->base.base));
}

/* read_set - read what the set reports, and nothing else. */
static __attribute__((noinline)) int read_set(struct tcp_poller *poller)
{
	return set_attach(poller) ? 0 : ask_set(poller);	/* no memory: the next poll tries again */
}

/* Where processes take turns most polls find nothing, and one system call for all connections has to do. */
static inline int read_any(struct tcp_poller *poller, unsigned budget)
{
	int done;

	if (poller->ready_cnt > 1 && obj_idle_shares(&poller->base.base.prog->idle))
		return read_set(poller);
	done = poller->active ? read_one(poller, poller->active, budget) : 0;
	if ((!done && poller->ready_cnt > 1) || __builtin_expect(set_due(poller), 0))
		done += ask_set(poller);
	return done;
}

/* read_rest - continue where the last poll ended, before anything is read into that buffer. */
static __attribute__((noinline)) int read_rest(struct tcp_poller *poller, unsigned budget)
{
	tcp_rx_rest(poller);
	return 1 + (poller->rest ? 0 : read_any(poller, budget));
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base.base);
	int done = 0;

	chan_poller_begin(&poller->base);
	if (__builtin_expect(!list_empty(&poller->base.dirty), 0))
		tcp_poller_flush(poller);
	if (__builtin_expect(poller->base.timers.cnt || !list_empty(&poller->base.paused) ||
			     !list_empty(&poller->base.queued), 0))
		done += poll_rare(poller);
	done += __builtin_expect(poller->rest != NULL, 0) ? read_rest(poller, budget)
							  : read_any(poller, budget);
	if (__builtin_expect(!list_empty(&poller->base.dirty) || !list_empty(&poller->base.failed) ||
			     !list_empty(&poller->dead), 0))
		done += poll_end(poller);
	poller->base.polling = false;
	return done;
}

static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base.base);
	uint64_t due = UINT64_MAX;

	if (!list_empty(&poller->base.dirty) || !list_empty(&poller->base.failed) || poller->rest ||
	    chan_poller_connects(&poller->base))
		return -FI_EAGAIN;
	if (set_attach(poller))
		return -FI_EAGAIN;
	chan_poller_sleep(&poller->base, &due);
	poller->asked = 0;	/* the next poll asks the set: it finds what woke the thread */
	chan_poller_arm_paused(&poller->base, clock_ns(), &due);
	if (poller->checks_due_ns < due)
		due = poller->checks_due_ns;
	if (due < *deadline_ns)
		*deadline_ns = due;
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base.base);

	tcp_poller_reap(poller);
	pool_destroy(&poller->stages);
	if (poller->spare_fd >= 0)
		close(poller->spare_fd);
	free(poller->rx);
	free(poller->seal_buf);
	free(poller->open_buf);
	chan_poller_free(&poller->base);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = poller_arm,
	.close = close_poller,
};

int tcp_poller_get(struct obj_prog *prog, const struct tcp_conf *conf,
		   struct tcp_poller **poller_p)
{
	struct tcp_poller *poller;
	struct chan_poller *base;
	int ret = chan_poller_get(prog, &poller_ops, sizeof(*poller), conf->prov, &base);

	if (ret < 0)
		return ret;
	poller = container_of(base, struct tcp_poller, base);
	*poller_p = poller;
	if (!ret)
		return 0;
	poller->conf = conf;
	poller->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pool_init(&poller->stages, TCP_STAGE_SIZE(conf), 1, 0);
	list_init(&poller->dead);
	list_init(&poller->unacked);
	list_init(&poller->watched);
	poller->unacked_due_ns = poller->watch_due_ns = poller->checks_due_ns = UINT64_MAX;
	chan_park_init(&poller->base, TCP_CONNECTING_MAX);
	return 0;
}
