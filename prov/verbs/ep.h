/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.h - domains, endpoints, and the poller of their completions.
 *
 * Locks: a queue pair and its rings of requests are guarded by the lock of the endpoint's progress
 * group ("locked" below).  Its cm id and the state of its connection are guarded by the lock of
 * the fabric's group of listeners (base.cm.prog), where all connection events arrive.  Where both
 * are held, the latter is taken first.
 */
#ifndef VRB_EP_H
#define VRB_EP_H

#include <stdatomic.h>

#include "base/hmap.h"
#include "base/pool.h"
#include "queue_ops.h"
#include "mlx5.h"
#include "base/net_addr.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/fabric.h"
#include "obj/mr.h"
#include "obj/ops.h"
#include "obj/pep.h"
#include "provider.h"
#include "region.h"
#include "sa.h"

struct vrb_kind;

struct vrb_fabric {
	struct obj_fabric base;		/* first */
	struct obj_auto *autop;		/* progress thread for connections, of domains with automatic
					 * progress; guarded by the lock of the listeners' group */
};

struct vrb_domain {
	struct obj_domain base;		/* first */
	struct ibv_context *ctx;	/* the open device; never closed */
	struct ibv_pd *pd;
	struct ibv_device_attr attr;	/* limits of the device */
	bool direct;			/* requests are written into the device's queues (mlx5) */
	bool native;			/* devices (FI_XPU) may use them by themselves */
	bool odp;			/* regions use on-demand paging */
	struct vrb_hmem hmem;		/* memory of devices */
	uint64_t clock_khz;		/* of timestamps of completions; 0: the device has none */
	const struct vrb_kind *kind;	/* of its connected endpoints */
	struct vrb_xrcd *xrcd;		/* of xrc/ */
	unsigned xrc_inline;		/* of xrc/: inline data of an initiator, */
	bool xrc_probed;		/* once this is set */
};

/* Polls the completions of all endpoints of a group: one queue as long as it has room. */
struct vrb_poller {
	struct obj_poller base;		/* first; its fd is that of @channel */
	struct vrb_domain *domain;
	struct ibv_comp_channel *channel;	/* wakes a thread that sleeps */
	struct vrb_cq *cqs;		/* list by @next; new ones in front */
	struct vrb_mlx5_group mlx5;	/* direct path: what its queue pairs share */
	struct hmap eps;		/* queue pair number -> struct vrb_ep that has an SRX */
	struct hmap inis;		/* of xrc/: key -> struct vrb_ini to be shared */
};

/* A slot of the transmit ring: a request that is in flight. */
struct vrb_tx {
	void *context;			/* op_context of the completion */
	struct vrb_ep *ep;		/* set once, when the ring is made */
	uint32_t flags;			/* of its completion */
	uint32_t len;			/* bytes, for counters and errors */
	unsigned at;			/* value of tx_tail when it was posted */
	uint8_t cntr;			/* enum obj_ep_cntr */
	bool want;			/* a success is reported */
};
_Static_assert(!((FI_SEND | FI_WRITE | FI_READ | FI_MSG | FI_RMA | FI_ATOMIC) >> 32),
	       "the flags of a completion fit");

/* A slot of the receive ring: a receive that is posted. */
struct vrb_rx {
	void *context;			/* op_context of the completion */
	void *buf;			/* the first buffer of the program */
	struct vrb_ep *ep;		/* endpoint, set once; or shared receive context */
	uint32_t room;			/* datagrams: bytes of the program's buffers; else UINT32_MAX */
	uint8_t grh_len;		/* datagrams: bytes of header before the data; else 0 */
	bool want;			/* a success is reported */
};

enum vrb_id_kind {
	VRB_ID_EP,
	VRB_ID_PEP,
};

/* What rdma_cm_id.context points to: the cm part of an endpoint or listener. */
struct vrb_id {
	enum vrb_id_kind kind;
	struct rdma_cm_id *id;		/* NULL: not made yet, or destroyed */
};

