/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.c - endpoints: opening, the queue pair with its rings, enabling and closing; and shared
 * receive contexts.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "verbs/async.h"
#include "verbs/dgram.h"
#include "verbs/ep.h"
#include "verbs/kind.h"

#define UNSIGNALLED_MAX 16u		/* of so many requests that are not reported, one is signalled */
#define FLUSH_NS 500000000u	/* a queue pair in the error state flushes its requests in this time */
#define DRAIN_NS 2000000000u	/* an endpoint that closes waits so long for its requests */

/* Slots of a ring: a power of two, so that a counter is masked to a slot. */
static unsigned ring_size(unsigned depth)
{
	unsigned slots = 2;

	while (slots < depth)
		slots *= 2;
	return slots;
}

/* ---- the queue pair ------------------------------------------------------------- */

void vrb_ep_destroy_qp(struct vrb_ep *ep)
{
	if (ep->dgram && ep->dgram->ud)
		vrb_ibv.destroy_qp(ep->qp);
	else
		vrb_cm.destroy_qp(ep->cm.id);
}

static struct vrb_ep *srx_of(const struct vrb_ep *ep)
{
	return ep->base.srx ? container_of(ep->base.srx, struct vrb_ep, base) : NULL;
}

/* All endpoints of a shared receive queue use the same path. */
static bool may_use_direct(const struct vrb_ep *ep)
{
	const struct vrb_ep *srx = srx_of(ep);

	return ep->domain->direct && !ep->native && (!srx || srx->mlx5_srq.wr_id) && !vrb_poller_times(ep);
}

/* Direct path: find the queues in memory; for all, decide on the fast path. */
static int qp_set_up(struct vrb_ep *ep)
{
	struct vrb_ep *srx = srx_of(ep);
	int ret = ep->direct ? vrb_mlx5_qp_init(&ep->mlx5, ep->qp, ep->cq,
						srx ? &srx->mlx5_srq : NULL, &ep->poller->mlx5) : 0;

	if (!ret && !ep->native) {
		vrb_fast_enable(ep);
		VRB_INFO(FI_LOG_EP_CTRL, "requests: %s; completions: %s\n", ep->sq.ops->name,
			 ep->cq->ops->name);
	}
	return ret;
}

/* Direct path: flush all requests before the library destroys the queue pair. */
static void qp_tear_down(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	uint64_t deadline = clock_ns() + FLUSH_NS;

	if (ep->native)
		vrb_native_stop(ep);
	if (!ep->direct)
		return;
	if (!vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE))
		while ((ep->tx_head != ep->tx_tail || ep->rx_head != ep->rx_tail) &&
		       clock_ns() < deadline)
			vrb_poller_run(ep->poller, OBJ_POLL_BUDGET);
	vrb_mlx5_qp_fini(&ep->mlx5, ep->cq);
	vrb_fast_disable(ep);
	ep->direct = false;
}

/* The queue pair may have less inline data than was asked for: vrb_qp_make() tries with less, and
 * what was granted is what the calls go by.
 */
static int ep_make_qp(struct vrb_ep *ep)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = ep,
		.send_cq = ep->native ? vrb_native_cq(ep->native) : ep->cq->cq,
		.recv_cq = ep->native ? vrb_native_cq(ep->native) : ep->cq->cq,
		.srq = ep->base.srx ? srx_of(ep)->srq : NULL,
		.cap = {
			.max_send_wr = ep->tx_depth,
			.max_recv_wr = ep->base.srx ? 0 : ep->rx_depth,
			.max_send_sge = (uint32_t) ep->base.info->tx_attr->iov_limit,
			.max_recv_sge = (uint32_t) ep->base.info->rx_attr->iov_limit +
					(ep->dgram ? VRB_DGRAM_SGE : 0),
			.max_inline_data = ep->inject_size,
		},
		.qp_type = ep->dgram ? IBV_QPT_UD : IBV_QPT_RC,
		.pd = ep->direct ? vrb_mlx5_pd(&ep->poller->mlx5, ep->domain->pd) : ep->domain->pd,
	};
	int ret = vrb_qp_make(ep, &attr, &ep->sq);

	if (!ret) {
		ep->qp = ep->sq.qp;
		ep->max_inline = attr.cap.max_inline_data;
		return qp_set_up(ep);
	}
	VRB_WARN(FI_LOG_EP_CTRL, "the device has no queue pair with %u sends and %u receives with "
		 "%u and %u entries: %s. Ask for less in tx_attr and rx_attr\n", ep->tx_depth,
		 ep->rx_depth, attr.cap.max_send_sge, attr.cap.max_recv_sge, fi_strerror(-ret));
	return ret;
}

