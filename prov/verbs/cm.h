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
	bool listening;
	bool xrc;			/* who calls is to be an XRC endpoint */
};

extern struct fi_ops vrb_connreq_fid_ops;

/* cm_errno - what librdmacm's last failure was, negated. */
static inline int cm_errno(void)
{
	return errno ? -errno : -FI_EIO;
}

/* vrb_cm_tell - an event for the program.  Ownership: takes @info. */
void vrb_cm_tell(struct obj_eq *eq, uint32_t what, struct fid *fid, struct fi_info *info,
		 const void *param, size_t len);

/* vrb_cm_check_param - may it be private data, of at most @room?  -FI_EINVAL (logged) if not. */
int vrb_cm_check_param(const void *param, size_t len, size_t room);

/* vrb_cm_param - for rdma_connect() and rdma_accept(). */
struct rdma_conn_param vrb_cm_param(struct vrb_ep *ep, const void *data, size_t len);

/* vrb_cm_connected, vrb_cm_gave_up - so it is, or will never be; with the peer's data. */
void vrb_cm_connected(struct vrb_ep *ep, const void *data, size_t len);
void vrb_cm_gave_up(struct vrb_ep *ep, int err, int status, const void *data, size_t len);

/* vrb_cm_again - call the peer again, with a new id.  Not while an event of the old is read. */
int vrb_cm_again(struct vrb_ep *ep);

/* vrb_connreq_free - it was answered. */
void vrb_connreq_free(struct vrb_connreq *cr);

/* vrb_cm_bind_in - as vrb_cm_bind_id(), for connections, whose events come to the group
 * @prog.  Threading: holds prog->lock.
 */
int vrb_cm_bind_in(struct obj_prog *prog, struct vrb_id *cm, const struct fi_info *info);

/* vrb_pep_on_request - somebody calls.  On error the id is to be destroyed.
 * Errors: -FI_ENOMEM: it is to be refused before.  Others: it was.
 */
int vrb_pep_on_request(struct vrb_pep *pep, const struct rdma_cm_event *event);

/* vrb_pep_yield - a passive endpoint gives its address to @ep, and is of no more use.
 * Errors: -FI_EINVAL: @handle is none of ours.  -FI_EBUSY: it listens, or has given it away.
 */
int vrb_pep_yield(struct fid *handle, struct vrb_ep *ep);
void vrb_pep_init_ops(void);

#endif
