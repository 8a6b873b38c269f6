/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rma.c - RMA and atomics of connected endpoints: the slow path.
 */
#include "obj/endpoint/by_msg.h"
#include "verbs/request.h"

/* ---- remote memory -------------------------------------------------------------- */

#define READ_REQUEST(name) REQUEST(name, VRB_OP_READ, FI_READ | FI_RMA, OBJ_CNTR_READ)
#define WRITE_REQUEST(name) REQUEST(name, VRB_OP_WRITE, FI_WRITE | FI_RMA, OBJ_CNTR_WRITE)

static inline void set_remote(struct request *r, uint64_t addr, uint64_t key)
{
	r->wr.addr = addr;
	r->wr.rkey = (uint32_t) key;
}

#define INLINE __attribute__((always_inline)) static inline

/* A read has nothing to inject, whatever the endpoint's default is.
 * @data: remote CQ data, or NULL
 */
INLINE ssize_t post_rma(struct fid_ep *fid, struct request *r, void *context, uint64_t addr,
			uint64_t key, const uint64_t *data)
{
	with_defaults(r, fid, context);
	if (r->wr.op == VRB_OP_READ)
		r->flags &= ~FI_INJECT;
	set_remote(r, addr, key);
	if (data)
		with_cq_data(r, *data);
	return request_post(vrb_ep_of(fid), r);
}

INLINE ssize_t post_inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t addr,
			   uint64_t key, const uint64_t *data)
{
	WRITE_REQUEST(r);

	as_inject(&r, buf, len);
	set_remote(&r, addr, key);
	if (data)
		with_cq_data(&r, *data);
	return request_post(vrb_ep_of(fid), &r);
}

static ssize_t rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	READ_REQUEST(r);

	set_buf(&r, buf, len, desc);
	return post_rma(fid, &r, context, addr, key, NULL);
}

static ssize_t rma_readv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	READ_REQUEST(r);

	return set_iov(&r, iov, desc, cnt) || iov_wraps(addr, r.len) ? -FI_EINVAL :
	       post_rma(fid, &r, context, addr, key, NULL);
}

static ssize_t rma_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	WRITE_REQUEST(r);

	set_buf(&r, buf, len, desc);
	return post_rma(fid, &r, context, addr, key, NULL);
}

static ssize_t rma_writev(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	WRITE_REQUEST(r);

	return set_iov(&r, iov, desc, cnt) || iov_wraps(addr, r.len) ? -FI_EINVAL :
	       post_rma(fid, &r, context, addr, key, NULL);
}

static ssize_t rma_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
			     void *context)
{
	WRITE_REQUEST(r);

	set_buf(&r, buf, len, desc);
	return post_rma(fid, &r, context, addr, key, &data);
}

static ssize_t rma_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
			  uint64_t addr, uint64_t key)
{
	return post_inject(fid, buf, len, addr, key, NULL);
}

static ssize_t rma_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest, uint64_t addr, uint64_t key)
{
	return post_inject(fid, buf, len, addr, key, &data);
}

/* The device accesses one remote range per request. */
static int from_rma_msg(struct request *r, struct fid_ep *fid, const struct fi_msg_rma *msg,
			uint64_t flags)
{
	int ret = msg->rma_iov_count == 1 && !iov_wraps(msg->rma_iov[0].addr, msg->rma_iov[0].len) ? 0 :
		  -FI_EINVAL;

	if (!ret)
		ret = set_iov(r, msg->msg_iov, msg->desc, msg->iov_count);
	if (!ret)
		ret = with_flags(r, fid, msg->context, flags);
	if (!ret)
		set_remote(r, msg->rma_iov[0].addr, msg->rma_iov[0].key);
	return ret;
}

static ssize_t rma_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	READ_REQUEST(r);
	int ret = from_rma_msg(&r, fid, msg, flags);

	if (ret || (flags & (FI_INJECT | FI_REMOTE_CQ_DATA)))
		return ret ? ret : -FI_EBADFLAGS;
	return request_post(vrb_ep_of(fid), &r);
}

static ssize_t rma_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	WRITE_REQUEST(r);
	int ret = from_rma_msg(&r, fid, msg, flags);

	if (ret)
		return ret;
	if (flags & FI_REMOTE_CQ_DATA)
		with_cq_data(&r, msg->data);
	return request_post(vrb_ep_of(fid), &r);
}

/* ---- atomics -------------------------------------------------------------------- */

/*
 * The device adds to, and compares and swaps, one 64-bit integer, and always returns the old
 * value.  FI_ATOMIC_READ is an addition of 0; FI_ATOMIC_WRITE is a write of 8 aligned bytes, which
 * the device does not split.
 */
static bool atomic_ok(enum fi_datatype datatype, enum fi_op op, bool fetch, bool compare)
{
	if (datatype != FI_INT64 && datatype != FI_UINT64)
		return false;
	if (compare)
		return op == FI_CSWAP;
	return op == FI_SUM || (fetch ? op == FI_ATOMIC_READ : op == FI_ATOMIC_WRITE);
}

#define VALID(form, fetch, compare)						\
	static int valid_##form(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op, \
				size_t *count)					\
	{									\
		if (!atomic_ok(datatype, op, fetch, compare))			\
			return -FI_EOPNOTSUPP;					\
		*count = 1;							\
		return 0;							\
	}

VALID(base, false, false)
VALID(fetch, true, false)
VALID(compare, false, true)

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

