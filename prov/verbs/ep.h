/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.h - domains, connected endpoints, and what polls them.
 *
 * A queue pair and its rings of requests are guarded by the lock of the endpoint's
 * progress group; its cm id and its state by the lock of the fabric's group of
 * listeners, where all connection events arrive.  Where both are held, the latter is
 * taken first.
 */
#ifndef VRB_EP_H
#define VRB_EP_H

#include <stdatomic.h>

#include "base/hmap.h"
#include "base/pool.h"
#include "doorbell.h"
#include "mlx5_dv.h"
#include "base/net_addr.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/fabric.h"
#include "obj/mr.h"
#include "obj/ops.h"
#include "obj/pep.h"
#include "provider.h"
#include "sa.h"

struct vrb_fabric {
	struct obj_fabric base;		/* first */
	struct obj_auto *autop;		/* drives connections, for domains with automatic progress;
					 * guarded by the lock of the listeners' group */
};

struct vrb_domain {
	struct obj_domain base;		/* first */
	struct ibv_context *ctx;	/* librdmacm's */
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	bool direct;			/* requests go straight into the device's queues */
	bool odp;			/* the device fetches pages when it needs them */
	uint64_t clock_khz;		/* of the times that the device can put to completions; 0: none */
	struct vrb_xrcd *xrcd;		/* NULL: its connected endpoints are no XRC ones */
	unsigned xrc_inline;		/* of their queue pairs, once */
	bool xrc_probed;
};

/* Completions of all endpoints of one group, in one queue as long as it has room. */
struct vrb_poller {
	struct obj_poller base;		/* first; its fd is that of @channel */
	struct vrb_domain *domain;
	struct ibv_comp_channel *channel;
	struct vrb_cq *cqs;
	struct vrb_mlx5_group mlx5;	/* what its direct queue pairs share */
	struct hmap eps;		/* queue pair number -> struct vrb_ep, those with shared receives */
	struct hmap inis;		/* struct vrb_ini, by the hosts' addresses */
};

/* A request that the device has. */
struct vrb_tx {
	void *context;
	struct vrb_ep *ep;		/* for good */
	uint32_t flags;			/* of its completion */
	uint32_t len;
	unsigned at;			/* how many were before it, ever */
	uint8_t cntr;			/* enum obj_ep_cntr */
	bool want;			/* a success is reported */
};
_Static_assert(!((FI_SEND | FI_WRITE | FI_READ | FI_MSG | FI_RMA | FI_ATOMIC) >> 32),
	       "the flags of a completion fit");

struct vrb_rx {
	void *context;
	void *buf;
	struct vrb_ep *ep;		/* endpoint, for good; or shared receive context */
	uint32_t room;			/* of the program's for a datagram; connected: no matter */
	uint8_t grh_len;			/* bytes that the device puts before a datagram */
	bool want;
};

enum vrb_id_kind {
	VRB_ID_EP,
	VRB_ID_PEP,
};

/* What rdma_cm_id.context points to: the beginning of an endpoint's cm part. */
struct vrb_id {
	enum vrb_id_kind kind;
	struct rdma_cm_id *id;		/* NULL: none yet, or gone */
};

/* A connection request, from its event until it is answered: the transport's part of
 * struct obj_connreq.
 */
struct vrb_connreq {
	struct rdma_cm_id *id;		/* NULL once an endpoint was opened for it, which has it then */
	struct obj_prog *prog;		/* the group whose lock guards it */
	uint8_t responder, initiator;	/* reads and atomics in flight that the peer asks for */
	struct vrb_xrc_req *xrc;		/* what an XRC endpoint sent besides, or NULL */
};

struct vrb_ep {
	struct obj_ep base;		/* first */
	struct vrb_domain *domain;
	struct vrb_poller *poller;	/* from enable on */
	struct vrb_cq *cq;
	union {
		struct vrb_sq sq;
		struct mlx5_qp mlx5;	/* begins with it */
	};
	bool direct;			/* it is @mlx5 */
	struct ibv_qp *qp;		/* == sq.qp; NULL before enable */
	struct vrb_dgram *dgram;	/* NULL: a connected endpoint */
	struct vrb_xrc *xrc;		/* NULL: it has a queue pair of its own; else @qp is NULL */
	struct ibv_srq *srq;		/* our own as shared receive context */
	struct mlx5_srq mlx5_srq;	/* with it, if we write it ourselves */

