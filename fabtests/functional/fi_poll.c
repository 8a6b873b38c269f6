/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* One round trip in which each side finds its completions by a poll set. */
static void until_polled(struct ft *ft, struct fid_poll *set, uint64_t tx, uint64_t rx)
{
	struct fi_cq_tagged_entry entry;
	struct ft_ep *e = &ft->ep;
	uint64_t end = ft_now_ns() + 10000000000ull;
	void *ctx[2];

	while (e->tx_done < tx || e->rx_done < rx) {
		int n = (int) FT_TRY(fi_poll(set, ctx, 2));

		for (int i = 0; i < n; i++) {
			FT_WANT(ctx[i] == &e->txcq || ctx[i] == &e->rxcq, "a foreign context was polled");
			if (ft_cq_some(e, *(struct fid_cq **) ctx[i], &entry, 1, 0) == 1)
				ctx[i] == &e->txcq ? e->tx_done++ : e->rx_done++;
		}
		FT_WANT(ft_now_ns() < end, "the poll set was silent for 10 s");
		ft_ctl_look(ft);
	}
}

static void open_polled_cqs(struct ft *ft)
{
	struct fi_cq_attr attr = ft_cq_attr(ft);

	FT_TRY(fi_cq_open(ft->domain, &attr, &ft->ep.txcq, &ft->ep.txcq));
	FT_TRY(fi_cq_open(ft->domain, &attr, &ft->ep.rxcq, &ft->ep.rxcq));
	ft->ep.own_cqs = true;
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: completions found through a poll set (fi_poll).",
		.no_link = true,
	};
	struct fi_poll_attr attr = { 0 };
	struct fid_poll *set;
	struct ft_ep *e;
	struct ft ft;
	void *ctx[2];

	ft_begin(&ft, &test, argc, argv);
	e = &ft.ep;
	FT_MAY(fi_poll_open(ft.domain, &attr, &set));
	open_polled_cqs(&ft);
	ft_link(&ft, e);
	FT_TRY(fi_poll_add(set, &e->txcq->fid, 0));
	FT_TRY(fi_poll_add(set, &e->rxcq->fid, 0));
	FT_IS(fi_poll(set, ctx, 2), 0);
	for (int i = 0; i < ft.opt.iters; i++) {
		ft_rx(e, ft.rx.p, 64, ft.rx.desc, &e->rx_ctx);
		ft_sync(&ft);
		ft_fill(ft.tx.p, 64, (uint64_t) i);
		ft_tx(e, ft.tx.p, 64, ft.tx.desc, &e->tx_ctx);
		until_polled(&ft, set, e->tx_posted, e->rx_posted);
		ft_verify(ft.rx.p, 64, (uint64_t) i, "message");
	}
	FT_TRY(fi_poll_del(set, &e->rxcq->fid, 0));
	FT_TRY(fi_poll_del(set, &e->txcq->fid, 0));
	FT_TRY(fi_close(&set->fid));
	return ft_end(&ft);
}
