/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Peers that are about to connect to protected endpoints, in simulated time: strangers who crowd them, what counts for
 * one that has proven the key and has no connection yet, and what holds for a new connection at every level.
 */
#include <rdma/fi_errno.h>

#include "sim_attack.h"

/* ---- many that begin ------------------------------------------------------------------------------- */

#define STRANGERS 1200
#define CROWD 530		/* more than guests of one host */
#define STRANGER 40		/* the port of them all */

static struct rxd_cookie stranger_cookie;

static bool get_cookie(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	struct rxd_pkt pkt;

	if (to == STRANGER && !rxd_parse_protected(data, len, false, &pkt) && pkt.type == RXD_RETRY)
		stranger_cookie = pkt.cookie;
	return to == STRANGER;
}

/* stranger_says - a HELLO from a port that has no endpoint, with @bytes of a handshake. */
static void stranger_says(uint64_t cid, const uint8_t *bytes, size_t len)
{
	struct rxd_hello hello = {
		.cid = cid, .epoch = 7, .serial = 7, .window = 1000, .dgram_max = 1456, .engine = WIRE_VERSION,
		.engine_oldest = WIRE_OLDEST, .oldest = RXD_SEALED_OLDEST, .kind = RXD_KIND_RDM,
		.addr_len = sizeof(struct sockaddr_in), .cookie = stranger_cookie, .data_len = (uint16_t) len,
	};
	struct sockaddr_in in = nodes[1]->addr;
	uint8_t buf[RXD_HANDSHAKE_MAX];
	size_t at;

	in.sin_port = htons(STRANGER);
	memcpy(hello.addr, &in, sizeof(in));
	at = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	at = rxd_put_hello(buf, at, &hello, bytes);
	rxd_guard_mark(buf);
	rxd_seal(buf, at, NULL, 0);
	snet_forge(STRANGER, PORT(1), buf, at);
	quiet(CLOCK_NS_PER_MS);
}

/* Those that say nothing cost no state; those that begin a handshake at an address of theirs are bounded. */
static void strangers_crowd(void)
{
	const struct captured *begun = NULL;
	struct rxd_pkt pkt;
	unsigned i;

	connected();
	for (i = 0; i < captured_cnt && !begun; i++)
		if (captured[i].from == PORT(0) && !rxd_parse_protected(captured[i].data, captured[i].len, false, &pkt) &&
		    pkt.type == RXD_HELLO && pkt.len)
			begun = &captured[i];
	CHECK(begun);
	snet_attack = get_cookie;
	for (i = 1; i <= STRANGERS; i++) {
		stranger_cookie = (struct rxd_cookie) { 0 };
		stranger_says(i, NULL, 0);
		CHECK(stranger_cookie.mac);
		stranger_says(i, NULL, 0);
		if (i % 2)
			CHECK(snet_link(PORT(1))->guard->guest_cnt <= i / 2);
		else
			stranger_says(i, pkt.data, pkt.len);
	}
	CHECK(snet_link(PORT(1))->guard->guest_cnt == 512);
	snet_attack = NULL;
	node_close(0);
	node_open(0);
	nodes_downs = 0;
	say(0, 1);		/* node 1 finds that the node 0 it knew has ended */
	CHECK(run_until(0, 1) && nodes_downs <= 1);
	CHECK(say(1, 0));
	bystander();
	finish();
}

/* ---- one that has proven the key, and has no connection yet --------------------------------------------- */

static struct captured held;	/* its first sealed HELLO */

static bool hold_hello(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	if (from != PORT(0) || type_of(data) != RXD_HELLO || !is_sealed(data, len))
		return to == STRANGER && get_cookie(from, to, data, len);
	if (!held.len)
		memcpy(held.data, data, held.len = len);
	return true;
}

/* hold_guest - node 0 has proven the key to node 1, which waits for its HELLO.  Returns its keys there. */
static struct rxd_sec *hold_guest(void)
{
	uint64_t cid;

	begin();
	held.len = 0;
	snet_attack = hold_hello;
	node_send(nodes[0], &nodes[0]->peers[1], MESSAGE);
	while (!held.len) {
		nodes_turn();
		snet_now = nodes_soonest();
	}
	quiet(CLOCK_NS_PER_MS);		/* its Finished has come */
	memcpy(&cid, held.data + offsetof(struct rxd_hdr, conn), sizeof(cid));
	return rxd_sec_find(snet_link(PORT(1)), le64toh(cid));
}

