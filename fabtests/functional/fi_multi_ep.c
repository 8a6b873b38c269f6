/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

#define MOST	8

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: several endpoints (-C, 3) of one domain, each with traffic of its own.",
		.no_link = true, .iters = 50,
	};
	struct ft_ep e[MOST];
	struct ft ft;
	int cnt;

	memset(e, 0, sizeof(e));
	ft_begin(&ft, &test, argc, argv);
	cnt = ft.opt.count ? ft.opt.count : 3;
	cnt = cnt > MOST ? MOST : cnt;
	for (int i = 0; i < cnt; i++)
		ft_link(&ft, &e[i]);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < cnt; i++)
			ft_pingpong(&e[i], 200u + (size_t) i, ft.opt.iters, NULL);
	/* The remaining endpoints must work when one is closed. */
	ft_sync(&ft);
	ft_ep_close(&e[0]);
	ft_sync(&ft);
	for (int i = 1; i < cnt; i++)
		ft_pingpong(&e[i], 64, ft.opt.iters, NULL);
	ft_sync(&ft);
	for (int i = 1; i < cnt; i++)
		ft_ep_close(&e[i]);
	return ft_end(&ft);
}
