/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "link.h"

#define EVENTS_MAX 32
/* Polls between two looks at the whole set, while something is hot: few while a look
 * finds something, then more.
 */
#define WAIT_MIN 16
#define WAIT_MAX 64
#define MISSES_MAX 200		/* fruitless reads until a connection makes room for others */
#define DETACH_AFTER 300	/* polls for which it must have been hot to leave the set */
#define RETRY_PAUSED_NS (1 * CLOCK_NS_PER_MS)

/* ---- timers ---------------------------------------------------------------- */

/* Most timeouts are equally long, so that the right place is found at the end. */
void tcp_timer_set(struct tcp_poller *poller, struct tcp_timer *timer, uint64_t due_ns)
{
	struct list *pos;

	list_del(&timer->node);
	timer->due_ns = due_ns;
	for (pos = poller->timers.prev; pos != &poller->timers; pos = pos->prev)
		if (container_of(pos, struct tcp_timer, node)->due_ns <= due_ns)
			break;
	list_add(&timer->node, pos);
	obj_prog_moved(poller->base.prog, due_ns);
}

static int fire_timers(struct tcp_poller *poller)
{
	uint64_t now = clock_ns();
	struct tcp_timer *timer;
	int done = 0;

	while (!list_empty(&poller->timers)) {
		timer = container_of(poller->timers.next, struct tcp_timer, node);
		if (timer->due_ns > now)
			break;
		list_del(&timer->node);
		timer->fire(timer, now);
		done++;
	}
	return done;
}

/* ---- the set --------------------------------------------------------------- */

int tcp_src_want(struct tcp_poller *poller, struct tcp_src *src, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = src };
	int op = !events ? EPOLL_CTL_DEL : src->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (events == src->events)
		return 0;
	if (epoll_ctl(poller->base.fd, op, src->fd, &ev))
		return -errno;
	src->events = events;
	return 0;
}

static __attribute__((noinline)) int wait_events(struct tcp_poller *poller)
{
	struct epoll_event ev[EVENTS_MAX];
	struct tcp_src *src;
	int cnt, i;

	poller->polled_ns = clock_coarse_ns();
	if (poller->polled_ns >= poller->guard_due_ns)
		tcp_guard_look(poller, poller->polled_ns);
	cnt = tcp_io_look(poller->base.fd, ev, EVENTS_MAX);
	poller->wait_every = cnt ? WAIT_MIN : 2 * poller->wait_every;
	if (poller->wait_every > WAIT_MAX)
		poller->wait_every = WAIT_MAX;
	poller->until_wait = poller->wait_every;
	for (i = 0; i < cnt; i++) {
		src = ev[i].data.ptr;
		if (src->events)	/* else it left the set while earlier events were handled */
			src->event(src, ev[i].events);
	}
	return cnt > 0 ? cnt : 0;
}

/* ---- hot connections -------------------------------------------------------- */

void tcp_poller_cool(struct tcp_poller *poller, struct tcp_conn *conn)
{
	unsigned i;

	if (!conn->hot)
		return;
	conn->hot = false;
	conn->used_seq = poller->seq - conn->misses;
	conn->streak = 0;
	if (conn->detached) {
		conn->detached = false;
		if (conn->state == TCP_CONN_READY && tcp_conn_watch(conn))
			tcp_conn_fail(conn, FI_ENOMEM, false);
	}
	for (i = 0; poller->hot[i] != conn; i++)
		;
	poller->hot[i] = poller->hot[--poller->hot_cnt];
	poller->base.hot = poller->hot_cnt;
}

