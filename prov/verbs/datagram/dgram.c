/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "verbs/dgram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "verbs/info.h"
#include "verbs/name.h"
#include "verbs/ud.h"

/* ---- receives ------------------------------------------------------------------- */

/* The program sees no header.  A datagram that is longer than its buffer would be an error of the
 * queue pair, so the discard buffer takes the rest.
 */
unsigned vrb_dgram_recv_sge(struct vrb_ep *ep, struct vrb_rx *rx, struct ibv_sge *sge, unsigned cnt)
{
	struct vrb_dgram *dg = ep->dgram;
	struct ibv_sge discard = { (uintptr_t) dg->discard, VRB_GRH, dg->discard_mr->lkey };
	uint32_t room = 0;
	unsigned i;

	for (i = cnt; i > 0; i--) {
		sge[i] = sge[i - 1];
		room += sge[i].length;
	}
	sge[0] = discard;
	if (dg->grhs)
		sge[0].addr = (uintptr_t) dg->grhs + (size_t) (rx - ep->rx) * VRB_GRH;
	rx->grh_len = VRB_GRH;
	rx->room = room;
	if (room < dg->max) {
		discard.length = dg->max - room;
		sge[++cnt] = discard;
	}
	return cnt + 1;
}

/* ---- failures ------------------------------------------------------------------- */

/* A send that fails moves the queue pair to the state SQE, in which it sends no more and still
 * receives; from there it may return to RTS (InfiniBand specification, 10.3.1).
 */
void vrb_dgram_revive(struct vrb_ep *ep, const struct vrb_wc *wc)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };

	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	vrb_wc_warn(ep, wc, "a datagram is dropped");
	if (!(wc->wr_id & VRB_WR_RECV))
		vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

/* ---- names ---------------------------------------------------------------------- */

static int dgram_ud_name(struct vrb_ep *ep, void *addr, size_t *len)
{
	const struct ib_ud *name = &ep->dgram->ud->name;

	return ep->qp ? obj_cm_copy_name(name, sizeof(*name), addr, len) : -FI_EOPBADSTATE;
}

static int dgram_getname(struct obj_ep *base, void *addr, size_t *len)
{
	struct vrb_ep *ep = container_of(base, struct vrb_ep, base);

	return ep->dgram->ud ? dgram_ud_name(ep, addr, len) : vrb_cm_name(ep->cm.id, base->info, addr, len);
}

const struct obj_cm_ops vrb_dgram_cm_ops = {
	.getname = dgram_getname,
};

/* ---- life ----------------------------------------------------------------------- */

int vrb_dgram_init(struct vrb_ep *ep)
{
	struct vrb_dgram *dg = calloc(1, sizeof(*dg));
	int ret;

	if (!dg)
		return -FI_ENOMEM;
	ret = vrb_ud_open(ep, &dg->ud);
	if (ret) {
		free(dg);
		return ret;
	}
	dg->ep = ep;
	hmap_init(&dg->peers);
	hmap_init(&dg->sources);
	list_init(&dg->queries);
	list_init(&dg->deferred);
	dg->last_addr = FI_ADDR_UNSPEC;
	dg->max = (uint32_t) ep->base.info->ep_attr->max_msg_size;
	ep->dgram = dg;
	return 0;
}

void vrb_dgram_free(struct vrb_ep *ep)
{
	struct vrb_dgram *dg = ep->dgram;

	if (dg->discard_mr)
		vrb_ibv.dereg_mr(dg->discard_mr);
	free(dg->discard);
	free(dg->ud);
	free(dg);
}

/* One registered buffer: first bytes that are not read, then with FI_SOURCE a header per slot. */
static int make_discard(struct vrb_ep *ep)
{
	struct vrb_dgram *dg = ep->dgram;
	size_t size = dg->max > VRB_GRH ? dg->max : VRB_GRH, grhs = size;

	if (dg->discard)
		return 0;
	if (ep->base.caps & (FI_SOURCE | FI_SOURCE_ERR))
		size += (size_t) (ep->rx_mask + 1) * VRB_GRH;
	dg->discard = malloc(size);
	if (!dg->discard)
		return -FI_ENOMEM;
	dg->discard_mr = vrb_ibv.reg_mr(ep->domain->pd, dg->discard, size, IBV_ACCESS_LOCAL_WRITE);
	if (dg->discard_mr) {
		dg->grhs = ep->base.caps & FI_SOURCE ? dg->discard + grhs : NULL;
		return 0;
	}
	free(dg->discard);
	dg->discard = NULL;
	return errno ? -errno : -FI_ENOMEM;
}

/* Queries of peers are answered only once there is a queue pair to name. */
static int dgram_start(struct vrb_ep *ep)
{
	int ret = vrb_ep_start(ep);

	if (!ret)
		ret = make_discard(ep);
	if (!ret && !ep->dgram->resolver && !ep->dgram->ud)
		ret = vrb_peers_open(ep->dgram);
	if (!ret && ep->cm.id)
		ret = vrb_name_serve(ep->cm.id);
	if (ret)
		return ret;
	ep->cq->sources |= ep->dgram->grhs != NULL;
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	return 0;
}

/* An endpoint that is named by its queue pair can have an IP address and port as well, at which
 * peers can query the queue pair.
 */
static int bind_ud(struct vrb_ep *ep)
{
	const struct vrb_ud *ud = ep->dgram->ud;
	union net_sa sa;
	int ret;

	if (!ud->name.service)
		return 0;
	ret = vrb_gid_ip(&ud->port, ud->gid.raw, &sa);
	if (ret) {
		VRB_WARN(FI_LOG_EP_CTRL, "port %u of device %s has no IP address for service %u: call "
			 "fi_getinfo without a service\n", ud->port.num, ud->port.dev,
			 ntohs(ud->name.service));
		return ret;
	}
	net_addr_set_port(&sa.sa, ntohs(ud->name.service));
	return vrb_name_bind_at(&sa.sa, ep, &ep->cm.id);
}

int vrb_dgram_enable(struct obj_ep *base)
{
	struct vrb_ep *ep = container_of(base, struct vrb_ep, base);
	const struct fi_info *info = base->info->src_addr ? base->info : base->domain->info;
	int ret = ep->qp ? -FI_EOPBADSTATE : 0;

	if (!ret && !ep->cm.id)
		ret = ep->dgram->ud ? bind_ud(ep) : vrb_name_bind(info, ep, &ep->cm.id);
	if (!ret && ep->cm.id && ep->cm.id->verbs != ep->domain->ctx) {
		VRB_WARN(FI_LOG_EP_CTRL, "the address of the endpoint is not one of device %s\n",
			 base->domain->attr->name);
		ret = -FI_EINVAL;
	}
	if (ret)
		return ret;
	lock_get(&base->prog->lock);
	ret = dgram_start(ep);
	lock_put(&base->prog->lock);
	return ret;
}

void vrb_dgram_close(struct vrb_ep *ep)
{
	vrb_peers_close(ep->dgram);
	if (ep->qp)
		vrb_ep_destroy_qp(ep);
	if (ep->cm.id)
		vrb_name_close(ep->cm.id);
	ep->qp = NULL;
	ep->cm.id = NULL;
}
