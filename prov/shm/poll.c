/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "poll.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/relax.h"
#include "link.h"

#define EVENTS_MAX 64
#define TICK_EVERY 32		/* polls between two looks at the clock */
#define WAIT_EVERY 32		/* polls, or such rounds, between two looks at the sockets, at most */
#define WAIT_SELDOM 1024	/* the same rounds when the looks before found nothing */
#define WAIT_HANDSHAKE 8		/* the same while a handshake is in flight */
#define NEAR_MAX 32		/* hot connections whose rings are looked at in each poll */
#define FAR_STEP 16		/* and so many of the others, in turn */
#define RETRY_PAUSED_NS (1 * CLOCK_NS_PER_MS)

/* ---- barriers ------------------------------------------------------------------------- */

static int membarrier(int cmd)
{
	return (int) syscall(__NR_membarrier, cmd, 0, 0);
}

bool shm_barrier_join(void)
{
	int cmds = membarrier(MEMBARRIER_CMD_QUERY);

	return cmds > 0 && cmds & MEMBARRIER_CMD_GLOBAL_EXPEDITED &&
	       !membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

/* ---- the set --------------------------------------------------------------------------- */

int shm_src_watch(struct shm_poller *poller, struct shm_src *src)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = src };

	if (epoll_ctl(poller->base.base.fd, EPOLL_CTL_ADD, src->fd, &ev))
		return -errno;
	src->watched = true;
	return 0;
}

void shm_src_ignore(struct shm_poller *poller, struct shm_src *src)
{
	if (src->watched)
		epoll_ctl(poller->base.base.fd, EPOLL_CTL_DEL, src->fd, NULL);
	src->watched = false;
}

/* pause_waits - how long until the next look, when this one found @cnt things. */
static void pause_waits(struct shm_poller *poller, int cnt)
{
	unsigned gap = 2 * poller->wait_gap;

	poller->wait_gap = cnt > 0 || gap < WAIT_EVERY ? WAIT_EVERY :
			   gap < WAIT_SELDOM ? gap : WAIT_SELDOM;
	if (cnt > 0)		/* where there was something, there may be more at once */
		poller->until_wait = 0;
	else if (poller->handshake_cnt)
		poller->until_wait = WAIT_HANDSHAKE;
	else
		poller->until_wait = poller->hot_cnt < poller->ready_cnt ? WAIT_EVERY : poller->wait_gap;
}

static int wait_events(struct shm_poller *poller)
{
	struct epoll_event ev[EVENTS_MAX];
	struct shm_src *src;
	int cnt, i;

	poller->tick = clock_coarse_ns();
	cnt = epoll_wait(poller->base.base.fd, ev, EVENTS_MAX, 0);
	pause_waits(poller, cnt);
	for (i = 0; i < cnt; i++) {
		src = ev[i].data.ptr;
		if (src->watched)	/* else it left while earlier events were handled */
			src->event(src, ev[i].events);
	}
	return cnt > 0 ? cnt : 0;
}

/* ---- hot connections ----------------------------------------------------------------------- */

void shm_poller_heat(struct shm_poller *poller, struct shm_conn *conn)
{
	unsigned room = poller->hot_room ? 2 * poller->hot_room : 16;
	struct shm_conn **hot;

	if (conn->hot)
		return;
	if (poller->hot_cnt == poller->hot_room) {
		hot = realloc(poller->hot, room * sizeof(*hot));
		if (!hot) {
			shm_in_doze(&conn->in);
			return;
		}
		poller->hot = hot;
		poller->hot_room = room;
	}
	conn->hot = true;
	poller->hot[poller->hot_cnt++] = conn;
	poller->base.base.hot = true;
	/* asleep: the senders of all that are hot have been told */
	if (!poller->asleep)
		shm_in_wake(&conn->in);
	else
		shm_in_doze(&conn->in);
}

void shm_poller_cool(struct shm_poller *poller, struct shm_conn *conn)
{
	unsigned i;

	if (!conn->hot)
		return;
	conn->hot = false;
	for (i = 0; poller->hot[i] != conn; i++)
		;
	poller->hot[i] = poller->hot[--poller->hot_cnt];
	poller->base.base.hot = poller->hot_cnt;
}

static void wake(struct shm_poller *poller)
{
	unsigned i;

	/* what woke us may be a cold one's byte */
	poller->until_wait = 0;
	poller->until_tick = 0;
	poller->asleep = false;
	obj_prog_disarm(poller->base.base.prog);
	for (i = 0; i < poller->hot_cnt; i++)
		shm_in_wake(&poller->hot[i]->in);
}

