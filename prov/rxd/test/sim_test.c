/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The whole protocol in simulated time, over networks with every kind of fault:
 * every message arrives once, whole and in order, or its connection is reported lost.
 *
 *	sim_test [first seed [how many]]
 *	sim_test rates			goodput on a lossy path, and of many senders to one
 *	sim_test soak [seconds]		one run of so many seconds (3600), with a network that changes
 */
#include <malloc.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include "sim_run.h"
#include "log_text.h"

static void open_three(void)
{
	struct snet_conf good = { .dgram_max = 1456, .delay_ns = 50000 };
	unsigned i;

	nodes_seed = 0;
	snet_start(1, &good);
	nodes_downs = 0;
	for (i = 0; i < 3; i++)
		node_open(i);
	nodes[0]->later = nodes[1]->later = 0;
}

static void close_three(void)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		if (nodes[i])
			node_close(i);
}

/* A peer that makes no progress for long accepts the connection afterwards. */
static void busy_peer(void)
{
	uint64_t end;

	open_three();
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	for (end = snet_now + 50 * CLOCK_NS_PER_S; snet_now < end; snet_now += CLOCK_NS_PER_MS)
		node_poll(nodes[0]);
	for (end = snet_now + 5 * CLOCK_NS_PER_S; !nodes_all_there() && snet_now < end;) {
		nodes_turn();
		snet_now = nodes_soonest();
	}
	CHECK(nodes_all_there() && !nodes_downs);
	close_three();
}

/* ---- processes that do not poll ------------------------------------------------------------- */

#define PEER_TIMEOUT_NS ((uint64_t) rxd_conf.peer_timeout_ms * CLOCK_NS_PER_MS)

/* two_connected - nodes 0 and 1, each of which has sent something. */
static void two_connected(void)
{
	open_three();
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	node_send(nodes[1], &nodes[1]->peers[0], 5000);
	heal();
	CHECK(!nodes_downs);
}

/* poll_alone - node 0 polls for @ns, and no other node does. */
static void poll_alone(uint64_t ns)
{
	uint64_t end = snet_now + ns;

	for (; snet_now < end; snet_now += 10 * CLOCK_NS_PER_MS)
		node_poll(nodes[0]);
}