/* The cipher's limit holds for it, too: what it says after it is not taken, and it begins again under other keys. */
static void forgeries_before_the_connection(void)
{
	struct rxd_sec *guest = hold_guest();
	uint8_t buf[256] = { 0 };
	int i;

	CHECK(guest && rxd_sec_is_open(guest) && !rxd_sec_conn(guest));
	snet_link(PORT(1))->guard->forged_max = 100;
	rxd_put_hdr(buf, RXD_DATA, RXD_F_SEALED | RXD_F_PN, guest->cid, 7);
	rxd_guard_mark(buf);
	buf[offsetof(struct rxd_hdr, crc) + 1] = 1;
	for (i = 0; i < 200; i++)
		snet_forge(PORT(0), PORT(1), buf, sizeof(buf));
	quiet(CLOCK_NS_PER_MS);
	CHECK(guest->rx.forged == 100);
	snet_forge(PORT(0), PORT(1), held.data, held.len);
	quiet(CLOCK_NS_PER_MS);
	CHECK(!rxd_sec_conn(guest));
	snet_attack = NULL;
	CHECK(run_until(0, 1));
	finish();
}

/* Strangers of the same host, at another port, do not put it out. */
static void strangers_crowd_a_guest(void)
{
	const struct rxd_sec *guest = hold_guest();
	const uint8_t *bytes = NULL;
	struct rxd_pkt pkt;
	uint64_t cid = guest->cid;
	unsigned i;

	for (i = 0; i < captured_cnt && !bytes; i++)
		if (captured[i].from == PORT(0) && type_of(captured[i].data) == RXD_HELLO &&
		    !rxd_parse_protected(captured[i].data, captured[i].len, false, &pkt) && pkt.len)
			bytes = pkt.data;
	CHECK(bytes);
	for (i = 1; i <= CROWD; i++) {
		stranger_cookie = (struct rxd_cookie) { 0 };
		stranger_says(i, NULL, 0);
		stranger_says(i, bytes, pkt.len);
	}
	CHECK(snet_link(PORT(1))->guard->guest_cnt == 512 && rxd_sec_find(snet_link(PORT(1)), cid));
	snet_forge(PORT(0), PORT(1), held.data, held.len);
	snet_attack = NULL;
	CHECK(run_until(0, 1) && !nodes_downs);
	finish();
}

/* ---- at every level --------------------------------------------------------------------------- */

/* The first handshake of protected endpoints measures the path, too. */
static void a_handshake_measures_the_path(void)
{
	const struct rxd_conn *conn;

	begin();
	node_send(nodes[0], &nodes[0]->peers[1], MESSAGE);
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	while (!rxd_conn_alive(conn)) {
		nodes_turn();
		snet_now = nodes_soonest();
	}
	CHECK(conn->rtt.min >= 2 * snet_conf.delay_ns && conn->rtt.min < 3 * snet_conf.delay_ns);
	finish();
}

static bool welcome_dropped;

static bool drop_welcome(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	if (welcome_dropped || type_of(data) != RXD_WELCOME)
		return false;
	return welcome_dropped = true;
}

/* is_kept_back - has a send completed of which bytes have not left? */
static bool is_kept_back(const struct rxd_conn *conn)
{
	const struct rxd_item *item;

	list_for_each_entry(item, &conn->items, node)
		if (!item->pkt && item->start + item->len > conn->nxt)
			return true;
	return false;
}

/* A program that polls once after its sends have completed, and never again, has sent them: also where the handshake
 * had to be repeated, and so has measured nothing.
 */
static void completed_sends_leave(void)
{
	const struct rxd_conn *conn;
	unsigned i;

	begin();
	welcome_dropped = false;
	snet_attack = drop_welcome;
	for (i = 0; i < 10; i++)
		node_send(nodes[0], &nodes[0]->peers[1], MESSAGE);
	CHECK(run_until(0, 1) && welcome_dropped);
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	for (i = 0; i < 200; i++) {
		node_send(nodes[0], &nodes[0]->peers[1], MESSAGE);
		if (i % 50 == 49) {
			node_poll(nodes[0]);
			CHECK(!is_kept_back(conn));
		}
	}
	CHECK(run_until(0, 1));
	finish();
}

static void guests_of(const char *at)
{
	level = at;
	strangers_crowd();
	forgeries_before_the_connection();
	strangers_crowd_a_guest();
	a_handshake_measures_the_path();
	completed_sends_leave();
	printf("guests: %s\n", at);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("FI_LOG_INTERVAL", "0", 0);
	rxd_conf.prov = &nodes_prov;
	rxd_conf.local = 0;
	if (!nodes_can_protect())
		return 77;
	a_handshake_measures_the_path();
	completed_sends_leave();
	guests_of("encrypt");
	guests_of("auth");
	return 0;
}
