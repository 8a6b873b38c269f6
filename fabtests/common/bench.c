/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* Benchmarks: measurements, and their table. */
#include <stdlib.h>

#include "ft.h"

static const struct ft_col latency[] = {
	{ "bytes", "bytes", 8, 0 }, { "iters", "iters", 8, 0 }, { "total_s", "total s", 8, 3 },
	{ "usec_xfer", "usec/xfer", 9, 2 }, { "p50", "p50", 9, 2 }, { "p99", "p99", 9, 2 },
	{ "Mxfers", "Mxfers/sec", 10, 4 }, { "bare", "bare p50", 9, 2 }, { "ratio", "ratio", 6, 2 },
};
static const struct ft_col stream[] = {
	{ "bytes", "bytes", 8, 0 }, { "iters", "iters", 8, 0 }, { "total_s", "total s", 8, 3 },
	{ "MBps", "MB/sec", 10, 2 }, { "Mxfers", "Mxfers/sec", 10, 4 },
	{ "bare", "bare MB/s", 10, 2 }, { "ratio", "ratio", 6, 2 },
};
static const struct ft_col rate[] = {
	{ "bytes", "bytes", 8, 0 }, { "iters", "iters", 8, 0 }, { "total_s", "total s", 8, 3 },
	{ "usec_xfer", "usec/msg", 9, 3 }, { "rate", "msgs/sec", 11, 0 },
	{ "bare", "bare msgs/s", 11, 0 }, { "ratio", "ratio", 6, 2 },
};
static const struct {
	const struct ft_col *cols;
	size_t cnt;
} tables[] = {
	[FT_LATENCY] = { latency, FT_COUNT(latency) },
	[FT_STREAM] = { stream, FT_COUNT(stream) },
	[FT_RATE] = { rate, FT_COUNT(rate) },
};

static void print_row(const struct ft *ft, enum ft_kind kind, const struct ft_figure *f)
{
	double us = f->total_s * 1e6 / f->xfers, mbps = (double) f->len / us;
	double mine = kind == FT_STREAM ? mbps : kind == FT_RATE ? 1e6 / us : f->p50_us > 0 ? f->p50_us : us;
	double ratio = ft_ratio(mine, f->bare);
	double as_latency[] = { f->iters, f->total_s, us, f->p50_us, f->p99_us, 1 / us, f->bare, ratio };
	double as_stream[] = { f->iters, f->total_s, mbps, 1 / us, f->bare, ratio };
	double as_rate[] = { f->iters, f->total_s, us, mine, f->bare, ratio };

	ft_table_row_n(ft, tables[kind].cols, tables[kind].cnt, f->len,
		       kind == FT_STREAM ? as_stream : kind == FT_RATE ? as_rate : as_latency);
}

static double bare_socket(struct ft *ft, enum ft_kind kind, const struct ft_figure *f)
{
	double mbps;

	if (kind == FT_LATENCY)
		return ft_floor_pingpong(ft, f->len, f->iters);
	mbps = ft_floor_bw(ft, f->len, f->iters);
	return kind == FT_RATE ? mbps * 1e6 / (double) f->len : mbps;
}

void ft_bench_run(struct ft *ft, enum ft_kind kind,
		  void (*step)(struct ft *ft, struct ft_ep *e, struct ft_figure *fig))
{
	char beside[64];

	ft_floor_open(ft, kind != FT_LATENCY);
	snprintf(beside, sizeof(beside), "a bare %s", ft_floor_name());
	ft_table_head(ft, tables[kind].cols, tables[kind].cnt, beside);
	for (size_t i = 0; i < ft->opt.size_cnt; i++) {
		struct ft_figure fig = { .len = ft->opt.sizes[i], .iters = ft->opt.iters };

		if (!ft_size_ok(ft, fig.len) || !fig.len)
			continue;
		if (fig.len > 100000 && fig.iters > 200)
			fig.iters = 200;
		fig.bare = bare_socket(ft, kind, &fig);
		step(ft, &ft->ep, &fig);
		if (!ft->server)
			print_row(ft, kind, &fig);
	}
	ft_sync(ft);
	ft_floor_close();
}

