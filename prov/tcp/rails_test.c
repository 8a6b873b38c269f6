/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Rails: what a peer may say of its interfaces, the proof that it is the peer, and packets over several, of which
 * some are cut at random moments.  RAILS_ROUNDS says how often (100).
 *
 * The interface is the loopback's, with several addresses: none of them may be listed, so the tests write down what
 * each side would have heard.
 */
#include "tcp/test/cuts.h"

#include <stdlib.h>
#include <unistd.h>

#include "tcp/test/record_check.h"

#define RAILS 3

static int start_rails(void **state)
{
	fake_start();
	tcp_conf.keepalive_on = 1;
	tcp_conf.keepalive.unacked_ms = 20000;
	return 0;
}

static struct net_rail rail_at(unsigned i)
{
	struct net_rail rail = { .iface = "lo", .index = if_nametoindex("lo"), .prefix = 32 };

	rail.addr = fake_loopback(0);
	rail.addr.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i);
	return rail;
}

static struct eng_ep *ep_with_rails(unsigned cnt)
{
	struct eng_ep *ep = fake_ep(FI_EP_RDM, 0);
	struct net_rail rail[RAILS];
	unsigned i;

	for (i = 0; i < cnt; i++)
		rail[i] = rail_at(i);
	tcp_rails_start(tcp_link_of(container_of(ep->link, struct chan_link, base)), rail, cnt);
	return ep;
}

/* hear - @rec has the addresses of @other. */
static void hear(struct tcp_recover *rec, const struct tcp_recover *other)
{
	const struct tcp_rails *rails = other->conn->link->rails;
	unsigned i;

	assert_true(rec->ex.on && rec->ex.got && !rec->ex.rail_cnt);
	rec->ex.their_cnt = rec->ex.rail_cnt = rails->cnt;
	for (i = 0; i < rails->cnt; i++) {
		rec->ex.their[i] = rails->listener[i].at;
		rec->ex.rail[i].base = (struct chan_rail) { .ours = (uint8_t) i, .theirs = (uint8_t) i };
	}
}

static void meet(struct eng_peer *ab, struct eng_peer *ba)
{
	fake_send(ab, 100, 0);
	fake_send(ba, 100, 0);
	FAKE_UNTIL(15000, all_here(ab, ba) && conn_of(ab)->rec->ex.got && conn_of(ba)->rec->ex.got);
	hear(conn_of(ab)->rec, conn_of(ba)->rec);
	hear(conn_of(ba)->rec, conn_of(ab)->rec);
}

/* all_stand - a path goes by each interface.  There may be two by one, where both sides have made it. */
static bool all_stand(const struct tcp_conn *conn)
{
	unsigned i;

	for (i = 0; i < RAILS; i++)
		if (!tcp_rail_stands(conn->rec, (int) i))
			return false;
	return true;
}

/* nth_path - the socket of the @nth path that stands; -1: there are fewer. */
static int nth_path(const struct tcp_conn *conn, unsigned nth)
{
	unsigned i;
	int fd;

	for (i = 0; i < TCP_LANES_MAX; i++) {
		fd = tcp_recover_path_fd(conn, i);
		if (fd >= 0 && !nth--)
			return fd;
	}
	return -1;
}

/* cut - reset, or end one direction of, the socket of a path: any that stands, since one that is never cut keeps the
 * connection from the state where none does.
 */
static void cut(struct tcp_conn *conn)
{
	unsigned cnt = tcp_recover_paths(conn);
	int fd = nth_path(conn, (unsigned) fake_draw() % (cnt > RAILS ? cnt : RAILS));

	if (fd >= 0)
		cut_socket(fd);
}

