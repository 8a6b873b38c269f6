/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* Counters instead of queues: each program waits on its counters alone. */
int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: latency with counters (as -t counter).",
		.ep_type = FI_EP_RDM, .fixed_type = true, .bench = true, .cntrs = true,
		.tx_bind = FI_SELECTIVE_COMPLETION, .rx_bind = FI_SELECTIVE_COMPLETION,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft.opt.counter = true;
	ft_bench_pingpong(&ft);
	return ft_end(&ft);
}
