/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Split copies, of messages and of writes and reads, with a thread in place of the side that does not own
 * the copy, which takes a piece and then is late, cannot copy, or never finishes.
 */
#include "shm/test/split.h"

/* ---- the taker ---------------------------------------------------------------------------- */

struct taker {
	pthread_t thread;
	struct shm_split *split;
	_Atomic bool stop;	/* take no more */
	_Atomic bool took;	/* a piece */
	_Atomic bool go;	/* say that it is done */
	uint64_t word;		/* when it was taken */
	uint64_t pause_ns;	/* before it is done */
	unsigned claim;		/* pieces to take; 0: one */
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
		if (atomic_compare_exchange_strong(&t->split->word, &word,
						   word + (t->claim ? t->claim : 1)))
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
		fake_prog.idle.away_ns = 0;
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
	uint64_t patience;
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
	/* until it has copied it is on record, and its segment is mapped */
	patience = obj_lease_patience_ns;
	obj_lease_patience_ns = 0;
	assert_int_equal(obj_lease_end_all(&fake_domain), -FI_EBUSY);
	atomic_store(&p.taker.split->done, p.taker.word >> 32 << 32 | 1);
	assert_int_equal(obj_lease_end_all(&fake_domain), 0);
	obj_lease_patience_ns = patience;
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

/* ---- accesses --------------------------------------------------------------------------------- */

/* Two connected endpoints: the first accesses memory of the second. */
struct sides {
	struct eng_ep *a, *b;
	struct shm_conn *ab, *ba;
	uint8_t *mine, *theirs;	/* LONG bytes each */
};

static void meet(struct sides *s)
{
	struct eng_peer *peer, *other;
	size_t i;

	*s = (struct sides) { .a = ep_at(NULL), .b = ep_at(NULL), .mine = malloc(LONG),
			      .theirs = calloc(1, LONG) };
	for (i = 0; i < LONG; i++)
		s->mine[i] = (uint8_t) (i * 7 / 5);
	peer = peer_at(s->b, s->a);
	s->b->whole = true;
	other = peer_at(s->a, s->b);
	fake_send(other, 8, 0);
	FAKE_UNTIL(5000, peer->rx_cnt == 1);
	s->ab = conn_of(other);
	s->ba = conn_of(peer);
	FAKE_UNTIL(5000, shm_out_is_clear(&s->ab->out));
}

static void part(struct sides *s)
{
	atomic_store(&s->ab->out.seg->tx.inside, 0);	/* it would stay on record */
	fake_close(s->a, 100);
	fake_close(s->b, 100);
	free(s->mine);
	free(s->theirs);
}

static int access_all(struct sides *s, bool write, size_t len)
{
	return shm_split_access(s->ab, write, s->mine, (uintptr_t) s->theirs, len);
}

static void an_initiator_copies_what_its_target_does_not_take(void **state)
{
	struct sides s;
	int i;

	if (!may_write())
		skip();
	meet(&s);
	assert_false(shm_split_access_wanted(s.ab, true, shm_conf.share_size - 1));
	assert_true(shm_split_access_wanted(s.ab, true, LONG - 3));
	assert_int_equal(access_all(&s, true, LONG - 3), 1);
	assert_memory_equal(s.theirs, s.mine, LONG - 3);
	assert_int_equal(s.theirs[LONG - 3], 0);
	/* nothing that the target has not taken is in the way of the next access but a SHARE */
	assert_true(shm_out_is_clear(&s.ab->out));
	assert_false(shm_split_access_wanted(s.ab, true, LONG));
	FAKE_UNTIL(5000, s.ba->assisted == 1);
	assert_true(list_empty(&s.ba->split_node));
	assert_true(shm_split_access_wanted(s.ab, false, LONG));
	memset(s.mine, 9, LONG);
	assert_int_equal(access_all(&s, false, LONG - 3), 1);
	assert_memory_equal(s.mine, s.theirs, LONG - 3);
	assert_int_equal(s.mine[LONG - 3], 9);
	/* also if it never takes a piece */
	for (i = 0; i < 9; i++) {
		FAKE_UNTIL(5000, s.ba->assisted == s.ab->access.turn);
		assert_true(shm_split_access_wanted(s.ab, true, LONG));
		assert_int_equal(access_all(&s, true, LONG), 1);
	}
	part(&s);
}

/* open_access - as the initiator opens one, of four pieces, of which it has taken one. */
static void open_access(struct sides *s, bool write, uint32_t turn, uint64_t theirs)
{
	struct shm_split *split = &s->ab->out.seg->access;

	atomic_store(&split->id, write);
	atomic_store(&split->addr, theirs);
	atomic_store(&split->owner_addr, (uintptr_t) s->mine);
	atomic_store(&split->len, LONG - 5);
	atomic_store(&split->word, shm_split_word(turn, 1, 0));
	shm_tx_share(s->ab);
}

/* grant - the same, and the initiator is in it. */
static void grant(struct sides *s, uint32_t rights)
{
	let(s->ba, s->theirs, rights);
	atomic_store(&s->ab->out.seg->tx.inside, PLACE + 1);
}

/* refuses - is a write that is opened as number @turn, of the bytes from @theirs on, not shared? */
static bool refuses(struct sides *s, uint32_t turn, uint64_t theirs)
{
	struct shm_split *split = &s->ab->out.seg->access;

	open_access(s, true, turn, theirs);
	FAKE_UNTIL(5000, atomic_load(&split->done) >> 32 == turn);
	return atomic_load(&split->done) == (shm_split_word(turn, 0, 0) | SHM_SPLIT_BAD);
}

static void a_target_copies_from_the_back(void **state)
{
	size_t i, piece = LONG / 4;
	struct shm_split *split;
	uint8_t *from, *to;
	struct sides s;
	int write;

	if (!may_write())
		skip();
	meet(&s);
	split = &s.ab->out.seg->access;
	grant(&s, SHM_LEASE_READ | SHM_LEASE_WRITE);
	for (write = 0; write < 2; write++) {
		uint32_t turn = 5 + (uint32_t) write;

		from = write ? s.mine : s.theirs;
		to = write ? s.theirs : s.mine;
		memset(from, 1 + write, LONG);
		memset(to, 7, LONG);
		open_access(&s, write, turn, (uintptr_t) s.theirs);
		/* one piece when it is asked, then one in each poll */
		fake_poll();
		assert_true(shm_split_back(atomic_load(&split->word)) >= 1);
		FAKE_UNTIL(5000, shm_split_back(atomic_load(&split->word)) == 3);
		assert_int_equal(atomic_load(&split->done), shm_split_word(turn, 0, 3));
		for (i = 0; i < LONG; i++)
			assert_int_equal(to[i], i < piece || i >= LONG - 5 ? 7 : 1 + write);
		FAKE_UNTIL(5000, list_empty(&s.ba->split_node));
		assert_int_equal(s.ba->assisted, turn);
		assert_false(atomic_load(&s.ba->tenant->copying));
	}
	part(&s);
}

/* What no lease permits is refused: the peer may not be able to access it itself. */
static void a_target_copies_within_leases_only(void **state)
{
	struct sides s;

	if (!may_write())
		skip();
	meet(&s);
	assert_true(refuses(&s, 1, (uintptr_t) s.theirs));
	grant(&s, SHM_LEASE_READ);
	assert_true(refuses(&s, 2, (uintptr_t) s.theirs));
	grant(&s, SHM_LEASE_WRITE);
	assert_true(refuses(&s, 3, (uintptr_t) s.theirs + 6));
	assert_true(refuses(&s, 4, 4096));
	assert_false(refuses(&s, 5, (uintptr_t) s.theirs + 5));
	grant(&s, 0);
	assert_true(refuses(&s, 6, (uintptr_t) s.theirs));
	grant(&s, SHM_LEASE_WRITE);
	atomic_store(&s.ab->out.seg->tx.inside, 0);
	assert_true(refuses(&s, 7, (uintptr_t) s.theirs));
	atomic_store(&s.ab->out.seg->tx.inside, SHM_LEASES + 1);
	assert_true(refuses(&s, 8, (uintptr_t) s.theirs));
	atomic_store(&s.ab->out.seg->tx.inside, 0);
	assert_int_equal(s.ba->state, SHM_CONN_READY);
	part(&s);
}

static struct {
	struct shm_conn *conn;
	_Atomic bool seen, stop;
} watch;

static void *watch_copying(void *arg)
{
	while (!atomic_load(&watch.stop) && !atomic_load(&watch.seen))
		atomic_store(&watch.seen, atomic_load(&watch.conn->tenant->copying));
	return NULL;
}

/* share_again - another access, once the ring has room. */
static void share_again(struct sides *s, uint32_t turn)
{
	if (shm_tx_may_share(s->ab, false))
		open_access(s, true, turn, (uintptr_t) s->theirs);
}

/* A region is not given back while a piece of it is copied here, whatever the initiator does. */
static void a_target_ends_its_leases_after_its_piece(void **state)
{
	struct obj_tenant *tenant;
	pthread_t thread;
	uint32_t turn = 0;
	struct sides s;

	if (!may_write())
		skip();
	meet(&s);
	watch.conn = s.ba;
	CHECK(!pthread_create(&thread, NULL, watch_copying, NULL));
	FAKE_UNTIL(10000, (share_again(&s, ++turn), atomic_load(&watch.seen)));
	atomic_store(&watch.stop, true);
	CHECK(!pthread_join(thread, NULL));
	assert_false(atomic_load(&s.ba->tenant->copying));
	tenant = &s.ba->tenant->base;
	grant(&s, 0);
	atomic_store(&s.ab->out.seg->tx.inside, 0);
	assert_false(tenant->ops->end(tenant, 0));
	atomic_store(&s.ba->tenant->copying, true);
	assert_true(tenant->ops->end(tenant, 0));
	atomic_store(&s.ba->tenant->copying, false);
	/* the lease of a key may have moved while the peer uses the one before */
	s.ba->tenant->leases[0].key = s.ba->tenant->leases[1].key = 0;
	atomic_store(&s.ab->out.seg->tx.inside, 1);
	assert_true(tenant->ops->end(tenant, 0));
	atomic_store(&s.ab->out.seg->tx.inside, 0);
	part(&s);
}

/* take_a_piece - @t takes one of the accesses of @s, then does what it is told.  Returns what the access
 * did.
 */
static int take_a_piece(struct sides *s, struct taker *t, bool bad)
{
	int ret;

	*t = (struct taker) { .split = &s->ab->out.seg->access, .bad = bad };
	atomic_store(&t->go, bad);
	CHECK(!pthread_create(&t->thread, NULL, take_one, t));
	do {
		ret = access_all(s, true, LONG);
	} while (!atomic_load(&t->took));
	return ret;
}

static void pieces_that_a_target_cannot_copy_are_the_initiators(void **state)
{
	struct taker t;
	struct sides s;

	if (!may_write())
		skip();
	meet(&s);
	assert_int_equal(take_a_piece(&s, &t, true), 1);
	CHECK(!pthread_join(t.thread, NULL));
	assert_memory_equal(s.theirs, s.mine, LONG);
	assert_false(s.ab->access.open);
	part(&s);
}

/* The access is repeated by packets, and no other one is split until the piece is copied. */
static void an_initiator_does_not_wait_long_for_a_piece(void **state)
{
	struct obj_tenant *tenant;
	struct taker t;
	struct sides s;

	if (!may_write())
		skip();
	meet(&s);
	assert_int_equal(take_a_piece(&s, &t, false), 0);
	assert_true(s.ab->access.open);
	fake_poll();
	assert_false(shm_split_access_wanted(s.ab, true, LONG));
	/* a region there is in use, though the connection stands and the operation may have ended */
	tenant = &s.ab->tenant->base;
	assert_true(tenant->ops->touches(tenant, (uintptr_t) s.mine + LONG - 1, 1));
	assert_false(tenant->ops->touches(tenant, (uintptr_t) s.mine + LONG, 1));
	atomic_store(&t.go, true);
	CHECK(!pthread_join(t.thread, NULL));
	assert_false(tenant->ops->touches(tenant, (uintptr_t) s.mine, LONG));
	FAKE_UNTIL(5000, shm_split_access_wanted(s.ab, true, LONG));
	/* nor is it by the number of a later one */
	assert_int_equal(access_all(&s, true, LONG), 1);
	assert_false(tenant->ops->touches(tenant, (uintptr_t) s.mine, LONG));
	part(&s);
}

/* An initiator whose target claims more pieces than there are copies none of them, and none beyond the end. */
static void an_impossible_count_of_pieces_is_all_taken(void **state)
{
	struct taker t = { .claim = 9, .bad = true };
	struct sides s;

	if (!may_write())
		skip();
	meet(&s);
	t.split = &s.ab->out.seg->access;
	CHECK(!pthread_create(&t.thread, NULL, take_one, &t));
	do {
		memset(s.theirs, 7, LONG);
	} while (access_all(&s, true, LONG) && !atomic_load(&t.took));
	assert_true(s.ab->access.open);
	assert_true(s.ab->access.back < shm_split_cnt(LONG));
	atomic_store(&t.go, true);
	CHECK(!pthread_join(t.thread, NULL));
	FAKE_UNTIL(5000, shm_split_access_wanted(s.ab, true, LONG));
	part(&s);
}

static void close_waits_for_a_piece_of_an_access(void **state)
{
	struct taker t;
	struct sides s;

	if (!may_write())
		skip();
	meet(&s);
	assert_int_equal(take_a_piece(&s, &t, false), 0);
	t.pause_ns = 50 * CLOCK_NS_PER_MS;
	atomic_store(&t.go, true);
	fake_close(s.a, 0);
	assert_true(atomic_load(&t.done));
	CHECK(!pthread_join(t.thread, NULL));
	fake_close(s.b, 0);
	free(s.mine);
	free(s.theirs);
}

/* hold_up - the peer of @conn has a piece of a message and one of an access, and does not go on. */
static void hold_up(struct shm_conn *conn)
{
	conn->split.own = conn->access = (struct shm_split_own) { .open = true, .turn = 77, .back = 1 };
}

static void let_go(struct shm_split *split)
{
	atomic_store(&split->done, shm_split_word(77, 0, 1));
}

/* Peers that are stopped cost one wait, however many they are and whatever they are in. */
static void close_waits_once_for_peers_that_are_stopped(void **state)
{
	uint64_t patience = obj_lease_patience_ns, began;
	struct eng_ep *other = ep_at(NULL);
	struct shm_split *splits[4];
	struct shm_conn *conns[2];
	struct eng_peer *peer;
	struct sides s;
	int i;

	meet(&s);
	peer = peer_at(s.a, other);
	fake_send(peer, 8, 0);
	FAKE_UNTIL(5000, (fake_pull_some(other), peer->done_cnt == 1));
	conns[0] = s.ab;
	conns[1] = conn_of(peer);
	for (i = 0; i < 2; i++) {
		hold_up(conns[i]);
		splits[2 * i] = &conns[i]->in.seg->split;
		splits[2 * i + 1] = &conns[i]->out.seg->access;
	}
	obj_lease_patience_ns = 500 * CLOCK_NS_PER_MS;
	began = clock_ns();
	fake_close(s.a, 0);
	assert_in_range(clock_ns() - began, obj_lease_patience_ns, 4 * obj_lease_patience_ns - 1);
	obj_lease_patience_ns = 0;
	assert_int_equal(obj_lease_end_all(&fake_domain), -FI_EBUSY);
	for (i = 0; i < 4; i++)
		let_go(splits[i]);
	assert_int_equal(obj_lease_end_all(&fake_domain), 0);
	obj_lease_patience_ns = patience;
	fake_close(s.b, 0);
	fake_close(other, 0);
	free(s.mine);
	free(s.theirs);
}

/* The end of a peer is seen behind a wake-up that no thread has read. */
static void the_end_is_seen_behind_a_wakeup(void **state)
{
	struct sides s;

	meet(&s);
	assert_false(shm_conn_ended(s.ba));
	shm_conn_wake(s.ab);
	assert_false(shm_conn_ended(s.ba));
	CHECK(!shutdown(s.ab->src.fd, SHUT_RDWR));
	assert_true(shm_conn_ended(s.ba));
	part(&s);
}

/* A peer that is still inside, and only receives, learns that we have closed, also where its process has no id
 * here by which its end would be seen.
 */
static void a_peer_that_is_inside_sees_the_close(void **state)
{
	struct eng_peer *peer;
	struct sides s;

	meet(&s);
	peer = container_of(s.a->peers.next, struct eng_peer, node);
	grant(&s, SHM_LEASE_WRITE);
	s.ba->tenant->base.pid = 0;
	fake_close(s.b, 0);
	assert_false(list_empty(&fake_domain.left));
	FAKE_UNTIL(5000, peer->down == 1);
	fake_close(s.a, 0);
	assert_int_equal(obj_lease_end_all(&fake_domain), 0);
	free(s.mine);
	free(s.theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_that_the_sender_took_are_waited_for),
		TEST(pieces_that_the_sender_cannot_write_are_read),
		TEST(a_sender_that_closes_with_a_piece_loses_the_message),
		TEST(close_waits_for_a_piece_that_is_taken),
		TEST(a_sender_copies_from_the_back),
		TEST(an_initiator_copies_what_its_target_does_not_take),
		TEST(a_target_copies_from_the_back),
		TEST(a_target_copies_within_leases_only),
		TEST(a_target_ends_its_leases_after_its_piece),
		TEST(pieces_that_a_target_cannot_copy_are_the_initiators),
		TEST(an_initiator_does_not_wait_long_for_a_piece),
		TEST(an_impossible_count_of_pieces_is_all_taken),
		TEST(close_waits_for_a_piece_of_an_access),
		TEST(close_waits_once_for_peers_that_are_stopped),
		TEST(the_end_is_seen_behind_a_wakeup),
		TEST(a_peer_that_is_inside_sees_the_close),
	};

	shm_conf.pull_size = LONG / 32;	/* wherever the two run */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
