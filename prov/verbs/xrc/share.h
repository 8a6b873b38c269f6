/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * share.h - connected endpoints by extended reliable connections (XRC).
 *
 * A queue pair that sends (initiator) is connected to one that receives (target) on another
 * host.  Each request names the shared receive queue that it is for, which may belong to any
 * process of that host whose queues are in the target's XRC domain.  Endpoints share:
 *
 *  initiator  one per progress group and peer host.  Endpoints have rings of their own; the
 *             initiator counts its free places.  When it fails, the connections of all endpoints
 *             that share it end, and the next connection makes a new initiator.
 *  target     one per initiator of a peer.  The process that accepts first makes it, others open
 *             it by its number; it is destroyed when the last of them releases it.
 *
 * Each endpoint has its own connection of librdmacm, so that the end of a peer is noticed.  That
 * connection has no queue pair of its own; it carries a random queue pair number.  One handshake
 * (handshake.h) sets up both directions.  The connecting endpoint offers a target for the peer's
 * initiator; it is dropped when the peer shares an initiator that is connected to this host.
 *
 *  connecting endpoint                          accepting endpoint
 *   initiator: shared, or new                    target: opened, or made for that initiator
 *   target: made, in case it is needed           initiator: shared, or new, to that target
 *                                   CONNECT ->
 *                                   <- ACCEPT
 *   initiator: moved to RTS
 *   target: moved to RTS, or another opened
 *                               ESTABLISHED ->
 *
 * An endpoint that connects while another endpoint's request to the same host is unanswered
 * waits for that answer, which names the target of their common initiator.  An endpoint that
 * accepts never waits, so there is no deadlock.  Its connection is reported once its initiator's
 * target is known to be ready.
 *
 * Locks: connections and lists of endpoints as in ep.h.  What the poller reads, too (initiators
 * and their lists of endpoints), is changed under both locks.  Targets have a lock of their own.
 */
#ifndef VRB_XRC_SHARE_H
#define VRB_XRC_SHARE_H

#include "handshake.h"
#include "verbs/cm.h"
#include "verbs/kind.h"

/* The XRC domain of a device, shared by all domains of a fabric on that device. */
struct vrb_xrcd {
	struct list node;
	const struct obj_fabric *fabric;
	struct ibv_context *ctx;
	struct ibv_xrcd *ibv;
	int fd;				/* the file that identifies it to other processes */
	unsigned refs;			/* domains, targets and requests that use it */
	struct hmap targets;		/* number -> struct vrb_target */
};

/* A queue pair that receives. */
struct vrb_target {
	struct vrb_xrcd *xrcd;
	struct ibv_qp *qp;
	unsigned refs;			/* endpoints and requests that hold it */
	bool opened;			/* another process or handle made it */
	struct list node;		/* on the list of leaked handles, see xrcd.c */
};

enum vrb_ini_state {
	VRB_INI_CONNECTING,		/* the number of its target is not known yet */
	VRB_INI_ANSWERED,		/* it is, but not that the target is ready */
	VRB_INI_UP,			/* requests can be executed */
	VRB_INI_SHUT,			/* it failed, or its connection was not established */
};

/* A queue pair that sends. */
struct vrb_ini {
	struct vrb_sq sq;
	struct vrb_poller *poller;	/* of the group whose endpoints share it */
	struct vrb_cq *cq;
	enum vrb_ini_state state;	/* written by vrb_ini_set_state() alone */
	struct vrb_ep *leader;		/* its connection brings the initiator up; NULL: up, or shut */
	uint32_t target;		/* number of the peer's queue pair */
	unsigned depth, used;		/* requests: at most, and in flight */
	unsigned connected;		/* connected endpoints that share it */
	bool shared;			/* it is in the poller's table: other endpoints may join */
	uint64_t key;			/* in that table: hash of both addresses */
	union net_sa here, there;	/* local and remote address */
	struct vrb_ini *next;		/* in the table, with the same key */
	struct list eps;		/* struct vrb_xrc: endpoints that use it */
	struct list waiting;		/* struct vrb_xrc: endpoints that connect once it has a target */
};

/* The XRC part of an endpoint or shared receive context. */
struct vrb_xrc {
	struct vrb_ep *ep;		/* that it is a part of */
	struct list node;		/* on ini->eps or ini->waiting */
	struct vrb_ini *ini;		/* that it sends by, or waits for */
	struct vrb_target *target;	/* of the peer's initiator, held open */
	uint32_t srqn;			/* shared receive queue of the peer; of an SRX its own */
	uint32_t num;			/* random queue pair number of the connection; first PSN */
	unsigned tries;			/* connection requests after a stale handshake */
	bool waiting;			/* on ini->waiting */
	bool connects;			/* it connects, the peer accepts */
	bool established;		/* its own connection is established */
	bool connected;			/* FI_CONNECTED was reported: the initiator is up, too */
	bool reconnect;			/* a new request follows, with a new id */
	bool new_ini;			/* do not share an initiator */
	bool peer_new_ini;		/* ask the peer not to share one */
	struct list receivers;		/* of a shared receive context: its endpoints, by @srx_node */
	struct list srx_node;		/* on receivers of the shared receive context */
};