/* Registered memory for data that does not fit inline. */
int vrb_ep_make_scratch(struct vrb_ep *ep)
{
	size_t size;

	if (ep->max_inline < ep->inject_size || ep->max_inline < sizeof(uint64_t) || ep->domain->hmem.on)
		ep->stride = ep->inject_size;
	else if (ep->base.caps & FI_ATOMIC)
		ep->stride = sizeof(uint64_t);
	else
		return 0;
	ep->stride = (ep->stride + 7) & ~7u;
	size = (size_t) ep->stride * (ep->tx_mask + 1);
	ep->scratch = aligned_alloc(64, (size + 63) & ~(size_t) 63);
	if (!ep->scratch)
		return -FI_ENOMEM;
	ep->scratch_mr = vrb_ibv.reg_mr(ep->domain->pd, ep->scratch, size, IBV_ACCESS_LOCAL_WRITE);
	return ep->scratch_mr ? 0 : -errno;
}

void vrb_ep_free_rings(struct vrb_ep *ep)
{
	vrb_fast_disable(ep);
	if (ep->scratch_mr)
		vrb_ibv.dereg_mr(ep->scratch_mr);
	free(ep->scratch);
	free(ep->tx);
	free(ep->rx);
	ep->scratch_mr = NULL;
	ep->scratch = NULL;
	ep->tx = NULL;
	ep->rx = NULL;
}

int vrb_ep_make_rings(struct vrb_ep *ep)
{
	unsigned i;

	ep->tx_depth = (unsigned) ep->base.info->tx_attr->size;
	ep->rx_depth = ep->base.srx ? 0 : (unsigned) ep->base.info->rx_attr->size;
	if (ep->tx_depth < 2)
		ep->tx_depth = 2;
	ep->tx_mask = ring_size(ep->tx_depth) - 1;
	ep->rx_mask = ring_size(ep->rx_depth) - 1;
	ep->tx_unsignalled_max = ep->tx_depth / 4 < UNSIGNALLED_MAX ? ep->tx_depth / 4 : UNSIGNALLED_MAX;
	if (ep->dgram || ep->domain->kind->shares)
		ep->tx_unsignalled_max = 0;	/* every request is signalled: there is no marker */
	ep->tx = calloc(ep->tx_mask + 1, sizeof(*ep->tx));
	ep->rx = calloc(ep->rx_mask + 1, sizeof(*ep->rx));
	if (!ep->tx || !ep->rx)
		return -FI_ENOMEM;
	for (i = 0; i <= ep->tx_mask; i++)
		ep->tx[i].ep = ep;
	for (i = 0; i <= ep->rx_mask; i++)
		ep->rx[i] = (struct vrb_rx) { .ep = ep, .room = UINT32_MAX };
	return 0;
}

/* Entries of the completion queue that an endpoint reserves: every request and receive may be
 * there at once.  Shared receives may all be consumed by one endpoint.
 */
static unsigned cq_entries(const struct vrb_ep *ep)
{
	const struct vrb_ep *srx = srx_of(ep);

	if (ep->domain->kind->shares || ep->native)
		return 0;	/* what endpoints share reserves its own; a device has its own queue */
	return ep->tx_depth + (srx ? srx->rx_depth : ep->rx_depth);
}

int vrb_ep_start(struct vrb_ep *ep)
{
	int ret = vrb_ep_make_rings(ep);

	ep->direct = may_use_direct(ep);
	if (!ret)
		ret = vrb_poller_join(ep, cq_entries(ep));
	if (ret)
		goto err_rings;
	ret = ep_make_qp(ep);
	if (ret)
		goto err_qp;
	ret = vrb_ep_make_scratch(ep);
	if (!ret && ep->base.srx)
		ret = hmap_insert(&ep->poller->eps, ep->qp->qp_num, ep);
	if (ret)
		goto err_qp;
	return 0;

err_qp:
	if (ep->qp) {
		qp_tear_down(ep);
		if (ep->qp)
			vrb_ep_destroy_qp(ep);
	}
	ep->qp = NULL;
	vrb_poller_leave(ep, cq_entries(ep));
err_rings:
	vrb_ep_free_rings(ep);
	return ret;
}