/* A connection request, from its event until it is answered: the transport's part of
 * struct obj_connreq.
 */
struct vrb_connreq {
	struct rdma_cm_id *id;		/* NULL once an endpoint was opened for it, which owns it */
	struct obj_prog *prog;		/* the group whose lock guards it */
	uint8_t responder, initiator;	/* reads and atomics in flight that the peer asks for */
	const struct vrb_kind *kind;	/* of the listener */
	struct vrb_xrc_req *xrc;	/* of that kind, or NULL */
};

struct vrb_ep {
	struct obj_ep base;		/* first */
	struct vrb_domain *domain;
	struct vrb_poller *poller;	/* from enable on */
	struct vrb_cq *cq;		/* of @poller, where its completions arrive */
	union {
		struct vrb_sq sq;
		struct mlx5_qp mlx5;	/* begins with @sq */
	};
	bool direct;			/* the queue pair is @mlx5 */
	struct vrb_native *native;	/* a device posts to the queue pair by itself; or NULL */
	/* In a domain with FI_HMEM: the calls for buffers of the host (data/device_memory.c) */
	const struct fi_ops_msg *host_msg;
	const struct fi_ops_rma *host_rma;
	struct ibv_qp *qp;		/* == sq.qp; NULL before enable */
	struct vrb_dgram *dgram;	/* NULL: a connected endpoint */
	struct vrb_xrc *xrc;		/* of xrc/; then @qp is NULL */
	struct ibv_srq *srq;		/* of a shared receive context */
	struct mlx5_srq mlx5_srq;	/* the same on the direct path */

	struct vrb_tx *tx;		/* ring; requests complete in order */
	unsigned tx_head, tx_tail;	/* requests completed, requests posted; they only grow */
	unsigned tx_mask, tx_depth;	/* slots - 1; requests in flight at most */
	unsigned tx_unsignalled;	/* posted since the last one that is signalled */
	unsigned tx_unsignalled_max;	/* then one is signalled */
	unsigned max_inline;		/* bytes of inline data of the queue pair */
	unsigned inject_size;		/* bytes of the longest injected message */
	unsigned fast_depth;		/* tx_depth if calls may take the fast path, else 0 */
	_Atomic unsigned fast_room;	/* fast_depth while connected, else 0 */
	unsigned fast_rx_depth;		/* rx_depth if receives may take the fast path, else 0 */
	uint32_t fast_inline[2];	/* fast path: most inline data of sends, of writes */
	uint64_t fast_flags[2];		/* fast path: flags of every call: transmits, receives */
	struct ibv_recv_wr recv_wr;	/* fast path: a receive, prepared as far as it is constant */
	struct ibv_sge recv_sge;	/* its one entry */
	char *scratch;			/* registered, @stride bytes per request: injected data that does
					 * not fit inline, results that are not returned; or NULL */
	unsigned stride;
	struct ibv_mr *scratch_mr;	/* its region */

	struct vrb_rx *rx;		/* ring; a shared receive context has @rx_pool */
	unsigned rx_head, rx_tail, rx_mask, rx_depth;	/* as of the transmit ring */
	struct pool rx_pool;		/* shared receive context only */
	bool closing;			/* completions are dropped */
	bool fast_comp;			/* completions take the fast path: connected, without counters */
	bool failed;			/* the first failure is handled and logged */

	/* Connection, guarded by base.cm.prog->lock; its state is obj_cm_state(). */
	struct vrb_id cm;
	bool resolving;			/* in OBJ_CM_CONNECTING: address, then route are looked up */
	unsigned tries;			/* failed lookups: they time out under load and are retried */
	uint8_t param[VRB_CM_DATA];	/* private data of fi_connect() */
	size_t param_len;
	union vrb_sa dest;		/* address of fi_connect() */
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

/* vrb_ep_open, vrb_srx_open - the domain's endpoint and srx_ctx calls.  Errors: -FI_EINVAL, -FI_ENOMEM,
 * -FI_EBADFLAGS, and those of librdmacm, logged.
 */
int vrb_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		uint64_t flags, void *context);
int vrb_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep_p,
		 void *context);

