/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* One server endpoint, and client endpoints (-C, 4) that are opened, exchange messages and are
 * closed.
 */
static void client_comes(struct ft *ft)
{
	char mine[FT_ADDR_MAX] = "", theirs[FT_ADDR_MAX];
	size_t len = sizeof(mine);
	struct ft_ep e = { 0 };

	ft_ep_open(ft, &e, ft->info);
	FT_TRY(fi_enable(e.ep));
	FT_TRY(fi_getname(&e.ep->fid, mine, &len));
	ft_ctl_swap(ft, mine, theirs, sizeof(mine));
	e.peer = ft_av_add(ft, theirs);
	ft_pingpong(&e, 128, ft->opt.iters, NULL);
	FT_TRY(fi_av_remove(ft->av, &e.peer, 1, 0));
	ft_ep_close(&e);
}

static void serve_one(struct ft *ft, struct ft_ep *e)
{
	char mine[FT_ADDR_MAX] = "", theirs[FT_ADDR_MAX];
	size_t len = sizeof(mine);

	FT_TRY(fi_getname(&e->ep->fid, mine, &len));
	ft_ctl_swap(ft, mine, theirs, sizeof(mine));
	e->peer = ft_av_add(ft, theirs);
	ft_pingpong(e, 128, ft->opt.iters, NULL);
	FT_TRY(fi_av_remove(ft->av, &e->peer, 1, 0));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: clients (-C, 4) come to one server endpoint and go again.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .no_link = true, .iters = 20,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ft.server) {
		ft_ep_open(&ft, &ft.ep, ft.info);
		FT_TRY(fi_enable(ft.ep.ep));
	}
	for (int i = 0; i < (ft.opt.count ? ft.opt.count : 4); i++) {
		if (ft.server)
			serve_one(&ft, &ft.ep);
		else
			client_comes(&ft);
		ft_sync(&ft);
	}
	return ft_end(&ft);
}
