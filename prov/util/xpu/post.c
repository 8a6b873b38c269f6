/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Records become calls.  All that a device wrote is checked here, or by the call itself. */

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "obj/mr.h"
#include "xpu/ctx.h"

#define LEVELS (FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define TX_FLAGS (LEVELS | FI_FENCE | FI_MORE)

/* What each call may have, and how its completion looks. */
static const struct shape {
	uint64_t flags;
	uint64_t entry;			/* flags of the completion */
	enum obj_ep_cntr cntr;
	bool rx;
} shapes[FI_XPU_RING_CALL_CNT] = {
	[FI_XPU_RING_SEND] = { TX_FLAGS | FI_REMOTE_CQ_DATA, FI_SEND | FI_MSG, OBJ_CNTR_SEND, false },
	[FI_XPU_RING_RECV] = { FI_COMPLETION | FI_MULTI_RECV, FI_RECV | FI_MSG, OBJ_CNTR_RECV, true },
	[FI_XPU_RING_TSEND] = { TX_FLAGS | FI_REMOTE_CQ_DATA, FI_SEND | FI_TAGGED, OBJ_CNTR_SEND,
				false },
	[FI_XPU_RING_TRECV] = { FI_COMPLETION, FI_RECV | FI_TAGGED, OBJ_CNTR_RECV, true },
	[FI_XPU_RING_READ] = { TX_FLAGS, FI_READ | FI_RMA, OBJ_CNTR_READ, false },
	[FI_XPU_RING_WRITE] = { TX_FLAGS | FI_REMOTE_CQ_DATA | FI_COMMIT_COMPLETE, FI_WRITE | FI_RMA,
				OBJ_CNTR_WRITE, false },
	[FI_XPU_RING_ATOMIC] = { TX_FLAGS, FI_WRITE | FI_ATOMIC, OBJ_CNTR_WRITE, false },
	[FI_XPU_RING_FETCH] = { TX_FLAGS, FI_READ | FI_ATOMIC, OBJ_CNTR_READ, false },
	[FI_XPU_RING_COMPARE] = { TX_FLAGS, FI_READ | FI_ATOMIC, OBJ_CNTR_READ, false },
};

/* Of what the names in a record stand. */
struct named {
	fi_addr_t peer;
	void *desc, *result_desc, *compare_desc;
};

void xpu_fail(struct xpu_ep *x, const struct fi_xpu_ring_record *rec, int err)
{
	bool known = rec->call < FI_XPU_RING_CALL_CNT;
	const struct shape *shape = &shapes[known ? rec->call : FI_XPU_RING_SEND];
	struct fi_cq_err_entry entry = obj_cq_err((void *) (uintptr_t) rec->context,
						  known ? shape->entry : 0, err);

	if (shape->rx) {
		entry.buf = (void *) (uintptr_t) rec->buf;
		entry.tag = rec->call == FI_XPU_RING_TRECV ? rec->addr : 0;
		obj_ep_err_rx(x->ep, &entry, NULL, 0, shape->cntr);
	} else {
		obj_ep_err_tx(x->ep, &entry, NULL, 0, shape->cntr);
	}
}

/* ---- checks ------------------------------------------------------------------ */

static int find_peer(struct xpu_ep *x, uint64_t raw, bool rx, fi_addr_t *peer_p)
{
	const struct xpu_name *name;

	*peer_p = FI_ADDR_UNSPEC;
	if (!raw)
		return rx || x->ep->type == FI_EP_MSG ? 0 : -FI_EINVAL;
	name = xpu_name_find(&x->ctx->addrs, raw);
	if (!name || (x->ep->type != FI_EP_MSG && name->obj != x->ep->av))
		return -FI_EINVAL;
	*peer_p = name->addr;
	return 0;
}

static int find_desc(struct xpu_ep *x, uint64_t raw, void **desc_p)
{
	const struct xpu_name *name;

	*desc_p = NULL;
	if (!raw)
		return 0;
	name = xpu_name_find(&x->ctx->regions, raw);
	if (!name)
		return -FI_EINVAL;
	*desc_p = ((const struct obj_mr *) name->obj)->fid.mem_desc;
	return 0;
}

static int record_check(struct xpu_ep *x, const struct fi_xpu_ring_record *rec, struct named *named)
{
	const struct shape *shape;
	int ret;

	*named = (struct named) { 0 };
	if (rec->call >= FI_XPU_RING_CALL_CNT)
		return -FI_EINVAL;
	shape = &shapes[rec->call];
	if (rec->flags & ~shape->flags)
		return -FI_EBADFLAGS;
	ret = find_peer(x, rec->peer, shape->rx, &named->peer);
	if (!ret)
		ret = find_desc(x, rec->desc, &named->desc);
	if (ret || rec->call < FI_XPU_RING_ATOMIC)
		return ret;
	if (rec->datatype >= FI_DATATYPE_LAST || rec->op >= FI_ATOMIC_OP_LAST)
		return -FI_EINVAL;
	/* the second half of a shorter call is that of an earlier record */
	if (rec->call >= FI_XPU_RING_FETCH)
		ret = find_desc(x, rec->result_desc, &named->result_desc);
	if (!ret && rec->call == FI_XPU_RING_COMPARE)
		ret = find_desc(x, rec->compare_desc, &named->compare_desc);
	return ret;
}