static void rails_are_made_for_long_payload(void **state)
{
	struct eng_ep *a = ep_with_rails(RAILS), *b = ep_with_rails(RAILS);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned i;

	meet(ab, ba);
	for (i = 0; i < 50; i++)
		fake_send(ab, 100, 0);
	FAKE_UNTIL(10000, all_here(ab, ba));
	assert_int_equal(tcp_recover_paths(conn_of(ab)), 1);
	fake_send(ba, TCP_PAYLOAD_MAX, 0);	/* from the side that was connected to */
	FAKE_UNTIL(20000, all_here(ab, ba) && tcp_recover_paths(conn_of(ab)) == RAILS && tcp_recover_paths(conn_of(ba)) == RAILS);
	assert_true(all_stand(conn_of(ab)) && all_stand(conn_of(ba)));
	assert_int_equal(conn_of(ab)->rec->ex.probes + conn_of(ba)->rec->ex.probes, RAILS - 1);
	assert_true(conn_of(ab)->rec->kept.size == TCP_WIRE_WINDOW_WIDE && conn_of(ba)->rec->got.size == TCP_WIRE_WINDOW_WIDE);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* maker - the side that has made the connection, and so makes its rails. */
static struct tcp_conn *maker(struct eng_peer *ab, struct eng_peer *ba)
{
	return conn_of(ab)->ours ? conn_of(ab) : conn_of(ba);
}

/* make_all - send long payload from the side that does not make the rails, until all stand and the maker, all of
 * whose bytes were taken, looks at them no more.
 */
static void make_all(struct eng_peer *ab, struct eng_peer *ba)
{
	fake_send(conn_of(ab)->ours ? ba : ab, TCP_PAYLOAD_MAX, 0);
	FAKE_UNTIL(20000, all_here(ab, ba) && all_stand(conn_of(ab)) && all_stand(conn_of(ba)) &&
		   !tcp_recover_is_watched(maker(ab, ba)->rec));
}

/* reset_path - the one by the interface @ours. */
static void reset_path(struct tcp_recover *rec, int ours)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	unsigned i;

	for (i = 0; i < TCP_LANES_MAX; i++)
		if (tcp_path_stands(&rec->path[i]) && rec->path[i].ours == ours)
			assert_int_equal(connect(rec->path[i].src.fd, &none, sizeof(none)), 0);
}

/* A rail that ends while nothing is sent, and has sent nothing, is made again all the same. */
static void a_rail_lost_in_silence_is_made_again(void **state)
{
	struct eng_ep *a = ep_with_rails(RAILS), *b = ep_with_rails(RAILS);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);

	meet(ab, ba);
	make_all(ab, ba);
	reset_path(maker(ab, ba)->rec, RAILS - 1);
	FAKE_UNTIL(5000, !all_stand(maker(ab, ba)));
	FAKE_UNTIL(5000, all_stand(conn_of(ab)) && all_stand(conn_of(ba)));
	fake_close(a, 100);
	fake_close(b, 100);
}

static uint64_t test_ns;

static uint64_t read_test_clock(void)
{
	return test_ns;
}

/* Where all are lost at once, each is made once: by the side that has made the connection, and not a second time as
 * the connect to the address by which the peer is known.
 */
static void one_rail_by_each_interface(void **state)
{
	struct eng_ep *a = ep_with_rails(RAILS), *b = ep_with_rails(RAILS);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned round, i;

	meet(ab, ba);
	make_all(ab, ba);
	test_ns = clock_ns();
	chan_poller_clock(&conn_of(ab)->poller->base, read_test_clock);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < RAILS; i++)
			reset_path(conn_of(round % 2 ? ab : ba)->rec, (int) i);
		fake_send(ab, TCP_PAYLOAD_MAX, 0);
		fake_send(ba, TCP_PAYLOAD_MAX, 0);
		FAKE_UNTIL(20000, (test_ns += 100000, all_here(ab, ba)) && all_stand(conn_of(ab)) && all_stand(conn_of(ba)));
		assert_int_equal(tcp_recover_paths(conn_of(ab)), RAILS);
		assert_int_equal(tcp_recover_paths(conn_of(ba)), RAILS);
	}
	fake_close(a, 100);
	fake_close(b, 100);
}

