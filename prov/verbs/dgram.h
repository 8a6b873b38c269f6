/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dgram.h - datagram endpoints (unreliable datagram queue pairs): names, peers, and buffers for
 * the header that the device writes before each datagram.
 *
 * A name is an IP address and a port, or the queue pair itself (ud.h).  An address and port are
 * resolved to a queue pair when the first datagram is sent there: librdmacm queries the process
 * that has the port (name.h).  Only that send call waits.  A thread of the process sends and
 * answers such queries, so that they need no progress calls of the program.
 *
 * With FI_SOURCE the header of a datagram names its source: a port and a queue pair.  When no
 * known peer has this source, the entries of the address vector that may be it are queried, and
 * the datagram is deferred until they have answered, a second at most.
 */
#ifndef VRB_DGRAM_H
#define VRB_DGRAM_H

#include "base/list.h"
#include "ep.h"

#define VRB_GRH 40		/* bytes of header (GRH or IP) before each received datagram */
#define VRB_DGRAM_SGE 2		/* scatter entries for the header and for what the buffer cannot hold */
#define VRB_UNKNOWN_MAX 16		/* sources remembered as being in no address vector */

struct vrb_query;
struct vrb_resolver;
struct vrb_ud;

/* Where a queue pair is: as peer, and as source of a datagram. */
struct vrb_qp_addr {
	uint64_t gid[2];		/* 0: within an InfiniBand subnet, by @lid */
	uint32_t qpn;
	uint16_t lid;
};

struct vrb_peer {
	struct ibv_ah *ah;		/* NULL: not resolved */
	uint32_t qpn, qkey;
	struct mlx5_av av;		/* mlx5 direct path: the same, in the form of a request */
	fi_addr_t addr;			/* in the address vector */
	int err;			/* why it is not resolved; returned by the next send */
	struct vrb_query *q;		/* in flight, or NULL */
	struct list node;		/* while @q is in flight: on dgram->queries */
	struct vrb_qp_addr at;
	bool in_sources;			/* FI_SOURCE: it is in dgram->sources */
	struct vrb_peer *next;		/* in dgram->sources, with the same hash of @at */
};

struct vrb_dgram {
	struct vrb_ep *ep;
	struct vrb_ud *ud;		/* named by its queue pair; NULL: by IP address and port */
	struct hmap peers;		/* fi_addr_t -> struct vrb_peer */
	struct vrb_peer *last;		/* the last destination, */
	fi_addr_t last_addr;		/* and its address */
	uint32_t max;			/* bytes of the longest datagram */
	char *discard;			/* buffer for headers and excess data; not read */
	char *grhs;			/* FI_SOURCE: behind it, a header per receive slot */
	struct ibv_mr *discard_mr;

	struct vrb_resolver *resolver;	/* of its group; NULL before enable, or with @ud */
	struct list node;		/* on resolver->dgrams */
	struct list queries;		/* struct vrb_peer with a query in flight, oldest first */
	struct hmap sources;		/* FI_SOURCE: hash of a queue pair address -> struct vrb_peer */
	struct list deferred;		/* struct deferred, oldest first */
	unsigned deferred_cnt;
	struct {			/* sources that are in no address vector, */
		struct vrb_qp_addr at;
		uint64_t until_ns;	/* until then */
	} unknown[VRB_UNKNOWN_MAX];
	unsigned unknown_next;		/* index of the entry that is replaced next */
};

extern const struct obj_cm_ops vrb_dgram_cm_ops;

/* ---- datagram/dgram.c ----------------------------------------------------------- */

/* vrb_dgram_init, vrb_dgram_free - allocate and free ep->dgram.  Errors: -FI_ENOMEM. */
int vrb_dgram_init(struct vrb_ep *ep);
void vrb_dgram_free(struct vrb_ep *ep);

/* vrb_dgram_enable - as obj_ep_ops.enable. */
int vrb_dgram_enable(struct obj_ep *base);

/* vrb_dgram_close - destroy the queue pair and give up the name.  Threading: locked. */
void vrb_dgram_close(struct vrb_ep *ep);

/* vrb_dgram_revive - a request failed: move the queue pair back to RTS. */
void vrb_dgram_revive(struct vrb_ep *ep, const struct vrb_wc *wc);

/* vrb_dgram_recv_sge - add the entries for the header and for excess data to those of a receive.
 * @sge: room for VRB_DGRAM_SGE more than @cnt.   Returns their number.
 */
unsigned vrb_dgram_recv_sge(struct vrb_ep *ep, struct vrb_rx *rx, struct ibv_sge *sge, unsigned cnt);

/* ---- datagram/peer.c ------------------------------------------------------------ */

/* vrb_peers_open, vrb_peers_close - start and end resolving peers of @dg.  Threading: locked.
 * Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int vrb_peers_open(struct vrb_dgram *dg);
void vrb_peers_close(struct vrb_dgram *dg);

/* vrb_dgram_removed, vrb_dgram_inserted - as obj_ep_ops.av_removed and av_inserted. */
void vrb_dgram_removed(struct obj_ep *base, fi_addr_t addr);
void vrb_dgram_inserted(struct obj_ep *base);

/* vrb_dgram_resolve - resolve a peer; waits for the answer, ten seconds at most.
 * @peer_p: [in] the peer if it is known, or NULL; [out] the resolved peer
 * Threading: locked; the lock is released while it waits.
 * Errors: -FI_EINVAL: no such address (any more).  -FI_EHOSTUNREACH: no answer (logged); the
 *         next call sends a new query.  -FI_ENOMEM, those of the device.
 */
int vrb_dgram_resolve(struct vrb_ep *ep, fi_addr_t addr, struct vrb_peer **peer_p);

/* vrb_dgram_received - complete a receive with its source, at once or when that is known.
 * @rx: copy of the oldest receive in the ring
 */
void vrb_dgram_received(struct vrb_ep *ep, const struct vrb_rx *rx, const struct vrb_wc *wc);

/* vrb_dgram_to - fill in the destination of a request.  Threading: locked. */
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
