/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fake_device.h - an RDMA device for unit tests: functions in place of those of libibverbs and
 * librdmacm that record what was posted and report what the test has put into the completion
 * queue.  Endpoints on it are those of the provider; fabric, domain and queues are those of
 * obj/test/fake.h.
 *
 * Include it once in a test program; all of it is static.
 */
#ifndef VRB_FAKE_DEVICE_H
#define VRB_FAKE_DEVICE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "obj/ops.h"
#include "obj/test/fake.h"
#include "verbs/cm.h"
#include "verbs/ep.h"

#define DEV_POSTED 1024
#define DEV_QPN 0x100u

struct dev_post {
	struct ibv_send_wr wr;
	struct ibv_sge sge[VRB_IOV_MAX];
};

static struct {
	struct verbs_context verbs;	/* verbs.context is what objects point to */
	struct ibv_device device;
	struct vrb_domain domain;
	struct rdma_cm_id id;		/* of the endpoint; its queue pair is @qp */
	struct ibv_qp qp;
	struct ibv_qp_ex qpx;		/* of dev_extend(): its requests are recorded in @posted, too */
	unsigned inlined;		/* bytes of inline data of its last request */
	struct ibv_mr mr;
	unsigned max_inline;		/* more inline data than this is refused */
	unsigned qps, qps_destroyed;	/* created; destroyed */
	int post_ret;			/* what posting a send answers: positive errno */
	struct dev_post posted[DEV_POSTED];
	unsigned posted_cnt;
	uint64_t recvs[DEV_POSTED];	/* wr_id of receives */
	unsigned recv_cnt;
	struct ibv_wc wc[64];		/* to be polled */
	unsigned wc_cnt;
	unsigned disconnects, resizes, regs;
	unsigned qp_states;		/* bits: 1 << state that a queue pair was moved to */
	uint8_t data[256];		/* private data of the last connect, accept or reject */
	size_t data_len;
	unsigned rejects, accepts, connects, created_ids, destroyed_ids, resolves, routes;
	struct rdma_cm_event events[16];	/* to be read from the event channel */
	unsigned event_cnt, event_at;
	int channel_fd;
} dev;

/* ---- libibverbs ----------------------------------------------------------------- */

static int dev_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct dev_post *p = &dev.posted[dev.posted_cnt];

	if (dev.post_ret)
		return dev.post_ret;
	assert_true(dev.posted_cnt < DEV_POSTED && wr->num_sge <= VRB_IOV_MAX);
	p->wr = *wr;
	if (wr->num_sge)
		memcpy(p->sge, wr->sg_list, (size_t) wr->num_sge * sizeof(p->sge[0]));
	dev.posted_cnt++;
	return 0;
}

static int dev_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (dev.post_ret)
		return dev.post_ret;
	assert_true(dev.recv_cnt < DEV_POSTED);
	dev.recvs[dev.recv_cnt++] = wr->wr_id;
	return 0;
}

static int dev_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	unsigned cnt = dev.wc_cnt < (unsigned) max ? dev.wc_cnt : (unsigned) max;

	memcpy(wc, dev.wc, cnt * sizeof(*wc));
	dev.wc_cnt -= cnt;
	memmove(dev.wc, dev.wc + cnt, dev.wc_cnt * sizeof(*wc));
	return (int) cnt;
}

static int dev_notify(struct ibv_cq *cq, int solicited_only)
{
	return 0;
}

static struct ibv_cq *dev_create_cq(struct ibv_context *ctx, int cqe, void *context,
				    struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = calloc(1, sizeof(*cq));

	cq->context = ctx;
	cq->cq_context = context;
	cq->cqe = cqe;
	return cq;
}

static int dev_resize_cq(struct ibv_cq *cq, int cqe)
{
	dev.resizes++;
	cq->cqe = cqe;
	return 0;
}

static int dev_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

static struct ibv_comp_channel *dev_create_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

	channel->fd = eventfd(0, EFD_CLOEXEC);
	return channel;
}

static int dev_destroy_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

static int dev_no_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	return -1;
}

static int dev_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_STATE)
		dev.qp_states |= 1u << attr->qp_state;
	return 0;
}

static int dev_destroy_qp(struct ibv_qp *qp)
{
	dev.qps_destroyed++;
	return 0;
}

static struct ibv_mr *dev_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	dev.regs++;
	dev.mr.lkey = 0x77;
	return &dev.mr;
}

static int dev_dereg_mr(struct ibv_mr *mr)
{
	dev.regs--;
	return 0;
}

static const char *dev_status_str(enum ibv_wc_status status)
{
	return "a status";
}

/* ---- the extended interface: a request is recorded when it is complete ------------------ */

static void dev_wr_start(struct ibv_qp_ex *qpx)
{
	memset(&dev.posted[dev.posted_cnt], 0, sizeof(dev.posted[0]));
	dev.inlined = 0;
}

