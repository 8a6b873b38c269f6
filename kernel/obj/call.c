// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * call.c - the data transfer calls, each a description of an operation for call_post().
 */
#include "obj.h"

#define TX_FLAGS (FI_COMPLETION | FI_INJECT | FI_MORE | FI_REMOTE_CQ_DATA | FI_BVEC | \
		  FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define RX_FLAGS (FI_COMPLETION | FI_MORE | FI_BVEC | FI_MULTI_RECV)

/* What a call asks for. */
struct call {
	enum kofi_op_type	type;
	const void		*list;		/* kvec, or bio_vec with FI_BVEC in flags */
	size_t			cnt;
	uint64_t		flags;
	bool			silent;		/* an inject call: no completion */
	fi_addr_t		addr;
	void			*context;
	uint64_t		tag;
	uint64_t		ignore;
	uint64_t		data;
	const struct fi_rma_iov	*rma;
	size_t			rma_cnt;
};

static struct kofi_ep *ep_of(struct fid_ep *ep)
{
	return container_of(ep, struct kofi_ep, ep);
}

static bool is_tx(const struct call *call)
{
	return call->type < KOFI_RECV;
}

/* ---- checks ---- */

static size_t list_len(const struct kofi_segs *segs)
{
	size_t len = 0;
	u32 i;

	for (i = 0; i < segs->cnt; i++)
		len += segs->is_bvec ? segs->bvec[i].bv_len : segs->kvec[i].iov_len;
	return len;
}

static int rma_check(const struct kofi_ep *ep, const struct call *call, size_t len)
{
	uint64_t sum = 0;
	size_t i;

	if (!call->rma_cnt || call->rma_cnt > ep->rma_iov_limit)
		return -FI_EINVAL;
	for (i = 0; i < call->rma_cnt; i++)
		sum += call->rma[i].len;
	return sum == len ? 0 : -FI_EINVAL;
}

static int call_check(const struct kofi_ep *ep, const struct call *call, const struct kofi_segs *segs)
{
	if (unlikely(!smp_load_acquire(&ep->enabled)))
		return -FI_EOPBADSTATE;
	if (call->flags & ~(is_tx(call) ? TX_FLAGS : RX_FLAGS))
		return -FI_EBADFLAGS;
	if (call->cnt > (is_tx(call) ? ep->tx_iov_limit : ep->rx_iov_limit) ||
	    (call->cnt && !call->list))
		return -FI_EINVAL;
	if (unlikely(call->flags & FI_MULTI_RECV) &&
	    (call->type != KOFI_RECV || !(ep->caps & FI_MULTI_RECV) || call->cnt != 1 ||
	     call->flags & FI_BVEC))
		return -FI_EINVAL;
	return 0;
}

static int check_len(const struct kofi_ep *ep, const struct call *call,
		     const struct kofi_segs *segs)
{
	if (is_tx(call) && segs->len > ep->max_msg_size)
		return -FI_EMSGSIZE;
	if (call->flags & FI_INJECT && (segs->len > ep->inject_size || call->type == KOFI_READ))
		return -FI_EMSGSIZE;
	return call->type == KOFI_WRITE || call->type == KOFI_READ ?
	       rma_check(ep, call, segs->len) : 0;
}

/* ---- posting ---- */

/* Injected bytes lie behind the one piece that describes them. */
static void call_fill_segs(struct kofi_op *op, const struct call *call, const struct kofi_segs *segs)
{
	struct kvec *kvec = op->store;

	op->segs = *segs;
	if (call->flags & FI_INJECT) {
		kvec->iov_base = kvec + 1;
		kvec->iov_len = segs->len;
		op->segs.is_bvec = false;
		op->segs.kvec = kvec;
		op->segs.cnt = 1;
		kofi_segs_copy(&op->segs, 0, segs, 0, segs->len);
		return;
	}
	op->segs.kvec = op->store;
	memcpy(op->store, call->list, call->cnt * (segs->is_bvec ? sizeof(struct bio_vec) :
						   sizeof(struct kvec)));
}

static void call_fill(struct kofi_op *op, const struct call *call, const struct kofi_segs *segs,
		      bool selective)
{
	op->type = call->type;
	op->flags = call->silent ? call->flags & ~FI_COMPLETION :
		    call->flags | (selective ? 0 : FI_COMPLETION);
	op->context = call->context;
	op->addr = call->addr;
	op->tag = call->tag;
	op->ignore = call->ignore;
	op->data = call->data & op->ep->domain->cq_data_mask;
	op->multi = NULL;
	op->parts = 0;
	op->used = 0;
	op->retired = false;
	op->end_err = 0;
	op->rma_cnt = call->rma_cnt;
	memcpy(op->rma, call->rma, call->rma_cnt * sizeof(op->rma[0]));
	call_fill_segs(op, call, segs);
}

