/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The whole protocol in simulated time, over networks that do everything wrong:
 * every message arrives once, whole and in order, or its connection is reported lost.
 *
 *	sim_test [first seed [how many]]
 *	sim_test rates			goodput on a lossy path, and of many senders to one
 */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "sim_net.h"

static uint64_t seed;

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: seed %llu, %.6f s: %s\n", __FILE__, __LINE__, \
				(unsigned long long) seed, (double) snet_now / 1e9, #cond); \
			abort();						\
		}								\
	} while (0)

#define NODES 65
#define FEW 3				/* of them, in random networks */
#define PORT(i) ((unsigned) (1 + (i)))

struct head {
	uint64_t life;		/* of the sender's endpoint */
	uint64_t gen;		/* of its connection to the receiver */
	uint64_t seq;
	uint64_t len;
};

struct msg {
	struct eng_pkt pkt;
	struct eng_peer *peer;
	uint8_t data[];
};

struct in {
	struct list node;	/* on ep->held, while it is held and not pulled */
	struct eng_peer *peer;
	struct head head;
	void *token;
	uint8_t *buf;
};

struct eng_peer {
	struct eng_ep *ep;
	struct sockaddr_in addr;
	bool started;
	/* to it */
	uint64_t gen, sent, out;
	/* from it */
	uint64_t from_life, from_gen, next;
	_Alignas(16) uint8_t chan[sizeof(struct rxd_conn)];
};

struct eng_ep {
	struct obj_ep base;	/* first */
	struct fi_info info;
	struct sockaddr_in addr;
	struct obj_prog prog;
	struct eng_link *link;
	uint64_t life;
	struct eng_peer peers[NODES];
	struct list held;
	unsigned placing;
	uint64_t later;		/* percent of packets refused for now */
};

static struct eng_ep *nodes[NODES];
static unsigned node_cnt = FEW;
static uint64_t lives, downs, delivered;
static int last_err;		/* why a peer went down */
static struct fi_provider fake_prov = { .name = "ofi_rxd" };

static uint8_t byte_of(uint64_t seq, size_t i)
{
	return (uint8_t) (seq * 151 + i * 7 + (i >> 8));
}

/* ---- the engine ------------------------------------------------------------------- */

void *eng_peer_chan(struct eng_peer *peer)
{
	return peer->chan;
}

struct eng_peer *eng_peer_of(void *chan)
{
	return container_of(chan, struct eng_peer, chan);
}

const void *eng_peer_addr(const struct eng_peer *peer)
{
	return &peer->addr;
}

struct eng_peer *eng_peer_find(struct eng_link *link, const void *addr, size_t len)
{
	const struct sockaddr_in *in = addr;

	CHECK(len == sizeof(*in) && ntohs(in->sin_port) >= 1 && ntohs(in->sin_port) <= NODES);
	return &link->ep->peers[ntohs(in->sin_port) - 1];
}

static void arrived(struct in *in, const uint8_t *data)
{
	struct head *head = &in->head;
	size_t i;

	for (i = 0; i < head->len; i++)
		CHECK(data[i] == byte_of(head->seq, i));
	delivered++;
}

static void in_free(struct in *in)
{
	free(in->buf);
	free(in);
}

/* Once, in order; a new life or connection begins with its first message. */
static void check_order(struct eng_peer *peer, const struct head *head)
{
	if (head->life != peer->from_life || head->gen != peer->from_gen) {
		CHECK(head->life > peer->from_life ||
		      (head->life == peer->from_life && head->gen > peer->from_gen));
		peer->from_life = head->life;
		peer->from_gen = head->gen;
		peer->next = 0;
	}
	CHECK(head->seq == peer->next);
	peer->next++;
}

static void pieces(struct eng_rx *rx, uint8_t *buf, size_t len)
{
	size_t cut = len ? snet_rnd(len) : 0;

	rx->iov[0] = (struct iovec) { buf, cut };
	rx->iov[1] = (struct iovec) { buf + cut, len - cut };
	rx->iov_cnt = 2;
}

enum eng_rx_verdict eng_on_packet(struct eng_link *link, struct eng_peer *peer,
				  struct eng_rx *rx)
{
	struct eng_ep *ep = link->ep;
	struct in *in;

