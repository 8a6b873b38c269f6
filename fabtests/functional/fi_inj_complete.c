/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

static void one(struct ft *ft, struct ft_ep *e, int i, size_t len)
{
	struct iovec iov = { ft->tx.p, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .desc = &ft->tx.desc,
			      .addr = e->peer, .context = &e->tx_ctx };
	struct fi_msg_tagged tmsg = { .msg_iov = &iov, .iov_count = 1, .desc = &ft->tx.desc,
				      .addr = e->peer, .tag = FT_TAG, .context = &e->tx_ctx };

	ft_fill(ft->tx.p, len, (uint64_t) i);
	if (ft->opt.tagged)
		FT_POST(e, fi_tsendmsg(e->ep, &tmsg, FI_INJECT_COMPLETE | FI_COMPLETION));
	else
		FT_POST(e, fi_sendmsg(e->ep, &msg, FI_INJECT_COMPLETE | FI_COMPLETION));
	ft_wait_tx(e, ++e->tx_posted);
	ft_fill(ft->tx.p, len, 77);	/* the completion says that the buffer is free */
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: FI_INJECT_COMPLETE, as default of the endpoint and per call.",
		.tx_flags = FI_INJECT_COMPLETE, .buf_size = 60000,
	};
	static const size_t lens[] = { 8, 1000, 60000 };
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft_pingpong_all(&ft, &ft.ep);
	for (int i = 0; i < (int) FT_COUNT(lens); i++) {
		if (!ft_size_ok(&ft, lens[i]))
			continue;
		if (ft.server)
			ft_rx(&ft.ep, ft.rx.p, lens[i], ft.rx.desc, &ft.ep.rx_ctx);
		ft_sync(&ft);
		if (!ft.server) {
			one(&ft, &ft.ep, i, lens[i]);
			continue;
		}
		ft_wait_rx(&ft.ep, ft.ep.rx_posted);
		ft_verify(ft.rx.p, lens[i], (uint64_t) i, "message");
	}
	return ft_end(&ft);
}
