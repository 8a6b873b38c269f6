/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Split copies, between two processes, and with a thread in place of the sender, which takes
 * a piece and then is late, cannot write, or never finishes.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "shm/test/fake.h"
#include "cma.h"

#define LONG (1u << 20)

static struct shm_conn *conn_of(struct eng_peer *peer)
{
	return ((struct chan *) peer->chan)->conn;
}

/* may_write - as the link finds out: may one process write another's memory? */
static bool may_write(void)
{
	uint64_t probe = 1;

	return shm_cma_probe(getpid(), true, (uintptr_t) &probe, probe);
}

/* ---- the taker ---------------------------------------------------------------------------- */

struct taker {
	pthread_t thread;
	struct shm_split *split;
	_Atomic bool stop;	/* take no more */
	_Atomic bool took;	/* a piece */
	_Atomic bool go;	/* say that it is done */
	uint64_t word;		/* when it was taken */
	uint64_t pause_ns;	/* before it is done */
	bool bad;
	_Atomic bool done;
};

static void *take_one(void *arg)
{
	struct taker *t = arg;
	uint64_t word, bad = t->bad ? SHM_SPLIT_BAD : 1, begin;

	while (!atomic_load(&t->stop) && !atomic_load(&t->took)) {
		word = atomic_load(&t->split->word);
		if (shm_split_front(word) + shm_split_back(word) >=
		    shm_split_cnt(atomic_load(&t->split->len)))
			continue;
		t->word = word;
		if (atomic_compare_exchange_strong(&t->split->word, &word, word + 1))
			atomic_store(&t->took, true);
	}
	while (atomic_load(&t->took) && !atomic_load(&t->go))
		sched_yield();
	begin = clock_ns();
	while (clock_ns() - begin < t->pause_ns)
		sched_yield();
	atomic_store(&t->done, true);
	if (atomic_load(&t->took) && !atomic_load(&t->stop))
		atomic_store(&t->split->done, t->word >> 32 << 32 | bad);
	return NULL;
}

/* Two connected endpoints, and a message from one to the other, of which the taker has a
 * piece.
 */
struct pair {
	struct eng_ep *a, *b;
	struct eng_peer *ab, *ba;
	struct taker taker;
	uint64_t before;	/* messages that came without the taker */
};

static void begin(struct pair *p, bool bad)
{
	*p = (struct pair) { .a = ep_at(NULL), .b = ep_at(NULL) };
	p->ab = peer_at(p->a, p->b);
	p->ba = peer_at(p->b, p->a);
	p->b->whole = true;
	fake_send(p->ab, 8, 0);
	FAKE_UNTIL(5000, p->ba->rx_cnt == 1);
	p->taker.split = &conn_of(p->ba)->in.seg->split;
	p->taker.bad = bad;
	CHECK(!pthread_create(&p->taker.thread, NULL, take_one, &p->taker));
	while (!atomic_load(&p->taker.took)) {
		p->before = p->ba->rx_cnt;
		conn_of(p->ba)->split.misses = 0;
		fake_send(p->ab, LONG, 0);
		FAKE_UNTIL(5000, p->ba->rx_cnt > p->before || conn_of(p->ba)->split_waits);
	}
	FAKE_UNTIL(5000, conn_of(p->ba)->split_waits || p->ba->rx_cnt > p->before);
	assert_true(conn_of(p->ba)->split_waits);
}

static void end_taker(struct pair *p)
{
	atomic_store(&p->taker.go, true);
	CHECK(!pthread_join(p->taker.thread, NULL));
}

static void pieces_that_the_sender_took_are_waited_for(void **state)
{
	struct pair p;
	int i;

	if (!may_write())
		skip();
	begin(&p, false);
	p.b->blind = true;	/* the taker copies nothing */
	fake_send(p.ab, 8, 0);
	for (i = 0; i < 1000; i++)
		fake_poll();
	assert_int_equal(p.ba->rx_cnt, p.before);
	assert_int_equal(p.b->placing, 1);
	end_taker(&p);
	FAKE_UNTIL(5000, p.ba->rx_cnt == p.before + 2);
	fake_close(p.a, 100);
	fake_close(p.b, 100);
}

