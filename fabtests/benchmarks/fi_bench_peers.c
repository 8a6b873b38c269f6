/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>

#include "common/ft.h"

/* One endpoint sends to many, in turn; they belong to the server and share queues.  Then each answers,
 * before the next one's turn: how late is a message found that another peer sent than the last one?
 */
static const struct ft_col cols[] = {
	{ "peers", "peers", 6, 0 }, { "bytes", "bytes", 6, 0 }, { "iters", "iters", 8, 0 },
	{ "total_s", "total s", 8, 3 }, { "usec_xfer", "usec/msg", 9, 3 },
	{ "rate", "msgs/sec", 11, 0 }, { "bare", "bare msgs/s", 11, 0 }, { "ratio", "ratio", 6, 2 },
	{ "usec_turn", "usec/turn", 9, 3 },
};

/* A receive that was posted; the context comes first, to be found by its address. */
struct slot {
	struct fi_context2 ctx;
	struct ft_ep *e;
};

static void peers_sink(struct ft *ft, struct ft_crowd *c, int peers, int share, int depth)
{
	struct slot *slots = calloc((size_t) peers * (size_t) depth, sizeof(*slots));
	struct fi_cq_tagged_entry got[16];
	int left = peers * share;

	for (int i = 0; i < peers; i++)
		for (int k = 0; k < depth; k++) {
			struct slot *s = &slots[i * depth + k];

			s->e = c->e[i];
			ft_rx(s->e, ft->rx.p, 4096, ft->rx.desc, s);
		}
	ft_sync(ft);
	while (left) {
		ssize_t n = ft_cq_some(&ft->ep, ft->ep.rxcq, got, FT_COUNT(got), 15000);

		FT_WANT(n > 0, "%d messages to many peers did not come", left);
		for (ssize_t i = 0; i < n; i++) {
			struct slot *s = got[i].op_context;

			s->e->rx_done++;
			if (s->e->rx_done + (uint64_t) (depth - 1) < (uint64_t) share)
				ft_rx(s->e, ft->rx.p, 4096, ft->rx.desc, s);
		}
		left -= (int) n;
	}
	ft_sync(ft);
	for (int i = 0; i < peers; i++)
		c->e[i]->rx_done = c->e[i]->rx_posted = 0;
	free(slots);
}

static double peers_source(struct ft *ft, struct ft_crowd *c, int peers, int share, size_t len)
{
	uint64_t start, window = (uint64_t) ft->opt.window;
	struct fi_context2 *ctx = calloc(window, sizeof(*ctx));
	struct ft_ep *e = &ft->ep;

	ft_sync(ft);
	start = ft_now_ns();
	for (int i = 0; i < peers * share; i++) {
		if (e->tx_posted - e->tx_done >= window)
			ft_wait_tx(e, e->tx_posted - window / 2);
		e->peer = c->addr[i % peers];
		ft_tx(e, ft->tx.p, len, ft->tx.desc, &ctx[(uint64_t) i % window]);
	}
	ft_wait_tx(e, e->tx_posted);
	ft_sync(ft);
	free(ctx);
	return (double) (ft_now_ns() - start) / 1e9;
}

/* peers_turns - half a round trip, in us. */
static double peers_turns(struct ft *ft, struct ft_crowd *c, int peers, int iters)
{
	uint64_t start;

	ft_at("round trips with many peers in turn");
	ft_sync(ft);
	start = ft_now_ns();
	for (int i = 0; i < iters; i++)
		ft_crowd_hello(ft, c, i % peers);
	return (double) (ft_now_ns() - start) / 2e3 / iters;
}

static void peers_run(struct ft *ft, struct ft_crowd *c, int peers, size_t len)
{
	int share = (ft->opt.iters + peers - 1) / peers, iters = share * peers;
	int depth = ft->opt.window / peers + 2;
	double bare = ft_floor_many(ft, peers, len, iters), s, rate;

	ft_at("sending to many peers");
	if (ft->server) {
		peers_sink(ft, c, peers, share, depth < share ? depth : share);
		peers_turns(ft, c, peers, iters);
		for (int i = 0; i < peers; i++)
			c->e[i]->rx_done = c->e[i]->rx_posted = 0;
		return;
	}
	s = peers_source(ft, c, peers, share, len);
	rate = iters / s;
	ft_table_row_n(ft, cols, FT_COUNT(cols), (size_t) peers,
		       (double[]) { (double) len, iters, s, 1e6 / rate, rate, bare,
				    ft_ratio(rate, bare), peers_turns(ft, c, peers, iters) });
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: messages a second to 1, 4, ... peers (-C, 64) in turn, and half a round trip.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .bench = true, .no_link = true,
		.iters = 10000, .sizes = { 8 },
	};
	struct ft_crowd c;
	struct ft ft;
	int most;

	ft_begin(&ft, &test, argc, argv);
	most = ft.opt.count ? ft.opt.count : 64;
	if (ft.opt.sizes[0] > 4096)
		ft_skip("messages of this test have 4096 bytes at most");
	ft_crowd_open(&ft, &c, most);
	for (int i = 0; i < most; i++)
		ft_crowd_hello(&ft, &c, i);
	for (int i = 0; ft.server && i < most; i++)
		c.e[i]->rx_done = c.e[i]->rx_posted = 0;
	ft_table_head(&ft, cols, FT_COUNT(cols), "as many bare TCP sockets");
	for (int peers = 1; peers <= most; peers *= 4)
		peers_run(&ft, &c, peers, ft.opt.sizes[0]);
	ft_crowd_close(&c);
	return ft_end(&ft);
}