static struct ibv_send_wr *dev_wr(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr *wr = &dev.posted[dev.posted_cnt].wr;

	wr->opcode = opcode;
	wr->wr_id = qpx->wr_id;
	wr->send_flags = qpx->wr_flags;
	return wr;
}

static void dev_wr_send(struct ibv_qp_ex *qpx)
{
	dev_wr(qpx, IBV_WR_SEND);
}

static void dev_wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	dev_wr(qpx, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
}

static void dev_wr_rdma(struct ibv_send_wr *wr, uint32_t rkey, uint64_t addr)
{
	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = addr;
}

static void dev_wr_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	dev_wr_rdma(dev_wr(qpx, IBV_WR_RDMA_WRITE), rkey, addr);
}

static void dev_wr_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	dev_wr_rdma(dev_wr(qpx, IBV_WR_RDMA_READ), rkey, addr);
}

static void dev_wr_inline(struct ibv_qp_ex *qpx, void *addr, size_t len)
{
	dev.inlined = (unsigned) len;
}

static void dev_wr_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t len)
{
	dev.posted[dev.posted_cnt].wr.num_sge = 1;
	dev.posted[dev.posted_cnt].sge[0] = (struct ibv_sge) { addr, len, lkey };
}

static int dev_wr_complete(struct ibv_qp_ex *qpx)
{
	if (dev.post_ret)
		return dev.post_ret;
	assert_true(++dev.posted_cnt < DEV_POSTED);
	return 0;
}

/* ---- librdmacm ------------------------------------------------------------------ */

static int dev_create_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (attr->cap.max_inline_data > dev.max_inline ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) {
		errno = EINVAL;
		return -1;
	}
	dev.qps++;
	dev.qp.context = &dev.verbs.context;
	dev.qp.qp_num = DEV_QPN;
	dev.qp.qp_type = attr->qp_type;
	id->qp = &dev.qp;
	return 0;
}

static void dev_destroy_id_qp(struct rdma_cm_id *id)
{
	dev.qps_destroyed++;
	id->qp = NULL;
}

static int dev_disconnect(struct rdma_cm_id *id)
{
	dev.disconnects++;
	return 0;
}

static void dev_data(const void *data, size_t len)
{
	dev.data_len = len;
	if (len)
		memcpy(dev.data, data, len);
}

static int dev_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	dev.rejects++;
	dev_data(data, len);
	return 0;
}

static int dev_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	dev.accepts++;
	dev_data(param->private_data, param->private_data_len);
	return 0;
}

static int dev_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	dev.connects++;
	dev_data(param->private_data, param->private_data_len);
	return 0;
}

static int dev_destroy_id(struct rdma_cm_id *id)
{
	dev.destroyed_ids++;
	return 0;
}

static int dev_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id_p, void *context,
			 enum rdma_port_space ps)
{
	dev.created_ids++;
	dev.id.context = context;
	*id_p = &dev.id;
	return 0;
}

static int dev_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	id->verbs = &dev.verbs.context;
	memcpy(&id->route.addr.src_addr, addr, vrb_sa_len(addr));
	return 0;
}

static int dev_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
	dev.resolves++;
	return 0;
}

static int dev_resolve_route(struct rdma_cm_id *id, int ms)
{
	dev.routes++;
	return 0;
}

static int dev_listen(struct rdma_cm_id *id, int backlog)
{
	return 0;
}

static struct rdma_event_channel *dev_event_channel(void)
{
	struct rdma_event_channel *channel = calloc(1, sizeof(*channel));

	channel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return channel;
}

static void dev_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

static int dev_get_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	if (dev.event_at == dev.event_cnt)
		return -1;
	*event = &dev.events[dev.event_at++];
	return 0;
}

static int dev_ack_event(struct rdma_cm_event *event)
{
	return 0;
}

static __be16 dev_port(struct rdma_cm_id *id)
{
	return htobe16(7);
}

static const char *dev_event_str(enum rdma_cm_event_type event)
{
	return "an event";
}

/* ---- set up --------------------------------------------------------------------- */