/* The arguments of one call of fi_atomic(3). */
struct amo {
	enum fi_datatype datatype;
	enum fi_op op;
	const void *operand, *compare;
	void *result;			/* NULL: the base form */
	void *desc;			/* of the result buffer */
	uint64_t addr, key;
};

static inline uint64_t load_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Turn the operation into one of the device.  The result needs a registered buffer: the program's,
 * or scratch of the endpoint.
 */
static int amo_fill(struct vrb_ep *ep, struct request *c, const struct amo *a)
{
	if (!atomic_ok(a->datatype, a->op, a->result, a->compare))
		return -FI_EOPNOTSUPP;
	set_remote(c, a->addr, a->key);
	if (a->op == FI_ATOMIC_WRITE) {
		set_buf(c, a->operand, sizeof(uint64_t), NULL);
		c->flags |= FI_INJECT;	/* the operand is copied now */
		return 0;
	}
	c->flags &= ~FI_INJECT;
	c->wr.op = a->compare ? VRB_OP_SWAP : VRB_OP_ADD;
	c->wr.operand = a->op == FI_ATOMIC_READ ? 0 : load_u64(a->operand);
	if (a->compare)
		c->wr.compare = load_u64(a->compare);
	set_buf(c, a->result, sizeof(uint64_t), a->desc);
	if (!a->result) {
		/* The result is not returned to the program: any slot of scratch will do. */
		c->sge[0].addr = (uintptr_t) ep->scratch;
		c->sge[0].lkey = ep->scratch_mr->lkey;
	}
	return 0;
}

static ssize_t amo_post(struct fid_ep *fid, const struct amo *a, size_t count, void *context,
			uint64_t flags)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	bool fetch = a->result;
	REQUEST(c, VRB_OP_WRITE, FI_ATOMIC | (fetch ? FI_READ : FI_WRITE),
	     fetch ? OBJ_CNTR_READ : OBJ_CNTR_WRITE);
	int ret;

	if (count != 1)
		return count ? -FI_EOPNOTSUPP : -FI_EINVAL;
	c.len = sizeof(uint64_t);
	ret = with_flags(&c, fid, context, flags);
	if (!ret && !ep->scratch && ep->base.prog)
		ret = -FI_EOPNOTSUPP;
	if (!ret && !ep->tx)
		ret = -FI_EOPBADSTATE;
	if (!ret)
		ret = amo_fill(ep, &c, a);
	return ret ? ret : request_post(ep, &c);
}

/* The three msg forms; the caller has checked the counts that only its form has.
 * @compare, @result: NULL where the form has none
 */
static ssize_t amo_msg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
		       const struct fi_ioc *compare, const struct fi_ioc *result, void **result_desc,
		       uint64_t flags)
{
	struct amo a = {
		.datatype = msg->datatype,
		.op = msg->op,
		.operand = msg->iov_count ? msg->msg_iov[0].addr : NULL,
		.compare = compare ? compare->addr : NULL,
		.result = result ? result->addr : NULL,
		.desc = result_desc ? result_desc[0] : NULL,
	};

	if (msg->rma_iov_count != 1 || (!result && msg->iov_count != 1))
		return -FI_EINVAL;
	a.addr = msg->rma_iov[0].addr;
	a.key = msg->rma_iov[0].key;
	/* a fetch may have no operand */
	return amo_post(fid, &a, (result && !compare ? result : msg->msg_iov)->count, msg->context,
			flags);
}

static ssize_t amo_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg, uint64_t flags)
{
	return amo_msg(fid, msg, NULL, NULL, NULL, flags);
}

static ssize_t amo_inject(struct fid_ep *fid, const void *buf, size_t count, fi_addr_t dest,
			  uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op)
{
	struct vrb_ep *ep = vrb_ep_of(fid);
	struct amo a = { datatype, op, buf, NULL, NULL, NULL, addr, key };
	REQUEST(c, VRB_OP_WRITE, FI_ATOMIC | FI_WRITE, OBJ_CNTR_WRITE);
	int ret;

	if (count != 1 || !ep->scratch)
		return ep->tx ? -FI_EOPNOTSUPP : -FI_EOPBADSTATE;
	as_inject(&c, buf, sizeof(uint64_t));
	ret = amo_fill(ep, &c, &a);
	return ret ? ret : request_post(ep, &c);
}

static ssize_t amo_readwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				struct fi_ioc *result, void **result_desc, size_t result_cnt,
				uint64_t flags)
{
	return result_cnt == 1 ? amo_msg(fid, msg, NULL, result, result_desc, flags) : -FI_EINVAL;
}

static ssize_t amo_compwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				const struct fi_ioc *compare, void **compare_desc,
				size_t compare_cnt, struct fi_ioc *result, void **result_desc,
				size_t result_cnt, uint64_t flags)
{
	if (msg->iov_count != 1 || compare_cnt != 1 || result_cnt != 1)
		return -FI_EINVAL;
	return amo_msg(fid, msg, compare, result, result_desc, flags);
}

struct fi_ops_atomic vrb_atomic_ops = {
	.writemsg = amo_writemsg,
	.inject = amo_inject,
	.readwritemsg = amo_readwritemsg,
	.compwritemsg = amo_compwritemsg,
	.writevalid = valid_base,
	.readwritevalid = valid_fetch,
	.compwritevalid = valid_compare,
};
OBJ_OPS_TABLE_BY_MSG(vrb_atomic_ops, atomic)

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
OBJ_OPS_TABLE(vrb_rma_ops, rma)
