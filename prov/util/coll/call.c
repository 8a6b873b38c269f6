/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * call.c - the collective calls, and fi_query_collective().
 *
 * The calls differ in their arguments only; call_post() does the work.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "coll/group.h"
#include "engine/atomic.h"
#include "obj/mr.h"

#define CALL_FLAGS (FI_COMPLETION | FI_MORE | FI_COLLECTIVE)
#define LEN_MAX ((size_t) INT64_MAX)

/* The arguments of a call.  Buffers are lists, in most calls of one entry. */
struct call {
	enum fi_collective_op coll;
	struct iovec in[ENG_IOV_MAX], out[ENG_IOV_MAX];
	size_t in_cnt, out_cnt;
	size_t count;			/* values of one part, or of all */
	fi_addr_t coll_addr, root_addr;
	enum fi_datatype datatype;
	enum fi_op op;
	uint64_t flags;
	void *context;
};

static inline bool is_reduction(enum fi_collective_op coll)
{
	return coll == FI_ALLREDUCE || coll == FI_REDUCE || coll == FI_REDUCE_SCATTER;
}

static inline bool has_root(enum fi_collective_op coll)
{
	return coll == FI_BROADCAST || coll == FI_REDUCE || coll == FI_SCATTER ||
	       coll == FI_GATHER;
}

/* Size of a value if the collective supports the type and operation, else 0. */
static size_t value_size(enum fi_collective_op coll, enum fi_datatype datatype, enum fi_op op)
{
	size_t size = eng_atomic_size(datatype);

	if (is_reduction(coll) && (op < FI_MIN || op > FI_BXOR ||
				   eng_atomic_valid(ENG_ATOMIC_BASE, datatype, op)))
		return 0;
	return size;
}

/* ---- arguments ---------------------------------------------------------------------- */

/* The number of parts, of call->count values each, in the input buffer of @rank; 0: it is not
 * used.
 */
static size_t in_parts(const struct coll_task *t)
{
	switch (t->op) {
	case FI_BARRIER: return 0;
	case FI_ALLTOALL:
	case FI_REDUCE_SCATTER: return t->n;
	case FI_SCATTER: return t->rank == t->root ? t->n : 0;
	default: return 1;
	}
}

static size_t out_parts(const struct coll_task *t)
{
	switch (t->op) {
	case FI_BARRIER:
	case FI_BROADCAST: return 0;
	case FI_ALLTOALL:
	case FI_ALLGATHER: return t->n;
	case FI_REDUCE: return t->rank == t->root;
	case FI_GATHER: return t->rank == t->root ? t->n : 0;
	default: return 1;
	}
}

static int check_list(const struct iovec *iov, size_t cnt, size_t want)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (!iov[i].iov_base && iov[i].iov_len && want)
			return -FI_EINVAL;
	return want && cnt > 1 && iov_asked(iov, cnt) != want ? -FI_EINVAL : 0;
}

static int find_root(const struct coll_group *group, const struct call *c, uint32_t *root_p)
{
	uint32_t i;

	*root_p = 0;
	if (!has_root(c->coll))
		return 0;
	for (i = 0; i < group->n; i++)
		if (group->addrs[i] == c->root_addr) {
			*root_p = i;
			return 0;
		}
	return -FI_EINVAL;
}

static int make_task(const struct coll_group *group, const struct call *c, struct coll_task *t)
{
	int ret;

	*t = (struct coll_task) { .op = c->coll, .n = group->n, .rank = group->rank,
				  .count = c->count, .size = 1 };
	ret = find_root(group, c, &t->root);
	if (ret || c->coll == FI_BARRIER)
		return ret;
	t->size = value_size(c->coll, c->datatype, c->op);
	if (!t->size)
		return -FI_EOPNOTSUPP;
	if (t->count > LEN_MAX / t->size / t->n)
		return -FI_EMSGSIZE;
	ret = check_list(c->in, c->in_cnt, in_parts(t) * t->count * t->size);
	return ret ? ret : check_list(c->out, c->out_cnt, out_parts(t) * t->count * t->size);
}

/* ---- starting an operation -------------------------------------------------------------- */

static bool bufs_overlap(const struct iovec *a, size_t a_len, const struct iovec *b, size_t b_len)
{
	uintptr_t x = (uintptr_t) a->iov_base, y = (uintptr_t) b->iov_base;

	return x < y + b_len && y < x + a_len;
}

/* Bytes of private memory that the operation needs for its buffers: for scatter lists, because
 * plans work on contiguous memory, and for the input of an in-place alltoall, which would be
 * overwritten.
 */
