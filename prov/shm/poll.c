/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.c - how the poller of the shared-memory link finds what has come, and how it sleeps.
 *
 * Rings.  The rings of up to FRONT_MAX active connections are looked at in each poll; of the others, those whose bell
 * has rung.  With a single connection most polls look at one word, the next slot of its ring (poll_all(), find_sole()),
 * and reads of a queue look at that word by themselves between two polls (struct obj_still).
 *
 * Sockets.  They carry handshakes, wake-ups and the loss of peers.  They are looked at once per tick of the coarse clock
 * while the rings show all else that comes, and more often while a handshake is in flight.
 *
 * Sleeping.  poller_arm() says in the segments of all active connections that the poller sleeps, makes a barrier, and
 * looks once more: a sender either sees that, and wakes it by a byte on its socket, or its packet is found by that
 * look.  Connections without a packet since the last sleep become inactive.  poller_wake() takes it back.
 *
 * Shared processors.  Where other threads have run in the last yield of the group, no poll is left out
 * (shm_poller_shares()).  A short time awake (just_woken()) leaves the barriers to the senders.
 */
#include "poll.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/os/barrier.h"
#include "base/relax.h"
#include "link.h"
#include "seg.h"

#define TICK_EVERY 8		/* polls between two reads of the clock */
#define WAIT_EVERY 32		/* polls, or such rounds, between two looks at the sockets */
#define WAIT_SELDOM 1024	/* the same while all connections are active: the clock decides before that */
#define WAIT_HANDSHAKE 8		/* the same while a handshake is in flight */
#define FRONT_MAX 32		/* active connections whose rings are looked at in each poll */
#define RETRY_SLEEP_NS CLOCK_NS_PER_MS	/* the longest sleep of which a sender may not know: see go_to_sleep() */
#define RELAX_AFTER 4		/* polls in vain before each one pauses: an answer may be about to come */
#define NAP_POLLS 4096		/* a short time awake: this many polls take a tenth of a millisecond */
#define LEAVE_POLLS 2		/* that leave an unexpected message in the ring, or in the sender's memory */

/* ---- barriers ------------------------------------------------------------------------- */

bool shm_barrier_join(void)
{
	return os_barrier_join();
}

/* ---- bells ----------------------------------------------------------------------------- */

int shm_bell_give(struct shm_bell_set *set, struct shm_conn *conn)
{
	unsigned i = 0;
	int ret;

	if (!set->mem) {
		ret = shm_mem_make(sizeof(*set->mem), (void **) &set->mem, &set->fd);
		if (ret)
			return ret;
	}
	while (i < set->end && set->conns[i])
		i++;
	if (i == SHM_BELLS)
		return -FI_ENOSPC;
	if (i == set->end) {
		ret = array_reserve(&set->conns, i, &set->room, sizeof(*set->conns));
		if (ret)
			return ret;
		set->end++;
	}
	set->conns[i] = conn;
	return (int) i;
}

void shm_bell_take(struct shm_bell_set *set, int number)
{
	set->conns[number] = NULL;
	while (set->end && !set->conns[set->end - 1])
		set->end--;
}

void shm_bell_free(struct shm_bell_set *set)
{
	free(set->conns);
	if (!set->mem)
		return;
	shm_mem_unmap(set->mem, sizeof(*set->mem));
	close(set->fd);
}

/* ---- sockets --------------------------------------------------------------------------- */

/* pause_waits - how long until the next look at the sockets, after one that returned @cnt events. */
static void pause_waits(struct shm_poller *poller, int cnt)
{
	if (cnt)		/* more may follow at once */
		poller->until_wait = 0;
	else if (poller->handshake_cnt)
		poller->until_wait = WAIT_HANDSHAKE;
	else
		poller->until_wait = poller->active_cnt < poller->ready_cnt ? WAIT_EVERY : WAIT_SELDOM;
}

static int ask_sockets(struct shm_poller *poller)
{
	int cnt;

	poller->tick = clock_coarse_ns();
	if (poller->tick >= poller->unread_due_ns)
		shm_unread_check(poller, poller->tick);
	cnt = chan_poller_events(&poller->base);
	poller->silent = cnt ? 0 : clock_cycles();
	pause_waits(poller, cnt);
	return cnt;
}

