/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The data calls of connected endpoints.  Each fills a struct vrb_wr and goes through
 * post(), which finds it a place in the ring; the device completes requests in their
 * order, so the ring needs no more than a head and a tail.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "vrb_ep.h"

#define MSG_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
		   FI_REMOTE_CQ_DATA | FI_FENCE | FI_MORE)

/* A call on its way to the device. */
struct call {
	struct vrb_wr wr;
	struct ibv_sge sge[VRB_IOV_MAX];
	size_t len;
	void *context;
	uint64_t flags;			/* the call's, or the endpoint's defaults */
	uint64_t comp;			/* flags of the completion */
	enum obj_ep_cntr cntr;
	bool want;
};

static inline uint32_t lkey_of(const void *desc)
{
	return desc ? ((const struct ibv_mr *) desc)->lkey : 0;
}

static inline void one_piece(struct call *c, const void *buf, size_t len, void *desc)
{
	c->sge[0] = (struct ibv_sge) { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };
	c->wr.sge = c->sge;
	c->wr.sge_cnt = 1;
	c->len = len;
}

static int pieces(struct call *c, const struct iovec *iov, void **desc, size_t cnt)
{
	size_t i;

	if (cnt > VRB_IOV_MAX)
		return -FI_EINVAL;
	for (c->len = 0, i = 0; i < cnt; i++) {
		c->sge[i] = (struct ibv_sge) { (uintptr_t) iov[i].iov_base,
					       (uint32_t) iov[i].iov_len,
					       lkey_of(desc ? desc[i] : NULL) };
		c->len += iov[i].iov_len;
	}
	c->wr.sge = c->sge;
	c->wr.sge_cnt = (unsigned) cnt;
	return 0;
}

static char *scratch_of(const struct vrb_ep *ep)
{
	return ep->scratch + (size_t) (ep->tx_tail & ep->tx_mask) * ep->stride;
}

/* Where the device has no room for inline data: a copy in memory that it may read. */
static void use_scratch(struct vrb_ep *ep, struct call *c)
{
	char *copy = scratch_of(ep);
	unsigned i;
	size_t at = 0;

	for (i = 0; i < c->wr.sge_cnt; i++) {
		memcpy(copy + at, (void *) (uintptr_t) c->sge[i].addr, c->sge[i].length);
		at += c->sge[i].length;
	}
	c->sge[0] = (struct ibv_sge) { (uintptr_t) copy, (uint32_t) at, ep->scratch_mr->lkey };
	c->wr.sge_cnt = 1;
}

static inline bool carries_data(enum vrb_op op)
{
	return op <= VRB_OP_WRITE_IMM;
}

static inline int prepare(struct vrb_ep *ep, struct call *c)
{
	if (__builtin_expect(atomic_load_explicit(&ep->state, memory_order_relaxed) !=
			     VRB_EP_CONNECTED, 0))
		return ep->qp ? -FI_ENOTCONN : -FI_EOPBADSTATE;
	if (ep->tx_tail - ep->tx_head >= ep->tx_depth)
		return -FI_EAGAIN;
	if (carries_data(c->wr.op) && c->len <= ep->max_inline)
		c->wr.flags |= IBV_SEND_INLINE;
	else if (c->flags & FI_INJECT)
		use_scratch(ep, c);
	if (c->flags & FI_FENCE)
		c->wr.flags |= IBV_SEND_FENCE;
	/* A completion for one that nobody waits for retires those before it. */
	if (c->want || c->cntr == OBJ_CNTR_NONE || ep->base.cntrs[c->cntr] ||
	    ep->tx_quiet >= ep->tx_quiet_max)
		c->wr.flags |= IBV_SEND_SIGNALED;
	return 0;
}

