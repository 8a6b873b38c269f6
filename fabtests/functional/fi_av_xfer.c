/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* Messages while addresses are inserted and removed. */
static void reinsert(struct ft *ft, struct ft_ep *e)
{
	char addr[FT_ADDR_MAX];
	size_t len = sizeof(addr);

	FT_TRY(fi_av_lookup(ft->av, e->peer, addr, &len));
	FT_TRY(fi_av_remove(ft->av, &e->peer, 1, 0));
	e->peer = ft_av_add(ft, addr);
}

/* A new endpoint with a new address; the old one is removed. */
static void replace(struct ft *ft)
{
	fi_addr_t old = ft->ep.peer;

	ft_ep_close(&ft->ep);
	ft_link(ft, &ft->ep);
	FT_TRY(fi_av_remove(ft->av, &old, 1, 0));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: traffic as addresses are removed and inserted again.",
		.ep_type = FI_EP_RDM, .iters = 10,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (!ft.av)
		ft_skip("connected endpoints use no address vector");
	ft_pingpong(&ft.ep, 64, ft.opt.iters, NULL);
	for (int i = 0; i < 5; i++) {
		ft_sync(&ft);
		reinsert(&ft, &ft.ep);
		ft_pingpong(&ft.ep, 64, ft.opt.iters, NULL);
	}
	for (int i = 0; i < 3; i++) {
		ft_sync(&ft);
		replace(&ft);
		ft_pingpong(&ft.ep, 64, ft.opt.iters, NULL);
	}
	return ft_end(&ft);
}