/* vrb_ep_drain - wait until all requests have completed, two seconds at most.  Threading: locked. */
void vrb_ep_drain(struct vrb_ep *ep);

/* vrb_ep_destroy_qp - destroy the queue pair.  Threading: locked. */
void vrb_ep_destroy_qp(struct vrb_ep *ep);

/* vrb_ep_start - make the rings, join the poller and make the queue pair of ep->cm.id.
 * Threading: locked.   Errors: -FI_ENOMEM and the device's, logged.
 */
int vrb_ep_start(struct vrb_ep *ep);

/* vrb_ep_make_rings, vrb_ep_make_scratch - the parts of vrb_ep_start() that need no queue pair;
 * scratch needs max_inline.   vrb_ep_free_rings - free both.
 * Errors: -FI_ENOMEM, those of the device.
 */
int vrb_ep_make_rings(struct vrb_ep *ep);
int vrb_ep_make_scratch(struct vrb_ep *ep);
void vrb_ep_free_rings(struct vrb_ep *ep);

/* ---- data/qp.c ------------------------------------------------------------------ */

/* vrb_qp_make - make a queue pair that sends, and choose its interface: the extended one, else the
 * older one; then with less inline data, until the device accepts.
 *
 * @attr: [in] what @ep needs, without comp_mask; [out] cap has what the device gives
 * @sq:   [out] of @ep, or of an initiator that @ep shares
 * Errors: the device's; @attr has not changed.
 */
int vrb_qp_make(struct vrb_ep *ep, struct ibv_qp_init_attr_ex *attr, struct vrb_sq *sq);

/* vrb_qp_create - create a queue pair of exactly these attributes, without librdmacm.
 * Errors: positive errno.
 */
int vrb_qp_create(struct vrb_ep *ep, struct ibv_qp_init_attr_ex *attr, struct ibv_qp **qp_p);

/* ---- data/post.c ---------------------------------------------------------------- */

/* vrb_post_marker - post an empty signalled write: its completion retires all requests before it.
 * Threading: locked.
 */
int vrb_post_marker(struct vrb_ep *ep);

/* vrb_recv_general - fi_recv() of any endpoint into @one, without the fast path. */
ssize_t vrb_recv_general(struct fid_ep *fid, const struct ibv_sge *one, void *context);

extern struct fi_ops_msg vrb_msg_ops, vrb_dgram_msg_ops, vrb_srx_msg_ops;

/* ---- data/fast_path.c ----------------------------------------------------------- */

/* Tables of calls with a fast path, by what is known when an endpoint is opened.  They are set
 * then, before enable shows whether there is a fast path, as interposers copy them at open.
 */
enum {
	VRB_DIRECT = 1,			/* the domain uses the direct path (mlx5) */
	VRB_NO_LOCK = 2,		/* its groups have no lock */
	VRB_FAST_TABLES = 4,
};
extern struct vrb_fast_table {
	struct fi_ops_msg msg;
	struct fi_ops_rma rma;
} vrb_fast_tables[VRB_FAST_TABLES];

/* vrb_fast_enable - the queue pair is made: decide which calls and completions may take the fast
 * path once it is connected.   vrb_fast_disable - none any more.
 * vrb_fast_rebound - a counter was bound: completions with counters are no fast ones.
 * Threading: locked.
 */
void vrb_fast_enable(struct vrb_ep *ep);
void vrb_fast_rebound(struct obj_ep *base);
void vrb_fast_disable(struct vrb_ep *ep);

/* ---- data/device_memory.c ------------------------------------------------------- */

/* The calls of endpoints in a domain with FI_HMEM, whose descs are regions.  Calls with buffers of
 * the host go on to ep->host_msg and host_rma.
 */
extern struct fi_ops_msg vrb_device_msg_ops, vrb_device_srx_ops;
extern struct fi_ops_rma vrb_device_rma_ops;
extern struct fi_ops_atomic vrb_device_atomic_ops;