/* The path drops what is longer than 1,000 bytes: the log says so within seconds. */
static void narrow_path(void)
{
	uint64_t end;
	char *text, *line;

	two_connected();
	snet_conf.mtu = 1000;
	log_begin();
	node_send(nodes[0], &nodes[0]->peers[1], 50000);
	for (end = snet_now + 5 * CLOCK_NS_PER_S; snet_now < end; snet_now += CLOCK_NS_PER_MS)
		nodes_turn();
	text = log_end();
	line = strstr(text, "drops packets by size");
	CHECK(line && !strstr(line + 1, "drops packets by size"));
	free(text);
	snet_conf.mtu = 0;
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* A connected peer computes, or is stopped, for minutes: its silence is no loss. */
static void silent_for_minutes(void)
{
	char *text, *line;

	two_connected();
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	log_begin();
	poll_alone(300 * CLOCK_NS_PER_S);
	text = log_end();
	line = strstr(text, "has taken nothing for 10 s");
	CHECK(line && !strstr(line + 1, "has taken nothing"));
	free(text);
	CHECK(!nodes_downs);
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* @first: what node 0 does before it is stopped for an hour, with a packet unacknowledged that the peer
 * has not got, or whose ACKs no buffer had room for.  An hour later it has to ask before it declares
 * the peer lost.
 */
static void stopped_for_an_hour(uint64_t first)
{
	two_connected();
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	snet_cut(PORT(0), PORT(1), snet_now + first + 1800 * CLOCK_NS_PER_S);
	poll_alone(first);
	snet_now += 3600 * CLOCK_NS_PER_S;
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* Node 0 is stopped for an hour; the ACK that it waits for has come long before, but its first polls do not
 * see it: the provider below leaves the socket out in @skips of them, or @before other datagrams are to be read
 * first.
 */
static void seen_late(unsigned skips, unsigned before)
{
	uint8_t junk[64] = { 0 };
	unsigned i;

	two_connected();
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	node_poll(nodes[0]);
	for (i = 0; i < before; i++)
		snet_forge(PORT(1), PORT(0), junk, sizeof(junk));
	for (i = 0; i < 200; i++, snet_now += CLOCK_NS_PER_MS)
		node_poll(nodes[1]);
	snet_now += 3600 * CLOCK_NS_PER_S;
	snet_skips = skips;
	for (i = 0; i < 300; i++, snet_now++) {
		node_poll(nodes[0]);
		CHECK(!nodes_downs);
	}
	snet_skips = 0;
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* A peer that has ended is noticed, in time. */
static void dead_peer(void)
{
	two_connected();
	node_close(1);
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	poll_alone(PEER_TIMEOUT_NS - CLOCK_NS_PER_S);
	CHECK(!nodes_downs);
	poll_alone(2 * CLOCK_NS_PER_S);
	CHECK(nodes_downs == 1 && nodes_last_err == FI_ETIMEDOUT);
	nodes_downs = 0;
	close_three();
}

/* The process of a peer has ended, and its system says so. */
static void killed_peer(void)
{
	two_connected();
	snet_refuses = true;
	node_close(1);
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	poll_alone(500 * CLOCK_NS_PER_MS);
	CHECK(!nodes_downs);
	poll_alone(3 * CLOCK_NS_PER_S);
	CHECK(nodes_downs == 1 && nodes_last_err == FI_ECONNRESET);
	nodes_downs = 0;
	close_three();
}

#define CONN_TIMEOUT_NS ((uint64_t) rxd_conf.conn_timeout_ms * CLOCK_NS_PER_MS)

/* answered_once - the peer of node 0 has sent a cookie, and nothing since then. */
static void answered_once(void)
{
	const struct rxd_conn *conn;

	open_three();
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	while (!conn->handshake->answered) {
		snet_now = nodes_soonest();
		node_poll(nodes[1]);
		node_poll(nodes[0]);
	}
	CHECK(conn->chan.state == CHAN_CONNECTING);
}

/* A peer that has answered the handshake and computes, or is stopped, for minutes then is waited for. */
static void busy_in_handshake(void)
{
	answered_once();
	snet_refuses = true;
	poll_alone(300 * CLOCK_NS_PER_S);
	CHECK(!nodes_downs);
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* One whose process has ended then: the attempt ends as one that was never answered. */
static void killed_in_handshake(void)
{
	answered_once();
	snet_refuses = true;
	node_close(1);
	poll_alone(CONN_TIMEOUT_NS - CLOCK_NS_PER_S);
	CHECK(!nodes_downs);
	poll_alone(3 * CLOCK_NS_PER_S);
	CHECK(nodes_downs == 1 && nodes_last_err == FI_ETIMEDOUT);
	nodes_downs = 0;
	close_three();
}

/* It was started again in time. */
static void restarted_in_handshake(void)
{
	answered_once();
	snet_refuses = true;
	node_close(1);
	poll_alone(CONN_TIMEOUT_NS - 5 * CLOCK_NS_PER_S);
	node_open(1);
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* A host that says nothing of the socket has only the time after which a peer is lost. */
static void silent_in_handshake(void)
{
	answered_once();
	node_close(1);
	poll_alone(PEER_TIMEOUT_NS - CLOCK_NS_PER_S);
	CHECK(!nodes_downs);
	poll_alone(3 * CLOCK_NS_PER_S);
	CHECK(nodes_downs == 1 && nodes_last_err == FI_ETIMEDOUT);
	nodes_downs = 0;
	close_three();
}

/* forge - node 0 is told ten times a second that its peer's port has no socket, by a host that does
 * not know the ids of the connection (@wrong 1: of ours, 2: of the peer's, 0: any), while the peer computes.
 */
static void forge(unsigned wrong)
{
	struct rxd_conn *conn;
	struct rxd_probe probe = { .addr_len = sizeof(struct sockaddr_in) };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(probe)];
	size_t len;
	int i;

	two_connected();
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	probe.cid = htole64(wrong == 1 ? conn->cid + 1 : conn->cid);
	node_send(nodes[0], &nodes[0]->peers[1], 5000);
	for (i = 0; i < 100; i++) {
		len = rxd_put_hdr(buf, RXD_PROBE, RXD_F_SUM,
				  wrong == 2 ? conn->peer_cid + 1 : conn->peer_cid, 0);
		memcpy(buf + len, &probe, sizeof(probe));
		rxd_seal(buf, sizeof(buf), NULL, 0);
		snet_refuse(PORT(0), buf, wrong ? sizeof(buf) : len);
		poll_alone(CLOCK_NS_PER_S / 10);
	}
	heal();
	CHECK(!nodes_downs);
	close_three();
}

/* A peer of another release refuses, and is refused, at once and for the right reason.
 * @engine: it is the engine's version that differs
 */
static void foreign_peer(bool engine)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 50000, .foreign_engine = engine };
	uint64_t end;
	unsigned i;

	for (i = 0; i < 2; i++) {
		conf.foreign = PORT(i);
		snet_start(1, &conf);
		nodes_downs = 0;
		node_open(0);
		node_open(1);
		node_open(2);
		node_send(nodes[0], &nodes[0]->peers[1], 100);
		for (end = snet_now + CLOCK_NS_PER_S; !nodes_downs && snet_now < end;) {
			nodes_turn();
			snet_now = nodes_soonest();
		}
		CHECK(nodes_downs == 1 && nodes_last_err == FI_EPROTO);
		nodes_downs = 0;
		node_close(0);
		node_close(1);
		node_close(2);
	}
}

#define THEIRS(version) ((version) ^ 0x40)

/* Both sides of a connection between two engine versions log both of them. */
static void foreign_engine(void)
{
	char want[128], *text, *line;

	log_begin();
	foreign_peer(true);
	text = log_end();
	snprintf(want, sizeof(want), "speaks wire version %u.%u ", RXD_VERSION, THEIRS(WIRE_VERSION));
	line = strstr(text, "refused a connection from");
	CHECK(line && strstr(line, want));
	line = strstr(text, "no connection to");
	CHECK(line && strstr(line, want));
	free(text);
}

/* A peer that nothing is heard of is named within three seconds; one that answers late is not. */
static void silent_peer(void)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 50000 };
	uint64_t end;
	char *text;
	unsigned i;

	snet_start(1, &conf);
	for (i = 0; i < 3; i++)
		node_open(i);
	snet_cut(PORT(0), PORT(1), UINT64_MAX);
	node_send(nodes[0], &nodes[0]->peers[1], 100);
	log_begin();
	for (end = snet_now + 3 * CLOCK_NS_PER_S; snet_now < end; snet_now += CLOCK_NS_PER_MS)
		nodes_turn();
	text = log_end();
	CHECK(strstr(text, "<warn> no answer from ") && strstr(text, "10.0.0.1"));
	CHECK(strstr(text, " for 2.5 s: ") && strstr(text, "firewall") &&
	      strstr(text, "goes on for 60 s (FI_OFI_RXD_CONN_TIMEOUT)"));
	free(text);
	for (i = 0; i < 3; i++)
		node_close(i);
}

/* A path that drops what is longer than 1200 bytes, from some time on: the line has the sizes. */
static void black_hole(void)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 50000 };
	uint64_t end;
	char *text;
	unsigned i;

	snet_start(1, &conf);
	for (i = 0; i < 3; i++)
		node_open(i);
	nodes[0]->later = nodes[1]->later = 0;
	for (i = 0; i < 3; i++) {
		if (i == 2)
			snet_conf.mtu = 1200;
		node_send(nodes[0], &nodes[0]->peers[1], 20000);
		if (i == 2)
			log_begin();
		for (end = snet_now + 5 * CLOCK_NS_PER_S; !nodes_all_there() && snet_now < end;) {
			nodes_turn();
			snet_now = nodes_soonest();
		}
		CHECK(nodes_all_there());
	}
	text = log_end();
	CHECK(strstr(text, "<warn> datagrams of 1456 bytes to ") &&
	      strstr(text, "allows 1456 bytes; they have 1024 now"));
	free(text);
	for (i = 0; i < 3; i++)
		node_close(i);
}

