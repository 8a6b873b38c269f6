/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/endpoint/by_msg.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "base/iov.h"

/* The endpoint's own handle, whose tables do the work. */
static struct fid_ep *own_handle(struct fid_ep *alias)
{
	return &obj_ep_of(alias)->h.fid;
}

/* tx_flags - the defaults of a call with @len bytes.  FI_INJECT as a default applies to what fits,
 * and FI_REMOTE_CQ_DATA is not one of them: a call has data, or not.
 */
static uint64_t tx_flags(struct fid_ep *alias, size_t len)
{
	struct obj_ep_handle *h = obj_ep_handle_of(alias);
	uint64_t not = FI_REMOTE_CQ_DATA;

	if (len > h->ep->info->tx_attr->inject_size)
		not |= FI_INJECT;
	return h->tx_op_flags & ~not;
}

/* FI_MULTI_RECV by default is for tagged receives only with a capability of its own. */
static uint64_t rx_flags(struct fid_ep *alias, bool tagged)
{
	struct obj_ep_handle *h = obj_ep_handle_of(alias);

	return tagged && !(h->ep->caps & FI_TAGGED_MULTI_RECV) ? h->rx_op_flags & ~FI_MULTI_RECV :
	       h->rx_op_flags;
}

/* ---- messages ------------------------------------------------------------------- */

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, void *context)
{
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = src,
			      .context = context };

	return fi_recvmsg(own_handle(ep), &msg, rx_flags(ep, false));
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	struct iovec iov = { buf, len };

	return msg_recvv(ep, &iov, &desc, 1, src, context);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return fi_recvmsg(own_handle(ep), msg, flags);
}

static ssize_t call_sendmsg(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			uint64_t data, fi_addr_t dest, void *context, uint64_t extra)
{
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = dest,
			      .context = context, .data = data };

	return fi_sendmsg(own_handle(ep), &msg, tx_flags(ep, iov_asked(iov, cnt)) | extra);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, void *context)
{
	return call_sendmsg(ep, iov, desc, cnt, 0, dest, context, 0);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return call_sendmsg(ep, &iov, &desc, 1, 0, dest, context, 0);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return call_sendmsg(ep, &iov, &desc, 1, data, dest, context, FI_REMOTE_CQ_DATA);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return fi_sendmsg(own_handle(ep), msg, flags);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
	return fi_inject(own_handle(ep), buf, len, dest);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest)
{
	return fi_injectdata(own_handle(ep), buf, len, data, dest);
}

/* ---- tagged messages -------------------------------------------------------------- */

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			    fi_addr_t src, uint64_t tag, uint64_t ignore, void *context)
{
	struct fi_msg_tagged msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = src,
				     .tag = tag, .ignore = ignore, .context = context };

	return fi_trecvmsg(own_handle(ep), &msg, rx_flags(ep, true));
}

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			   uint64_t tag, uint64_t ignore, void *context)
{
	struct iovec iov = { buf, len };

	return tagged_recvv(ep, &iov, &desc, 1, src, tag, ignore, context);
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return fi_trecvmsg(own_handle(ep), msg, flags);
}

static ssize_t send_tagged(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			   uint64_t data, fi_addr_t dest, uint64_t tag, void *context,
			   uint64_t extra)
{
	struct fi_msg_tagged msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = dest,
				     .tag = tag, .context = context, .data = data };

	return fi_tsendmsg(own_handle(ep), &msg, tx_flags(ep, iov_asked(iov, cnt)) | extra);
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			    fi_addr_t dest, uint64_t tag, void *context)
{
	return send_tagged(ep, iov, desc, cnt, 0, dest, tag, context, 0);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			   fi_addr_t dest, uint64_t tag, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return send_tagged(ep, &iov, &desc, 1, 0, dest, tag, context, 0);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest, uint64_t tag, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return send_tagged(ep, &iov, &desc, 1, data, dest, tag, context, FI_REMOTE_CQ_DATA);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return fi_tsendmsg(own_handle(ep), msg, flags);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest,
			     uint64_t tag)
{
	return fi_tinject(own_handle(ep), buf, len, dest, tag);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest, uint64_t tag)
{
	return fi_tinjectdata(own_handle(ep), buf, len, data, dest, tag);
}

/* ---- RMA -------------------------------------------------------------------------- */

