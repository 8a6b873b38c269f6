/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connection migration in simulated time: connections continue when a peer's address changes,
 * whatever is in flight, over lossy paths.  A forged source address redirects no connection, and
 * makes no endpoint send more to it than it sent.
 *
 *	sim_migration_test [first seed [how many]]
 */
#include "sim_nodes.h"

#define MOVES 8
#define LEARN_NS (30 * CLOCK_NS_PER_S)	/* an idle peer sends in a thirtieth of FI_OFI_RXD_PEER_TIMEOUT */

static struct rxd_conn *conn(unsigned i, unsigned j)
{
	return (struct rxd_conn *) nodes[i]->peers[j].chan;
}

/* knows - does @i send to the current address of @j? */
static bool knows(unsigned i, unsigned j)
{
	return conn(i, j)->to == snet_seen_as(PORT(j));
}

static void step(void)
{
	nodes_turn();
	snet_now = nodes_soonest();
}

static void settle(void)
{
	uint64_t end = snet_now + 1000 * CLOCK_NS_PER_S;

	while (!nodes_all_there() && snet_now < end)
		step();
	CHECK(nodes_all_there() && !nodes_downs);
}

static void send_some(unsigned from, unsigned to, unsigned cnt)
{
	while (cnt--)
		node_send(nodes[from], &nodes[from]->peers[to], nodes_length());
}

/* Two nodes with a connection. */
static void begin(uint64_t number, const struct snet_conf *conf)
{
	struct snet_conf good = { .dgram_max = conf->dgram_max, .delay_ns = conf->delay_ns };

	nodes_seed = number;
	nodes_downs = 0;
	node_cnt = 2;
	snet_start(number, &good);
	node_open(0);
	node_open(1);
	send_some(0, 1, 1);
	send_some(1, 0, 1);
	settle();
	snet_conf = *conf;
}

static void end(void)
{
	CHECK(!nodes_downs);
	node_close(0);
	node_close(1);
}

static struct snet_conf some_path(void)
{
	static const double losses[] = { 0, 0, 0.01, 0.05, 0.15 };
	static const uint32_t dgrams[] = { 1456, 8956, 65491 };
	struct snet_conf conf = { .dgram_max = dgrams[snet_rnd(3)] };

	conf.loss = losses[snet_rnd(5)];
	conf.delay_ns = UINT64_C(10000) << snet_rnd(12);	/* 10 us to 20 ms */
	conf.jitter_ns = snet_rnd(2) ? 0 : snet_rnd(conf.delay_ns * 2) + 1;
	conf.dup = snet_rnd(3) ? 0 : 0.1;
	conf.mtu = snet_rnd(3) ? 0 : 1100 + (uint32_t) snet_rnd(8000);
	conf.marks = (enum snet_marks) snet_rnd(SNET_MARKS_CNT);
	conf.stolen = snet_rnd(3) ? 0 : 0.02;
	return conf;
}

/* An address changes during transfers, and again when the peer has migrated. */
static void moving(uint64_t number)
{
	struct snet_conf good = { .dgram_max = 1456 }, conf;
	unsigned i, n, who;
	uint64_t until;

	snet_start(number, &good);
	for (i = 0; i < 10; i++)
		snet_rnd(2);
	conf = some_path();
	rxd_conf.cc = (enum rxd_cc_kind) snet_rnd(3);
	begin(number, &conf);
	for (n = 0; n < MOVES; n++) {
		send_some(0, 1, (unsigned) snet_rnd(20));
		send_some(1, 0, (unsigned) snet_rnd(20));
		for (i = (unsigned) snet_rnd(60); i--;)
			step();
		who = (unsigned) snet_rnd(2);
		snet_move(PORT(who), true);
		until = snet_now + LEARN_NS;
		while (!knows(!who, who) && snet_now < until)
			step();
		CHECK(knows(!who, who) && knows(who, !who));
	}
	settle();
	CHECK(snet_strange_in <= snet_strange_out);
	end();
}

/* Copies from another source, before or after the original: not more is sent there than came
 * from there, and no connection migrates.
 */