/* doze - tell the senders.  Returns what the barrier did: negative where it cannot be
 * made and a sender may have missed it.
 */
static int doze(struct shm_poller *poller)
{
	bool expedite = false;
	unsigned i;

	poller->asleep = true;
	poller->base.chores = true;
	for (i = 0; i < poller->hot_cnt; i++) {
		shm_in_doze(&poller->hot[i]->in);
		expedite |= !poller->hot[i]->out.fence;
	}
	atomic_thread_fence(memory_order_seq_cst);
	return expedite ? membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) : 0;
}

/* has_any - is there something for shm_rx_poll() to take, or to find out? */
static inline bool has_any(const struct shm_conn *conn)
{
	return shm_in_ready(&conn->in) || __builtin_expect(conn->ended | conn->sharing.waiting, 0);
}

/* anything - is there something in a ring after all? */
static bool anything(const struct shm_poller *poller)
{
	const struct shm_conn *conn;
	unsigned i;

	for (i = 0; i < poller->hot_cnt; i++) {
		conn = poller->hot[i];
		/* what waits for the sender's copy lets nothing else in */
		if (conn->sharing.waiting ? conn->ended || shm_share_ready(conn) :
		    !conn->paused && has_any(conn))
			return true;
	}
	return false;
}

/* settle - those that were silent since the last time are left to their senders. */
static void settle(struct shm_poller *poller)
{
	struct shm_conn *conn;
	unsigned i;

	for (i = poller->hot_cnt; i-- > 0;) {
		conn = poller->hot[i];
		if (!conn->moved && conn->src.fd >= 0)
			shm_poller_cool(poller, conn);
		conn->moved = false;
	}
}

/* read_far - a few of those that are not among the first; one that has something
 * changes places with one that is.
 */
static __attribute__((noinline)) int read_far(struct shm_poller *poller, unsigned budget)
{
	struct shm_conn **hot = poller->hot, *conn;
	unsigned i, k, cnt;
	int done = 0, ret;

	for (k = 0; k < FAR_STEP && poller->hot_cnt > NEAR_MAX; k++) {
		i = NEAR_MAX + poller->far++ % (poller->hot_cnt - NEAR_MAX);
		conn = hot[i];
		cnt = poller->hot_cnt;
		ret = shm_rx_poll(conn, budget);
		done += ret;
		if (!ret || poller->hot_cnt != cnt)
			continue;
		hot = poller->hot;
		hot[i] = hot[poller->near % NEAR_MAX];
		hot[poller->near++ % NEAR_MAX] = conn;
	}
	return done;
}

static inline int read_hot(struct shm_poller *poller, unsigned budget)
{
	unsigned i = poller->hot_cnt < NEAR_MAX ? poller->hot_cnt : NEAR_MAX;
	struct shm_conn *conn;
	int done = 0;
	bool one;

	/* backwards: what leaves the list takes the place of one that has been read */
	while (i > 0) {
		conn = poller->hot[--i];
		if (!has_any(conn))
			continue;
		one = shm_rx_one(conn);
		done += one;
		if (!one || has_any(conn))
			done += shm_rx_poll(conn, budget);
		if (i > poller->hot_cnt)
			i = poller->hot_cnt;
	}
	if (__builtin_expect(poller->hot_cnt > NEAR_MAX, 0))
		done += read_far(poller, budget);
	return done;
}

/* ---- work lists ---------------------------------------------------------------------------- */

/* resume - offer the packet of a connection again that the engine had no memory for. */
static int resume(struct list *item)
{
	struct shm_conn *conn = container_of(item, struct shm_conn, state_node);

	conn->paused = false;
	shm_poller_heat(conn->poller, conn);
	return shm_rx_poll(conn, OBJ_POLL_BUDGET);
}

/* pump - send what waits for room; the connection leaves the list when all is sent. */
static int pump(struct list *item)
{
	struct shm_conn *conn = container_of(item, struct shm_conn, blocked_node);

	if (conn->state != SHM_CONN_READY)
		return 0;
	list_add_tail(item, &conn->poller->base.dirty);
	return shm_tx_pump(conn);
}

static int report(struct list *item)
{
	shm_connect_failed(container_of(item, struct shm_conn, state_node));
	return 1;
}

/* help_all - a piece for each that shares what we send. */
static int help_all(struct shm_poller *poller)
{
	struct list *pos, *next;
	struct shm_conn *conn;
	int done = 0;

	list_for_each_safe(pos, next, &poller->helping) {
		conn = container_of(pos, struct shm_conn, help_node);
		if (~conn->tx.free)
			done += shm_share_help(conn);
		else
			list_del(pos);
	}
	return done;
}