	struct vrb_tx *tx;		/* ring; requests complete in order */
	unsigned tx_head, tx_tail;	/* count up for ever */
	unsigned tx_mask, tx_depth;
	unsigned tx_unsignalled;		/* posted since the last that was signalled */
	unsigned tx_unsignalled_max;
	unsigned max_inline;		/* of the queue pair */
	unsigned inject_size;
	unsigned fast_depth;		/* tx_depth if calls may take the short way, else 0 */
	_Atomic unsigned fast_room;	/* the same while it is connected; read by posts */
	unsigned fast_rx_depth;	/* the same of rx_depth */
	uint32_t fast_inline[2];		/* inline data that goes the short way: of sends, of writes */
	uint64_t fast_flags[2];		/* flags that all calls that go it have: transmits, receives */
	struct ibv_recv_wr recv_wr;	/* of the short way: what is always the same stands there */
	struct ibv_sge recv_sge;
	char *scratch;			/* @stride bytes per request: what cannot be inline, results
					 * that nobody wants; NULL where that cannot happen */
	unsigned stride;
	struct ibv_mr *scratch_mr;

	struct vrb_rx *rx;		/* ring, or with shared receives a pool */
	unsigned rx_head, rx_tail, rx_mask, rx_depth;
	struct pool rx_pool;		/* shared receive context only */
	bool closing;			/* completions are for nobody */
	bool fast_comp;			/* completions are for queues, all there is to say of messages */
	bool failed;			/* the first failure was dealt with */

	/* Connection; see above for the lock. */
	struct vrb_id cm;
	bool resolving;			/* in OBJ_CM_CONNECTING: address, then route are looked up */
	unsigned tries;			/* resolving goes wrong under load: so often again */
	uint8_t param[VRB_CM_DATA];
	size_t param_len;
	union vrb_sa dest;
};

static inline struct vrb_ep *vrb_ep_of(struct fid_ep *fid)
{
	return container_of(obj_ep_of(fid), struct vrb_ep, base);
}

/* vrb_connected - may requests be posted?  Datagram endpoints: from enable on. */
static inline bool vrb_connected(const struct vrb_ep *ep)
{
	return obj_cm_state(&ep->base) == OBJ_CM_CONNECTED;
}

static inline struct vrb_domain *vrb_domain_of(struct obj_domain *base)
{
	return container_of(base, struct vrb_domain, base);
}

/* ---- data/ep.c ------------------------------------------------------------------ */

/* vrb_ep_open, vrb_srx_open - as the domain's calls.  Errors: -FI_EINVAL, -FI_ENOMEM,
 * -FI_EBADFLAGS, and those of librdmacm, logged.
 */
int vrb_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		uint64_t flags, void *context);
int vrb_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep_p,
		 void *context);

/* vrb_ep_drain - let what was posted leave, two seconds at most.  Threading: locked. */
void vrb_ep_drain(struct vrb_ep *ep);

/* vrb_ep_destroy_qp - the one that there is.  Threading: locked. */
void vrb_ep_destroy_qp(struct vrb_ep *ep);

/* vrb_ep_start - the queue pair on ep->cm.id, if it has one, and all it needs, completions included.
 * Threading: locked.   Errors: -FI_ENOMEM and the device's, logged.
 */
int vrb_ep_start(struct vrb_ep *ep);

/* vrb_ep_make_rings, vrb_ep_make_scratch - of it, what needs no queue pair; but max_inline.
 * vrb_ep_free_rings - both.   Errors: -FI_ENOMEM, the device's.
 */
int vrb_ep_make_rings(struct vrb_ep *ep);
int vrb_ep_make_scratch(struct vrb_ep *ep);
void vrb_ep_free_rings(struct vrb_ep *ep);

/* ---- data/post.c ---------------------------------------------------------------- */

/* vrb_post_marker - have the device say when all before is done.  Threading: locked. */
int vrb_post_marker(struct vrb_ep *ep);

/* vrb_recv_general - as fi_recv() of any endpoint, into @one. */
ssize_t vrb_recv_general(struct fid_ep *fid, const struct ibv_sge *one, void *context);

