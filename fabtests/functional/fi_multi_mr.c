/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

#define REGIONS	16
#define LEN	512

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: RMA writes into several regions, each by its own key.",
		.caps = FI_MSG | FI_RMA,
	};
	struct ft_buf buf[REGIONS];
	struct ft_remote mine[REGIONS], theirs[REGIONS];
	struct ft_ep *e;
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	e = &ft.ep;
	for (int i = 0; i < REGIONS; i++) {
		ft_buf_open(&ft, &buf[i], LEN, FI_REMOTE_WRITE | FI_REMOTE_READ);
		mine[i] = (struct ft_remote) { buf[i].addr, buf[i].key, LEN };
	}
	ft_ctl_swap(&ft, mine, theirs, sizeof(mine));
	for (int i = 0; i < REGIONS; i++) {
		ft_fill(ft.tx.p, LEN, (uint64_t) i);
		FT_POST(e, fi_write(e->ep, ft.tx.p, LEN, ft.tx.desc, e->peer, theirs[i].addr,
				    theirs[i].key, &e->tx_ctx));
		ft_wait_tx(e, ++e->tx_posted);
		/* Only a read proves that the write has reached the memory. */
		FT_POST(e, fi_read(e->ep, ft.rx.p, LEN, ft.rx.desc, e->peer, theirs[i].addr,
				   theirs[i].key, &e->rx_ctx));
		ft_wait_tx(e, ++e->tx_posted);
		ft_verify(ft.rx.p, LEN, (uint64_t) i, "region read back");
	}
	/* The peer's reads need this side's progress. */
	ft_pingpong(e, 16, 1, NULL);
	for (int i = 0; i < REGIONS; i++) {
		ft_verify(buf[i].p, LEN, (uint64_t) i, "region");
		ft_buf_close(&buf[i]);
	}
	return ft_end(&ft);
}