/* The address is bound before the queue pair is made, and must belong to the device of the domain. */
static int make_all(struct vrb_ep *ep)
{
	struct obj_ep *base = &ep->base;
	int ret;

	lock_get(&ep->base.cm.prog->lock);
	ret = ep->cm.id ? 0 : vrb_cm_bind(ep);
	if (!ret && ep->cm.id->verbs != ep->domain->ctx) {
		VRB_WARN(FI_LOG_EP_CTRL, "the address of the endpoint is not one of device %s\n",
			 base->domain->attr->name);
		ret = -FI_EINVAL;
	}
	if (!ret) {
		lock_get(&base->prog->lock);
		ret = ep->domain->kind->start(ep);
		lock_put(&base->prog->lock);
	}
	lock_put(&ep->base.cm.prog->lock);
	return ret;
}

static void unmake_all(struct vrb_ep *ep)
{
	lock_get(&ep->base.prog->lock);
	vrb_ep_destroy_qp(ep);
	ep->qp = NULL;
	vrb_poller_leave(ep, cq_entries(ep));
	vrb_ep_free_rings(ep);
	lock_put(&ep->base.prog->lock);
}

static void drop_native(struct vrb_ep *ep)
{
	vrb_native_free(ep->native);
	ep->native = NULL;
}

/* Where the device cannot use the queues by itself, the host makes others and uses them for it.  The lock of
 * the XPU context, which the native calls take, is not taken inside those of the provider.
 */
static int ep_enable(struct obj_ep *base)
{
	struct vrb_ep *ep = container_of(base, struct vrb_ep, base);
	int ret;

	ret = obj_wait_feed(&base->eq->wait, ep->base.cm.prog);
	if (ret)
		return ret;
	ep->native = vrb_native_new(ep);
	ret = make_all(ep);
	if (!ret && ep->native && vrb_native_start(ep)) {
		unmake_all(ep);
		drop_native(ep);
		ret = make_all(ep);
	}
	if (ret && ep->native)
		drop_native(ep);
	return ret;
}

/* ---- close ---------------------------------------------------------------------- */

/* Requests complete before the connection ends, so that the last message of a program that closes
 * is delivered.
 */
void vrb_ep_drain(struct vrb_ep *ep)
{
	uint64_t deadline = clock_ns() + DRAIN_NS;
	bool marked = !ep->tx_unsignalled;

	ep->sq.ops->ring(&ep->sq);
	while (ep->tx_head != ep->tx_tail && !ep->failed && clock_ns() < deadline &&
	       vrb_connected(ep)) {
		if (!marked)
			marked = !vrb_post_marker(ep);
		vrb_poller_run(ep->poller, OBJ_POLL_BUDGET);
	}
}

/* No completion reaches the program after this. */
static void ep_stop(struct vrb_ep *ep)
{
	if (!ep->qp)
		return;
	vrb_ep_drain(ep);
	ep->closing = true;
	ep->fast_comp = false;
	qp_tear_down(ep);
	if (ep->base.srx)
		hmap_remove(&ep->poller->eps, ep->qp->qp_num);
}

/* Order: drain requests, disconnect and destroy the queue pair, drop its last completions, free the
 * rings that completions point into.
 */
static void close_connected(struct vrb_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;

	lock_get(&ep->base.cm.prog->lock);
	ep->domain->kind->leave(ep);
	if (prog)
		lock_get(&prog->lock);
	ep_stop(ep);
	vrb_cm_close(ep);
	if (ep->poller)
		vrb_poller_leave(ep, cq_entries(ep));
	if (prog)
		lock_put(&prog->lock);
	lock_put(&ep->base.cm.prog->lock);
	if (ep->native)
		vrb_native_keep(ep);
	ep->domain->kind->free(ep);
	vrb_ep_free_rings(ep);
	obj_prog_put(ep->base.cm.prog);
}

/* The name is closed without connection lock: librdmacm waits for queries that are being answered. */
static void close_dgram(struct vrb_ep *ep)
{
	obj_ep_quiesce(&ep->base);
	if (ep->base.prog) {
		lock_get(&ep->base.prog->lock);
		ep_stop(ep);
		vrb_dgram_close(ep);
		if (ep->poller)
			vrb_poller_leave(ep, cq_entries(ep));
		lock_put(&ep->base.prog->lock);
	}
	vrb_ep_free_rings(ep);
	vrb_dgram_free(ep);
}

