/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls.c - the calls of endpoints with FI_HMEM: where a desc is of a device they take the path
 * of dev.h, else that of all endpoints.  Injects have no desc: their payload is the host's.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/trig.h"
#include "obj/ops.h"

static uint64_t tx_flags(struct fid_ep *ep)
{
	return obj_ep_handle_of(ep)->tx_op_flags & ~FI_REMOTE_CQ_DATA;
}

/* FI_MULTI_RECV by default is for tagged receives only with a capability of its own. */
static uint64_t rx_flags(struct fid_ep *ep, bool tagged)
{
	struct obj_ep_handle *h = obj_ep_handle_of(ep);

	return tagged && !(h->ep->caps & FI_TAGGED_MULTI_RECV) ? h->rx_op_flags & ~FI_MULTI_RECV :
	       h->rx_op_flags;
}

/* Deferred calls keep their descs and look at them when they start. */
static bool now(uint64_t flags)
{
	return !(flags & FI_TRIGGER);
}

/* ---- messages ---------------------------------------------------------------------------- */

static ssize_t recv_list(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, uint64_t tag, uint64_t ignore, void *context, bool tagged)
{
	struct fi_msg_tagged msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = src,
				     .tag = tag, .ignore = ignore, .context = context };

	return eng_dev_recv(ep, &msg, rx_flags(ep, tagged), tagged);
}

static ssize_t send_list(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, uint64_t tag, void *context, bool tagged)
{
	struct fi_msg_tagged msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = dest,
				     .tag = tag, .context = context };

	return eng_dev_send(ep, &msg, tx_flags(ep), tagged);
}

static ssize_t send_data(struct fid_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
			 fi_addr_t dest, uint64_t tag, void *context, bool tagged)
{
	struct iovec iov = { (void *) buf, len };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = dest,
				     .tag = tag, .data = data, .context = context };

	return eng_dev_send(ep, &msg, tx_flags(ep) | FI_REMOTE_CQ_DATA, tagged);
}

static ssize_t dev_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	struct iovec iov = { buf, len };

	return obj_mr_device(desc) ? recv_list(ep, &iov, &desc, 1, src, 0, 0, context, false) :
	       eng_send_msg_ops.recv(ep, buf, len, desc, src, context);
}

static ssize_t dev_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, void *context)
{
	return obj_mr_device_any(desc, cnt) ? recv_list(ep, iov, desc, cnt, src, 0, 0, context, false) :
	       eng_send_msg_ops.recvv(ep, iov, desc, cnt, src, context);
}

static ssize_t dev_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg_tagged tagged = eng_op_msg(msg);

	return now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_recv(ep, &tagged, flags, false) : eng_send_msg_ops.recvmsg(ep, msg, flags);
}

static ssize_t dev_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest,
			void *context)
{
	struct iovec iov = { (void *) buf, len };

	return obj_mr_device(desc) ? send_list(ep, &iov, &desc, 1, dest, 0, context, false) :
	       eng_send_msg_ops.send(ep, buf, len, desc, dest, context);
}

static ssize_t dev_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, void *context)
{
	return obj_mr_device_any(desc, cnt) ? send_list(ep, iov, desc, cnt, dest, 0, context, false) :
	       eng_send_msg_ops.sendv(ep, iov, desc, cnt, dest, context);
}

static ssize_t dev_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg_tagged tagged = eng_op_msg(msg);

	return now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_send(ep, &tagged, flags, false) : eng_send_msg_ops.sendmsg(ep, msg, flags);
}

static ssize_t dev_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest, void *context)
{
	return obj_mr_device(desc) ? send_data(ep, buf, len, desc, data, dest, 0, context, false) :
	       eng_send_msg_ops.senddata(ep, buf, len, desc, data, dest, context);
}

/* ---- tagged messages ----------------------------------------------------------------------- */

static ssize_t dev_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			 uint64_t tag, uint64_t ignore, void *context)
{
	struct iovec iov = { buf, len };

	return obj_mr_device(desc) ? recv_list(ep, &iov, &desc, 1, src, tag, ignore, context, true) :
	       eng_send_tagged_ops.recv(ep, buf, len, desc, src, tag, ignore, context);
}

static ssize_t dev_trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t src, uint64_t tag, uint64_t ignore, void *context)
{
	return obj_mr_device_any(desc, cnt) ?
	       recv_list(ep, iov, desc, cnt, src, tag, ignore, context, true) :
	       eng_send_tagged_ops.recvv(ep, iov, desc, cnt, src, tag, ignore, context);
}

static ssize_t dev_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_recv(ep, msg, flags, true) : eng_send_tagged_ops.recvmsg(ep, msg, flags);
}

static ssize_t dev_tsend(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest,
			 uint64_t tag, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return obj_mr_device(desc) ? send_list(ep, &iov, &desc, 1, dest, tag, context, true) :
	       eng_send_tagged_ops.send(ep, buf, len, desc, dest, tag, context);
}