/* ---- how much, how fair ------------------------------------------------------------------ */

struct goodput {
	double all, least;	/* bytes per simulated second */
};

static void refill(unsigned from, unsigned to, uint64_t window)
{
	struct eng_peer *peer = &nodes[from]->peers[to];

	while (peer->out < window && peer->sent - nodes[to]->peers[from].next < 4 * window)
		node_send(nodes[from], peer, 32768);
}

/* measure - @senders to one node, for @ns after @warm_ns. */
static struct goodput measure(const struct snet_conf *conf, unsigned senders, int tolerance,
			      uint64_t warm_ns, uint64_t ns)
{
	uint64_t first[NODES], start, got, end;
	struct goodput out = { 0, 1e18 };
	bool warm = false;
	unsigned i;

	nodes_seed = 1;
	snet_start(1, conf);
	rxd_conf.tolerance = tolerance;
	rxd_conf.cc = RXD_CC_CUBIC;
	rxd_conf.checksum = 0;
	node_cnt = senders + 1;
	for (i = 0; i < node_cnt; i++) {
		node_open(i);
		nodes[i]->later = 0;
	}
	start = snet_now + warm_ns;
	end = start + ns;
	while (snet_now < end) {
		if (!warm && snet_now >= start) {
			warm = true;
			for (i = 1; i < node_cnt; i++)
				first[i] = nodes[0]->peers[i].next;
		}
		for (i = 1; i < node_cnt; i++)
			refill(i, 0, 256);
		nodes_turn();
		snet_now = nodes_soonest();
	}
	for (i = 1; i < node_cnt; i++) {
		got = (nodes[0]->peers[i].next - first[i]) * 32768;
		out.all += (double) got * 1e9 / (double) ns;
		if ((double) got * 1e9 / (double) ns < out.least)
			out.least = (double) got * 1e9 / (double) ns;
	}
	for (i = 0; i < node_cnt; i++)
		node_close(i);
	node_cnt = NODES_FEW;
	rxd_conf.tolerance = 3;
	return out;
}

