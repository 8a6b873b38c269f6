/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>
#include <unistd.h>

#include "common/ft.h"

/* A named table: an address inserted by one opener is found by another at the same index. */
static void same_table(struct ft *ft, struct fid_av *av)
{
	char name[64], addr[FT_ADDR_MAX] = "", seen[FT_ADDR_MAX] = "";
	size_t len = sizeof(addr), seen_len = sizeof(seen);
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = 16, .name = name };
	struct fid_av *again;
	fi_addr_t own;

	snprintf(name, sizeof(name), "fabtests_%d", (int) getpid());
	FT_MAY(fi_av_open(ft->domain, &attr, &av, NULL));
	FT_TRY(fi_getname(&ft->ep.ep->fid, addr, &len));
	FT_IS(fi_av_insert(av, addr, 1, &own, 0, NULL), 1);
	attr.flags = FI_READ;
	FT_TRY(fi_av_open(ft->domain, &attr, &again, NULL));
	FT_TRY(fi_av_lookup(again, own, seen, &seen_len));
	FT_WANT(seen_len == len && !memcmp(addr, seen, len), "the shared table holds another address");
	FT_WANT(fi_av_insert(again, addr, 1, &own, 0, NULL) <= 0, "a read-only opener could insert");
	FT_TRY(fi_close(&again->fid));
	FT_TRY(fi_close(&av->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: an address vector shared by name.",
		.ep_type = FI_EP_RDM, .fixed_type = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (!ft.info->domain_attr->max_ep_srx_ctx && !ft.av)
		ft_skip("this endpoint uses no address vector");
	same_table(&ft, NULL);
	ft_pingpong(&ft.ep, 64, ft.opt.iters, NULL);
	return ft_end(&ft);
}
