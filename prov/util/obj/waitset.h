/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * waitset.h - wait sets, and fi_trywait().
 */
#ifndef OBJ_WAITSET_H
#define OBJ_WAITSET_H

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/providers/fi_log.h>

#include "obj/ref.h"
#include "progress/wait.h"

struct obj_fabric;

struct obj_waitset {
	struct fid_wait fid;		/* first: the program's handle */
	struct obj_wait wait;		/* for all members */
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	struct obj_refs refs;		/* its members' owners */
};

static inline struct obj_waitset *obj_waitset_of(struct fid_wait *fid)
{
	return container_of(fid, struct obj_waitset, fid);
}

/* obj_waitset_open - fi_wait_open().  Errors: -FI_EINVAL, -FI_ENOMEM. */
int obj_waitset_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **set_p);

/* obj_wait_open - prepare the wait part of @owner.
 *
 * @set: for FI_WAIT_SET: it becomes a member
 * @ref: of the owner, to its set
 * Errors: -FI_EINVAL unknown type or no set.
 */
int obj_wait_open(struct obj_wait *wait, enum fi_wait_obj type, struct fid_wait *set, struct obj_ref *ref,
		  const struct fid *owner, obj_wait_ready_fn ready);
void obj_wait_close(struct obj_wait *wait, struct obj_ref *ref);

/* obj_wait_of - the wait part of a cq, cntr or eq; NULL for other classes.  @refs_p: [out] who refers to it */
struct obj_wait *obj_wait_of(struct fid *fid, struct obj_refs **refs_p);

/* obj_wait_cannot - log why @call cannot block.  Returns -FI_ENOSYS. */
int obj_wait_cannot(const struct obj_wait *wait, const struct fi_provider *prov,
		    enum fi_log_subsys subsys, const char *call);

/* obj_trywait - fi_trywait() on cqs, cntrs, eqs and wait sets, mixed.
 * Errors: -FI_EAGAIN something is there; -FI_EINVAL an object without wait object.
 */
int obj_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

#endif
