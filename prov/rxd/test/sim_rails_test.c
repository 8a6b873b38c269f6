/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Rails in simulated time: two nodes that several paths join, some of which are lost and return at random moments, over
 * lossy networks that reorder.  Every message arrives once, whole and in order, and no peer is declared lost.
 *
 *	sim_rails_test [first seed [how many]]
 */
#include "sim_run.h"
#include "log_text.h"
#include "rxd/rails/state.h"

static struct rxd_conn *conn(unsigned i, unsigned j)
{
	return (struct rxd_conn *) nodes[i]->peers[j].chan;
}

static struct rxd_rails *rails(unsigned i, unsigned j)
{
	return rxd_rails_of(conn(i, j));
}

static void step(void)
{
	nodes_turn();
	snet_now = nodes_soonest();
}

static void run_for(uint64_t ns)
{
	uint64_t end = snet_now + ns, next;

	while (snet_now < end) {
		nodes_turn();
		next = nodes_soonest();
		snet_now = next < end ? next : end;
	}
}

static void settle(void)
{
	uint64_t end = snet_now + 1000 * CLOCK_NS_PER_S;

	while (!nodes_all_there() && snet_now < end)
		step();
	CHECK(nodes_all_there() && !nodes_downs);
}

static void send_some(unsigned from, unsigned to, unsigned cnt, size_t len)
{
	while (cnt--)
		node_send(nodes[from], &nodes[from]->peers[to], len);
}

/* begin - two nodes with @a and @b interfaces, and a connection. */
static void begin(uint64_t number, const struct snet_conf *conf, unsigned a, unsigned b)
{
	nodes_seed = number;
	nodes_downs = 0;
	node_cnt = 2;
	rxd_conf.rails.most = 8;
	rxd_conf.rails.min = 16384;
	snet_start(number, conf);
	snet_rails = a;
	node_open(0);
	snet_rails = b;
	node_open(1);
	snet_rails = 8;
	nodes[0]->later = nodes[1]->later = 0;
	send_some(0, 1, 1, 100);
	settle();
}

static void end(void)
{
	CHECK(!nodes_downs);
	node_close(0);
	node_close(1);
	snet_rails = 0;
}

static void cut_rail(unsigned rail, uint64_t until)
{
	snet_cut(PORT(0) + rail * SNET_RAIL, PORT(1) + rail * SNET_RAIL, until);
	snet_cut(PORT(1) + rail * SNET_RAIL, PORT(0) + rail * SNET_RAIL, until);
}

static const struct snet_conf plain = { .dgram_max = 1456, .delay_ns = 50000, .rate = 100000000, .queue = 200000 };

/* Rails are made for long payload, from whichever side, and each carries its part; short messages go by path 0. */
static void all_carry(unsigned from)
{
	unsigned i;

	begin(1 + from, &plain, 3, 3);
	send_some(0, 1, 50, 100);
	settle();
	CHECK(conn(0, 1)->chan.paths && conn(1, 0)->chan.paths);
	CHECK(rxd_rails_stand(rails(0, 1)) == 1 && !rails(0, 1)->probes);
	send_some(from, !from, 40, 200000);
	settle();
	CHECK(rxd_rails_stand(rails(0, 1)) == 3 && rxd_rails_stand(rails(1, 0)) == 3);
	CHECK(rails(0, 1)->probes + rails(1, 0)->probes == 2);
	for (i = 0; i < 3; i++)
		CHECK(rails(from, !from)->carried[i] > 40 * 200000 / 6);
	end();
}

/* A peer without rails has one path, and so has the other side. */
static void one_side_alone(unsigned a, unsigned b)
{
	begin(5, &plain, a, b);
	send_some(0, 1, 10, 200000);
	send_some(1, 0, 10, 200000);
	settle();
	CHECK(!conn(0, 1)->chan.paths && !conn(1, 0)->chan.paths);
	end();
}

/* gone - rail @rail drops everything from a moment on, in the middle of long payload: it is noticed within a second, and
 * the rail is taken back within five after it is there again.
 */