/* ---- active connections ----------------------------------------------------------------------- */

/* look_soon - the next poll looks at @conn. */
static inline void look_soon(struct shm_poller *poller, const struct shm_conn *conn)
{
	if (conn->in.awake & SHM_RINGS)
		shm_bell_ring(&poller->bells, conn->bell);
}

/* fences_of - what @conn may say of poller->fences: nothing until a sleep has made a barrier, for its sender
 * may have read before that it need not make one.
 */
static inline uint32_t fences_of(const struct shm_poller *poller, const struct shm_conn *conn)
{
	return conn->covered ? poller->fences : 0;
}

/* put_at - @conn is number @place of the active ones; front_cnt says whether it rings. */
static void put_at(struct shm_poller *poller, struct shm_conn *conn, unsigned place)
{
	poller->sole = NULL;
	obj_prog_moves(poller->base.base.prog);
	conn->place = place;
	poller->active[place] = conn;
	conn->in.awake = fences_of(poller, conn) | (place < poller->front_cnt ? 0 : SHM_RINGS);
	/* while the poller sleeps, all active segments say so */
	if (!poller->asleep)
		shm_in_wake(&conn->in);
	if (place < poller->front_cnt)
		return;
	/* the sender may not have seen yet that it has to ring */
	look_soon(poller, conn);
	poller->doubts = poller->active_cnt;
}

int shm_poller_reserve(struct shm_poller *poller)
{
	int ret = array_reserve(&poller->active, poller->conn_cnt, &poller->active_room, sizeof(*poller->active));

	poller->conn_cnt += !ret;
	return ret;
}

/* active_join - one more active connection, which has room since it began.  One without a bell is always among the
 * first ones: nothing else would show what arrives there.
 */
static void active_join(struct shm_poller *poller, struct shm_conn *conn)
{
	unsigned place = poller->active_cnt++;

	if (conn->bell < 0 || (poller->front_cnt == place && place < FRONT_MAX)) {
		if (poller->front_cnt < place)
			put_at(poller, poller->active[poller->front_cnt], place);
		place = poller->front_cnt++;
	}
	conn->active = true;
	put_at(poller, conn, place);
	if (poller->asleep)
		shm_in_sleep(&conn->in);
	obj_poller_set_active(&poller->base.base, true);
}

void shm_poller_activate(struct shm_poller *poller, struct shm_conn *conn)
{
	if (conn->active)
		look_soon(poller, conn);
	else
		active_join(poller, conn);
}

void shm_poller_deactivate(struct shm_poller *poller, struct shm_conn *conn)
{
	unsigned place = conn->place;

	if (!conn->active)
		return;
	poller->sole = NULL;
	obj_prog_moves(poller->base.base.prog);
	conn->active = false;
	/* the last of the first ones takes its place, and the last one of all takes that one's */
	if (place < poller->front_cnt) {
		poller->front_cnt--;
		if (place < poller->front_cnt)
			put_at(poller, poller->active[poller->front_cnt], place);
		place = poller->front_cnt;
	}
	if (place < --poller->active_cnt)
		put_at(poller, poller->active[poller->active_cnt], place);
	obj_poller_set_active(&poller->base.base, poller->active_cnt);
}

/* say_awake - to the senders of the active connections: @fences is 0 or SHM_FENCES.  Not from 0 to
 * SHM_FENCES while it polls: a sender that has read the former makes no barrier.
 */
static void say_awake(struct shm_poller *poller, uint32_t fences)
{
	struct shm_conn *conn;
	unsigned i;

	poller->fences = fences;
	for (i = 0; i < poller->active_cnt; i++) {
		conn = poller->active[i];
		conn->in.awake = fences_of(poller, conn) | (conn->in.awake & SHM_RINGS);
		shm_in_wake(&conn->in);
	}
}

/* just_woken - were there so few polls since the last sleep that a barrier by the kernel for each sleep, which
 * interrupts the other processors, would be a good part of them?
 */
static bool just_woken(const struct shm_poller *poller)
{
	return poller->base.seq - poller->woken_seq < NAP_POLLS;
}

