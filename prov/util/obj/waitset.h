/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */


/*
 * waitset.h - wait sets: block on many queues and counters at once.
 */
#ifndef OBJ_WAITSET_H
#define OBJ_WAITSET_H

#include <pthread.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "obj/ref.h"

struct obj_fabric;
struct obj_wait;

struct obj_waitset {
	struct fid_wait fid;		/* first: the program's handle */
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	struct obj_refs refs;		/* its members' owners */
	enum fi_wait_obj type;
	pthread_mutex_t lock;		/* guards @members; taken before any prog->lock */
	struct list members;		/* struct obj_wait by set_node */
	int epfd;			/* over the members' epfds */
	pthread_mutex_t mutex;		/* FI_WAIT_MUTEX_COND: what programs get */
	pthread_cond_t cond;
};

static inline struct obj_waitset *obj_waitset_of(struct fid_wait *fid)
{
	return container_of(fid, struct obj_waitset, fid);
}

/* obj_waitset_open - fi_wait_open().  Errors: -FI_EINVAL, -FI_ENOMEM, -FI_EMFILE. */
int obj_waitset_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **set_p);

/* obj_waitset_join - @wait, part of @owner, becomes a member until it leaves. */
int obj_waitset_join(struct obj_waitset *set, struct obj_wait *wait, const struct fid *owner);
void obj_waitset_leave(struct obj_wait *wait);

/* obj_waitset_wake - a member was signalled.  May be called with locks held. */
void obj_waitset_wake(struct obj_waitset *set);

/* obj_trywait - fi_trywait() on cqs, cntrs, eqs and wait sets, mixed.
 * Errors: -FI_EAGAIN something is there; -FI_EINVAL an object without wait object.
 */
int obj_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

#endif