extern struct fi_ops_msg vrb_msg_ops, vrb_dgram_msg_ops, vrb_srx_msg_ops;

/* ---- data/fast_path.c -------------------------------------------------------------- */

/* The calls of connected endpoints that may turn out to have a short way into their queues, from
 * when they are opened: what watches a program's calls copies the tables then.  By what is
 * known by then.
 */
enum {
	VRB_DIRECT = 1,			/* the domain's queues we write ourselves */
	VRB_NO_LOCK = 2,			/* its groups need no lock */
	VRB_FAST_TABLES = 4,
};
extern struct vrb_fast_table {
	struct fi_ops_msg msg;
	struct fi_ops_rma rma;
} vrb_fast_tables[VRB_FAST_TABLES];

/* vrb_fast_enable - the queue pair is there: calls may take the short way, if it has one,
 * once it is connected.   vrb_fast_disable - not any more.
 * Threading: locked.
 */
void vrb_fast_enable(struct vrb_ep *ep);
void vrb_fast_disable(struct vrb_ep *ep);

/* ---- data/rma.c ----------------------------------------------------------------- */

extern struct fi_ops_rma vrb_rma_ops;
extern struct fi_ops_atomic vrb_atomic_ops;

/* vrb_query_atomic - as obj_domain_ops.query_atomic: 64-bit integers, one at a time. */
int vrb_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

/* ---- data/poll.c ---------------------------------------------------------------- */

/* vrb_poller_times - are its completions to have the device's time? */
bool vrb_poller_times(const struct vrb_ep *ep);

/* vrb_poller_join - find or make the poller of the group, and room for @entries more
 * completions in one of its queues.
 * Threading: locked.  Errors: -FI_ENOMEM and those of creating a queue, logged.
 */
int vrb_poller_join(struct vrb_ep *ep, unsigned entries);

/* vrb_poller_room - room for @entries more in one of the poller's queues, of a kind that @ep can
 * use.   Ownership: give it back by cq->used.   Threading, errors: the same.
 */
int vrb_poller_room(struct vrb_poller *p, const struct vrb_ep *ep, unsigned entries,
		    struct vrb_cq **cq_p);

/* vrb_poller_leave - give the room back; the queue pair is gone, and what is left of
 * its completions is thrown away.  Threading: locked.
 */
void vrb_poller_leave(struct vrb_ep *ep, unsigned entries);

/* vrb_poller_run - take completions, up to about @budget.  Threading: locked. */
int vrb_poller_run(struct vrb_poller *poller, unsigned budget);

/* ---- conn/cm.c ------------------------------------------------------------------ */

extern const struct obj_cm_ops vrb_cm_ops;

/* vrb_cm_bind - give @ep a cm id at its local address, so that it has a device.
 * Threading: holds cm.prog->lock.   Errors: those of librdmacm, logged.
 */
int vrb_cm_bind(struct vrb_ep *ep);

/* vrb_cm_bind_id - an id at the address of @info.
 * Errors: -FI_EADDRNOTAVAIL: it has none; those of librdmacm, logged.
 */
int vrb_cm_bind_id(struct rdma_event_channel *channel, const struct fi_info *info, void *context,
		   enum rdma_port_space ps, struct rdma_cm_id **id_p);

/* vrb_cm_name - the address of @id, or where that is NULL of @info; as fi_getname(). */
int vrb_cm_name(struct rdma_cm_id *id, const struct fi_info *info, void *addr, size_t *len);

/* vrb_cm_open - the group for connection events, with the event channel in it.
 * Takes a reference for the caller.  Errors: -FI_ENOMEM and the system's, logged.
 */
int vrb_cm_open(struct obj_fabric *fabric, struct obj_prog **prog_p);

/* vrb_cm_auto - have connections of @domain's endpoints go on by themselves, if that is
 * what the program asked for.   Errors: -FI_ENOMEM, -FI_EMFILE, -FI_EAGAIN.
 */
int vrb_cm_auto(struct obj_domain *domain, struct obj_prog *prog);

/* vrb_cm_close - the end of the endpoint's connection and id; the queue pair with it.
 * Threading: holds cm.prog->lock.
 */
void vrb_cm_close(struct vrb_ep *ep);

/* vrb_pep_open - as fi_passive_ep(). */
int vrb_pep_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep_p,
		 void *context);

#endif