static void gone(unsigned rail)
{
	uint64_t since;

	begin(10 + rail, &plain, 2, 2);
	send_some(0, 1, 10, 200000);
	settle();
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	send_some(0, 1, 20, 200000);
	run_for(5 * CLOCK_NS_PER_MS);
	cut_rail(rail, UINT64_MAX);
	since = snet_now;
	settle();
	CHECK(snet_now < since + CLOCK_NS_PER_S);
	send_some(0, 1, 5, 100);
	settle();
	CHECK(snet_now < since + CLOCK_NS_PER_S);
	run_for(20 * CLOCK_NS_PER_S);
	CHECK(rxd_rails_stand(rails(0, 1)) == 1);
	cut_rail(rail, 0);
	run_for(5 * CLOCK_NS_PER_S);
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	since = rails(0, 1)->carried[rail];
	send_some(0, 1, 20, 200000);
	settle();
	CHECK(rails(0, 1)->carried[rail] > since + 20 * 200000 / 6);
	end();
}

/* An interface that the system reports as down is left at once, however long the round trip; it is used again later. */
static void down(void)
{
	struct snet_conf far = plain;
	uint64_t since;

	far.delay_ns = 300 * CLOCK_NS_PER_MS;
	begin(15, &far, 2, 2);
	send_some(0, 1, 10, 200000);
	settle();
	run_for(10 * CLOCK_NS_PER_S);
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	send_some(0, 1, 10, 200000);
	run_for(100 * CLOCK_NS_PER_MS);
	cut_rail(1, UINT64_MAX);
	snet_down = 2;
	since = snet_now;
	while (rxd_rails_stand(rails(0, 1)) == 2)
		step();
	CHECK(snet_now < since + CLOCK_NS_PER_S);
	settle();
	snet_down = 0;
	cut_rail(1, 0);
	run_for(20 * CLOCK_NS_PER_S);
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	end();
}

/* All of them for 5 s, and a peer that does not poll for a minute: nothing is taken out. */
static void all_silent(bool stopped)
{
	uint64_t until;

	begin(20 + stopped, &plain, 3, 3);
	send_some(0, 1, 10, 200000);
	settle();
	CHECK(rxd_rails_stand(rails(0, 1)) == 3);
	send_some(0, 1, 30, 200000);
	run_for(5 * CLOCK_NS_PER_MS);
	until = snet_now + (stopped ? 60 : 5) * CLOCK_NS_PER_S;
	if (!stopped) {
		cut_rail(0, until);
		cut_rail(1, until);
		cut_rail(2, until);
		run_for(5 * CLOCK_NS_PER_S);
	}
	for (; stopped && snet_now < until; snet_now += CLOCK_NS_PER_MS)
		node_poll(nodes[0]);
	CHECK(rxd_rails_stand(rails(0, 1)) == 3);
	settle();
	CHECK(snet_now < until + 2 * CLOCK_NS_PER_S && rxd_rails_stand(rails(0, 1)) == 3);
	end();
}

/* longest_stop - messages from node 0 to 1 until @until: the longest time without an acknowledged byte. */
static uint64_t longest_stop(uint64_t until)
{
	uint64_t una = conn(0, 1)->una, since = snet_now, most = 0;

	while (snet_now < until) {
		while (nodes[0]->peers[1].out < 8)
			send_some(0, 1, 1, snet_rnd(3) ? snet_rnd(3000) : 200000);
		step();
		if (conn(0, 1)->una == una)
			continue;
		most = snet_now - since > most ? snet_now - since : most;
		since = snet_now;
		una = conn(0, 1)->una;
	}
	return most;
}

/* all_away - both rails for 5 s; each way of each returns by itself, up to 300 ms later. */
static void all_away(void)
{
	uint64_t until = snet_now + 5 * CLOCK_NS_PER_S;
	unsigned i;

	for (i = 0; i < 4; i++)
		snet_cut(PORT(i & 1) + i / 2 * SNET_RAIL, PORT(!(i & 1)) + i / 2 * SNET_RAIL,
			 until + snet_rnd(300 * CLOCK_NS_PER_MS));
	snet_down = snet_rnd(2) ? 3 : 0;
	run_for(5 * CLOCK_NS_PER_S);
	snet_down = 0;
}

