/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dev.c - the calls of endpoints with FI_HMEM: where a desc is of a device, the datagram goes by
 * a buffer of the host (udp_dev_send(), udp_dev_recv()).  Injects have no desc.
 */
#include "obj/mr.h"

#include "ep.h"

static uint64_t tx_flags(struct fid_ep *fid)
{
	return obj_ep_handle_of(fid)->tx_op_flags & ~FI_REMOTE_CQ_DATA;
}

static ssize_t dev_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, void *context)
{
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .context = context };

	return obj_mr_device_any(desc, cnt) ?
	       udp_dev_recv(fid, &msg, obj_ep_handle_of(fid)->rx_op_flags) :
	       udp_recvv(fid, iov, desc, cnt, src, context);
}

static ssize_t dev_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	struct iovec iov = { buf, len };

	return obj_mr_device(desc) ? dev_recvv(fid, &iov, &desc, 1, src, context) :
	       udp_recv(fid, buf, len, desc, src, context);
}

static ssize_t dev_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	return obj_mr_device_any(msg->desc, msg->iov_count) ? udp_dev_recv(fid, msg, flags) :
	       udp_recvmsg(fid, msg, flags);
}

static ssize_t dev_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t dest, void *context)
{
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = cnt, .addr = dest,
			      .context = context };

	return obj_mr_device_any(desc, cnt) ? udp_dev_send(fid, &msg, tx_flags(fid)) :
	       udp_sendv(fid, iov, desc, cnt, dest, context);
}

static ssize_t dev_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };

	return obj_mr_device(desc) ? dev_sendv(fid, &iov, &desc, 1, dest, context) :
	       udp_send(fid, buf, len, desc, dest, context);
}

static ssize_t dev_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest, void *context)
{
	struct iovec iov = { (void *) buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = dest,
			      .context = context, .data = data };

	return obj_mr_device(desc) ?
	       udp_dev_send(fid, &msg, tx_flags(fid) | FI_REMOTE_CQ_DATA) :
	       udp_senddata(fid, buf, len, desc, data, dest, context);
}

static ssize_t dev_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	return obj_mr_device_any(msg->desc, msg->iov_count) ? udp_dev_send(fid, msg, flags) :
	       udp_sendmsg(fid, msg, flags);
}

#define MSG_OPS .recv = dev_recv, .recvv = dev_recvv, .recvmsg = dev_recvmsg, .send = dev_send, \
	.sendv = dev_sendv, .sendmsg = dev_sendmsg, .inject = udp_inject

static struct fi_ops_msg plain_ops = { MSG_OPS };
OBJ_OPS_TABLE(plain_ops, msg)
static struct fi_ops_msg framed_ops = {
	MSG_OPS, .senddata = dev_senddata, .injectdata = udp_injectdata,
};
OBJ_OPS_TABLE(framed_ops, msg)

void udp_dev_set_ops(struct udp_ep *ep)
{
	ep->base.h.fid.msg = ep->framed ? &framed_ops : &plain_ops;
}