static inline int post_locked(struct vrb_ep *ep, struct call *c)
{
	struct vrb_tx *tx = &ep->tx[ep->tx_tail & ep->tx_mask];
	int ret = prepare(ep, c);

	if (__builtin_expect(ret, 0))
		return ret;
	tx->context = c->context;
	tx->flags = c->comp;
	tx->ep = ep;
	tx->len = (uint32_t) c->len;
	tx->cntr = (uint8_t) c->cntr;
	tx->want = c->want;
	c->wr.wr_id = (uintptr_t) tx;
	ret = ep->sq.ops->build(&ep->sq, &c->wr);
	if (__builtin_expect(ret, 0))
		return ret;
	ep->tx_tail++;
	ep->tx_quiet = c->wr.flags & IBV_SEND_SIGNALED ? 0 : ep->tx_quiet + 1;
	if (!(c->flags & FI_MORE))
		ep->sq.ops->ring(&ep->sq);
	return 0;
}

static inline ssize_t post(struct vrb_ep *ep, struct call *c)
{
	struct obj_prog *prog = ep->base.prog;
	size_t max = c->flags & FI_INJECT ? ep->inject_size : ep->base.info->ep_attr->max_msg_size;
	int ret;

	if (__builtin_expect(!prog, 0))
		return -FI_EOPBADSTATE;
	if (__builtin_expect(c->len > max, 0))
		return -FI_EMSGSIZE;
	lock_get(&prog->lock);
	ret = post_locked(ep, c);
	if (ret == -FI_EAGAIN && vrb_poller_run(ep->poller, OBJ_POLL_BUDGET))
		ret = post_locked(ep, c);
	lock_put(&prog->lock);
	return ret;
}

/* A call without flags of its own. */
static inline void by_handle(struct call *c, struct fid_ep *fid, void *context)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);

	c->context = context;
	c->flags = h->tx_op_flags & ~FI_REMOTE_CQ_DATA;
	c->want = obj_ep_want_tx_comp(h->ep, h->tx_op_flags);
	/* FI_INJECT as a default means: when it fits. */
	if ((c->flags & FI_INJECT) && c->len > container_of(h->ep, struct vrb_ep, base)->inject_size)
		c->flags &= ~FI_INJECT;
}

static inline int by_flags(struct call *c, struct fid_ep *fid, void *context, uint64_t flags)
{
	if (flags & ~(uint64_t) MSG_FLAGS)
		return -FI_EBADFLAGS;
	c->context = context;
	c->flags = flags;
	c->want = obj_ep_want_tx_comp(obj_ep_of(fid), flags);
	return 0;
}

static inline void with_data(struct call *c, uint64_t data)
{
	c->wr.op++;	/* each operation that can carry data is followed by its form that does */
	c->wr.imm = (uint32_t) data;
}

int vrb_post_marker(struct vrb_ep *ep)
{
	struct call c;

	memset(&c.wr, 0, sizeof(c.wr));
	c.wr.op = VRB_OP_WRITE;
	c.wr.sge = c.sge;
	c.len = 0;
	c.context = NULL;
	c.flags = 0;
	c.comp = 0;
	c.cntr = OBJ_CNTR_NONE;
	c.want = false;
	return post_locked(ep, &c);
}

/* ---- messages ------------------------------------------------------------------- */

/* Only what is used is set: the array of pieces stays as it is. */
#define CALL(name, op_, comp_, cntr_)						\
	struct call name;							\
	name.wr.op = (op_);							\
	name.wr.flags = 0;							\
	name.wr.imm = 0;							\
	name.comp = (comp_);							\
	name.cntr = (cntr_)
#define SEND_CALL(name) CALL(name, VRB_OP_SEND, FI_SEND | FI_MSG, OBJ_CNTR_SEND)

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest, void *context)
{
	SEND_CALL(c);

	one_piece(&c, buf, len, desc);
	by_handle(&c, fid, context);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, void *context)
{
	SEND_CALL(c);

	if (pieces(&c, iov, desc, cnt))
		return -FI_EINVAL;
	by_handle(&c, fid, context);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	SEND_CALL(c);
	int ret = pieces(&c, msg->msg_iov, msg->desc, msg->iov_count);

	if (!ret)
		ret = by_flags(&c, fid, msg->context, flags);
	if (ret)
		return ret;
	if (flags & FI_REMOTE_CQ_DATA)
		with_data(&c, msg->data);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest, void *context)
{
	SEND_CALL(c);

	one_piece(&c, buf, len, desc);
	by_handle(&c, fid, context);
	with_data(&c, data);
	return post(vrb_ep_of(fid), &c);
}

