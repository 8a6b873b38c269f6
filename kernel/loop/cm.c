// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cm.c - connections: requests, answers, their end; names.
 */
#include <linux/slab.h>

#include "loop.h"

/* ---- requests ---- */

/* Under loop_lock. @info becomes the event's. */
static int req_post(struct loop_ep *ep, const char *text, struct fi_info *info, const void *param,
		   size_t paramlen)
{
	struct loop_name *name;
	struct loop_req *req;
	int ret;

	name = loop_name_find(&loop_peps, ep->name.net, text);
	if (!name)
		return -FI_ECONNREFUSED;
	req = kzalloc(sizeof(*req), GFP_ATOMIC);
	if (!req)
		return -FI_ENOMEM;
	req->from = ep;
	ret = kofi_req_post(&container_of(name, struct loop_pep, name)->pep, &req->req, info, param,
			    paramlen, GFP_ATOMIC);
	if (ret) {
		kfree(req);
		return ret;
	}
	ep->state = LOOP_CONNECTING;
	ep->req = req;
	return 0;
}

/* What the listener's endpoint for the request is opened with: the attributes of the connecting one. */
static struct fi_info *req_info_make(const struct loop_ep *ep)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = ep->ep.caps;
	info->addr_format = FI_ADDR_STR;
	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->max_msg_size = ep->ep.max_msg_size;
	info->tx_attr->size = info->rx_attr->size = 256;
	info->tx_attr->iov_limit = ep->ep.tx_iov_limit;
	info->rx_attr->iov_limit = ep->ep.rx_iov_limit;
	info->tx_attr->rma_iov_limit = ep->ep.rma_iov_limit;
	info->tx_attr->inject_size = ep->ep.inject_size;
	info->dest_addr = kmemdup(ep->name.text, FI_NAME_MAX, GFP_KERNEL);
	info->dest_addrlen = info->dest_addr ? FI_NAME_MAX : 0;
	return info;
}

static int loop_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct loop_ep *ep = loop_fid(fid);
	struct fi_info *info;
	int ret;

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (!addr || paramlen > LOOP_CM_DATA_MAX)
		return -FI_EINVAL;
	ret = kofi_ep_events(&ep->ep, LOOP_CM_DATA_MAX);
	if (ret)
		return ret;
	info = req_info_make(ep);
	if (!info)
		return -FI_ENOMEM;
	spin_lock_bh(&loop_lock);
	ret = ep->state == LOOP_IDLE && !ep->req ? req_post(ep, addr, info, param, paramlen) :
	      -FI_EOPBADSTATE;
	spin_unlock_bh(&loop_lock);
	if (ret)
		fi_freeinfo(info);
	return ret;
}

static int loop_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct loop_ep *ep = loop_fid(fid), *from;
	struct loop_req *req;
	int ret;

	if (!ep->ep.enabled || paramlen > LOOP_CM_DATA_MAX)
		return ep->ep.enabled ? -FI_EINVAL : -FI_EOPBADSTATE;
	ret = kofi_ep_events(&ep->ep, LOOP_CM_DATA_MAX);
	if (ret)
		return ret;
	spin_lock_bh(&loop_lock);
	req = ep->req;
	if (ep->state != LOOP_IDLE || !req) {
		spin_unlock_bh(&loop_lock);
		return -FI_EOPBADSTATE;
	}
	ep->req = NULL;
	from = req->from;
	if (from) {
		from->peer = ep;
		ep->peer = from;
		from->req = NULL;
		from->state = ep->state = LOOP_CONNECTED;
		kofi_ep_connected(&from->ep, 0, param, paramlen);
		kofi_ep_connected(&ep->ep, 0, NULL, 0);
	} else {
		ep->state = LOOP_ENDED;
		ret = -FI_ECONNABORTED;
	}
	spin_unlock_bh(&loop_lock);
	kfree(req);
	return ret;
}

/* Under loop_lock. */
static void req_refuse(struct loop_req *req, const void *param, size_t paramlen)
{
	struct loop_ep *from = req->from;

	if (from) {
		from->state = LOOP_ENDED;
		from->req = NULL;
		kofi_ep_connected(&from->ep, FI_ECONNREFUSED, param, paramlen);
	}
	kfree(req);
}