static void packets_arrive_once_and_in_order(void **state)
{
	const char *env = getenv("RAILS_ROUNDS");
	unsigned long rounds = env ? strtoul(env, NULL, 0) : 100;
	struct eng_ep *a = ep_with_rails(RAILS), *b = ep_with_rails(RAILS);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	uint64_t lost;

	meet(ab, ba);
	cut_rounds(ab, ba, cut, rounds);
	lost = conn_of(ab)->rec->lost_cnt;
	print_message("%lu cuts, %lu rails lost\n", rounds, (unsigned long) lost);
	assert_true(lost >= rounds / 10);
	fake_send(ab, TCP_PAYLOAD_MAX, 0);
	FAKE_UNTIL(20000, all_here(ab, ba) && all_stand(conn_of(ab)) && all_stand(conn_of(ba)));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* ---- a scripted peer that connects -------------------------------------------------------- */

struct far {
	struct script script;
	struct siphash_key key, theirs;		/* of the far end, and of the endpoint */
	int fd;
};

/* far_record - send a record. */
static void far_record(int fd, uint32_t kind, uint64_t at, const void *body, size_t len)
{
	struct tcp_wire_record head = { .len = htole32((uint32_t) len), .kind = htole32(kind), .at = htole64(at) };

	assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
	if (len)
		assert_int_equal(send(fd, body, len, MSG_NOSIGNAL), len);
}

static void far_read(int fd, void *buf, size_t len)
{
	uint64_t until = clock_deadline(20000);
	size_t have = 0;
	ssize_t ret;

	while (have < len) {
		fake_poll();
		ret = recv(fd, (char *) buf + have, len - have, MSG_DONTWAIT);
		have += ret > 0 ? (size_t) ret : 0;
		assert_true(ret && clock_ns() < until);
	}
}

static bool far_closed(int fd)
{
	uint64_t until = clock_deadline(20000);
	char byte[512];
	ssize_t ret;

	do {
		fake_poll();
		ret = recv(fd, byte, sizeof(byte), MSG_DONTWAIT);
	} while ((ret > 0 || (ret < 0 && errno == EAGAIN)) && clock_ns() < until);
	return ret <= 0 && !(ret < 0 && errno == EAGAIN);
}

/* far_hello - begin a connection.  @said: [out] the data of the answer */
static int far_hello(struct far *far, struct eng_ep *ep, unsigned lane, const void *data, size_t len,
		     struct tcp_hello *answer, struct tcp_wire_proof *said)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
	int fd = script_connect(ep);

	far->script.hello.type = TCP_WIRE_HELLO;
	far->script.hello.lane = (uint8_t) lane;
	far->script.hello.data_len = (uint16_t) len;
	far->script.hello.features = TCP_WIRE_RECOVERS | TCP_WIRE_RAILS;
	far->script.hello.max_payload = TCP_PAYLOAD_MAX;
	tcp_hello_pack(&far->script.hello, buf);
	assert_int_equal(send(fd, buf, TCP_WIRE_HELLO_SIZE, MSG_NOSIGNAL), TCP_WIRE_HELLO_SIZE);
	if (len)
		assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
	far_read(fd, buf, TCP_WIRE_HELLO_SIZE);
	far_read(fd, buf + TCP_WIRE_HELLO_SIZE, tcp_hello_need(buf, TCP_WIRE_HELLO_SIZE) - TCP_WIRE_HELLO_SIZE);
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), answer), TCP_HELLO_OK);
	memcpy(said, buf + TCP_WIRE_HELLO_SIZE, sizeof(*said));
	return fd;
}

/* far_open - connect, and read the endpoint's list. */
static struct far far_open(struct eng_ep *ep)
{
	struct far far = { .script = script_open(), .key = { { 46, 47 } } };
	struct tcp_wire_record head;
	struct tcp_wire_proof none;
	struct tcp_wire_rails list;
	struct tcp_hello answer;

