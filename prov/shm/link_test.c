/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link between real processes and within one, under an engine that checks every
 * packet.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "shm/test/fake.h"
#include "handshake.h"
#include "seg.h"

static void pull_both(struct eng_ep *a, struct eng_ep *b)
{
	fake_pull_some(a);
	fake_pull_some(b);
}

/* ---- packets --------------------------------------------------------------------------- */

static size_t some_size(void)
{
	switch (fake_draw() % 8) {
	case 0:
		return fake_draw() % 400000;
	case 1:
		return fake_draw() % 40000;
	case 2:
		return fake_draw() % 9000;
	default:
		return fake_draw() % 120;
	}
}

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

static void they_do_so_without_reading_each_others_memory(void **state)
{
	shm_conf.disable_cma = 1;
	exchange(3000);
	shm_conf.disable_cma = 0;
}

static void an_endpoint_talks_to_itself(void **state)
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

/* ---- wire-up ------------------------------------------------------------------------------ */

static struct eng_ep *new_ep(fake_addr *name)
{
	struct eng_ep *ep = ep_at(NULL);

	*name = name_of(ep);
	return ep;
}

static void crossed_calls_end_with_one_connection(void **state)
{
	fake_crossed_calls(new_ep, 200);
}

static void two_processes_call_each_other_at_once(void **state)
{
	fake_two_processes(new_ep, 100);
}

static void sixty_four_endpoints_all_to_all(void **state)
{
	enum { N = 64 };
	struct eng_ep *ep[N];
	uint64_t got;
	int i, k;

	shm_conf.chan.conn_timeout_ms = 60000;	/* one process for all, on a busy machine */
	for (i = 0; i < N; i++)
		ep[i] = ep_at(NULL);
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			fake_send(peer_at(ep[i], ep[k]), 64, 0);
	do {
		fake_poll();
		got = 0;
		for (i = 0; i < N; i++) {
			struct list *pos;

			fake_pull_some(ep[i]);
			list_for_each(pos, &ep[i]->peers) {
				struct eng_peer *peer = container_of(pos, struct eng_peer, node);

				assert_int_equal(peer->down, 0);
				got += peer->rx_cnt;
			}
		}
	} while (got < N * N);
	for (i = 0; i < N; i++)
		fake_close(ep[i], 100);
}

static void nobody_there_is_reported_once(void **state)
{
	struct eng_ep *a = ep_at(NULL);
	fake_addr addr = { "fi_shm://nobody" };
	struct eng_peer *peer = fake_peer(a, &addr);
	uint64_t began = clock_ns();

	fake_send(peer, 10, 0);
	fake_send(peer, 10000, 0);
	FAKE_UNTIL(3000, peer->down);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	assert_int_equal(peer->lost_cnt, 2);
	assert_int_equal(fake_done_status, -FI_ECONNREFUSED);
	assert_true(clock_ns() - began >= 150 * CLOCK_NS_PER_MS);	/* it was repeated */
	fake_close(a, 100);
}

static void a_name_in_use_is_refused(void **state)
{
	char name[SHM_NAME_MAX];
	struct eng_ep *a, ep = { .info = { .src_addr = name } };
	struct eng_link *link;

	snprintf(name, sizeof(name), "test://name-%d", getpid());
	a = ep_at(name);
	ep.info.src_addrlen = strlen(name) + 1;
	ep.base.info = &ep.info;
	ep.base.prog = &fake_prog;
	ep.base.prov = &fake_prov;
	assert_int_equal(shm_link_ops.open(&ep, &link), -FI_EADDRINUSE);
	fake_close(a, 0);
	assert_int_equal(shm_link_ops.open(&ep, &link), 0);
	shm_link_ops.close(link, 0);
}