static void pieces_that_the_sender_cannot_write_are_read(void **state)
{
	struct pair p;

	if (!may_write())
		skip();
	begin(&p, true);
	fake_send(p.ab, LONG + 1, 0);
	end_taker(&p);
	FAKE_UNTIL(5000, p.ba->rx_cnt == p.before + 2);	/* with the right bytes */
	fake_close(p.a, 100);
	fake_close(p.b, 100);
}

static void a_sender_that_closes_with_a_piece_loses_the_message(void **state)
{
	struct pair p;

	if (!may_write())
		skip();
	begin(&p, false);
	fake_close(p.a, 0);
	FAKE_UNTIL(5000, p.ba->down);
	assert_int_equal(p.ba->rx_cnt, p.before);	/* ended with an error */
	assert_int_equal(p.b->placing, 0);
	atomic_store(&p.taker.stop, true);
	end_taker(&p);
	fake_close(p.b, 100);
}

static void close_waits_for_a_piece_that_is_taken(void **state)
{
	struct pair p;

	if (!may_write())
		skip();
	begin(&p, false);
	p.b->blind = true;
	p.taker.pause_ns = 50 * CLOCK_NS_PER_MS;
	atomic_store(&p.taker.go, true);
	fake_close(p.b, 0);
	assert_true(atomic_load(&p.taker.done));
	CHECK(!pthread_join(p.taker.thread, NULL));
	fake_close(p.a, 0);
}

/* ---- the sender ------------------------------------------------------------------------------- */

/* A split copy as a receiver opens it: the sender copies the pieces not taken, only those. */
static void a_sender_copies_from_the_back(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	uint8_t *buf = calloc(1, LONG);
	struct shm_split *split;
	struct shm_conn *conn;
	size_t i;

	if (!may_write()) {
		free(buf);
		skip();
	}
	fake_send(ab, 8, 0);
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == 1));
	conn = conn_of(ab);
	split = &conn->out.seg->split;
	fake_send(ab, LONG - 5, 0);
	assert_int_equal(shm_split_write(conn), 0);
	atomic_store(&split->id, conn->tx.turns[__builtin_ctzll(~conn->tx.free)] << 8);
	atomic_store(&split->addr, (uintptr_t) buf);
	atomic_store(&split->len, LONG - 5);
	atomic_store(&split->word, shm_split_word(7, 2, 0));	/* of four pieces */
	for (i = 1; i <= 2; i++) {
		assert_int_equal(shm_split_write(conn), 1);
		assert_int_equal(atomic_load(&split->word), shm_split_word(7, 2, i));
		assert_int_equal(atomic_load(&split->done), shm_split_word(7, 0, i));
	}
	assert_int_equal(shm_split_write(conn), 0);
	for (i = 0; i < LONG; i++)
		assert_int_equal(buf[i], i < LONG / 2 || i >= LONG - 5 ? 0 : fake_byte(1, i));
	/* an impossible copy is answered, and no memory but the message's is read */
	atomic_store(&split->len, LONG);
	atomic_store(&split->word, shm_split_word(8, 1, 0));
	assert_int_equal(shm_split_write(conn), 1);
	assert_int_equal(atomic_load(&split->done), shm_split_word(8, 0, 0) | SHM_SPLIT_BAD);
	assert_int_equal(shm_split_write(conn), 0);
	FAKE_UNTIL(5000, (fake_pull_some(b), ab->done_cnt == 2));
	fake_close(a, 100);
	fake_close(b, 100);
	free(buf);
}

/* ---- two processes ------------------------------------------------------------------------------ */

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
		conn_of(peer)->split.skip = 0;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_that_the_sender_took_are_waited_for),
		TEST(pieces_that_the_sender_cannot_write_are_read),
		TEST(a_sender_that_closes_with_a_piece_loses_the_message),
		TEST(close_waits_for_a_piece_that_is_taken),
		TEST(a_sender_copies_from_the_back),
		TEST(processes_split_messages),
	};

	shm_conf.pull_size = LONG / 32;	/* wherever the two run */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
