/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * group.h - groups of endpoints and their operations.
 *
 * struct coll is the state of an endpoint; struct coll_group a group that it has joined or is
 * joining; struct coll_op an operation in progress.  The lock of the endpoint's progress group
 * protects all of them.
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <rdma/fi_collective.h>

#include "base/hmap.h"
#include "coll/plan.h"
#include "engine/oob.h"
#include "obj/av.h"

struct coll_group;
struct coll_op;

/* Messages carry ranks of 18 bits. */
#define COLL_MEMBERS_MAX ((1u << 18) - 1)
#define COLL_NO_RANK ((1u << 18) - 1)	/* not a member's rank */

struct coll {
	struct eng_oob oob;		/* first */
	struct hmap by_id;		/* group id -> group, once joined */
	struct hmap by_addr;		/* fi_addr_t of the group -> group */
	struct list groups;		/* struct coll_group by node: all but closed ones */
	struct list ops;		/* struct coll_op by node: all */
	uint64_t addr_seq;
	unsigned joining;		/* joins in progress */
	uint16_t join_cnt;			/* number of joins so far */
	bool failed;			/* a join has failed here; other members may have completed it */
	bool may_have_dropped;			/* messages of a group that we have not joined yet
						 * may have been dropped */
	bool early;			/* the unexpected messages may include aborts or probes */
	bool stopped;			/* the endpoint is closing */
};

enum coll_group_state {
	COLL_WAITING,		/* waits for an earlier join of the same members */
	COLL_JOINING,
	COLL_JOINED,
	COLL_FAILED,		/* the join failed */
	COLL_CLOSED,		/* closed; operations are still ending */
};

struct coll_group {
	struct fid_mc mc;		/* first: the program's handle */
	struct coll *coll;
	struct list node;		/* on coll->groups */
	struct obj_ref ep_ref;		/* an open group holds its endpoint */
	enum coll_group_state state;
	uint64_t join_key;		/* names the messages of the join: computed from the members */
	uint64_t id;			/* random, chosen by member 0 */
	uint32_t n, rank;
	uint32_t next_seq;		/* sequence number of the next operation */
	unsigned refs;			/* one for the handle, one per operation */
	bool verify;			/* a channel was lost: probe members for lost messages */
	struct coll_op *spare;		/* memory of a completed operation, for the next one */
	fi_addr_t addrs[];		/* members by rank */
};

enum coll_xfer_state {
	COLL_XFER_NONE,		/* not started, or a step of another kind */
	COLL_XFER_ACTIVE,
	COLL_XFER_DONE,
	COLL_XFER_CUT,		/* cancelled, because the operation failed */
};

/* The state of a send or receive of an operation. */
struct coll_xfer {
	struct eng_oob_req req;	/* first */
	struct coll_op *op;
	struct eng_peer *peer;		/* receive: the sending peer, referenced */
	enum coll_xfer_state state;
};

struct coll_op {
	struct list node;		/* on coll->ops */
	struct coll_group *group;
	struct coll_plan plan;
	struct coll_xfer *xfers;	/* one per step */
	size_t xfer_room;
	size_t next;			/* next step to start */
	size_t out;			/* number of active xfers */
	size_t notified;			/* after a failure: steps whose receivers have been
						 * notified */
	char *base[COLL_BUFS];
	char *tmp;			/* private memory, tmp_room bytes */
	size_t tmp_room;
	enum fi_datatype datatype;
	enum fi_op op;
	uint64_t space;			/* group part of its messages' names */
	uint32_t seq;
	bool join;
	uint16_t join_no;			/* of a join: tells apart joins of the same members */
	bool running;			/* in coll_op_run() */
	bool due;			/* to be continued, in a walk over all operations */
	bool want_comp;
	int err;			/* positive error; 0: none */
	uint32_t culprit;		/* rank that caused the error */
	uint32_t reporter;		/* rank that reported the error, and needs no notification;
					 * or COLL_NO_RANK */
	void *context;
	size_t len;			/* bytes, for byte counters */
	struct eng_work work;		/* queued while memory is short */
	size_t back_cnt;		/* entries of the result list to which the result is copied
					 * on completion */
	char *back;			/* source of that copy */
	struct iovec back_iov[ENG_IOV_MAX];
};

/* coll_query - fi_query_collective(), by eng_coll_register(). */
int coll_query(struct fid_domain *domain, enum fi_collective_op coll,
	       struct fi_collective_attr *attr, uint64_t flags);

/* ---- names of messages --------------------------------------------------------------
 *
 * space: the group's id, or its join_key during a join.
 * key:   sequence number << 32 | join << 31 | kind << 28 | argument
 */
