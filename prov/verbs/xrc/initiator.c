/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * initiator.c - initiators, and the endpoints that share them.
 *
 * A request has a slot in the ring of its endpoint and takes up a place of the initiator.  The
 * device completes requests in the order of the initiator, and so in that of each endpoint.  Each
 * request is signalled: a completion of another endpoint's request could not retire it.
 */
#include <assert.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "verbs/xrc/share.h"

#define LEAVE_NS 500000000u	/* requests of a connection that has ended may take so long */

/* ---- requests ------------------------------------------------------------------- */

/* The ring of the endpoint has a slot; the initiator must have room, too. */
static int xrc_build(struct vrb_sq *sq, const struct vrb_wr *wr)
{
	struct vrb_ep *ep = container_of(sq, struct vrb_ep, sq);
	struct vrb_ini *ini = ep->xrc->ini;
	struct vrb_wr own = *wr;
	int ret;

	if (ini->state == VRB_INI_SHUT)
		return -FI_ENOTCONN;
	if (ini->used >= ini->depth)
		return -FI_EAGAIN;
	own.srqn = ep->xrc->srqn;
	ret = ini->sq.ops->build(&ini->sq, &own);
	if (!ret)
		ini->used++;
	return ret;
}

static const struct vrb_sq_ops sq_xrc = {
	.name = "XRC",
	.build = xrc_build,
	.ring = vrb_ring_none,
};

void vrb_xrc_sent(const struct vrb_tx *tx)
{
	tx->ep->xrc->ini->used--;
}

void vrb_xrc_failed(const struct vrb_tx *tx, const struct vrb_wc *wc)
{
	struct vrb_ini *ini = tx->ep->xrc->ini;

	vrb_xrc_sent(tx);
	if (ini->state == VRB_INI_SHUT)
		return;
	vrb_wc_warn(tx->ep, wc, "all connections to that host over this queue pair end");
	vrb_ini_fail(ini);
}

/* ---- queue pairs ---------------------------------------------------------------- */

static unsigned depth_of(const struct vrb_domain *domain)
{
	return (unsigned) domain->base.info->tx_attr->size;
}

/* Make an initiator's queue pair; *inline_p: bytes of inline data that it takes. */
static int make_ini_qp(struct vrb_ep *ep, const struct vrb_cq *cq, struct vrb_sq *sq, unsigned *inline_p)
{
	struct vrb_domain *domain = ep->domain;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq->cq,
		.cap.max_send_wr = depth_of(domain),
		.cap.max_send_sge = (uint32_t) domain->base.info->tx_attr->iov_limit,
		.cap.max_inline_data = (uint32_t) vrb_conf.inline_size,
		.qp_type = IBV_QPT_XRC_SEND,
		.pd = domain->pd,
	};
	int ret = vrb_qp_make(ep, &attr, sq);

	*inline_p = attr.cap.max_inline_data;
	if (ret)
		VRB_WARN(FI_LOG_EP_CTRL, "the device has no XRC queue pair for %u sends: %s. Lower "
			 "FI_VERBS_TX_SIZE\n", depth_of(domain), fi_strerror(-ret));
	return ret;
}

/* Endpoints must know the inline size of initiators before there is one: make a queue pair and
 * destroy it.
 */
static int probe_inline(struct vrb_ep *ep)
{
	struct vrb_domain *domain = ep->domain;
	struct vrb_sq sq;
	unsigned room;
	int ret;

	if (!domain->xrc_probed) {
		ret = make_ini_qp(ep, ep->cq, &sq, &room);
		if (ret)
			return ret;
		vrb_ibv.destroy_qp(sq.qp);
		domain->xrc_inline = room;
		domain->xrc_probed = true;
	}
	ep->max_inline = domain->xrc_inline < ep->inject_size ? domain->xrc_inline : ep->inject_size;
	return 0;
}

/* ---- endpoints ------------------------------------------------------------------ */

int vrb_xrc_new(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = calloc(1, sizeof(*xrc));

	if (!xrc)
		return -FI_ENOMEM;
	xrc->ep = ep;
	list_init(&xrc->node);
	list_init(&xrc->srx_node);
	list_init(&xrc->receivers);
	ep->xrc = xrc;
	return 0;
}

void vrb_xrc_free(struct vrb_ep *ep)
{
	if (!ep->xrc)
		return;
	vrb_target_put(ep->xrc->target);
	free(ep->xrc);
	ep->xrc = NULL;
}

struct vrb_ep *vrb_xrc_receiver(const struct vrb_ep *srx)
{
	const struct list *all = &srx->xrc->receivers;

	return list_empty(all) ? NULL : container_of(all->next, struct vrb_xrc, srx_node)->ep;
}

