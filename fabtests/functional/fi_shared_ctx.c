/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

#define EPS	3

/* Receives posted to one shared context serve messages to each of the endpoints. */
static void open_sharing(struct ft *ft, struct ft_ep *e, struct fid_ep *srx)
{
	e->ft = ft;
	FT_TRY(fi_endpoint(ft->domain, ft->info, &e->ep, e));
	FT_TRY(fi_ep_bind(e->ep, &ft->av->fid, 0));
	FT_TRY(fi_ep_bind(e->ep, &e->txcq->fid, FI_TRANSMIT));
	FT_TRY(fi_ep_bind(e->ep, &e->rxcq->fid, FI_RECV));
	FT_TRY(fi_ep_bind(e->ep, &srx->fid, 0));
	FT_TRY(fi_enable(e->ep));
	ft_swap_names(ft, e);
}

static void shared(struct fi_info *hints)
{
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
}

static void run(struct ft *ft, struct ft_ep *e, struct fid_ep *srx)
{
	struct fi_context2 ctx[EPS];

	for (int i = 0; ft->server && i < EPS; i++)
		FT_TRY(fi_recv(srx, ft->rx.p + 256 * i, 256, ft->rx.desc, FI_ADDR_UNSPEC, &ctx[i]));
	ft_sync(ft);
	for (int i = 0; i < EPS; i++) {
		struct fi_cq_tagged_entry entry;

		if (!ft->server) {
			ft_fill(ft->tx.p, 256, (uint64_t) i);
			ft_tx(&e[i], ft->tx.p, 256, ft->tx.desc, &e[i].tx_ctx);
			ft_cq_take(&e[i], e[i].txcq, &entry);
		} else {
			ft_cq_take(&e[0], e[0].rxcq, &entry);
			FT_WANT(entry.op_context == &ctx[i], "receives complete out of their order");
			ft_verify(ft->rx.p + 256 * i, 256, (uint64_t) i, "message");
		}
		ft_sync(ft);
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a shared receive context under several endpoints.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .no_link = true, .tune = shared, .iters = 20,
	};
	struct ft_ep e[EPS];
	struct fid_ep *srx;
	struct ft ft;
	int ret;

	memset(e, 0, sizeof(e));
	ft_begin(&ft, &test, argc, argv);
	ret = fi_srx_context(ft.domain, ft.info->rx_attr, &srx, NULL);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		ft_skip("the provider has no shared receive contexts");
	FT_TRY(ret);
	e[0].txcq = ft_cq_open(&ft);
	e[0].rxcq = ft_cq_open(&ft);
	for (int i = 0; i < EPS; i++) {
		e[i].txcq = e[0].txcq;
		e[i].rxcq = e[0].rxcq;
		open_sharing(&ft, &e[i], srx);
	}
	for (int i = 0; i < ft.opt.iters; i++)
		run(&ft, e, srx);
	ft_sync(&ft);
	e[0].own_cqs = true;
	for (int i = EPS - 1; i > 0; i--)
		ft_ep_close(&e[i]);
	FT_TRY(fi_close(&e[0].ep->fid));
	FT_TRY(fi_close(&srx->fid));
	FT_TRY(fi_close(&e[0].txcq->fid));
	FT_TRY(fi_close(&e[0].rxcq->fid));
	return ft_end(&ft);
}