	far.fd = far_hello(&far, ep, 0, NULL, 0, &answer, &none);
	assert_int_equal(answer.type, TCP_WIRE_WELCOME);
	assert_true(answer.features & TCP_WIRE_RAILS);
	far_read(far.fd, &head, sizeof(head));
	assert_int_equal(le32toh(head.kind), TCP_RECORD_RAILS);
	assert_int_equal(le32toh(head.len), TCP_RAILS_KEY_SIZE + 2 * sizeof(struct tcp_wire_addr));
	far_read(far.fd, &list, le32toh(head.len));
	far.theirs = (struct siphash_key) { { le64toh(list.key[0]), le64toh(list.key[1]) } };
	return far;
}

/* far_list - say @cnt addresses, the first of which is @text. */
static void far_list(struct far *far, const char *text, unsigned cnt)
{
	struct tcp_wire_rails list = { .key = { htole64(far->key.k[0]), htole64(far->key.k[1]) } };
	union net_sa sa;
	unsigned i;

	assert_int_equal(net_addr_parse_host(text, &sa), 0);
	for (i = 0; i < cnt; i++) {
		net_addr_set_port(&sa.sa, (uint16_t) (4000 + i));
		tcp_addr_pack(&sa, &list.addr[i]);
	}
	far_record(far->fd, TCP_RECORD_RAILS, 0, &list, TCP_RAILS_KEY_SIZE + cnt * sizeof(list.addr[0]));
}

static struct tcp_conn *far_conn(struct eng_ep *ep)
{
	struct eng_peer *peer = container_of(ep->peers.next, struct eng_peer, node);

	assert_false(list_empty(&ep->peers));
	return conn_of(peer);
}

static void far_end(struct far *far, struct eng_ep *ep)
{
	close(far->fd);
	close(far->script.listener);
	fake_close(ep, 0);
}

static void addresses_that_cannot_be_are_dropped(void **state)
{
	static const char *const bad[] = { "127.0.0.1", "224.0.0.1", "255.255.255.255", "169.254.3.3", "0.0.0.0", "::1" };
	struct tcp_recover *rec;
	struct eng_ep *ep;
	struct far far;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ep = ep_with_rails(2);
		far = far_open(ep);
		rec = far_conn(ep)->rec;
		assert_true(rec->kept.size == TCP_WIRE_WINDOW && rec->got.size == TCP_WIRE_WINDOW);	/* of an earlier release */
		far_list(&far, bad[i], 8);
		FAKE_UNTIL(10000, rec->ex.got);
		assert_int_equal(rec->ex.rail_cnt, 0);
		assert_int_equal(rec->ex.their_cnt, 8);
		far_list(&far, "192.0.2.1", 1);		/* a second one has no effect */
		far_record(far.fd, TCP_RECORD_DOWN, 7, NULL, 0);
		for (unsigned k = 0; k < 20; k++)
			fake_poll();
		assert_int_equal(rec->conn->state, TCP_CONN_READY);
		assert_int_equal(rec->ex.their_cnt, 8);
		assert_int_equal(rec->ex.probes, 0);
		far_end(&far, ep);
	}
}

/* Addresses of other networks: no interface of this test leads there, and nothing is sent. */
static void foreign_addresses_get_nothing(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	uint64_t until = clock_deadline(1500);

	far_list(&far, "198.51.100.7", 8);
	FAKE_UNTIL(10000, rec->ex.got);
	rec->busy = true;
	while (clock_ns() < until)
		fake_poll();
	assert_int_equal(rec->ex.rail_cnt, 0);
	assert_int_equal(rec->ex.probes, 0);
	far_end(&far, ep);
}

static void check_refused(void (*say)(struct far *far))
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);

	say(&far);
	assert_true(far_closed(far.fd));
	far_end(&far, ep);
}

static void say_nine(struct far *far)
{
	uint8_t list[TCP_RAILS_KEY_SIZE + 9 * sizeof(struct tcp_wire_addr)] = { 0 };

	far_record(far->fd, TCP_RECORD_RAILS, 0, list, sizeof(list));
}

