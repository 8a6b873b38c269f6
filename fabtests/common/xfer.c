/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* Messages, and the bytes in them. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "ft.h"

bool ft_size_ok(const struct ft *ft, size_t len)
{
	return len <= ft->info->ep_attr->max_msg_size - ft->prefix_len;
}

/* Every byte depends on its position and on the message's number, so that a shifted, old or
 * foreign message is detected.
 */
static void fill_bytes(uint8_t *b, size_t len, uint64_t seed)
{
	uint32_t x = (uint32_t) seed * 2654435761u + 97;

	for (size_t i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		b[i] = (uint8_t) (x >> 24);
	}
}

static void verify_bytes(const uint8_t *b, size_t len, uint64_t seed, const char *what)
{
	uint32_t x = (uint32_t) seed * 2654435761u + 97;

	for (size_t i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		if (b[i] != (uint8_t) (x >> 24))
			ft_fail("%s %llu of %zu bytes: byte %zu is %#x, not %#x", what,
				(unsigned long long) seed, len, i, b[i], (uint8_t) (x >> 24));
	}
}

static void *alloc_temporary(size_t len)
{
	void *p = malloc(len ? len : 1);

	if (!p)
		ft_fail("out of memory");
	return p;
}

void ft_put(void *to, const void *from, size_t len)
{
	if (!device_holds(to))
		memcpy(to, from, len);
	else if (!device_put(to, from, len))
		ft_fail("the device does not take %zu bytes", len);
}

void ft_get(void *to, const void *from, size_t len)
{
	if (!device_holds(from))
		memcpy(to, from, len);
	else if (!device_get(to, from, len))
		ft_fail("the device does not give %zu bytes", len);
}

void ft_fill(void *p, size_t len, uint64_t seed)
{
	uint8_t *copy;

	if (!device_holds(p)) {
		fill_bytes(p, len, seed);
		return;
	}
	copy = alloc_temporary(len);
	fill_bytes(copy, len, seed);
	ft_put(p, copy, len);
	free(copy);
}

void ft_verify(const void *p, size_t len, uint64_t seed, const char *what)
{
	uint8_t *copy;

	if (!device_holds(p)) {
		verify_bytes(p, len, seed, what);
		return;
	}
	copy = alloc_temporary(len);
	ft_get(copy, p, len);
	verify_bytes(copy, len, seed, what);
	free(copy);
}

void ft_tx(struct ft_ep *e, const void *p, size_t len, void *desc, void *ctx)
{
	size_t prefix = e->ft->prefix_len;

	p = (const char *) p - prefix;
	if (e->ft->opt.tagged)
		FT_POST(e, fi_tsend(e->ep, p, len + prefix, desc, e->peer, FT_TAG, ctx));
	else
		FT_POST(e, fi_send(e->ep, p, len + prefix, desc, e->peer, ctx));
	e->tx_posted++;
}

void ft_rx(struct ft_ep *e, void *p, size_t len, void *desc, void *ctx)
{
	size_t prefix = e->ft->prefix_len;

	p = (char *) p - prefix;
	if (e->ft->opt.tagged)
		FT_POST(e, fi_trecv(e->ep, p, len + prefix, desc, FI_ADDR_UNSPEC, FT_TAG, 0, ctx));
	else
		FT_POST(e, fi_recv(e->ep, p, len + prefix, desc, FI_ADDR_UNSPEC, ctx));
	e->rx_posted++;
}

static bool uses_inject(const struct ft_ep *e, size_t len)
{
	const struct ft *ft = e->ft;

	return ft->test->bench && !ft->opt.device && !ft->opt.counter && !ft->opt.delivery && !ft->prefix_len &&
	       len <= ft->info->tx_attr->inject_size && len <= ft->opt.max_inject;
}

void ft_send(struct ft_ep *e, size_t len)
{
	struct ft_buf *b = &e->ft->tx;

	if (uses_inject(e, len)) {
		if (e->ft->opt.tagged)
			FT_POST(e, fi_tinject(e->ep, b->p, len, e->peer, FT_TAG));
		else
			FT_POST(e, fi_inject(e->ep, b->p, len, e->peer));
		return;
	}
	ft_tx(e, b->p, len, b->desc, &e->tx_ctx);
	ft_wait_tx(e, e->tx_posted);
}

void ft_recv(struct ft_ep *e, size_t len)
{
	struct ft_buf *b = &e->ft->rx;

	ft_rx(e, b->p, len, b->desc, &e->rx_ctx);
	ft_wait_rx(e, e->rx_posted);
}

static void check_rx(struct ft_ep *e, size_t len, uint64_t seed)
{
	if (e->ft->opt.verify)
		ft_verify(e->ft->rx.p, len, seed, "message");
}

static void make_tx(struct ft_ep *e, size_t len, uint64_t seed)
{
	if (e->ft->opt.verify)
		ft_fill(e->ft->tx.p, len, seed);
}

static void pong_loop(struct ft_ep *e, size_t len, int iters)
{
	struct ft_buf *b = &e->ft->rx;

	ft_rx(e, b->p, len, b->desc, &e->rx_ctx);
	ft_sync(e->ft);
	for (int i = 0; i < iters; i++) {
		ft_wait_rx(e, e->rx_posted);
		check_rx(e, len, (uint64_t) i);
		if (i + 1 < iters)
			ft_rx(e, b->p, len, b->desc, &e->rx_ctx);
		make_tx(e, len, (uint64_t) i + 1000000);
		ft_send(e, len);
	}
}

static void ping_loop(struct ft_ep *e, size_t len, int iters, uint32_t *ns_p)
{
	struct ft_buf *b = &e->ft->rx;
	uint64_t start;

	ft_sync(e->ft);
	for (int i = 0; i < iters; i++) {
		make_tx(e, len, (uint64_t) i);
		start = ft_now_ns();
		ft_rx(e, b->p, len, b->desc, &e->rx_ctx);
		ft_send(e, len);
		ft_wait_rx(e, e->rx_posted);
		if (ns_p)
			ns_p[i] = (uint32_t) (ft_now_ns() - start);
		check_rx(e, len, (uint64_t) i + 1000000);
	}
}

void ft_pingpong(struct ft_ep *e, size_t len, int iters, uint32_t *ns_p)
{
	ft_at("in a ping-pong");
	if (e->ft->server)
		pong_loop(e, len, iters);
	else
		ping_loop(e, len, iters, ns_p);
}

void ft_pingpong_all(struct ft *ft, struct ft_ep *e)
{
	int done = 0;

	for (size_t i = 0; i < ft->opt.size_cnt; i++) {
		if (!ft_size_ok(ft, ft->opt.sizes[i]))
			continue;
		ft_pingpong(e, ft->opt.sizes[i], ft->opt.iters, NULL);
		done++;
	}
	if (!done)
		ft_skip("no message size of -S is within this endpoint's limit of %zu bytes",
			ft->info->ep_attr->max_msg_size);
}
