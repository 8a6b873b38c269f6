/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/xpu.h"

static const struct ft_test test = {
	.about = "Test: messages, RMA, atomics, queues and counters of a device; threads are the device.",
	.ep_type = FI_EP_RDM, .fixed_type = true, .iters = 20,
};

#ifdef FI_XPU
#include <string.h>

#define ONE		FI_XPU_WORK_ITEM
#define MOST	65536
#define HALF		(MOST + 4096)	/* of the region: what is sent; then what arrives */
#define SIGNAL		(2 * HALF)		/* where the peer counts */
#define BACK		(2 * HALF + 64)		/* where results of atomics arrive */
#define LEN		(2 * HALF + 4096)
#define FLOOD		3000			/* operations, more than any ring holds */

static const size_t sizes[] = { 0, 1, 8, 1024, 4096, 16384, MOST };
static int iters;
static bool server;

/* What comes in at the peer is counted in its memory. */
static uint64_t *signal_of(struct ft_xpu_device *d)
{
	return (uint64_t *) (void *) (d->mem + SIGNAL);
}

static void signal_wait(struct ft_xpu_device *d, uint64_t value)
{
	while (fi_xpu_ring_load(signal_of(d)) < value)
		fi_xpu_ring_relax();
}

static void signal_peer(struct ft_xpu_device *d)
{
	uint64_t *one = (uint64_t *) (void *) (d->mem + BACK + 512);

	*one = 1;
	FT_XPU_POST(fi_xpu_atomic(&d->ep, one, 1, &d->desc, &d->peer, d->remote.addr + SIGNAL,
				  d->remote.key, FI_UINT64, FI_SUM, one, FI_DELIVERY_COMPLETE, ONE));
}

/* ---- messages ---- */

static void send_message(struct ft_xpu_device *d, size_t len, uint64_t seed, bool tagged)
{
	struct fi_cq_tagged_entry done;

	ft_fill(d->mem, len, seed);
	if (tagged)
		FT_XPU_POST(fi_xpu_tsend(&d->ep, d->mem, len, &d->desc, seed, &d->peer, FT_TAG + seed,
					 d, FI_REMOTE_CQ_DATA, ONE));
	else
		FT_XPU_POST(fi_xpu_send(&d->ep, d->mem, len, &d->desc, 0, &d->peer, d, 0, ONE));
	ft_xpu_take(d, &done, 1);
	FT_WANT(done.op_context == d && done.flags & FI_SEND, "another operation completed");
}

static void take_message(struct ft_xpu_device *d, size_t len, uint64_t seed, bool tagged)
{
	struct fi_cq_tagged_entry done;
	char *in = d->mem + HALF;

	if (tagged)
		FT_XPU_POST(fi_xpu_trecv(&d->ep, in, MOST, &d->desc, NULL, FT_TAG + seed, 0, in, 0,
					 ONE));
	else
		FT_XPU_POST(fi_xpu_recv(&d->ep, in, MOST, &d->desc, &d->peer, in, 0, ONE));
	ft_xpu_take(d, &done, 1);
	FT_WANT(done.op_context == in && done.flags & FI_RECV && done.len == len,
		"%zu bytes came where %zu were sent", done.len, len);
	FT_WANT(!tagged || (done.tag == FT_TAG + seed && done.data == seed),
		"tag %#llx, data %llu of message %llu", (unsigned long long) done.tag,
		(unsigned long long) done.data, (unsigned long long) seed);
	ft_verify(in, len, seed, "message to a device");
}

static void run_messages(struct ft_xpu_device *d, int thread)
{
	uint64_t seed = 0;

	for (size_t s = 0; s < 2 * FT_COUNT(sizes); s++)
		for (int i = 0; i < iters; i++, seed++) {
			size_t len = sizes[s / 2];

			if (!server)
				send_message(d, len, seed, s & 1);
			take_message(d, len, seed, s & 1);
			if (server)
				send_message(d, len, seed, s & 1);
		}
}

/* ---- data and signal ---- */

/* Nothing waits between the write and the atomic: who sees the signal sees the data. */
static void put_with_signal(struct ft_xpu_device *d, size_t len, uint64_t seed)
{
	struct fi_cq_tagged_entry done[2];

	ft_fill(d->mem, len, seed);
	FT_XPU_POST(fi_xpu_write(&d->ep, d->mem, len, &d->desc, 0, &d->peer, d->remote.addr + HALF,
				 d->remote.key, d, 0, ONE));
	signal_peer(d);
	ft_xpu_take(d, done, 2);
}

static void swap_puts(struct ft_xpu_device *d, int thread)
{
	uint64_t seed = 0, was = fi_xpu_cntr_read(&d->cntr, ONE);

	for (size_t s = 0; s < FT_COUNT(sizes); s++)
		for (int i = 0; i < iters; i++, seed++) {
			if (!server)
				put_with_signal(d, sizes[s], seed);
			signal_wait(d, seed + 1);
			ft_verify(d->mem + HALF, sizes[s], seed, "data before its signal");
			if (server)
				put_with_signal(d, sizes[s], seed);
		}
	fi_xpu_cntr_wait(&d->cntr, was + 2 * seed, 10000, ONE);
	FT_IS((ssize_t) fi_xpu_cntr_read(&d->cntr, ONE), (ssize_t) (was + 2 * seed));
	FT_IS((ssize_t) fi_xpu_cntr_readerr(&d->cntr, ONE), 0);
}

/* ---- reading, and atomics with a result ---- */