static size_t staging_size(const struct call *c, const struct coll_task *t, bool *in_p, bool *out_p)
{
	size_t in = in_parts(t) * t->count * t->size, out = out_parts(t) * t->count * t->size;

	*in_p = in && (c->in_cnt > 1 || (c->coll == FI_ALLTOALL &&
					 bufs_overlap(&c->in[0], in, &c->out[0], out)));
	*out_p = out && c->out_cnt > 1;
	return (*in_p ? in : 0) + (*out_p ? out : 0);
}

/* On completion, copy the result from @from into the program's list. */
static void set_back(struct coll_op *op, char *from, const struct iovec *iov, size_t cnt)
{
	op->back = from;
	op->back_cnt = cnt;
	memcpy(op->back_iov, iov, cnt * sizeof(*iov));
}

/* Set the buffers of the plan: the program's, or staging memory behind COLL_TMP. */
static void set_buffers(struct coll_op *op, const struct call *c, const struct coll_task *t,
			bool in, bool out)
{
	size_t in_len = in_parts(t) * t->count * t->size;
	char *extra = op->tmp + op->plan.tmp;

	op->base[COLL_IN] = c->in_cnt ? c->in[0].iov_base : NULL;
	op->base[COLL_OUT] = c->out_cnt ? c->out[0].iov_base : NULL;
	if (in) {
		op->base[COLL_IN] = extra;
		if (c->in_cnt > 1)
			iov_gather(c->in, c->in_cnt, 0, extra, in_len);
		else
			memcpy(extra, c->in[0].iov_base, in_len);
		if (c->coll == FI_BROADCAST && t->rank != t->root)
			set_back(op, extra, c->in, c->in_cnt);
		extra += in_len;
	}
	if (out) {
		op->base[COLL_OUT] = extra;
		set_back(op, extra, c->out, c->out_cnt);
	}
}

/* Start an operation.  It takes the group's next sequence number, also when it fails later, so
 * that members stay in step.
 */
static int call_begin(struct eng_ep *ep, struct coll_group *group, const struct call *c)
{
	struct coll_task task;
	struct coll_op *op;
	bool in, out;
	int ret = make_task(group, c, &task);
	size_t extra;

	if (ret)
		return ret;
	extra = staging_size(c, &task, &in, &out);
	op = coll_op_new(group, &task, extra);
	if (!op)
		return -FI_EAGAIN;
	set_buffers(op, c, &task, in, out);
	op->datatype = c->datatype;
	op->op = c->op;
	op->space = group->id;
	op->seq = group->next_seq++;
	op->context = c->context;
	op->want_comp = obj_ep_want_tx_comp(&ep->base, c->flags);
	op->len = task.count * task.size;
	coll_op_start(op);
	return 0;
}

