/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>

#include "common/ft.h"

/* The client operates on one cell of the server, which only makes progress. */
static const struct ft_col cols[] = {
	{ "op", "operation", 12, 0 }, { "iters", "iters", 8, 0 }, { "p50", "usec p50", 9, 2 },
	{ "p99", "p99", 9, 2 }, { "rate", "ops/sec", 10, 0 }, { "local_ns", "local nsec", 10, 1 },
	{ "bare", "bare trip", 9, 2 }, { "ratio", "ratio", 7, 4 },
};

enum kind { ADD, FETCH_ADD, COMPARE_SWAP };
static const char *const names[] = { "add", "fetch-add", "compare-swap" };

static int kind_valid(struct ft_ep *e, enum kind kind)
{
	size_t cnt;

	return kind == ADD ? fi_atomicvalid(e->ep, FI_UINT64, FI_SUM, &cnt) :
	       kind == FETCH_ADD ? fi_fetch_atomicvalid(e->ep, FI_UINT64, FI_SUM, &cnt) :
	       fi_compare_atomicvalid(e->ep, FI_UINT64, FI_CSWAP, &cnt);
}

static void post_atomic(struct ft *ft, struct ft_ep *e, enum kind kind, void *ctx)
{
	uint64_t *arg = (uint64_t *) ft->tx.p, *cmp = arg + 8, *was = arg + 16;
	struct ft_remote *to = &ft->remote;
	void *desc = ft->tx.desc;

	if (kind == ADD)
		FT_POST(e, fi_atomic(e->ep, arg, 1, desc, e->peer, to->addr, to->key, FI_UINT64,
				     FI_SUM, ctx));
	else if (kind == FETCH_ADD)
		FT_POST(e, fi_fetch_atomic(e->ep, arg, 1, desc, was, desc, e->peer, to->addr,
					   to->key, FI_UINT64, FI_SUM, ctx));
	else
		FT_POST(e, fi_compare_atomic(e->ep, arg, 1, desc, cmp, desc, was, desc, e->peer,
					     to->addr, to->key, FI_UINT64, FI_CSWAP, ctx));
	e->tx_posted++;
}

static struct ft_spread one_by_one(struct ft *ft, struct ft_ep *e, enum kind kind)
{
	uint32_t *ns = calloc((size_t) ft->opt.iters, sizeof(*ns));
	struct ft_spread s;

	for (int i = 0; i < ft->opt.iters; i++) {
		uint64_t start = ft_now_ns();

		post_atomic(ft, e, kind, &e->tx_ctx);
		ft_wait_tx(e, e->tx_posted);
		ns[i] = (uint32_t) (ft_now_ns() - start);
	}
	s = ft_spread(ns, ft->opt.iters);
	free(ns);
	return s;
}

/* Operations a second with a window of them in flight. */
static double rate_windowed(struct ft *ft, struct ft_ep *e, enum kind kind)
{
	uint64_t start, window = (uint64_t) ft->opt.window;
	struct fi_context2 *ctx = calloc(window, sizeof(*ctx));

	start = ft_now_ns();
	for (int i = 0; i < ft->opt.iters; i++) {
		if (e->tx_posted - e->tx_done >= window)
			ft_wait_tx(e, e->tx_posted - window / 2);
		post_atomic(ft, e, kind, &ctx[(uint64_t) i % window]);
	}
	ft_wait_tx(e, e->tx_posted);
	free(ctx);
	return ft->opt.iters * 1e9 / (double) (ft_now_ns() - start);
}

/* The processor's atomic instruction on a cell of this process. */
static double local_ns(enum kind kind)
{
	static uint64_t cell;
	const int cnt = 100000;
	uint64_t start = ft_now_ns(), was = 0;

	for (int i = 0; i < cnt; i++)
		if (kind == COMPARE_SWAP)
			__atomic_compare_exchange_n(&cell, &was, was + 1, false, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST);
		else
			__atomic_fetch_add(&cell, 1, __ATOMIC_SEQ_CST);
	return (double) (ft_now_ns() - start) / cnt;
}

static void measure_kind(struct ft *ft, enum kind kind, double bare)
{
	struct ft_spread s;

	ft_at("in atomic operations");
	s = one_by_one(ft, &ft->ep, kind);
	ft_table_row(ft, cols, FT_COUNT(cols), names[kind],
		     (double[]) { ft->opt.iters, s.p50_us, s.p99_us, rate_windowed(ft, &ft->ep, kind),
				  local_ns(kind), bare, ft_ratio(s.p50_us, bare) });
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: atomic operations on 8 bytes, beside a bare socket's round trip of 8 bytes.",
		.bench = true, .caps = FI_MSG | FI_RMA | FI_ATOMIC,
		.tx_flags = FI_DELIVERY_COMPLETE,	/* an add has been made when its time ends */
	};
	struct ft ft;
	double bare;

	ft_begin(&ft, &test, argc, argv);
	if (ft.opt.window > (int) ft.info->tx_attr->size)
		ft.opt.window = (int) ft.info->tx_attr->size;
	ft_floor_open(&ft, true);
	bare = 2 * ft_floor_pingpong(&ft, 8, ft.opt.iters);
	ft_floor_close();
	ft_table_head(&ft, cols, FT_COUNT(cols),
		      "this processor's own operation and a bare TCP socket's round trip");
	for (enum kind kind = ADD; kind <= COMPARE_SWAP; kind++) {
		ft_sync(&ft);
		if (ft.server)
			ft_serve(&ft);
		else if (!kind_valid(&ft.ep, kind))
			measure_kind(&ft, kind, bare);
		ft_sync(&ft);
	}
	return ft_end(&ft);
}