/* rma_msg - @remote is filled in and becomes the only remote range. */
static struct fi_msg_rma rma_msg(const struct iovec *iov, void **desc, size_t cnt, fi_addr_t peer,
				 struct fi_rma_iov *remote, uint64_t addr, uint64_t key,
				 void *context)
{
	*remote = (struct fi_rma_iov) { .addr = addr, .len = iov_asked(iov, cnt), .key = key };
	return (struct fi_msg_rma) { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = peer,
				     .rma_iov = remote, .rma_iov_count = 1, .context = context };
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	struct fi_rma_iov remote;
	struct fi_msg_rma msg = rma_msg(iov, desc, cnt, src, &remote, addr, key, context);

	/* A read has nothing to inject. */
	return fi_readmsg(own_handle(ep), &msg, tx_flags(ep, SIZE_MAX));
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { buf, len };

	return rma_readv(ep, &iov, &desc, 1, src, addr, key, context);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return fi_readmsg(own_handle(ep), msg, flags);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	struct fi_rma_iov remote;
	struct fi_msg_rma msg = rma_msg(iov, desc, cnt, dest, &remote, addr, key, context);

	return fi_writemsg(own_handle(ep), &msg, tx_flags(ep, remote.len));
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return rma_writev(ep, &iov, &desc, 1, dest, addr, key, context);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return fi_writemsg(own_handle(ep), msg, flags);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest,
			  uint64_t addr, uint64_t key)
{
	return fi_inject_write(own_handle(ep), buf, len, dest, addr, key);
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
			     void *context)
{
	struct iovec iov = { (void *) buf, len };
	struct fi_rma_iov remote;
	struct fi_msg_rma msg = rma_msg(&iov, &desc, 1, dest, &remote, addr, key, context);

	msg.data = data;
	return fi_writemsg(own_handle(ep), &msg, tx_flags(ep, len) | FI_REMOTE_CQ_DATA);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest, uint64_t addr, uint64_t key)
{
	return fi_inject_writedata(own_handle(ep), buf, len, data, dest, addr, key);
}

/* ---- atomics ----------------------------------------------------------------------- */

/* A call with its one remote range.  FI_INJECT by default applies to all: they are short. */
struct amo {
	struct fi_rma_ioc remote;
	struct fi_msg_atomic msg;
};

static size_t ioc_elements(const struct fi_ioc *ioc, size_t cnt)
{
	size_t i, sum = 0;

	for (i = 0; i < cnt; i++)
		sum += ioc[i].count;
	return sum;
}

/* amo_fill - @a->msg for these operands; @many: remote elements. */
static const struct fi_msg_atomic *amo_fill(struct amo *a, const struct fi_ioc *iov, void **desc,
					    size_t cnt, size_t many, fi_addr_t dest, uint64_t addr,
					    uint64_t key, enum fi_datatype type, enum fi_op op,
					    void *context)
{
	a->remote = (struct fi_rma_ioc) { .addr = addr, .count = many, .key = key };
	a->msg = (struct fi_msg_atomic) {
		.msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = dest, .rma_iov = &a->remote,
		.rma_iov_count = 1, .datatype = type, .op = op, .context = context,
	};
	return &a->msg;
}

static ssize_t amo_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype type,
			  enum fi_op op, void *context)
{
	struct amo a;

	return fi_atomicmsg(own_handle(ep), amo_fill(&a, iov, desc, cnt, ioc_elements(iov, cnt), dest, addr, key,
						     type, op, context), tx_flags(ep, 0));
}

static ssize_t amo_write(struct fid_ep *ep, const void *buf, size_t cnt, void *desc, fi_addr_t dest,
			 uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op,
			 void *context)
{
	struct fi_ioc iov = { .addr = (void *) buf, .count = cnt };

	return amo_writev(ep, &iov, &desc, 1, dest, addr, key, type, op, context);
}

static ssize_t amo_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg, uint64_t flags)
{
	return fi_atomicmsg(own_handle(ep), msg, flags);
}

static ssize_t amo_inject(struct fid_ep *ep, const void *buf, size_t cnt, fi_addr_t dest,
			  uint64_t addr, uint64_t key, enum fi_datatype type, enum fi_op op)
{
	return fi_inject_atomic(own_handle(ep), buf, cnt, dest, addr, key, type, op);
}

static ssize_t amo_fetchv(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t cnt,
			  struct fi_ioc *result, void **result_desc, size_t result_cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype type,
			  enum fi_op op, void *context)
{
	struct amo a;

	return fi_fetch_atomicmsg(own_handle(ep), amo_fill(&a, iov, desc, cnt, ioc_elements(result, result_cnt),
							   dest, addr, key, type, op, context),
				  result, result_desc, result_cnt, tx_flags(ep, 0));
}

static ssize_t amo_fetch(struct fid_ep *ep, const void *buf, size_t cnt, void *desc, void *result,
			 void *result_desc, fi_addr_t dest, uint64_t addr, uint64_t key,
			 enum fi_datatype type, enum fi_op op, void *context)
{
	struct fi_ioc iov = { .addr = (void *) buf, .count = cnt };
	struct fi_ioc res = { .addr = result, .count = cnt };