/* sizes - rails of other MTUs than path 0, which their systems know, or not: each has datagrams of its own MTU. */
static void sizes(uint32_t first, uint32_t second, bool known)
{
	struct snet_conf conf = { .dgram_max = 65491, .delay_ns = 50000, .rate = 20000000, .queue = 200000,
				  .rail_mtu = { first, second }, .mtu_known = known };
	const struct rxd_conn *path;
	unsigned i;

	begin(40, &conf, 2, 2);
	longest_stop(snet_now + CLOCK_NS_PER_S / 2);
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	for (i = 0; i < 2; i++) {
		path = rails(0, 1)->base.path[i].conn;
		CHECK(path->mtu.now <= conf.rail_mtu[i] && path->mtu.now > conf.rail_mtu[i] * 9 / 10);
		CHECK(rails(0, 1)->carried[i] > 2000000);
	}
	settle();
	end();
}

/* narrowed - the MTU of rail @i falls in mid-run: the messages go on, and it carries shorter ones. */
static void narrowed(unsigned i)
{
	struct snet_conf conf = { .dgram_max = 65491, .delay_ns = 50000, .rate = 20000000, .queue = 200000,
				  .rail_mtu = { 8972, 8972 } };
	const struct rxd_conn *path;
	uint64_t carried;

	begin(42, &conf, 2, 2);
	longest_stop(snet_now + CLOCK_NS_PER_S / 2);
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	snet_conf.rail_mtu[i] = 1472;
	CHECK(longest_stop(snet_now + CLOCK_NS_PER_S) < CLOCK_NS_PER_S / 4);
	carried = rails(0, 1)->carried[i];
	longest_stop(snet_now + CLOCK_NS_PER_S / 2);
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	path = rails(0, 1)->base.path[i].conn;
	CHECK(path->mtu.now <= 1472 && path->mtu.now > 1472 * 9 / 10);
	CHECK(rails(0, 1)->carried[i] > carried + 4000000);
	settle();
	end();
}

/* shares - rails of @rate, MB/s, with queues of 20 ms, under long messages: together they carry nine tenths of the sum. */
static void shares(const uint64_t rate[3])
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 100000 };
	unsigned cnt = rate[2] ? 3 : 2, i;
	uint64_t sum = 0, from, until;

	for (i = 0; i < cnt; i++) {
		conf.rail_rate[i] = rate[i] * 1000000;
		sum += rate[i];
	}
	begin(41, &conf, cnt, cnt);
	for (i = 0; i < 2; i++) {
		from = conn(0, 1)->una;
		until = snet_now + CLOCK_NS_PER_S / 2;
		while (snet_now < until) {
			while (nodes[0]->peers[1].out < 32)
				send_some(0, 1, 1, RXD_PAYLOAD_MAX);
			step();
		}
	}
	CHECK(conn(0, 1)->una - from > sum * 450000);
	settle();
	end();
}

static void all_shares(void)
{
	static const uint64_t rates[][3] = { { 12, 25 }, { 50, 12 }, { 12, 25, 50 }, { 50, 25, 12 }, { 25, 12, 50 } };
	unsigned i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		shares(rates[i]);
}

static void all_sizes(void)
{
	static const uint32_t mtus[] = { 8972, 1472, 1252 };
	unsigned i;

	for (i = 0; i < 18; i++)
		sizes(mtus[i % 3], mtus[i / 3 % 3], i < 9);
	narrowed(0);
	narrowed(1);
}

/* outage - some of what is sent in it arrives when it is over, which is no round trip of any path, and it says nothing of
 * long datagrams: the messages go on, and no datagram is taken for one that is too long.
 */
