/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * device_memory.c - the calls of endpoints in a domain with FI_HMEM.
 *
 * A desc is a region there.  Where all buffers of a call are the host's, the call goes on with the
 * descs of libibverbs.  Where one is of a device, the request has the same entries, but the CPU does
 * not touch them: nothing is inline, and what is injected is copied by the device's library to
 * registered memory of the endpoint.
 */
#include "obj/domain.h"
#include "obj/endpoint/by_msg.h"
#include "verbs/request.h"

/* ---- buffers ------------------------------------------------------------------------ */

static inline struct obj_mr *device_mr(void *desc)
{
	struct obj_mr *mr = desc;

	return mr && vrb_by_device(mr) ? mr : NULL;
}

static inline void *ibv_desc(void *desc)
{
	struct obj_mr *mr = desc;

	return mr ? ((struct vrb_region *) mr->hw)->ibv : NULL;
}

/* The buffers of a call, and what libibverbs has for their descs. */
struct bufs {
	const struct iovec *iov;
	size_t cnt;
	void *ibv[VRB_IOV_MAX];
	struct obj_mr *mrs[VRB_IOV_MAX];	/* NULL: memory of the host */
	bool device;				/* one is of a device */
};

/* Errors: -FI_EINVAL: more than VRB_IOV_MAX. */
static int bufs_look(struct bufs *b, const struct iovec *iov, void **desc, size_t cnt)
{
	size_t i;

	if (cnt > VRB_IOV_MAX)
		return -FI_EINVAL;
	b->iov = iov;
	b->cnt = cnt;
	b->device = false;
	for (i = 0; i < cnt; i++) {
		b->ibv[i] = desc ? ibv_desc(desc[i]) : NULL;
		b->mrs[i] = desc ? device_mr(desc[i]) : NULL;
		b->device |= b->mrs[i] != NULL;
	}
	return 0;
}

/* may_copy - is there a way to copy the memory of @mr in a call? */
static int may_copy(const struct vrb_ep *ep, const struct obj_mr *mr)
{
	if (mr->domain->hmem_ops)
		return 0;
	if (mr->loc.dmabuf_only) {
		VRB_WARN(FI_LOG_EP_DATA, "FI_INJECT, or the operand of an atomic, in memory that is known "
			 "as a dma-buf alone: it cannot be copied\n");
		return -FI_EOPNOTSUPP;
	}
	if (mr->loc.iface != FI_HMEM_CUDA || !ep->base.no_cuda)
		return 0;
	VRB_WARN(FI_LOG_EP_DATA, "FI_INJECT, or the operand of an atomic, in CUDA memory needs a call of "
		 "CUDA, which FI_OPT_CUDA_API_PERMITTED excludes\n");
	return -FI_EOPNOTSUPP;
}

static int copy_out(const struct vrb_ep *ep, const struct obj_mr_list *list, void *buf, size_t len)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < list->cnt && !ret; i++)
		ret = list->mrs[i] ? may_copy(ep, list->mrs[i]) : 0;
	return ret ? ret : hmem_errno(obj_mr_gather(list, 0, buf, len));
}

int vrb_stage(struct vrb_ep *ep, struct request *c)
{
	char *copy = scratch_of(ep);
	int ret = copy_out(ep, c->list, copy, c->len);

	if (ret)
		return ret;
	c->sge[0] = (struct ibv_sge) { (uintptr_t) copy, (uint32_t) c->len, ep->scratch_mr->lkey };
	c->wr.sge_cnt = 1;
	return 0;
}

/* fill_bufs - the buffers into a request; not the context and flags. */
static void fill_bufs(struct request *r, const struct bufs *b)
{
	set_iov(r, b->iov, (void **) b->ibv, b->cnt);
}

static ssize_t post_bufs(struct fid_ep *fid, struct request *r, const struct bufs *b,
			 fi_addr_t dest)
{
	const struct obj_mr_list list = { b->iov, b->mrs, b->cnt };
	struct vrb_ep *ep = vrb_ep_of(fid);

	r->list = &list;
	return ep->dgram ? post_memory(ep, r, dest, true, true) :
			   post_memory(ep, r, dest, false, true);
}

/* ---- messages ------------------------------------------------------------------------ */

#define SEND_REQUEST(name) REQUEST(name, VRB_OP_SEND, FI_SEND | FI_MSG, OBJ_CNTR_SEND)

static const struct fi_ops_msg *host_msg(struct fid_ep *fid)
{
	return vrb_ep_of(fid)->host_msg;
}

static ssize_t dev_send(struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
			void *context)
{
	return device_mr(desc) ? obj_by_msg_tables.msg.send(fid, buf, len, desc, dest, context) :
	       host_msg(fid)->send(fid, buf, len, ibv_desc(desc), dest, context);
}

