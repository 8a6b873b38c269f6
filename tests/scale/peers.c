/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peers [COUNT]... - what an endpoint with many peers costs: memory, polls, connects, a loss.
 *
 * The endpoint is the engine's and the channel layer's. Its link is simulated: a connect succeeds in
 * the next poll, and each packet comes back from the peer that it was sent to. So what is
 * measured is what all links have in common, without sockets or other processes.
 */
#include <malloc.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/iov.h"
#include "channel/chan.h"
#include "channel/hold.h"
#include "channel/poller.h"
#include "engine/api.h"
#include "engine/offer.h"

#define PAYLOAD_MAX	64
#define ACTIVE		1000
#define FEW		10
#define POLLS		200000
#define MESSAGES	200000
#define HOST		0x0a000000	/* 10.0.0.0/8: one address a peer */

/* ---- the link ------------------------------------------------------------------------- */

struct echo {			/* a packet in flight back to the endpoint */
	struct list node;
	struct chan *chan;
	size_t hdr_len, len;
	uint8_t hdr[ENG_HDR_MAX], data[PAYLOAD_MAX];
};

struct mirror_poller {
	struct chan_poller base;	/* first */
	struct mirror *link;
};

struct mirror {
	struct chan_link base;		/* first */
	struct sockaddr_in addr;
	struct list fresh;		/* struct mirror_chan: attempts of this poll */
	struct list echoes, idle;	/* struct echo: packets, and memory for further ones */
	struct chan *dead;		/* its loss is found in the next poll */
};

struct mirror_chan {
	struct chan base;		/* first */
	struct list node;		/* on link->fresh */
};

static const struct eng_link_ops mirror_ops;

static struct mirror *mirror_of(struct chan_link *link)
{
	return (struct mirror *) link;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "peers: %s\n", what);
	exit(1);
}

static void reflect(struct chan *chan, const struct eng_pkt *pkt)
{
	struct mirror *link = mirror_of(chan->link);
	struct list *item = list_pop(&link->idle);
	struct echo *echo = item ? container_of(item, struct echo, node) : malloc(sizeof(*echo));

	must(echo && pkt->len <= PAYLOAD_MAX, "no memory for a packet");
	echo->chan = chan;
	echo->hdr_len = pkt->hdr_len;
	echo->len = pkt->len;
	memcpy(echo->hdr, pkt->hdr, pkt->hdr_len);
	iov_gather(pkt->iov, pkt->iov_cnt, 0, echo->data, pkt->len);
	list_add_tail(&echo->node, &link->echoes);
}

static int send_pkt(void *chan_p, struct eng_pkt *pkt)
{
	struct chan *chan = chan_p;

	if (!chan->conn)
		return chan_queue(chan, pkt);
	reflect(chan, pkt);
	return 1;
}

static int connect_peer(struct chan *chan)
{
	chan->asked = chan->ours = true;
	list_add_tail(&((struct mirror_chan *) chan)->node, &mirror_of(chan->link)->fresh);
	return 0;
}

static void abort_attempt(struct chan *chan)
{
	list_del(&((struct mirror_chan *) chan)->node);
}

static void close_conn(struct chan *chan, int err, bool orderly)
{
}

static bool finish(struct chan *chan)
{
	return true;
}

static const struct chan_ops chan_ops = {
	.connect = connect_peer, .abort = abort_attempt, .close = close_conn, .finish = finish,
};

static void connected(struct chan *chan)
{
	struct chan_id id = { .epoch = 1, .serial = chan->serial };
	struct eng_pkt *pkt;

	chan_up(chan, chan->link, &id, true);
	while ((pkt = list_pop_entry(&chan->pending, struct eng_pkt, node))) {
		reflect(chan, pkt);
		pkt->done(pkt, 0);
	}
}

static void deliver(struct mirror *link, struct echo *echo)
{
	struct eng_rx rx = {
		.hdr = echo->hdr, .hdr_len = echo->hdr_len,
		.data = echo->data, .avail = echo->len, .len = echo->len,
	};
	enum eng_rx_verdict verdict = eng_on_packet(&link->base.base, chan_peer(echo->chan), &rx);

	must(verdict != ENG_RX_BAD && verdict != ENG_RX_LATER, "the engine refuses a packet of its own");
	if (verdict != ENG_RX_PLACE)
		return;
	iov_scatter(rx.iov, rx.iov_cnt, 0, rx.data, rx.len);
	eng_on_placed(&link->base.base, rx.cookie, 0);
}

static int poll_link(struct obj_poller *base, unsigned budget)
{
	struct mirror_poller *poller = (struct mirror_poller *) base;
	struct mirror *link = poller->link;
	struct list *item;
	unsigned done = 0;

	chan_poller_begin(&poller->base);
	if (timers_next(&poller->base.timers) != UINT64_MAX)
		timers_fire(&poller->base.timers, clock_ns());
	while ((item = list_pop(&link->fresh)))
		connected(&container_of(item, struct mirror_chan, node)->base);
	if (link->dead)
		chan_lost(link->dead, FI_ECONNRESET, false);
	link->dead = NULL;
	for (; done < budget && (item = list_pop(&link->echoes)); done++) {
		deliver(link, container_of(item, struct echo, node));
		list_add(item, &link->idle);
	}
	poller->base.polling = false;
	return (int) done;
}

