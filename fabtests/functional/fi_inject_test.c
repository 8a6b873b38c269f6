/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

/* An injected buffer can be reused at once, and an inject generates no completion but is
 * counted.  -A has no effect: both calls and both their data forms run.
 */
/* An inject has no desc: its data are the host's. */
static char *data;

static void inject(struct ft *ft, struct ft_ep *e, int i, size_t len)
{
	char *p = data ? data : (data = ft_host(ft->tx.p, ft->tx.len));

	ft_fill(p, len, (uint64_t) i);
	if (ft->opt.tagged)
		FT_POST(e, i % 2 ? fi_tinjectdata(e->ep, p, len, 0x55, e->peer, FT_TAG) :
			fi_tinject(e->ep, p, len, e->peer, FT_TAG));
	else
		FT_POST(e, i % 2 ? fi_injectdata(e->ep, p, len, 0x55, e->peer) :
			fi_inject(e->ep, p, len, e->peer));
	memset(p, 0xa5, len);
}

static void serve(struct ft *ft, struct ft_ep *e, size_t len)
{
	struct fi_cq_tagged_entry entry;

	for (int i = 0; i < ft->opt.iters; i++) {
		ft_rx(e, ft->rx.p, len, ft->rx.desc, &e->rx_ctx);
		ft_sync(ft);
		ft_cq_take(e, e->rxcq, &entry);
		FT_WANT(entry.len == len, "%zu bytes came, not %zu", entry.len, len);
		FT_WANT(!(i % 2) == !(entry.flags & FI_REMOTE_CQ_DATA), "data came where none was sent");
		FT_WANT(!(i % 2) || entry.data == 0x55, "the data came changed");
		ft_verify(ft->rx.p, len, (uint64_t) i, "injected message");
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: fi_inject and its tagged and data forms.",
		.iters = 20, .cq_data_size = 1, .cntrs = true,
	};
	uint64_t sent = 0;
	struct ft ft;
	size_t max;

	ft_begin(&ft, &test, argc, argv);
	max = ft_agree(&ft, ft.info->tx_attr->inject_size);
	if (max > ft.tx.len)
		max = ft.tx.len;
	if (!max)
		ft_skip("this endpoint injects nothing (inject_size is 0)");
	for (size_t len = 1; len <= max; len = len < max && len * 4 > max ? max : len * 4) {
		if (ft.server)
			serve(&ft, &ft.ep, len);
		for (int i = 0; !ft.server && i < ft.opt.iters; i++) {
			ft_sync(&ft);
			inject(&ft, &ft.ep, i, len);
			sent++;
		}
	}
	if (!ft.server) {
		ft_cntr_reach(&ft.ep, ft.ep.txcntr, sent);
		ft_cq_quiet(&ft.ep, ft.ep.txcq, 10);
	}
	return ft_end(&ft);
}