static void another_name_for_a_door_is_refused(void **state)
{
	char name[SHM_NAME_MAX];
	struct eng_ep *a, *b = ep_at(NULL);
	struct eng_peer *peer;
	fake_addr addr;

	snprintf(name, sizeof(name), "test://alias-%d", getpid());
	a = ep_at(name);
	snprintf(addr.name, sizeof(addr.name), "other://alias-%d", getpid());
	peer = fake_peer(b, &addr);
	fake_send(peer, 10, 0);
	FAKE_UNTIL(1000, peer->down);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* ---- ends -------------------------------------------------------------------------------------- */

static void a_restarted_peer_is_reached_again(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b;
	char name[SHM_NAME_MAX];
	struct eng_peer *ab;
	int round;

	snprintf(name, sizeof(name), "test://again-%d", getpid());
	b = ep_at(name);
	ab = peer_at(a, b);
	for (round = 1; round <= 5; round++) {
		fake_send(ab, 100, 0);
		FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
		fake_close(b, 0);
		FAKE_UNTIL(2000, ab->down == round);
		b = ep_at(name);
	}
	/* it is away when we call, and comes back */
	fake_close(b, 0);
	fake_send(ab, 100, 0);
	for (round = 0; round < 100; round++)
		fake_poll();
	b = ep_at(name);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	assert_int_equal(ab->down, 5);
	/* and the new one may call us while we still think of the old one */
	fake_close(b, 0);
	b = ep_at(name);
	fake_send(peer_at(b, a), 5, 0);
	FAKE_UNTIL(2000, (fake_pull_some(a), peer_at(a, b)->rx_cnt >= 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void a_send_to_one_that_left_is_noticed(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b;
	char name[SHM_NAME_MAX];
	struct eng_peer *ab;

	snprintf(name, sizeof(name), "test://left-%d", getpid());
	b = ep_at(name);
	ab = peer_at(a, b);
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	fake_close(b, 0);
	b = ep_at(name);
	assert_int_equal(fake_send(ab, 100, 0), -FI_EAGAIN);
	assert_int_equal(fake_send(ab, 100, 0), -FI_EAGAIN);
	FAKE_UNTIL(2000, ab->down == 1);
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void what_was_sent_before_close_arrives(void **state)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		struct eng_ep *b = ep_at(NULL);
		fake_addr to = name_of(b);
		size_t cnt = i % 2 ? 1 : 200, k;
		struct eng_peer *ba = NULL;
		int status;
		pid_t pid = fork();

		if (!pid) {
			struct eng_ep *a;

			fake_start();	/* a group of our own */
			a = ep_at(NULL);
			for (k = 0; k < cnt; k++)
				fake_send(fake_peer(a, &to), i < 4 ? 100 : 100000, 0);
			fake_close(a, 30000);
			_exit(0);
		}
		b->quiet = i > 7;	/* nothing that is kept is asked for before the sender has left */
		FAKE_UNTIL(10000, !list_empty(&b->peers));
		ba = container_of(b->peers.next, struct eng_peer, node);
		FAKE_UNTIL(10000, (fake_pull_some(b), ba->down));
		b->quiet = false;
		fake_pull_some(b);
		assert_int_equal(ba->rx_cnt, cnt);
		waitpid(pid, &status, 0);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
		fake_close(b, 0);
	}
}

/* A process that dies in the middle of everything: each packet has one outcome. */
static void a_killed_peer_is_noticed_at_once(void **state)
{
	int round, status;

	for (round = 0; round < 10; round++) {
		struct eng_ep *b = ep_at(NULL);
		fake_addr to = name_of(b), addr = { "" };
		struct eng_peer *ba;
		uint64_t killed;
		pid_t pid = fork();
		int i;

		if (!pid) {
			struct eng_ep *a;

			fake_start();
			a = ep_at(NULL);
			for (;;) {
				fake_send(fake_peer(a, &to), some_size(), 0);
				fake_poll();
				fake_pull_some(a);
			}
		}
		FAKE_UNTIL(5000, !list_empty(&b->peers));
		ba = container_of(b->peers.next, struct eng_peer, node);
		addr = ba->addr;
		FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt > 20));
		for (i = 0; i < 50; i++)
			fake_send(fake_peer(b, &addr), some_size(), 0);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		killed = clock_ns();
		FAKE_UNTIL(5000, ba->down);
		assert_int_equal(ba->err, FI_ECONNRESET);
		assert_true(clock_ns() - killed < 1000 * CLOCK_NS_PER_MS);
		assert_true(ba->done_cnt + ba->lost_cnt >= 50);
		fake_pull_some(b);
		fake_close(b, 0);
	}
}

static void a_forgotten_peer_costs_nothing(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b);

	fake_send(ab, 100, 0);
	fake_send(ab, 1000000, 0);	/* waits for the connection */
	a->link->ops->peer_put(a->link, ab);
	assert_int_equal(ab->lost_cnt, 2);
	assert_int_equal(fake_done_status, -FI_ECANCELED);
	memset(ab->chan, 0, sizeof(ab->chan));
	ab->wanted = false;
	ab->tx_seq = 0;
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt >= 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* ---- waiting -------------------------------------------------------------------------------------- */

static void a_slow_receiver_holds_the_sender_back(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned i;

	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	b->later = 100;
	for (i = 0; i < 2000; i++)
		fake_send(ab, i % 3 ? 20 : 2000, 0);
	for (i = 0; i < 2000; i++)
		fake_poll();
	assert_true(ab->done_cnt < 1000);
	assert_int_equal(ba->rx_cnt, 1);
	b->later = 0;
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == 2001 && ab->done_cnt == 2001));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* nap - sleep as a program does: arm, and wait for the descriptor; for ever only if
 * nothing is said about when to look again.
 */
