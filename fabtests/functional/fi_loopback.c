/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* An endpoint is its own peer. */
static void to_itself(struct ft *ft, struct ft_ep *e, size_t len, int i)
{
	ft_fill(ft->tx.p, len, (uint64_t) i);
	if (i % 2)		/* half of them are expected, half are unexpected */
		ft_rx(e, ft->rx.p, len, ft->rx.desc, &e->rx_ctx);
	ft_tx(e, ft->tx.p, len, ft->tx.desc, &e->tx_ctx);
	if (!(i % 2))
		ft_rx(e, ft->rx.p, len, ft->rx.desc, &e->rx_ctx);
	ft_wait_rx(e, e->rx_posted);
	ft_wait_tx(e, e->tx_posted);
	ft_verify(ft->rx.p, len, (uint64_t) i, "message to itself");
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: an endpoint that sends to itself.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .local = true,
	};
	char own[FT_ADDR_MAX] = "";
	size_t len = sizeof(own);
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft_ep_open(&ft, &ft.ep, ft.info);
	FT_TRY(fi_enable(ft.ep.ep));
	FT_TRY(fi_getname(&ft.ep.ep->fid, own, &len));
	ft.ep.peer = ft_av_add(&ft, own);
	for (size_t s = 0; s < ft.opt.size_cnt; s++)
		for (int i = 0; ft_size_ok(&ft, ft.opt.sizes[s]) && i < ft.opt.iters; i++)
			to_itself(&ft, &ft.ep, ft.opt.sizes[s], i);
	return ft_end(&ft);
}
