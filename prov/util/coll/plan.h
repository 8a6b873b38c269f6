/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * plan.h - the steps of one member in a collective operation.
 *
 * A plan is a list of steps: send, receive, copy, reduce.  Steps start in order; a send or
 * receive that has started continues while later steps start, up to the next one with @wait,
 * which starts when all before it have completed.  The n-th message from one member to another
 * is the n-th that the other's plan receives from it.
 *
 * Pure: no I/O, no clock; memory only for the list.  The members' plans are made independently
 * and match because they are computed from the same numbers.
 *
 * Algorithms: barrier, dissemination; broadcast, binomial tree or, long, scatter and ring;
 * reduce, binomial tree; allreduce, recursive doubling or, long, recursive halving and doubling
 * (Rabenseifner), each after folding to a power of two; allgather, Bruck or, long, ring; gather
 * and scatter, binomial tree or, long, direct; alltoall, Bruck or, long, pairwise;
 * reduce-scatter, folded recursive halving.
 */
#ifndef COLL_PLAN_H
#define COLL_PLAN_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buffers of a plan. */
enum coll_buf {
	COLL_IN,	/* the call's buf; only read, except that a broadcast fills it */
	COLL_OUT,	/* the call's result */
	COLL_TMP,	/* plan->tmp bytes of private memory */
	COLL_BUFS
};

enum coll_kind {
	COLL_SEND,	/* src to @peer */
	COLL_RECV,	/* dst from @peer */
	COLL_COPY,	/* dst = src; nothing to do if they are the same */
	COLL_REDUCE,	/* dst = dst op src, value by value */
};

struct coll_at {
	size_t off;		/* bytes */
	enum coll_buf buf;
};

struct coll_step {
	uint8_t kind;		/* enum coll_kind */
	bool wait;		/* starts when all steps before it have completed */
	uint32_t peer;		/* rank */
	struct coll_at src, dst;
	size_t len;		/* bytes */
};

struct coll_plan {
	struct coll_step *steps;
	size_t cnt;
	unsigned room;
	size_t tmp;		/* bytes of COLL_TMP */
	bool failed;		/* a step is missing for want of memory */
	bool wait;		/* set @wait in the next step */
};

/* The parameters of a plan. */
struct coll_task {
	enum fi_collective_op op;
	uint32_t n;		/* members */
	uint32_t rank;		/* rank of the member whose plan it is */
	uint32_t root;		/* broadcast, reduce, scatter, gather */
	size_t count;		/* values of one part, or of all where there are no parts */
	size_t size;		/* bytes of a value */
	size_t long_len;	/* length from which the algorithms for long data are used; 0:
				 * COLL_LONG.  The same at all members. */
};

#define COLL_LONG 16384

/* coll_plan_make - fill @plan with the steps of task->rank.
 *
 * @plan: zero, or an old plan, whose memory is reused
 *
 * Ownership: coll_plan_free() frees the list.
 * Errors:    -FI_ENOMEM.
 * Cost:      O(log n) steps, or O(n) for the algorithms that send to every member.
 */
int coll_plan_make(struct coll_plan *plan, const struct coll_task *task);

/* coll_plan_join - the plan of a join: all members report to rank 0 through a binomial tree,
 * and @len bytes of rank 0's COLL_OUT are distributed to all.
 */
int coll_plan_join(struct coll_plan *plan, uint32_t n, uint32_t rank, size_t len);

void coll_plan_free(struct coll_plan *plan);

/* ---- for the files of the algorithms ------------------------------------------- */

static inline struct coll_at coll_in(size_t off)
{
	return (struct coll_at) { off, COLL_IN };
}

static inline struct coll_at coll_out(size_t off)
{
	return (struct coll_at) { off, COLL_OUT };
}

static inline struct coll_at coll_tmp(size_t off)
{
	return (struct coll_at) { off, COLL_TMP };
}

static inline struct coll_at coll_plus(struct coll_at at, size_t off)
{
	at.off += off;
	return at;
}

/* coll_plan_wait - the next step waits for all before it. */
static inline void coll_plan_wait(struct coll_plan *p)
{
	p->wait = true;
}

/* Append a step.  A shortage of memory is recorded in plan->failed.  Copies and reductions of
 * length 0 are left out; both always wait.
 */
void coll_plan_send(struct coll_plan *p, uint32_t peer, struct coll_at src, size_t len);
void coll_plan_recv(struct coll_plan *p, uint32_t peer, struct coll_at dst, size_t len);
void coll_plan_copy(struct coll_plan *p, struct coll_at dst, struct coll_at src, size_t len);
void coll_plan_reduce(struct coll_plan *p, struct coll_at dst, struct coll_at src, size_t len);

/* The algorithms; see the top.  All fields of @t are set. */
void coll_barrier(struct coll_plan *p, const struct coll_task *t);	/* plan_tree.c */
void coll_broadcast(struct coll_plan *p, const struct coll_task *t);
void coll_broadcast_tree(struct coll_plan *p, const struct coll_task *t, struct coll_at at);
void coll_report_tree(struct coll_plan *p, const struct coll_task *t);
void coll_gather(struct coll_plan *p, const struct coll_task *t);
void coll_scatter(struct coll_plan *p, const struct coll_task *t);
void coll_allgather(struct coll_plan *p, const struct coll_task *t);	/* plan_all.c */
void coll_alltoall(struct coll_plan *p, const struct coll_task *t);
void coll_reduce(struct coll_plan *p, const struct coll_task *t);	/* plan_reduce.c */
void coll_allreduce(struct coll_plan *p, const struct coll_task *t);
void coll_reduce_scatter(struct coll_plan *p, const struct coll_task *t);

#endif