	CHECK(rx->hdr_len == sizeof(struct head) && rx->avail <= rx->len);
	if (snet_rnd(100) < ep->later)
		return ENG_RX_LATER;
	in = calloc(1, sizeof(*in));
	memcpy(&in->head, rx->hdr, sizeof(in->head));
	in->peer = peer;
	CHECK(in->head.len == rx->len);
	check_order(peer, &in->head);
	if (rx->avail == rx->len && snet_rnd(2)) {
		arrived(in, rx->data);
		in_free(in);
		return ENG_RX_DONE;
	}
	if (snet_rnd(2)) {
		in->token = link->ops->hold(link, peer, rx);
		list_add_tail(&in->node, &ep->held);
		return ENG_RX_HELD;
	}
	in->buf = malloc(rx->len + 1);
	pieces(rx, in->buf, rx->len);
	rx->cookie = in;
	ep->placing++;
	return ENG_RX_PLACE;
}

void eng_on_placed(struct eng_link *link, void *cookie, int status)
{
	struct in *in = cookie;

	link->ep->placing--;
	if (!status)
		arrived(in, in->buf);
	in_free(in);
}

static void pull_some(struct eng_ep *ep)
{
	struct list todo, *node;
	struct eng_rx rx;
	struct in *in;
	int ret;

	list_init(&todo);
	list_splice_tail(&ep->held, &todo);
	while ((node = list_pop(&todo))) {
		in = container_of(node, struct in, node);
		if (snet_rnd(3)) {
			list_add_tail(node, &ep->held);
			continue;
		}
		if (!snet_rnd(10)) {
			ep->link->ops->drop(ep->link, in->token);
			delivered++;
			in_free(in);
			continue;
		}
		in->buf = malloc(in->head.len + 1);
		pieces(&rx, in->buf, in->head.len);
		ret = ep->link->ops->pull(ep->link, in->token, rx.iov, rx.iov_cnt, in);
		if (!ret) {
			ep->placing++;
			continue;
		}
		if (ret > 0)
			arrived(in, in->buf);
		in_free(in);
	}
}

void eng_on_up(struct eng_link *link, struct eng_peer *peer)
{
	peer->started = true;
}

void eng_on_down(struct eng_link *link, struct eng_peer *peer, int err)
{
	CHECK(err > 0);
	CHECK(!peer->out);	/* all packets came back before */
	peer->started = false;
	peer->gen++;
	peer->sent = 0;
	last_err = err;
	downs++;
}

void eng_on_connreq(struct eng_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *param, size_t paramlen)
{
}

void eng_on_connected(struct eng_link *link, struct eng_peer *peer, const void *param,
		      size_t paramlen)
{
}

void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err, const void *param,
		    size_t paramlen)
{
}

void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer)
{
}

/* One link is enough here. */
const struct eng_link_ops shm_near_ops;

bool obj_prog_others_hot(const struct obj_poller *poller)
{
	return false;
}

struct obj_poller *obj_prog_find(struct obj_prog *prog, const void *key)
{
	struct list *pos;

	list_for_each(pos, &prog->pollers)
		if (container_of(pos, struct obj_poller, node)->key == key)
			return container_of(pos, struct obj_poller, node);
	return NULL;
}

int obj_prog_add(struct obj_prog *prog, struct obj_poller *poller)
{
	poller->prog = prog;
	list_add_tail(&poller->node, &prog->pollers);
	return 0;
}

void obj_prog_set_timer(struct obj_prog *prog, uint64_t deadline_ns)
{
}

/* ---- nodes --------------------------------------------------------------------------- */

static struct sockaddr_in address(unsigned i)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	in.sin_addr.s_addr = htonl(0x0a000001);
	in.sin_port = htons((uint16_t) PORT(i));
	return in;
}

static void node_open(unsigned no)
{
	struct eng_ep *ep = calloc(1, sizeof(*ep));
	unsigned i;

	nodes[no] = ep;
	ep->life = ++lives;
	ep->addr = address(no);
	ep->info.src_addr = &ep->addr;
	ep->info.src_addrlen = sizeof(ep->addr);
	ep->base.info = &ep->info;
	ep->base.type = FI_EP_RDM;
	ep->base.prog = &ep->prog;
	ep->base.prov = &fake_prov;
	ep->later = snet_rnd(4) ? 0 : 10;
	list_init(&ep->prog.pollers);
	list_init(&ep->held);
	for (i = 0; i < node_cnt; i++) {
		ep->peers[i].ep = ep;
		ep->peers[i].addr = address(i);
	}
	CHECK(!rxd_link_ops.open(ep, &ep->link));
}

static int node_poll(struct eng_ep *ep)
{
	struct obj_poller *poller = container_of(ep->prog.pollers.next, struct obj_poller, node);

	atomic_fetch_add(&ep->prog.polls, 1);
	return poller->ops->poll(poller, OBJ_POLL_BUDGET);
}