/* judge_fences - a barrier for each message costs the senders less than one of the kernel for each sleep,
 * if few messages come between two of these.
 */
static void judge_fences(struct shm_poller *poller)
{
	if (poller->fences && !just_woken(poller))
		say_awake(poller, 0);
}

static void poller_wake(struct shm_poller *poller)
{
	/* the wake-up may be the byte of an inactive connection */
	poller->until_wait = 0;
	poller->until_tick = 0;
	poller->asleep = false;
	obj_prog_disarm(poller->base.base.prog);
	poller->woken_seq = poller->base.seq;
	say_awake(poller, SHM_FENCES);
}

/* go_to_sleep - say so in the active segments.  Returns the result of the barrier: negative
 * where it cannot be made, so that a sender may have missed it.
 */
static int go_to_sleep(struct shm_poller *poller)
{
	struct shm_conn *conn;
	bool expedite = false;
	unsigned i;

	poller->asleep = true;
	poller->slept_ns = clock_coarse_ns();
	chan_poller_chore(&poller->base);
	for (i = 0; i < poller->active_cnt; i++) {
		conn = poller->active[i];
		shm_in_sleep(&conn->in);
		expedite |= !conn->out.fence && !(conn->in.awake & SHM_FENCES);
		conn->covered = true;
		shm_unread_mark(conn, poller->slept_ns);
	}
	/* the pair is in shm_out_asleep(), with the litmus test */
	atomic_thread_fence(memory_order_seq_cst);
	return expedite ? os_barrier_joined() : 0;
}

/* has_any - is there something for shm_rx_poll() to do? */
static inline bool has_any(const struct shm_conn *conn)
{
	return shm_in_ready(&conn->in) || __builtin_expect(conn->ended | conn->split_waits, 0);
}

/* wants_poll - is it worth a poll to look at @conn?  While a split copy waits for the sender, nothing
 * else is taken.
 */
static bool wants_poll(const struct shm_conn *conn)
{
	return conn->split_waits ? conn->ended || shm_split_state(conn) : !conn->paused && has_any(conn);
}

/* any_arrived - did a packet arrive before the senders saw that we sleep? */
static bool any_arrived(struct shm_poller *poller)
{
	unsigned i;

	for (i = 0; i < poller->active_cnt; i++) {
		if (!wants_poll(poller->active[i]))
			continue;
		look_soon(poller, poller->active[i]);
		return true;
	}
	return false;
}

/* deactivate_idle - connections that received nothing since the last sleep. */
static void deactivate_idle(struct shm_poller *poller)
{
	struct shm_conn *conn;
	unsigned i;

	for (i = poller->active_cnt; i-- > 0;) {
		conn = poller->active[i];
		if (!conn->received && conn->src.fd >= 0)
			shm_poller_deactivate(poller, conn);
		conn->received = false;
	}
}

/* may_wait - most programs that receive one message after another post the next receive soon, after
 * one or two more reads of their queue: a message that comes before it stays in the ring for
 * LEAVE_POLLS polls, since an unexpected one costs twice as much.
 */
static inline bool may_wait(struct shm_conn *conn)
{
	if (conn->left++ < LEAVE_POLLS)
		return true;
	conn->left = 0;
	return false;
}

/* read_rest - take what is in the ring of @conn, after what shm_rx_one() has said.
 * @left: [out] set if a message was left there
 */
static inline int read_rest(struct shm_conn *conn, unsigned budget, enum eng_fast one, bool *left)
{
	int done = one >= ENG_FAST_DONE;

	if (one == ENG_FAST_UNEXPECTED && may_wait(conn))
		*left = true;
	else if (one != ENG_FAST_LAST && (!done || has_any(conn)))
		done += shm_rx_poll(conn, budget, !done);
	return done;
}

/* read_conn - take what is in the ring of @conn. */
static inline int read_conn(struct shm_conn *conn, unsigned budget, bool *left)
{
	return read_rest(conn, budget, shm_rx_one(conn), left);
}

/* answer_bell - the bell of @conn has rung. */
static int answer_bell(struct shm_poller *poller, struct shm_conn *conn, unsigned budget, bool *left)
{
	int done = has_any(conn) ? read_conn(conn, budget, left) : 0;

	if (!conn->active)
		return done;
	/* it does not ring again for what is still there */
	if (has_any(conn) && !conn->paused)
		look_soon(poller, conn);
	return done;
}