/* A shared receive does not say which endpoint it is for: all must report to the same queue. */
static int check_receivers(const struct vrb_ep *ep)
{
	const struct obj_ep *base = &ep->base, *other;
	struct vrb_ep *first;

	if (!base->srx) {
		VRB_WARN(FI_LOG_EP_CTRL, "an XRC endpoint needs a shared receive context: open one "
			 "(fi_srx_context) and bind it to the endpoint %p\n", (void *) ep);
		return -FI_EINVAL;
	}
	first = vrb_xrc_receiver(container_of(base->srx, struct vrb_ep, base));
	other = first ? &first->base : base;
	if (other->rx_cq == base->rx_cq && other->rx_selective == base->rx_selective &&
	    other->cntrs[OBJ_CNTR_RECV] == base->cntrs[OBJ_CNTR_RECV] &&
	    other->cntrs[OBJ_CNTR_REMOTE_WRITE] == base->cntrs[OBJ_CNTR_REMOTE_WRITE])
		return 0;
	VRB_WARN(FI_LOG_EP_CTRL, "XRC endpoints with one shared receive context need the same "
		 "completion queue and counters for receives; those of endpoint %p differ\n",
		 (void *) ep);
	return -FI_EINVAL;
}

int vrb_xrc_start(struct vrb_ep *ep)
{
	int ret = check_receivers(ep);

	if (!ret)
		ret = vrb_ep_make_rings(ep);
	if (!ret)
		ret = vrb_poller_join(ep, 0);
	if (ret)
		goto err_rings;
	ret = probe_inline(ep);
	if (!ret)
		ret = vrb_ep_make_scratch(ep);
	if (ret)
		goto err_poller;
	ep->sq.ops = &sq_xrc;
	list_add_tail(&ep->xrc->srx_node,
		      &container_of(ep->base.srx, struct vrb_ep, base)->xrc->receivers);
	return 0;

err_poller:
	vrb_poller_leave(ep, 0);
err_rings:
	vrb_ep_free_rings(ep);
	return ret;
}

/* ---- shared receives ------------------------------------------------------------ */

static int make_srq(struct vrb_ep *srx, const struct ibv_srq_init_attr *init)
{
	struct vrb_domain *domain = srx->domain;
	struct ibv_srq_init_attr_ex attr = {
		.attr = init->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = domain->pd,
		.xrcd = domain->xrcd->ibv,
		.cq = srx->cq->cq,
	};

	srx->srq = verbs_get_ctx(domain->ctx)->create_srq_ex(domain->ctx, &attr);
	if (!srx->srq)
		return errno ? -errno : -FI_EIO;
	return -ibv_get_srq_num(srx->srq, &srx->xrc->srqn);
}

int vrb_xrc_srq_open(struct vrb_ep *srx, struct ibv_srq_init_attr *init)
{
	struct obj_prog *prog = srx->base.prog;
	int ret = vrb_xrc_new(srx);

	if (ret)
		return ret;
	lock_get(&prog->lock);
	ret = vrb_poller_join(srx, init->attr.max_wr);
	if (!ret) {
		srx->rx_depth = init->attr.max_wr;
		ret = make_srq(srx, init);
	}
	lock_put(&prog->lock);
	if (ret)
		vrb_xrc_srq_close(srx);
	return ret;
}

void vrb_xrc_srq_close(struct vrb_ep *srx)
{
	struct obj_prog *prog = srx->base.prog;

	lock_get(&prog->lock);
	if (srx->srq)
		vrb_ibv.destroy_srq(srx->srq);
	srx->srq = NULL;
	if (srx->poller)
		vrb_poller_leave(srx, srx->rx_depth);
	lock_put(&prog->lock);
	vrb_xrc_free(srx);
}

/* ---- initiators: the table ------------------------------------------------------ */

/* Initiators are per host: ports do not count. */
static uint64_t hash_host(const struct sockaddr *sa)
{
	union net_sa host = { .sa.sa_family = AF_UNSPEC };

	memcpy(&host, sa, net_addr_len(sa));
	net_addr_set_port(&host.sa, 0);
	return net_addr_hash(&host.sa);
}

static uint64_t key_of(const struct sockaddr *here, const struct sockaddr *there)
{
	return hash_host(there) * 31 + hash_host(here);
}

struct vrb_ini *vrb_ini_find(struct vrb_ep *ep, const struct sockaddr *here,
			     const struct sockaddr *there, bool known)
{
	struct vrb_ini *ini = hmap_find(&ep->poller->inis, key_of(here, there)), *best = NULL;

	for (; ini; ini = ini->next)
		if (net_addr_same_host(&ini->here.sa, here) &&
		    net_addr_same_host(&ini->there.sa, there) &&
		    (ini->state != VRB_INI_CONNECTING || !known) &&
		    (!best || best->state < ini->state))
			best = ini;
	return best;
}

/* Initiators with one key are a chain, the newest first. */
static int ini_share(struct vrb_ini *ini)
{
	struct hmap *map = &ini->poller->inis;
	int ret;

	ini->next = hmap_remove(map, ini->key);
	ret = hmap_insert(map, ini->key, ini);
	ini->shared = !ret;
	return ret;
}