static void outage(uint64_t number)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 50000, .rate = 5000000 };
	uint64_t stop;
	char *text;

	snet_start(number, &conf);
	for (stop = 0; stop < 10; stop++)
		snet_rnd(2);
	conf.queue = 50000 + snet_rnd(100000);
	conf.loss = snet_rnd(2) ? 0 : 0.05;
	conf.jitter_ns = snet_rnd(2) ? 0 : 100000;
	conf.held = snet_rnd(2) ? 0 : 0.1;
	begin(number, &conf, 2, 2);
	while (rxd_rails_stand(rails(0, 1)) < 2)
		longest_stop(snet_now + CLOCK_NS_PER_S / 10);
	log_begin();
	longest_stop(snet_now + 300 * CLOCK_NS_PER_MS + snet_rnd(60 * CLOCK_NS_PER_MS));
	all_away();
	stop = longest_stop(snet_now + 8 * CLOCK_NS_PER_S);
	settle();
	text = log_end();
	CHECK(stop < 2 * CLOCK_NS_PER_S && !strstr(text, "drops them by size"));
	free(text);
	end();
}

/* A peer that has everything ends its stream, and its ACKs by one path are lost: no send ends with an error. */
static void ends_without_acks(void)
{
	uint64_t before;

	begin(25, &plain, 2, 2);
	send_some(0, 1, 10, 200000);
	settle();
	CHECK(rxd_rails_stand(rails(0, 1)) == 2);
	snet_cut(PORT(1) + SNET_RAIL, PORT(0) + SNET_RAIL, UINT64_MAX);
	nodes_failed = 0;
	before = conn(0, 1)->end;
	send_some(0, 1, 1, 900000);
	while (conn(1, 0)->rcv_nxt < before + 900000)
		step();
	CHECK(nodes[0]->peers[1].out);
	rxd_tx_shut(conn(1, 0));
	run_for(CLOCK_NS_PER_S);
	CHECK(nodes_downs && !nodes_failed && !nodes[0]->peers[1].out);
	nodes_downs = 0;
	end();
}

/* ---- what goes to an address that has proven nothing ---------------------------------------- */

static unsigned asks, asks_len, replies_len;

static void count_asks(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	bool rail = from >= SNET_RAIL && from < SNET_PORTS;

	if (rail && data[offsetof(struct rxd_hdr, type)] == RXD_RAIL_ASK) {
		asks++;
		asks_len += (unsigned) len;
	} else if (rail) {
		replies_len += (unsigned) len;
	}
}

/* An address that does not answer is sent three packets. */
static void unproven_address(void)
{
	begin(30, &plain, 2, 2);
	asks = asks_len = replies_len = 0;
	snet_tap = count_asks;
	cut_rail(1, UINT64_MAX);
	send_some(0, 1, 10, 200000);
	run_for(60 * CLOCK_NS_PER_S);
	CHECK(asks == CHAN_RAIL_PROBES && asks_len == asks * 56 && !replies_len);
	CHECK(rxd_rails_stand(rails(0, 1)) == 1 && rxd_rails_stand(rails(1, 0)) == 1);
	settle();
	snet_tap = NULL;
	end();
}

/* A peer asks a hundred times from an address that proves nothing: it is answered there as seldom. */
static void asked_often(void)
{
	struct rxd_wire_rail ask = { .cid = 77 };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(ask)];
	unsigned i, who;

	begin(33, &plain, 2, 2);
	who = rails(0, 1)->makes;	/* the other side is asked */
	asks = replies_len = 0;
	snet_tap = count_asks;
	for (i = 0; i < 100; i++) {
		ask.nonce = i + 1;
		rxd_rail_put(buf, rxd_put_hdr(buf, (enum rxd_type) RXD_RAIL_ASK, RXD_F_SUM, conn(who, !who)->cid, 0), &ask);
		rxd_seal(buf, sizeof(buf), NULL, 0);
		snet_forge(PORT(!who) + SNET_RAIL, PORT(who) + SNET_RAIL, buf, sizeof(buf));
		run_for(CLOCK_NS_PER_S / 10);
	}
	CHECK(!asks && replies_len == CHAN_RAIL_PROBES * sizeof(buf));
	snet_tap = NULL;
	end();
}

/* What answers at the address does not know the key. */
static bool spoil(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	uint8_t buf[256], type = data[offsetof(struct rxd_hdr, type)];

	if (type != RXD_RAIL_ANSWER && type != RXD_RAIL_PROOF)
		return false;
	memcpy(buf, data, len);
	buf[sizeof(struct rxd_hdr) + offsetof(struct rxd_wire_rail, hash)] ^= 1;
	rxd_seal(buf, len, NULL, 0);
	snet_forge(from, to, buf, len);
	return true;
}

