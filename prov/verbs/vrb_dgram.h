/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * vrb_dgram.h - what datagram endpoints (unreliable datagram queue pairs) have beside the
 * rest: names, peers, and room for what the device puts before a datagram.
 *
 * A name is an IP address and a port.  Which queue pair it stands for is asked of its
 * owner, by librdmacm, when the first datagram goes there; a thread of the process
 * answers such questions, so that nobody waits for a program to make progress.
 */
#ifndef VRB_DGRAM_H
#define VRB_DGRAM_H

#include "vrb_ep.h"

#define VRB_GRH 40		/* bytes before each datagram that arrives */
#define VRB_FRAME_SGE 2		/* pieces for it, and for what a buffer has no room for */

struct vrb_peer {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

struct vrb_dgram {
	struct hmap peers;		/* fi_addr_t -> struct vrb_peer */
	struct vrb_peer *last;		/* that something was sent to */
	fi_addr_t last_addr;
	uint32_t max;			/* bytes of a datagram */
	char *waste;			/* the device writes there what nobody reads */
	struct ibv_mr *waste_mr;
};

extern struct fi_ops_cm vrb_dgram_cm_ops;

/* vrb_dgram_init, vrb_dgram_free - ep->dgram.  Errors: -FI_ENOMEM. */
int vrb_dgram_init(struct vrb_ep *ep);
void vrb_dgram_free(struct vrb_ep *ep);

/* vrb_dgram_enable - as obj_ep_ops.enable. */
int vrb_dgram_enable(struct obj_ep *base);

/* vrb_dgram_close - the queue pair and the name go.  Threading: locked. */
void vrb_dgram_close(struct vrb_ep *ep);

/* vrb_dgram_removed - as obj_ep_ops.av_removed. */
void vrb_dgram_removed(struct obj_ep *base, fi_addr_t addr);

/* vrb_dgram_resolve - find out about a peer; waits for its answer.
 * Errors: -FI_EINVAL: no such address.  -FI_EHOSTUNREACH: nobody is there (logged).
 *         -FI_ENOMEM and the device's.
 */
int vrb_dgram_resolve(struct vrb_ep *ep, fi_addr_t addr, struct vrb_peer **peer_p);

/* vrb_dgram_revive - a request failed: have the queue go on. */
void vrb_dgram_revive(struct vrb_ep *ep, const struct vrb_wc *wc);

/* vrb_dgram_frame - put what the device wants around the pieces of a receive.
 * Returns their number.
 */
unsigned vrb_dgram_frame(struct vrb_ep *ep, struct vrb_rx *rx, struct ibv_sge *sge, unsigned cnt);

/* vrb_dgram_to - address a request.  Threading: locked. */
static inline int vrb_dgram_to(struct vrb_ep *ep, fi_addr_t addr, struct vrb_wr *wr)
{
	struct vrb_dgram *dg = ep->dgram;
	struct vrb_peer *peer = addr == dg->last_addr ? dg->last : hmap_find(&dg->peers, addr);
	int ret;

	if (__builtin_expect(!peer, 0)) {
		ret = vrb_dgram_resolve(ep, addr, &peer);
		if (ret)
			return ret;
	}
	dg->last = peer;
	dg->last_addr = addr;
	wr->ah = peer->ah;
	wr->qpn = peer->qpn;
	wr->qkey = peer->qkey;
	return 0;
}

#endif