static int arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	return -FI_EAGAIN;
}

static void poller_close(struct obj_poller *base)
{
	chan_poller_free((struct chan_poller *) base);
}

static const struct obj_poller_ops poller_ops = { .poll = poll_link, .arm = arm, .close = poller_close };

static struct fi_provider prov = {
	.version = FI_VERSION(1, 0), .fi_version = FI_VERSION(2, 6), .name = "mirror",
};
static struct mirror *the_link;

static int link_open(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p)
{
	struct mirror *link = calloc(1, sizeof(*link));
	struct chan_conf conf = { .retry_ms = 1000, .conn_timeout_ms = 1000, .backoff_ns = 1000000 };
	struct obj_ep *base = eng_ep_base(ep);
	int ret;

	must(link, "no memory for the link");
	chan_link_init(&link->base, &chan_ops, &conf, &prov);
	list_init(&link->fresh);
	list_init(&link->echoes);
	list_init(&link->idle);
	link->addr = *(struct sockaddr_in *) base->info->src_addr;
	link->base.base.ops = &mirror_ops;
	link->base.base.ep = ep;
	link->base.base.prog = base->prog;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = PAYLOAD_MAX, .eager_limit = PAYLOAD_MAX, .seg_size = PAYLOAD_MAX,
		.addr_len = sizeof(link->addr),
	};
	link->base.addr = &link->addr;
	link->base.addr_len = sizeof(link->addr);
	ret = chan_poller_get(base->prog, &poller_ops, sizeof(struct mirror_poller), &prov,
			      &link->base.poller);
	if (ret < 0)
		return ret;
	((struct mirror_poller *) link->base.poller)->link = the_link = link;
	*link_p = &link->base.base;
	return 0;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct mirror *link = mirror_of(chan_link_of(base));
	struct list *item;

	chan_link_end(&link->base, linger_ms);
	while ((item = list_pop(&link->echoes)) || (item = list_pop(&link->idle)))
		free(container_of(item, struct echo, node));
	free(link);
}

static void *hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return chan_hold_new(&chan_link_of(base)->poller->holds, sizeof(struct chan_hold), rx, false,
			     NULL);
}

static const struct eng_link_ops mirror_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "mirror",
	.chan_size = sizeof(struct mirror_chan),
	.open = link_open, .close = link_close, .getname = chan_getname, .setname = chan_setname_none,
	.peer_get = chan_peer_get, .peer_put = chan_peer_put, .look = chan_look,
	.send = send_pkt,
	.held = { .hold = hold, .pull = chan_pull, .unplace = chan_unplace_none },
};

/* ---- the endpoint ------------------------------------------------------------------------ */

static struct {
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
} o;

static struct fi_info *new_info(void)
{
	struct sockaddr_in *sin = calloc(1, sizeof(*sin));
	static struct eng_offer offer;
	struct fi_info *info;

	eng_offer_fill(&offer, &(struct eng_offer_of) {
		.type = FI_EP_RDM, .protocol = FI_PROTO_UNSPEC, .protocol_version = 1,
		.reach = FI_REMOTE_COMM, .inject_size = PAYLOAD_MAX, .tx_size = 256, .rx_size = 256,
	});
	offer.info.addr_format = FI_SOCKADDR_IN;
	offer.domain.name = offer.fabric.name = offer.fabric.prov_name = (char *) "mirror";
	offer.domain.threading = FI_THREAD_DOMAIN;
	offer.domain.control_progress = offer.domain.data_progress = FI_PROGRESS_MANUAL;
	info = fi_dupinfo(&offer.info);
	must(info && sin, "no memory");
	*sin = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(HOST),
				      .sin_port = htons(1) };
	info->src_addr = sin;
	info->src_addrlen = sizeof(*sin);
	return info;
}

static void open_all(void)
{
	struct fi_info *info = new_info();
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	int ret = eng_fabric_open(&prov, &mirror_ops, NULL, info->fabric_attr, &o.fabric, NULL);

	ret = ret ? ret : fi_domain(o.fabric, info, &o.domain, NULL);
	ret = ret ? ret : fi_av_open(o.domain, &av_attr, &o.av, NULL);
	ret = ret ? ret : fi_cq_open(o.domain, &cq_attr, &o.cq, NULL);
	ret = ret ? ret : fi_endpoint(o.domain, info, &o.ep, NULL);
	ret = ret ? ret : fi_ep_bind(o.ep, &o.av->fid, 0);
	ret = ret ? ret : fi_ep_bind(o.ep, &o.cq->fid, FI_TRANSMIT | FI_RECV);
	ret = ret ? ret : fi_enable(o.ep);
	must(!ret, ret ? fi_strerror(-ret) : "");
	fi_freeinfo(info);
}

