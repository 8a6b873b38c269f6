/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dev.c - the calls of endpoints with FI_HMEM: where a desc is of a device, the datagram goes by
 * a buffer of the host (udp_dev_send(), udp_dev_recv()).  Injects have no desc.
 */
#include "obj/endpoint/by_msg.h"
#include "obj/mr.h"

#include "ep.h"

static ssize_t dev_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	return obj_mr_device(desc) ? obj_by_msg_tables.msg.recv(fid, buf, len, desc, src, context) :
	       udp_recv(fid, buf, len, desc, src, context);
}

static ssize_t dev_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	return obj_mr_device_any(msg->desc, msg->iov_count) ? udp_dev_recv(fid, msg, flags) :
	       udp_recvmsg(fid, msg, flags);
}

static ssize_t dev_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest, void *context)
{
	return obj_mr_device(desc) ? obj_by_msg_tables.msg.send(fid, buf, len, desc, dest, context) :
	       udp_send(fid, buf, len, desc, dest, context);
}

static ssize_t dev_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	return obj_mr_device_any(msg->desc, msg->iov_count) ? udp_dev_send(fid, msg, flags) :
	       udp_sendmsg(fid, msg, flags);
}

#define MSG_OPS .recv = dev_recv, .recvmsg = dev_recvmsg, .send = dev_send, .sendmsg = dev_sendmsg, \
	.inject = udp_inject

static struct fi_ops_msg plain_ops = { MSG_OPS };
static struct fi_ops_msg framed_ops = { MSG_OPS, .injectdata = udp_injectdata };

/* Without a header there is no room for remote CQ data. */
static __attribute__((constructor)) void fill_ops(void)
{
	plain_ops.senddata = obj_ops_defaults.msg.senddata;
	plain_ops.injectdata = obj_ops_defaults.msg.injectdata;
	OBJ_OPS_BY_MSG(&plain_ops, msg);
	OBJ_OPS_BY_MSG(&framed_ops, msg);
}

void udp_dev_set_ops(struct udp_ep *ep)
{
	ep->base.h.fid.msg = ep->framed ? &framed_ops : &plain_ops;
}