/* read_bells - the connections that have rung. */
static __attribute__((noinline)) int read_bells(struct shm_poller *poller, unsigned budget, bool *left)
{
	struct shm_bell_set *bells = &poller->bells;
	uint8_t rung[SHM_BELL_GROUP];
	struct shm_conn *conn;
	unsigned group, i, at;
	int done = 0;

	for (group = 0; group * SHM_BELL_GROUP < bells->end; group++) {
		if (__builtin_expect(!shm_bell_rung(bells, group, rung), 1))
			continue;
		for (i = 0; i < SHM_BELL_GROUP; i++) {
			at = group * SHM_BELL_GROUP + i;
			conn = rung[i] && at < bells->end ? bells->conns[at] : NULL;
			if (conn && conn->active)
				done += answer_bell(poller, conn, budget, left);
		}
	}
	return done;
}

/* recheck_doubt - a sender that was told to ring may have published before it saw that, and so shortly before
 * that the look that followed did not show it: look at all once more, one in each tick.
 */
static void recheck_doubt(struct shm_poller *poller)
{
	struct shm_conn *conn;

	poller->doubts--;
	if (poller->active_cnt == poller->front_cnt)
		return;
	conn = poller->active[poller->front_cnt + poller->rest_next++ %
			      (poller->active_cnt - poller->front_cnt)];
	if (wants_poll(conn))
		look_soon(poller, conn);
}

/* fill_front - one that has left the front makes room for another active connection. */
static void fill_front(struct shm_poller *poller)
{
	struct shm_conn *conn;

	if (poller->front_cnt < FRONT_MAX && poller->front_cnt < poller->active_cnt) {
		conn = poller->active[poller->front_cnt++];
		put_at(poller, conn, conn->place);
	}
}

static inline __attribute__((always_inline)) int read_active(struct shm_poller *poller, unsigned budget,
							     bool *left)
{
	unsigned i = poller->front_cnt;
	int done = 0;

	/* backwards: a connection that leaves is replaced by one that has been read */
	while (i > 0) {
		if (has_any(poller->active[--i]))
			done += read_conn(poller->active[i], budget, left);
		if (i > poller->front_cnt)
			i = poller->front_cnt;
	}
	if (__builtin_expect(poller->active_cnt > poller->front_cnt, 0))
		done += read_bells(poller, budget, left);
	return done;
}

/* ---- work lists ---------------------------------------------------------------------------- */

/* resume_conn - offer the packet of a connection again that the engine had no memory for. */
static int resume_conn(struct list *item)
{
	struct shm_conn *conn = container_of(item, struct shm_conn, state_node);

	conn->paused = false;
	shm_poller_activate(conn->poller, conn);
	return shm_rx_poll(conn, OBJ_POLL_BUDGET, true);
}

/* pump_conn - send what waits for room; the connection leaves the list when all is sent. */
static int pump_conn(struct list *item)
{
	struct shm_conn *conn = container_of(item, struct shm_conn, blocked_node);

	if (conn->state != SHM_CONN_READY)
		return 0;
	list_add_tail(item, &conn->poller->base.dirty);
	return shm_tx_pump(conn);
}

static int report_failed(struct list *item)
{
	shm_connect_failed(container_of(item, struct shm_conn, state_node));
	return 1;
}

void shm_poller_reap(struct shm_poller *poller)
{
	struct list *item;

	while ((item = list_pop(&poller->dead)))
		shm_conn_free(container_of(item, struct shm_conn, state_node));
}

/* ---- the poller ops --------------------------------------------------------------------------- */

/* rings_alone - do the rings show all that arrives but new connections and the loss of peers? */
static inline bool rings_alone(const struct shm_poller *poller)
{
	return poller->active_cnt && poller->active_cnt >= poller->ready_cnt && !poller->handshake_cnt;
}

/* more_due - is there more to look at than the rings?  Once per TICK_EVERY polls while they show
 * all that arrives, else in each poll.
 */