static bool spoil_proof(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	return data[offsetof(struct rxd_hdr, type)] == RXD_RAIL_PROOF && spoil(from, to, data, len);
}

static void impostor(bool proof)
{
	char *text;

	begin(31 + proof, &plain, 2, 2);
	snet_attack = proof ? spoil_proof : spoil;
	if (!proof)
		log_begin();
	send_some(0, 1, 10, 200000);
	send_some(1, 0, 10, 200000);
	run_for(20 * CLOCK_NS_PER_S);
	settle();
	if (!proof) {
		text = log_end();
		CHECK(strstr(text, "does not prove that it is the peer"));
		free(text);
	}
	CHECK(rxd_rails_stand(rails(0, 1)) == 1 && rxd_rails_stand(rails(1, 0)) == 1);
	snet_attack = NULL;
	end();
}

/* ---- random networks ------------------------------------------------------------------------ */

static size_t some_length(void)
{
	return snet_rnd(3) ? nodes_length() : snet_rnd(RXD_PAYLOAD_MAX);
}

static void random_paths(uint64_t number)
{
	static const double losses[] = { 0, 0, 0.001, 0.01, 0.05 };
	unsigned paths = 2 + (unsigned) (number % 2), i, n;
	struct snet_conf conf = { .dgram_max = 1456 };

	snet_start(number, &conf);
	for (i = 0; i < 10; i++)
		snet_rnd(2);
	conf.loss = losses[snet_rnd(5)];
	conf.delay_ns = UINT64_C(10000) << snet_rnd(10);
	conf.jitter_ns = snet_rnd(2) ? 0 : snet_rnd(conf.delay_ns * 2) + 1;
	conf.dup = snet_rnd(3) ? 0 : 0.1;
	conf.dgram_max = snet_rnd(2) ? 1456 : 8956;
	rxd_conf.cc = (enum rxd_cc_kind) snet_rnd(2);
	begin(number, &conf, paths, paths);
	nodes[0]->later = nodes[1]->later = snet_rnd(4) ? 0 : 10;
	for (n = 0; n < 12; n++) {
		for (i = (unsigned) snet_rnd(6); i--;)
			send_some(0, 1, 1, some_length());
		for (i = (unsigned) snet_rnd(6); i--;)
			send_some(1, 0, 1, some_length());
		if (snet_rnd(2))
			cut_rail((unsigned) snet_rnd(paths), snet_now + snet_rnd(5 * CLOCK_NS_PER_S));
		if (!snet_rnd(4))
			snet_cut(PORT(0) + SNET_RAIL, PORT(1) + SNET_RAIL, snet_now + snet_rnd(5 * CLOCK_NS_PER_S));
		for (i = (unsigned) snet_rnd(300); i--;)
			step();
		if (!snet_rnd(4))
			run_for(snet_rnd(3 * CLOCK_NS_PER_S));
	}
	nodes[0]->later = nodes[1]->later = 0;
	settle();
	end();
}

/* Seeds with which a wait has been a round trip, 22 and 28, or a path a black hole. */
static const uint64_t outages[] = { 22, 28, 47, 86, 108 };

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t cnt = argc > 2 ? strtoull(argv[2], NULL, 0) : 100, i;

	rxd_conf.prov = &nodes_prov;
	rxd_conf.local = 0;
	all_carry(0);
	all_carry(1);
	one_side_alone(2, 0);
	one_side_alone(0, 2);
	gone(0);
	gone(1);
	down();
	all_silent(false);
	all_silent(true);
	all_shares();
	all_sizes();
	for (i = 0; i < sizeof(outages) / sizeof(*outages); i++)
		outage(outages[i]);
	for (i = first; i < first + cnt / 25; i++)
		outage(i);
	ends_without_acks();
	unproven_address();
	asked_often();
	impostor(false);
	impostor(true);
	for (i = first; i < first + cnt; i++)
		random_paths(i);
	printf("%llu networks, %llu messages\n", (unsigned long long) cnt, (unsigned long long) nodes_delivered);
	return 0;
}