/* @ns are round trips; a figure counts half of one, as a transfer. */
void ft_bench_percentiles(struct ft_figure *f, uint32_t *ns, int cnt)
{
	struct ft_spread s = ft_spread(ns, cnt);

	f->total_s = s.sum_us / 1e6;
	f->xfers = 2.0 * cnt;
	f->p50_us = s.p50_us / 2;
	f->p99_us = s.p99_us / 2;
}

static void pingpong_step(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	uint32_t *ns = calloc((size_t) f->iters, sizeof(*ns));

	if (ft->opt.warmup)
		ft_pingpong(e, f->len, ft->opt.warmup, NULL);
	ft_pingpong(e, f->len, f->iters, ns);
	ft_bench_percentiles(f, ns, f->iters);
	free(ns);
}

void ft_bench_pingpong(struct ft *ft)
{
	ft_bench_run(ft, FT_LATENCY, pingpong_step);
}

/* A window of receives stays posted, and at least half a window of sends in flight: completions
 * come in batches, and so are read in batches.
 */
static void bench_sink(struct ft *ft, struct ft_ep *e, size_t len, int iters, struct fi_context2 *ctx)
{
	int posted = 0, done = 0, window = ft->opt.window, half = (window + 1) / 2;
	uint64_t base = e->rx_done;

	for (; posted < iters && posted < window; posted++)
		ft_rx(e, ft->rx.p, len, ft->rx.desc, &ctx[posted]);
	ft_sync(ft);
	while (done < iters) {
		done = done + half < posted ? done + half : posted;
		ft_wait_rx(e, base + (uint64_t) done);
		for (; posted < iters && posted < done + window; posted++)
			ft_rx(e, ft->rx.p, len, ft->rx.desc, &ctx[posted % window]);
	}
	ft_sync(ft);
}

static double bench_source(struct ft *ft, struct ft_ep *e, size_t len, int iters, struct fi_context2 *ctx)
{
	uint64_t start, window = (uint64_t) ft->opt.window;

	ft_sync(ft);
	start = ft_now_ns();
	for (int i = 0; i < iters; i++) {
		if (e->tx_posted - e->tx_done >= window)
			ft_wait_tx(e, e->tx_posted - window / 2);
		ft_tx(e, ft->tx.p, len, ft->tx.desc, &ctx[i % ft->opt.window]);
	}
	ft_wait_tx(e, e->tx_posted);
	ft_sync(ft);		/* the last message has arrived */
	return (double) (ft_now_ns() - start) / 1e9;
}

static void bw_step(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	struct fi_context2 *ctx = calloc((size_t) ft->opt.window, sizeof(*ctx));

	ft_at("in a stream of messages");
	f->xfers = f->iters;
	if (ft->opt.warmup)		/* a first message may have to connect */
		ft_pingpong(e, f->len, ft->opt.warmup, NULL);
	if (ft->opt.verify)
		ft_fill(ft->tx.p, f->len, 1);
	if (ft->server)
		bench_sink(ft, e, f->len, f->iters, ctx);
	else
		f->total_s = bench_source(ft, e, f->len, f->iters, ctx);
	/* One buffer is used for all messages, which are alike: its final content is verified. */
	if (ft->opt.verify && ft->server)
		ft_verify(ft->rx.p, f->len, 1, "message");
	free(ctx);
}

void ft_bench_stream(struct ft *ft, enum ft_kind kind)
{
	int most = (int) (ft->info->tx_attr->size < ft->info->rx_attr->size ?
			  ft->info->tx_attr->size : ft->info->rx_attr->size);

	if (ft->info->ep_attr->type == FI_EP_DGRAM)
		ft_skip("a stream of datagrams that may be dropped is no figure");
	if (most > 0 && ft->opt.window > most)
		ft->opt.window = most;
	ft_bench_run(ft, kind, bw_step);
}
