/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The data path of the link, between processes and within one, under an engine that checks
 * every packet.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/test/fake.h"
#include "seg.h"

#define PULL_SIZE (32u << 10)	/* shm_conf.pull_size of most tests, so that both ways are taken */

static void pull_both(struct eng_ep *a, struct eng_ep *b)
{
	fake_pull_some(a);
	fake_pull_some(b);
}

/* ---- packets --------------------------------------------------------------------------- */

static void exchange(unsigned cnt)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned i;

	for (i = 0; i < cnt; i++) {
		fake_send(ab, some_size(), fake_draw() % 4 ? 0 : ENG_PKT_MORE);
		if (i % 3 == 0)
			fake_send(ba, some_size(), 0);
		if (fake_draw() % 4 == 0) {
			fake_poll();
			pull_both(a, b);
		}
		if (i % 500 == 0)
			a->later = b->later = (unsigned) (fake_draw() % 30);
	}
	a->later = b->later = 0;
	FAKE_UNTIL(20000, (pull_both(a, b), ba->rx_cnt == ab->tx_seq && ab->rx_cnt == ba->tx_seq &&
			   ab->done_cnt == ab->tx_seq && ba->done_cnt == ba->tx_seq));
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ba->up, 1);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void packets_of_every_size_arrive_in_order(void **state)
{
	exchange(3000);
}

static void they_do_so_through_shared_memory_alone(void **state)
{
	shm_conf.disable_cma = 1;
	exchange(3000);
	shm_conf.disable_cma = 0;
}

static void they_do_so_by_the_way_that_the_receiver_suggests(void **state)
{
	shm_conf.pull_size = 0;
	exchange(3000);
	shm_conf.pull_size = PULL_SIZE;
}

/* pulled - send @cnt packets of @size bytes, one after another.  Returns how many the receiver read from
 * the sender's memory.
 */
static unsigned pulled(size_t size, unsigned cnt)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned i, sum = 0;
	struct shm_conn *conn;

	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	conn = ((struct chan *) eng_peer_chan(ab))->conn;
	for (i = 1; i <= cnt; i++) {
		fake_send(ab, size, 0);
		FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == i + 1 && ab->done_cnt == i + 1));
	}
	for (i = 0; i < SHM_PULLS; i++)
		sum += conn->tx.turns[i];
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
	return sum;
}

/* An emulator may not read another process. */
static void need_reads(void)
{
	char from = 1, to = 0;
	struct iovec remote = { &from, 1 }, local = { &to, 1 };

	if (syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) < 0 && errno == ENOSYS)
		skip();
}

static void long_packets_are_read_from_the_senders_memory(void **state)
{
	need_reads();
	shm_conf.pull_size = SHM_PULL_MIN;
	assert_int_equal(pulled(SHM_PULL_MIN - 1, 2), 0);
	assert_int_equal(pulled(SHM_PULL_MIN, 2), 2);
	shm_conf.disable_cma = 1;
	assert_int_equal(pulled(SHM_PULL_MIN, 2), 0);
	shm_conf.disable_cma = 0;
	shm_conf.pull_size = PULL_SIZE;
}

/* kept - how many of @cnt packets of @size bytes stay the sender's while the receiver takes back nothing that
 * it holds.
 */
static unsigned kept(size_t size, unsigned cnt)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned i, left;

	for (i = 0; i < cnt; i++)
		fake_send(ab, size, 0);
	FAKE_UNTIL(2000, ba->rx_cnt + b->holds == cnt);
	for (i = 0; i < 100; i++)
		fake_poll();
	left = cnt - ab->done_cnt;
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == cnt && ab->done_cnt == cnt));
	fake_close(a, 100);
	fake_close(b, 100);
	return left;
}

static void what_is_held_is_the_senders_only_if_it_is_long(void **state)
{
	need_reads();
	assert_int_equal(kept(PULL_SIZE, 40), 0);
	assert_int_equal(kept(SHM_EARLY_MAX - 1, 40), 0);
	assert_in_range(kept(SHM_EARLY_MAX, 40), 1, 40);
}

/* Reads of another process that fail from now on: the memory that they are to write cannot be written. */
static unsigned reads_fail;

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_cnt, const struct iovec *from,
			 unsigned long from_cnt, unsigned long flags)
{
	if (reads_fail) {
		reads_fail--;
		errno = EFAULT;
		return -1;
	}
	return syscall(SYS_process_vm_readv, pid, to, to_cnt, from, from_cnt, flags);
}

