// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * pep.c - what listens, and the requests that it has announced and nothing has answered.
 *
 * A handle comes back from the application, which may have answered it before: it is looked for
 * among the requests of the fabric, and nothing behind it is read until it is found there.
 */
#include <linux/slab.h>

#include "obj.h"

#define REQS_MAX	128	/* of one listener, as its backlog */

static struct kofi_pep *pep_of(struct fid *fid)
{
	return container_of(fid, struct kofi_pep, pep.fid);
}

/* ---- requests ---- */

static struct kofi_event *req_event(const struct kofi_pep *pep, struct kofi_req *req,
				    struct fi_info *info, const void *data, size_t len, gfp_t gfp)
{
	struct kofi_event *event = kofi_event_alloc(len, gfp);

	if (!event)
		return NULL;
	info->handle = &req->fid;
	event->event = FI_CONNREQ;
	event->fid = (struct fid *)&pep->pep.fid;
	event->info = info;
	kofi_event_data(event, data, len);
	return event;
}

int kofi_req_post(struct kofi_pep *pep, struct kofi_req *req, struct fi_info *info,
		  const void *data, size_t len, gfp_t gfp)
{
	struct kofi_fabric_obj *fabric = pep->fabric;
	struct kofi_event *event = req_event(pep, req, info, data, len, gfp);
	int ret = 0;

	if (!event)
		return -FI_ENOMEM;
	req->fid.fclass = FI_CLASS_CONNREQ;
	req->pep = pep;
	spin_lock_bh(&fabric->req_lock);
	if (pep->closing || pep->req_cnt == REQS_MAX ||
	    (pep->ops->leave && !pep->ops->leave(pep, req))) {
		ret = -FI_ECONNREFUSED;
	} else {
		list_add_tail(&req->node, &fabric->reqs);
		pep->req_cnt++;
		/* under the lock: a close of the listener, and of its queue, comes after it */
		kofi_eq_post(pep->eq, event);
	}
	spin_unlock_bh(&fabric->req_lock);
	if (ret)
		kfree(event);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_req_post);

/* @handle: or NULL, any of @pep. @pep: or NULL, of any listener */
static struct kofi_req *req_take(struct kofi_fabric_obj *fabric, const struct kofi_pep *pep,
				 const struct fid *handle)
{
	struct kofi_req *req, *found = NULL;

	spin_lock_bh(&fabric->req_lock);
	list_for_each_entry(req, &fabric->reqs, node) {
		if ((!handle || handle == &req->fid) && (!pep || pep == req->pep)) {
			list_del_init(&req->node);
			req->pep->req_cnt--;
			found = req;
			break;
		}
	}
	spin_unlock_bh(&fabric->req_lock);
	return found;
}

struct kofi_req *kofi_pep_take(struct kofi_pep *pep, const struct fid *handle)
{
	return handle ? req_take(pep->fabric, pep, handle) : NULL;
}
EXPORT_SYMBOL_GPL(kofi_pep_take);

int kofi_ep_take(struct kofi_ep *ep, const struct fi_info *info, struct kofi_req **req_p)
{
	*req_p = NULL;
	if (!info->handle)
		return 0;
	if (ep->type != FI_EP_MSG)
		return -FI_EINVAL;
	*req_p = req_take(ep->domain->fabric, NULL, info->handle);
	return *req_p ? 0 : -FI_EINVAL;
}
EXPORT_SYMBOL_GPL(kofi_ep_take);

struct fi_info *kofi_pep_info(const struct kofi_pep *pep, const void *peer)
{
	struct fi_info *info = fi_dupinfo(pep->info);

	if (!info)
		return NULL;
	info->dest_addr = kmemdup(peer, kofi_ip_len(peer), GFP_KERNEL);
	if (!info->dest_addr) {
		fi_freeinfo(info);
		return NULL;
	}
	info->dest_addrlen = kofi_ip_len(peer);
	return info;
}
EXPORT_SYMBOL_GPL(kofi_pep_info);

/* ---- calls ---- */

static int pep_close(struct fid *fid)
{
	struct kofi_pep *pep = pep_of(fid);
	struct kofi_fabric_obj *fabric = pep->fabric;
	struct kofi_req *req;

	might_sleep();
	spin_lock_bh(&fabric->req_lock);
	pep->closing = true;
	spin_unlock_bh(&fabric->req_lock);
	pep->ops->stop(pep);
	while ((req = req_take(fabric, pep, NULL)))
		pep->ops->refuse(req);
	if (pep->eq) {
		kofi_eq_purge(pep->eq, fid);
		atomic_dec(&pep->eq->refs);
	}
	fi_freeinfo(pep->info);
	pep->ops->free(pep);
	atomic_dec(&fabric->refs);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct kofi_pep *pep = pep_of(fid);
	struct kofi_eq *eq;

	if (bfid->fclass != FI_CLASS_EQ || flags || pep->eq)
		return -FI_EINVAL;
	eq = container_of(bfid, struct kofi_eq, eq.fid);
	if (eq->fabric != pep->fabric)
		return -FI_EDOMAIN;
	pep->eq = eq;
	atomic_inc(&eq->refs);
	return 0;
}

int kofi_pep_listen(struct fid_pep *fid)
{
	struct kofi_pep *pep = pep_of(&fid->fid);
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->listening)
		return -FI_EOPBADSTATE;
	ret = pep->ops->listen(pep);
	pep->listening = !ret;
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_pep_listen);

static struct fi_ops pep_fid_ops = {
	.size = offsetofend(struct fi_ops, bind),
	.close = pep_close,
	.bind = pep_bind,
};

int kofi_pep_init(struct kofi_pep *pep, struct kofi_fabric_obj *fabric, const struct fi_info *info,
		  const struct kofi_pep_ops *ops, struct fi_ops_cm *cm, void *context)
{
	pep->info = fi_dupinfo(info);
	if (!pep->info)
		return -FI_ENOMEM;
	pep->info->handle = NULL;
	kfree(pep->info->dest_addr);
	pep->info->dest_addr = NULL;
	pep->info->dest_addrlen = 0;
	pep->ops = ops;
	pep->fabric = fabric;
	pep->pep.fid.fclass = FI_CLASS_PEP;
	pep->pep.fid.context = context;
	pep->pep.fid.ops = &pep_fid_ops;
	pep->pep.cm = cm;
	atomic_inc(&fabric->refs);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_pep_init);
