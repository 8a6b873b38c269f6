/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

/* A send that waits for a counter leaves when the counter reaches its threshold. */
static void armed_send(struct ft *ft, struct ft_ep *e, struct fid_cntr *cntr, uint64_t threshold,
		       struct fi_triggered_context *ctx)
{
	struct iovec iov = { ft->tx.p, 128 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .desc = &ft->tx.desc, .addr = e->peer,
			      .context = ctx };

	memset(ctx, 0, sizeof(*ctx));
	ctx->event_type = FI_TRIGGER_THRESHOLD;
	ctx->trigger.threshold.cntr = cntr;
	ctx->trigger.threshold.threshold = threshold;
	FT_MAY(fi_sendmsg(e->ep, &msg, FI_TRIGGER | FI_COMPLETION));
	e->tx_posted++;
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a triggered send.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_MSG | FI_TRIGGER,
	};
	struct fi_triggered_context ctx;
	struct fid_cntr *cntr;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	cntr = ft_cntr_open(&ft);
	if (ft.server)
		ft_rx(&ft.ep, ft.rx.p, 128, ft.rx.desc, &ft.ep.rx_ctx);
	ft_fill(ft.tx.p, 128, 5);
	ft_sync(&ft);
	if (!ft.server)
		armed_send(&ft, &ft.ep, cntr, 3, &ctx);
	ft_cq_quiet(&ft.ep, ft.server ? ft.ep.rxcq : ft.ep.txcq, 100);
	ft_sync(&ft);
	if (!ft.server) {
		FT_TRY(fi_cntr_add(cntr, 3));
		ft_wait_tx(&ft.ep, ft.ep.tx_posted);
	} else {
		ft_wait_rx(&ft.ep, ft.ep.rx_posted);
		ft_verify(ft.rx.p, 128, 5, "triggered message");
	}
	ft_sync(&ft);
	FT_TRY(fi_close(&cntr->fid));
	return ft_end(&ft);
}