static int ep_close(struct fid *fid)
{
	struct vrb_ep *ep = vrb_ep_of(container_of(fid, struct fid_ep, fid));
	int ret;

	if (obj_inherited(&ep->base.refs))
		return 0;
	ret = obj_ep_busy(&ep->base);
	if (ret)
		return ret;
	if (ep->dgram)
		close_dgram(ep);
	else
		close_connected(ep);
	obj_ep_fini(&ep->base);
	free(ep);
	return 0;
}

/* ---- opening -------------------------------------------------------------------- */

static const struct obj_ep_ops ep_obj_ops = {
	.enable = ep_enable,
	.late = OBJ_LATE_CNTR,
	.rebound = vrb_fast_rebound,
};

static const struct obj_ep_ops dgram_obj_ops = {
	.enable = vrb_dgram_enable,
	.late = OBJ_LATE_CNTR,
	.av_removed = vrb_dgram_removed,
	.av_inserted = vrb_dgram_inserted,
};

static struct fi_ops ep_fi_ops = {
	.close = ep_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
};
OBJ_OPS_TABLE(ep_fi_ops, fid)

static struct fi_ops_ep ep_ops = {
	.getopt = obj_ep_getopt,
	.setopt = obj_ep_setopt,
};
OBJ_OPS_TABLE(ep_ops, ep)

static int open_dgram(struct vrb_ep *ep)
{
	struct fid_ep *fid = &ep->base.h.fid;

	ep->base.cm.ops = &vrb_dgram_cm_ops;
	fid->cm = &obj_cm_rdm_ops;
	ep->host_msg = &vrb_dgram_msg_ops;
	fid->msg = ep->domain->hmem.on ? &vrb_device_msg_ops : &vrb_dgram_msg_ops;
	return vrb_dgram_init(ep);
}

/* In a domain with FI_HMEM each call looks at its descs first. */
static void set_device_ops(struct vrb_ep *ep)
{
	struct fid_ep *fid = &ep->base.h.fid;

	ep->host_msg = fid->msg;
	ep->host_rma = fid->rma;
	fid->msg = &vrb_device_msg_ops;
	if (fid->rma)
		fid->rma = &vrb_device_rma_ops;
	if (fid->atomic)
		fid->atomic = &vrb_device_atomic_ops;
}

/* The tables are final at open, see vrb_fast_tables. */
static void set_ops(struct vrb_ep *ep)
{
	struct vrb_fast_table *table = &vrb_fast_tables[(ep->domain->direct ? VRB_DIRECT : 0) |
		(ep->base.domain->prog_lock_kind == LOCK_NONE ? VRB_NO_LOCK : 0)];
	struct fid_ep *fid = &ep->base.h.fid;

	fid->cm = &obj_cm_msg_ops;
	fid->msg = &table->msg;
	if (ep->base.caps & FI_RMA)
		fid->rma = &table->rma;
	if (ep->base.caps & FI_ATOMIC)
		fid->atomic = &vrb_atomic_ops;
	if (ep->domain->hmem.on)
		set_device_ops(ep);
}

/* @handle: of fi_info: a connection request or passive endpoint whose id the endpoint takes over */
static int open_connected(struct vrb_ep *ep, struct fid *handle)
{
	struct obj_domain *domain = ep->base.domain;
	int ret;

	ep->cm.kind = VRB_ID_EP;
	ep->base.cm.ops = &vrb_cm_ops;
	ep->base.cm.transport = domain->fabric;
	ep->base.cm.data_size = ep->domain->kind->data_max;
	set_ops(ep);
	ret = ep->domain->kind->open(ep);
	if (!ret)
		ret = vrb_cm_open(domain->fabric, &ep->base.cm.prog);
	if (ret)
		goto err_kind;
	lock_get(&ep->base.cm.prog->lock);
	ret = vrb_async_watch(ep->base.cm.prog, ep->domain->ctx);
	lock_put(&ep->base.cm.prog->lock);
	if (!ret)
		ret = vrb_cm_auto(domain, ep->base.cm.prog);
	if (!ret && handle)
		ret = obj_cm_take(&ep->base, handle);
	if (!ret)
		return 0;
	obj_prog_put(ep->base.cm.prog);
err_kind:
	ep->domain->kind->free(ep);
	return ret;
}

