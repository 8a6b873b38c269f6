// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * atomic_call.c - the calls of atomic operations, each a description of one for atomic_post().
 */
#include "obj.h"

#define FLAGS (FI_COMPLETION | FI_INJECT | FI_MORE | FI_REMOTE_CQ_DATA | FI_INJECT_COMPLETE | \
	       FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_ATOMIC | FI_FETCH_ATOMIC | \
	       FI_COMPARE_ATOMIC)

/* A list of elements. */
struct elements {
	const struct fi_ioc	*list;
	size_t			cnt;
};

/* What a call asks for. */
struct call {
	enum kofi_op_type	type;
	struct fi_msg_atomic	msg;
	struct elements		compare;
	struct elements		result;
	uint64_t		flags;
	bool			silent;		/* an inject call: no completion */
	/* set by atomic_check() */
	size_t			size;		/* bytes of an element */
	size_t			len;		/* bytes of all elements */
};

/* The bytes of the most elements that there may be; 0: there is no such operation. */
static size_t limit_of(const struct kofi_domain *domain, enum kofi_op_type type,
		       unsigned int datatype, unsigned int op)
{
	const struct kofi_obj_ops *ops = domain->fabric->ops;

	if (!kofi_atomic_size(type, datatype, op))
		return 0;
	return ops->atomic_limit ? ops->atomic_limit(domain, type, datatype, op) :
				   KOFI_ATOMIC_MAX;
}

static bool adds_up(const struct elements *elements, const struct call *call, size_t room)
{
	size_t i, sum = 0;

	if (elements->cnt > room || (elements->cnt && !elements->list))
		return false;
	for (i = 0; i < elements->cnt; i++) {
		if (elements->list[i].count > KOFI_ATOMIC_MAX)
			return false;
		sum += elements->list[i].count;
	}
	return sum * call->size == call->len;
}

static struct elements operands_of(const struct call *call)
{
	return (struct elements){ call->msg.msg_iov, call->msg.iov_count };
}

static bool only_reads(const struct call *call)
{
	return call->msg.op == FI_ATOMIC_READ;
}

static int check_lists(const struct kofi_ep *ep, const struct call *call)
{
	struct elements list = operands_of(call);

	if ((!only_reads(call) && !adds_up(&list, call, ep->tx_iov_limit)) ||
	    (call->type == KOFI_COMPARE && !adds_up(&call->compare, call, ep->tx_iov_limit)) ||
	    (call->type != KOFI_ATOMIC && !adds_up(&call->result, call, ep->tx_iov_limit)))
		return -FI_EINVAL;
	if (call->flags & FI_INJECT && (call->type != KOFI_ATOMIC || call->len > ep->inject_size))
		return -FI_EMSGSIZE;
	return 0;
}

static int atomic_check(const struct kofi_ep *ep, struct call *call)
{
	const struct fi_msg_atomic *msg = &call->msg;
	size_t i, limit, cnt = 0;

	if (!(ep->caps & FI_ATOMIC))
		return -FI_ENOSYS;
	if (!smp_load_acquire(&ep->enabled))
		return -FI_EOPBADSTATE;
	if (call->flags & ~FLAGS)
		return -FI_EBADFLAGS;
	limit = limit_of(ep->domain, call->type, msg->datatype, msg->op);
	if (!limit)
		return -FI_EOPNOTSUPP;
	call->size = kofi_atomic_size(call->type, msg->datatype, msg->op);
	if (!msg->rma_iov_count || msg->rma_iov_count > ep->rma_iov_limit)
		return -FI_EINVAL;
	for (i = 0; i < msg->rma_iov_count; i++) {
		if (msg->rma_iov[i].count > limit / call->size - cnt)
			return -FI_EMSGSIZE;
		cnt += msg->rma_iov[i].count;
	}
	call->len = cnt * call->size;
	return cnt ? check_lists(ep, call) : -FI_EINVAL;
}

/* ---- posting ---- */

/* Lists of elements become lists of pieces; returns the end of @out. */
static struct kvec *atomic_fill_segs(struct kofi_segs *segs, const struct elements *elements,
				     const struct call *call, struct kvec *out)
{
	size_t i;

	segs->is_bvec = false;
	segs->cnt = elements->cnt;
	segs->len = elements->cnt ? call->len : 0;
	segs->kvec = out;
	for (i = 0; i < elements->cnt; i++, out++) {
		out->iov_base = elements->list[i].addr;
		out->iov_len = elements->list[i].count * call->size;
	}
	return out;
}