static void say_half(struct far *far)
{
	uint8_t list[TCP_RAILS_KEY_SIZE + 5] = { 0 };

	far_record(far->fd, TCP_RECORD_RAILS, 0, list, sizeof(list));
}

static void say_no_family(struct far *far)
{
	struct tcp_wire_rails list = { .addr[0].family = 9 };

	far_record(far->fd, TCP_RECORD_RAILS, 0, &list, TCP_RAILS_KEY_SIZE + sizeof(list.addr[0]));
}

static void say_down_of_none(struct far *far)
{
	far_list(far, "192.0.2.1", 2);
	far_record(far->fd, TCP_RECORD_DOWN, 2, NULL, 0);
}

static void say_down_first(struct far *far)
{
	far_record(far->fd, TCP_RECORD_DOWN, 0, NULL, 0);
}

static void say_proof_late(struct far *far)
{
	far_record(far->fd, TCP_RECORD_PROOF, 0, NULL, 0);
}

static void impossible_records_end_the_connection(void **state)
{
	check_refused(say_nine);
	check_refused(say_half);
	check_refused(say_no_family);
	check_refused(say_down_of_none);
	check_refused(say_down_first);
	check_refused(say_proof_late);
}

/* far_join - ask to be a rail. @welcome_p: [out] the challenge. */
static int far_join(struct far *far, struct eng_ep *ep, struct tcp_hello *answer, struct tcp_wire_proof *welcome_p)
{
	struct tcp_wire_proof ask = { .nonce = 4711 };

	return far_hello(far, ep, 1, &ask, sizeof(ask), answer, welcome_p);
}

static void who_has_the_key_becomes_a_rail(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	uint64_t nonce = 4711;
	struct tcp_wire_proof proof;
	struct tcp_hello answer;
	int fd;

	fd = far_join(&far, ep, &answer, &proof);	/* before its list has come */
	assert_true(answer.type == TCP_WIRE_REFUSE && answer.reason == CHAN_NOT_YET);
	close(fd);
	far_list(&far, "192.0.2.1", 2);
	FAKE_UNTIL(10000, rec->ex.got);
	fd = far_join(&far, ep, &answer, &proof);
	assert_int_equal(answer.type, TCP_WIRE_WELCOME);
	assert_true(le64toh(proof.hash) == siphash(&far.key, &nonce, sizeof(nonce)));
	assert_int_equal(tcp_recover_paths(rec->conn), 1);
	far_record(fd, TCP_RECORD_PROOF, siphash(&far.theirs, &proof.nonce, sizeof(proof.nonce)), NULL, 0);
	FAKE_UNTIL(10000, tcp_recover_paths(rec->conn) == 2);
	close(fd);
	FAKE_UNTIL(10000, tcp_recover_paths(rec->conn) == 1);
	assert_int_equal(rec->conn->state, TCP_CONN_READY);
	far_end(&far, ep);
}

/* Who knows the number of the connection alone gets nothing, and does no harm. */
static void who_has_no_key_gets_nothing(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	struct tcp_wire_proof proof;
	struct tcp_hello answer;
	unsigned i;
	int fd;

	far_list(&far, "192.0.2.1", 2);
	FAKE_UNTIL(10000, rec->ex.got);
	for (i = 0; i < 3; i++) {
		fd = far_join(&far, ep, &answer, &proof);
		assert_int_equal(answer.type, TCP_WIRE_WELCOME);
		if (i == 0)
			far_record(fd, TCP_RECORD_PROOF, proof.hash, NULL, 0);
		else if (i == 1)
			far_record(fd, TCP_RECORD_DATA, 0, "data", 4);
		else
			far_record(fd, TCP_RECORD_END, 0, NULL, 0);
		assert_true(far_closed(fd));
		close(fd);
		assert_int_equal(tcp_recover_paths(rec->conn), 1);
		assert_int_equal(rec->conn->state, TCP_CONN_READY);
	}
	assert_false(rec->peer_ended);
	far_end(&far, ep);
}