/* hold_and_sleep - a packet of @ab, which @b holds, is in the sender's memory until a thread is to sleep.
 * @fails: reads that fail then
 */
static void hold_and_sleep(struct eng_ep *b, struct eng_peer *ab, struct eng_peer *ba, unsigned fails)
{
	uint64_t deadline = UINT64_MAX;
	struct obj_poller *poller;
	struct shm_conn *conn;

	need_reads();
	b->verdict = 1 + ENG_RX_HELD;
	fake_send(ab, PULL_SIZE, 0);
	FAKE_UNTIL(2000, b->holds == 1);
	conn = ((struct chan *) eng_peer_chan(ba))->conn;
	assert_false(list_empty(&conn->rx.remote));
	poller = &conn->poller->base.base;
	reads_fail = fails;
	poller->ops->arm(poller, &deadline);
	assert_int_equal(reads_fail, 0);
	assert_true(list_empty(&conn->rx.remote));
}

static void what_is_held_is_taken_over_before_a_sleep(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	hold_and_sleep(b, ab, ba, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1 && ab->done_cnt == 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void what_cannot_be_taken_over_is_lost_alone(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	hold_and_sleep(b, ab, ba, 1);
	FAKE_UNTIL(2000, ab->done_cnt == 1);
	/* the sender is told once that it may reuse its buffers */
	fake_drop_held(b);
	fake_send(ab, PULL_SIZE, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1 && ab->done_cnt == 2));
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void an_endpoint_sends_to_itself(void **state)
{
	struct eng_ep *a = ep_at(NULL);
	struct eng_peer *aa = peer_at(a, a);
	size_t i;

	for (i = 0; i < 1000; i++)
		fake_send(aa, i * 30, 0);
	FAKE_UNTIL(5000, (fake_pull_some(a), aa->rx_cnt == 1000 && aa->done_cnt == 1000));
	assert_int_equal(aa->down, 0);
	fake_close(a, 100);
}

/* ---- waiting -------------------------------------------------------------------------------------- */

#define NAP_MS 1000	/* a step of a wait without a deadline */
#define NAPS_MAX 60	/* steps without a wake-up, after which it counts as lost */

/* nap - sleep as a program does: arm, and wait for the descriptor until the deadline, if there is one.  While
 * both processes are stopped, or get no processor, one step passes at most.
 */
static void nap(struct obj_poller *poller, unsigned *sleep_seq)
{
	struct pollfd pfd = { .fd = poller->fd, .events = POLLIN };
	uint64_t due = UINT64_MAX;
	int steps = NAPS_MAX;

	if (poller->ops->arm(poller, &due))
		return;
	if (due != UINT64_MAX) {
		poll(&pfd, 1, clock_ms_left(due, clock_ns()));
	} else {
		while (steps && !poll(&pfd, 1, NAP_MS))
			steps--;
		CHECK(steps && "a wake-up was lost");
	}
	++*sleep_seq;
}

/* ping - send, or answer each packet, and sleep while there is nothing to do.  By @ready, a pipe, the first
 * learns that the other listens: a connect would be given up after a while.
 */
static void ping(const fake_addr *to, unsigned cnt, unsigned window, bool first, size_t size, const int ready[2])
{
	struct eng_ep *ep = ep_at(first ? NULL : to->name);
	struct obj_poller *poller;
	struct eng_peer *peer = NULL;
	unsigned sent = 0, sleep_seq = 0;
	char byte = 0;

	CHECK((first ? read(ready[0], &byte, 1) : write(ready[1], &byte, 1)) == 1);
	poller = container_of(fake_prog.pollers.next, struct obj_poller, node);
	if (first) {
		peer = fake_peer(ep, to);
		while (sent < window && sent < cnt)
			fake_send(peer, size, 0), sent++;
	}
	/* the last one may be lost: its receiver may skip the rest of it, and close */
	while (!peer || peer->rx_cnt < cnt || peer->done_cnt + peer->lost_cnt < cnt) {
		if (!fake_poll())
			nap(poller, &sleep_seq);
		fake_pull_some(ep);
		if (!peer && !list_empty(&ep->peers))
			peer = container_of(ep->peers.next, struct eng_peer, node);
		while (peer && sent < cnt && sent < peer->rx_cnt + (first ? window : 0))
			fake_send(peer, size, 0), sent++;
	}
	CHECK(peer->rx_cnt == cnt && peer->lost_cnt <= 1);
	/* of several packets in flight, one may always be there */
	CHECK(first || window > 1 || sleep_seq > 0);
	fake_close(ep, 1000);
}

static void sleepers(unsigned cnt, unsigned window, size_t size)
{
	fake_addr name;
	int status, ready[2];
	pid_t pid;

	snprintf(name.name, sizeof(name.name), "test://sleep-%d-%zu", getpid(), size);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		fake_start();
		ping(&name, cnt, window, false, size, ready);
		_exit(0);
	}
	close(ready[1]);
	ping(&name, cnt, window, true, size, ready);
	close(ready[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void no_wakeup_is_lost(void **state)
{
	sleepers(3000, 1, 8);
	sleepers(3000, 600, 3);		/* more than a ring */
	sleepers(1000, 100, 5000);
	sleepers(500, 100, 70000);
}

static void no_wakeup_for_room_is_lost(void **state)
{
	shm_conf.disable_cma = 1;
	sleepers(500, 20, 70001);
	shm_conf.disable_cma = 0;
}

static struct shm_poller *the_poller(void)
{
	return container_of(fake_prog.pollers.next, struct shm_poller, base.base.node);
}

/* all_say - do the segments of all active connections say that the receiver is awake, with @fences? */
static bool all_say(const struct shm_poller *poller, uint32_t fences)
{
	unsigned i;

	for (i = 0; i < poller->active_cnt; i++)
		if ((atomic_load(&poller->active[i]->in.seg->rx.asleep) & ~SHM_RINGS) != fences)
			return false;
	return poller->active_cnt && poller->fences == fences;
}

/* A receiver that sleeps after each message makes no barriers, one that stays awake lets its senders make
 * none.
 */
static void short_times_awake_leave_barriers_to_the_senders(void **state)
{
	struct eng_ep *a = ep_at(NULL);
	struct eng_peer *aa = peer_at(a, a);
	struct shm_poller *poller;
	struct shm_conn *conn;
	uint64_t due;
	unsigned i;

	fake_send(aa, 8, 0);
	FAKE_UNTIL(5000, (fake_pull_some(a), aa->rx_cnt == 1));
	poller = the_poller();
	FAKE_UNTIL(5000, all_say(poller, 0));
	for (i = 2; i < 6; i++) {
		due = UINT64_MAX;
		assert_int_equal(poller->base.base.ops->arm(&poller->base.base, &due), 0);
		fake_send(aa, 8, 0);
		FAKE_UNTIL(5000, (fake_pull_some(a), aa->rx_cnt == i));
		assert_true(all_say(poller, SHM_FENCES));
	}
	/* the sender of a new connection may have read that it need not make barriers */
	conn = poller->active[0];
	conn->covered = false;
	shm_poller_deactivate(poller, conn);
	shm_poller_activate(poller, conn);
	assert_int_equal(atomic_load(&conn->in.seg->rx.asleep) & ~SHM_RINGS, 0);
	due = UINT64_MAX;
	assert_int_equal(poller->base.base.ops->arm(&poller->base.base, &due), 0);
	assert_true(conn->covered);
	fake_send(aa, 8, 0);
	FAKE_UNTIL(5000, (fake_pull_some(a), aa->rx_cnt == i));
	assert_true(all_say(poller, SHM_FENCES));
	FAKE_UNTIL(5000, all_say(poller, 0));
	fake_close(a, 100);
}

/* ---- polls that are left out -------------------------------------------------------------- */

#define SELDOM_NS 200000	/* many cycles of any clock */
#define SPIN_NS 50000		/* FI_SPIN_US */

/* wait_polls - as a program does that waits, and polls again after @gap_ns.  Returns the polls that were
 * made.
 */
static unsigned wait_polls_apart(unsigned cnt, unsigned gap_ns)
{
	unsigned made = 0;
	uint64_t until;

	fake_prog.solo = &the_poller()->base.base;
	while (cnt--) {
		for (until = clock_ns() + gap_ns; gap_ns && clock_ns() < until;)
			;
		if (obj_prog_still(&fake_prog))
			continue;
		made++;
		if (obj_idle_polled(&fake_prog.idle, fake_poll()))
			obj_idle_next(&fake_prog.idle, clock_ns(), SPIN_NS);
	}
	return made;
}

static unsigned wait_polls(unsigned cnt)
{
	return wait_polls_apart(cnt, 0);
}

/* are_few - of a thousand polls most are left out, unless a tool makes them slow. */
static bool are_few(unsigned made)
{
	return made < 200 || fake_prog.idle.seldom;
}

/* become_few - the same, for one thousand among the next ten thousand: a process that is interrupted makes
 * each poll for a while.
 */
static bool become_few(void)
{
	unsigned tries;

	for (tries = 0; tries < 10; tries++)
		if (are_few(wait_polls(1000)))
			return true;
	return false;
}

/* With one connection few polls are made while nothing comes; what comes is taken by the next one. */
static void polls_in_vain_are_left_out(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b;
	struct eng_peer *aa = peer_at(a, a), *ba;
	unsigned i;

	fake_send(aa, 8, 0);
	FAKE_UNTIL(5000, (fake_pull_some(a), aa->rx_cnt == 1));
	wait_polls(100);
	assert_true(become_few());
	for (i = 1; i < 100; i++) {
		wait_polls(1 + i % 20);
		fake_send(aa, 8, 0);
		/* a message may stay in the ring for two polls */
		assert_true(wait_polls(4) >= 1);
		fake_pull_some(a);
		assert_int_equal(aa->rx_cnt, 1 + i);
	}
	/* a new connection is noticed, and ends this */
	wait_polls(100);
	b = ep_at(NULL);
	ba = peer_at(b, a);
	fake_send(ba, 8, 0);
	for (i = 0; i < 1000 && ba->done_cnt < 1; i++) {
		wait_polls(100);
		fake_pull_some(a);
	}
	assert_int_equal(ba->done_cnt, 1);
	wait_polls(100);
	assert_int_equal(wait_polls(1000), 1000);
	/* so does the end of a peer, which leaves the one connection again */
	fake_close(b, 100);
	wait_polls(1000);
	assert_true(become_few());
	/* a program that polls seldom makes each poll */
	wait_polls_apart(1500, SELDOM_NS);
	assert_int_equal(wait_polls_apart(100, SELDOM_NS), 100);
	fake_close(a, 100);
	assert_null(fake_prog.still.word);
	fake_prog.solo = NULL;
}

/* ---- many senders -------------------------------------------------------------------------- */

#define SENDERS 30	/* more than the receiver looks at in each poll */

/* arrived - packets that @hub has received from all. */
static uint64_t arrived(struct eng_ep *hub)
{
	struct eng_peer *peer;
	uint64_t sum = 0;

	list_for_each_entry(peer, &hub->peers, node)
		sum += peer->rx_cnt;
	return sum;
}

/* senders - endpoints that send to the one at @to, one packet each for a start. */
static void senders(const fake_addr *to, struct eng_ep **ep, struct eng_peer **peer)
{
	int i;

	for (i = 0; i < SENDERS; i++) {
		ep[i] = ep_at(NULL);
		peer[i] = fake_peer(ep[i], to);
		fake_send(peer[i], 10, 0);
	}
}

/* A packet of any of many senders is found within some polls, also after the receiver has slept. */
static void each_of_many_senders_is_heard_soon(void **state)
{
	struct eng_ep *hub = ep_at(NULL), *ep[SENDERS];
	struct obj_poller *poller = container_of(fake_prog.pollers.next, struct obj_poller, node);
	struct eng_peer *peer[SENDERS];
	fake_addr name = name_of(hub);
	uint64_t sent = SENDERS, due;
	int i, from, polls;

	senders(&name, ep, peer);
	FAKE_UNTIL(5000, (fake_pull_some(hub), arrived(hub) == sent));
	for (i = 0; i < 20000; i++) {
		/* some send more often than others, and later others do */
		from = fake_draw() % 3 ? i / 2000 + (int) (fake_draw() % 6) : (int) (fake_draw() % SENDERS);
		fake_send(peer[from], fake_draw() % 4 ? fake_draw() % 60 : fake_draw() % 9000, 0);
		sent++;
		for (polls = 0; polls < 16 && arrived(hub) < sent; polls++) {
			fake_poll();
			fake_pull_some(hub);
		}
		assert_int_equal(arrived(hub), sent);
		if (i % 500 || !i)
			continue;
		/* two sleeps: those that have sent nothing between them wake it by their sockets */
		due = UINT64_MAX;
		poller->ops->arm(poller, &due);
		fake_send(peer[i / 500 % SENDERS], 1, 0);
		sent++;
		FAKE_UNTIL(2000, (fake_pull_some(hub), arrived(hub) == sent));
		due = UINT64_MAX;
		poller->ops->arm(poller, &due);
		fake_send(peer[fake_draw() % SENDERS], 1, 0);
		sent++;
		FAKE_UNTIL(2000, (fake_pull_some(hub), arrived(hub) == sent));
		for (polls = 0; polls < SENDERS; polls++, sent++)
			fake_send(peer[polls], 20, 0);
		FAKE_UNTIL(2000, (fake_pull_some(hub), arrived(hub) == sent));
	}
	for (i = 0; i < SENDERS; i++)
		fake_close(ep[i], 100);
	fake_close(hub, 100);
}

/* One that has no bell is looked at in each poll, whatever the number of others. */
static void a_connection_without_a_bell_is_looked_at(void **state)
{
	struct eng_ep *hub = ep_at(NULL), *ep[SENDERS];
	struct eng_peer *peer[SENDERS], *from;
	fake_addr name = name_of(hub);
	struct shm_poller *poller;
	struct shm_conn *conn;
	int i;

	senders(&name, ep, peer);
	FAKE_UNTIL(5000, (fake_pull_some(hub), arrived(hub) == SENDERS));
	poller = the_poller();
	from = container_of(hub->peers.next, struct eng_peer, node);
	conn = ((struct chan *) eng_peer_chan(from))->conn;
	shm_poller_deactivate(poller, conn);
	shm_bell_take(&poller->bells, conn->bell);
	conn->bell = -1;
	assert_true(poller->front_cnt < poller->active_cnt);
	shm_conn_peer_closed(conn);
	for (i = 0; i < (int) poller->active_cnt; i++)
		assert_int_equal(poller->active[i]->place, i);
	FAKE_UNTIL(2000, from->down == 1);
	for (i = 0; i < SENDERS; i++)
		fake_close(ep[i], 100);
	fake_close(hub, 100);
}

static void no_wakeup_by_many_is_lost(void **state)
{
	const unsigned cnt = 20000;
	struct eng_ep *hub = ep_at(NULL), *ep[SENDERS];
	struct obj_poller *poller = container_of(fake_prog.pollers.next, struct obj_poller, node);
	struct eng_peer *peer[SENDERS];
	fake_addr name = name_of(hub);
	unsigned i, sleeps = 0;
	int status;
	pid_t pid = fork();

	if (!pid) {
		fake_start();
		senders(&name, ep, peer);
		for (i = 0; i < cnt; i++) {
			fake_send(peer[fake_draw() % SENDERS], fake_draw() % 100, 0);
			if (fake_draw() % 64 == 0)
				fake_poll();
			if (fake_draw() % 1024 == 0)
				usleep(500);
		}
		for (i = 0; i < SENDERS; i++)
			fake_close(ep[i], 1000);
		_exit(0);
	}
	while (arrived(hub) < SENDERS + cnt) {
		if (!fake_poll())
			nap(poller, &sleeps);
		fake_pull_some(hub);
	}
	assert_int_equal(arrived(hub), SENDERS + cnt);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_true(sleeps > 0);
	fake_close(hub, 100);
}

/* ---- segments ------------------------------------------------------------ */

static void memory_that_is_not_sealed_is_not_mapped(void **state)
{
	struct shm_seg *seg;
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), sizeof(struct shm_seg)), 0);
	assert_int_equal(shm_seg_map(fileno(file), &seg), -FI_EINVAL);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_every_size_arrive_in_order),
		TEST(they_do_so_through_shared_memory_alone),
		TEST(they_do_so_by_the_way_that_the_receiver_suggests),
		TEST(long_packets_are_read_from_the_senders_memory),
		TEST(what_is_held_is_the_senders_only_if_it_is_long),
		TEST(what_is_held_is_taken_over_before_a_sleep),
		TEST(what_cannot_be_taken_over_is_lost_alone),
		TEST(an_endpoint_sends_to_itself),
		TEST(no_wakeup_is_lost),
		TEST(no_wakeup_for_room_is_lost),
		TEST(short_times_awake_leave_barriers_to_the_senders),
		TEST(polls_in_vain_are_left_out),
		TEST(each_of_many_senders_is_heard_soon),
		TEST(a_connection_without_a_bell_is_looked_at),
		TEST(no_wakeup_by_many_is_lost),
		TEST(memory_that_is_not_sealed_is_not_mapped),
	};

	shm_conf.pull_size = PULL_SIZE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
