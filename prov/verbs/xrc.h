/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * xrc.h - connected endpoints by extended reliable connections (XRC).
 *
 * A queue pair that sends (initiator) leads to one that receives (target) on another host;
 * each request says which shared receive queue there it is for, and any process of that host
 * whose queues are of the target's XRC domain can be meant.  So endpoints share:
 *
 *  initiator  one a progress group and peer host.  Endpoints have rings of their own, and the
 *             initiator counts its free places.  If it fails, so do all of them, and the next
 *             connection makes a new one.
 *  target     one for each initiator that leads here.  The process that was called first makes
 *             it, others open it by its number; it lives until the last lets go.
 *
 * A connection of librdmacm is each endpoint's own, so that a peer's end is noticed.  It
 * carries no queue pair of its own, and a number that is made up.  One exchange sets up both
 * directions: a call brings a target for the answer to lead to, which is dropped if the peer
 * has an initiator that leads to this host already (hello.h).
 *
 *  caller                                       callee
 *   initiator: found, or made                    target: opened, or made for the caller's
 *   target: made, in case               CALL ->  initiator: found, or made for the caller's
 *   initiator leads to mine             <- ANSWER
 *   target: made ready, or another opened
 *                                 established ->
 *
 * Who calls while another endpoint's call to that host has no answer waits for that one: it
 * will know where the initiator leads.  Who answers never waits, so there is no circle; but an
 * endpoint whose initiator's target is not yet known to be ready is connected when it is.
 *
 * Locks: connections and lists of endpoints as in ep.h; both locks to change what the
 * poller looks at too (initiators and their endpoints).  Targets have a lock of their own.
 */
#ifndef VRB_XRC_H
#define VRB_XRC_H

#include "ep.h"
#include "handshake.h"

#define VRB_XRC_SUFFIX "-xrc"		/* of a domain's name */
#define VRB_XRC_CM_DATA (VRB_CM_DATA - VRB_HANDSHAKE_SIZE)

/* vrb_cm_room - bytes of private data that are the program's. */
static inline size_t vrb_cm_room(bool xrc)
{
	return xrc ? VRB_XRC_CM_DATA : VRB_CM_DATA;
}

/* An XRC domain of a device, for all domains of a fabric on it. */
struct vrb_xrcd {
	struct list node;
	const struct obj_fabric *fabric;
	struct ibv_context *ctx;
	struct ibv_xrcd *ibv;
	int fd;				/* of the file that processes share it by */
	unsigned refs;
	struct hmap targets;		/* number -> struct vrb_target */
};

struct vrb_target {
	struct vrb_xrcd *xrcd;
	struct ibv_qp *qp;
	unsigned refs;
	bool opened;			/* another process's */
	struct list node;		/* when it is no more: what is left of it */
};

enum vrb_ini_state {
	VRB_INI_CONNECTING,		/* the number of its target is not known yet */
	VRB_INI_ANSWERED,		/* it is, but not that the target is ready */
	VRB_INI_UP,			/* requests can be executed */
	VRB_INI_SHUT,			/* it failed, or its connection was not established */
};

struct vrb_ini {
	struct vrb_sq sq;
	struct vrb_poller *poller;
	struct vrb_cq *cq;
	enum vrb_ini_state state;
	struct vrb_ep *leader;		/* whose connection is to bring it up; NULL: it is up, or over */
	uint32_t target;		/* number of the peer's */
	unsigned depth, used;		/* requests: at most, and under way */
	unsigned connected;			/* connected endpoints */
	bool shared;			/* others may share it */
	uint64_t key;			/* of both hosts' addresses, */
	union net_sa here, there;	/* which are these */
	struct vrb_ini *next;		/* in the poller's table, with the same key */
	struct list eps;		/* struct vrb_xrc, all that use it */
	struct list waiting;		/* and those that will when it is up */
};

/* What an endpoint, or a shared receive context, has beside the rest. */
struct vrb_xrc {
	struct vrb_ep *ep;
	struct list node;		/* on ini->eps or ini->waiting */
	struct vrb_ini *ini;
	struct vrb_target *target;	/* that the peer's initiator leads to, held open */
	uint32_t srqn;			/* the peer's; of a shared receive context its own */
	uint32_t num;			/* made up, for the connection; and first packet number */
	unsigned tries;
	bool waiting;			/* on ini->waiting */
	bool connects;			/* it is the one that called */
	bool established;			/* the connection is there; */
	bool connected;			/* and the program was told, as the initiator is up */
	bool reconnect;			/* to be called once more, from a new id */
	bool new_ini;			/* without sharing an initiator; */
	bool peer_new_ini;		/* and the peer is not to do so */
	struct list receivers;		/* shared receive context: its endpoints, by @srx_node */
	struct list srx_node;
};

/* A call, from its event until it is answered. */
struct vrb_xrc_req {
	struct vrb_handshake hs;
	uint32_t num;			/* the peer's made up one */
	struct vrb_xrcd *xrcd;
	struct vrb_target *target;	/* opened for it; NULL: to be made */
};

/* ---- conn/xrcd.c: what processes of a host share ------------------------------------------- */

/* vrb_xrc_supported - has the device what is needed? */
bool vrb_xrc_supported(struct ibv_context *ctx);

/* vrb_xrcd_get - the XRC domain of a device, opened for the first that asks.
 * Errors: the system's, logged.   Threading: any thread, as for all here.
 */
int vrb_xrcd_get(const struct obj_fabric *fabric, struct ibv_context *ctx,
		 struct vrb_xrcd **xrcd_p);