void shm_poller_reap(struct shm_poller *poller)
{
	struct list *item;

	while ((item = list_pop(&poller->dead)))
		shm_conn_free(container_of(item, struct shm_conn, state_node));
}

/* ---- the poller ops --------------------------------------------------------------------------- */

/* sockets_due - is it time to look at the sockets?  Often while somebody is expected
 * there; else once per tick of the clock, or after a thousand polls, and ever more when
 * the looks find nothing.
 */
static bool sockets_due(struct shm_poller *poller)
{
	if (!poller->hot_cnt && !obj_prog_others_hot(&poller->base.base))
		return true;
	if (poller->hot_cnt < poller->ready_cnt || poller->handshake_cnt)
		return !poller->until_wait-- || clock_coarse_ns() != poller->tick;
	if (__builtin_expect(poller->until_tick--, 1))
		return false;
	poller->until_tick = TICK_EVERY;
	return !poller->until_wait-- || clock_coarse_ns() != poller->tick;
}

/* poll_first, poll_last - the work before and after the rings that most polls have none of. */
static __attribute__((noinline)) int poll_first(struct shm_poller *poller)
{
	int done = 0;

	if (poller->asleep)
		wake(poller);
	if (poller->base.timers.cnt)
		done += timers_fire(&poller->base.timers, clock_ns());
	return done + chan_poller_drain(&poller->base.paused, resume);
}

static __attribute__((noinline)) int poll_last(struct shm_poller *poller)
{
	struct chan_poller *base = &poller->base;
	int done = 0;

	if (!list_empty(&poller->helping))
		done += help_all(poller);
	done += chan_poller_drain(&base->dirty, pump);
	while (!list_empty(&base->failed))
		done += chan_poller_drain(&base->failed, report);
	base->polling = false;
	shm_poller_reap(poller);
	base->chores = poller->asleep || base->timers.cnt || !list_empty(&base->paused) ||
		       !list_empty(&base->dirty) || !list_empty(&base->failed) ||
		       !list_empty(&poller->helping);
	return done;
}

static __attribute__((noinline)) int poll_sockets(struct shm_poller *poller, unsigned budget)
{
	return wait_events(poller) + read_hot(poller, budget);
}

static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct shm_poller *poller = container_of(base, struct shm_poller, base.base);
	int done = 0;

	poller->base.polling = true;
	poller->base.seq++;
	if (__builtin_expect(poller->base.chores, 0))
		done += poll_first(poller);
	done += read_hot(poller, budget);
	if (!done && !poller->base.chores)
		cpu_relax();
	if (__builtin_expect(sockets_due(poller), 0))
		done += poll_sockets(poller, budget);
	if (__builtin_expect(poller->base.chores, 0))
		done += poll_last(poller);
	poller->base.polling = false;
	return done;
}

/* blocked_moves - something that waits for room could go. */
static bool blocked_moves(const struct shm_poller *poller)
{
	struct list *pos;

	list_for_each(pos, &poller->base.dirty)
		if (!shm_tx_stuck(container_of(pos, struct shm_conn, blocked_node)))
			return true;
	return false;
}

static int arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct shm_poller *poller = container_of(base, struct shm_poller, base.base);
	uint64_t due = timers_next(&poller->base.timers), soon = clock_ns() + RETRY_PAUSED_NS;

	if (!list_empty(&poller->base.failed))
		return -FI_EAGAIN;
	if (doze(poller) < 0 && soon < due)
		due = soon;
	if (anything(poller) || blocked_moves(poller))
		return -FI_EAGAIN;
	settle(poller);
	if (!list_empty(&poller->base.paused) && soon < due)
		due = soon;
	if (due < *deadline_ns)
		*deadline_ns = due;
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct shm_poller *poller = container_of(base, struct shm_poller, base.base);

	shm_poller_reap(poller);
	chan_poller_fini(&poller->base);
	close(base->fd);
	free(poller->hot);
	free(poller);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = arm,
	.close = close_poller,
};

int shm_poller_get(struct obj_prog *prog, struct chan_poller **base_p)
{
	int ret = chan_poller_get(prog, &poller_ops, sizeof(struct shm_poller), shm_conf.prov, base_p);
	struct shm_poller *poller;

	if (ret <= 0)
		return ret;
	poller = container_of(*base_p, struct shm_poller, base);
	list_init(&poller->helping);
	list_init(&poller->dead);
	return 0;
}
