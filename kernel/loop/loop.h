/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * loop.h - endpoints that reach each other within one kernel and network namespace: the
 * smallest provider, and the one to read first. What its files share.
 *
 * Names are texts, "loop:NUMBER".  A transfer is a copy in the context of the call that
 * completes the pair: of the send, or of the receive that a send has waited for.
 *
 * An endpoint that is being used by a transfer has users; its close makes it gone, so that
 * it gets no new ones, and waits for the others.
 */
#ifndef KOFI_LOOP_H
#define KOFI_LOOP_H

#include <kofi/obj.h>

#define LOOP_NAME_FMT	"loop:%u"
#define LOOP_CM_DATA_MAX	256
#define LOOP_SRX_USERS	1024	/* endpoints of a shared receive context; a figure to be asked for */

enum loop_state {
	LOOP_IDLE,
	LOOP_CONNECTING,	/* the request waits for its answer */
	LOOP_CONNECTED,
	LOOP_ENDED
};

/* Of an endpoint, or of what listens. */
struct loop_name {
	struct list_head	node;		/* in loop_eps or loop_peps */
	struct net		*net;
	char			text[FI_NAME_MAX];
};

struct loop_ep {
	struct kofi_ep		ep;
	struct loop_name	name;
	enum loop_state		state;		/* under loop_lock; so are the next three */
	struct loop_ep		*peer;		/* while connected */
	struct loop_req		*req;		/* to accept, or sent by us */
	int			users;
	bool			gone;
	wait_queue_head_t	unused;		/* users has become 0 */
	spinlock_t		pending_lock;
	struct list_head	pending;	/* sends that wait at a peer */
};

/* A send. */
struct loop_op {
	struct kofi_op		op;
	struct kofi_arrival	arrival;
	struct list_head	pending;
	struct loop_ep		*target;
};

struct loop_pep {
	struct kofi_pep		pep;
	struct loop_name	name;
};

struct loop_req {
	struct kofi_req		req;
	struct loop_ep		*from;		/* under loop_lock; NULL: has gone */
};

static inline struct loop_ep *loop_of(struct kofi_ep *ep)
{
	return container_of(ep, struct loop_ep, ep);
}

static inline struct loop_ep *loop_fid(struct fid_ep *ep)
{
	return container_of(ep, struct loop_ep, ep.ep);
}

/* Each file calls those above it alone (test/layers). */

/* ---- name.c ---- */

extern spinlock_t loop_lock;		/* names, states, connections */
extern struct list_head loop_eps;	/* RDM endpoints: loop_ep::name */
extern struct list_head loop_peps;	/* loop_pep::name */

/* loop_name_find - in @names, or NULL. Under loop_lock. */
struct loop_name *loop_name_find(struct list_head *names, struct net *net, const char *text);
int loop_name_set(struct loop_name *name, const void *text, size_t len);
/* loop_name_add - @name is found in @names from now on. One that the caller did not choose, and
 * "loop:0", get a number that is free. */
int loop_name_add(struct list_head *names, struct loop_name *name);
void loop_name_del(struct loop_name *name);

/* ---- transfer.c ---- */

/* loop_tx, loop_rx_match - of kofi_ep_ops */
int loop_tx(struct kofi_ep *kep, struct kofi_op *op);
void loop_rx_match(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival);
/* loop_target_put - a user of an endpoint is none any more. */
void loop_target_put(struct loop_ep *ep);
/* loop_arrivals_refuse - sends of others that wait here end. The endpoint takes no more by now. */
void loop_arrivals_refuse(struct loop_ep *ep);
/* loop_transfers_end - what waits at or for an endpoint ends. */
void loop_transfers_end(struct loop_ep *ep);

/* ---- cm.c ---- */

extern struct fi_ops_cm loop_cm;
/* loop_disconnect - both sides of a connection end. */
void loop_disconnect(struct loop_ep *ep);
/* loop_req_refuse - of kofi_pep_ops */
void loop_req_refuse(struct kofi_req *req);
/* loop_claim - an endpoint takes the request that @info names. */
int loop_claim(struct loop_ep *ep, const struct fi_info *info);

/* ---- ep.c, pep.c ---- */

int loop_endpoint(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		  void *context);
int loop_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info, struct fid_pep **pep_p,
		    void *context);

#endif /* KOFI_LOOP_H */
