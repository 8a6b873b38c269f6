/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.h - what connections and listeners share.
 */
#ifndef VRB_CM_H
#define VRB_CM_H

#include <errno.h>

#include "xrc.h"

struct vrb_pep {
	struct obj_pep base;		/* first */
	struct vrb_id cm;
	bool xrc;			/* requests are to come from XRC endpoints */
};

/* cm_errno - what librdmacm's last failure was, negated. */
static inline int cm_errno(void)
{
	return errno ? -errno : -FI_EIO;
}

/* vrb_cm_param - for rdma_connect() and rdma_accept(). */
struct rdma_conn_param vrb_cm_param(struct vrb_ep *ep, const void *data, size_t len);

/* vrb_cm_refused - there will be no connection: obj_cm_refused(), and the end of the XRC part. */
void vrb_cm_refused(struct vrb_ep *ep, int err, int status, const void *data, size_t len);

/* vrb_cm_reconnect - call the peer again, with a new id.  Not while an event of the old is read. */
int vrb_cm_reconnect(struct vrb_ep *ep);

/* vrb_cm_bind_in - as vrb_cm_bind_id(), for connections, whose events come to the group
 * @prog.  Threading: holds prog->lock.
 */
int vrb_cm_bind_in(struct obj_prog *prog, struct vrb_id *cm, const struct fi_info *info);

/* vrb_pep_on_request - somebody calls.  On error the id is to be destroyed.
 * Errors: -FI_ENOMEM: it is to be refused before.  Others: it was.
 */
int vrb_pep_on_request(struct vrb_pep *pep, const struct rdma_cm_event *event);

/* vrb_connreq_free - the request was answered, or refused. */
void vrb_connreq_free(struct vrb_connreq *cr);

#endif
