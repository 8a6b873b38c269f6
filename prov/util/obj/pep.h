/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pep.h - passive endpoints, and the connection requests that they announce.
 *
 * A provider's passive endpoint begins with struct obj_pep and is bound to its address when
 * it is opened, so that fi_getname() gives it before fi_listen().  All its calls are here;
 * the provider fills in struct obj_pep_ops.
 */
#ifndef OBJ_PEP_H
#define OBJ_PEP_H

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include "obj/cm.h"
#include "obj/eq.h"
#include "obj/fabric.h"
#include "progress/group.h"
#include "obj/ref.h"

enum obj_pep_state {
	OBJ_PEP_BOUND,			/* it has an address */
	OBJ_PEP_LISTENING,
	OBJ_PEP_GIVEN,			/* an endpoint took the address over */
};

/* What a transport does for a passive endpoint.  Caller: obj, with pep->prog locked unless
 * the op says otherwise.
 */
struct obj_pep_ops {
	/* close - give the address back.  Not called in OBJ_PEP_GIVEN. */
	void (*close)(struct obj_pep *pep);

	/* getname, setname - as those of struct obj_cm_ops; setname only before listen. */
	int (*getname)(struct obj_pep *pep, void *addr, size_t *len_p);
	int (*setname)(struct obj_pep *pep, const void *addr, size_t len);

	/* listen - announce requests from now on, by obj_pep_request(). */
	int (*listen)(struct obj_pep *pep, int backlog);

	/* reject - refuse @req, with private data.
	 * Ownership: @req is the transport's again, whatever is returned.
	 */
	int (*reject)(struct obj_pep *pep, void *req, const void *data, size_t len);

	/* drop - @req will not be answered: refuse it.  Ownership: as reject.
	 * Threading: without a lock where an event queue or the program drops it, and perhaps
	 *            after its listener is closed; else as the endpoint's close calls
	 *            obj_cm_drop().
	 */
	void (*drop)(const void *transport, void *req);
};

struct obj_pep {
	struct fid_pep fid;		/* first: the program's handle */
	const struct obj_pep_ops *ops;
	const void *transport;		/* see struct obj_cm */
	size_t data_size;		/* bytes of private data that fit; FI_OPT_CM_DATA_SIZE */
	enum obj_pep_state state;	/* written by obj_pep_set_state() alone */
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	struct obj_refs refs;		/* requests not yet answered, if the provider counts them */
	struct obj_prog *prog;		/* of all listeners of the fabric; its lock guards all of this */
	struct obj_eq *eq;
	struct obj_ref eq_ref;
	struct fi_info *info;		/* our copy */
	int backlog;			/* FI_BACKLOG */
	struct sec_policy *sec;		/* how its connections are protected; NULL: not at all */
};

static inline struct obj_pep *obj_pep_of(struct fid_pep *fid)
{
	return container_of(fid, struct obj_pep, fid);
}

/* obj_pep_init - prepare @pep, the beginning of malloc()ed memory, with all its calls, and
 * enter the fabric's group.
 *
 * The provider binds the address next; fi_close() calls ops->close() and frees @pep.
 * Errors: -FI_EINVAL, -FI_ENOMEM.
 */
int obj_pep_init(struct obj_pep *pep, struct fid_fabric *fabric, const struct fi_info *info,
		 const struct obj_pep_ops *ops, const void *transport, size_t data_size,
		 void *context);

/* obj_pep_fini - undo obj_pep_init(), of one that could not be bound.
 * Threading: without prog->lock.
 */
void obj_pep_fini(struct obj_pep *pep);

/* obj_pep_set_state - the only way to change the state; asserts that the edge is legal. */
void obj_pep_set_state(struct obj_pep *pep, enum obj_pep_state state);

/* obj_pep_request - a peer wants to connect: FI_CONNREQ.
 *
 * @req:  the transport's, for accept(), reject() or drop()
 * @src:  the address of ours that was named; @dest: the peer's
 * @data: its private data
 *
 * Ownership: on 0 @req is obj's until one of the three is called.
 * Threading: pep->prog is locked.
 * Errors:    -FI_ENOMEM (logged): the transport refuses the request.
 */
int obj_pep_request(struct obj_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *data, size_t len);

/* obj_pep_is - is @handle a passive endpoint of this library? */
bool obj_pep_is(const struct fid *handle);

/* obj_connreq_is - is @handle a connection request of this library? */
bool obj_connreq_is(const struct fid *handle);

#endif