/* Connections that prove nothing take no place from those that do. */
static void silent_ones_give_way(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	struct tcp_wire_proof proof;
	struct tcp_hello answer;
	int fd[2 * TCP_LANES_MAX];
	unsigned i;

	far_list(&far, "192.0.2.1", 2);
	FAKE_UNTIL(10000, rec->ex.got);
	for (i = 0; i < 2 * TCP_LANES_MAX; i++) {
		fd[i] = far_join(&far, ep, &answer, &proof);
		assert_int_equal(answer.type, TCP_WIRE_WELCOME);
	}
	far_record(fd[i - 1], TCP_RECORD_PROOF, siphash(&far.theirs, &proof.nonce, sizeof(proof.nonce)), NULL, 0);
	FAKE_UNTIL(10000, tcp_recover_paths(rec->conn) == 2);
	while (i--)
		close(fd[i]);
	far_end(&far, ep);
}

/* ---- paths that end without an end ------------------------------------------------------- */

/* A path that takes nothing any more, and whose peer does not end it, does not stand: another is made. */
static void a_mute_path_is_replaced(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	struct tcp_hello hello;
	int fd;

	far_list(&far, "192.0.2.1", 2);
	FAKE_UNTIL(10000, rec->ex.got);
	assert_int_equal(shutdown(rec->path[0].src.fd, SHUT_WR), 0);
	fake_send(container_of(ep->peers.next, struct eng_peer, node), 100, 0);
	FAKE_UNTIL(5000, (fd = accept4(far.script.listener, NULL, NULL, SOCK_NONBLOCK)) >= 0);
	assert_true(script_recv(fd, &hello));
	assert_int_equal(hello.serial, rec->conn->serial);
	assert_int_equal(tcp_recover_paths(rec->conn), 0);
	close(fd);
	far_end(&far, ep);
}

/* far_await - skip records until one of @kind comes.  Returns its @at. */
static uint64_t far_await(int fd, uint32_t kind)
{
	struct tcp_wire_record head;
	uint8_t body[TCP_RECORD_MAX];

	do {
		far_read(fd, &head, sizeof(head));
		far_read(fd, body, le32toh(head.len));
	} while (le32toh(head.kind) != kind);
	return le64toh(head.at);
}

/* What has told the peer of an interface that is down is lost with its path: another path says it. */
static void that_a_rail_is_down_is_said_again(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	struct tcp_wire_proof proof;
	struct tcp_hello answer;
	int fd;

	far_list(&far, "192.0.2.1", 2);
	FAKE_UNTIL(10000, rec->ex.got);
	fd = far_join(&far, ep, &answer, &proof);
	far_record(fd, TCP_RECORD_PROOF, siphash(&far.theirs, &proof.nonce, sizeof(proof.nonce)), NULL, 0);
	FAKE_UNTIL(10000, tcp_recover_paths(rec->conn) == 2);
	rec->ex.down = 1 << 1;
	tcp_paths_push(rec);
	assert_int_equal(far_await(far.fd, TCP_RECORD_DOWN), 1);
	shutdown(far.fd, SHUT_RDWR);
	FAKE_UNTIL(10000, tcp_recover_paths(rec->conn) == 1);
	assert_int_equal(far_await(fd, TCP_RECORD_DOWN), 1);
	close(fd);
	far_end(&far, ep);
}