static uint64_t node_due(struct eng_ep *ep)
{
	struct obj_poller *poller = container_of(ep->prog.pollers.next, struct obj_poller, node);
	uint64_t due = UINT64_MAX;

	return poller->ops->arm(poller, &due) ? snet_now : due;
}

/* Like a process that is killed: nothing is said. */
static void node_close(unsigned no)
{
	struct eng_ep *ep = nodes[no];
	struct obj_poller *poller = container_of(ep->prog.pollers.next, struct obj_poller, node);
	struct list *node;
	struct in *in;

	while ((node = list_pop(&ep->held))) {
		in = container_of(node, struct in, node);
		ep->link->ops->drop(ep->link, in->token);
		in_free(in);
	}
	ep->link->ops->close(ep->link, 0);
	CHECK(!ep->placing);
	for (unsigned i = 0; i < node_cnt; i++)
		CHECK(!ep->peers[i].out);
	poller->ops->close(poller);
	free(ep);
	nodes[no] = NULL;
}

static void on_done(struct eng_pkt *pkt, int status)
{
	struct msg *msg = container_of(pkt, struct msg, pkt);

	msg->peer->out--;
	free(msg);
}

static void send_one(struct eng_ep *ep, struct eng_peer *peer, size_t len)
{
	struct head head = { ep->life, peer->gen, peer->sent, len };
	struct msg *msg = malloc(sizeof(*msg) + len);
	size_t i;
	int ret;

	if (!peer->started) {
		CHECK(!ep->link->ops->peer_get(ep->link, peer));
		peer->started = true;
	}
	memset(&msg->pkt, 0, sizeof(msg->pkt));
	msg->peer = peer;
	msg->pkt.hdr_len = sizeof(head);
	memcpy(msg->pkt.hdr, &head, sizeof(head));
	msg->pkt.len = len;
	msg->pkt.flags = snet_rnd(2) ? ENG_PKT_MORE : 0;
	msg->pkt.done = on_done;
	for (i = 0; i < len; i++)
		msg->data[i] = byte_of(head.seq, i);
	msg->pkt.iov[0] = (struct iovec) { msg->data, len / 3 };
	msg->pkt.iov[1] = (struct iovec) { msg->data + len / 3, len - len / 3 };
	msg->pkt.iov_cnt = len ? 2 : 0;
	ret = ep->link->ops->send(ep->link, peer, &msg->pkt);
	if (ret >= 0)
		peer->sent++;
	if (!ret)
		peer->out++;
	else
		free(msg);
}

/* ---- runs ------------------------------------------------------------------------------ */

static uint64_t soonest(void)
{
	uint64_t next = snet_next(), due;
	unsigned i;

	for (i = 0; i < node_cnt; i++) {
		due = node_due(nodes[i]);
		if (due < next)
			next = due;
	}
	return next > snet_now ? next : snet_now;
}

static void turn(void)
{
	unsigned i;

	for (i = 0; i < node_cnt; i++) {
		node_poll(nodes[i]);
		if (!list_empty(&nodes[i]->held))
			pull_some(nodes[i]);
	}
}

static size_t some_length(void)
{
	switch (snet_rnd(8)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return snet_rnd(64);
	case 4:
	case 5:
		return snet_rnd(3000);
	case 6:
		return snet_rnd(20000);
	default:
		return snet_rnd(150000);
	}
}

static bool got_all(unsigned i, unsigned j)
{
	struct eng_peer *to = &nodes[i]->peers[j], *from = &nodes[j]->peers[i];

	return !to->sent || (from->from_life == nodes[i]->life && from->from_gen == to->gen &&
			     from->next == to->sent);
}

/* Is anything on its way to a peer that has not been reported lost? */
static bool all_there(void)
{
	unsigned i, j;

	for (i = 0; i < node_cnt; i++) {
		if (!list_empty(&nodes[i]->held) || nodes[i]->placing)
			return false;
		for (j = 0; j < node_cnt; j++)
			if (nodes[i]->peers[j].out || !got_all(i, j))
				return false;
	}
	return true;
}

static struct snet_conf some_conf(void)
{
	static const double losses[] = { 0, 0, 0.001, 0.01, 0.05, 0.2, 0.5 };
	static const uint32_t dgrams[] = { 1456, 8956, 65491 };
	struct snet_conf conf = { .dgram_max = dgrams[snet_rnd(3)] };

