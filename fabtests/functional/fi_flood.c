/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>

#include "common/ft.h"

/* A sender that posts as fast as it can, and a receiver that starts late and is slow: no
 * message is lost or reordered.
 */
static void flood(struct ft *ft, struct ft_ep *e, size_t len, int cnt)
{
	int window = ft->opt.window;
	char *bufs = malloc(len * (size_t) window);
	struct fi_context2 *ctx = calloc((size_t) window, sizeof(*ctx));
	struct fid_mr *mr = NULL;

	if (ft->info->domain_attr->mr_mode & FI_MR_LOCAL)
		FT_TRY(fi_mr_reg(ft->domain, bufs, len * (size_t) window, FI_SEND, 0, 0x99, 0, &mr, NULL));
	for (int i = 0; i < cnt; i++) {
		char *p = bufs + len * (size_t) (i % window);

		if (i >= window)
			ft_wait_tx(e, e->tx_posted - (uint64_t) window + 1);
		ft_fill(p, len, (uint64_t) i);
		ft_tx(e, p, len, mr ? fi_mr_desc(mr) : NULL, &ctx[i % window]);
	}
	ft_wait_tx(e, e->tx_posted);
	if (mr)
		FT_TRY(fi_close(&mr->fid));
	free(ctx);
	free(bufs);
}

static void drain(struct ft *ft, struct ft_ep *e, size_t len, int cnt)
{
	uint64_t until = ft_now_ns() + 50000000;

	while (ft_now_ns() < until)
		;
	for (int i = 0; i < cnt; i++) {
		ft_recv(e, len);
		ft_verify(ft->rx.p, len, (uint64_t) i, "flooded message");
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a flood of messages to a slow receiver.",
		.iters = 2000, .buf_size = 70000,
	};
	static const size_t lens[] = { 16, 3000, 70000 };
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ft.info->ep_attr->type == FI_EP_DGRAM)
		ft_skip("datagrams to a slow receiver may be dropped");
	if (ft.opt.window > (int) ft.info->tx_attr->size)
		ft.opt.window = (int) ft.info->tx_attr->size;
	for (size_t i = 0; i < FT_COUNT(lens); i++) {
		int cnt = lens[i] > 10000 ? ft.opt.iters / 20 + 1 : ft.opt.iters;

		if (ft.server)
			drain(&ft, &ft.ep, lens[i], cnt);
		else
			flood(&ft, &ft.ep, lens[i], cnt);
		ft_sync(&ft);
	}
	return ft_end(&ft);
}
