/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

#define DOMAINS	3

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: endpoints in several domains of one fabric.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .no_link = true, .iters = 50,
	};
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = 8 };
	struct fid_domain *first_domain;
	struct fid_av *av[DOMAINS], *first_av;
	struct fid_domain *dom[DOMAINS];
	struct ft_ep e[DOMAINS];
	struct ft_buf tx[DOMAINS], rx[DOMAINS];
	struct ft ft;

	memset(e, 0, sizeof(e));
	memset(tx, 0, sizeof(tx));
	memset(rx, 0, sizeof(rx));
	ft_begin(&ft, &test, argc, argv);
	first_domain = ft.domain;
	first_av = ft.av;
	for (int i = 0; i < DOMAINS; i++) {
		FT_TRY(fi_domain(ft.fabric, ft.info, &dom[i], NULL));
		FT_TRY(fi_av_open(dom[i], &attr, &av[i], NULL));
		ft.domain = dom[i];
		ft.av = av[i];
		ft_link(&ft, &e[i]);
		ft_buf_open(&ft, &tx[i], 4096, 0);
		ft_buf_open(&ft, &rx[i], 4096, 0);
	}
	ft_buf_close(&ft.tx);
	ft_buf_close(&ft.rx);
	for (int i = 0; i < 2 * DOMAINS; i++) {
		ft.tx = tx[i % DOMAINS];
		ft.rx = rx[i % DOMAINS];
		ft_pingpong(&e[i % DOMAINS], 1000, ft.opt.iters, NULL);
	}
	memset(&ft.tx, 0, sizeof(ft.tx));
	memset(&ft.rx, 0, sizeof(ft.rx));
	ft_sync(&ft);
	for (int i = 0; i < DOMAINS; i++) {
		ft_ep_close(&e[i]);
		ft_buf_close(&tx[i]);
		ft_buf_close(&rx[i]);
		FT_TRY(fi_close(&av[i]->fid));
		FT_TRY(fi_close(&dom[i]->fid));
	}
	ft.domain = first_domain;
	ft.av = first_av;
	return ft_end(&ft);
}