static inline bool more_due(struct shm_poller *poller)
{
	if (__builtin_expect(rings_alone(poller) && poller->until_tick--, 1))
		return false;
	poller->until_tick = TICK_EVERY;
	return true;
}

/* sockets_due - is it time to look at the sockets?  Once per tick of the clock or after WAIT_EVERY times
 * that it was asked, WAIT_SELDOM while all connections are active.
 */
static bool sockets_due(struct shm_poller *poller)
{
	if (!poller->active_cnt && !obj_prog_others_active(&poller->base.base))
		return true;
	if (!poller->until_wait--)
		return true;
	if (clock_coarse_ns() == poller->tick)
		return false;
	obj_prog_tick(poller->base.base.prog);
	return true;
}

/* look_all - at all sockets in one poll, for a timer that is due: the rings have none, and polls may be seconds apart.
 */
static bool look_all(struct chan_poller *base, int *done_p)
{
	unsigned calls = chan_poller_calls(base);
	int cnt;

	do {
		cnt = ask_sockets(container_of(base, struct shm_poller, base));
		*done_p += cnt;
	} while (cnt == CHAN_EVENTS_MAX && --calls);
	return true;
}

/* poll_first, poll_last - the work before and after the rings that most polls have none of. */
static __attribute__((noinline)) int poll_first(struct shm_poller *poller)
{
	int done = 0;

	if (poller->asleep)
		poller_wake(poller);
	if (poller->base.timers.cnt)
		done += chan_poller_timers(&poller->base, look_all);
	if (chan_poller_resumes(&poller->base))
		done += chan_poller_drain(&poller->base.paused, resume_conn);
	return done;
}

static __attribute__((noinline)) int poll_last(struct shm_poller *poller)
{
	struct chan_poller *base = &poller->base;
	int done = 0;

	if (!list_empty(&poller->early))
		shm_rx_take_early(poller, LEAVE_POLLS);
	if (!list_empty(&poller->splitting))
		done += shm_split_pieces(poller);
	done += chan_poller_drain(&base->dirty, pump_conn);
	while (!list_empty(&base->failed))
		done += chan_poller_drain(&base->failed, report_failed);
	base->polling = false;
	shm_poller_reap(poller);
	base->chores = poller->asleep || base->timers.cnt || !list_empty(&base->paused) ||
		       !list_empty(&base->dirty) || !list_empty(&base->failed) ||
		       !list_empty(&poller->splitting) || !list_empty(&poller->early);
	return done;
}

/* find_sole - the only connection of the group, if its ring shows all that most polls look for. */
static void find_sole(struct shm_poller *poller)
{
	const struct obj_idle *idle = &poller->base.base.prog->idle;

	poller->sole = poller->active_cnt == 1 && poller->front_cnt && rings_alone(poller) && !idle->seldom &&
		       !obj_idle_shares(idle) ? poller->active[0] : NULL;
}

/* poll_more - the quiet pollers of the group, and the sockets. */
static __attribute__((noinline)) int poll_more(struct shm_poller *poller, unsigned budget)
{
	bool left;
	int done = 0;

	if (poller->doubts)
		recheck_doubt(poller);
	judge_fences(poller);
	fill_front(poller);
	find_sole(poller);
	if (sockets_due(poller))
		done += ask_sockets(poller) + read_active(poller, budget, &left);
	if (rings_alone(poller) || poller->base.seq % TICK_EVERY == 0)
		done += obj_prog_poll_quiet(poller->base.base.prog);
	return done;
}

/* in_vain - this poll has found nothing. */
static inline void in_vain(struct shm_poller *poller)
{
	if (poller->vain < RELAX_AFTER)
		poller->vain++;
	else if (!poller->base.chores)
		cpu_relax();
}

/* skip_polls - let polls be left out while the ring of the only connection has nothing. */
static inline void skip_polls(struct shm_poller *poller)
{
	struct obj_prog *prog = poller->base.base.prog;
	const struct shm_conn *conn = poller->sole;

	if (!conn || poller->base.chores || prog->solo != &poller->base.base)
		return;
	prog->still.word = &conn->in.seg->slots[conn->in.pos % SHM_SLOTS].word;
	prog->still.next = shm_turn(conn->in.pos);
}

