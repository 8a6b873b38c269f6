/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * posts.h - the code of the device: compiled for the host, whose thread is the device, and for CUDA
 * (posts.cu).  All threads of d->scope call.
 */
#ifndef DEVICES_POSTS_H
#define DEVICES_POSTS_H

#include <rdma/fi_xpu_device.h>

/* What the device has. */
struct device {
	struct fid_xpu_ep ep;
	struct fid_xpu_cq cq;
	struct fid_xpu_cntr cntr;	/* of writes by the peer */
	uint64_t peer, desc, one_desc;
	char *mem;			/* of the device: a half that is sent, a half that arrives */
	uint64_t half;
	const uint64_t *one;		/* of the host: what is added */
	uint64_t addr, key;		/* of the peer's memory */
	uint64_t word_addr, word_key;	/* and of its word, of the host */
	struct fi_cq_tagged_entry done[2];
	/* of this round */
	uint64_t len, round;
	int scope, signal;		/* enum signal */
	uint64_t taken;			/* completions, [out] of await_message() */
};

/* What follows writes, and is seen after them: FI_ORDER_WAW, FI_ORDER_ATOMIC_WAW, FI_ORDER_SAW. */
enum signal { SIGNAL_WRITE, SIGNAL_ATOMIC, SIGNAL_MESSAGE, SIGNAL_CNT };

/* Places behind d->one, and in the peer's words behind its count. */
enum { WORD_WRITTEN = 2, WORD_ROUND = 2, WORD_MESSAGE = 4 };

#define PARTS 4

/* Wait for cnt completions; returns an error of the queue. */
FI_XPU_FUNC int take_done(struct device *d, uint64_t cnt)
{
	int64_t n;

	while (cnt) {
		n = fi_xpu_cq_sread(&d->cq, d->done, cnt, 1, d->scope);
		if (n < 0)
			return (int) n;
		cnt -= (uint64_t) n;
	}
	return 0;
}

/* The write and the atomic behind it count at the peer. */
FI_XPU_FUNC int put_and_signal(struct device *d)
{
	int ret = fi_xpu_write(&d->ep, d->mem, d->len, &d->desc, 0, &d->peer, d->addr + d->half, d->key, 0, 0,
			       d->scope);

	if (!ret)
		ret = fi_xpu_atomic(&d->ep, d->one, 1, &d->one_desc, &d->peer, d->word_addr, d->word_key,
				    FI_UINT64, FI_SUM, 0, FI_DELIVERY_COMPLETE, d->scope);
	if (!ret)
		ret = take_done(d, 2);
	if (!ret)
		fi_xpu_cntr_wait(&d->cntr, 2 * d->round, -1, d->scope);
	return ret;
}

FI_XPU_FUNC int send_and_receive(struct device *d)
{
	int ret = fi_xpu_trecv(&d->ep, d->mem + d->half, d->half, &d->desc, 0, d->round, 0, 0, 0, d->scope);

	if (!ret)
		ret = fi_xpu_tsend(&d->ep, d->mem, d->len, &d->desc, 0, &d->peer, d->round, 0, 0, d->scope);
	return ret ? ret : take_done(d, 2);
}

/* For the message of the peer's next round. */
FI_XPU_FUNC int expect_message(struct device *d)
{
	return fi_xpu_trecv(&d->ep, (void *) (d->one + WORD_MESSAGE), sizeof(*d->one), &d->one_desc, 0, d->round, 0,
			    0, 0, d->scope);
}

/* Writes, then the signal; nothing is waited for. */
FI_XPU_FUNC int parts_and_signal(struct device *d)
{
	uint64_t part = d->len / PARTS, i;
	int ret = 0;

	for (i = 0; !ret && i < PARTS; i++)
		ret = fi_xpu_write(&d->ep, d->mem + i * part, part, &d->desc, 0, &d->peer, d->addr + d->half + i * part,
				   d->key, 0, 0, d->scope);
	if (ret)
		return ret;
	if (d->signal == SIGNAL_WRITE)
		return fi_xpu_write(&d->ep, d->one + WORD_ROUND, sizeof(*d->one), &d->one_desc, 0, &d->peer,
				    d->word_addr + WORD_WRITTEN * sizeof(*d->one), d->word_key, 0, 0, d->scope);
	if (d->signal == SIGNAL_ATOMIC)
		return fi_xpu_atomic(&d->ep, d->one, 1, &d->one_desc, &d->peer, d->word_addr, d->word_key, FI_UINT64,
				     FI_SUM, 0, 0, d->scope);
	return fi_xpu_tsend(&d->ep, d->one + WORD_ROUND, sizeof(*d->one), &d->one_desc, 0, &d->peer, d->round, 0, 0,
			    d->scope);
}

/* Until the message has come; own completions may come before it. */
FI_XPU_FUNC int await_message(struct device *d)
{
	uint64_t taken = 0, flags = 0;
	int64_t n;

	while (!(flags & FI_RECV)) {
		n = fi_xpu_cq_sread(&d->cq, d->done, 1, 1, d->scope);
		if (n < 0)
			return (int) n;
		flags = d->done[0].flags;
		taken++;
	}
	d->taken = taken;
	return 0;
}

/* The rest of the completions of a round. */
FI_XPU_FUNC int take_rest(struct device *d)
{
	uint64_t all = PARTS + (d->signal == SIGNAL_MESSAGE ? 2 : 1), i;
	int ret = 0;

	for (i = d->taken; !ret && i < all; i++)
		ret = take_done(d, 1);
	return ret;
}

#endif