static ssize_t call_post(struct fid_ep *fid, const struct call *c)
{
	struct eng_ep *ep = eng_ep_of(fid);
	struct coll_group *group;
	int ret;

	if (c->flags & ~(uint64_t) (CALL_FLAGS | ENG_TX_OP_FLAGS))
		return -FI_EBADFLAGS;
	if (!eng_ep_enabled(ep))
		return -FI_EOPBADSTATE;
	lock_get(&ep->base.prog->lock);
	group = ep->oob ? hmap_find(&coll_of(ep)->by_addr, c->coll_addr) : NULL;
	if (!group)
		ret = -FI_EINVAL;
	else if (group->state != COLL_JOINED)
		ret = -FI_EOPBADSTATE;
	else
		ret = call_begin(ep, group, c);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* Results are computed where the CPU reads and writes. */
static bool on_device(struct fid_ep *fid, void **desc, size_t cnt, void **result_desc,
		      size_t result_cnt)
{
	struct eng_ep *ep = eng_ep_of(fid);

	if (!(ep->base.caps & FI_HMEM) ||
	    (!obj_mr_device_any(desc, cnt) && !obj_mr_device_any(result_desc, result_cnt)))
		return false;
	ENG_WARN(ep, "collectives work in system memory only: copy the buffers of the device to "
		 "the host\n");
	return true;
}

/* A call with one contiguous buffer on each side. */
static ssize_t post_bufs(struct fid_ep *ep, enum fi_collective_op coll, const void *buf,
			 void *desc, void *result, void *result_desc, size_t count, fi_addr_t coll_addr, fi_addr_t root_addr,
			 enum fi_datatype datatype, enum fi_op op, uint64_t flags, void *context)
{
	struct call c = {
		.coll = coll, .in_cnt = 1, .out_cnt = 1, .count = count,
		.coll_addr = coll_addr, .root_addr = root_addr, .datatype = datatype,
		.op = op, .flags = flags, .context = context,
	};

	/* Only whether the length is 0 matters here. */
	c.in[0] = (struct iovec) { (void *) buf, count };
	c.out[0] = (struct iovec) { result, count };
	if (on_device(ep, &desc, 1, &result_desc, 1))
		return -FI_EOPNOTSUPP;
	return call_post(ep, &c);
}

/* ---- the calls -------------------------------------------------------------------------- */

static ssize_t post_barrier2(struct fid_ep *ep, fi_addr_t coll_addr, uint64_t flags, void *context)
{
	return post_bufs(ep, FI_BARRIER, NULL, NULL, NULL, NULL, 0, coll_addr, FI_ADDR_NOTAVAIL, FI_VOID,
			 FI_NOOP, flags, context);
}

static ssize_t post_barrier(struct fid_ep *ep, fi_addr_t coll_addr, void *context)
{
	return post_barrier2(ep, coll_addr, obj_ep_handle_of(ep)->tx_op_flags, context);
}

static ssize_t post_broadcast(struct fid_ep *ep, void *buf, size_t count, void *desc,
			      fi_addr_t coll_addr, fi_addr_t root_addr, enum fi_datatype datatype,
			      uint64_t flags, void *context)
{
	return post_bufs(ep, FI_BROADCAST, buf, desc, NULL, NULL, count, coll_addr, root_addr, datatype,
			 FI_NOOP, flags, context);
}

static ssize_t post_alltoall(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			     void *result, void *result_desc, fi_addr_t coll_addr,
			     enum fi_datatype datatype, uint64_t flags, void *context)
{
	return post_bufs(ep, FI_ALLTOALL, buf, desc, result, result_desc, count, coll_addr, FI_ADDR_NOTAVAIL,
			 datatype, FI_NOOP, flags, context);
}

static ssize_t post_allreduce(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			      void *result, void *result_desc, fi_addr_t coll_addr,
			      enum fi_datatype datatype, enum fi_op op, uint64_t flags, void *context)
{
	return post_bufs(ep, FI_ALLREDUCE, buf, desc, result, result_desc, count, coll_addr, FI_ADDR_NOTAVAIL,
			 datatype, op, flags, context);
}

static ssize_t post_allgather(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			      void *result, void *result_desc, fi_addr_t coll_addr,
			      enum fi_datatype datatype, uint64_t flags, void *context)
{
	return post_bufs(ep, FI_ALLGATHER, buf, desc, result, result_desc, count, coll_addr, FI_ADDR_NOTAVAIL,
			 datatype, FI_NOOP, flags, context);
}

static ssize_t post_reduce_scatter(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				   void *result, void *result_desc, fi_addr_t coll_addr,
				   enum fi_datatype datatype, enum fi_op op, uint64_t flags,
				   void *context)
{
	return post_bufs(ep, FI_REDUCE_SCATTER, buf, desc, result, result_desc, count, coll_addr, FI_ADDR_NOTAVAIL,
			 datatype, op, flags, context);
}

static ssize_t post_reduce(struct fid_ep *ep, const void *buf, size_t count, void *desc, void *result,
			   void *result_desc, fi_addr_t coll_addr, fi_addr_t root_addr,
			   enum fi_datatype datatype, enum fi_op op, uint64_t flags, void *context)
{
	return post_bufs(ep, FI_REDUCE, buf, desc, result, result_desc, count, coll_addr, root_addr, datatype, op,
			 flags, context);
}

static ssize_t post_scatter(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			    void *result, void *result_desc, fi_addr_t coll_addr,
			    fi_addr_t root_addr, enum fi_datatype datatype, uint64_t flags,
			    void *context)
{
	return post_bufs(ep, FI_SCATTER, buf, desc, result, result_desc, count, coll_addr, root_addr, datatype,
			 FI_NOOP, flags, context);
}

static ssize_t post_gather(struct fid_ep *ep, const void *buf, size_t count, void *desc, void *result,
			   void *result_desc, fi_addr_t coll_addr, fi_addr_t root_addr,
			   enum fi_datatype datatype, uint64_t flags, void *context)
{
	return post_bufs(ep, FI_GATHER, buf, desc, result, result_desc, count, coll_addr, root_addr, datatype,
			 FI_NOOP, flags, context);
}

/* ---- scatter lists ------------------------------------------------------------------------ */

static int take_list(struct iovec *iov, const struct fi_ioc *ioc, size_t cnt, size_t size,
		     size_t *values_p)
{
	size_t i;

	*values_p = 0;
	if (cnt > ENG_IOV_MAX || (cnt && !ioc))
		return -FI_EINVAL;
	for (i = 0; i < cnt; i++) {
		if (ioc[i].count > LEN_MAX / size || *values_p > LEN_MAX / size - ioc[i].count)
			return -FI_EMSGSIZE;
		iov[i] = (struct iovec) { ioc[i].addr, ioc[i].count * size };
		*values_p += ioc[i].count;
	}
	return 0;
}

/* call->count follows from the length of the list that every member has; make_task() checks the
 * other list against it.
 */
static int count_of(struct call *c, size_t n, size_t in, size_t out)
{
	switch (c->coll) {
	case FI_ALLTOALL:
	case FI_REDUCE_SCATTER:
		c->count = in / n;
		return in % n ? -FI_EINVAL : 0;
	case FI_SCATTER:
		c->count = out;
		return 0;
	default:
		c->count = in;
		return 0;
	}
}

static size_t count_members(struct eng_ep *ep, fi_addr_t coll_addr)
{
	struct coll_group *group;

	lock_get(&ep->base.prog->lock);
	group = ep->oob ? hmap_find(&coll_of(ep)->by_addr, coll_addr) : NULL;
	lock_put(&ep->base.prog->lock);
	return group ? group->n : 0;
}

static ssize_t post_msg(struct fid_ep *fid, const struct fi_msg_collective *msg,
			struct fi_ioc *resultv, void **result_desc, size_t result_count,
			uint64_t flags)
{
	struct call c = {
		.coll = msg->coll, .in_cnt = msg->iov_count, .out_cnt = result_count,
		.coll_addr = msg->coll_addr, .root_addr = msg->root_addr,
		.datatype = msg->datatype, .op = msg->op, .flags = flags,
		.context = msg->context,
	};
	struct eng_ep *ep = eng_ep_of(fid);
	size_t size = eng_atomic_size(msg->datatype), in = 0, out = 0, n;
	int ret = 0;

	if ((unsigned) msg->coll > FI_GATHER || (!size && msg->coll != FI_BARRIER))
		return -FI_EOPNOTSUPP;
	if (!eng_ep_enabled(ep))
		return -FI_EOPBADSTATE;
	if (on_device(fid, msg->desc, msg->iov_count, result_desc, result_count))
		return -FI_EOPNOTSUPP;
	n = count_members(ep, msg->coll_addr);
	if (!n)
		return -FI_EINVAL;
	if (msg->coll == FI_BARRIER)
		c.in_cnt = c.out_cnt = 0;
	else
		ret = take_list(c.in, msg->msg_iov, msg->iov_count, size, &in);
	if (!ret && msg->coll != FI_BARRIER)
		ret = take_list(c.out, resultv, result_count, size, &out);
	if (!ret)
		ret = count_of(&c, n, in, out);
	return ret ? ret : call_post(fid, &c);
}

struct fi_ops_collective coll_ops = {
	.barrier = post_barrier,
	.broadcast = post_broadcast,
	.alltoall = post_alltoall,
	.allreduce = post_allreduce,
	.allgather = post_allgather,
	.reduce_scatter = post_reduce_scatter,
	.reduce = post_reduce,
	.scatter = post_scatter,
	.gather = post_gather,
	.msg = post_msg,
	.barrier2 = post_barrier2,
};

/* ---- fi_query_collective() ------------------------------------------------------------------ */

int coll_query(struct fid_domain *domain, enum fi_collective_op coll,
	       struct fi_collective_attr *attr, uint64_t flags)
{
	size_t size = 0;

	if (flags && flags != FI_SCATTER)
		return -FI_EBADFLAGS;
	/* The man page allows this value of fi_collective_op as a flag, too. */
	if (flags == FI_SCATTER)
		coll = FI_REDUCE_SCATTER;
	if ((unsigned) coll > FI_GATHER)
		return -FI_EOPNOTSUPP;
	if (!attr)
		return -FI_EINVAL;
	if (attr->mode)
		return -FI_EINVAL;
	if (coll != FI_BARRIER) {
		size = value_size(coll, attr->datatype, attr->op);
		if (!size)
			return -FI_EOPNOTSUPP;
	}
	attr->datatype_attr.size = size;
	attr->datatype_attr.count = size ? LEN_MAX / size / COLL_MEMBERS_MAX : 0;
	attr->max_members = COLL_MEMBERS_MAX;
	return 0;
}