static void close_all(void)
{
	must(!fi_close(&o.ep->fid) && !fi_close(&o.cq->fid) && !fi_close(&o.av->fid) &&
	     !fi_close(&o.domain->fid) && !fi_close(&o.fabric->fid), "a close failed");
}

static void insert(size_t cnt)
{
	struct sockaddr_in *sin = calloc(cnt, sizeof(*sin));

	must(sin, "no memory");
	for (size_t i = 0; i < cnt; i++)
		sin[i] = (struct sockaddr_in) { .sin_family = AF_INET, .sin_port = htons(1),
						.sin_addr.s_addr = htonl((uint32_t) (HOST + 1 + i)) };
	must(fi_av_insert(o.av, sin, cnt, NULL, 0, NULL) == (int) cnt, "fi_av_insert");
	free(sin);
}

/* ---- measurements -------------------------------------------------------------------------- */

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* A message to the peer and back. */
static void trip(fi_addr_t peer)
{
	struct fi_cq_tagged_entry entry;
	char in[8];
	ssize_t n;

	must(!fi_trecv(o.ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, 7, 0, NULL), "fi_trecv");
	while ((n = fi_tinject(o.ep, "message", 8, peer, 7)) == -FI_EAGAIN)
		fi_cq_read(o.cq, &entry, 0);
	must(!n, "fi_tinject");
	while ((n = fi_cq_read(o.cq, &entry, 1)) == -FI_EAGAIN)
		continue;
	must(n == 1 && entry.len == 8 && !memcmp(in, "message", 8), "the message did not come back");
}

/* ns of a message to each of @active peers in turn, and back. */
static double traffic(size_t cnt, size_t active)
{
	size_t step = cnt / active;
	uint64_t start;

	for (size_t i = 0; i < active; i++)		/* what was idle comes into the caches */
		trip((fi_addr_t) (i * step));
	start = clock_ns();
	for (size_t i = 0; i < MESSAGES; i++)
		trip((fi_addr_t) (i % active * step));
	return (double) (clock_ns() - start) / MESSAGES;
}

static double idle_poll(void)
{
	struct fi_cq_tagged_entry entry;
	uint64_t start = clock_ns();

	for (int i = 0; i < POLLS; i++)
		must(fi_cq_read(o.cq, &entry, 1) == -FI_EAGAIN, "a completion of nothing");
	return (double) (clock_ns() - start) / POLLS;
}

/* us until a receive from a peer that has gone ends with an error. */
static double loss(size_t cnt)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	uint64_t start;
	struct list *pos = the_link->base.chans.next;
	char in[8];
	ssize_t n;

	for (size_t i = 0; i < cnt; i++)
		must(!fi_trecv(o.ep, in, sizeof(in), NULL, i, 9, 0, NULL), "fi_trecv");
	start = clock_ns();
	the_link->dead = container_of(pos, struct chan, link_node);
	while ((n = fi_cq_read(o.cq, &entry, 1)) == -FI_EAGAIN)
		continue;
	must(n == -FI_EAVAIL && fi_cq_readerr(o.cq, &err, 0) == 1, "no error of the peer's loss");
	return (double) (clock_ns() - start) / 1000;
}

static void measure(size_t cnt)
{
	size_t active = cnt < ACTIVE ? cnt : ACTIVE, few = cnt < FEW ? cnt : FEW;
	size_t none, inserted, connected_all;
	double us, idle, busy_few, busy;
	uint64_t start;

	open_all();
	none = in_use();
	insert(cnt);
	inserted = in_use();
	start = clock_ns();
	for (size_t i = 0; i < cnt; i++)
		trip(i);
	us = (double) (clock_ns() - start) / 1000 / (double) cnt;
	connected_all = in_use();
	idle = idle_poll();
	busy_few = traffic(cnt, few);
	busy = traffic(cnt, active);
	printf("%9zu %10zu %10zu %10.2f %10.1f %10.1f %10.1f %10.1f\n", cnt, (inserted - none) / cnt,
	       (connected_all - inserted) / cnt, us, idle, busy_few, busy, loss(active));
	fflush(stdout);
	close_all();
}

int main(int argc, char **argv)
{
	static const size_t usual[] = { 10, 1000, 10000, 100000 };
	char *end;

	printf("%9s %10s %10s %10s %10s %10s %10s %10s\n", "peers", "AV bytes", "peer bytes", "connect us",
	       "idle ns", "10 ns", "1000 ns", "loss us");
	for (int i = 1; i < argc; i++) {
		size_t cnt = strtoul(argv[i], &end, 10);

		must(cnt && !*end, "usage: peers [COUNT]...");
		measure(cnt);
	}
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		measure(usual[i]);
	return 0;
}