static void rates(void)
{
	struct snet_conf lossy = {
		.loss = 0.01, .delay_ns = 10 * CLOCK_NS_PER_MS, .rate = 30000000,
		.queue = 600000, .dgram_max = 1456,
	};
	struct snet_conf narrow = {
		.delay_ns = 50000, .rate = 125000000, .queue = 512 * 1024, .dgram_max = 1456,
	};
	struct goodput ours, tcp, one, many;

	/* each loss is congestion, as in TCP with CUBIC */
	tcp = measure(&lossy, 1, 0, 2 * CLOCK_NS_PER_S, 4 * CLOCK_NS_PER_S);
	ours = measure(&lossy, 1, 3, 2 * CLOCK_NS_PER_S, 4 * CLOCK_NS_PER_S);
	printf("1 %% loss, 20 ms: %.2f MB/s, CUBIC %.2f MB/s: %.1f times\n", ours.all / 1e6,
	       tcp.all / 1e6, ours.all / tcp.all);
	one = measure(&narrow, 1, 3, CLOCK_NS_PER_S / 5, CLOCK_NS_PER_S / 2);
	many = measure(&narrow, 64, 3, CLOCK_NS_PER_S / 5, CLOCK_NS_PER_S);
	printf("one sender %.1f MB/s; 64 %.1f MB/s together: %.2f, the slowest %.2f of the mean\n",
	       one.all / 1e6, many.all / 1e6, many.all / one.all, many.least * 64 / many.all);
	CHECK(ours.all >= 5 * tcp.all);
	CHECK(many.all >= 0.8 * one.all);
	CHECK(many.least >= many.all / 64 / 4);
}

/* A queue that marks before it is full: little is dropped, and goodput stays. */
static void marks(void)
{
	struct snet_conf conf = {
		.delay_ns = 5 * CLOCK_NS_PER_MS, .rate = 30000000, .queue = 200000,
		.dgram_max = 1456,
	};
	struct goodput dropping, marking;
	uint64_t dropped;

	dropping = measure(&conf, 4, 3, CLOCK_NS_PER_S / 2, CLOCK_NS_PER_S);
	dropped = snet_dropped;
	CHECK(dropped && !snet_marked);
	conf.marks = SNET_MARKS_KEPT;
	conf.mark = 60000;
	marking = measure(&conf, 4, 3, CLOCK_NS_PER_S / 2, CLOCK_NS_PER_S);
	printf("a queue that drops: %.1f MB/s, %llu dropped; one that marks: %.1f MB/s, %llu dropped, "
	       "%llu marked\n", dropping.all / 1e6, (unsigned long long) dropped, marking.all / 1e6,
	       (unsigned long long) snet_dropped, (unsigned long long) snet_marked);
	CHECK(snet_marked && snet_dropped * 4 <= dropped);
	CHECK(marking.all >= 0.9 * dropping.all);
}

/* ---- one world for long --------------------------------------------------------------------- */

#define PHASE_NS (30 * CLOCK_NS_PER_S)
#define STEP_NS (CLOCK_NS_PER_S / 50)
#define MOST_OUT 20			/* packets that wait for one peer */

/* soak_step - send some messages, and run for one step. */
static void soak_step(bool trouble)
{
	unsigned from = (unsigned) snet_rnd(node_cnt), to = (unsigned) snet_rnd(node_cnt);
	uint64_t end = snet_now + STEP_NS, next;
	unsigned cnt = (unsigned) snet_rnd(4);

	while (cnt-- && nodes[from]->peers[to].out < MOST_OUT)
		node_send(nodes[from], &nodes[from]->peers[to], nodes_length());
	if (trouble && !snet_rnd(200))
		mishap(snet_rnd(4));
	while (snet_now < end) {
		nodes_turn();
		next = nodes_soonest();
		snet_now = next < end ? next : end;
	}
}