/* ---- calls -------------------------------------------------------------------- */

#define PTR(number) ((void *) (uintptr_t) (number))

static ssize_t post_msg(struct fid_ep *ep, const struct fi_xpu_ring_record *rec,
			struct named *named, uint64_t flags)
{
	struct iovec iov = { PTR(rec->buf), rec->len };
	struct fi_msg msg = {
		.msg_iov = &iov, .desc = &named->desc, .iov_count = 1, .addr = named->peer,
		.context = PTR(rec->context),
		.data = rec->call == FI_XPU_RING_SEND ? rec->data : 0,
	};

	return rec->call == FI_XPU_RING_SEND ? fi_sendmsg(ep, &msg, flags) :
					       fi_recvmsg(ep, &msg, flags);
}

static ssize_t post_tagged(struct fid_ep *ep, const struct fi_xpu_ring_record *rec,
			   struct named *named, uint64_t flags)
{
	bool rx = rec->call == FI_XPU_RING_TRECV;
	struct iovec iov = { PTR(rec->buf), rec->len };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .desc = &named->desc, .iov_count = 1, .addr = named->peer,
		.tag = rec->addr, .ignore = rx ? rec->key : 0, .context = PTR(rec->context),
		.data = rx ? 0 : rec->data,
	};

	return rx ? fi_trecvmsg(ep, &msg, flags) : fi_tsendmsg(ep, &msg, flags);
}

static ssize_t record_post_rma(struct fid_ep *ep, const struct fi_xpu_ring_record *rec,
			struct named *named, uint64_t flags)
{
	struct iovec iov = { PTR(rec->buf), rec->len };
	struct fi_rma_iov rma = { rec->addr, rec->len, rec->key };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .desc = &named->desc, .iov_count = 1, .addr = named->peer,
		.rma_iov = &rma, .rma_iov_count = 1, .context = PTR(rec->context),
		.data = rec->data,
	};

	return rec->call == FI_XPU_RING_READ ? fi_readmsg(ep, &msg, flags) :
					       fi_writemsg(ep, &msg, flags);
}

static ssize_t post_atomic(struct fid_ep *ep, const struct fi_xpu_ring_record *rec,
			   struct named *named, uint64_t flags)
{
	struct fi_ioc ioc = { PTR(rec->buf), rec->len };
	struct fi_ioc result = { PTR(rec->result), rec->len };
	struct fi_ioc compare = { PTR(rec->compare), rec->len };
	struct fi_rma_ioc rma = { rec->addr, rec->len, rec->key };
	struct fi_msg_atomic msg = {
		.msg_iov = &ioc, .desc = &named->desc, .iov_count = 1, .addr = named->peer,
		.rma_iov = &rma, .rma_iov_count = 1, .datatype = (enum fi_datatype) rec->datatype,
		.op = (enum fi_op) rec->op, .context = PTR(rec->context),
	};

	switch (rec->call) {
	case FI_XPU_RING_ATOMIC:
		return fi_atomicmsg(ep, &msg, flags);
	case FI_XPU_RING_FETCH:
		return fi_fetch_atomicmsg(ep, &msg, &result, &named->result_desc, 1, flags);
	default:
		return fi_compare_atomicmsg(ep, &msg, &compare, &named->compare_desc, 1, &result,
					    &named->result_desc, 1, flags);
	}
}

static ssize_t record_post(struct fid_ep *ep, const struct fi_xpu_ring_record *rec,
			struct named *named)
{
	/* the record behind it may never come */
	uint64_t flags = rec->flags & ~FI_MORE;

	switch (rec->call) {
	case FI_XPU_RING_SEND:
	case FI_XPU_RING_RECV:
		return post_msg(ep, rec, named, flags);
	case FI_XPU_RING_TSEND:
	case FI_XPU_RING_TRECV:
		return post_tagged(ep, rec, named, flags);
	case FI_XPU_RING_READ:
	case FI_XPU_RING_WRITE:
		return record_post_rma(ep, rec, named, flags);
	default:
		return post_atomic(ep, rec, named, flags);
	}
}

bool xpu_post(struct xpu_ep *x, const struct fi_xpu_ring_record *rec)
{
	struct named named;
	ssize_t ret;

	pthread_mutex_lock(&x->ctx->names_lock);
	ret = record_check(x, rec, &named);
	if (!ret)
		ret = record_post(&x->ep->h.fid, rec, &named);
	pthread_mutex_unlock(&x->ctx->names_lock);
	if (ret == -FI_EAGAIN)
		return false;
	if (ret)
		xpu_fail(x, rec, (int) -ret);
	return true;
}