/* Injected operands lie behind the one piece that describes them. */
static void fill_inject(struct kofi_op *op, struct call *call)
{
	struct elements list = operands_of(call);
	struct kvec *kvec = op->store;
	u8 *to = (u8 *)(kvec + 1);
	size_t i, n;

	*kvec = (struct kvec){ to, call->len };
	for (i = 0; i < list.cnt; i++, to += n) {
		n = list.list[i].count * call->size;
		memcpy(to, list.list[i].addr, n);
	}
	op->segs = (struct kofi_segs){ .cnt = 1, .len = call->len, .kvec = kvec };
}

static void atomic_fill(struct kofi_op *op, struct call *call)
{
	const struct fi_msg_atomic *msg = &call->msg;
	struct elements list = operands_of(call), none = {};
	struct kvec *end = op->store;
	size_t i;

	op->type = call->type;
	op->flags = call->silent ? call->flags & ~FI_COMPLETION :
		    call->flags | (op->ep->tx_selective ? 0 : FI_COMPLETION);
	op->context = msg->context;
	op->addr = msg->addr;
	op->tag = 0;
	op->data = msg->data & op->ep->domain->cq_data_mask;
	op->datatype = msg->datatype;
	op->amo = msg->op;
	op->rma_cnt = msg->rma_iov_count;
	for (i = 0; i < msg->rma_iov_count; i++)
		op->rma[i] = (struct fi_rma_iov){ .addr = msg->rma_iov[i].addr,
						  .len = msg->rma_iov[i].count * call->size,
						  .key = msg->rma_iov[i].key };
	end = atomic_fill_segs(&op->segs, only_reads(call) ? &none : &list, call, end);
	end = atomic_fill_segs(&op->compare, &call->compare, call, end);
	atomic_fill_segs(&op->result, &call->result, call, end);
	if (call->flags & FI_INJECT)
		fill_inject(op, call);
}

static ssize_t atomic_post(struct fid_ep *fid, struct call *call)
{
	struct kofi_ep *ep = container_of(fid, struct kofi_ep, ep);
	struct kofi_op *op;
	int ret = atomic_check(ep, call);

	if (ret)
		return ret;
	op = obj_op_take(&ep->tx_pool, ep->tx_cq);
	if (!op)
		return -FI_EAGAIN;
	atomic_fill(op, call);
	ret = ep->ops->tx(ep, op);
	if (ret)
		obj_op_give(&ep->tx_pool, ep->tx_cq, op);
	return ret;
}

/* ---- the calls ---- */

#define TX(fid)	(container_of(fid, struct kofi_ep, ep)->tx_op_flags)

static ssize_t post_msg(struct fid_ep *ep, enum kofi_op_type type, const struct fi_msg_atomic *msg,
			const struct fi_ioc *comparev, size_t compare_cnt,
			const struct fi_ioc *resultv, size_t result_cnt, uint64_t flags)
{
	struct call call = {
		.type = type, .msg = *msg, .compare = { comparev, compare_cnt },
		.result = { resultv, result_cnt }, .flags = flags,
	};

	return atomic_post(ep, &call);
}

static ssize_t atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg, uint64_t flags)
{
	return post_msg(ep, KOFI_ATOMIC, msg, NULL, 0, NULL, 0, flags);
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   struct fi_ioc *resultv, void **result_desc, size_t result_count,
				   uint64_t flags)
{
	return post_msg(ep, KOFI_FETCH, msg, NULL, 0, resultv, result_count, flags);
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   const struct fi_ioc *comparev, void **compare_desc,
				   size_t compare_count, struct fi_ioc *resultv,
				   void **result_desc, size_t result_count, uint64_t flags)
{
	return post_msg(ep, KOFI_COMPARE, msg, comparev, compare_count, resultv, result_count,
			flags);
}

/* The message that calls of one remote range describe, of @cnt_ elements in all. */
#define MSG(iov_, iov_cnt_, cnt_)						\
	(&(struct fi_msg_atomic){						\
		.msg_iov = (iov_), .iov_count = (iov_cnt_), .addr = dest_addr,	\
		.rma_iov = &(struct fi_rma_ioc){ .addr = addr, .count = (cnt_), .key = key },	\
		.rma_iov_count = 1, .datatype = datatype, .op = op, .context = context })
#define ONE(buf_)	(&(struct fi_ioc){ .addr = (void *)(buf_), .count = count })

