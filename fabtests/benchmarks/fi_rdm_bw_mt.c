/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/ft.h"

#define MOST	8

/* Threads (-C, 2), each with a separate endpoint, queues and buffers in one domain. */
struct worker {
	pthread_t thread;
	struct ft_ep e;
	struct ft_buf rx;
	struct fi_context2 *ctx;
	size_t len;
	int iters;
};

static struct worker workers[MOST];
static int threads;

static void one_way(struct worker *w)
{
	struct ft *ft = w->e.ft;
	int window = ft->opt.window;

	for (int i = 0; i < w->iters; i++) {
		struct fi_context2 *ctx = &w->ctx[i % window];

		if (ft->server) {
			ft_rx(&w->e, w->rx.p, w->len, w->rx.desc, ctx);
			if (i + 1 >= window)
				ft_wait_rx(&w->e, w->e.rx_posted - (uint64_t) window + 1);
		} else {
			if (i >= window)
				ft_wait_tx(&w->e, w->e.tx_posted - (uint64_t) window + 1);
			ft_tx(&w->e, ft->tx.p, w->len, ft->tx.desc, ctx);
		}
	}
	if (ft->server)
		ft_wait_rx(&w->e, w->e.rx_posted);
	else
		ft_wait_tx(&w->e, w->e.tx_posted);
}

static void *thread_work(void *arg)
{
	one_way(arg);
	return NULL;
}

static void all_one_way(size_t len, int iters)
{
	for (int i = 0; i < threads; i++) {
		workers[i].len = len;
		workers[i].iters = iters;
		if (pthread_create(&workers[i].thread, NULL, thread_work, &workers[i]))
			ft_fail("cannot start thread %d", i);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
}

static void threads_step(struct ft *ft, struct ft_ep *e, struct ft_figure *f)
{
	uint64_t start;

	(void) e;
	if (ft->opt.verify)
		ft_fill(ft->tx.p, f->len, 1);
	if (ft->opt.warmup)
		all_one_way(f->len, ft->opt.warmup);
	ft_sync(ft);
	start = ft_now_ns();
	all_one_way(f->len, f->iters);
	ft_sync(ft);
	f->total_s = (double) (ft_now_ns() - start) / 1e9;
	f->xfers = (double) f->iters * threads;
	for (int i = 0; ft->opt.verify && ft->server && i < threads; i++)
		ft_verify(workers[i].rx.p, f->len, 1, "message");
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Benchmark: bandwidth of several threads (-C, 2), an endpoint each.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .bench = true, .no_link = true,
		.threads = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	threads = ft.opt.count ? ft.opt.count : 2;
	threads = threads > MOST ? MOST : threads;
	for (int i = 0; i < threads; i++) {
		ft_link(&ft, &workers[i].e);
		ft_buf_open(&ft, &workers[i].rx, ft.rx.len, 0);
		workers[i].ctx = calloc((size_t) ft.opt.window, sizeof(*workers[i].ctx));
	}
	ft_bench_run(&ft, FT_STREAM, threads_step);
	ft_sync(&ft);
	for (int i = 0; i < threads; i++) {
		ft_buf_close(&workers[i].rx);
		ft_ep_close(&workers[i].e);
		free(workers[i].ctx);
	}
	return ft_end(&ft);
}