/* An injected message has no completion but its count. */
static inline void silent(struct call *c, const void *buf, size_t len)
{
	one_piece(c, buf, len, NULL);
	c->context = NULL;
	c->flags = FI_INJECT;
	c->want = false;
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest)
{
	SEND_CALL(c);

	silent(&c, buf, len);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest)
{
	SEND_CALL(c);

	silent(&c, buf, len);
	with_data(&c, data);
	return post(vrb_ep_of(fid), &c);
}

/* ---- receives --------------------------------------------------------------------- */

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
	ret = vrb_recv_post(ep->qp, ep->srq, (uintptr_t) rx | VRB_WR_RECV, sge, cnt);
	if (ret) {
		if (ep->srq)
			pool_put(&ep->rx_pool, rx);
		return ret;
	}
	if (!ep->srq)
		ep->rx_tail++;
	return 0;
}

static ssize_t recv_post(struct fid_ep *fid, struct ibv_sge *sge, unsigned cnt, void *buf,
			 void *context, uint64_t flags)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	struct obj_prog *prog = ep->base.prog;
	/* What shared receives report is decided by the endpoint that they serve. */
	bool want = ep->srq ? (flags & FI_COMPLETION) : obj_ep_want_rx_comp(&ep->base, flags);
	int ret;

	if (__builtin_expect(!prog || (!ep->qp && !ep->srq) || ep->base.srx, 0))
		return prog && ep->base.srx ? -FI_EINVAL : -FI_EOPBADSTATE;
	lock_get(&prog->lock);
	ret = recv_locked(ep, sge, cnt, buf, context, want);
	lock_put(&prog->lock);
	return ret;
}

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	struct ibv_sge sge = { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };

	return recv_post(fid, &sge, len != 0, buf, context, obj_ep_handle_of(fid)->rx_op_flags);
}

static ssize_t recv_pieces(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			   void *context, uint64_t flags)
{
	struct ibv_sge sge[VRB_IOV_MAX];
	size_t i;

	if (cnt > VRB_IOV_MAX)
		return -FI_EINVAL;
	for (i = 0; i < cnt; i++)
		sge[i] = (struct ibv_sge) { (uintptr_t) iov[i].iov_base, (uint32_t) iov[i].iov_len,
					    lkey_of(desc ? desc[i] : NULL) };
	return recv_post(fid, sge, (unsigned) cnt, cnt ? iov[0].iov_base : NULL, context, flags);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, void *context)
{
	return recv_pieces(fid, iov, desc, cnt, context, obj_ep_handle_of(fid)->rx_op_flags);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	if (flags & ~(uint64_t) (FI_COMPLETION | FI_MORE))
		return -FI_EBADFLAGS;
	return recv_pieces(fid, msg->msg_iov, msg->desc, msg->iov_count, msg->context, flags);
}

struct fi_ops_msg vrb_msg_ops = {
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};

struct fi_ops_msg vrb_srx_msg_ops = {
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
};

/* ---- remote memory ------------------------------------------------------------------ */

#define READ_CALL(name) CALL(name, VRB_OP_READ, FI_READ | FI_RMA, OBJ_CNTR_READ)
#define WRITE_CALL(name) CALL(name, VRB_OP_WRITE, FI_WRITE | FI_RMA, OBJ_CNTR_WRITE)

static inline void remote(struct call *c, uint64_t addr, uint64_t key)
{
	c->wr.addr = addr;
	c->wr.rkey = (uint32_t) key;
}

static ssize_t rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	READ_CALL(c);

	one_piece(&c, buf, len, desc);
	by_handle(&c, fid, context);
	c.flags &= ~FI_INJECT;
	remote(&c, addr, key);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_readv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	READ_CALL(c);

	if (pieces(&c, iov, desc, cnt))
		return -FI_EINVAL;
	by_handle(&c, fid, context);
	c.flags &= ~FI_INJECT;
	remote(&c, addr, key);
	return post(vrb_ep_of(fid), &c);
}