int vrb_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		uint64_t flags, void *context)
{
	bool dgram = info->ep_attr && info->ep_attr->type == FI_EP_DGRAM;
	struct vrb_ep *ep;
	int ret;

	if (flags)
		return -FI_EBADFLAGS;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ret = obj_ep_init(&ep->base, FI_CLASS_EP, domain, info, dgram ? &dgram_obj_ops : &ep_obj_ops,
			  context);
	if (ret)
		goto err_free;
	ep->domain = vrb_domain_of(ep->base.domain);
	ep->inject_size = (unsigned) ep->base.info->tx_attr->inject_size;
	ret = dgram ? open_dgram(ep) : open_connected(ep, info->handle);
	if (ret)
		goto err_fini;
	ep->base.h.fid.fid.ops = &ep_fi_ops;
	ep->base.h.fid.ops = &ep_ops;
	obj_ops_fill_ep(&ep->base.h.fid);
	*ep_p = &ep->base.h.fid;
	return 0;

err_fini:
	obj_ep_fini(&ep->base);
err_free:
	free(ep);
	return ret;
}

/* ---- shared receives ------------------------------------------------------------ */

static int srx_close(struct fid *fid)
{
	struct vrb_ep *srx = vrb_ep_of(container_of(fid, struct fid_ep, fid));
	int ret;

	if (obj_inherited(&srx->base.refs))
		return 0;
	ret = obj_ep_busy(&srx->base);
	if (ret)
		return ret;
	vrb_mlx5_srq_fini(&srx->mlx5_srq);
	srx->domain->kind->srq_close(srx);
	pool_destroy(&srx->rx_pool);
	obj_ep_fini(&srx->base);
	free(srx);
	return 0;
}

static struct fi_ops srx_fi_ops = {
	.close = srx_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
};
OBJ_OPS_TABLE(srx_fi_ops, fid)

/* Lowered to the limit of the device. */
static int ep_make_srq(struct vrb_ep *srx, const struct fi_rx_attr *attr)
{
	struct ibv_srq_init_attr init = {
		.attr.max_wr = attr && attr->size ? (uint32_t) attr->size :
			       (uint32_t) srx->base.info->rx_attr->size,
		.attr.max_sge = (uint32_t) srx->base.info->rx_attr->iov_limit,
	};
	int ret;

	if (init.attr.max_wr > (uint32_t) srx->domain->attr.max_srq_wr)
		init.attr.max_wr = (uint32_t) srx->domain->attr.max_srq_wr;
	srx->rx_depth = init.attr.max_wr;
	ret = srx->domain->kind->srq_open(srx, &init);
	if (!ret) {
		if (srx->domain->direct)
			vrb_mlx5_srq_init(&srx->mlx5_srq, srx->srq);
		pool_init(&srx->rx_pool, sizeof(struct vrb_rx), 64, srx->rx_depth);
		return 0;
	}
	VRB_WARN(FI_LOG_EP_CTRL, "cannot create a shared receive queue of %u: %s\n",
		 srx->rx_depth, fi_strerror(-ret));
	return ret;
}

int vrb_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep_p,
		 void *context)
{
	struct obj_domain *base = obj_domain_of(domain);
	struct vrb_ep *srx;
	int ret = obj_domain_may_share(base, "a shared receive context");

	if (ret)
		return ret;
	srx = calloc(1, sizeof(*srx));
	if (!srx)
		return -FI_ENOMEM;
	ret = obj_ep_init(&srx->base, FI_CLASS_SRX_CTX, domain, base->info, &ep_obj_ops, context);
	if (ret)
		goto err_free;
	srx->domain = vrb_domain_of(base);
	if (attr)
		srx->base.h.rx_op_flags = attr->op_flags;
	ret = obj_ep_prog(&srx->base);
	if (!ret)
		ret = ep_make_srq(srx, attr);
	if (ret)
		goto err_fini;
	srx->base.h.fid.fid.ops = &srx_fi_ops;
	srx->base.h.fid.ops = &ep_ops;
	srx->host_msg = &vrb_srx_msg_ops;
	srx->base.h.fid.msg = srx->domain->hmem.on ? &vrb_device_srx_ops : &vrb_srx_msg_ops;
	obj_ops_fill_ep(&srx->base.h.fid);
	*ep_p = &srx->base.h.fid;
	return 0;

err_fini:
	obj_ep_fini(&srx->base);
err_free:
	free(srx);
	return ret;
}
