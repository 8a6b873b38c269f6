/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

static uint64_t data_of(const struct ft *ft, int i)
{
	uint64_t data = 0x0123456789abcdefull * (uint64_t) (i + 1);
	size_t size = ft->info->domain_attr->cq_data_size;

	return size < 8 ? data & ((1ull << (8 * size)) - 1) : data;
}

static void give(struct ft *ft, struct ft_ep *e, int i, size_t len)
{
	ft_fill(ft->tx.p, len, (uint64_t) i);
	if (ft->opt.tagged)
		FT_POST(e, fi_tsenddata(e->ep, ft->tx.p, len, ft->tx.desc, data_of(ft, i), e->peer,
					FT_TAG, &e->tx_ctx));
	else
		FT_POST(e, fi_senddata(e->ep, ft->tx.p, len, ft->tx.desc, data_of(ft, i), e->peer,
				       &e->tx_ctx));
	ft_wait_tx(e, ++e->tx_posted);
}

static void take(struct ft *ft, struct ft_ep *e, int i, size_t len)
{
	struct fi_cq_tagged_entry entry;

	ft_cq_take(e, e->rxcq, &entry);
	FT_WANT(entry.flags & FI_REMOTE_CQ_DATA, "message %d came without FI_REMOTE_CQ_DATA", i);
	FT_WANT(entry.data == data_of(ft, i), "message %d carries %#llx, not %#llx", i,
		(unsigned long long) entry.data, (unsigned long long) data_of(ft, i));
	FT_WANT(entry.len == len, "message %d has %zu bytes, not %zu", i, entry.len, len);
	ft_verify(ft->rx.p, len, (uint64_t) i, "message");
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: data that travels with a message into the completion.",
		.cq_data_size = 4, .buf_size = 40000,
	};
	static const size_t lens[] = { 8, 700, 40000 };
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	for (int i = 0; i < (int) FT_COUNT(lens); i++) {
		if (!ft_size_ok(&ft, lens[i]))
			continue;
		if (ft.server)
			ft_rx(&ft.ep, ft.rx.p, lens[i], ft.rx.desc, &ft.ep.rx_ctx);
		ft_sync(&ft);
		if (ft.server)
			take(&ft, &ft.ep, i, lens[i]);
		else
			give(&ft, &ft.ep, i, lens[i]);
	}
	return ft_end(&ft);
}