/* Bytes that malloc() has given; 0 where the C library does not tell. */
static size_t memory_used(void)
{
#ifdef __GLIBC__
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/* Between two phases everything has arrived; then the memory in use is compared. */
static void soak(uint64_t seconds)
{
	struct snet_conf good = { .dgram_max = 8956 }, conf;
	uint64_t start, end, phase_end, phases = 0, downs = 0;
	size_t used, early = 0, late = 0;
	bool trouble;
	unsigned i;

	nodes_seed = 4711;
	snet_start(nodes_seed, &good);
	rxd_conf.checksum = 1;		/* of connections that see all of these networks */
	for (i = 0; i < node_cnt; i++)
		node_open(i);
	start = snet_now;
	end = start + seconds * CLOCK_NS_PER_S;
	for (; snet_now < end; phases++) {
		conf = some_conf();
		conf.dgram_max = good.dgram_max;
		snet_conf = conf;
		trouble = !snet_rnd(3);
		for (i = 0; i < node_cnt; i++)
			nodes[i]->later = snet_rnd(4) ? 0 : 10;
		for (phase_end = snet_now + PHASE_NS; snet_now < phase_end;)
			soak_step(trouble);
		snet_conf = good;
		heal();
		downs += nodes_downs;
		if (!trouble && conf.loss < (conf.burst > 1 ? 0.1 : 0.4))
			CHECK(!nodes_downs);
		nodes_downs = 0;
		used = memory_used();
		if (snet_now - start < (end - start) / 3)
			early = used > early ? used : early;
		else if (snet_now - start > (end - start) / 3 * 2)
			late = used > late ? used : late;
	}
	printf("%llu s, %llu networks one after the other: %llu messages, %llu peers reported lost; "
	       "memory at most %zu KiB in the first third, %zu KiB in the last\n",
	       (unsigned long long) ((snet_now - start) / CLOCK_NS_PER_S), (unsigned long long) phases,
	       (unsigned long long) nodes_delivered, (unsigned long long) downs, early >> 10,
	       late >> 10);
	/* with a sanitizer both are 0; what a network leaves in use varies by some connections */
	CHECK(late <= early + early / 4 + (256 << 10));
	for (i = 0; i < node_cnt; i++)
		node_close(i);
}

static unsigned busy;	/* one step in so many is delayed by some ms; 0: none is */

static void deliver(unsigned from, unsigned to, size_t len)
{
	uint64_t was = nodes[from]->peers[to].sent;

	node_send(nodes[from], &nodes[from]->peers[to], len);
	CHECK(nodes[from]->peers[to].sent == was + 1);
	while (!nodes_got_all(from, to)) {
		nodes_turn();
		if (nodes_got_all(from, to))
			break;
		snet_now = nodes_soonest();
		if (busy && !snet_rnd(busy))
			snet_now += snet_rnd(5 * CLOCK_NS_PER_MS);
	}
}

/* A request and its answer are a datagram each: ACKs are in the same datagrams. */
static void answers(void)
{
	struct snet_conf good = { .dgram_max = 1456, .delay_ns = 20000 };
	struct rxd_conn *conn;
	uint64_t sent = 0, end;
	unsigned i;

	nodes_seed = 0;
	snet_start(2, &good);
	nodes_downs = 0;
	for (i = 0; i < node_cnt; i++)
		node_open(i);
	for (i = 0; i < 300; i++) {
		if (i == 100)	/* the path is known by then */
			sent = snet_sent;
		deliver(0, 1, 8);
		deliver(1, 0, 8);
	}
	CHECK(snet_sent - sent == 2 * 200);
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	CHECK(conn->rtt.smooth < 3 * good.delay_ns);
	for (end = snet_now + CLOCK_NS_PER_S; snet_now < end && conn->una != conn->end;
	     snet_now += CLOCK_NS_PER_MS / 10)
		nodes_turn();
	CHECK(conn->una == conn->end && nodes_all_there() && !nodes_downs);
	for (i = 0; i < node_cnt; i++)
		node_close(i);
}

static void open_fast(uint64_t seed)
{
	struct snet_conf fast = { .dgram_max = 65491, .delay_ns = 10000, .rate = 3000000000u,
				  .queue = 4 << 20 };
	unsigned i;

	nodes_seed = seed;
	snet_start(seed, &fast);
	nodes_downs = 0;
	for (i = 0; i < node_cnt; i++)
		node_open(i);
	for (i = 0; i < 80; i++)
		deliver(i & 1, !(i & 1), 65536);
}

static void close_all(void)
{
	unsigned i;

	CHECK(!nodes_downs);
	for (i = 0; i < node_cnt; i++)
		node_close(i);
}

/* With 20 % loss a message costs a probe timeout now and then, and no more.
 * @mean_ns: of the time that messages of @len bytes may take
 */
static void lossy_answers(size_t len, uint64_t mean_ns)
{
	const struct rxd_conn *conn;
	uint64_t start;
	unsigned i;

	open_fast(3);
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	snet_conf.loss = 0.2;
	start = snet_now;
	for (i = 0; i < 300; i++)
		deliver(i & 1, !(i & 1), len);
	CHECK(snet_now - start < 300 * mean_ns);
	CHECK(conn->mtu.now == snet_conf.dgram_max);
	close_all();
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* lossy_tail - the 99th percentile of the time that a message takes, ns. */
static uint64_t lossy_tail(uint64_t seed)
{
	uint64_t took[1000];
	unsigned i;

	open_fast(seed);
	snet_conf.loss = 0.2;
	for (i = 0; i < 1000; i++) {
		took[i] = snet_now;
		deliver(i & 1, !(i & 1), 65536);
		took[i] = snet_now - took[i];
	}
	qsort(took, 1000, sizeof(*took), by_value);
	close_all();
	return took[990];
}

/* The thread sanitizer takes 25 times as long, and finds little in a single thread: it gets a part of the seeds. */
#if defined(__SANITIZE_THREAD__)
enum { TAILS = 3, NETWORKS = 100 };
#else
enum { TAILS = 20, NETWORKS = 400 };
#endif

static void lossy_tails(void)
{
	uint64_t sum = 0, seed;

	busy = 5;
	for (seed = 1; seed <= TAILS; seed++)
		sum += lossy_tail(seed);
	busy = 0;
	CHECK(sum < TAILS * 30 * CLOCK_NS_PER_MS);
}

/* A peer that does not poll for a while does not change the path MTU or the window. */
static void peer_pauses(void)
{
	const struct rxd_conn *conn;
	uint64_t end, window;
	unsigned i;

	open_fast(4);
	conn = (struct rxd_conn *) nodes[0]->peers[1].chan;
	for (i = 0; i < 20; i++) {
		window = conn->cc.window;
		node_send(nodes[0], &nodes[0]->peers[1], 65536);
		for (end = snet_now + 60 * CLOCK_NS_PER_MS; snet_now < end;
		     snet_now += CLOCK_NS_PER_MS / 10)
			node_poll(nodes[0]);
		deliver(0, 1, 65536);
		CHECK(conn->mtu.now == snet_conf.dgram_max && conn->cc.window >= window);
	}
	close_all();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "rates")) {
		rxd_conf.prov = &nodes_prov;
		rates();
		marks();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "soak")) {
		rxd_conf.prov = &nodes_prov;
		rxd_conf.local = 0;
		soak(argc > 2 ? strtoull(argv[2], NULL, 0) : 3600);
		return 0;
	}
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t cnt = argc > 2 ? strtoull(argv[2], NULL, 0) : NETWORKS, i;

	rxd_conf.prov = &nodes_prov;
	rxd_conf.local = 0;
	silent_peer();
	black_hole();
	busy_peer();
	silent_for_minutes();
	narrow_path();
	stopped_for_an_hour(0);
	stopped_for_an_hour(10 * CLOCK_NS_PER_S);
	seen_late(10, 0);
	seen_late(0, 300 * OBJ_POLL_BUDGET);
	dead_peer();
	killed_peer();
	busy_in_handshake();
	killed_in_handshake();
	restarted_in_handshake();
	silent_in_handshake();
	forge(0);
	forge(1);
	forge(2);
	answers();
	lossy_answers(65536, 600000);
	lossy_answers(1 << 20, 4 * CLOCK_NS_PER_MS);
	lossy_tails();
	peer_pauses();
	foreign_engine();
	foreign_peer(false);
	marks();
	soak(150);
	for (i = first; i < first + cnt; i++)
		sim_run(i);
	printf("%llu networks, %llu messages\n", (unsigned long long) cnt, (unsigned long long) nodes_delivered);
	return 0;
}