static inline void dev_init(void)
{
	memset(&dev, 0, sizeof(dev));
	dev.max_inline = 4096;
	dev.device.transport_type = IBV_TRANSPORT_IB;
	dev.verbs.sz = sizeof(dev.verbs);
	dev.verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	dev.verbs.context.device = &dev.device;
	dev.verbs.context.ops.post_send = dev_post_send;
	dev.verbs.context.ops.post_recv = dev_post_recv;
	dev.verbs.context.ops.poll_cq = dev_poll_cq;
	dev.verbs.context.ops.req_notify_cq = dev_notify;
	dev.domain.ctx = &dev.verbs.context;
	dev.domain.kind = &vrb_rc_kind;
	dev.domain.attr.max_cqe = 1 << 16;
	dev.domain.attr.max_qp_rd_atom = 16;
	dev.domain.attr.max_qp_init_rd_atom = 16;
	dev.domain.attr.atomic_cap = IBV_ATOMIC_HCA;
	dev.id.verbs = &dev.verbs.context;
	vrb_ibv = (struct vrb_ibv) {
		.create_cq = dev_create_cq, .resize_cq = dev_resize_cq, .destroy_cq = dev_destroy_cq,
		.create_comp_channel = dev_create_channel,
		.destroy_comp_channel = dev_destroy_channel, .get_cq_event = dev_no_event,
		.modify_qp = dev_modify_qp, .destroy_qp = dev_destroy_qp,
		.wc_status_str = dev_status_str,
	};
	vrb_ibv.reg_mr = dev_reg_mr;
	vrb_ibv.dereg_mr = dev_dereg_mr;
	vrb_cm = (struct vrb_cm_lib) {
		.create_qp_ex = dev_create_qp, .destroy_qp = dev_destroy_id_qp,
		.disconnect = dev_disconnect, .reject = dev_reject, .accept = dev_accept,
		.connect = dev_connect, .create_id = dev_create_id, .destroy_id = dev_destroy_id,
		.bind_addr = dev_bind_addr, .resolve_addr = dev_resolve_addr,
		.resolve_route = dev_resolve_route, .listen = dev_listen,
		.create_event_channel = dev_event_channel,
		.destroy_event_channel = dev_destroy_event_channel,
		.get_cm_event = dev_get_event, .ack_cm_event = dev_ack_event,
		.get_src_port = dev_port, .get_dst_port = dev_port, .event_str = dev_event_str,
	};
	vrb_conf.doorbell = (char *) "post";
	vrb_conf.bunch = 8;
	vrb_conf.inline_size = 64;
}

static int dev_enable(struct obj_ep *base)
{
	struct vrb_ep *ep = container_of(base, struct vrb_ep, base);
	int ret;

	lock_get(&base->prog->lock);
	ret = vrb_ep_start(ep);
	lock_put(&base->prog->lock);
	return ret;
}

static const struct obj_ep_ops dev_obj_ops = { .enable = dev_enable };

/* dev_ep - an endpoint on the device, bound to @cq and @eq but not enabled. */
static inline struct vrb_ep *dev_ep(struct fake *f, const struct fi_info *info, struct fid_cq *cq,
				    uint64_t flags, struct fid_eq *eq)
{
	struct vrb_ep *ep = calloc(1, sizeof(*ep));

	assert_int_equal(obj_ep_init(&ep->base, FI_CLASS_EP, f->domain, info, &dev_obj_ops, NULL), 0);
	ep->domain = &dev.domain;
	ep->inject_size = (unsigned) info->tx_attr->inject_size;
	ep->cm.kind = VRB_ID_EP;
	ep->cm.id = &dev.id;
	ep->base.cm.ops = &vrb_cm_ops;
	ep->base.cm.data_size = vrb_rc_kind.data_max;
	ep->base.cm.transport = obj_fabric_of(f->fabric);
	ep->base.h.fid.cm = &obj_cm_msg_ops;
	ep->base.h.fid.msg = &vrb_msg_ops;
	ep->base.h.fid.rma = &vrb_rma_ops;
	assert_int_equal(obj_ep_bind(&ep->base.h.fid.fid, &cq->fid, flags), 0);
	assert_int_equal(obj_ep_bind(&ep->base.h.fid.fid, &eq->fid, 0), 0);
	return ep;
}

/* dev_extend - an enabled endpoint's queue pair has the extended interface. */
static inline void dev_extend(struct vrb_ep *ep)
{
	dev.qpx = (struct ibv_qp_ex) {
		.wr_start = dev_wr_start, .wr_complete = dev_wr_complete, .wr_send = dev_wr_send,
		.wr_send_imm = dev_wr_send_imm, .wr_rdma_write = dev_wr_write,
		.wr_rdma_read = dev_wr_read, .wr_set_inline_data = dev_wr_inline,
		.wr_set_sge = dev_wr_sge,
	};
	ep->sq.qpx = &dev.qpx;
}

static inline void dev_ep_close(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;

	obj_ep_quiesce(&ep->base);
	if (prog)
		lock_get(&prog->lock);
	ep->closing = true;
	if (ep->poller)
		vrb_poller_leave(ep, ep->tx_depth + ep->rx_depth);
	if (prog)
		lock_put(&prog->lock);
	vrb_ep_free_rings(ep);
	obj_ep_fini(&ep->base);
	free(ep);
}

/* dev_complete - the device reports the request or receive @wr_id. */
static inline struct ibv_wc *dev_complete(uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc *wc = &dev.wc[dev.wc_cnt++];

	*wc = (struct ibv_wc) { .wr_id = wr_id, .status = status, .qp_num = DEV_QPN };
	return wc;
}

#endif
