/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: latency over reliable unconnected endpoints.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .bench = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft_bench_pingpong(&ft);
	return ft_end(&ft);
}