static int loop_reject(struct fid_pep *fid, fid_t handle, const void *param, size_t paramlen)
{
	struct kofi_req *req;

	if (paramlen > LOOP_CM_DATA_MAX)
		return -FI_EINVAL;
	req = kofi_pep_take(container_of(fid, struct kofi_pep, pep), handle);
	if (!req)
		return -FI_EINVAL;
	spin_lock_bh(&loop_lock);
	req_refuse(container_of(req, struct loop_req, req), param, paramlen);
	spin_unlock_bh(&loop_lock);
	return 0;
}

int loop_claim(struct loop_ep *ep, const struct fi_info *info)
{
	struct kofi_req *req;
	int ret = kofi_ep_take(&ep->ep, info, &req);

	if (ret || !req)
		return ret;
	spin_lock_bh(&loop_lock);
	ep->req = container_of(req, struct loop_req, req);
	spin_unlock_bh(&loop_lock);
	return 0;
}

void loop_req_refuse(struct kofi_req *req)
{
	spin_lock_bh(&loop_lock);
	req_refuse(container_of(req, struct loop_req, req), NULL, 0);
	spin_unlock_bh(&loop_lock);
}

/* ---- end ---- */

/* The request that an endpoint has sent, or has taken and not accepted. Under loop_lock. */
static void req_give_up(struct loop_ep *ep)
{
	struct loop_req *req = ep->req;

	ep->req = NULL;
	if (req && req->from == ep)
		req->from = NULL;
	else if (req)
		req_refuse(req, NULL, 0);
}

/* Both sides of a connection end; the peer is held over it. */
void loop_disconnect(struct loop_ep *ep)
{
	struct loop_ep *peer;

	spin_lock_bh(&loop_lock);
	peer = ep->peer;
	if (peer) {
		peer->users++;
		peer->peer = NULL;
		ep->peer = NULL;
		peer->state = LOOP_ENDED;
		kofi_ep_ended(&peer->ep);
		kofi_ep_ended(&ep->ep);
	}
	ep->state = LOOP_ENDED;
	req_give_up(ep);
	spin_unlock_bh(&loop_lock);
	loop_transfers_end(ep);
	if (peer) {
		loop_transfers_end(peer);
		loop_target_put(peer);
	}
}

static int loop_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct loop_ep *ep = loop_fid(fid);

	if (flags)
		return -FI_EBADFLAGS;
	if (READ_ONCE(ep->state) != LOOP_CONNECTED)
		return -FI_ENOTCONN;
	loop_disconnect(ep);
	return 0;
}

/* ---- names ---- */

static struct loop_name *name_of(fid_t fid)
{
	return fid->fclass == FI_CLASS_PEP ? &container_of(fid, struct loop_pep, pep.pep.fid)->name :
					     &container_of(fid, struct loop_ep, ep.ep.fid)->name;
}

static int loop_setname(fid_t fid, void *addr, size_t addrlen)
{
	return loop_name_set(name_of(fid), addr, addrlen);
}

static int loop_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kofi_name_copy(addr, addrlen, name_of(fid)->text, FI_NAME_MAX);
}

static int loop_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct loop_ep *ep = loop_fid(fid);
	char text[FI_NAME_MAX];
	bool connected;

	spin_lock_bh(&loop_lock);
	connected = ep->peer;
	if (connected)
		memcpy(text, ep->peer->name.text, FI_NAME_MAX);
	spin_unlock_bh(&loop_lock);
	return connected ? kofi_name_copy(addr, addrlen, text, FI_NAME_MAX) : -FI_ENOTCONN;
}

struct fi_ops_cm loop_cm = {
	.size = offsetofend(struct fi_ops_cm, shutdown),
	.setname = loop_setname,
	.getname = loop_getname,
	.getpeer = loop_getpeer,
	.connect = loop_connect,
	.listen = kofi_pep_listen,
	.accept = loop_accept,
	.reject = loop_reject,
	.shutdown = loop_shutdown,
};
