/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/xpu.h"

/* The host's own calls are those of a program of one thread, as in the other benchmarks; the
 * device has a domain of its own, which has real locks.
 */
static void in_order(struct fi_info *hints)
{
	hints->tx_attr->msg_order = FI_ORDER_WAW;
}

static const struct ft_test test = {
	.about = "Benchmark: data and a signal put by code of a device (threads here), beside the host's calls.",
	.ep_type = FI_EP_RDM, .fixed_type = true, .bench = true, .iters = 2000, .tune = in_order,
	.caps = FI_MSG | FI_RMA | FI_ATOMIC, .tx_flags = FI_DELIVERY_COMPLETE,
	.buf_size = 2 * 65536, .sizes = { 8, 4096, 65536 },
};

#ifdef FI_XPU
#include <math.h>
#include <stdlib.h>

#define ONE	FI_XPU_WORK_ITEM
#define HALF	(1 << 20)		/* of the region: what is sent; then what arrives */
#define SIGNAL	(2 * HALF)		/* where the peer counts */
#define LEN	(2 * HALF + 4096)

static const struct ft_col trips[] = {
	{ "bytes", "bytes", 8, 0 }, { "iters", "iters", 8, 0 }, { "device", "device", 9, 2 },
	{ "drained", "drained", 9, 2 }, { "host", "host", 9, 2 }, { "ratio", "device/host", 12, 2 },
	{ "drain_ratio", "drained/device", 15, 2 },
};
static const struct ft_col rates[] = {
	{ "threads", "threads", 8, 0 }, { "iters", "iters", 8, 0 }, { "device", "device/s", 11, 0 },
	{ "host", "host/s", 11, 0 }, { "ratio", "device/host", 12, 2 },
};

/* What the device's code is told. */
static struct {
	bool server, drain;
	size_t len;
	int iters, window;
	uint64_t signals;		/* that have come so far */
	uint32_t *ns;
	uint64_t posted, taken;
} run;

static void must_end(int64_t n)
{
	if (n < 0)
		ft_fail("an operation of the device: %s", fi_strerror((int) -n));
}

/* ---- data and signal, there and back ---- */

static void device_put(struct ft_xpu_device *d)
{
	uint64_t *one = (uint64_t *) (void *) (d->mem + SIGNAL + 64);
	struct fi_cq_tagged_entry done[2];

	*one = 1;
	FT_XPU_POST(fi_xpu_write(&d->ep, d->mem, run.len, &d->desc, 0, &d->peer, d->remote.addr + HALF,
				 d->remote.key, d, run.drain ? FI_DELIVERY_COMPLETE : 0, ONE));
	if (run.drain)
		ft_xpu_take(d, done, 1);
	FT_XPU_POST(fi_xpu_atomic(&d->ep, one, 1, &d->desc, &d->peer, d->remote.addr + SIGNAL,
				  d->remote.key, FI_UINT64, FI_SUM, one, 0, ONE));
	ft_xpu_take(d, done, run.drain ? 1 : 2);
}

static void device_wait(struct ft_xpu_device *d)
{
	const uint64_t *signal = (const uint64_t *) (const void *) (d->mem + SIGNAL);

	run.signals++;
	while (fi_xpu_ring_load(signal) < run.signals)
		fi_xpu_ring_relax();
}

static void device_trips(struct ft_xpu_device *d, int thread)
{
	for (int i = 0; i < run.iters; i++) {
		uint64_t start = ft_now_ns();

		if (run.server)
			device_wait(d);
		device_put(d);
		if (!run.server)
			device_wait(d);
		run.ns[i] = (uint32_t) (ft_now_ns() - start) / 2;
	}
}

static void host_put(struct ft *ft, struct ft_ep *e)
{
	static uint64_t *one;

	one = (uint64_t *) (void *) (ft->tx.p + ft->tx.len - 8);
	*one = 1;
	FT_POST(e, fi_write(e->ep, ft->tx.p, run.len, ft->tx.desc, e->peer, ft->remote.addr,
			    ft->remote.key, &e->rx_ctx));
	FT_POST(e, fi_atomic(e->ep, one, 1, ft->tx.desc, e->peer, ft->remote.addr + ft->remote.len - 64,
			     ft->remote.key, FI_UINT64, FI_SUM, &e->tx_ctx));
	e->tx_posted += 2;
	ft_wait_tx(e, e->tx_posted);
}

static void host_trips(struct ft *ft, struct ft_ep *e, uint64_t *signals)
{
	const uint64_t *signal = (const uint64_t *) (const void *) (ft->rx.p + ft->rx.len - 64);

	for (int i = 0; i < run.iters; i++) {
		uint64_t start = ft_now_ns();

		if (!run.server)
			host_put(ft, e);
		++*signals;
		while (__atomic_load_n(signal, __ATOMIC_ACQUIRE) < *signals)
			fi_cq_read(e->txcq, NULL, 0);
		if (run.server)
			host_put(ft, e);
		run.ns[i] = (uint32_t) (ft_now_ns() - start) / 2;
	}
}

static double median_us(void)
{
	return ft_spread(run.ns, run.iters).p50_us;
}