static uint64_t fetch_cell(struct ft_xpu_device *d, enum fi_op op, uint64_t value, uint64_t compare)
{
	uint64_t *cell = (uint64_t *) (void *) (d->mem + BACK);
	struct fi_cq_tagged_entry done;

	cell[0] = value;
	cell[1] = compare;
	if (op == FI_CSWAP)
		FT_XPU_POST(fi_xpu_compare_atomic(&d->ep, cell, 1, &d->desc, cell + 1, &d->desc, cell + 2,
						  &d->desc, &d->peer, d->remote.addr + SIGNAL + 8,
						  d->remote.key, FI_UINT64, op, cell, 0, ONE));
	else
		FT_XPU_POST(fi_xpu_fetch_atomic(&d->ep, cell, 1, &d->desc, cell + 2, &d->desc, &d->peer,
						d->remote.addr + SIGNAL + 8, d->remote.key, FI_UINT64, op,
						cell, 0, ONE));
	ft_xpu_take(d, &done, 1);
	FT_WANT(done.op_context == cell, "another operation completed");
	return cell[2];
}

static void fetch_results(struct ft_xpu_device *d, int thread)
{
	struct fi_cq_tagged_entry done;

	for (uint64_t i = 0; i < 10; i++)
		FT_IS((ssize_t) fetch_cell(d, FI_SUM, 3, 0), (ssize_t) (3 * i));
	FT_IS((ssize_t) fetch_cell(d, FI_CSWAP, 7, 30), 30);
	FT_IS((ssize_t) fetch_cell(d, FI_CSWAP, 9, 30), 7);
	FT_IS((ssize_t) fetch_cell(d, FI_ATOMIC_READ, 0, 0), 7);
	/* what the peer's device wrote last lies in its outgoing half still */
	FT_XPU_POST(fi_xpu_read(&d->ep, d->mem + HALF, 1024, &d->desc, &d->peer, d->remote.addr,
				d->remote.key, d, 0, ONE));
	ft_xpu_take(d, &done, 1);
	FT_WANT(done.op_context == d && done.flags & FI_READ, "another operation completed");
	FT_WANT(!memcmp(d->mem + HALF, d->mem, 1024), "what was read is not what the peer has");
}

/* ---- many, and wrong ones ---- */

static void flood_ring(struct ft_xpu_device *d, int thread)
{
	struct fi_cq_tagged_entry done[64];
	uint64_t posted = 0, taken = 0, full = 0;

	while (taken < FLOOD) {
		int ret = posted == FLOOD ? -FI_EAGAIN :
			  fi_xpu_write(&d->ep, d->mem, 8, &d->desc, 0, &d->peer, d->remote.addr + HALF,
				       d->remote.key, d, 0, ONE);
		int64_t n;

		posted += ret == 0;
		full += ret == -FI_EAGAIN;
		if (ret != -FI_EAGAIN) {
			FT_TRY(ret);
			continue;
		}
		n = fi_xpu_cq_read(&d->cq, done, FT_COUNT(done), ONE);
		FT_WANT(n > 0 || n == -FI_EAGAIN, "fi_xpu_cq_read: %s", fi_strerror((int) -n));
		taken += n > 0 ? (uint64_t) n : 0;
	}
	FT_WANT(full, "%d operations fit into the ring", FLOOD);
}

/* The key is that of no region, and the address that of no peer: an error entry each. */
static void post_wrong(struct ft_xpu_device *d, int thread)
{
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry done;
	uint64_t stranger = 0x7777;

	FT_XPU_POST(fi_xpu_read(&d->ep, d->mem, 8, &d->desc, &d->peer, d->remote.addr,
				d->remote.key + 0x1111, d, 0, ONE));
	FT_IS(fi_xpu_cq_sread(&d->cq, &done, 1, 1, ONE), -FI_EAVAIL);
	FT_IS(fi_xpu_cq_readerr(&d->cq, &err, 0, ONE), 1);
	FT_WANT(err.op_context == d && err.err, "an error entry of another operation");
	FT_XPU_POST(fi_xpu_send(&d->ep, d->mem, 8, &d->desc, 0, &stranger, d, 0, ONE));
	FT_IS(fi_xpu_cq_sread(&d->cq, &done, 1, 1, ONE), -FI_EAVAIL);
	FT_IS(fi_xpu_cq_readerr(&d->cq, &err, 0, ONE), 1);
	FT_IS(err.err, FI_EINVAL);
}

/* The client's device alone; the server's proxy serves without a call of the host. */
static void run_client(struct ft *ft, struct ft_xpu *x, const char *what,
			 void (*code)(struct ft_xpu_device *d, int thread))
{
	ft_case(what);
	if (!server)
		ft_xpu_run(x, 1, code);
	ft_sync(ft);
}

int main(int argc, char **argv)
{
	struct ft_xpu x;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	server = ft.server;
	iters = ft.opt.iters;
	ft_xpu_open(&ft, &x, LEN);
	ft_at("in code of a device");
	ft_case("messages");
	ft_xpu_run(&x, 1, run_messages);
	ft_sync(&ft);
	ft_case("data with signals");
	ft_xpu_run(&x, 1, swap_puts);
	ft_sync(&ft);
	run_client(&ft, &x, "results", fetch_results);
	run_client(&ft, &x, "a full ring", flood_ring);
	run_client(&ft, &x, "wrong operations", post_wrong);
	ft_case(NULL);
	ft_xpu_close(&x);
	return ft_end(&ft);
}

#else

int main(int argc, char **argv)
{
	return ft_xpu_none(&test, argc, argv);
}

#endif
