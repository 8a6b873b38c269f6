/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

/* The bare socket needs a system call per message, as in a program over sockets. */
int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: messages a second, one way, a window (-W) in flight.",
		.bench = true, .iters = 20000,
		.sizes = { 8, 64, 256, 1024, 4096 },
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft_bench_stream(&ft, FT_RATE);
	return ft_end(&ft);
}