	conf.loss = losses[snet_rnd(7)];
	conf.burst = snet_rnd(3) ? 0 : 1 + (double) snet_rnd(8);
	conf.dup = snet_rnd(3) ? 0 : 0.1;
	conf.corrupt = snet_rnd(4) ? 0 : 0.02;
	conf.delay_ns = 10000u << snet_rnd(15);		/* 10 us to 164 ms */
	if (!snet_rnd(10))
		conf.delay_ns = 500 * CLOCK_NS_PER_MS;
	conf.jitter_ns = snet_rnd(2) ? 0 : snet_rnd(conf.delay_ns * 2) + 1;
	conf.mtu = snet_rnd(3) ? 0 : 1100 + (uint32_t) snet_rnd(8000);
	if (!snet_rnd(4)) {
		conf.rate = 1000000u << snet_rnd(7);
		conf.queue = 20000 + snet_rnd(200000);
		conf.mark = snet_rnd(conf.queue);
	}
	conf.marks = snet_rnd(3) ? SNET_MARKS_KEPT : (enum snet_marks) snet_rnd(SNET_MARKS_CNT);
	return conf;
}

static void mishap(uint64_t kind)
{
	unsigned a = (unsigned) snet_rnd(node_cnt), b = (unsigned) snet_rnd(node_cnt);

	switch (kind) {
	case 0:		/* one way only */
		snet_cut(PORT(a), PORT(b), snet_now + snet_rnd(20 * CLOCK_NS_PER_S));
		break;
	case 1:
		node_close(a);
		node_open(a);
		break;
	case 2:		/* the path becomes narrower */
		snet_conf.mtu = 1100 + (uint32_t) snet_rnd(3000);
		break;
	default:
		break;
	}
}

/* Who sent to a peer that died afterwards does not know it before it sends again. */
static void poke(void)
{
	unsigned i, j;

	for (i = 0; i < node_cnt; i++)
		for (j = 0; j < node_cnt; j++)
			if (!got_all(i, j) && !nodes[i]->peers[j].out)
				send_one(nodes[i], &nodes[i]->peers[j], 10);
}

static void run(uint64_t number)
{
	struct snet_conf calm = { .dgram_max = 1456 }, conf;
	unsigned steps = 20 + (unsigned) (number % 60), i, quiet;
	bool trouble;
	uint64_t end, poked = 0;

	seed = number;
	snet_start(number, &calm);
	for (i = 0; i < 10; i++)
		snet_rnd(2);
	conf = some_conf();
	snet_conf = conf;
	trouble = !snet_rnd(3);
	rxd_conf.checksum = conf.corrupt > 0 || snet_rnd(2);
	rxd_conf.cc = snet_rnd(2) ? RXD_CC_CUBIC : (enum rxd_cc_kind) snet_rnd(3);
	for (i = 0; i < node_cnt; i++)
		node_open(i);
	for (i = 0; i < steps; i++) {
		unsigned from = (unsigned) snet_rnd(node_cnt), to = (unsigned) snet_rnd(node_cnt), cnt;

		for (cnt = 1 + (unsigned) snet_rnd(6); cnt--;)
			send_one(nodes[from], &nodes[from]->peers[to], some_length());
		for (cnt = (unsigned) snet_rnd(20); cnt--;) {
			turn();
			snet_now = soonest();
		}
		if (trouble && !snet_rnd(10))
			mishap(snet_rnd(3));
	}
	/* the network heals; all that was not reported lost must get there */
	poked = snet_now;
	end = snet_now + 6000 * CLOCK_NS_PER_S;
	quiet = 0;
	while (!all_there() && snet_now < end) {
		if (snet_now > poked + 130 * CLOCK_NS_PER_S) {
			poked = snet_now;
			poke();
		}
		turn();
		snet_now = soonest();
		if (snet_next() == UINT64_MAX && ++quiet > 200000)
			break;
	}
	for (i = 0; i < node_cnt; i++)
		nodes[i]->later = 0;
	for (quiet = 0; quiet < 50 && !all_there(); quiet++) {
		turn();
		snet_now += CLOCK_NS_PER_MS;
	}
	CHECK(all_there());
	/* a run of losses may last as long as a call is tried */
	if (!trouble && conf.loss < (conf.burst > 1 ? 0.1 : 0.4))
		CHECK(!downs);
	downs = 0;
	for (i = 0; i < node_cnt; i++)
		node_close(i);
}