/* poll_full - all that a poll may have to do. */
static __attribute__((noinline)) int poll_full(struct shm_poller *poller, unsigned budget)
{
	bool left = false;
	int done = 0;

	poller->base.polling = true;
	poller->base.seq++;
	if (__builtin_expect(poller->base.chores, 0))
		done += poll_first(poller);
	done += read_active(poller, budget, &left);
	if (done || left)
		poller->vain = 0;
	else
		in_vain(poller);
	if (__builtin_expect(more_due(poller), 0))
		done += poll_more(poller, budget);
	if (__builtin_expect(poller->base.chores, 0))
		done += poll_last(poller);
	poller->base.polling = false;
	if (!done && !left)
		skip_polls(poller);
	return done;
}

/* poll_rest - what poll_all() has found is more than one short message for a posted receive. */
static __attribute__((noinline)) int poll_rest(struct shm_poller *poller, unsigned budget, enum eng_fast one)
{
	bool left = false;
	int done = read_rest(poller->sole, budget, one, &left);

	poller->vain = 0;
	if (__builtin_expect(poller->base.chores, 0))
		done += poll_last(poller);
	poller->base.polling = false;
	return done;
}

/* poll_all - the common poll looks at the ring of the only connection, and once it has the last message
 * that a receive was posted for, it does not touch the line that the sender writes next.
 */
static int poll_all(struct obj_poller *base, unsigned budget)
{
	struct shm_poller *poller = container_of(base, struct shm_poller, base.base);
	struct shm_conn *conn = poller->sole;
	enum eng_fast one;

	obj_prog_moves(base->prog);
	if (!conn || poller->base.chores || !poller->until_tick)
		return poll_full(poller, budget);
	poller->until_tick--;
	poller->base.seq++;
	poller->base.polling = true;
	one = shm_rx_one(conn);
	if (__builtin_expect(one == ENG_FAST_LAST && !poller->base.chores, 1)) {
		poller->vain = 0;
		poller->base.polling = false;
		return 1;
	}
	if (one != ENG_FAST_NONE || has_any(conn))
		return poll_rest(poller, budget, one);
	poller->base.polling = false;
	in_vain(poller);
	skip_polls(poller);
	return 0;
}

/* blocked_moves - has a connection that waits for room got some? */
static bool blocked_moves(const struct shm_poller *poller)
{
	struct shm_conn *conn;

	list_for_each_entry(conn, &poller->base.dirty, blocked_node)
		if (!shm_tx_blocked(conn))
			return true;
	return false;
}

static int poller_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct shm_poller *poller = container_of(base, struct shm_poller, base.base);
	uint64_t now = clock_ns();

	shm_rx_take_early(poller, 0);
	if (!list_empty(&poller->base.failed))
		return -FI_EAGAIN;
	if (go_to_sleep(poller) < 0)
		clock_earlier(deadline_ns, now + RETRY_SLEEP_NS);
	if (any_arrived(poller) || blocked_moves(poller))
		return -FI_EAGAIN;
	deactivate_idle(poller);
	chan_poller_sleep(&poller->base, deadline_ns);
	chan_poller_arm_paused(&poller->base, now, deadline_ns);
	if (poller->unread_cnt)
		clock_earlier(deadline_ns, poller->unread_due_ns);
	return 0;
}

static void close_poller(struct obj_poller *base)
{
	struct shm_poller *poller = container_of(base, struct shm_poller, base.base);

	shm_poller_reap(poller);
	free(poller->active);
	shm_bell_free(&poller->bells);
	chan_poller_free(&poller->base);
}

static const struct obj_poller_ops poller_ops = {
	.poll = poll_all,
	.arm = poller_arm,
	.close = close_poller,
};

int shm_poller_get(struct obj_prog *prog, struct chan_poller **base_p)
{
	int ret = chan_poller_get(prog, &poller_ops, sizeof(struct shm_poller), shm_conf.prov, base_p);
	struct shm_poller *poller;

	if (ret <= 0)
		return ret;
	poller = container_of(*base_p, struct shm_poller, base);
	list_init(&poller->early);
	list_init(&poller->splitting);
	list_init(&poller->unread);
	list_init(&poller->dead);
	return 0;
}