/* The XRC part of a connection request, from its event until it is answered. */
struct vrb_xrc_req {
	struct vrb_handshake hs;	/* as received, validated */
	uint32_t num;			/* the random queue pair number of the peer's connection */
	struct vrb_xrcd *xrcd;		/* of the device that it came by */
	struct vrb_target *target;	/* opened for it; NULL: accept makes one */
};

/* ---- xrcd.c: XRC domains and targets, shared by processes ------------------ */

/* vrb_xrc_supported - do the device and the libraries support XRC? */
bool vrb_xrc_supported(struct ibv_context *ctx);

/* vrb_xrcd_get - take a reference to the XRC domain of a device; the first one opens it.
 * vrb_xrcd_put - release it.
 * Errors: the system's, logged.   Threading: any thread, as for all of this section.
 */
int vrb_xrcd_get(const struct obj_fabric *fabric, struct ibv_context *ctx,
		 struct vrb_xrcd **xrcd_p);
void vrb_xrcd_put(struct vrb_xrcd *xrcd);

/* vrb_target_new - make a target that is not connected.
 * vrb_target_open - open the target with this number, which another process may have made.
 * vrb_target_put - release it; NULL is allowed.
 * Errors: -FI_ENOMEM, those of the device.
 */
int vrb_target_new(struct vrb_xrcd *xrcd, struct vrb_target **target_p);
int vrb_target_open(struct vrb_xrcd *xrcd, uint32_t num, struct vrb_target **target_p);
void vrb_target_put(struct vrb_target *target);

/* ---- initiator.c: initiators and the endpoints that share them ----------------- */

/* The calls of kind.h, which describes them.  vrb_xrc_new allocates ep->xrc, of a shared receive
 * context, too.  vrb_xrc_start makes the rings; queue pairs are shared and come with the connection.
 */
int vrb_xrc_new(struct vrb_ep *ep);
void vrb_xrc_free(struct vrb_ep *ep);
int vrb_xrc_start(struct vrb_ep *ep);
int vrb_xrc_srq_open(struct vrb_ep *srx, struct ibv_srq_init_attr *init);
void vrb_xrc_srq_close(struct vrb_ep *srx);
struct vrb_ep *vrb_xrc_receiver(const struct vrb_ep *srx);
void vrb_xrc_sent(const struct vrb_tx *tx);
void vrb_xrc_failed(const struct vrb_tx *tx, const struct vrb_wc *wc);

/* vrb_ini_find - the initiator between two addresses that @ep can share, or NULL.
 * @known: only one whose target is known
 * Threading: both locks, for all functions on initiators.
 */
struct vrb_ini *vrb_ini_find(struct vrb_ep *ep, const struct sockaddr *here,
			     const struct sockaddr *there, bool known);

/* vrb_ini_new - make an initiator; @ep becomes its leader.   Errors: the device's, logged. */
int vrb_ini_new(struct vrb_ep *ep, const struct sockaddr *here, const struct sockaddr *there,
		struct vrb_ini **ini_p);

/* vrb_ini_set_state - the only way to change a state; asserts that the edge is legal.
 * Threading: both locks; the poller's is enough for VRB_INI_SHUT.
 */
void vrb_ini_set_state(struct vrb_ini *ini, enum vrb_ini_state state);

/* vrb_ini_join - @ep sends by @ini from now on. */
void vrb_ini_join(struct vrb_ini *ini, struct vrb_ep *ep);

/* vrb_ini_leave - @ep stops to send by its initiator; none of its requests is in flight when this
 * returns.  If they do not complete in time, the initiator is shut.  The last endpoint frees it.
 */
void vrb_ini_leave(struct vrb_ep *ep);

/* vrb_ini_unshare - no other endpoint can join @ini any more. */
void vrb_ini_unshare(struct vrb_ini *ini);

/* vrb_ini_fail - shut @ini: its requests are flushed, and all connections that share it end.
 * Threading: the poller's lock is enough.
 */
void vrb_ini_fail(struct vrb_ini *ini);

/* ---- conn.c: connections.  Threading: the lock of connections, not the poller's. ---- */

/* The calls of kind.h.  vrb_xrc_connect waits where another endpoint is the leader of the initiator. */
int vrb_xrc_connect(struct vrb_ep *ep);
int vrb_xrc_accept(struct vrb_ep *ep, const struct vrb_connreq *cr, const void *data, size_t len);
void vrb_xrc_leave(struct vrb_ep *ep);
void vrb_xrc_shut(struct vrb_ep *ep);
void vrb_xrc_on_response(struct vrb_ep *ep, const struct rdma_cm_event *event);
void vrb_xrc_on_established(struct vrb_ep *ep, const struct rdma_cm_event *event);
bool vrb_xrc_on_rejected(struct vrb_ep *ep, const struct rdma_cm_event *event);
void vrb_xrc_on_removal(struct vrb_ep *ep);
void vrb_xrc_event_done(struct vrb_ep *ep);

/* vrb_xrc_request - read the handshake of a connection request.
 * Errors: -FI_EPROTO: it is not of an XRC endpoint; -FI_ENOENT: the target that it names does not
 *         exist; both have been rejected.  -FI_ENOMEM.
 */
int vrb_xrc_request(const struct obj_fabric *fabric, const struct rdma_cm_event *event,
		    struct vrb_xrc_req **req_p, const void **data_p, size_t *len_p);
void vrb_xrc_request_free(struct vrb_xrc_req *req);

#endif