/* Somebody who computes for long is called, and takes the call when he is done. */
static void busy_peer(void)
{
	struct snet_conf calm = { .dgram_max = 1456, .delay_ns = 50000 };
	uint64_t end;

	seed = 0;
	snet_start(1, &calm);
	downs = 0;
	node_open(0);
	node_open(1);
	node_open(2);
	nodes[0]->later = nodes[1]->later = 0;
	send_one(nodes[0], &nodes[0]->peers[1], 5000);
	for (end = snet_now + 50 * CLOCK_NS_PER_S; snet_now < end; snet_now += CLOCK_NS_PER_MS)
		node_poll(nodes[0]);
	for (end = snet_now + 5 * CLOCK_NS_PER_S; !all_there() && snet_now < end;) {
		turn();
		snet_now = soonest();
	}
	CHECK(all_there() && !downs);
	node_close(0);
	node_close(1);
	node_close(2);
}

/* A peer of another release refuses, and is refused, at once and for the right reason. */
static void foreign_peer(void)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = 50000 };
	uint64_t end;
	unsigned i;

	for (i = 0; i < 2; i++) {
		conf.foreign = PORT(i);
		snet_start(1, &conf);
		downs = 0;
		node_open(0);
		node_open(1);
		node_open(2);
		send_one(nodes[0], &nodes[0]->peers[1], 100);
		for (end = snet_now + CLOCK_NS_PER_S; !downs && snet_now < end;) {
			turn();
			snet_now = soonest();
		}
		CHECK(downs == 1 && last_err == FI_EPROTO);
		downs = 0;
		node_close(0);
		node_close(1);
		node_close(2);
	}
}

/* ---- how much, how fair ------------------------------------------------------------------ */

struct goodput {
	double all, least;	/* bytes per simulated second */
};

static void refill(unsigned from, unsigned to, uint64_t window)
{
	struct eng_peer *peer = &nodes[from]->peers[to];

	while (peer->out < window && peer->sent - nodes[to]->peers[from].next < 4 * window)
		send_one(nodes[from], peer, 32768);
}

/* @senders to one, for @ns after a while to get going. */
static struct goodput measure(const struct snet_conf *conf, unsigned senders, int tolerance,
			      uint64_t warm_ns, uint64_t ns)
{
	uint64_t first[NODES], start, got, end;
	struct goodput out = { 0, 1e18 };
	bool warm = false;
	unsigned i;

	seed = 1;
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
		turn();
		snet_now = soonest();
	}
	for (i = 1; i < node_cnt; i++) {
		got = (nodes[0]->peers[i].next - first[i]) * 32768;
		out.all += (double) got * 1e9 / (double) ns;
		if ((double) got * 1e9 / (double) ns < out.least)
			out.least = (double) got * 1e9 / (double) ns;
	}
	for (i = 0; i < node_cnt; i++)
		node_close(i);
	node_cnt = FEW;
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

	/* each loss is congestion: what TCP CUBIC does, with the best of its loss recovery */
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

/* A queue that marks before it is full: little is dropped, and no speed is lost. */
static void marks(void)
{
	struct snet_conf conf = {
		.delay_ns = 5 * CLOCK_NS_PER_MS, .rate = 30000000, .queue = 200000,
		.dgram_max = 1456,
	};
	struct goodput deaf, heard;
	uint64_t dropped;

	deaf = measure(&conf, 4, 3, CLOCK_NS_PER_S / 2, CLOCK_NS_PER_S);
	dropped = snet_dropped;
	CHECK(dropped && !snet_marked);
	conf.marks = SNET_MARKS_KEPT;
	conf.mark = 60000;
	heard = measure(&conf, 4, 3, CLOCK_NS_PER_S / 2, CLOCK_NS_PER_S);
	printf("a queue that drops: %.1f MB/s, %llu dropped; one that marks: %.1f MB/s, %llu dropped, "
	       "%llu marked\n", deaf.all / 1e6, (unsigned long long) dropped, heard.all / 1e6,
	       (unsigned long long) snet_dropped, (unsigned long long) snet_marked);
	CHECK(snet_marked && snet_dropped * 4 <= dropped);
	CHECK(heard.all >= 0.9 * deaf.all);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "rates")) {
		rxd_conf.prov = &fake_prov;
		rates();
		marks();
		return 0;
	}
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t cnt = argc > 2 ? strtoull(argv[2], NULL, 0) : 400, i;

	rxd_conf.prov = &fake_prov;
	rxd_conf.local = 0;
	busy_peer();
	foreign_peer();
	marks();
	for (i = first; i < first + cnt; i++)
		run(i);
	printf("%llu networks, %llu messages\n", (unsigned long long) cnt,
	       (unsigned long long) delivered);
	return 0;
}