/* far_has_none - poll for @ms.  Is nothing there to be read? */
static bool far_has_none(int fd, unsigned ms)
{
	uint64_t until = clock_deadline(ms);
	char byte;

	while (clock_ns() < until)
		fake_poll();
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

/* An endpoint that waits for bytes, and sends none, looks at its interfaces all the same: the sender is told at once. */
static void who_receives_says_that_a_rail_is_down(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	struct far far = far_open(ep);
	struct tcp_recover *rec = far_conn(ep)->rec;
	struct tcp_wire_proof proof;
	struct tcp_hello answer;
	union net_sa none;
	int fd;

	far_list(&far, "192.0.2.1", 2);
	FAKE_UNTIL(10000, rec->ex.got);
	fd = far_join(&far, ep, &answer, &proof);
	far_record(fd, TCP_RECORD_PROOF, siphash(&far.theirs, &proof.nonce, sizeof(proof.nonce)), NULL, 0);
	FAKE_UNTIL(10000, tcp_recover_paths(rec->conn) == 2);
	assert_true(rec->path[0].ours == 0 && rec->path[1].ours == 0);
	rec->path[1].ours = 1;
	far_record(far.fd, TCP_RECORD_DATA, 100, "what precedes it is missing", 27);
	FAKE_UNTIL(10000, rec->got.ahead.cnt == 1);
	assert_true(far_has_none(far.fd, 1000));
	assert_int_equal(net_addr_parse_host("192.0.2.9", &none), 0);	/* its address is removed */
	rec->conn->link->rails->rail[1].addr = none;
	FAKE_UNTIL(2000, tcp_recover_paths(rec->conn) == 1);
	assert_int_equal(far_await(far.fd, TCP_RECORD_DOWN), 1);
	close(fd);
	far_end(&far, ep);
}

/* ---- a scripted host that is connected to -------------------------------------------------- */

/* An address where another process answers: it is asked a few times, and has no part in the connection. */
static void who_answers_without_the_key_is_no_rail(void **state)
{
	struct eng_ep *a = ep_with_rails(2), *b = ep_with_rails(2);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct script other = script_open();
	uint64_t until;
	struct tcp_hello hello;
	struct tcp_recover *rec;
	unsigned asked = 0;
	int fd;

	meet(ab, ba);
	rec = conn_of(ab)->ours ? conn_of(ab)->rec : conn_of(ba)->rec;
	rec->ex.their[1] = other.addr;
	fake_send(ab, TCP_PAYLOAD_MAX, 0);
	for (until = clock_deadline(6000); clock_ns() < until;) {
		fake_poll();
		pull_both(a, b);
		fd = accept4(other.listener, NULL, NULL, SOCK_NONBLOCK);
		if (fd < 0)
			continue;
		asked++;
		assert_true(script_recv(fd, &hello));
		script_answer(&other, fd, &hello, TCP_WIRE_WELCOME, CHAN_OK);
		assert_true(far_closed(fd));
		close(fd);
	}
	assert_int_equal(asked, CHAN_RAIL_PROBES);
	assert_int_equal(rec->ex.probes, CHAN_RAIL_PROBES);
	assert_true(all_here(ab, ba));
	assert_int_equal(tcp_recover_paths(conn_of(ab)), 1);
	assert_int_equal(ab->down + ba->down, 0);
	close(other.listener);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* ---- any bytes ------------------------------------------------------------------------------ */

static void any_records(void **state)
{
	struct eng_ep *ep = ep_with_rails(2);
	uint8_t script[300];
	unsigned seed = 46, i;
	size_t k;

	for (i = 0; i < 300; i++) {
		for (k = 0; k < sizeof(script); k++)
			script[k] = (uint8_t) rand_r(&seed);
		check_records(ep, script, sizeof(script));
	}
	fake_close(ep, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_rails, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rails_are_made_for_long_payload),
		TEST(a_rail_lost_in_silence_is_made_again),
		TEST(one_rail_by_each_interface),
		TEST(packets_arrive_once_and_in_order),
		TEST(addresses_that_cannot_be_are_dropped),
		TEST(foreign_addresses_get_nothing),
		TEST(impossible_records_end_the_connection),
		TEST(who_has_the_key_becomes_a_rail),
		TEST(who_has_no_key_gets_nothing),
		TEST(silent_ones_give_way),
		TEST(a_mute_path_is_replaced),
		TEST(who_receives_says_that_a_rail_is_down),
		TEST(that_a_rail_is_down_is_said_again),
		TEST(who_answers_without_the_key_is_no_rail),
		TEST(any_records),
	};

	return cmocka_run_group_tests_name("tcp_rails", tests, NULL, NULL);
}
