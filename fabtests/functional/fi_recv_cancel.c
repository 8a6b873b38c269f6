/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* The server cancels one of two receives and gets the message in the other. */
static void serve(struct ft *ft, struct ft_ep *e)
{
	struct fi_context2 doomed, kept;
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };

	FT_TRY(fi_trecv(e->ep, ft->rx.p, 64, ft->rx.desc, FI_ADDR_UNSPEC, 0xbad, 0, &doomed));
	FT_TRY(fi_trecv(e->ep, ft->rx.p + 64, 64, ft->rx.desc, FI_ADDR_UNSPEC, 0x600d, 0, &kept));
	FT_TRY(fi_cancel(&e->ep->fid, &doomed));
	ft_cq_take_err(e, e->rxcq, &err);
	FT_WANT(err.err == FI_ECANCELED, "a cancelled receive says %s", fi_strerror(err.err));
	FT_WANT(err.op_context == &doomed, "another receive was cancelled");
	ft_sync(ft);
	ft_cq_take(e, e->rxcq, &entry);
	FT_WANT(entry.op_context == &kept && entry.tag == 0x600d, "another receive completed");
	ft_verify(ft->rx.p + 64, 64, 3, "message");
	ft_cq_quiet(e, e->rxcq, 10);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: fi_cancel of a posted receive.",
		.ep_type = FI_EP_RDM, .caps = FI_TAGGED, .iters = 20,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	for (int i = 0; i < ft.opt.iters; i++) {
		if (ft.server) {
			serve(&ft, &ft.ep);
		} else {
			ft_sync(&ft);
			ft_fill(ft.tx.p, 64, 3);
			FT_POST(&ft.ep, fi_tsend(ft.ep.ep, ft.tx.p, 64, ft.tx.desc, ft.ep.peer, 0x600d,
						 &ft.ep.tx_ctx));
			ft_wait_tx(&ft.ep, ++ft.ep.tx_posted);
		}
		ft_sync(&ft);
	}
	return ft_end(&ft);
}
