/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.h - what conn/ shares: connections, listeners and requests over librdmacm.
 */
#ifndef VRB_CM_H
#define VRB_CM_H

#include <errno.h>

#include "kind.h"
#include "private.h"

struct vrb_pep {
	struct obj_pep base;		/* first */
	struct vrb_id cm;		/* bound to the address; id is NULL in OBJ_PEP_GIVEN */
	const struct vrb_kind *kind;	/* of the endpoints that requests come from */
};

/* cm_errno - the error of librdmacm's last failure, negated. */
static inline int cm_errno(void)
{
	return errno ? -errno : -FI_EIO;
}

/* vrb_cm_param - the parameters of rdma_connect(); vrb_cm_answer - of rdma_accept(), with no more
 * reads and atomics in flight than the request asks for.
 * @qp_num: the number that the connection has for the peer
 */
struct rdma_conn_param vrb_cm_param(struct vrb_ep *ep, uint32_t qp_num, const void *data, size_t len);
struct rdma_conn_param vrb_cm_answer(struct vrb_ep *ep, const struct vrb_connreq *cr, uint32_t qp_num,
				     const void *data, size_t len);

/* vrb_cm_refused - there will be no connection: obj_cm_refused(), and shut of its kind. */
void vrb_cm_refused(struct vrb_ep *ep, int err, int status, const void *data, size_t len);

/* vrb_cm_reject - reject a request without data of the program. */
static inline void vrb_cm_reject(struct rdma_cm_id *id)
{
	static const uint8_t none = 0;	/* its length */

	vrb_cm.reject(id, &none, VRB_PRIVATE_HEAD);
}

/* vrb_cm_reconnect - connect again, with a new id.  All events of the old id are acknowledged. */
int vrb_cm_reconnect(struct vrb_ep *ep);

/* vrb_cm_bind_in - vrb_cm_bind_id() for a connection or listener, with events in the group
 * @prog.  Threading: holds prog->lock.
 */
int vrb_cm_bind_in(struct obj_prog *prog, struct vrb_id *cm, const struct fi_info *info);

/* vrb_cm_set_class - the traffic class of @info for a connection, before its route is resolved;
 * or for a listener, from which connections inherit it.  A failure is logged, and changes nothing.
 */
void vrb_cm_set_class(struct rdma_cm_id *id, const struct fi_info *info);

/* vrb_pep_on_request - a connection request has arrived.
 * Errors: the caller destroys the id, once the event is acknowledged.  -FI_ENOMEM: it rejects the
 *         request before; after other errors that was done.
 */
int vrb_pep_on_request(struct vrb_pep *pep, const struct rdma_cm_event *event);

/* vrb_connreq_free - the request was answered, or refused. */
void vrb_connreq_free(struct vrb_connreq *cr);

#endif