static ssize_t dev_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg host = *msg;
	struct bufs b;
	int ret = bufs_look(&b, msg->msg_iov, msg->desc, msg->iov_count);
	SEND_REQUEST(r);

	host.desc = b.ibv;
	if (ret || !b.device)
		return ret ? ret : host_msg(fid)->sendmsg(fid, &host, flags);
	fill_bufs(&r, &b);
	ret = with_flags(&r, fid, msg->context, flags);
	if (ret)
		return ret;
	if (flags & FI_REMOTE_CQ_DATA)
		with_cq_data(&r, msg->data);
	return post_bufs(fid, &r, &b, msg->addr);
}

static ssize_t dev_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest)
{
	return host_msg(fid)->inject(fid, buf, len, dest);
}

static ssize_t dev_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest)
{
	return host_msg(fid)->injectdata(fid, buf, len, data, dest);
}

/* Receives: the CPU touches no buffer of theirs. */
static ssize_t dev_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			void *context)
{
	return host_msg(fid)->recv(fid, buf, len, ibv_desc(desc), src, context);
}

static ssize_t dev_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t cnt,
			 fi_addr_t src, void *context)
{
	struct bufs b;
	int ret = bufs_look(&b, iov, desc, cnt);

	return ret ? ret : host_msg(fid)->recvv(fid, iov, b.ibv, cnt, src, context);
}

static ssize_t dev_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct fi_msg host = *msg;
	struct bufs b;
	int ret = bufs_look(&b, msg->msg_iov, msg->desc, msg->iov_count);

	host.desc = b.ibv;
	return ret ? ret : host_msg(fid)->recvmsg(fid, &host, flags);
}

/* Lists of buffers and remote CQ data go by the calls with flags. */
struct fi_ops_msg vrb_device_srx_ops = {
	.recv = dev_recv,
	.recvv = dev_recvv,
	.recvmsg = dev_recvmsg,
};
OBJ_OPS_TABLE(vrb_device_srx_ops, msg)
struct fi_ops_msg vrb_device_msg_ops = {
	.recv = dev_recv,
	.recvv = dev_recvv,
	.recvmsg = dev_recvmsg,
	.send = dev_send,
	.sendmsg = dev_sendmsg,
	.inject = dev_inject,
	.injectdata = dev_injectdata,
};
OBJ_OPS_TABLE_BY_MSG(vrb_device_msg_ops, msg)

/* ---- remote memory --------------------------------------------------------------------- */

#define READ_REQUEST(name) REQUEST(name, VRB_OP_READ, FI_READ | FI_RMA, OBJ_CNTR_READ)
#define WRITE_REQUEST(name) REQUEST(name, VRB_OP_WRITE, FI_WRITE | FI_RMA, OBJ_CNTR_WRITE)

static const struct fi_ops_rma *host_rma(struct fid_ep *fid)
{
	return vrb_ep_of(fid)->host_rma;
}

static ssize_t dev_write(struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
			 uint64_t addr, uint64_t key, void *context)
{
	return device_mr(desc) ?
	       obj_by_msg_tables.rma.write(fid, buf, len, desc, dest, addr, key, context) :
	       host_rma(fid)->write(fid, buf, len, ibv_desc(desc), dest, addr, key, context);
}

static ssize_t dev_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	struct fi_msg_rma host = *msg;
	struct bufs b;
	int ret = bufs_look(&b, msg->msg_iov, msg->desc, msg->iov_count);
	WRITE_REQUEST(r);

	host.desc = b.ibv;
	if (ret || !b.device || msg->rma_iov_count != 1)
		return ret ? ret : host_rma(fid)->writemsg(fid, &host, flags);
	fill_bufs(&r, &b);
	ret = with_flags(&r, fid, msg->context, flags);
	if (ret)
		return ret;
	r.wr.addr = msg->rma_iov[0].addr;
	r.wr.rkey = (uint32_t) msg->rma_iov[0].key;
	if (flags & FI_REMOTE_CQ_DATA)
		with_cq_data(&r, msg->data);
	return post_bufs(fid, &r, &b, FI_ADDR_UNSPEC);
}

/* Reads carry nothing that could be inline. */
static ssize_t dev_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			uint64_t addr, uint64_t key, void *context)
{
	return host_rma(fid)->read(fid, buf, len, ibv_desc(desc), src, addr, key, context);
}

static ssize_t dev_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	struct fi_msg_rma host = *msg;
	struct bufs b;
	int ret = bufs_look(&b, msg->msg_iov, msg->desc, msg->iov_count);

	host.desc = b.ibv;
	return ret ? ret : host_rma(fid)->readmsg(fid, &host, flags);
}

