/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * done.h - what the completion of a request or receive does, inlined into the loops that read them:
 * data/poll.c (libibverbs) and mlx5/completions.c (the queue itself).
 *
 * Threading: locked, as for the poller.
 */
#ifndef VRB_DONE_H
#define VRB_DONE_H

#include "ep.h"

#define DONE_INLINE static inline __attribute__((always_inline))

/* vrb_wc_handle - handle any completion: errors, immediate data, shared receives. */
void vrb_wc_handle(struct vrb_poller *p, const struct vrb_wc *wc);

/* vrb_tx_done_slow - vrb_tx_done() of an endpoint whose completions do not take the fast path. */
void vrb_tx_done_slow(const struct vrb_tx *tx);

DONE_INLINE const struct vrb_tx *vrb_tx_of(uint64_t wr_id)
{
	return (const void *) (uintptr_t) wr_id;
}

DONE_INLINE const struct vrb_rx *vrb_rx_of(uint64_t wr_id)
{
	return (const void *) (uintptr_t) (wr_id - VRB_WR_RECV);
}

/* vrb_tx_done - a request was executed; those before it in the ring that were not signalled, too. */
DONE_INLINE void vrb_tx_done(const struct vrb_tx *tx)
{
	struct vrb_ep *ep = tx->ep;

	ep->tx_head = tx->at + 1;
	if (__builtin_expect(!ep->fast_comp, 0))
		vrb_tx_done_slow(tx);
	else if (tx->want)
		obj_cq_write(ep->base.tx_cq, tx->context, tx->flags, 0, NULL, 0, 0, FI_ADDR_NOTAVAIL);
}

/* vrb_rx_done_fast - a message without remote data, of an endpoint with a receive ring whose
 * completions take the fast path.
 */
DONE_INLINE void vrb_rx_done_fast(const struct vrb_rx *rx, size_t len)
{
	struct vrb_ep *ep = rx->ep;

	ep->rx_head++;
	if (rx->want)
		obj_cq_write(ep->base.rx_cq, rx->context, FI_RECV | FI_MSG, len, rx->buf, 0, 0,
			     FI_ADDR_NOTAVAIL);
}

#endif
