/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/ft.h"

static void want_name(const struct ft_ep *e, const char *name, size_t len, const char *when)
{
	char got[FT_ADDR_MAX] = "";
	size_t got_len = sizeof(got);

	FT_TRY(fi_getname(&e->ep->fid, got, &got_len));
	FT_WANT(got_len == len && !memcmp(got, name, len),
		"the active endpoint has another address than the passive one had, %s", when);
}

/* Socket semantics: a connecting endpoint takes over the address of a passive endpoint (bind,
 * then connect).
 */
static void connect_from_pep(struct ft *ft, struct ft_ep *e)
{
	char bound[FT_ADDR_MAX] = "", addr[FT_ADDR_MAX];
	size_t len = sizeof(bound);
	struct fi_eq_cm_entry entry;
	struct fi_info *info;
	struct fid_pep *pep;

	ft_dial(ft, addr);
	FT_TRY(fi_passive_ep(ft->fabric, ft->info, &pep, NULL));
	FT_TRY(fi_getname(&pep->fid, bound, &len));
	info = fi_dupinfo(ft->info);
	info->handle = &pep->fid;
	free(info->src_addr);
	info->src_addr = memcpy(malloc(len), bound, len);
	info->src_addrlen = len;
	/* as fi_getinfo() with the node of the server would say */
	free(info->dest_addr);
	info->dest_addr = memcpy(malloc(len), addr, len);
	info->dest_addrlen = len;
	ft_ep_open(ft, e, info);
	want_name(e, bound, len, "opened");
	FT_TRY(fi_enable(e->ep));
	want_name(e, bound, len, "enabled");
	FT_TRY(fi_connect(e->ep, addr, NULL, 0));
	ft_event(ft, FI_CONNECTED, &entry, sizeof(entry));
	want_name(e, bound, len, "connected");
	FT_TRY(fi_close(&pep->fid));
	fi_freeinfo(info);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a passive endpoint's address becomes an active endpoint's.",
		.ep_type = FI_EP_MSG, .fixed_type = true, .no_link = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ft.server)
		ft_link(&ft, &ft.ep);
	else
		connect_from_pep(&ft, &ft.ep);
	ft_pingpong(&ft.ep, 512, ft.opt.iters, NULL);
	return ft_end(&ft);
}
