/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "vrb_dgram.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "vrb_name.h"

/* ---- receives ---------------------------------------------------------------------- */

/* The program sees neither the header nor that a datagram may be longer than its buffer,
 * which would be the end of the queue pair.
 */
unsigned vrb_dgram_frame(struct vrb_ep *ep, struct vrb_rx *rx, struct ibv_sge *sge, unsigned cnt)
{
	struct vrb_dgram *dg = ep->dgram;
	struct ibv_sge waste = { (uintptr_t) dg->waste, VRB_GRH, dg->waste_mr->lkey };
	uint32_t room = 0;
	unsigned i;

	for (i = cnt; i > 0; i--) {
		sge[i] = sge[i - 1];
		room += sge[i].length;
	}
	sge[0] = waste;
	rx->head = VRB_GRH;
	rx->room = room;
	if (room < dg->max) {
		waste.length = dg->max - room;
		sge[++cnt] = waste;
	}
	return cnt + 1;
}

/* ---- peers ------------------------------------------------------------------------------ */

static void peer_free(struct vrb_peer *peer)
{
	vrb_ibv.destroy_ah(peer->ah);
	free(peer);
}

static int peer_new(struct vrb_ep *ep, const struct sockaddr *to, struct vrb_peer **peer_p)
{
	struct vrb_peer *peer = calloc(1, sizeof(*peer));
	struct rdma_ud_param found;
	int ret = -FI_ENOMEM;

	if (peer)
		ret = vrb_name_ask(rdma_get_local_addr(ep->cm.id), to, &found);
	if (ret)
		goto err;
	peer->qpn = found.qp_num;
	peer->qkey = found.qkey;
	peer->ah = vrb_ibv.create_ah(ep->domain->pd, &found.ah_attr);
	if (!peer->ah) {
		ret = errno ? -errno : -FI_EIO;
		goto err;
	}
	*peer_p = peer;
	return 0;

err:
	free(peer);
	return ret;
}

int vrb_dgram_resolve(struct vrb_ep *ep, fi_addr_t addr, struct vrb_peer **peer_p)
{
	_Alignas(struct sockaddr_storage) unsigned char to[OBJ_ADDR_MAX];
	size_t len = sizeof(to);
	int ret;

	if (!ep->qp)
		return -FI_EOPBADSTATE;
	ret = obj_av_addr(ep->base.av, addr, to, &len);
	if (!ret)
		ret = peer_new(ep, (struct sockaddr *) to, peer_p);
	if (ret)
		return ret;
	ret = hmap_insert(&ep->dgram->peers, addr, *peer_p);
	if (ret)
		peer_free(*peer_p);
	return ret;
}

void vrb_dgram_removed(struct obj_ep *base, fi_addr_t addr)
{
	struct vrb_dgram *dg = container_of(base, struct vrb_ep, base)->dgram;
	struct vrb_peer *peer = hmap_remove(&dg->peers, addr);

	dg->last_addr = FI_ADDR_UNSPEC;
	dg->last = NULL;
	if (peer)
		peer_free(peer);
}

static void forget_all(struct vrb_dgram *dg)
{
	size_t i;

	for (i = 0; dg->peers.used && i <= dg->peers.mask; i++)
		if (dg->peers.slots[i].val)
			peer_free(dg->peers.slots[i].val);
	hmap_destroy(&dg->peers);
}

/* ---- failures ------------------------------------------------------------------------------ */

void vrb_dgram_revive(struct vrb_ep *ep, const struct vrb_wc *wc)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };

	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	VRB_WARN(FI_LOG_EP_DATA, "endpoint %p: the device reports: %s (status %d, vendor code 0x%x); "
		 "a datagram is lost\n", (void *) ep, vrb_ibv.wc_status_str(wc->status), wc->status,
		 wc->vendor_err);
	if (!(wc->wr_id & VRB_WR_RECV))
		vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

/* ---- names ------------------------------------------------------------------------------------ */

static int dgram_getname(fid_t fid, void *addr, size_t *len)
{
	struct vrb_ep *ep = vrb_ep_of(container_of(fid, struct fid_ep, fid));

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	return vrb_cm_name(ep->cm.id, ep->base.info, addr, len);
}

struct fi_ops_cm vrb_dgram_cm_ops = {
	.getname = dgram_getname,
};

/* ---- life ---------------------------------------------------------------------------------------- */

int vrb_dgram_init(struct vrb_ep *ep)
{
	struct vrb_dgram *dg = calloc(1, sizeof(*dg));

	if (!dg)
		return -FI_ENOMEM;
	hmap_init(&dg->peers);
	dg->last_addr = FI_ADDR_UNSPEC;
	dg->max = (uint32_t) ep->base.info->ep_attr->max_msg_size;
	ep->dgram = dg;
	return 0;
}

void vrb_dgram_free(struct vrb_ep *ep)
{
	struct vrb_dgram *dg = ep->dgram;

	forget_all(dg);
	if (dg->waste_mr)
		vrb_ibv.dereg_mr(dg->waste_mr);
	free(dg->waste);
	free(dg);
}

static int make_waste(struct vrb_ep *ep)
{
	struct vrb_dgram *dg = ep->dgram;
	size_t size = dg->max > VRB_GRH ? dg->max : VRB_GRH;

	if (dg->waste)
		return 0;
	dg->waste = malloc(size);
	if (!dg->waste)
		return -FI_ENOMEM;
	dg->waste_mr = vrb_ibv.reg_mr(ep->domain->pd, dg->waste, size, IBV_ACCESS_LOCAL_WRITE);
	if (dg->waste_mr)
		return 0;
	free(dg->waste);
	dg->waste = NULL;
	return errno ? -errno : -FI_ENOMEM;
}

static int start(struct vrb_ep *ep)
{
	int ret = make_waste(ep);

	if (!ret)
		ret = vrb_ep_start(ep);
	if (ret)
		return ret;
	ret = vrb_name_serve(ep->cm.id);
	if (ret)
		return ret;
	atomic_store(&ep->state, VRB_EP_CONNECTED);	/* to all the world */
	return 0;
}

int vrb_dgram_enable(struct obj_ep *base)
{
	struct vrb_ep *ep = container_of(base, struct vrb_ep, base);
	const struct fi_info *info = base->info->src_addr ? base->info : base->domain->info;
	int ret = ep->qp ? -FI_EOPBADSTATE : 0;

	if (!ret && !ep->cm.id)
		ret = vrb_name_bind(info, ep, &ep->cm.id);
	if (!ret && ep->cm.id->verbs != ep->domain->ctx) {
		VRB_WARN(FI_LOG_EP_CTRL, "the address of the endpoint is not one of device %s\n",
			 base->domain->attr->name);
		ret = -FI_EINVAL;
	}
	if (ret)
		return ret;
	lock_get(&base->prog->lock);
	ret = start(ep);
	lock_put(&base->prog->lock);
	return ret;
}

void vrb_dgram_close(struct vrb_ep *ep)
{
	if (ep->qp)
		vrb_cm.destroy_qp(ep->cm.id);
	if (ep->cm.id)
		vrb_name_close(ep->cm.id);
	ep->qp = NULL;
	ep->cm.id = NULL;
}
