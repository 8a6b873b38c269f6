/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * post.c - sends and receives of connected endpoints and of datagram endpoints: the slow path,
 * which takes all flags and buffers.  data/fast_path.c has the fast path of the commonest calls.
 */
#include "verbs/request.h"

#define SEND_REQUEST(name) REQUEST(name, VRB_OP_SEND, FI_SEND | FI_MSG, OBJ_CNTR_SEND)

/* Used when an endpoint drains: its last requests may not be signalled. */
int vrb_post_marker(struct vrb_ep *ep)
{
	struct request c;

	memset(&c.wr, 0, sizeof(c.wr));
	c.wr.op = VRB_OP_WRITE;
	c.wr.sge = c.sge;
	c.len = 0;
	c.context = NULL;
	c.flags = 0;
	c.comp = 0;
	c.cntr = OBJ_CNTR_NONE;
	c.want = false;
	return post_locked(ep, &c, false);
}

/* ---- messages ------------------------------------------------------------------- */

#define INLINE __attribute__((always_inline)) static inline

/* @data: remote CQ data, or NULL */
INLINE ssize_t send_buf(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			const uint64_t *data, fi_addr_t dest, void *context, const bool dgram)
{
	SEND_REQUEST(r);

	set_buf(&r, buf, len, desc);
	with_defaults(&r, fid, context);
	if (data)
		with_cq_data(&r, *data);
	return post_any(vrb_ep_of(fid), &r, dest, dgram);
}

INLINE ssize_t inject_buf(struct fid_ep *fid, const void *buf, size_t len, const uint64_t *data,
			  fi_addr_t dest, const bool dgram)
{
	SEND_REQUEST(r);

	as_inject(&r, buf, len);
	if (data)
		with_cq_data(&r, *data);
	return post_any(vrb_ep_of(fid), &r, dest, dgram);
}

INLINE ssize_t send_iov(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			fi_addr_t dest, void *context, const bool dgram)
{
	SEND_REQUEST(r);

	if (set_iov(&r, iov, desc, cnt))
		return -FI_EINVAL;
	with_defaults(&r, fid, context);
	return post_any(vrb_ep_of(fid), &r, dest, dgram);
}

INLINE ssize_t send_msg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags,
			const bool dgram)
{
	SEND_REQUEST(r);
	int ret = set_iov(&r, msg->msg_iov, msg->desc, msg->iov_count);

	if (!ret)
		ret = with_flags(&r, fid, msg->context, flags);
	if (ret)
		return ret;
	if (flags & FI_REMOTE_CQ_DATA)
		with_cq_data(&r, msg->data);
	return post_any(vrb_ep_of(fid), &r, msg->addr, dgram);
}

/* Each call for connected endpoints and for datagram endpoints. */
#define BOTH(name, params, of, ...)						\
	static ssize_t msg_##name params { return of(fid, __VA_ARGS__, false); } \
	static ssize_t dgram_##name params { return of(fid, __VA_ARGS__, true); }

BOTH(send, (struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
	    void *context), send_buf, buf, len, desc, NULL, dest, context)
BOTH(sendv, (struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt, fi_addr_t dest,
	     void *context), send_iov, iov, desc, cnt, dest, context)
BOTH(sendmsg, (struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags), send_msg, msg, flags)
BOTH(senddata, (struct fid_ep *fid, const void *buf, size_t len, void *desc, uint64_t data,
		fi_addr_t dest, void *context), send_buf, buf, len, desc, &data, dest, context)
BOTH(inject, (struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest),
     inject_buf, buf, len, NULL, dest)
BOTH(injectdata, (struct fid_ep *fid, const void *buf, size_t len, uint64_t data, fi_addr_t dest),
     inject_buf, buf, len, &data, dest)

/* ---- receives ------------------------------------------------------------------- */

/* Take a slot of the ring, or of the pool of a shared receive context, and post the receive.  On
 * error the slot is free again.
 * @sge: with room for VRB_DGRAM_SGE more entries
 */