	return amo_fetchv(ep, &iov, &desc, op == FI_ATOMIC_READ ? 0 : 1, &res, &result_desc, 1, dest,
			  addr, key, type, op, context);
}

static ssize_t amo_fetchmsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			    struct fi_ioc *result, void **desc, size_t cnt, uint64_t flags)
{
	return fi_fetch_atomicmsg(own_handle(ep), msg, result, desc, cnt, flags);
}

static ssize_t amo_comparev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t cnt,
			    const struct fi_ioc *compare, void **compare_desc, size_t compare_cnt,
			    struct fi_ioc *result, void **result_desc, size_t result_cnt,
			    fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype type,
			    enum fi_op op, void *context)
{
	struct amo a;

	return fi_compare_atomicmsg(own_handle(ep), amo_fill(&a, iov, desc, cnt, ioc_elements(iov, cnt), dest,
							     addr, key, type, op, context),
				    compare, compare_desc, compare_cnt, result, result_desc,
				    result_cnt, tx_flags(ep, 0));
}

static ssize_t amo_compare(struct fid_ep *ep, const void *buf, size_t cnt, void *desc,
			   const void *compare, void *compare_desc, void *result, void *result_desc,
			   fi_addr_t dest, uint64_t addr, uint64_t key, enum fi_datatype type,
			   enum fi_op op, void *context)
{
	struct fi_ioc iov = { .addr = (void *) buf, .count = cnt };
	struct fi_ioc cmp = { .addr = (void *) compare, .count = cnt };
	struct fi_ioc res = { .addr = result, .count = cnt };

	return amo_comparev(ep, &iov, &desc, 1, &cmp, &compare_desc, 1, &res, &result_desc, 1, dest,
			    addr, key, type, op, context);
}

static ssize_t amo_comparemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			      const struct fi_ioc *compare, void **compare_desc, size_t compare_cnt,
			      struct fi_ioc *result, void **result_desc, size_t result_cnt,
			      uint64_t flags)
{
	return fi_compare_atomicmsg(own_handle(ep), msg, compare, compare_desc, compare_cnt, result,
				    result_desc, result_cnt, flags);
}

static int amo_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	return fi_atomicvalid(own_handle(ep), type, op, cnt);
}

static int amo_fetch_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	return fi_fetch_atomicvalid(own_handle(ep), type, op, cnt);
}

static int amo_compare_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *cnt)
{
	return fi_compare_atomicvalid(own_handle(ep), type, op, cnt);
}

/* ---- tables ------------------------------------------------------------------------ */

struct obj_by_msg_tables obj_by_msg_tables = {
	.msg = {
		.size = sizeof(struct fi_ops_msg),
		.recv = msg_recv,
		.recvv = msg_recvv,
		.recvmsg = msg_recvmsg,
		.send = msg_send,
		.sendv = msg_sendv,
		.sendmsg = msg_sendmsg,
		.inject = msg_inject,
		.senddata = msg_senddata,
		.injectdata = msg_injectdata,
	},
	.tagged = {
		.size = sizeof(struct fi_ops_tagged),
		.recv = tagged_recv,
		.recvv = tagged_recvv,
		.recvmsg = tagged_recvmsg,
		.send = tagged_send,
		.sendv = tagged_sendv,
		.sendmsg = tagged_sendmsg,
		.inject = tagged_inject,
		.senddata = tagged_senddata,
		.injectdata = tagged_injectdata,
	},
	.rma = {
		.size = sizeof(struct fi_ops_rma),
		.read = rma_read,
		.readv = rma_readv,
		.readmsg = rma_readmsg,
		.write = rma_write,
		.writev = rma_writev,
		.writemsg = rma_writemsg,
		.inject = rma_inject,
		.writedata = rma_writedata,
		.injectdata = rma_injectdata,
	},
	.atomic = {
		.size = sizeof(struct fi_ops_atomic),
		.write = amo_write,
		.writev = amo_writev,
		.writemsg = amo_writemsg,
		.inject = amo_inject,
		.readwrite = amo_fetch,
		.readwritev = amo_fetchv,
		.readwritemsg = amo_fetchmsg,
		.compwrite = amo_compare,
		.compwritev = amo_comparev,
		.compwritemsg = amo_comparemsg,
		.writevalid = amo_valid,
		.readwritevalid = amo_fetch_valid,
		.compwritevalid = amo_compare_valid,
	},
};

void obj_by_msg(struct fid_ep *alias, bool on)
{
	const struct fid_ep *ep = own_handle(alias);

	alias->msg = on ? &obj_by_msg_tables.msg : ep->msg;
	alias->tagged = on ? &obj_by_msg_tables.tagged : ep->tagged;
	alias->rma = on ? &obj_by_msg_tables.rma : ep->rma;
	alias->atomic = on ? &obj_by_msg_tables.atomic : ep->atomic;
}