static int from_rma_msg(struct call *c, struct fid_ep *fid, const struct fi_msg_rma *msg,
			uint64_t flags)
{
	int ret = msg->rma_iov_count == 1 ? 0 : -FI_EINVAL;

	if (!ret)
		ret = pieces(c, msg->msg_iov, msg->desc, msg->iov_count);
	if (!ret)
		ret = by_flags(c, fid, msg->context, flags);
	if (!ret)
		remote(c, msg->rma_iov[0].addr, msg->rma_iov[0].key);
	return ret;
}

static ssize_t rma_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	READ_CALL(c);
	int ret = from_rma_msg(&c, fid, msg, flags);

	if (ret || (flags & (FI_INJECT | FI_REMOTE_CQ_DATA)))
		return ret ? ret : -FI_EBADFLAGS;
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	WRITE_CALL(c);

	one_piece(&c, buf, len, desc);
	by_handle(&c, fid, context);
	remote(&c, addr, key);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_writev(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	WRITE_CALL(c);

	if (pieces(&c, iov, desc, cnt))
		return -FI_EINVAL;
	by_handle(&c, fid, context);
	remote(&c, addr, key);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	WRITE_CALL(c);
	int ret = from_rma_msg(&c, fid, msg, flags);

	if (ret)
		return ret;
	if (flags & FI_REMOTE_CQ_DATA)
		with_data(&c, msg->data);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
			  uint64_t addr, uint64_t key)
{
	WRITE_CALL(c);

	silent(&c, buf, len);
	remote(&c, addr, key);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
			     void *context)
{
	WRITE_CALL(c);

	one_piece(&c, buf, len, desc);
	by_handle(&c, fid, context);
	remote(&c, addr, key);
	with_data(&c, data);
	return post(vrb_ep_of(fid), &c);
}

static ssize_t rma_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest, uint64_t addr, uint64_t key)
{
	WRITE_CALL(c);

	silent(&c, buf, len);
	remote(&c, addr, key);
	with_data(&c, data);
	return post(vrb_ep_of(fid), &c);
}

/* ---- atomics --------------------------------------------------------------------------- */

/*
 * The device adds and compares 64-bit integers, one at a time, and always gives back
 * the old value.  What fi_atomic(3) calls a read is an addition of 0, a write is a
 * write of 8 aligned bytes, which the device does not tear.
 */
static bool atomic_ok(enum fi_datatype datatype, enum fi_op op, bool fetch, bool compare)
{
	if (datatype != FI_INT64 && datatype != FI_UINT64)
		return false;
	if (compare)
		return op == FI_CSWAP;
	return op == FI_SUM || (fetch ? op == FI_ATOMIC_READ : op == FI_ATOMIC_WRITE);
}

static int atomic_valid(size_t *count, bool ok)
{
	if (!ok)
		return -FI_EOPNOTSUPP;
	*count = 1;
	return 0;
}

static int valid_base(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op, size_t *count)
{
	return atomic_valid(count, atomic_ok(datatype, op, false, false));
}

static int valid_fetch(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op, size_t *count)
{
	return atomic_valid(count, atomic_ok(datatype, op, true, false));
}

static int valid_compare(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			 size_t *count)
{
	return atomic_valid(count, atomic_ok(datatype, op, false, true));
}

int vrb_query_atomic(struct fid_domain *fid, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags)
{
	struct vrb_domain *domain = vrb_domain_of(obj_domain_of(fid));

	if (domain->attr.atomic_cap == IBV_ATOMIC_NONE || (flags & FI_TAGGED) ||
	    !atomic_ok(datatype, op, flags & FI_FETCH_ATOMIC, flags & FI_COMPARE_ATOMIC))
		return -FI_EOPNOTSUPP;
	attr->count = 1;
	attr->size = sizeof(uint64_t);
	return 0;
}

