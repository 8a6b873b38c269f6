/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

/* A write that waits for a counter is made when the counter reaches its threshold. */
static void armed_write(struct ft *ft, struct ft_ep *e, struct fid_cntr *cntr,
			struct fi_triggered_context *ctx)
{
	struct iovec iov = { ft->tx.p, 256 };
	struct fi_rma_iov rma = { .addr = ft->remote.addr, .len = 256, .key = ft->remote.key };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .desc = &ft->tx.desc,
				  .rma_iov = &rma, .rma_iov_count = 1, .addr = e->peer, .context = ctx };

	memset(ctx, 0, sizeof(*ctx));
	ctx->event_type = FI_TRIGGER_THRESHOLD;
	ctx->trigger.threshold.cntr = cntr;
	ctx->trigger.threshold.threshold = 2;
	FT_MAY(fi_writemsg(e->ep, &msg, FI_TRIGGER | FI_COMPLETION | FI_DELIVERY_COMPLETE));
	e->tx_posted++;
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a triggered RMA write.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_MSG | FI_RMA | FI_TRIGGER,
	};
	static const char none[256];
	char now[256];
	struct fi_triggered_context ctx;
	struct fid_cntr *cntr;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	cntr = ft_cntr_open(&ft);
	ft_fill(ft.tx.p, 256, 5);
	ft_sync(&ft);
	if (!ft.server)
		armed_write(&ft, &ft.ep, cntr, &ctx);
	ft_cq_quiet(&ft.ep, ft.ep.txcq, 100);
	ft_get(now, ft.rx.p, sizeof(now));
	FT_WANT(!memcmp(now, none, sizeof(none)), "a triggered write did not wait");
	ft_sync(&ft);
	if (!ft.server) {
		FT_TRY(fi_cntr_add(cntr, 2));
		ft_wait_tx(&ft.ep, ft.ep.tx_posted);
		ft_fill(ft.tx.p, 256, 5);
		ft_send(&ft.ep, 1);	/* notifies the server, and lets it make progress */
	} else {
		ft_rx(&ft.ep, ft.rx.p + 2048, 64, ft.rx.desc, &ft.ep.rx_ctx);
		ft_wait_rx(&ft.ep, ft.ep.rx_posted);
		ft_verify(ft.rx.p, 256, 5, "triggered write");
	}
	ft_sync(&ft);
	FT_TRY(fi_close(&cntr->fid));
	return ft_end(&ft);
}