void vrb_xrcd_put(struct vrb_xrcd *xrcd);

/* vrb_target_new - a target that leads nowhere; vrb_target_open - that of this number, which
 * may be another process's.   Errors: -FI_ENOMEM, the device's.
 */
int vrb_target_new(struct vrb_xrcd *xrcd, struct vrb_target **target_p);
int vrb_target_open(struct vrb_xrcd *xrcd, uint32_t num, struct vrb_target **target_p);
void vrb_target_put(struct vrb_target *target);		/* NULL is fine */

/* ---- conn/xrc.c: initiators, and what endpoints do with them --------------------------------- */

/* vrb_xrc_new - ep->xrc, of an endpoint or a shared receive context.  Errors: -FI_ENOMEM. */
int vrb_xrc_new(struct vrb_ep *ep);
void vrb_xrc_free(struct vrb_ep *ep);	/* none is fine */

/* vrb_xrc_start - as vrb_ep_start(): rings, but no queue pair before there is a peer.
 * Errors: -FI_EINVAL: it has no shared receive context, or one whose other endpoints tell
 * others of receives (logged); and the device's.
 */
int vrb_xrc_start(struct vrb_ep *ep);

/* vrb_xrc_srq - the queue of a shared receive context.   Errors: the device's. */
int vrb_xrc_srq(struct vrb_ep *srx, const struct ibv_srq_init_attr *init);
void vrb_xrc_srq_close(struct vrb_ep *srx);

/* vrb_xrc_receiver - in whose name a shared receive completes; NULL: nobody is left. */
struct vrb_ep *vrb_xrc_receiver(const struct vrb_ep *srx);

/* vrb_ini_find - an initiator to share; with @known, only one that has its target.
 * Threading, for all of these: both locks.
 */
struct vrb_ini *vrb_ini_find(struct vrb_ep *ep, const struct sockaddr *here,
			     const struct sockaddr *there, bool known);

/* vrb_ini_new - one for @ep, whose connection leads it.   Errors: the device's, logged. */
int vrb_ini_new(struct vrb_ep *ep, const struct sockaddr *here, const struct sockaddr *there,
		struct vrb_ini **ini_p);

/* vrb_ini_set_state - the only way to change a state; asserts that the edge is legal.
 * Threading: both locks; the poller's is enough for VRB_INI_SHUT.
 */
void vrb_ini_set_state(struct vrb_ini *ini, enum vrb_ini_state state);

/* vrb_ini_join - @ep uses @ini from now on. */
void vrb_ini_join(struct vrb_ini *ini, struct vrb_ep *ep);

/* vrb_ini_leave - @ep does not any more, and nothing of it is under way when this returns: if
 * that takes long, the initiator is ended.  With its last endpoint it is freed.
 */
void vrb_ini_leave(struct vrb_ep *ep);

/* vrb_ini_unshare - nobody is to share it any more. */
void vrb_ini_unshare(struct vrb_ini *ini);

/* vrb_ini_fail - it does nothing more, and all connections that use it end.
 * Threading: the poller's lock is enough.
 */
void vrb_ini_fail(struct vrb_ini *ini);

/* vrb_xrc_sent - the device is through with this request, well or not: see data/poll.c. */
void vrb_xrc_sent(const struct vrb_tx *tx);
void vrb_xrc_failed(const struct vrb_tx *tx, const struct vrb_wc *wc);

/* vrb_tx_failed - as if the device had reported it (data/poll.c). */
void vrb_tx_failed(const struct vrb_tx *tx, const struct vrb_wc *wc);

/* ---- conn/xrc_cm.c: connections.  Threading: the lock of connections, not the poller's. -------- */

/* vrb_xrc_connect - the way to the peer is known: call.   Errors: to be told to the program. */
int vrb_xrc_connect(struct vrb_ep *ep);

/* vrb_xrc_accept - answer, with the program's data in @param.   Errors: to be returned to it. */
int vrb_xrc_accept(struct vrb_ep *ep, const struct vrb_connreq *cr, struct rdma_conn_param *param);

/* vrb_xrc_req_new - a call has come: who asks, for cr->xrc.
 * Errors: -FI_EPROTO: it is of no XRC endpoint; -FI_ENOENT: its target is not there.  Both have
 * been refused.  -FI_ENOMEM.
 */
int vrb_xrc_req_new(const struct obj_fabric *fabric, const struct rdma_cm_event *event,
		  struct vrb_xrc_req **req_p);
void vrb_xrc_req_free(struct vrb_xrc_req *req);	/* NULL is fine */

void vrb_xrc_on_response(struct vrb_ep *ep, const struct rdma_cm_event *event);
void vrb_xrc_on_established(struct vrb_ep *ep);

/* vrb_xrc_on_rejected - returns true if it is called again, and nothing is to be told. */
bool vrb_xrc_on_rejected(struct vrb_ep *ep, const struct rdma_cm_event *event);

/* vrb_xrc_event_done - the event was, and is acknowledged: what had to wait for that. */
void vrb_xrc_event_done(struct vrb_ep *ep);

/* vrb_xrc_shut - the connection is at its end, or did not come about. */
void vrb_xrc_shut(struct vrb_ep *ep);

/* vrb_xrc_removed - the device goes. */
void vrb_xrc_removed(struct vrb_ep *ep);

/* vrb_xrc_close - the endpoint closes. */
void vrb_xrc_close(struct vrb_ep *ep);

#endif
