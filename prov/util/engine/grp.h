/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * grp.h - what the engine keeps per progress group: memory and second tries.
 *
 * Requests come from pools that all endpoints of a group share, so a thousand
 * connections cost what is in use at one time and no more.  The engine's poller
 * has no descriptor; it only runs work that had to wait for memory.
 */
#ifndef ENG_GRP_H
#define ENG_GRP_H

#include "base/list.h"
#include "base/pool.h"
#include "engine/ids.h"
#include "engine/link.h"
#include "progress/group.h"

struct eng_dev_grp;
struct eng_trig;

/* Something to try again in a later poll.  run() returns 0 when it is settled,
 * -FI_EAGAIN to be called again; it may free what contains the work.
 */
struct eng_work {
	struct list node;	/* on grp->work; on itself when there is none */
	int (*run)(struct eng_work *work);
};

/* A packet that belongs to no user call: control, or a piece of a message. */
struct eng_out {
	struct eng_pkt pkt;	/* first */
	struct eng_grp *grp;
	void *owner;		/* of a piece: the request; else NULL */
	struct eng_peer *peer;	/* control packet in the link: it is charged to this peer */
};

/* How a peer refers to a request: embedded in it. */
struct eng_name {
	struct eng_peer *peer;	/* the only one whose packets may use the id */
	uint32_t id;		/* 0: has none */
	uint8_t kind;		/* enum eng_name_kind */
};

enum eng_name_kind {
	ENG_NAME_TX,		/* struct eng_tx: CTS, ACK, NACK */
	ENG_NAME_SINK,		/* struct eng_sink: DATA, NACK */
	ENG_NAME_SERVE,		/* struct eng_serve that the peer copies: CTS, ACK, NACK */
};

struct eng_grp {
	struct obj_poller poller;
	struct ids ids;		/* struct eng_name of requests that peers refer to */
	struct pool txs;	/* struct eng_tx */
	struct pool recvs;	/* struct eng_recv */
	struct pool_item *fast;	/* of these, some that are done with: see eng_recv_fast_get() */
	struct pool msgs;	/* struct eng_msg */
	struct pool outs;	/* struct eng_out */
	struct pool bounces;	/* ENG_INJECT_MAX bytes each */
	struct pool serves;	/* struct eng_serve */
	struct pool amos;	/* ENG_AMO_ROOM bytes each: operands, results */
	struct list work;	/* struct eng_work */
	struct eng_dev_grp *dev;	/* of requests with memory of devices; NULL before the first */
	struct list serving;	/* struct eng_serve whose memory is a region's */
	struct eng_trig *starting;	/* work whose operation is just being started, see trig.h */
};

/* eng_grp_get - the engine's part of @prog, made on first use.
 * Threading: caller holds prog->lock.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int eng_grp_get(struct obj_prog *prog, struct eng_grp **grp_p);

/* eng_name_find - the request that @peer means by @id, or NULL if there is none
 * of that kind that is this peer's to name.
 */
static inline struct eng_name *eng_name_find(struct eng_grp *grp, uint32_t id,
					     enum eng_name_kind kind,
					     const struct eng_peer *peer)
{
	struct eng_name *name = ids_find(&grp->ids, id);

	return name && name->kind == kind && name->peer == peer ? name : NULL;
}

/* eng_name_make - give a request an id; kind and peer are set.  False: no memory. */
static inline bool eng_name_make(struct eng_grp *grp, struct eng_name *name)
{
	name->id = ids_get(&grp->ids, name);
	return name->id != 0;
}

static inline void eng_name_drop(struct eng_grp *grp, struct eng_name *name)
{
	if (name->id)
		ids_put(&grp->ids, name->id);
	name->id = 0;
}

/* eng_grp_defer - run @work in a later poll; nothing if it is already to be run. */
void eng_grp_defer(struct eng_grp *grp, struct eng_work *work);

#endif
