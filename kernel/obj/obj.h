/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * obj.h - what the files of kofi_obj.ko share.
 */
#ifndef KOFI_OBJ_PRIVATE_H
#define KOFI_OBJ_PRIVATE_H

#include <kofi/obj.h>

extern struct workqueue_struct *obj_wq;	/* runs the handlers of queues */

int obj_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq_p,
		void *context);
int obj_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq_p,
		void *context);
int obj_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context);
int obj_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av_p,
		void *context);
int obj_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		   struct fid_mr **mr_p);

/* obj_notify_init - @call runs in process context after obj_notify_wake(), or is NULL. */
void obj_notify_init(struct kofi_notify *notify, void (*call)(struct kofi_notify *notify));
void obj_notify_wake(struct kofi_notify *notify);
/* obj_notify_stop - no call runs or will run. May sleep. */
void obj_notify_stop(struct kofi_notify *notify);

/* obj_timeout - jiffies for a timeout in milliseconds, of which -1 has no end. */
long obj_timeout(int timeout);

/* obj_pool_init - @cnt operations of @op_size bytes with @store_size bytes of store each. */
int obj_pool_init(struct kofi_pool *pool, struct kofi_ep *ep, size_t cnt, size_t op_size,
		  size_t store_size);
void obj_pool_free(struct kofi_pool *pool);
struct kofi_op *obj_op_get(struct kofi_pool *pool);
void obj_op_put(struct kofi_pool *pool, struct kofi_op *op);

/* obj_op_take - an operation with a reserved entry of @cq (or NULL), or NULL. obj_op_give undoes it. */
struct kofi_op *obj_op_take(struct kofi_pool *pool, struct kofi_cq *cq);
void obj_op_give(struct kofi_pool *pool, struct kofi_cq *cq, struct kofi_op *op);

/* Tables of calls for an endpoint with these capabilities. */
extern struct fi_ops_msg obj_msg_ops, obj_msg_none;
extern struct fi_ops_tagged obj_tagged_ops, obj_tagged_none;
extern struct fi_ops_rma obj_rma_ops, obj_rma_none;
extern struct fi_ops_atomic obj_atomic_ops;	/* looks at the capabilities itself */

int obj_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

/* ---- multi.c: receives that others are made of ---- */

#define OBJ_MIN_MULTI	64	/* FI_OPT_MIN_MULTI_RECV unless it is set */

/* obj_recv_take - the operation of @ep for a message of @len bytes that matches @op, which is posted
 * there or at its shared context. Under the lock of both. NULL: none is free; it will be tried again. */
struct kofi_op *obj_recv_take(struct kofi_ep *ep, struct kofi_op *op, size_t len);
/* obj_multi_part_done - a part of a buffer has ended. True: it was the last one, and obj_multi_over()
 * follows. @err_p: [out] what the buffer ends with, besides */
bool obj_multi_part_done(struct kofi_op *multi, int *err_p);
void obj_multi_over(struct kofi_op *multi, int err);
/* obj_multi_drop - a part ends without a message. */
void obj_multi_drop(struct kofi_op *part);
/* obj_multi_cancel - a buffer that is no longer posted ends, after its parts. */
void obj_multi_cancel(struct kofi_op *multi, int err);

/* ---- match.c ---- */

void obj_match_init(struct kofi_ep *ep);
/* obj_rx_post - give a receive to the provider, or to the matcher. */
int obj_rx_post(struct kofi_ep *ep, struct kofi_op *op);
/* obj_rematch - messages that wait look for receives once more. */
void obj_rematch(struct kofi_ep *ep);

/* ---- ep.c, srx.c ---- */

/* A shared receive context: receives that are posted here, and their users. */
struct obj_srx {
	struct kofi_ep		ep;
	atomic_t		refs;		/* endpoints bound to it */
	spinlock_t		lock;		/* guards users */
	struct list_head	users;		/* kofi_ep::srx_node */
};

static inline struct obj_srx *obj_srx_of(struct kofi_ep *ep)
{
	return container_of(ep, struct obj_srx, ep);
}

int obj_ep_close(struct fid *fid);
int obj_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep_p,
		 void *context);

/* obj_no_ops_open and others: what an object answers to calls that it does not have. */
int obj_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int obj_no_control(struct fid *fid, int command, void *arg);

#endif /* KOFI_OBJ_PRIVATE_H */