static ssize_t call_post(struct fid_ep *fid, const struct call *call)
{
	struct kofi_segs segs = {
		.is_bvec = call->flags & FI_BVEC, .cnt = call->cnt, .kvec = call->list,
	};
	struct kofi_ep *ep = ep_of(fid);
	bool tx = is_tx(call);
	struct kofi_pool *pool = tx ? &ep->tx_pool : &ep->rx_pool;
	struct kofi_cq *cq = tx ? ep->tx_cq : ep->rx_cq;
	struct kofi_op *op;
	int ret;

	ret = call_check(ep, call, &segs);
	if (ret)
		return ret;
	segs.len = list_len(&segs);
	ret = check_len(ep, call, &segs);
	if (ret)
		return ret;
	op = obj_op_take(pool, cq);
	if (!op)
		return -FI_EAGAIN;
	call_fill(op, call, &segs, tx ? ep->tx_selective : ep->rx_selective);
	ret = tx ? ep->ops->tx(ep, op) : obj_rx_post(ep, op);
	if (ret)
		obj_op_give(pool, cq, op);
	return ret;
}

/* Calls without flags take those of the endpoint. */
#define TX(ep)	(ep_of(ep)->tx_op_flags)
#define RX(ep)	(ep_of(ep)->rx_op_flags)
#define ONE(buf, len)	(&(struct kvec){ .iov_base = (void *)(buf), .iov_len = (len) }), .cnt = 1
#define RANGE(at, k, n)	(&(struct fi_rma_iov){ .addr = (at), .len = (n), .key = (k) }), .rma_cnt = 1
#define POST(ep, ...)	call_post(ep, &(struct call){ __VA_ARGS__ })

static size_t kvec_len(const struct kvec *iov, size_t count)
{
	size_t len = 0;

	while (count--)
		len += iov[count].iov_len;
	return len;
}

/* ---- messages ---- */

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
			void *context)
{
	return POST(ep, .type = KOFI_RECV, .list = ONE(buf, len), .addr = src_addr, .flags = RX(ep),
		    .context = context);
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			 fi_addr_t src_addr, void *context)
{
	return POST(ep, .type = KOFI_RECV, .list = iov, .cnt = count, .addr = src_addr,
		    .flags = RX(ep), .context = context);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return POST(ep, .type = KOFI_RECV, .list = msg->msg_iov, .cnt = msg->iov_count,
		    .addr = msg->addr, .context = msg->context, .flags = flags);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, void *context)
{
	return POST(ep, .type = KOFI_SEND, .list = ONE(buf, len), .addr = dest_addr,
		    .flags = TX(ep), .context = context);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			 fi_addr_t dest_addr, void *context)
{
	return POST(ep, .type = KOFI_SEND, .list = iov, .cnt = count, .addr = dest_addr,
		    .flags = TX(ep), .context = context);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return POST(ep, .type = KOFI_SEND, .list = msg->msg_iov, .cnt = msg->iov_count,
		    .addr = msg->addr, .context = msg->context, .flags = flags, .data = msg->data);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr)
{
	return POST(ep, .type = KOFI_SEND, .list = ONE(buf, len), .addr = dest_addr,
		    .flags = FI_INJECT, .silent = true);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, void *context)
{
	return POST(ep, .type = KOFI_SEND, .list = ONE(buf, len), .addr = dest_addr, .data = data,
		    .flags = TX(ep) | FI_REMOTE_CQ_DATA, .context = context);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest_addr)
{
	return POST(ep, .type = KOFI_SEND, .list = ONE(buf, len), .addr = dest_addr, .data = data,
		    .flags = FI_INJECT | FI_REMOTE_CQ_DATA, .silent = true);
}

/* ---- tagged messages ---- */

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
			   uint64_t tag, uint64_t ignore, void *context)
{
	return POST(ep, .type = KOFI_TRECV, .list = ONE(buf, len), .addr = src_addr,
		    .flags = RX(ep), .context = context, .tag = tag, .ignore = ignore);
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			    fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	return POST(ep, .type = KOFI_TRECV, .list = iov, .cnt = count, .addr = src_addr,
		    .flags = RX(ep), .context = context, .tag = tag, .ignore = ignore);
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return POST(ep, .type = KOFI_TRECV, .list = msg->msg_iov, .cnt = msg->iov_count,
		    .addr = msg->addr, .context = msg->context, .flags = flags, .tag = msg->tag,
		    .ignore = msg->ignore);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			   fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return POST(ep, .type = KOFI_TSEND, .list = ONE(buf, len), .addr = dest_addr,
		    .flags = TX(ep), .context = context, .tag = tag);
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			    fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return POST(ep, .type = KOFI_TSEND, .list = iov, .cnt = count, .addr = dest_addr,
		    .flags = TX(ep), .context = context, .tag = tag);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return POST(ep, .type = KOFI_TSEND, .list = msg->msg_iov, .cnt = msg->iov_count,
		    .addr = msg->addr, .context = msg->context, .flags = flags, .data = msg->data,
		    .tag = msg->tag);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
			     uint64_t tag)
{
	return POST(ep, .type = KOFI_TSEND, .list = ONE(buf, len), .addr = dest_addr,
		    .flags = FI_INJECT, .silent = true, .tag = tag);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return POST(ep, .type = KOFI_TSEND, .list = ONE(buf, len), .addr = dest_addr, .data = data,
		    .flags = TX(ep) | FI_REMOTE_CQ_DATA, .context = context, .tag = tag);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest_addr, uint64_t tag)
{
	return POST(ep, .type = KOFI_TSEND, .list = ONE(buf, len), .addr = dest_addr, .data = data,
		    .flags = FI_INJECT | FI_REMOTE_CQ_DATA, .silent = true, .tag = tag);
}

