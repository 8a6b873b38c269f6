/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>

#include "common/ft.h"

/*
 * For MSG endpoints, the time from fi_connect() until both sides have the event; for RDM
 * endpoints, from the insertion of a new peer's address until that peer's first reply.  The
 * bare socket connects, and transfers a byte in each direction.
 */
static const struct ft_col cols[] = {
	{ "what", "what", 14, 0 }, { "count", "count", 6, 0 }, { "p50", "usec p50", 9, 2 },
	{ "p99", "p99", 9, 2 }, { "rate", "conns/sec", 10, 0 }, { "bare", "bare p50", 9, 2 },
	{ "bare_rate", "bare conns/s", 12, 0 }, { "ratio", "ratio", 6, 2 },
};

static void one_msg(struct ft *ft)
{
	struct ft_ep e = { 0 };

	ft_link(ft, &e);
	ft_sync(ft);
	ft_ep_close(&e);
}

static void time_connects(struct ft *ft, int cnt, uint32_t *ns)
{
	ft_at("connecting");
	for (int i = 0; i < cnt; i++) {
		uint64_t start;

		ft_sync(ft);
		start = ft_now_ns();
		one_msg(ft);
		ns[i] = (uint32_t) (ft_now_ns() - start);
	}
}

static void first_words(struct ft *ft, int cnt, uint32_t *ns)
{
	struct ft_crowd c;

	ft_crowd_open(ft, &c, cnt);
	ft_at("speaking to new peers");
	ft_sync(ft);
	for (int i = 0; i < cnt; i++) {
		uint64_t start = ft_now_ns();

		ft_crowd_hello(ft, &c, i);
		ns[i] = (uint32_t) (ft_now_ns() - start);
	}
	ft_crowd_close(&c);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: connections a second (-C, 64 of them), one after the other.",
		.bench = true, .no_link = true,
	};
	struct ft_spread mine, bare;
	struct ft ft;
	uint32_t *ns;
	bool msg;
	int cnt;

	ft_begin(&ft, &test, argc, argv);
	msg = ft.info->ep_attr->type == FI_EP_MSG;
	if (ft.info->ep_attr->type == FI_EP_DGRAM)
		ft_skip("datagrams know no connection");
	cnt = ft.opt.count ? ft.opt.count : 64;
	ns = calloc((size_t) cnt, sizeof(*ns));
	ft_table_head(&ft, cols, FT_COUNT(cols), "connections of bare TCP sockets");
	ft_floor_connect(&ft, cnt, ns);
	bare = ft_spread(ns, cnt);
	if (msg)
		time_connects(&ft, cnt, ns);
	else
		first_words(&ft, cnt, ns);
	mine = ft_spread(ns, cnt);
	if (!ft.server)
		ft_table_row(&ft, cols, FT_COUNT(cols), msg ? "connection" : "first-exchange",
			     (double[]) { cnt, mine.p50_us, mine.p99_us, cnt * 1e6 / mine.sum_us,
					  bare.p50_us, cnt * 1e6 / bare.sum_us,
					  ft_ratio(mine.p50_us, bare.p50_us) });
	free(ns);
	return ft_end(&ft);
}