/* One call of fi_atomic(3) and its kin, in pieces. */
struct amo {
	enum fi_datatype datatype;
	enum fi_op op;
	const void *operand, *compare;
	void *result;			/* NULL: the base form */
	void *desc;			/* of the result */
	uint64_t addr, key;
};

static inline uint64_t load64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int amo_fill(struct vrb_ep *ep, struct call *c, const struct amo *a)
{
	if (!atomic_ok(a->datatype, a->op, a->result, a->compare))
		return -FI_EOPNOTSUPP;
	remote(c, a->addr, a->key);
	if (a->op == FI_ATOMIC_WRITE) {
		one_piece(c, a->operand, sizeof(uint64_t), NULL);
		c->flags |= FI_INJECT;	/* the operand is taken now */
		return 0;
	}
	c->flags &= ~FI_INJECT;
	c->wr.op = a->compare ? VRB_OP_SWAP : VRB_OP_ADD;
	c->wr.operand = a->op == FI_ATOMIC_READ ? 0 : load64(a->operand);
	if (a->compare)
		c->wr.compare = load64(a->compare);
	one_piece(c, a->result, sizeof(uint64_t), a->desc);
	if (!a->result) {
		/* A slot of scratch that the ring reuses only when this is done; the
		 * result is for nobody, so it may be any.
		 */
		c->sge[0].addr = (uintptr_t) ep->scratch;
		c->sge[0].lkey = ep->scratch_mr->lkey;
	}
	return 0;
}

static ssize_t amo_post(struct fid_ep *fid, const struct amo *a, size_t count, void *context,
			const uint64_t *flags)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	bool fetch = a->result;
	CALL(c, VRB_OP_WRITE, FI_ATOMIC | (fetch ? FI_READ : FI_WRITE),
	     fetch ? OBJ_CNTR_READ : OBJ_CNTR_WRITE);
	int ret = 0;

	if (count != 1)
		return count ? -FI_EOPNOTSUPP : -FI_EINVAL;
	c.len = sizeof(uint64_t);
	if (flags)
		ret = by_flags(&c, fid, context, *flags);
	else
		by_handle(&c, fid, context);
	if (!ret && !ep->scratch && ep->base.prog)
		ret = -FI_EOPNOTSUPP;
	if (!ret && !ep->qp)
		ret = -FI_EOPBADSTATE;
	if (!ret)
		ret = amo_fill(ep, &c, a);
	return ret ? ret : post(ep, &c);
}

static ssize_t amo_write(struct fid_ep *fid, const void *buf, size_t count, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype datatype,
			 enum fi_op op, void *context)
{
	struct amo a = { datatype, op, buf, NULL, NULL, NULL, addr, key };

	return amo_post(fid, &a, count, context, NULL);
}

static ssize_t amo_writev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype datatype,
			  enum fi_op op, void *context)
{
	if (cnt != 1)
		return -FI_EINVAL;
	return amo_write(fid, iov->addr, iov->count, NULL, dest, addr, key, datatype, op, context);
}

static struct amo amo_of_msg(const struct fi_msg_atomic *msg)
{
	return (struct amo) {
		.datatype = msg->datatype,
		.op = msg->op,
		.operand = msg->iov_count ? msg->msg_iov[0].addr : NULL,
		.addr = msg->rma_iov[0].addr,
		.key = msg->rma_iov[0].key,
	};
}

static ssize_t amo_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg, uint64_t flags)
{
	struct amo a;

	if (msg->rma_iov_count != 1 || msg->iov_count != 1)
		return -FI_EINVAL;
	a = amo_of_msg(msg);
	return amo_post(fid, &a, msg->msg_iov[0].count, msg->context, &flags);
}

static ssize_t amo_inject(struct fid_ep *fid, const void *buf, size_t count, fi_addr_t dest,
			  uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	struct amo a = { datatype, op, buf, NULL, NULL, NULL, addr, key };
	CALL(c, VRB_OP_WRITE, FI_ATOMIC | FI_WRITE, OBJ_CNTR_WRITE);
	int ret;

	if (count != 1 || !ep->scratch)
		return ep->qp ? -FI_EOPNOTSUPP : -FI_EOPBADSTATE;
	silent(&c, buf, sizeof(uint64_t));
	ret = amo_fill(ep, &c, &a);
	return ret ? ret : post(ep, &c);
}