static int recv_locked(struct vrb_ep *ep, struct ibv_sge *sge, unsigned cnt, void *buf,
		       void *context, bool want)
{
	struct vrb_rx *rx;
	int ret;

	if (ep->srq)
		rx = pool_get(&ep->rx_pool);
	else
		rx = ep->rx_tail - ep->rx_head < ep->rx_depth ?
		     &ep->rx[ep->rx_tail & ep->rx_mask] : NULL;
	if (!rx)
		return -FI_EAGAIN;
	rx->context = context;
	rx->buf = buf;
	rx->ep = ep;
	rx->want = want;
	rx->grh_len = 0;
	rx->room = UINT32_MAX;
	if (ep->dgram)
		cnt = vrb_dgram_recv_sge(ep, rx, sge, cnt);
	if (ep->mlx5_srq.wr_id)
		ret = vrb_mlx5_srq_recv(&ep->mlx5_srq, (uintptr_t) rx | VRB_WR_RECV, sge, cnt);
	else if (ep->srq)
		ret = vrb_recv_post(NULL, ep->srq, (uintptr_t) rx | VRB_WR_RECV, sge, cnt);
	else
		ret = ep->sq.ops->recv(&ep->sq, (uintptr_t) rx | VRB_WR_RECV, sge, cnt);
	if (ret) {
		if (ep->srq)
			pool_put(&ep->rx_pool, rx);
		return ret;
	}
	if (!ep->srq)
		ep->rx_tail++;
	return 0;
}

/* soft-iWARP accepts a receive without entries, and then fails the message. */
static unsigned at_least_one(const struct vrb_ep *ep, struct ibv_sge *sge, unsigned cnt)
{
	if (cnt || ep->domain->ctx->device->transport_type != IBV_TRANSPORT_IWARP)
		return cnt;
	sge[0] = (struct ibv_sge) { 0 };
	return 1;
}

/* @sge: has room for one entry at least */
static ssize_t recv_post(struct fid_ep *fid, struct ibv_sge *sge, unsigned cnt, void *buf,
			 void *context, uint64_t flags)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	struct obj_prog *prog = ep->base.prog;
	/* Whether a shared receive is reported is decided when an endpoint uses it. */
	bool want = ep->srq ? (flags & FI_COMPLETION) : obj_ep_want_rx_comp(&ep->base, flags);
	int ret;

	if (__builtin_expect(!prog || (!ep->qp && !ep->srq) || ep->base.srx, 0))
		return prog && ep->base.srx ? -FI_EINVAL : -FI_EOPBADSTATE;
	lock_get(&prog->lock);
	ret = recv_locked(ep, sge, at_least_one(ep, sge, cnt), buf, context, want);
	lock_put(&prog->lock);
	return ret;
}

ssize_t vrb_recv_general(struct fid_ep *fid, const struct ibv_sge *one, void *context)
{
	struct ibv_sge sge[1 + VRB_DGRAM_SGE] = { *one };

	return recv_post(fid, sge, one->length != 0, (void *) (uintptr_t) one->addr, context,
			 obj_ep_handle_of(fid)->rx_op_flags);
}

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	struct ibv_sge sge = { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };

	return vrb_recv_general(fid, &sge, context);
}

static ssize_t recv_iov(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			   void *context, uint64_t flags)
{
	struct ibv_sge sge[VRB_IOV_MAX + VRB_DGRAM_SGE];
	size_t i;

	if (cnt > VRB_IOV_MAX || iov_asked(iov, cnt) == SIZE_MAX)
		return -FI_EINVAL;
	for (i = 0; i < cnt; i++)
		sge[i] = (struct ibv_sge) { (uintptr_t) iov[i].iov_base, (uint32_t) iov[i].iov_len,
					    lkey_of(desc ? desc[i] : NULL) };
	return recv_post(fid, sge, (unsigned) cnt, cnt ? iov[0].iov_base : NULL, context, flags);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, void *context)
{
	return recv_iov(fid, iov, desc, cnt, context, obj_ep_handle_of(fid)->rx_op_flags);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	if (flags & ~(uint64_t) (FI_COMPLETION | FI_MORE))
		return -FI_EBADFLAGS;
	return recv_iov(fid, msg->msg_iov, msg->desc, msg->iov_count, msg->context, flags);
}

#define RECEIVES .recv = msg_recv, .recvv = msg_recvv, .recvmsg = msg_recvmsg

#define MSG_TABLE(kind) {							\
	RECEIVES,								\
	.send = kind##_send,							\
	.sendv = kind##_sendv,							\
	.sendmsg = kind##_sendmsg,						\
	.inject = kind##_inject,						\
	.senddata = kind##_senddata,						\
	.injectdata = kind##_injectdata,					\
}

struct fi_ops_msg vrb_msg_ops = MSG_TABLE(msg);
OBJ_OPS_TABLE(vrb_msg_ops, msg)

struct fi_ops_msg vrb_dgram_msg_ops = MSG_TABLE(dgram);
OBJ_OPS_TABLE(vrb_dgram_msg_ops, msg)

struct fi_ops_msg vrb_srx_msg_ops = { RECEIVES };
OBJ_OPS_TABLE(vrb_srx_msg_ops, msg)