void vrb_ini_unshare(struct vrb_ini *ini)
{
	struct hmap *map = &ini->poller->inis;
	struct vrb_ini *first, **at = &first;

	if (!ini->shared)
		return;
	ini->shared = false;
	first = hmap_remove(map, ini->key);
	while (*at != ini)
		at = &(*at)->next;
	*at = ini->next;
	if (first)
		hmap_insert(map, ini->key, first);	/* cannot fail: the slot was freed above */
}

/* The initiator of the endpoint that accepts skips VRB_INI_CONNECTING: the request names the
 * target.  That of the endpoint that connects skips VRB_INI_ANSWERED.
 */
__attribute__((unused)) static const unsigned ini_edges[] = {
	[VRB_INI_CONNECTING] = 1u << VRB_INI_ANSWERED | 1u << VRB_INI_UP | 1u << VRB_INI_SHUT,
	[VRB_INI_ANSWERED] = 1u << VRB_INI_UP | 1u << VRB_INI_SHUT,
	[VRB_INI_UP] = 1u << VRB_INI_SHUT,
	[VRB_INI_SHUT] = 0,
};

void vrb_ini_set_state(struct vrb_ini *ini, enum vrb_ini_state state)
{
	assert(ini_edges[ini->state] & 1u << state && "an initiator is not reused");
	ini->state = state;
}

/* ---- initiators: life ----------------------------------------------------------- */

/* Completions of the queue pair that are still queued point to rings: they are drained. */
static void free_ini(struct vrb_ini *ini)
{
	vrb_ini_unshare(ini);
	if (ini->sq.qp)
		vrb_ibv.destroy_qp(ini->sq.qp);
	while (vrb_poller_run(ini->poller, OBJ_POLL_BUDGET))
		;
	ini->cq->used -= ini->depth;
	free(ini);
}

int vrb_ini_new(struct vrb_ep *ep, const struct sockaddr *here, const struct sockaddr *there,
		struct vrb_ini **ini_p)
{
	struct vrb_ini *ini = calloc(1, sizeof(*ini));
	unsigned room;
	int ret;

	if (!ini)
		return -FI_ENOMEM;
	ini->poller = ep->poller;
	ini->leader = ep;
	ini->depth = depth_of(ep->domain);
	ini->key = key_of(here, there);
	memcpy(&ini->here, here, net_addr_len(here));
	memcpy(&ini->there, there, net_addr_len(there));
	list_init(&ini->eps);
	list_init(&ini->waiting);
	ret = vrb_poller_room(ep->poller, ep, ini->depth, &ini->cq);
	if (ret) {
		free(ini);
		return ret;
	}
	ret = make_ini_qp(ep, ini->cq, &ini->sq, &room);
	if (!ret && room < ep->domain->xrc_inline)
		ret = -FI_ENOMEM;
	if (!ret)
		ret = ini_share(ini);
	if (ret)
		free_ini(ini);
	else
		*ini_p = ini;
	return ret;
}

void vrb_ini_join(struct vrb_ini *ini, struct vrb_ep *ep)
{
	ep->xrc->ini = ini;
	list_add_tail(&ep->xrc->node, &ini->eps);
}

void vrb_ini_fail(struct vrb_ini *ini)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct vrb_xrc *xrc;
	struct vrb_ep *ep;

	vrb_ini_set_state(ini, VRB_INI_SHUT);
	vrb_ibv.modify_qp(ini->sq.qp, &attr, IBV_QP_STATE);	/* all that is posted is given back */
	vrb_ini_unshare(ini);
	list_for_each_entry(xrc, &ini->eps, node) {
		ep = xrc->ep;
		ep->failed = true;
		if (vrb_connected(ep))
			vrb_cm.disconnect(ep->cm.id);
	}
}

/* Requests that the device will not complete any more. */
static void flush_tx(struct vrb_ep *ep)
{
	struct vrb_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };

	while (ep->tx_head != ep->tx_tail)
		vrb_tx_failed(&ep->tx[ep->tx_head & ep->tx_mask], &wc);
}

/* Shut an initiator whose requests do not complete, and flush them for all its endpoints. */
static void ini_end(struct vrb_ini *ini)
{
	struct vrb_xrc *xrc;

	if (!ini->sq.qp)
		return;
	if (ini->state != VRB_INI_SHUT)
		vrb_ini_fail(ini);
	vrb_ibv.destroy_qp(ini->sq.qp);
	ini->sq.qp = NULL;
	while (vrb_poller_run(ini->poller, OBJ_POLL_BUDGET))
		;
	list_for_each_entry(xrc, &ini->eps, node)
		flush_tx(xrc->ep);
}

void vrb_ini_leave(struct vrb_ep *ep)
{
	struct vrb_xrc *xrc = ep->xrc;
	struct vrb_ini *ini = xrc->ini;
	uint64_t deadline = clock_ns() + LEAVE_NS;

	while (ep->tx_head != ep->tx_tail && ini->sq.qp && clock_ns() < deadline)
		vrb_poller_run(ep->poller, OBJ_POLL_BUDGET);
	if (ep->tx_head != ep->tx_tail)
		ini_end(ini);
	list_del(&xrc->node);
	xrc->ini = NULL;
	if (list_empty(&ini->eps))
		free_ini(ini);
}