static void nap(struct obj_poller *poller, unsigned *naps)
{
	struct pollfd pfd = { .fd = poller->fd, .events = POLLIN };
	uint64_t due = UINT64_MAX;
	int ms = 3000, ret;

	if (poller->ops->arm(poller, &due))
		return;
	if (due != UINT64_MAX)
		ms = clock_ms_left(due, clock_ns());
	ret = poll(&pfd, 1, ms);
	CHECK(ret || due != UINT64_MAX);	/* a wake-up was lost */
	++*naps;
}

/* ping - send, or answer each packet, and sleep whenever there is nothing to do. */
static void ping(const fake_addr *to, unsigned cnt, unsigned window, bool first, size_t size)
{
	struct eng_ep *ep = ep_at(first ? NULL : to->name);
	struct obj_poller *poller;
	struct eng_peer *peer = NULL;
	unsigned sent = 0, naps = 0;

	poller = container_of(fake_prog.pollers.next, struct obj_poller, node);
	if (first) {
		peer = fake_peer(ep, to);
		while (sent < window && sent < cnt)
			fake_send(peer, size, 0), sent++;
	}
	/* the last one may be lost: its receiver may not want the rest of it, and leave */
	while (!peer || peer->rx_cnt < cnt || peer->done_cnt + peer->lost_cnt < cnt) {
		if (!fake_poll())
			nap(poller, &naps);
		fake_pull_some(ep);
		if (!peer && !list_empty(&ep->peers))
			peer = container_of(ep->peers.next, struct eng_peer, node);
		while (peer && sent < cnt && sent < peer->rx_cnt + (first ? window : 0))
			fake_send(peer, size, 0), sent++;
	}
	CHECK(peer->rx_cnt == cnt && peer->lost_cnt <= 1 && (first || naps > 0));
	fake_close(ep, 1000);
}

static void sleepers(unsigned cnt, unsigned window, size_t size)
{
	fake_addr name;
	int status;
	pid_t pid;

	snprintf(name.name, sizeof(name.name), "test://sleep-%d-%zu", getpid(), size);
	pid = fork();
	if (!pid) {
		fake_start();
		ping(&name, cnt, window, false, size);
		_exit(0);
	}
	ping(&name, cnt, window, true, size);
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

static void nor_one_of_a_sender_that_waits_for_room(void **state)
{
	shm_conf.disable_cma = 1;
	sleepers(500, 20, 70001);
	shm_conf.disable_cma = 0;
}

/* ---- strangers ---------------------------------------------------------------------- */

static void strangers_get_a_refusal(void **state)
{
	struct shm_handshake hello = {
		.magic = SHM_MAGIC,
		.version = { SHM_VERSION + 1, 0 },
	};
	struct eng_ep *a = ep_at(NULL);
	char key[SHM_KEY_MAX + 1];
	fake_addr addr = name_of(a);
	int fd, i, seg_fd, ret = 0;
	pid_t pid;

	assert_int_equal(shm_naming.key(addr.name, strlen(addr.name) + 1, key), 0);
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_true(fd >= 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(shm_handshake_send(fd, &hello, -1), 0);
	for (i = 0; i < 100; i++)
		fake_poll();
	assert_int_equal(shm_handshake_recv(fd, &hello, &seg_fd), 0);
	assert_int_equal(hello.type, SHM_REFUSE);
	assert_int_equal(hello.reason, CHAN_VERSION_BAD);
	close(fd);
	/* rubbish is hung up on */
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_int_equal(send(fd, "GET / HTTP/1.1", 14, 0), 14);
	for (i = 0; i < 100 && ret != -FI_ECONNRESET; i++) {
		fake_poll();
		ret = shm_handshake_recv(fd, &hello, &seg_fd);
	}
	assert_int_equal(ret, -FI_ECONNRESET);
	close(fd);
	fake_close(a, 0);
}

static void memory_that_could_shrink_is_not_mapped(void **state)
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
		TEST(they_do_so_without_reading_each_others_memory),
		TEST(an_endpoint_talks_to_itself),
		TEST(crossed_calls_end_with_one_connection),
		TEST(two_processes_call_each_other_at_once),
		TEST(sixty_four_endpoints_all_to_all),
		TEST(nobody_there_is_reported_once),
		TEST(a_name_in_use_is_refused),
		TEST(another_name_for_a_door_is_refused),
		TEST(a_restarted_peer_is_reached_again),
		TEST(a_send_to_one_that_left_is_noticed),
		TEST(what_was_sent_before_close_arrives),
		TEST(a_killed_peer_is_noticed_at_once),
		TEST(a_forgotten_peer_costs_nothing),
		TEST(a_slow_receiver_holds_the_sender_back),
		TEST(no_wakeup_is_lost),
		TEST(nor_one_of_a_sender_that_waits_for_room),
		TEST(strangers_get_a_refusal),
		TEST(memory_that_could_shrink_is_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
