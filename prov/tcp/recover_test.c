/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connections that recover: their sockets are cut at random moments, and each packet arrives once, in order; the
 * fake engine checks every byte.  RECOVER_ROUNDS says how often they are cut (100).
 */
#include "tcp/test/cuts.h"

#include <stdlib.h>

#include "tcp/recover/state.h"

static int start_recover(void **state)
{
	fake_start();
	tcp_conf.recover = 1;
	tcp_conf.keepalive_on = 1;
	tcp_conf.keepalive.unacked_ms = 20000;
	return 0;
}

static int stop_recover(void **state)
{
	tcp_conf.recover = 0;
	return stop(state);
}

static void meet(struct eng_peer *ab, struct eng_peer *ba)
{
	fake_send(ab, 100, 0);
	fake_send(ba, 100, 0);
	FAKE_UNTIL(15000, all_here(ab, ba));
	assert_true(conn_of(ab)->rec && conn_of(ba)->rec);
}

/* cut - reset, or end one direction of, the socket of a path. */
static void cut(struct tcp_conn *conn)
{
	int fd = conn && conn->rec ? conn->rec->path[fake_draw() % conn->rec->want].src.fd : -1;

	if (fd >= 0)
		cut_socket(fd);
}

static void packets_of_every_size_arrive_in_order(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	size_t i;

	meet(ab, ba);
	for (i = 0; i < 4; i++) {
		a->later = b->later = (unsigned) (fake_draw() % 30);
		send_some(ab, ba, 100);
	}
	a->later = b->later = 0;
	FAKE_UNTIL(20000, all_here(ab, ba));
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void cut_and_go_on(unsigned paths)
{
	const char *env = getenv("RECOVER_ROUNDS");
	unsigned long rounds = env ? strtoul(env, NULL, 0) : 100;
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	uint64_t lost;

	meet(ab, ba);
	cut_rounds(ab, ba, cut, rounds);
	lost = conn_of(ab)->rec->lost_cnt;
	print_message("%lu cuts, %lu paths lost\n", rounds, (unsigned long) lost);
	/* not each cut hits a path that stands */
	assert_true(lost >= rounds / 10);
	fake_send(ab, TCP_PAYLOAD_MAX, 0);
	fake_send(ba, TCP_PAYLOAD_MAX, 0);
	FAKE_UNTIL(20000, all_here(ab, ba) && tcp_recover_paths(conn_of(ab)) >= paths);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void what_is_cut_goes_on_where_it_was(void **state)
{
	cut_and_go_on(1);
}

static void the_other_paths_go_on_meanwhile(void **state)
{
	tcp_conf.lanes = 3;
	cut_and_go_on(3);
	tcp_conf.lanes = 1;
}

/* The window is full, the peer has taken all of it, and what said so is lost with a path: another path says it, where
 * nothing else is to be sent and no path is made.
 */
static void what_a_lost_path_has_said_is_said_again(void **state)
{
	struct eng_ep *a, *b;
	struct eng_peer *ab, *ba;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct tcp_recover *from, *to;
	unsigned i;

	tcp_conf.lanes = 2;
	a = fake_ep(FI_EP_RDM, 0);
	b = fake_ep(FI_EP_RDM, 0);
	ab = peer_at(a, b);
	ba = peer_at(b, a);
	meet(ab, ba);
	from = conn_of(ab)->rec;
	to = conn_of(ba)->rec;
	fake_send(ab, TCP_PAYLOAD_MAX, 0);
	fake_send(ba, TCP_PAYLOAD_MAX, 0);
	FAKE_UNTIL(20000, all_here(ab, ba) && tcp_recover_paths(conn_of(ab)) == 2 && tcp_recover_paths(conn_of(ba)) == 2);
	from->want = to->want = 1;
	b->later = 100;
	for (i = 0; i < 2 * TCP_WIRE_WINDOW / TCP_PAYLOAD_MAX; i++)
		fake_send(ab, TCP_PAYLOAD_MAX, 0);
	FAKE_UNTIL(20000, to->got.next == from->kept.taken + TCP_WIRE_WINDOW);
	to->said = to->got.next;		/* by records that do not arrive */
	b->later = 0;
	FAKE_UNTIL(20000, (pull_both(a, b), to->got.taken == to->got.next));
	assert_true(from->kept.end == to->got.taken && from->kept.end == from->kept.taken + TCP_WIRE_WINDOW);
	assert_int_equal(connect(tcp_recover_path_fd(to->conn, 0), &none, sizeof(none)), 0);
	FAKE_UNTIL(5000, all_here(ab, ba));
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
	tcp_conf.lanes = 1;
}

static bool ring_is_clean(const uint8_t *ring, size_t len)
{
	while (len && ring[len - 1] == 0xa5)
		len--;
	return !len;
}

/* Short messages are handed on from the buffer that they are read into: they touch no page of the receiver's ring and, since
 * they are answered, one of the sender's.  Both sides are read without asking the set, and no timer is set.
 */
static void short_messages_pass_by_the_ring(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct tcp_recover *from, *to;
	unsigned i;

	meet(ab, ba);
	from = conn_of(ab)->rec;
	to = conn_of(ba)->rec;
	memset(from->kept.ring, 0xa5, 1 << 20);
	memset(from->got.ring, 0xa5, 1 << 20);
	memset(to->got.ring, 0xa5, 1 << 20);
	for (i = 0; i < 1000; i++) {
		fake_send(ab, 8, 0);
		FAKE_UNTIL(5000, all_here(ab, ba));
		fake_send(ba, 8, 0);
		FAKE_UNTIL(5000, all_here(ab, ba));
	}
	assert_true(ring_is_clean(from->got.ring, 1 << 20) && ring_is_clean(to->got.ring, 1 << 20));
	assert_true(ring_is_clean(from->kept.ring + 4096, (1 << 20) - 4096));
	assert_true(conn_of(ab)->active || conn_of(ba)->active);
	FAKE_UNTIL(5000, !from->timer.at && !to->timer.at);	/* but every 100 ms, for one poll */
	assert_true(tcp_recover_is_watched(from) || tcp_recover_is_watched(to));
	assert_int_equal(from->kept.end, to->got.taken);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* Long payload that comes in order, as it does over one path, is read into its place. */
static void long_payload_passes_by_the_ring(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct tcp_recover *to;
	size_t used = 0, i;

	meet(ab, ba);
	to = conn_of(ba)->rec;
	memset(to->got.ring, 0xa5, to->got.size);
	for (i = 0; i < 8; i++) {
		fake_send(ab, TCP_PAYLOAD_MAX, 0);
		FAKE_UNTIL(20000, all_here(ab, ba));
	}
	for (i = 0; i < to->got.size; i++)
		used += to->got.ring[i] != 0xa5;
	assert_true(used < to->got.size / 4);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* What the socket does not take of a short record follows it, and what comes behind stays in order. */
static void a_short_record_that_is_cut_goes_on(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct tcp_path *path;
	unsigned i, blocked = 0;

	meet(ab, ba);
	path = conn_of(ab)->rec->best;
	setsockopt(path->src.fd, SOL_SOCKET, SO_SNDBUF, &(int) { 4096 }, sizeof(int));
	for (i = 0; i < 4000; i++) {
		fake_send(ab, 600, 0);
		blocked += path->blocked && path->sending;
	}
	assert_true(blocked);
	FAKE_UNTIL(20000, all_here(ab, ba));
	assert_int_equal(ab->down + ba->down + ab->lost_cnt + ba->lost_cnt, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void send_mixed(struct eng_peer *peer, size_t cnt)
{
	while (peer->tx_seq < cnt)
		fake_send(peer, peer->tx_seq % 3 ? 500 : TCP_PAYLOAD_MAX, 0);
}

static void what_was_sent_before_close_arrives(void **state)
{
	size_t cnt;

	for (cnt = 1; cnt < 12; cnt++)
		assert_int_equal(sent_before_close(send_mixed, cnt), cnt);
}

static void a_peer_that_ends_is_lost_once(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	meet(ab, ba);
	fake_close(b, 100);
	FAKE_UNTIL(10000, ab->down);
	assert_int_equal(ab->down, 1);
	fake_close(a, 100);
}

/* The process of the peer ends without closing the connection: its sockets are closed, and its host refuses
 * further ones.
 */
static void a_peer_whose_process_ends_is_lost_once(void **state)
{
	static struct eng_ep *b;
	struct eng_peer *ba;
	union net_sa to;
	pid_t pid;

	b = fake_ep(FI_EP_RDM, 0);
	to = fake_name(b->link);
	pid = fork();
	if (!pid) {
		struct eng_peer *ab;

		fake_start();	/* a separate progress group */
		ab = fake_peer(fake_ep(FI_EP_RDM, 0), &to);
		send_mixed(ab, 3);
		FAKE_UNTIL(10000, ab->done_cnt == 3);
		_exit(0);
	}
	FAKE_UNTIL(10000, !list_empty(&b->peers));
	ba = container_of(b->peers.next, struct eng_peer, node);
	FAKE_UNTIL(10000, (fake_pull_some(b), ba->down));
	assert_int_equal(ba->down, 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fake_close(b, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_recover, stop_recover)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_every_size_arrive_in_order),
		TEST(what_is_cut_goes_on_where_it_was),
		TEST(the_other_paths_go_on_meanwhile),
		TEST(what_a_lost_path_has_said_is_said_again),
		TEST(short_messages_pass_by_the_ring),
		TEST(long_payload_passes_by_the_ring),
		TEST(a_short_record_that_is_cut_goes_on),
		TEST(what_was_sent_before_close_arrives),
		TEST(a_peer_that_ends_is_lost_once),
		TEST(a_peer_whose_process_ends_is_lost_once),
	};

	return cmocka_run_group_tests_name("tcp_recover", tests, NULL, NULL);
}