static ssize_t amo_readwrite(struct fid_ep *fid, const void *buf, size_t count, void *desc,
			     void *result, void *result_desc, fi_addr_t dest, uint64_t addr,
			     uint64_t key, enum fi_datatype datatype, enum fi_op op,
			     void *context)
{
	struct amo a = { datatype, op, buf, NULL, result, result_desc, addr, key };

	return amo_post(fid, &a, count, context, NULL);
}

static ssize_t amo_readwritev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
			      size_t cnt, struct fi_ioc *result, void **result_desc,
			      size_t result_cnt, fi_addr_t dest, uint64_t addr, uint64_t key,
			      enum fi_datatype datatype, enum fi_op op, void *context)
{
	if (result_cnt != 1 || (cnt != 1 && op != FI_ATOMIC_READ))
		return -FI_EINVAL;
	return amo_readwrite(fid, cnt ? iov->addr : NULL, result->count, NULL, result->addr,
			     result_desc ? result_desc[0] : NULL, dest, addr, key, datatype, op,
			     context);
}

static ssize_t amo_readwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				struct fi_ioc *result, void **result_desc, size_t result_cnt,
				uint64_t flags)
{
	struct amo a;

	if (msg->rma_iov_count != 1 || result_cnt != 1)
		return -FI_EINVAL;
	a = amo_of_msg(msg);
	a.result = result[0].addr;
	a.desc = result_desc ? result_desc[0] : NULL;
	return amo_post(fid, &a, result[0].count, msg->context, &flags);
}

static ssize_t amo_compwrite(struct fid_ep *fid, const void *buf, size_t count, void *desc,
			     const void *compare, void *compare_desc, void *result,
			     void *result_desc, fi_addr_t dest, uint64_t addr, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct amo a = { datatype, op, buf, compare, result, result_desc, addr, key };

	return amo_post(fid, &a, count, context, NULL);
}

static ssize_t amo_compwritev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
			      size_t cnt, const struct fi_ioc *compare, void **compare_desc,
			      size_t compare_cnt, struct fi_ioc *result, void **result_desc,
			      size_t result_cnt, fi_addr_t dest, uint64_t addr, uint64_t key,
			      enum fi_datatype datatype, enum fi_op op, void *context)
{
	if (cnt != 1 || compare_cnt != 1 || result_cnt != 1)
		return -FI_EINVAL;
	return amo_compwrite(fid, iov->addr, iov->count, NULL, compare->addr, NULL, result->addr,
			     result_desc ? result_desc[0] : NULL, dest, addr, key, datatype, op,
			     context);
}

static ssize_t amo_compwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				const struct fi_ioc *compare, void **compare_desc,
				size_t compare_cnt, struct fi_ioc *result, void **result_desc,
				size_t result_cnt, uint64_t flags)
{
	struct amo a;

	if (msg->rma_iov_count != 1 || msg->iov_count != 1 || compare_cnt != 1 || result_cnt != 1)
		return -FI_EINVAL;
	a = amo_of_msg(msg);
	a.compare = compare[0].addr;
	a.result = result[0].addr;
	a.desc = result_desc ? result_desc[0] : NULL;
	return amo_post(fid, &a, msg->msg_iov[0].count, msg->context, &flags);
}

struct fi_ops_atomic vrb_atomic_ops = {
	.write = amo_write,
	.writev = amo_writev,
	.writemsg = amo_writemsg,
	.inject = amo_inject,
	.readwrite = amo_readwrite,
	.readwritev = amo_readwritev,
	.readwritemsg = amo_readwritemsg,
	.compwrite = amo_compwrite,
	.compwritev = amo_compwritev,
	.compwritemsg = amo_compwritemsg,
	.writevalid = valid_base,
	.readwritevalid = valid_fetch,
	.compwritevalid = valid_compare,
};

struct fi_ops_rma vrb_rma_ops = {
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