enum coll_msg {
	COLL_MSG_DATA = 1,	/* argument: sender's rank */
	COLL_MSG_ABORT,		/* no payload; argument: error << 18 | rank that caused it */
	COLL_MSG_PROBE,		/* no payload; asks whether more will be sent; argument: join number
				 * << 18 | sender's rank */
	COLL_MSG_GONE,		/* no payload; everything has been sent; argument: the probe's join
				 * number, sender's rank */
};

static inline uint64_t coll_key(uint32_t seq, bool join, enum coll_msg kind, uint32_t arg)
{
	return (uint64_t) seq << 32 | (uint64_t) join << 31 | (uint64_t) kind << 28 | arg;
}

static inline uint32_t coll_key_seq(uint64_t key)
{
	return (uint32_t) (key >> 32);
}

static inline bool coll_key_join(uint64_t key)
{
	return key >> 31 & 1;
}

static inline enum coll_msg coll_key_kind(uint64_t key)
{
	return (enum coll_msg) (key >> 28 & 7);
}

static inline int coll_key_err(uint64_t key)
{
	return (int) (key >> 18 & 0x3ff);
}

static inline uint32_t coll_key_culprit(uint64_t key)
{
	return (uint32_t) key & COLL_NO_RANK;
}

static inline uint32_t coll_key_join_no(uint64_t key)
{
	return (uint32_t) (key >> 18) & 0x3ff;
}

static inline uint64_t coll_key_abort(uint32_t seq, bool join, int err, uint32_t culprit)
{
	return coll_key(seq, join, COLL_MSG_ABORT, (uint32_t) (err & 0x3ff) << 18 | culprit);
}

/* ---- groups (group.c) ---------------------------------------------------------------- */

/* coll_join - fi_join() with FI_COLLECTIVE.
 *
 * Errors: -FI_EOPBADSTATE not enabled; -FI_ENOEQ; -FI_EBADFLAGS; -FI_EINVAL no set, a
 * set of another address vector, one without this endpoint, one with an address twice,
 * an unknown coll_addr, a member that is not in the parent group; -FI_EMSGSIZE too many
 * members; -FI_EAGAIN, -FI_ENOMEM.
 */
int coll_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc_p,
	      void *context);

/* coll_group_put - drop a reference; the last one frees the group. */
void coll_group_put(struct coll_group *group);

/* coll_group_joined - the join has ended: @err 0 or positive. */
void coll_group_joined(struct coll_group *group, int err, uint32_t culprit);

static inline struct coll *coll_of(struct eng_ep *ep)
{
	return (struct coll *) ep->oob;
}

/* ---- operations (op.c) ------------------------------------------------------------------ */

/* coll_op_new - memory for an operation, and its plan for @task or, for NULL, for a join.
 *
 * @extra: bytes behind COLL_TMP for the caller, at op->base[COLL_TMP] + plan.tmp
 *
 * Ownership: coll_op_start() or coll_op_free().
 * Errors:    NULL: no memory.
 */
struct coll_op *coll_op_new(struct coll_group *group, const struct coll_task *task,
			    size_t extra);
void coll_op_free(struct coll_op *op);

/* coll_op_start - start an operation whose buffers and parameters are set.  It may have
 * completed and been freed on return.
 */
void coll_op_start(struct coll_op *op);

/* coll_op_run - start steps as far as possible.
 * Returns true if memory is short; @op still exists then.
 *
 * coll_op_progress - the same; on a shortage of memory it is run again later.
 */
bool coll_op_run(struct coll_op *op);
void coll_op_progress(struct coll_op *op);

/* coll_op_fail - @op has failed: @err positive, caused by member @culprit.  The first error
 * counts.  coll_op_progress() must follow.
 */
void coll_op_fail(struct coll_op *op, int err, uint32_t culprit);

/* coll_op_progress_due - coll_op_progress() for all operations with op->due. */
void coll_op_progress_due(struct coll *coll);

/* ---- unexpected messages (unexpected.c) ------------------------------------------------ */

/* coll_unexp_arrived, coll_unexp_lost - functions of struct eng_oob_user. */
enum eng_oob_action coll_unexp_arrived(struct eng_oob *oob, struct eng_peer *peer,
				       uint64_t space, uint64_t key, bool bare);
void coll_unexp_lost(struct eng_oob *oob, struct eng_peer *peer, int err);

/* coll_unexp_apply - apply an ABORT that arrived before @op started. */
void coll_unexp_apply(struct coll_op *op);

/* coll_unexp_purge - drop the unexpected messages of a failed operation. */
void coll_unexp_purge(struct coll_op *op);

/* coll_unexp_recheck - no join is in progress any more: answer or drop the messages of unknown
 * groups.
 */
void coll_unexp_recheck(struct coll *coll);

/* ---- calls (call.c) -------------------------------------------------------------------- */

extern struct fi_ops_collective coll_ops;

#endif
