/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls.c - the calls of endpoints with FI_HMEM: where a desc is of a device they take the path
 * of dev.h, else that of all endpoints.  Injects have no desc: their payload is the host's.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "engine/dev.h"
#include "engine/trig.h"
#include "obj/endpoint/by_msg.h"

/* Deferred calls keep their descs and look at them when they start. */
static bool starts_now(uint64_t flags)
{
	return !(flags & FI_TRIGGER);
}

/* ---- messages ---------------------------------------------------------------------------- */

static ssize_t dev_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	return obj_mr_device(desc) ? obj_by_msg_tables.msg.recv(ep, buf, len, desc, src, context) :
	       eng_send_msg_ops.recv(ep, buf, len, desc, src, context);
}

static ssize_t dev_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg_tagged tagged = eng_op_msg(msg);

	return starts_now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_recv(ep, &tagged, flags, false) : eng_send_msg_ops.recvmsg(ep, msg, flags);
}

static ssize_t dev_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest,
			void *context)
{
	return obj_mr_device(desc) ? obj_by_msg_tables.msg.send(ep, buf, len, desc, dest, context) :
	       eng_send_msg_ops.send(ep, buf, len, desc, dest, context);
}

static ssize_t dev_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg_tagged tagged = eng_op_msg(msg);

	return starts_now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_send(ep, &tagged, flags, false) : eng_send_msg_ops.sendmsg(ep, msg, flags);
}

/* ---- tagged messages ----------------------------------------------------------------------- */

static ssize_t dev_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			 uint64_t tag, uint64_t ignore, void *context)
{
	return obj_mr_device(desc) ?
	       obj_by_msg_tables.tagged.recv(ep, buf, len, desc, src, tag, ignore, context) :
	       eng_send_tagged_ops.recv(ep, buf, len, desc, src, tag, ignore, context);
}

static ssize_t dev_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return starts_now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_recv(ep, msg, flags, true) : eng_send_tagged_ops.recvmsg(ep, msg, flags);
}

static ssize_t dev_tsend(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest,
			 uint64_t tag, void *context)
{
	return obj_mr_device(desc) ?
	       obj_by_msg_tables.tagged.send(ep, buf, len, desc, dest, tag, context) :
	       eng_send_tagged_ops.send(ep, buf, len, desc, dest, tag, context);
}

static ssize_t dev_tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return starts_now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_send(ep, msg, flags, true) : eng_send_tagged_ops.sendmsg(ep, msg, flags);
}

/* ---- remote memory -------------------------------------------------------------------------- */

static ssize_t dev_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	return obj_mr_device(desc) ?
	       obj_by_msg_tables.rma.read(ep, buf, len, desc, src, addr, key, context) :
	       eng_rma_ops.read(ep, buf, len, desc, src, addr, key, context);
}

static ssize_t dev_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return starts_now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_rma(ep, msg, flags, false) : eng_rma_ops.readmsg(ep, msg, flags);
}

static ssize_t dev_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	return obj_mr_device(desc) ?
	       obj_by_msg_tables.rma.write(ep, buf, len, desc, dest, addr, key, context) :
	       eng_rma_ops.write(ep, buf, len, desc, dest, addr, key, context);
}

static ssize_t dev_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return starts_now(flags) && obj_mr_device_any(msg->desc, msg->iov_count) ?
	       eng_dev_rma(ep, msg, flags, true) : eng_rma_ops.writemsg(ep, msg, flags);
}

/* ---- tables -----------------------------------------------------------------------------------
 *
 * Lists of buffers and remote CQ data go by the calls with flags.
 */

static struct fi_ops_msg msg_ops = {
	.recv = dev_recv,
	.recvmsg = dev_recvmsg,
	.send = dev_send,
	.sendmsg = dev_sendmsg,
};

static struct fi_ops_tagged tagged_ops = {
	.recv = dev_trecv,
	.recvmsg = dev_trecvmsg,
	.send = dev_tsend,
	.sendmsg = dev_tsendmsg,
};

static struct fi_ops_rma rma_ops = {
	.read = dev_read,
	.readmsg = dev_readmsg,
	.write = dev_write,
	.writemsg = dev_writemsg,
};

/* Injects are those of all endpoints. */
#define FILL(table, host, member)						\
	do {									\
		(table)->inject = (host)->inject;				\
		(table)->injectdata = (host)->injectdata;			\
		OBJ_OPS_BY_MSG(table, member);					\
	} while (0)

static __attribute__((constructor)) void fill_tables(void)
{
	FILL(&msg_ops, &eng_send_msg_ops, msg);
	FILL(&tagged_ops, &eng_send_tagged_ops, tagged);
	FILL(&rma_ops, &eng_rma_ops, rma);
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
