/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* Figures: what is measured, and the table it stands in. */
#include <stdlib.h>
#include <string.h>

#include "ft.h"

static void head(const struct ft *ft, bool bandwidth)
{
	if (ft->opt.machine)
		return;
	printf("# %s, %s, %s; beside it a bare %s in the same run\n", ft->info->fabric_attr->prov_name,
	       ft->info->domain_attr->name, fi_tostr(&ft->info->ep_attr->type, FI_TYPE_EP_TYPE),
	       ft_floor_name());
	if (bandwidth)
		printf("%-8s %8s %10s %10s %12s %10s %7s\n", "bytes", "iters", "total", "MB/sec",
		       "Mxfers/sec", "bare MB/s", "ratio");
	else
		printf("%-8s %8s %10s %10s %10s %10s %10s %10s %7s\n", "bytes", "iters", "total",
		       "usec/xfer", "p50", "p99", "Mxfers/sec", "bare p50", "ratio");
}

static void row(const struct ft *ft, bool bandwidth, const struct ft_figure *f)
{
	double us = f->total_s * 1e6 / f->xfers;
	double mbps = (double) f->len * f->xfers / (f->total_s * 1e6);
	double mine = bandwidth ? mbps : f->p50_us > 0 ? f->p50_us : us;
	double ratio = f->bare > 0 ? mine / f->bare : 0;

	if (ft->opt.machine)
		printf("bytes=%zu iters=%d total_s=%.6f usec_xfer=%.3f p50=%.3f p99=%.3f MBps=%.2f bare=%.3f ratio=%.3f\n",
		       f->len, f->iters, f->total_s, us, f->p50_us, f->p99_us, mbps, f->bare, ratio);
	else if (bandwidth)
		printf("%-8zu %8d %9.3fs %10.2f %12.4f %10.2f %7.2f\n", f->len, f->iters, f->total_s,
		       mbps, 1.0 / us, f->bare, ratio);
	else
		printf("%-8zu %8d %9.3fs %10.2f %10.2f %10.2f %10.4f %10.2f %7.2f\n", f->len, f->iters,
		       f->total_s, us, f->p50_us, f->p99_us, 1.0 / us, f->bare, ratio);
	fflush(stdout);
}

void ft_bench_run(struct ft *ft, bool bandwidth,
		  void (*step)(struct ft *ft, struct ft_ep *e, struct ft_figure *fig))
{
	ft_floor_open(ft, bandwidth);
	head(ft, bandwidth);
	for (size_t i = 0; i < ft->opt.size_cnt; i++) {
		struct ft_figure fig = { .len = ft->opt.sizes[i], .iters = ft->opt.iters };

		if (!ft_size_ok(ft, fig.len) || !fig.len)
			continue;
		if (fig.len > 100000 && fig.iters > 200)
			fig.iters = 200;
		fig.bare = bandwidth ? ft_floor_bw(ft, fig.len, fig.iters, ft->opt.window) :
			   ft_floor_pingpong(ft, fig.len, fig.iters);
		step(ft, &ft->ep, &fig);
		if (!ft->server)
			row(ft, bandwidth, &fig);
	}
	ft_sync(ft);
	ft_floor_close();
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

/* @ns are round trips; a figure counts half of one, as a transfer. */
void ft_bench_percentiles(struct ft_figure *f, uint32_t *ns, int cnt)
{
	double sum = 0;

	for (int i = 0; i < cnt; i++)
		sum += ns[i];
	qsort(ns, (size_t) cnt, sizeof(*ns), compare);
	f->total_s = sum / 1e9;
	f->xfers = 2.0 * cnt;
	f->p50_us = ns[cnt / 2] / 2000.0;
	f->p99_us = ns[cnt * 99 / 100] / 2000.0;
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

void ft_bench_pingpong(struct ft *ft, struct ft_ep *e)
{
	(void) e;
	ft_bench_run(ft, false, pingpong_step);
}

/* A window of receives stays posted, and a window of sends in flight. */
static void sink(struct ft *ft, struct ft_ep *e, size_t len, int iters, struct fi_context2 *ctx)
{
	int posted = 0, window = ft->opt.window;

	for (; posted < iters && posted < window; posted++)
		ft_rx(e, ft->rx.p, len, ft->rx.desc, &ctx[posted]);
	ft_sync(ft);
	for (uint64_t base = e->rx_done, i = 0; i < (uint64_t) iters; i++) {
		ft_wait_rx(e, base + i + 1);
		if (posted < iters) {
			ft_rx(e, ft->rx.p, len, ft->rx.desc, &ctx[posted % window]);
			posted++;
		}
	}
	ft_sync(ft);
}

static double source(struct ft *ft, struct ft_ep *e, size_t len, int iters, struct fi_context2 *ctx)
{
	int window = ft->opt.window;
	uint64_t start;

	ft_sync(ft);
	start = ft_now_ns();
	for (int i = 0; i < iters; i++) {
		if (i >= window)
			ft_wait_tx(e, e->tx_posted - (uint64_t) window + 1);
		ft_tx(e, ft->tx.p, len, ft->tx.desc, &ctx[i % window]);
	}
	ft_wait_tx(e, e->tx_posted);
	ft_sync(ft);		/* the last message has arrived */
	return (double) (ft_now_ns() - start) / 1e9;
}

static void bw_step(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	struct fi_context2 *ctx = calloc((size_t) ft->opt.window, sizeof(*ctx));

	ft_at("in a bandwidth run");
	if (ft->opt.verify)
		ft_fill(ft->tx.p, f->len, 1);
	f->xfers = f->iters;
	if (ft->server)
		sink(ft, e, f->len, f->iters, ctx);
	else
		f->total_s = source(ft, e, f->len, f->iters, ctx);
	/* One buffer serves all messages, which are alike: the last state must be whole. */
	if (ft->opt.verify && ft->server)
		ft_verify(ft->rx.p, f->len, 1, "message");
	free(ctx);
}

void ft_bench_bw(struct ft *ft, struct ft_ep *e)
{
	int most = (int) (ft->info->tx_attr->size < ft->info->rx_attr->size ?
			  ft->info->tx_attr->size : ft->info->rx_attr->size);

	(void) e;
	if (ft->info->ep_attr->type == FI_EP_DGRAM)
		ft_skip("bandwidth of datagrams that may be dropped is no figure");
	if (most > 0 && ft->opt.window > most)
		ft->opt.window = most;
	ft_bench_run(ft, true, bw_step);
}