static void stolen(uint64_t late_ns)
{
	struct snet_conf conf = {
		.dgram_max = 8956, .delay_ns = 1000000, .stolen = 0.1, .stolen_ns = late_ns,
	};
	unsigned n;

	begin(7, &conf);
	for (n = 0; n < 200; n++) {
		send_some(0, 1, 5);
		send_some(1, 0, 5);
		step();
		CHECK(knows(0, 1) && knows(1, 0));
	}
	settle();
	CHECK(knows(0, 1) && knows(1, 0));
	CHECK(snet_strange_out && snet_strange_in <= snet_strange_out);
	/* a late copy has an old number, and starts no path validation */
	CHECK(late_ns ? !snet_strange_in : snet_strange_in > 0);
	end();
}

static void forge(enum rxd_type type, const struct rxd_conn *to, uint64_t nonce)
{
	uint8_t buf[sizeof(struct rxd_hdr)];
	size_t len = rxd_put_hdr(buf, type, RXD_F_SUM | RXD_F_PN, to->cid, nonce);

	rxd_seal(buf, len, NULL, 0);
	snet_forge(SNET_STRANGER, PORT(0), buf, len);
}

/* An attacker that knows the connection id, but not the challenge, cannot answer; a challenge
 * from another source gets no response there.
 */
static void forged(void)
{
	struct snet_conf conf = { .dgram_max = 8956, .delay_ns = 1000000, .stolen = 1 };
	uint64_t before;
	unsigned n;

	begin(9, &conf);
	send_some(1, 0, 5);
	while (!rxd_migration_of(conn(0, 1)))
		step();
	snet_conf.stolen = 0;
	for (n = 0; n < 200; n++) {
		forge(RXD_PATH_RESPONSE, conn(0, 1), 1 + snet_rnd(1 << 30));
		step();
	}
	CHECK(rxd_migration_of(conn(0, 1)) && knows(0, 1));
	settle();
	before = snet_strange_in;
	for (n = 0; n < 200; n++) {
		forge(RXD_PATH_CHALLENGE, conn(0, 1), 1 + n);
		step();
	}
	CHECK(snet_strange_in == before && knows(0, 1));
	send_some(0, 1, 5);
	settle();
	end();
}

/* A response counts only from the address that was challenged: an attacker that forwards the
 * challenge to the peer gains nothing, since the peer responds from its own address.
 */
static void passed_on(void)
{
	struct snet_conf conf = { .dgram_max = 8956, .delay_ns = 1000000, .stolen = 1 };
	struct rxd_conn *asker;

	begin(11, &conf);
	asker = conn(0, 1);
	send_some(1, 0, 5);
	while (!rxd_migration_of(asker))
		step();
	snet_conf.stolen = 0;
	{
		uint8_t buf[sizeof(struct rxd_hdr)];
		size_t len = rxd_put_hdr(buf, RXD_PATH_CHALLENGE, RXD_F_SUM | RXD_F_PN, conn(1, 0)->cid,
					 rxd_migration_of(asker)->challenge);

		rxd_seal(buf, len, NULL, 0);
		snet_forge(SNET_STRANGER, PORT(1), buf, len);
	}
	settle();
	CHECK(knows(0, 1));
	/* the same response from the challenged address counts, unless it has to be sealed */
	forge(RXD_PATH_RESPONSE, asker, rxd_migration_of(asker)->challenge);
	step();
	step();
	CHECK((asker->to == SNET_STRANGER) == !nodes_level);
	node_close(0);
	node_close(1);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t cnt = argc > 2 ? strtoull(argv[2], NULL, 0) : 300, i;
	int level;

	rxd_conf.prov = &nodes_prov;
	rxd_conf.local = 0;
	for (level = 0; level < 1 + nodes_can_protect(); level++) {
		nodes_level = level ? "encrypt" : NULL;
		stolen(0);
		stolen(500000);
		forged();
		passed_on();
		for (i = first; i < first + cnt; i++)
			moving(i);
		printf("%llu networks, %u moves each, %llu messages%s\n", (unsigned long long) cnt, MOVES,
		       (unsigned long long) nodes_delivered, level ? ", encrypted" : "");
	}
	return 0;
}
