/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * group.h - groups of endpoints and their operations.
 *
 * struct coll is what an endpoint has of it; struct coll_group a group that it has
 * joined or is joining; struct coll_op one operation under way.  All are guarded by
 * the lock of the endpoint's progress group.
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <rdma/fi_collective.h>

#include "base/hmap.h"
#include "coll/plan.h"
#include "engine/aside.h"
#include "obj/av.h"

struct coll_group;
struct coll_op;

/* Ranks have 18 bits in the messages. */
#define COLL_MEMBERS_MAX ((1u << 18) - 1)
#define COLL_NOBODY ((1u << 18) - 1)	/* no member's rank */

struct coll {
	struct eng_aside aside;		/* first */
	struct hmap by_id;		/* what members call a group -> it, once joined */
	struct hmap by_addr;		/* what the program calls it */
	struct list groups;		/* struct coll_group by node: all but closed ones */
	struct list ops;		/* struct coll_op by node: all */
	uint64_t addr_seq;
	unsigned joining;		/* groups whose join has begun */
	uint16_t turns;			/* joins so far */
	bool failed;			/* a join has failed here, so others may think we are in */
	bool missed;			/* and we have dropped what may be of a group that we join yet */
	bool early;			/* aborts or probes may be among the messages that are kept */
	bool stopped;			/* the endpoint closes */
};

enum coll_group_state {
	COLL_WAITING,		/* behind an earlier join of the same members */
	COLL_JOINING,
	COLL_JOINED,
	COLL_FAILED,		/* to join */
	COLL_CLOSED,		/* operations are still ending */
};

struct coll_group {
	struct fid_mc mc;		/* first: the program's handle */
	struct coll *coll;
	struct list node;		/* on coll->groups */
	struct obj_ref ep_ref;		/* an open group holds its endpoint */
	enum coll_group_state state;
	uint64_t join_key;		/* before there is an id: from the members */
	uint64_t id;			/* member 0 made it up; random */
	uint32_t n, rank;
	uint32_t next_seq;		/* of the next operation */
	unsigned refs;			/* the handle's, each operation's */
	bool wary;			/* a channel was lost: ask whether members are still there */
	struct coll_op *spare;		/* memory of an operation that is over */
	fi_addr_t addrs[];		/* members by rank */
};

enum coll_xfer_state {
	COLL_XFER_NONE,		/* not started, or a step of another kind */
	COLL_XFER_ACTIVE,
	COLL_XFER_DONE,
	COLL_XFER_CUT,		/* the operation failed before it was over */
};

/* A send or receive of an operation. */
struct coll_xfer {
	struct eng_aside_req req;	/* first */
	struct coll_op *op;
	struct eng_peer *peer;		/* receive: where it should come from, referenced */
	enum coll_xfer_state state;
};

struct coll_op {
	struct list node;		/* on coll->ops */
	struct coll_group *group;
	struct coll_plan plan;
	struct coll_xfer *xfers;	/* one a step */
	size_t xfer_room;
	size_t next;			/* step to start */
	size_t out;			/* xfers that are active */
	size_t told;			/* failed: steps whose receivers have been told */
	char *base[COLL_BUFS];
	char *tmp;			/* malloc, tmp_room bytes */
	size_t tmp_room;
	enum fi_datatype datatype;
	enum fi_op op;
	uint64_t space;			/* names of its messages */
	uint32_t seq;
	bool join;
	uint16_t turn;			/* of a join: joins of the same members have one name */
	bool running;			/* in coll_op_turn() */
	bool due;			/* to be turned, in a walk over all */
	bool want_comp;
	int err;			/* positive; 0: all is well */
	uint32_t culprit;		/* rank, of the error */
	uint32_t teller;		/* rank who reported it, and waits for nothing; or COLL_NOBODY */
	void *context;
	size_t len;			/* bytes, for byte counters */
	struct eng_work work;		/* waits for memory */
	size_t back_cnt;		/* result pieces that COLL_OUT or COLL_IN is copied to */
	char *back;			/* from here */
	struct iovec back_iov[ENG_IOV_MAX];
};

/* coll_query - fi_query_collective(), by eng_coll_register(). */
int coll_query(struct fid_domain *domain, enum fi_collective_op coll,
	       struct fi_collective_attr *attr, uint64_t flags);

/* ---- names of messages --------------------------------------------------------------
 *
 * space: the group's id, or its join_key while it joins.
 * key:   sequence number << 32 | join << 31 | kind << 28 | argument
 */
enum coll_msg {
	COLL_MSG_DATA = 1,	/* argument: sender's rank */
	COLL_MSG_ABORT,		/* bare; argument: error << 18 | rank of the culprit */
	COLL_MSG_PROBE,		/* bare; will anything come from you? argument: turn << 18 | sender's rank */
	COLL_MSG_GONE,		/* bare; you have been sent everything; the probe's turn, sender's rank */
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
	return (uint32_t) key & COLL_NOBODY;
}

static inline uint32_t coll_key_turn(uint64_t key)
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

/* coll_group_put - one reference less; frees it with the last. */
void coll_group_put(struct coll_group *group);

/* coll_group_joined - the join is over: @err 0 or positive. */
void coll_group_joined(struct coll_group *group, int err, uint32_t culprit);

static inline struct coll *coll_of(struct eng_ep *ep)
{
	return (struct coll *) ep->aside;
}

/* ---- operations (op.c) ------------------------------------------------------------------ */

/* coll_op_new - memory for an operation, its plan for @task or, NULL, for joining.
 *
 * @extra: bytes behind COLL_TMP for the caller, at op->base[COLL_TMP] + plan.tmp
 *
 * Ownership: coll_op_start() or coll_op_free().
 * Errors:    NULL, no memory.
 */
struct coll_op *coll_op_new(struct coll_group *group, const struct coll_task *task,
			    size_t extra);
void coll_op_free(struct coll_op *op);

/* coll_op_start - begin; buffers and all that describes it are set.  It may be over and
 * gone when this returns.
 */
void coll_op_start(struct coll_op *op);

/* coll_op_turn - go on as far as possible.  Returns true if it waits for memory; then
 * @op is still there.  coll_op_go - the same, which sees to that itself.
 */
bool coll_op_turn(struct coll_op *op);
void coll_op_go(struct coll_op *op);

/* coll_op_fail - @op cannot succeed: @err positive, of member @culprit.  The first
 * reason counts.  coll_op_go() follows.
 */
void coll_op_fail(struct coll_op *op, int err, uint32_t culprit);

/* coll_op_go_due - coll_op_go() for all with op->due. */
void coll_op_go_due(struct coll *coll);

/* ---- messages nobody waits for (mail.c) ------------------------------------------------ */

/* coll_mail_arrived, coll_mail_lost - of struct eng_aside_user. */
enum eng_aside_fate coll_mail_arrived(struct eng_aside *aside, struct eng_peer *peer,
				      uint64_t space, uint64_t key, bool bare);
void coll_mail_lost(struct eng_aside *aside, struct eng_peer *peer, int err);

/* coll_mail_early - has somebody told us already that @op, about to start, failed? */
void coll_mail_early(struct coll_op *op);

/* coll_mail_purge - drop what is kept for an operation that failed. */
void coll_mail_purge(struct coll_op *op);

/* coll_mail_sort - no join is under way any more: what is for groups that we do not
 * know is for nobody.
 */
void coll_mail_sort(struct coll *coll);

/* ---- calls (call.c) -------------------------------------------------------------------- */

extern struct fi_ops_collective coll_ops;

#endif