void tcp_poller_heat(struct tcp_poller *poller, struct tcp_conn *conn)
{
	struct tcp_conn *coldest = poller->hot[0];
	unsigned i;

	conn->misses = 0;
	conn->used_seq = poller->seq;
	if (conn->hot)
		return;
	if (poller->hot_cnt == TCP_HOT_MAX) {
		for (i = 1; i < TCP_HOT_MAX; i++)
			if (poller->hot[i]->misses > coldest->misses)
				coldest = poller->hot[i];
		if (!coldest->misses)
			return;		/* all are busy; the set serves this one */
		tcp_poller_cool(poller, coldest);
	}
	conn->hot = true;
	poller->hot[poller->hot_cnt++] = conn;
	poller->base.hot = true;
}

/* attach - everybody back into the set: somebody is going to sleep. */
static int attach(struct tcp_poller *poller)
{
	unsigned i;
	int ret = 0;

	for (i = 0; i < poller->hot_cnt && !ret; i++) {
		poller->hot[i]->streak = 0;
		if (poller->hot[i]->detached) {
			poller->hot[i]->detached = false;
			ret = tcp_conn_watch(poller->hot[i]);
		}
	}
	return ret;
}

static __attribute__((noinline)) void detach(struct tcp_poller *poller, struct tcp_conn *conn)
{
	conn->detached = true;
	tcp_conn_watch(conn);
	obj_prog_disarm(poller->base.prog);
}

static inline int read_one(struct tcp_poller *poller, struct tcp_conn *conn, unsigned budget)
{
	int got = tcp_rx_read(conn, budget);

	if (got) {
		conn->misses = 0;
	} else if (conn->misses < MISSES_MAX) {
		conn->misses++;
	} else if (__builtin_expect(poller->hot_cnt > 1, 0)) {
		tcp_poller_cool(poller, conn);
		return got;
	}
	if (__builtin_expect(!conn->detached, 0) && conn->hot && ++conn->streak >= DETACH_AFTER)
		detach(poller, conn);
	return got;
}

static inline int read_hot(struct tcp_poller *poller, unsigned budget)
{
	int done = 0;
	unsigned i;

	/* backwards: what leaves the list takes the place of one that has been read */
	for (i = poller->hot_cnt; i-- > 0;)
		if (i < poller->hot_cnt)
			done += read_one(poller, poller->hot[i], budget);
	return done;
}

/* ---- work lists -------------------------------------------------------------- */

static int resume_paused(struct tcp_poller *poller)
{
	struct list again;
	struct list *item;
	int done = 0;

	list_init(&again);
	list_splice_tail(&poller->paused, &again);
	while ((item = list_pop(&again)))
		done += tcp_rx_resume(container_of(item, struct tcp_conn, state_node));
	return done;
}

__attribute__((noinline)) void tcp_poller_flush(struct tcp_poller *poller)
{
	struct list *item;

	obj_prog_unstaged(poller->base.prog);
	while ((item = list_pop(&poller->dirty)))
		tcp_tx_flush(container_of(item, struct tcp_conn, tx.dirty_node));
}

static int bury_failed(struct tcp_poller *poller)
{
	struct tcp_conn *conn;
	struct list *item;
	int done = 0;

	while ((item = list_pop(&poller->failed))) {
		conn = container_of(item, struct tcp_conn, state_node);
		conn->wireup->lost(conn);
		done++;
	}
	return done;
}

void tcp_poller_reap(struct tcp_poller *poller)
{
	struct list *item;

	while ((item = list_pop(&poller->dead)))
		tcp_conn_free(container_of(item, struct tcp_conn, state_node));
}

/* ---- the poller ops ------------------------------------------------------------ */

bool tcp_poller_may_call(const struct tcp_poller *poller)
{
	return !list_empty(&poller->waiting) && poller->dialing < poller->dial_max &&
	       !poller->short_of_fds;
}

/* note_caller - is it the application that polls?  Then a burst that it sends may
 * wait for its next poll; with nobody but the progress thread, it may not.
 */
static void note_caller(struct tcp_poller *poller)
{
	uint64_t polls = atomic_load_explicit(&poller->base.prog->polls, memory_order_relaxed);

	poller->app_active = polls != poller->app_polls;
	poller->app_polls = polls;
}

