/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dgram.h - what datagram endpoints (unreliable datagram queue pairs) have beside the
 * rest: names, peers, and room for what the device puts before a datagram.
 *
 * A name is an IP address and a port, or the queue pair itself (ud.h).  Which queue pair
 * the former stands for is asked of its owner, by librdmacm, when the first datagram goes
 * there; who sends it waits, and nobody else.  A thread of the process asks, and answers such
 * questions, so that nobody waits for a program to make progress.
 *
 * With FI_SOURCE the header of a datagram says where it comes from: a port and a queue pair.
 * Where nobody has spoken to these yet, the entries of the av that may be it are asked
 * first, and the datagram waits for their answer, a second at most.
 */
#ifndef VRB_DGRAM_H
#define VRB_DGRAM_H

#include "base/list.h"
#include "ep.h"

#define VRB_GRH 40		/* bytes before each datagram that arrives */
#define VRB_DGRAM_SGE 2		/* pieces for it, and for what a buffer has no room for */
#define VRB_UNKNOWN_MAX 16

struct vrb_query;
struct vrb_resolver;
struct vrb_ud;

/* Where a queue pair is. */
struct vrb_qp_addr {
	uint64_t gid[2];		/* 0: within an InfiniBand subnet, by @lid */
	uint32_t qpn;
	uint16_t lid;
};

struct vrb_peer {
	struct ibv_ah *ah;		/* NULL: not known */
	uint32_t qpn, qkey;
	struct mlx5_av av;		/* mlx5 directly: all of it */
	fi_addr_t addr;
	int err;			/* why it is not, to be told to who sends next */
	struct vrb_query *q;		/* it is asked for */
	struct list node;		/* while it is: on dgram->asked */
	struct vrb_qp_addr at;
	bool in_sources;			/* FI_SOURCE: found by @at */
	struct vrb_peer *next;		/* placed: of those with the same hash of @at */
};

struct vrb_dgram {
	struct vrb_ep *ep;
	struct vrb_ud *ud;		/* called by its queue pair; NULL: by IP address and port */
	struct hmap peers;		/* fi_addr_t -> struct vrb_peer */
	struct vrb_peer *last;		/* that something was sent to */
	fi_addr_t last_addr;
	uint32_t max;			/* bytes of a datagram */
	char *discard;			/* the device writes there what nobody reads */
	char *grhs;			/* FI_SOURCE: behind it, a header for each receive; or NULL */
	struct ibv_mr *discard_mr;

	struct vrb_resolver *resolver;	/* of its group, while it is open */
	struct list node;		/* on asker->dgrams */
	struct list queries;		/* peers, oldest first */
	struct hmap sources;		/* FI_SOURCE: hash of a place -> struct vrb_peer */
	struct list deferred;		/* struct parked, oldest first */
	unsigned deferred_cnt;
	struct {			/* who are in no av, for a while */
		struct vrb_qp_addr at;
		uint64_t until_ns;
	} unknown[VRB_UNKNOWN_MAX];
	unsigned unknown_next;		/* that is replaced next */
};

extern const struct obj_cm_ops vrb_dgram_cm_ops;

/* ---- datagram/dgram.c ----------------------------------------------------------------- */

/* vrb_dgram_init, vrb_dgram_free - ep->dgram.  Errors: -FI_ENOMEM. */
int vrb_dgram_init(struct vrb_ep *ep);
void vrb_dgram_free(struct vrb_ep *ep);

/* vrb_dgram_enable - as obj_ep_ops.enable. */
int vrb_dgram_enable(struct obj_ep *base);

/* vrb_dgram_close - the queue pair and the name go.  Threading: locked. */
void vrb_dgram_close(struct vrb_ep *ep);

/* vrb_dgram_revive - a request failed: have the queue go on. */
void vrb_dgram_revive(struct vrb_ep *ep, const struct vrb_wc *wc);

/* vrb_dgram_recv_sge - put what the device wants around the pieces of a receive.
 * Returns their number.
 */
unsigned vrb_dgram_recv_sge(struct vrb_ep *ep, struct vrb_rx *rx, struct ibv_sge *sge, unsigned cnt);

/* ---- datagram/peer.c -------------------------------------------------------------------- */

/* vrb_peers_open, vrb_peers_close - @dg can have peers.  Threading: locked.
 * Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int vrb_peers_open(struct vrb_dgram *dg);
void vrb_peers_close(struct vrb_dgram *dg);

/* vrb_dgram_removed, vrb_dgram_inserted - as obj_ep_ops.av_removed and av_inserted. */
void vrb_dgram_removed(struct obj_ep *base, fi_addr_t addr);
void vrb_dgram_inserted(struct obj_ep *base);

/* vrb_dgram_resolve - find out about a peer; waits for its answer, ten seconds at most.
 * @peer_p: [in] what is known of it, or NULL; [out] what can be sent to
 * Threading: locked, but not while it waits.
 * Errors: -FI_EINVAL: no such address (any more).  -FI_EHOSTUNREACH: nobody is there
 *         (logged); the next call asks again.  -FI_ENOMEM and the device's.
 */
int vrb_dgram_resolve(struct vrb_ep *ep, fi_addr_t addr, struct vrb_peer **peer_p);

/* vrb_dgram_received - complete a receive, with its source, now or when that is known.
 * @rx: the oldest, as it was
 */
void vrb_dgram_received(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc);

/* vrb_dgram_to - address a request.  Threading: locked. */
static inline int vrb_dgram_to(struct vrb_ep *ep, fi_addr_t addr, struct vrb_wr *wr)
{
	struct vrb_dgram *dg = ep->dgram;
	struct vrb_peer *peer = addr == dg->last_addr ? dg->last : hmap_find(&dg->peers, addr);
	int ret;

	if (__builtin_expect(!peer || !peer->ah, 0)) {
		ret = vrb_dgram_resolve(ep, addr, &peer);
		if (ret)
			return ret;
	}
	dg->last = peer;
	dg->last_addr = addr;
	wr->ah = peer->ah;
	wr->qpn = peer->qpn;
	wr->qkey = peer->qkey;
	wr->av = &peer->av;
	return 0;
}

#endif
