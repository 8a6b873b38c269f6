/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

#define CTXS	2
#define RX_BITS	4

static void several(struct fi_info *hints)
{
	hints->caps |= FI_NAMED_RX_CTX;
	hints->ep_attr->tx_ctx_cnt = CTXS;
	hints->ep_attr->rx_ctx_cnt = CTXS;
}

struct scalable {
	struct fid_ep *sep, *tx[CTXS], *rx[CTXS];
	struct fid_cq *txcq, *rxcq;
	struct fid_av *av;
};

static void open_one(struct ft *ft, struct scalable *s)
{
	struct fi_av_attr attr = { .type = FI_AV_MAP, .count = 8, .rx_ctx_bits = RX_BITS };
	int ret = fi_scalable_ep(ft->domain, ft->info, &s->sep, NULL);

	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		ft_skip("the provider has no scalable endpoints (fi_scalable_ep: %s)", fi_strerror(-ret));
	FT_TRY(ret);
	FT_TRY(fi_av_open(ft->domain, &attr, &s->av, NULL));
	FT_TRY(fi_scalable_ep_bind(s->sep, &s->av->fid, 0));
	s->txcq = ft_cq_open(ft);
	s->rxcq = ft_cq_open(ft);
	for (int i = 0; i < CTXS; i++) {
		FT_TRY(fi_tx_context(s->sep, i, NULL, &s->tx[i], NULL));
		FT_TRY(fi_ep_bind(s->tx[i], &s->txcq->fid, FI_TRANSMIT));
		FT_TRY(fi_enable(s->tx[i]));
		FT_TRY(fi_rx_context(s->sep, i, NULL, &s->rx[i], NULL));
		FT_TRY(fi_ep_bind(s->rx[i], &s->rxcq->fid, FI_RECV));
		FT_TRY(fi_enable(s->rx[i]));
	}
	FT_TRY(fi_enable(s->sep));
}

static void run(struct ft *ft, struct scalable *s, fi_addr_t peer)
{
	struct ft_ep view = { .ft = ft, .txcq = s->txcq, .rxcq = s->rxcq };
	struct fi_cq_tagged_entry entry;

	for (int i = 0; i < CTXS; i++) {
		struct fi_context2 rxc, txc;

		FT_TRY(fi_recv(s->rx[i], ft->rx.p, 64, ft->rx.desc, FI_ADDR_UNSPEC, &rxc));
		ft_sync(ft);
		ft_fill(ft->tx.p, 64, (uint64_t) i);
		FT_POST(&view, fi_send(s->tx[i], ft->tx.p, 64, ft->tx.desc,
				       fi_rx_addr(peer, i, RX_BITS), &txc));
		ft_cq_take(&view, s->txcq, &entry);
		ft_cq_take(&view, s->rxcq, &entry);
		FT_WANT(entry.op_context == &rxc, "another receive completed");
		ft_verify(ft->rx.p, 64, (uint64_t) i, "message to a named context");
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a scalable endpoint and its contexts.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .no_link = true, .tune = several, .iters = 10,
	};
	char mine[FT_ADDR_MAX] = "", theirs[FT_ADDR_MAX];
	size_t len = sizeof(mine);
	struct scalable s;
	fi_addr_t peer;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	open_one(&ft, &s);
	FT_TRY(fi_getname(&s.sep->fid, mine, &len));
	ft_ctl_swap(&ft, mine, theirs, sizeof(mine));
	FT_IS(fi_av_insert(s.av, theirs, 1, &peer, 0, NULL), 1);
	for (int i = 0; i < ft.opt.iters; i++)
		run(&ft, &s, peer);
	ft_sync(&ft);
	for (int i = 0; i < CTXS; i++) {
		FT_TRY(fi_close(&s.tx[i]->fid));
		FT_TRY(fi_close(&s.rx[i]->fid));
	}
	FT_TRY(fi_close(&s.sep->fid));
	FT_TRY(fi_close(&s.txcq->fid));
	FT_TRY(fi_close(&s.rxcq->fid));
	FT_TRY(fi_close(&s.av->fid));
	return ft_end(&ft);
}