static ssize_t dev_tsendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t tag, void *context)
{
	return obj_mr_device_any(desc, cnt) ? send_list(ep, iov, desc, cnt, dest, tag, context, true) :
	       eng_send_tagged_ops.sendv(ep, iov, desc, cnt, dest, tag, context);
}

static ssize_t dev_tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_send(ep, msg, flags, true) : eng_send_tagged_ops.sendmsg(ep, msg, flags);
}

static ssize_t dev_tsenddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest, uint64_t tag, void *context)
{
	return obj_mr_device(desc) ? send_data(ep, buf, len, desc, data, dest, tag, context, true) :
	       eng_send_tagged_ops.senddata(ep, buf, len, desc, data, dest, tag, context);
}

/* ---- remote memory -------------------------------------------------------------------------- */

static ssize_t rma_list(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			fi_addr_t dest, uint64_t addr, uint64_t key, uint64_t data, uint64_t flags,
			void *context, bool write)
{
	struct fi_rma_iov remote = { .addr = addr, .len = iov_total(iov, cnt), .key = key };
	struct fi_msg_rma msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = dest,
				  .rma_iov = &remote, .rma_iov_count = 1, .data = data,
				  .context = context };

	return eng_dev_rma(ep, &msg, flags | tx_flags(ep), write);
}

static ssize_t dev_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { buf, len };

	return obj_mr_device(desc) ?
	       rma_list(ep, &iov, &desc, 1, src, addr, key, 0, 0, context, false) :
	       eng_rma_ops.read(ep, buf, len, desc, src, addr, key, context);
}

static ssize_t dev_readv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, uint64_t addr, uint64_t key, void *context)
{
	return obj_mr_device_any(desc, cnt) ?
	       rma_list(ep, iov, desc, cnt, src, addr, key, 0, 0, context, false) :
	       eng_rma_ops.readv(ep, iov, desc, cnt, src, addr, key, context);
}

static ssize_t dev_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_rma(ep, msg, flags, false) : eng_rma_ops.readmsg(ep, msg, flags);
}

static ssize_t dev_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return obj_mr_device(desc) ?
	       rma_list(ep, &iov, &desc, 1, dest, addr, key, 0, 0, context, true) :
	       eng_rma_ops.write(ep, buf, len, desc, dest, addr, key, context);
}

static ssize_t dev_writev(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			  fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	return obj_mr_device_any(desc, cnt) ?
	       rma_list(ep, iov, desc, cnt, dest, addr, key, 0, 0, context, true) :
	       eng_rma_ops.writev(ep, iov, desc, cnt, dest, addr, key, context);
}

static ssize_t dev_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_rma(ep, msg, flags, true) : eng_rma_ops.writemsg(ep, msg, flags);
}

static ssize_t dev_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest, uint64_t addr, uint64_t key,
			     void *context)
{
	struct iovec iov = { (void *) buf, len };

	return obj_mr_device(desc) ?
	       rma_list(ep, &iov, &desc, 1, dest, addr, key, data, FI_REMOTE_CQ_DATA, context, true) :
	       eng_rma_ops.writedata(ep, buf, len, desc, data, dest, addr, key, context);
}

/* ---- tables ----------------------------------------------------------------------------------- */

static struct fi_ops_msg msg_ops = {
	.recv = dev_recv,
	.recvv = dev_recvv,
	.recvmsg = dev_recvmsg,
	.send = dev_send,
	.sendv = dev_sendv,
	.sendmsg = dev_sendmsg,
	.senddata = dev_senddata,
};

static struct fi_ops_tagged tagged_ops = {
	.recv = dev_trecv,
	.recvv = dev_trecvv,
	.recvmsg = dev_trecvmsg,
	.send = dev_tsend,
	.sendv = dev_tsendv,
	.sendmsg = dev_tsendmsg,
	.senddata = dev_tsenddata,
};

static struct fi_ops_rma rma_ops = {
	.read = dev_read,
	.readv = dev_readv,
	.readmsg = dev_readmsg,
	.write = dev_write,
	.writev = dev_writev,
	.writemsg = dev_writemsg,
	.writedata = dev_writedata,
};

/* Injects are those of all endpoints. */
static __attribute__((constructor)) void fill_tables(void)
{
	obj_ops_fill(&msg_ops, sizeof(msg_ops), &eng_send_msg_ops);
	obj_ops_fill(&tagged_ops, sizeof(tagged_ops), &eng_send_tagged_ops);
	obj_ops_fill(&rma_ops, sizeof(rma_ops), &eng_rma_ops);
}

void eng_dev_set_tables(struct fid_ep *ep)
{
	if (ep->msg)
		ep->msg = &msg_ops;
	if (ep->tagged)
		ep->tagged = &tagged_ops;
	if (ep->rma)
		ep->rma = &rma_ops;
}
