/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "common/ft.h"

#define GROUP	"239.255.71.1"

/* The server joins a group on its endpoint's port; the client sends to the group. */
static void serve(struct ft *ft, struct ft_ep *e, struct sockaddr_in *group)
{
	struct fi_eq_entry joined;
	struct fid_mc *mc;
	uint32_t event;

	FT_MAY(fi_join(e->ep, group, 0, &mc, NULL));
	if (fi_eq_sread(ft->eq, &event, &joined, sizeof(joined), 2000, 0) > 0)
		FT_WANT(event == FI_JOIN_COMPLETE && joined.fid == &mc->fid, "another event than the join came");
	for (int i = 0; i < ft->opt.iters; i++) {
		ft_rx(e, ft->rx.p, 200, ft->rx.desc, &e->rx_ctx);
		ft_sync(ft);
		ft_wait_rx(e, e->rx_posted);
		ft_verify(ft->rx.p, 200, (uint64_t) i, "multicast datagram");
		ft_sync(ft);
	}
	FT_TRY(fi_close(&mc->fid));
}

static void call(struct ft *ft, struct ft_ep *e, struct sockaddr_in *group)
{
	struct fi_eq_entry joined;
	struct fid_mc *mc;
	uint32_t event;

	FT_MAY(fi_join(e->ep, group, FI_SEND, &mc, NULL));
	fi_eq_sread(ft->eq, &event, &joined, sizeof(joined), 2000, 0);
	e->peer = fi_mc_addr(mc);
	for (int i = 0; i < ft->opt.iters; i++) {
		ft_fill(ft->tx.p, 200, (uint64_t) i);
		ft_sync(ft);
		ft_send(e, 200);
		ft_sync(ft);
	}
	FT_TRY(fi_close(&mc->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: datagrams to a multicast group.",
		.ep_type = FI_EP_DGRAM, .fixed_type = true, .caps = FI_MSG | FI_MULTICAST, .iters = 20,
	};
	struct sockaddr_in group = { .sin_family = AF_INET }, own, at_server;
	size_t len = sizeof(own);
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	FT_TRY(fi_getname(&ft.ep.ep->fid, &own, &len));
	if (own.sin_family != AF_INET)
		ft_skip("this provider's addresses are not IPv4");
	ft_ctl_swap(&ft, &own, &at_server, sizeof(own));
	group.sin_port = ft.server ? own.sin_port : at_server.sin_port;
	inet_pton(AF_INET, GROUP, &group.sin_addr);
	if (ft.server)
		serve(&ft, &ft.ep, &group);
	else
		call(&ft, &ft.ep, &group);
	return ft_end(&ft);
}
