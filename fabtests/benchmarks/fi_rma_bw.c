/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>

#include "common/ft.h"

/* One side reads or writes (-o) the other's memory; the other only makes progress. */
static void post_rma(struct ft *ft, struct ft_ep *e, size_t len, void *ctx)
{
	if (ft->opt.rma == FT_READ)
		FT_POST(e, fi_read(e->ep, ft->rx.p, len, ft->rx.desc, e->peer, ft->remote.addr,
				   ft->remote.key, ctx));
	else
		FT_POST(e, fi_write(e->ep, ft->tx.p, len, ft->tx.desc, e->peer, ft->remote.addr,
				    ft->remote.key, ctx));
	e->tx_posted++;
}

static void rma_client(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	int window = ft->opt.window;
	struct fi_context2 *ctx = calloc((size_t) window, sizeof(*ctx));

	for (int i = 0; i < f->iters; i++) {
		if (i >= window)
			ft_wait_tx(e, e->tx_posted - (uint64_t) window + 1);
		post_rma(ft, e, f->len, &ctx[i % window]);
	}
	ft_wait_tx(e, e->tx_posted);
	free(ctx);
}

/* The client ends with an empty message: waiting for it makes progress here, and the reply says
 * that everything before it has arrived.
 */
static void rma_bw_step(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	bool reads = ft->opt.rma == FT_READ;
	uint64_t start;

	f->xfers = f->iters;
	if (ft->opt.warmup)
		ft_pingpong(e, 1, ft->opt.warmup, NULL);
	if (ft->opt.verify)
		ft_fill(reads ? ft->rx.p : ft->tx.p, reads && !ft->server ? 0 : f->len, f->len);
	ft_sync(ft);
	start = ft_now_ns();
	if (!ft->server)
		rma_client(ft, e, f);
	ft_pingpong(e, 0, 1, NULL);
	f->total_s = (double) (ft_now_ns() - start) / 1e9;
	/* Where a message may overtake a write, its arrival does not prove that the data has
	 * arrived.
	 */
	if (ft->opt.verify && reads != ft->server &&
	    (reads || ft->info->tx_attr->msg_order & FI_ORDER_SAW))
		ft_verify(ft->rx.p, f->len, f->len, "data");
	ft_sync(ft);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: bandwidth of RMA (-o write, read).",
		.bench = true, .caps = FI_MSG | FI_RMA,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ft.opt.rma == FT_WRITEDATA)
		ft_skip("-o writedata is what fi_rma_pingpong measures");
	if (ft.opt.window > (int) ft.info->tx_attr->size)
		ft.opt.window = (int) ft.info->tx_attr->size;
	ft_bench_run(&ft, FT_STREAM, rma_bw_step);
	return ft_end(&ft);
}
