/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>

#include "common/ft.h"

/* Each side writes into the other's buffer with remote CQ data. */
static void put_data(struct ft *ft, struct ft_ep *e, size_t len, uint64_t i)
{
	FT_POST(e, fi_writedata(e->ep, ft->tx.p, len, ft->tx.desc, i, e->peer, ft->remote.addr,
				ft->remote.key, &e->tx_ctx));
	ft_wait_tx(e, ++e->tx_posted);
}

/* With FI_RX_CQ_DATA each of these writes consumes a receive. */
static void expect_data(struct ft *ft, struct ft_ep *e)
{
	if (ft->info->mode & FI_RX_CQ_DATA)
		FT_POST(e, fi_recv(e->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, &e->rx_ctx));
}

static void take_data(struct ft *ft, struct ft_ep *e, size_t len, uint64_t i)
{
	struct fi_cq_tagged_entry entry;

	ft_cq_take(e, e->rxcq, &entry);
	FT_WANT(entry.flags & FI_REMOTE_CQ_DATA, "a write was announced without its data");
	FT_WANT((uint32_t) entry.data == (uint32_t) i, "write %llu announces itself as %llu",
		(unsigned long long) i, (unsigned long long) entry.data);
	if (ft->opt.verify)
		ft_verify(ft->rx.p, len, i, "write");
}

static void rma_rounds(struct ft *ft, struct ft_ep *e, size_t len, int iters, uint32_t *ns)
{
	ft_sync(ft);
	for (int i = 0; i < iters; i++) {
		uint64_t start = ft_now_ns();

		expect_data(ft, e);
		if (ft->server)
			take_data(ft, e, len, (uint64_t) i);
		if (ft->opt.verify)
			ft_fill(ft->tx.p, len, (uint64_t) i);
		put_data(ft, e, len, (uint64_t) i);
		if (!ft->server)
			take_data(ft, e, len, (uint64_t) i);
		ns[i] = (uint32_t) (ft_now_ns() - start);
	}
	ft_sync(ft);
}

static void rma_rounds_step(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	uint32_t *ns = calloc((size_t) f->iters, sizeof(*ns));

	rma_rounds(ft, e, f->len, f->iters, ns);
	ft_bench_percentiles(f, ns, f->iters);
	free(ns);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: latency of RMA writes with data.",
		.bench = true, .caps = FI_MSG | FI_RMA, .cq_data_size = 4,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft_bench_run(&ft, FT_LATENCY, rma_rounds_step);
	return ft_end(&ft);
}
