/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* Messages come before any receive is posted and still arrive, whole and in order. */
static void burst(struct ft *ft, struct ft_ep *e, size_t len, int cnt)
{
	for (int i = 0; i < cnt; i++) {
		ft_fill(ft->tx.p, len, (uint64_t) i);
		ft_send(e, len);
	}
}

static void late(struct ft *ft, struct ft_ep *e, size_t len, int cnt)
{
	for (int i = 0; i < cnt; i++) {
		ft_recv(e, len);
		ft_verify(ft->rx.p, len, (uint64_t) i, "unexpected message");
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: messages that arrive before their receives are posted.",
		.iters = 64, .buf_size = 20000,
	};
	static const size_t lens[] = { 8, 2000, 20000 };
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	for (size_t i = 0; i < FT_COUNT(lens); i++) {
		if (ft.info->ep_attr->type == FI_EP_DGRAM)
			ft_skip("datagrams without a receive may be dropped");
		/* A sender of more than the wire holds may need the receiver's receives. */
		int cnt = lens[i] > 2000 ? 4 : ft.opt.iters;

		if (!ft.server) {
			burst(&ft, &ft.ep, lens[i], cnt);
			ft_sync(&ft);
		} else {
			if (lens[i] <= 2000)
				ft_sync(&ft);
			late(&ft, &ft.ep, lens[i], cnt);
			if (lens[i] > 2000)
				ft_sync(&ft);
		}
	}
	return ft_end(&ft);
}
