/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Split copies, of messages and of writes, between two processes, of which one is stopped now and then and killed. */
#include "shm/test/split.h"

static size_t long_size(void)
{
	return fake_draw() % 2 ? 65536 + fake_draw() % 3000 : 65536 + fake_draw() % (3 * LONG);
}

/* send_all - until the parent kills the process. */
static void send_all(const fake_addr *to)
{
	struct eng_ep *ep = ep_at(NULL);
	struct eng_peer *peer = fake_peer(ep, to);

	for (;;) {
		while (peer->tx_seq < peer->done_cnt + 8)
			fake_send(peer, fake_draw() % 4 ? long_size() : 100, 0);
		fake_poll();
	}
}

/* Messages are right while the sender is stopped now and then, and in the end killed. */
static void processes_split_messages(void **state)
{
	struct eng_ep *b = ep_at(NULL);
	fake_addr to = name_of(b);
	uint64_t until;
	struct eng_peer *peer;
	pid_t pid = fork();
	int i, status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fake_start();
		send_all(&to);
	}
	b->whole = true;
	FAKE_UNTIL(5000, !list_empty(&b->peers));
	peer = container_of(b->peers.next, struct eng_peer, node);
	FAKE_UNTIL(5000, peer->rx_cnt);
	for (i = 0; i < 30; i++) {
		uint64_t from = peer->rx_cnt;

		FAKE_UNTIL(10000, peer->rx_cnt > from + 5 || peer->down);
		assert_int_equal(peer->down, 0);
		until = clock_ns() + fake_draw() % CLOCK_NS_PER_MS;
		while (clock_ns() < until)
			fake_poll();
		kill(pid, SIGSTOP);
		until = clock_ns() + fake_draw() % (2 * CLOCK_NS_PER_MS);
		while (clock_ns() < until)
			fake_poll();
		kill(pid, SIGCONT);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	FAKE_UNTIL(5000, peer->down);
	assert_int_equal(b->placing, 0);
	fake_close(b, 0);
}

static pid_t stopped_pid;

/* stop_or_go - every now and then the target is stopped in the middle of what it does. */
static void stop_or_go(int sig)
{
	static unsigned cnt;

	kill(stopped_pid, ++cnt % 4 ? SIGCONT : SIGSTOP);
}

/* poll_for_ever - a target of one initiator, which may write LONG bytes from @at on. */
static void poll_for_ever(struct eng_ep *ep, uint8_t *at)
{
	struct eng_peer *peer;

	ep->whole = true;
	do {
		fake_poll();
		peer = list_empty(&ep->peers) ? NULL : container_of(ep->peers.next, struct eng_peer, node);
	} while (!peer || !peer->rx_cnt);
	let(conn_of(peer), at, SHM_LEASE_WRITE);
	for (;;)
		fake_poll();
}

/* Writes are right while their target takes pieces, is stopped, and in the end killed. */
static void processes_split_writes(void **state)
{
	struct itimerval every = { { 0, 1700 }, { 0, 1700 } }, off = { { 0, 0 }, { 0, 0 } };
	uint8_t *theirs = mmap(NULL, LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *mine = malloc(LONG), *seen = malloc(LONG);
	struct iovec there = { theirs, LONG }, here = { seen, LONG };
	unsigned i, shared = 0, late = 0, tries = 0;
	uint64_t until;
	fake_addr to = { "split-writes" };
	struct shm_conn *conn;
	struct eng_peer *peer;
	struct eng_ep *a;
	pid_t pid;
	int status;

	CHECK(theirs != MAP_FAILED && mine && seen);
	if (!may_write()) {
		munmap(theirs, LONG);
		free(mine);
		free(seen);
		skip();
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fake_start();
		poll_for_ever(ep_at(to.name), theirs);
	}
	shm_conf.chan.retry_ms = 10000;
	a = ep_at(NULL);
	peer = fake_peer(a, &to);
	fake_send(peer, 8, 0);
	FAKE_UNTIL(10000, peer->done_cnt == 1 && conn_of(peer)->state == SHM_CONN_READY);
	conn = conn_of(peer);
	atomic_store(&conn->out.seg->tx.inside, PLACE + 1);
	stopped_pid = pid;
	signal(SIGALRM, stop_or_go);
	CHECK(!setitimer(ITIMER_REAL, &every, NULL));
	until = clock_ns() + 20 * CLOCK_NS_PER_S;
	for (i = 0; (i < 2000 || !shared) && clock_ns() < until; i++) {
		size_t len = LONG / 8 + fake_draw() % (LONG - LONG / 8);

		fake_poll();
		fake_prog.idle.away_ns = 0;
		if (!shm_split_access_wanted(conn, true, len))
			continue;
		tries++;
		memset(mine, (int) i, len);
		if (!shm_split_access(conn, true, mine, (uintptr_t) theirs, len)) {
			late++;
			continue;
		}
		shared += conn->access.back > 0;
		there.iov_len = here.iov_len = len;
		CHECK(!shm_cma_copy(pid, false, &here, 1, &there, 1, len));
		assert_memory_equal(seen, mine, len);
	}
	CHECK(!setitimer(ITIMER_REAL, &off, NULL));
	signal(SIGALRM, SIG_DFL);
	assert_true(tries > late);
	assert_true(shared > 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	FAKE_UNTIL(5000, peer->down);
	fake_close(a, 0);
	munmap(theirs, LONG);
	free(mine);
	free(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes_split_messages),
		TEST(processes_split_writes),
	};

	shm_conf.pull_size = LONG / 32;	/* wherever the two run */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