/* poll_rare - what most polls have nothing of. */
static __attribute__((noinline)) int poll_rare(struct tcp_poller *poller)
{
	int done = 0;

	if (!list_empty(&poller->timers))
		done += fire_timers(poller);
	if (!list_empty(&poller->paused))
		done += resume_paused(poller);
	if (tcp_poller_may_call(poller))
		tcp_rdm_next(poller);
	return done;
}

/* poll_end - what the poll, or a failure since the last one, has left to be done. */
static __attribute__((noinline)) int poll_end(struct tcp_poller *poller)
{
	int done = 0;

	while (!list_empty(&poller->dirty) || !list_empty(&poller->failed)) {
		tcp_poller_flush(poller);
		done += bury_failed(poller);
	}
	tcp_poller_reap(poller);
	return done;
}

static inline bool set_due(struct tcp_poller *poller)
{
	if (poller->blocked || !poller->until_wait--)
		return true;
	return !poller->hot_cnt && !obj_prog_others_hot(&poller->base);
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base);
	int done = 0;

	poller->seq++;
	note_caller(poller);
	if (__builtin_expect(!list_empty(&poller->dirty), 0))
		tcp_poller_flush(poller);
	poller->polling = true;
	if (__builtin_expect(!list_empty(&poller->timers) || !list_empty(&poller->paused) ||
			     !list_empty(&poller->waiting), 0))
		done += poll_rare(poller);
	done += read_hot(poller, budget);
	if (__builtin_expect(set_due(poller), 0))
		done += wait_events(poller);
	if (__builtin_expect(!list_empty(&poller->dirty) || !list_empty(&poller->failed) ||
			     !list_empty(&poller->dead), 0))
		done += poll_end(poller);
	poller->polling = false;
	return done;
}

static int arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base);
	uint64_t due = UINT64_MAX;

	if (!list_empty(&poller->dirty) || !list_empty(&poller->failed) || tcp_poller_may_call(poller))
		return -FI_EAGAIN;
	if (attach(poller))
		return -FI_EAGAIN;
	poller->until_wait = 0;	/* whatever wakes the sleeper, the next poll finds it */
	if (!list_empty(&poller->timers))
		due = container_of(poller->timers.next, struct tcp_timer, node)->due_ns;
	if (!list_empty(&poller->paused) && clock_ns() + RETRY_PAUSED_NS < due)
		due = clock_ns() + RETRY_PAUSED_NS;
	if (poller->guard_due_ns < due)
		due = poller->guard_due_ns;
	if (due < *deadline_ns)
		*deadline_ns = due;
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct tcp_poller *poller = container_of(base, struct tcp_poller, base);

	tcp_poller_reap(poller);
	pool_destroy(&poller->stages);
	if (poller->spare_fd >= 0)
		close(poller->spare_fd);
	close(poller->base.fd);
	free(poller->rx);
	free(poller);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = arm,
	.close = close_poller,
};

int tcp_poller_get(struct obj_prog *prog, const struct tcp_conf *conf,
		   struct tcp_poller **poller_p)
{
	struct tcp_poller *poller;
	struct obj_poller *base;
	int ret = obj_prog_share(prog, &poller_ops, sizeof(*poller), conf->prov, &base);

	if (ret < 0)
		return ret;
	poller = container_of(base, struct tcp_poller, base);
	*poller_p = poller;
	if (!ret)
		return 0;
	poller->conf = conf;
	poller->wait_every = WAIT_MIN;
	poller->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pool_init(&poller->stages, TCP_STAGE_SIZE(conf), 1, 0);
	list_init(&poller->waiting);
	list_init(&poller->dirty);
	list_init(&poller->failed);
	list_init(&poller->paused);
	list_init(&poller->dead);
	list_init(&poller->timers);
	list_init(&poller->guarded);
	poller->guard_due_ns = UINT64_MAX;
	tcp_park_init(poller);
	return 0;
}