/* ---- data/rma.c ----------------------------------------------------------------- */

extern struct fi_ops_rma vrb_rma_ops;
extern struct fi_ops_atomic vrb_atomic_ops;

/* vrb_query_atomic - obj_domain_ops.query_atomic: one 64-bit integer at a time. */
int vrb_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

/* ---- data/poll.c ---------------------------------------------------------------- */

/* vrb_wc_error - the status of a completion as error of fi_cq(3); prov_errno has the status itself. */
int vrb_wc_error(enum ibv_wc_status status, bool recv);

/* vrb_wc_warn - log a completion with an error, and its outcome for the endpoint. */
void vrb_wc_warn(const struct vrb_ep *ep, const struct vrb_wc *wc, const char *outcome);

/* vrb_tx_failed - complete a request with an error. */
void vrb_tx_failed(const struct vrb_tx *tx, const struct vrb_wc *wc);

/* vrb_poller_times - do completions of @ep have the device's timestamp? */
bool vrb_poller_times(const struct vrb_ep *ep);

/* vrb_poller_join - find or make the poller of the group, and room for @entries more
 * completions in one of its queues.
 * Threading: locked.  Errors: -FI_ENOMEM and those of creating a queue, logged.
 */
int vrb_poller_join(struct vrb_ep *ep, unsigned entries);

/* vrb_poller_room - reserve @entries in a queue of the poller that suits @ep.
 * Ownership: the caller gives them back by cq->used.   Threading, errors: as vrb_poller_join().
 */
int vrb_poller_room(struct vrb_poller *p, const struct vrb_ep *ep, unsigned entries,
		    struct vrb_cq **cq_p);

/* vrb_poller_leave - the queue pair is destroyed: drop its remaining completions and give the
 * @entries back.  Threading: locked.
 */
void vrb_poller_leave(struct vrb_ep *ep, unsigned entries);

/* vrb_poller_run - handle about @budget completions; returns how many.  Threading: locked. */
int vrb_poller_run(struct vrb_poller *poller, unsigned budget);

/* ---- conn/cm.c ------------------------------------------------------------------ */

extern const struct obj_cm_ops vrb_cm_ops;

/* vrb_cm_bind - bind a cm id to the local address of @ep, which names the device.
 * Threading: holds cm.prog->lock.   Errors: those of librdmacm, logged.
 */
int vrb_cm_bind(struct vrb_ep *ep);

/* vrb_cm_bind_id - bind an id to info->src_addr.
 * Errors: -FI_EADDRNOTAVAIL: there is none; those of librdmacm, logged.
 */
int vrb_cm_bind_id(struct rdma_event_channel *channel, const struct fi_info *info, void *context,
		   enum rdma_port_space ps, struct rdma_cm_id **id_p);

/* vrb_cm_name - fi_getname() of @id, or if that is NULL of info->src_addr. */
int vrb_cm_name(struct rdma_cm_id *id, const struct fi_info *info, void *addr, size_t *len);

/* vrb_cm_open - the fabric's group for connection events, with the event channel in it.
 * Ownership: the caller gets a reference.  Errors: -FI_ENOMEM and the system's, logged.
 */
int vrb_cm_open(struct obj_fabric *fabric, struct obj_prog **prog_p);

/* vrb_cm_auto - start the progress thread for connections of @domain's endpoints, unless the
 * program asked for manual progress.   Errors: -FI_ENOMEM, -FI_EMFILE, -FI_EAGAIN.
 */
int vrb_cm_auto(struct obj_domain *domain, struct obj_prog *prog);

/* vrb_cm_close - disconnect, and destroy queue pair and id.
 * Threading: holds cm.prog->lock.
 */
void vrb_cm_close(struct vrb_ep *ep);

/* vrb_pep_open - fi_passive_ep() of the fabric. */
int vrb_pep_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep_p,
		 void *context);

#endif