static size_t sum_of(const struct fi_ioc *list, size_t cnt)
{
	size_t sum = 0;

	while (list && cnt--)
		sum += list[cnt].count;
	return sum;
}

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			    fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			    enum fi_datatype datatype, enum fi_op op, void *context)
{
	return atomic_writemsg(ep, MSG(ONE(buf), 1, count), TX(ep));
}

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			     size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op, void *context)
{
	return atomic_writemsg(ep, MSG(iov, count, sum_of(iov, count)), TX(ep));
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count, fi_addr_t dest_addr,
			     uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op)
{
	void *context = NULL;
	struct call call = {
		.type = KOFI_ATOMIC, .msg = *MSG(ONE(buf), 1, count), .flags = FI_INJECT,
		.silent = true,
	};

	return atomic_post(ep, &call);
}

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				void *result, void *result_desc, fi_addr_t dest_addr, uint64_t addr,
				uint64_t key, enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	return atomic_readwritemsg(ep, MSG(ONE(buf), 1, count), ONE(result), NULL, 1,
				   TX(ep) & ~FI_INJECT);
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				 size_t count, struct fi_ioc *resultv, void **result_desc,
				 size_t result_count, fi_addr_t dest_addr, uint64_t addr,
				 uint64_t key, enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	return atomic_readwritemsg(ep, MSG(iov, count, sum_of(resultv, result_count)), resultv,
				   NULL, result_count, TX(ep) & ~FI_INJECT);
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				const void *compare, void *compare_desc, void *result,
				void *result_desc, fi_addr_t dest_addr, uint64_t addr,
				uint64_t key, enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	return atomic_compwritemsg(ep, MSG(ONE(buf), 1, count), ONE(compare), NULL, 1, ONE(result),
				   NULL, 1, TX(ep) & ~FI_INJECT);
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				 size_t count, const struct fi_ioc *comparev, void **compare_desc,
				 size_t compare_count, struct fi_ioc *resultv, void **result_desc,
				 size_t result_count, fi_addr_t dest_addr, uint64_t addr,
				 uint64_t key, enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	return atomic_compwritemsg(ep, MSG(iov, count, sum_of(iov, count)), comparev, NULL,
				   compare_count, resultv, NULL, result_count,
				   TX(ep) & ~FI_INJECT);
}

/* ---- what there is ---- */

static int atomic_valid(const struct kofi_domain *domain, enum kofi_op_type type,
			enum fi_datatype datatype, enum fi_op op, struct fi_atomic_attr *attr)
{
	size_t limit = limit_of(domain, type, datatype, op);

	if (!limit)
		return -FI_EOPNOTSUPP;
	attr->size = kofi_atomic_size(type, datatype, op);
	attr->count = limit / attr->size;
	return 0;
}

static int ep_valid(struct fid_ep *fid, enum kofi_op_type type, enum fi_datatype datatype,
		    enum fi_op op, size_t *count)
{
	struct kofi_ep *ep = container_of(fid, struct kofi_ep, ep);
	struct fi_atomic_attr attr;
	int ret;

	if (!(ep->caps & FI_ATOMIC))
		return -FI_ENOSYS;
	ret = atomic_valid(ep->domain, type, datatype, op, &attr);
	if (!ret && count)
		*count = attr.count;
	return ret;
}

static int atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			     size_t *count)
{
	return ep_valid(ep, KOFI_ATOMIC, datatype, op, count);
}

static int atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				 size_t *count)
{
	return ep_valid(ep, KOFI_FETCH, datatype, op, count);
}

static int atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				 size_t *count)
{
	return ep_valid(ep, KOFI_COMPARE, datatype, op, count);
}

int obj_query_atomic(struct fid_domain *fid, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags)
{
	struct kofi_domain *domain = container_of(fid, struct kofi_domain, domain);
	struct fi_atomic_attr none;

	if (flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC) ||
	    (flags & FI_FETCH_ATOMIC && flags & FI_COMPARE_ATOMIC))
		return -FI_EBADFLAGS;
	return atomic_valid(domain, flags & FI_FETCH_ATOMIC ? KOFI_FETCH :
			    flags & FI_COMPARE_ATOMIC ? KOFI_COMPARE : KOFI_ATOMIC, datatype, op,
			    attr ? attr : &none);
}

struct fi_ops_atomic obj_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = atomic_write,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = atomic_writevalid,
	.readwritevalid = atomic_readwritevalid,
	.compwritevalid = atomic_compwritevalid,
};