static double device_median(struct ft *ft, struct ft_xpu *x, bool drain)
{
	ft_sync(ft);
	run.drain = drain;
	ft_xpu_run(x, 1, device_trips);
	return median_us();
}

static void trips_of(struct ft *ft, struct ft_xpu *x, size_t len, uint64_t *host_signals)
{
	double device, drained, host;

	if (len > ft->rx.len - 64 || len > HALF)
		return;
	run.len = len;
	ft_sync(ft);
	host_trips(ft, &ft->ep, host_signals);
	host = median_us();
	device = device_median(ft, x, false);
	drained = device_median(ft, x, true);
	ft_table_row_n(ft, trips, FT_COUNT(trips), len,
		       (double[]) { run.iters, device, drained, host, ft_ratio(device, host),
				    ft_ratio(drained, device) });
}

/* ---- many at once ---- */

/* Posts its share; takes what has completed, of all threads, while the window is full. */
static void device_many(struct ft_xpu_device *d, int thread)
{
	struct fi_cq_tagged_entry done[16];
	uint64_t all = (uint64_t) run.iters, window = (uint64_t) run.window;
	bool mine = false;

	while (__atomic_load_n(&run.taken, __ATOMIC_ACQUIRE) < all) {
		uint64_t posted = __atomic_load_n(&run.posted, __ATOMIC_ACQUIRE);

		if (!mine && posted < all && posted - __atomic_load_n(&run.taken, __ATOMIC_ACQUIRE) < window)
			mine = __atomic_compare_exchange_n(&run.posted, &posted, posted + 1, false,
							   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (mine && fi_xpu_write(&d->ep, d->mem, run.len, &d->desc, 0, &d->peer,
					 d->remote.addr + HALF, d->remote.key, d, 0, ONE) == 0) {
			mine = false;
			continue;
		}
		int64_t n = fi_xpu_cq_read(&d->cq, done, FT_COUNT(done), ONE);
		if (n == -FI_EAGAIN) {
			fi_xpu_ring_relax();
			continue;
		}
		must_end(n);
		__atomic_fetch_add(&run.taken, (uint64_t) n, __ATOMIC_ACQ_REL);
	}
}

static double device_rate(struct ft_xpu *x, int threads)
{
	uint64_t start = ft_now_ns();

	run.posted = run.taken = 0;
	ft_xpu_run(x, threads, device_many);
	return run.iters * 1e9 / (double) (ft_now_ns() - start);
}

static double host_rate(struct ft *ft, struct ft_ep *e)
{
	uint64_t start = ft_now_ns(), window = (uint64_t) run.window;
	struct fi_context2 *ctx = calloc(window, sizeof(*ctx));

	for (int i = 0; i < run.iters; i++) {
		if (e->tx_posted - e->tx_done >= window)
			ft_wait_tx(e, e->tx_posted - window / 2);
		FT_POST(e, fi_write(e->ep, ft->tx.p, run.len, ft->tx.desc, e->peer, ft->remote.addr,
				    ft->remote.key, &ctx[(uint64_t) i % window]));
		e->tx_posted++;
	}
	ft_wait_tx(e, e->tx_posted);
	free(ctx);
	return run.iters * 1e9 / (double) (ft_now_ns() - start);
}

static void rates_of(struct ft *ft, struct ft_xpu *x)
{
	double host = NAN, device;

	run.len = 8;
	run.window = ft->opt.window < (int) ft->info->tx_attr->size ? ft->opt.window :
		     (int) ft->info->tx_attr->size;
	if (ft->server)
		ft_serve(ft);
	else
		host = host_rate(ft, &ft->ep);
	ft_sync(ft);
	for (int threads = 1; threads <= 8; threads *= 2) {
		if (!ft->server) {
			device = device_rate(x, threads);
			ft_table_row_n(ft, rates, FT_COUNT(rates), (size_t) threads,
				       (double[]) { run.iters, device, host, ft_ratio(device, host) });
		}
		ft_sync(ft);
	}
}

int main(int argc, char **argv)
{
	uint64_t host_signals = 0;
	struct ft_xpu x;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (ft.opt.device)
		ft_skip("threads of the host are the device here, and signals are in its memory: without -D");
	ft_xpu_open(&ft, &x, LEN);
	run.server = ft.server;
	run.iters = ft.opt.iters;
	run.ns = calloc((size_t) run.iters, sizeof(*run.ns));
	ft_at("putting data with a signal");
	ft_table_head(&ft, trips, FT_COUNT(trips),
		      "half round trips of data with a signal (usec p50): of the device, with a wait between the two, of the host");
	for (size_t i = 0; i < ft.opt.size_cnt; i++)
		trips_of(&ft, &x, ft.opt.sizes[i], &host_signals);
	ft_at("putting many");
	ft_table_head(&ft, rates, FT_COUNT(rates), "puts of 8 bytes a second by threads of the device, and by the host's one");
	ft_sync(&ft);
	rates_of(&ft, &x);
	free(run.ns);
	ft_xpu_close(&x);
	return ft_end(&ft);
}

#else

int main(int argc, char **argv)
{
	return ft_xpu_none(&test, argc, argv);
}

#endif
