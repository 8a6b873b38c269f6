/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* A counter bound to a region counts the writes that reach it. */
int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: remote writes counted by a counter of the region.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_MSG | FI_RMA | FI_RMA_EVENT, .iters = 20,
	};
	struct fid_cntr *cntr;
	struct ft_ep *e;
	struct ft_buf buf;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	e = &ft.ep;
	cntr = ft_cntr_open(&ft);
	ft_buf_open(&ft, &buf, 4096, FI_REMOTE_WRITE | FI_REMOTE_READ);
	FT_MAY(fi_mr_bind(buf.mr, &cntr->fid, FI_REMOTE_WRITE));
	if (ft.info->domain_attr->mr_mode & FI_MR_ENDPOINT)
		FT_TRY(fi_mr_enable(buf.mr));
	ft_ctl_swap(&ft, &(struct ft_remote) { buf.addr, buf.key, 4096 }, &ft.remote, sizeof(ft.remote));
	for (int i = 0; i < ft.opt.iters; i++) {
		if (ft.server) {
			ft_cntr_reach(e, cntr, (uint64_t) i + 1);
			ft_verify(buf.p, 2000, (uint64_t) i, "counted write");
		} else {
			ft_fill(ft.tx.p, 2000, (uint64_t) i);
			FT_POST(e, fi_write(e->ep, ft.tx.p, 2000, ft.tx.desc, e->peer, ft.remote.addr,
					    ft.remote.key, &e->tx_ctx));
			ft_wait_tx(e, ++e->tx_posted);
		}
		ft_sync(&ft);
	}
	FT_IS((ssize_t) fi_cntr_read(cntr), ft.server ? ft.opt.iters : 0);
	ft_buf_close(&buf);
	FT_TRY(fi_close(&cntr->fid));
	return ft_end(&ft);
}
