/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <string.h>

#include "common/ft.h"

#define CNT	8

/* The client works on the server's uint64 cells; each result is computed here too. */
struct op {
	enum fi_op op;
	const char *name;
};

static const struct op ops[] = {
	{ FI_MIN, "min" }, { FI_MAX, "max" }, { FI_SUM, "sum" }, { FI_PROD, "prod" },
	{ FI_LOR, "lor" }, { FI_LAND, "land" }, { FI_BOR, "bor" }, { FI_BAND, "band" },
	{ FI_LXOR, "lxor" }, { FI_BXOR, "bxor" }, { FI_ATOMIC_WRITE, "write" },
};

static uint64_t apply(enum fi_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case FI_MIN: return a < b ? a : b;
	case FI_MAX: return a > b ? a : b;
	case FI_SUM: return a + b;
	case FI_PROD: return a * b;
	case FI_LOR: return a || b;
	case FI_LAND: return a && b;
	case FI_BOR: return a | b;
	case FI_BAND: return a & b;
	case FI_LXOR: return !a != !b;
	case FI_BXOR: return a ^ b;
	default: return b;
	}
}

static void get(struct ft *ft, struct ft_ep *e, uint64_t *cells)
{
	FT_POST(e, fi_read(e->ep, ft->rx.p, CNT * 8, ft->rx.desc, e->peer, ft->remote.addr,
			   ft->remote.key, &e->rx_ctx));
	ft_wait_tx(e, ++e->tx_posted);
	ft_get(cells, ft->rx.p, CNT * 8);
}

static void base(struct ft *ft, struct ft_ep *e, const struct op *o, uint64_t *cells)
{
	uint64_t *p = (uint64_t *) ft->tx.p, arg[CNT], now[CNT];
	size_t most;

	if (fi_atomicvalid(e->ep, FI_UINT64, o->op, &most))
		return;
	for (int i = 0; i < CNT; i++)
		arg[i] = (uint64_t) i * 0x10001 + (i % 3 ? 3 : 0);
	ft_put(p, arg, sizeof(arg));
	FT_POST(e, fi_atomic(e->ep, p, CNT, ft->tx.desc, e->peer, ft->remote.addr, ft->remote.key,
			     FI_UINT64, o->op, &e->tx_ctx));
	ft_wait_tx(e, ++e->tx_posted);
	get(ft, e, now);
	for (int i = 0; i < CNT; i++) {
		cells[i] = apply(o->op, cells[i], arg[i]);
		FT_WANT(now[i] == cells[i], "%s: cell %d is %#llx, not %#llx", o->name, i,
			(unsigned long long) now[i], (unsigned long long) cells[i]);
	}
}

static void fetch(struct ft *ft, struct ft_ep *e, const struct op *o, uint64_t *cells)
{
	uint64_t *p = (uint64_t *) ft->tx.p, *q = (uint64_t *) (ft->tx.p + 1024), arg[CNT], was[CNT];
	size_t most;

	if (fi_fetch_atomicvalid(e->ep, FI_UINT64, o->op, &most))
		return;
	for (int i = 0; i < CNT; i++)
		arg[i] = (uint64_t) (CNT - i) * 7;
	ft_put(p, arg, sizeof(arg));
	FT_POST(e, fi_fetch_atomic(e->ep, p, CNT, ft->tx.desc, q, ft->tx.desc, e->peer,
				   ft->remote.addr, ft->remote.key, FI_UINT64, o->op, &e->tx_ctx));
	ft_wait_tx(e, ++e->tx_posted);
	ft_get(was, q, sizeof(was));
	for (int i = 0; i < CNT; i++) {
		FT_WANT(was[i] == cells[i], "fetch %s: cell %d was %#llx, not %#llx", o->name, i,
			(unsigned long long) was[i], (unsigned long long) cells[i]);
		cells[i] = apply(o->op, cells[i], arg[i]);
	}
}

static void swap(struct ft *ft, struct ft_ep *e, uint64_t *cells)
{
	uint64_t *p = (uint64_t *) ft->tx.p, arg[3 * CNT], *cmp = arg + CNT, *was = cmp + CNT;
	size_t most;

	if (fi_compare_atomicvalid(e->ep, FI_UINT64, FI_CSWAP, &most))
		return;
	for (int i = 0; i < CNT; i++) {
		arg[i] = (uint64_t) i + 900;
		cmp[i] = cells[i] + (uint64_t) (i % 2);	/* every second one matches */
	}
	ft_put(p, arg, 2 * CNT * sizeof(*arg));
	FT_POST(e, fi_compare_atomic(e->ep, p, CNT, ft->tx.desc, p + CNT, ft->tx.desc, p + 2 * CNT,
				     ft->tx.desc, e->peer, ft->remote.addr, ft->remote.key, FI_UINT64,
				     FI_CSWAP, &e->tx_ctx));
	ft_wait_tx(e, ++e->tx_posted);
	ft_get(was, p + 2 * CNT, CNT * sizeof(*was));
	for (int i = 0; i < CNT; i++) {
		FT_WANT(was[i] == cells[i], "cswap: cell %d was %#llx", i, (unsigned long long) was[i]);
		cells[i] = i % 2 ? cells[i] : arg[i];
	}
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: atomic operations: base, fetching, comparing.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_MSG | FI_RMA | FI_ATOMIC,
		.tx_flags = FI_DELIVERY_COMPLETE,	/* the cells are read back at once */
	};
	uint64_t cells[CNT] = { 0 }, now[CNT];
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	if (!ft.server) {
		for (size_t i = 0; i < FT_COUNT(ops); i++) {
			base(&ft, &ft.ep, &ops[i], cells);
			fetch(&ft, &ft.ep, &ops[i], cells);
		}
		swap(&ft, &ft.ep, cells);
		get(&ft, &ft.ep, now);
		FT_WANT(!memcmp(now, cells, sizeof(now)), "the cells are not what the operations make of them");
	}
	if (ft.server) {	/* progress for the client's operations */
		ft_rx(&ft.ep, ft.tx.p, 64, ft.tx.desc, &ft.ep.rx_ctx);
		ft_wait_rx(&ft.ep, ft.ep.rx_posted);
	} else {
		ft_send(&ft.ep, 8);
	}
	return ft_end(&ft);
}