/* ---- remote memory ---- */

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
			uint64_t addr, uint64_t key, void *context)
{
	return POST(ep, .type = KOFI_READ, .list = ONE(buf, len), .addr = src_addr,
		    .flags = TX(ep) & ~FI_INJECT, .rma = RANGE(addr, key, len), .context = context);
}

static ssize_t rma_readv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			 fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	return POST(ep, .type = KOFI_READ, .list = iov, .cnt = count, .addr = src_addr,
		    .flags = TX(ep) & ~FI_INJECT, .rma = RANGE(addr, key, kvec_len(iov, count)),
		    .context = context);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return POST(ep, .type = KOFI_READ, .list = msg->msg_iov, .cnt = msg->iov_count,
		    .addr = msg->addr, .context = msg->context, .flags = flags, .rma = msg->rma_iov,
		    .rma_cnt = msg->rma_iov_count);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return POST(ep, .type = KOFI_WRITE, .list = ONE(buf, len), .addr = dest_addr,
		    .flags = TX(ep), .rma = RANGE(addr, key, len), .context = context);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return POST(ep, .type = KOFI_WRITE, .list = iov, .cnt = count, .addr = dest_addr,
		    .flags = TX(ep), .rma = RANGE(addr, key, kvec_len(iov, count)),
		    .context = context);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return POST(ep, .type = KOFI_WRITE, .list = msg->msg_iov, .cnt = msg->iov_count,
		    .addr = msg->addr, .context = msg->context, .flags = flags, .data = msg->data,
		    .rma = msg->rma_iov, .rma_cnt = msg->rma_iov_count);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
			  uint64_t addr, uint64_t key)
{
	return POST(ep, .type = KOFI_WRITE, .list = ONE(buf, len), .addr = dest_addr,
		    .flags = FI_INJECT, .silent = true, .rma = RANGE(addr, key, len));
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			     void *context)
{
	return POST(ep, .type = KOFI_WRITE, .list = ONE(buf, len), .addr = dest_addr, .data = data,
		    .flags = TX(ep) | FI_REMOTE_CQ_DATA, .rma = RANGE(addr, key, len),
		    .context = context);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return POST(ep, .type = KOFI_WRITE, .list = ONE(buf, len), .addr = dest_addr, .data = data,
		    .flags = FI_INJECT | FI_REMOTE_CQ_DATA, .silent = true,
		    .rma = RANGE(addr, key, len));
}

/* ---- tables ---- */

struct fi_ops_msg obj_msg_ops = {
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
};

struct fi_ops_tagged obj_tagged_ops = {
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
};

struct fi_ops_rma obj_rma_ops = {
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
};

/* Calls of capabilities that an endpoint was opened without: a function for each parameter list. */
static ssize_t no_msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
			   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			    fi_addr_t src_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_xmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			   fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			    fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_msg_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest_addr)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			      fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			       fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_xmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			       fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
				uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				  uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				    fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
			   uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_xv(struct fid_ep *ep, const struct kvec *iov, void **desc, size_t count,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_xmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
			     uint64_t addr, uint64_t key)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				uint64_t data, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return -FI_ENOSYS;
}

struct fi_ops_msg obj_msg_none = {
	.size = sizeof(struct fi_ops_msg),
	.recv = no_msg_recv,
	.recvv = no_msg_recvv,
	.recvmsg = no_msg_xmsg,
	.send = no_msg_send,
	.sendv = no_msg_sendv,
	.sendmsg = no_msg_xmsg,
	.inject = no_msg_inject,
	.senddata = no_msg_senddata,
	.injectdata = no_msg_injectdata,
};

struct fi_ops_tagged obj_tagged_none = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = no_tagged_recv,
	.recvv = no_tagged_recvv,
	.recvmsg = no_tagged_xmsg,
	.send = no_tagged_send,
	.sendv = no_tagged_sendv,
	.sendmsg = no_tagged_xmsg,
	.inject = no_tagged_inject,
	.senddata = no_tagged_senddata,
	.injectdata = no_tagged_injectdata,
};

struct fi_ops_rma obj_rma_none = {
	.size = sizeof(struct fi_ops_rma),
	.read = no_rma_read,
	.readv = no_rma_xv,
	.readmsg = no_rma_xmsg,
	.write = no_rma_write,
	.writev = no_rma_xv,
	.writemsg = no_rma_xmsg,
	.inject = no_rma_inject,
	.writedata = no_rma_writedata,
	.injectdata = no_rma_injectdata,
};