static ssize_t dev_inject_write(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
				uint64_t addr, uint64_t key)
{
	return host_rma(fid)->inject(fid, buf, len, dest, addr, key);
}

static ssize_t dev_inject_writedata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				    fi_addr_t dest, uint64_t addr, uint64_t key)
{
	return host_rma(fid)->injectdata(fid, buf, len, data, dest, addr, key);
}

struct fi_ops_rma vrb_device_rma_ops = {
	.read = dev_read,
	.readmsg = dev_readmsg,
	.write = dev_write,
	.writemsg = dev_writemsg,
	.inject = dev_inject_write,
	.injectdata = dev_inject_writedata,
};
OBJ_OPS_TABLE_BY_MSG(vrb_device_rma_ops, rma)

/* ---- atomics -----------------------------------------------------------------------------
 *
 * The operand and the value to compare with are part of the request: if they are of a device, they
 * are copied in the call.  The result is written by the RDMA device, wherever it is.
 */

/* Values of 64 bits that are in memory of the host now. */
struct operand {
	struct fi_ioc ioc;
	uint64_t copy;
};

/* Only 64-bit integers, one at a time, are supported; others are refused later, without a copy. */
static int take_operand(struct fid_ep *fid, struct operand *o, const struct fi_ioc *ioc, void *desc)
{
	struct iovec iov = { ioc->addr, sizeof(o->copy) };
	struct obj_mr *mr = device_mr(desc);
	const struct obj_mr_list list = { &iov, &mr, 1 };

	o->ioc = *ioc;
	if (!mr)
		return 0;
	o->copy = 0;
	o->ioc.addr = &o->copy;
	return ioc->count == 1 ? copy_out(vrb_ep_of(fid), &list, &o->copy, sizeof(o->copy)) : 0;
}

/* The first entry of a list; the others are refused by what is called next. */
static int take_iov(struct fid_ep *fid, struct operand *o, const struct fi_ioc *ioc, void **desc,
		    size_t cnt)
{
	return cnt ? take_operand(fid, o, ioc, desc ? desc[0] : NULL) : 0;
}

/* take_msg - the operand of @msg, which is @host then. */
static int take_msg(struct fid_ep *fid, struct operand *o, const struct fi_msg_atomic *msg,
		    struct fi_msg_atomic *host)
{
	*host = *msg;
	host->desc = NULL;
	if (msg->iov_count)
		host->msg_iov = &o->ioc;
	return take_iov(fid, o, msg->msg_iov, msg->desc, msg->iov_count);
}

static ssize_t dev_amo_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg, uint64_t flags)
{
	struct fi_msg_atomic host;
	struct operand o;
	int ret = take_msg(fid, &o, msg, &host);

	return ret ? ret : vrb_atomic_ops.writemsg(fid, &host, flags);
}

static ssize_t dev_amo_readwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				    struct fi_ioc *result, void **result_desc, size_t result_cnt,
				    uint64_t flags)
{
	void *ibv = result_desc && result_cnt ? ibv_desc(result_desc[0]) : NULL;
	struct fi_msg_atomic host;
	struct operand o;
	int ret = take_msg(fid, &o, msg, &host);

	return ret ? ret : vrb_atomic_ops.readwritemsg(fid, &host, result, &ibv, result_cnt, flags);
}

static ssize_t dev_amo_compwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				    const struct fi_ioc *compare, void **compare_desc,
				    size_t compare_cnt, struct fi_ioc *result, void **result_desc,
				    size_t result_cnt, uint64_t flags)
{
	void *ibv = result_desc && result_cnt ? ibv_desc(result_desc[0]) : NULL;
	struct fi_msg_atomic host;
	struct operand o, with;
	int ret = take_msg(fid, &o, msg, &host);

	if (!ret)
		ret = take_iov(fid, &with, compare, compare_desc, compare_cnt);
	return ret ? ret : vrb_atomic_ops.compwritemsg(fid, &host, &with.ioc, NULL, compare_cnt, result,
						       &ibv, result_cnt, flags);
}

struct fi_ops_atomic vrb_device_atomic_ops = {
	.writemsg = dev_amo_writemsg,
	.readwritemsg = dev_amo_readwritemsg,
	.compwritemsg = dev_amo_compwritemsg,
};

/* Injects and queries have no desc. */
__attribute__((constructor))
static void dev_fill_ops(void)
{
	obj_ops_fill(&vrb_device_atomic_ops, sizeof(vrb_device_atomic_ops), &vrb_atomic_ops);
	OBJ_OPS_BY_MSG(&vrb_device_atomic_ops, atomic);
}
