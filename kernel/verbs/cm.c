// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cm.c - connections: what rdma_cm tells, and the calls.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "vrb.h"

struct workqueue_struct *vrb_wq;	/* made by the module */

#define RESOLVE_MS	5000
#define BACKLOG		128

static struct vrb_ep *ep_of(struct fid_ep *ep)
{
	return container_of(ep, struct vrb_ep, ep.ep);
}

/* ---- states ---- */

static bool set_state(struct vrb_ep *ep, enum vrb_state from, enum vrb_state to)
{
	bool ok;

	spin_lock_bh(&ep->ep.lock);
	ok = ep->state == from;
	if (ok)
		ep->state = to;
	spin_unlock_bh(&ep->ep.lock);
	return ok;
}

static enum vrb_state set_ended(struct vrb_ep *ep)
{
	enum vrb_state was;

	spin_lock_bh(&ep->ep.lock);
	was = ep->state;
	ep->state = VRB_ENDED;
	spin_unlock_bh(&ep->ep.lock);
	return was;
}

/* The queue pair flushes what is posted. */
static void take_down(struct vrb_ep *ep, enum vrb_state was)
{
	if (was != VRB_IDLE && ep->cm.id)
		rdma_disconnect(ep->cm.id);
	if (!ep->qp)
		return;
	ib_modify_qp(ep->qp, &(struct ib_qp_attr){ .qp_state = IB_QPS_ERR }, IB_QP_STATE);
	queue_work(vrb_wq, &ep->flush);
}

void vrb_end(struct vrb_ep *ep, int err, const void *data, size_t len)
{
	enum vrb_state was;

	mutex_lock(&ep->end_lock);
	was = set_ended(ep);
	if (was != VRB_ENDED)
		take_down(ep, was);
	mutex_unlock(&ep->end_lock);
	if (was == VRB_ENDED || READ_ONCE(ep->ep.closing))
		return;
	if (was == VRB_UP)
		kofi_ep_ended(&ep->ep);
	else
		kofi_ep_connected(&ep->ep, err, data, len);
}

/* The application's part of private data: a length, and so many bytes. */
static const void *private_data(const void *data, size_t room, size_t *len_p)
{
	const u8 *byte = data;

	*len_p = data && room ? min_t(size_t, byte[0], room - 1) : 0;
	return byte + 1;
}

static void fill_param(struct rdma_conn_param *param, const struct vrb_ep *ep, const u8 *data,
		       size_t len)
{
	const struct ib_device_attr *attrs = &ep->domain->device->attrs;

	memset(param, 0, sizeof(*param));
	param->private_data = data;
	param->private_data_len = len;
	param->responder_resources = min(attrs->max_qp_rd_atom, 16);
	param->initiator_depth = min(attrs->max_qp_init_rd_atom, 16);
	param->flow_control = 1;
	param->retry_count = 7;
	param->rnr_retry_count = 7;
}

/* ---- events of an endpoint ---- */

static int connect_now(struct vrb_ep *ep, struct rdma_cm_id *id)
{
	struct rdma_conn_param param;

	fill_param(&param, ep, ep->data, ep->data_len);
	return rdma_connect_locked(id, &param);
}

static void on_established(struct vrb_ep *ep, struct rdma_cm_event *event)
{
	const void *data;
	size_t len;

	data = private_data(event->param.conn.private_data, event->param.conn.private_data_len,
			    &len);
	if (set_state(ep, VRB_CONNECTING, VRB_UP)) {
		vrb_mr_connected(ep);
		kofi_ep_connected(&ep->ep, 0, data, len);
	} else if (set_state(ep, VRB_ACCEPTING, VRB_UP)) {
		vrb_mr_connected(ep);
		kofi_ep_connected(&ep->ep, 0, NULL, 0);
	}
}

static void on_rejected(struct vrb_ep *ep, struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	const void *data;
	u8 room = 0;
	size_t len;

	data = rdma_consumer_reject_data(id, event, &room);
	/* iWARP has it with another status, too */
	if (!data && ep->domain->iwarp) {
		data = event->param.conn.private_data;
		room = event->param.conn.private_data_len;
	}
	data = private_data(data, room, &len);
	vrb_end(ep, FI_ECONNREFUSED, data, len);
}

static void ep_event(struct vrb_ep *ep, struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	int ret = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = rdma_resolve_route(id, RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = connect_now(ep, id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		on_established(ep, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		on_rejected(ep, id, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		vrb_end(ep, FI_EHOSTUNREACH, NULL, 0);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		vrb_end(ep, event->status == -ECONNREFUSED ? FI_ECONNREFUSED : FI_ECONNABORTED,
			NULL, 0);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		vrb_end(ep, FI_ECONNRESET, NULL, 0);
		break;
	default:
		break;
	}
	if (ret)
		vrb_end(ep, -ret, NULL, 0);
}

/* ---- requests ---- */

static int req_announce(struct vrb_pep *pep, struct vrb_req *req, struct rdma_cm_event *event)
{
	struct fi_info *info = kofi_pep_info(&pep->pep, &req->cm.id->route.addr.dst_addr);
	const void *data;
	size_t len;
	int ret;

	if (!info)
		return -FI_ENOMEM;
	data = private_data(event->param.conn.private_data, event->param.conn.private_data_len,
			    &len);
	ret = kofi_req_post(&pep->pep, &req->req, info, data, len, GFP_KERNEL);
	if (ret)
		fi_freeinfo(info);
	return ret;
}

/* The device of a listener goes, and waits for its close: tell the application, once. */
static void pep_ended(struct vrb_pep *pep)
{
	struct kofi_event *entry = xchg(&pep->ended, NULL);

	if (!entry)
		return;
	entry->event = FI_SHUTDOWN;
	entry->fid = &pep->pep.pep.fid;
	kofi_eq_post(pep->pep.eq, entry);
}

/* Not 0: rdma_cm refuses the request and destroys its id. */
static int pep_event(struct vrb_pep *pep, struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct vrb_req *req;
	int ret;

	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		pep_ended(pep);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return -FI_ENOMEM;
	req->cm.kind = VRB_REQ;
	req->cm.id = id;
	id->context = &req->cm;
	ret = req_announce(pep, req, event);
	if (ret)
		kfree(req);
	return ret;
}

int vrb_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct vrb_cm *cm = id->context;

	switch (cm->kind) {
	case VRB_PEP:
		return pep_event(container_of(cm, struct vrb_pep, cm), id, event);
	case VRB_REQ:
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
			container_of(cm, struct vrb_req, cm)->gone = true;
		return 0;
	case VRB_EP:
		ep_event(container_of(cm, struct vrb_ep, cm), id, event);
		return 0;
	}
	return 0;
}

int vrb_claim(struct vrb_ep *ep, const struct fi_info *info)
{
	struct kofi_req *kreq;
	struct vrb_req *req;
	int ret = kofi_ep_take(&ep->ep, info, &kreq);

	if (ret || !kreq)
		return ret;
	req = container_of(kreq, struct vrb_req, req);
	rdma_lock_handler(req->cm.id);
	ep->cm.id = req->cm.id;
	ep->cm.id->context = &ep->cm;
	ep->state = req->gone ? VRB_ENDED : VRB_ACCEPTING;
	rdma_unlock_handler(ep->cm.id);
	kfree(req);
	return 0;
}

/* ---- calls ---- */

static int vrb_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct vrb_ep *ep = ep_of(fid);
	struct sockaddr_storage to = {};
	int ret;

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (!addr || !kofi_ip_len(addr) || paramlen > VRB_CM_DATA_MAX)
		return -FI_EINVAL;
	memcpy(&to, addr, kofi_ip_len(addr));
	ret = kofi_ep_events(&ep->ep, 256);
	if (ret)
		return ret;
	if (!set_state(ep, VRB_IDLE, VRB_CONNECTING))
		return -FI_EOPBADSTATE;
	ep->data[0] = paramlen;
	memcpy(ep->data + 1, param, paramlen);
	ep->data_len = paramlen + 1;
	ret = rdma_resolve_addr(ep->cm.id, NULL, (struct sockaddr *)&to, RESOLVE_MS);
	if (ret)
		vrb_end(ep, -ret, NULL, 0);
	return 0;
}

static int vrb_accept(struct fid_ep *fid, const void *data, size_t len)
{
	struct vrb_ep *ep = ep_of(fid);
	u8 buf[VRB_CM_DATA_MAX + 1];
	struct rdma_conn_param param;
	int ret;

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (len > VRB_CM_DATA_MAX)
		return -FI_EINVAL;
	ret = kofi_ep_events(&ep->ep, 256);
	if (ret)
		return ret;
	if (READ_ONCE(ep->state) != VRB_ACCEPTING)
		return ep->state == VRB_ENDED ? -FI_ECONNABORTED : -FI_EOPBADSTATE;
	buf[0] = len;
	memcpy(buf + 1, data, len);
	fill_param(&param, ep, buf, len + 1);
	rdma_lock_handler(ep->cm.id);
	ret = rdma_accept(ep->cm.id, &param);
	rdma_unlock_handler(ep->cm.id);
	return ret;
}

/* Destroying the id of a request refuses it, where nothing has. */
static void req_refuse(struct kofi_req *kreq)
{
	struct vrb_req *req = container_of(kreq, struct vrb_req, req);

	rdma_destroy_id(req->cm.id);
	kfree(req);
}

static int vrb_reject(struct fid_pep *fid, fid_t handle, const void *data, size_t len)
{
	u8 buf[VRB_CM_DATA_MAX + 1];
	struct kofi_req *req;

	if (len > VRB_CM_DATA_MAX)
		return -FI_EINVAL;
	req = kofi_pep_take(container_of(fid, struct kofi_pep, pep), handle);
	if (!req)
		return -FI_EINVAL;
	buf[0] = len;
	memcpy(buf + 1, data, len);
	rdma_reject(container_of(req, struct vrb_req, req)->cm.id, buf, len + 1,
		    IB_CM_REJ_CONSUMER_DEFINED);
	req_refuse(req);
	return 0;
}

static int vrb_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct vrb_ep *ep = ep_of(fid);

	if (flags)
		return -FI_EBADFLAGS;
	if (READ_ONCE(ep->state) != VRB_UP)
		return -FI_ENOTCONN;
	vrb_end(ep, FI_ECANCELED, NULL, 0);
	return 0;
}

static int vrb_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct sockaddr_storage *name = fid->fclass == FI_CLASS_PEP ?
		&container_of(fid, struct vrb_pep, pep.pep.fid)->name :
		&container_of(fid, struct vrb_ep, ep.ep.fid)->src;

	if (addrlen < sizeof(sa_family_t) || !kofi_ip_len(addr) || addrlen < kofi_ip_len(addr))
		return -FI_EINVAL;
	memset(name, 0, sizeof(*name));
	memcpy(name, addr, kofi_ip_len(addr));
	return 0;
}

static int vrb_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct rdma_cm_id *id;
	const void *name;

	if (fid->fclass == FI_CLASS_PEP) {
		id = container_of(fid, struct vrb_pep, pep.pep.fid)->cm.id;
		name = &container_of(fid, struct vrb_pep, pep.pep.fid)->name;
	} else {
		id = container_of(fid, struct vrb_ep, ep.ep.fid)->cm.id;
		name = &container_of(fid, struct vrb_ep, ep.ep.fid)->src;
	}
	if (id)
		name = &id->route.addr.src_addr;
	return kofi_ip_len(name) ? kofi_name_copy(addr, addrlen, name, kofi_ip_len(name)) :
				   -FI_EADDRNOTAVAIL;
}

static int vrb_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct vrb_ep *ep = ep_of(fid);
	const void *name;

	if (READ_ONCE(ep->state) != VRB_UP)
		return -FI_ENOTCONN;
	name = &ep->cm.id->route.addr.dst_addr;
	return kofi_name_copy(addr, addrlen, name, kofi_ip_len(name));
}

struct fi_ops_cm vrb_cm_ops = {
	.size = offsetofend(struct fi_ops_cm, shutdown),
	.setname = vrb_setname,
	.getname = vrb_getname,
	.getpeer = vrb_getpeer,
	.connect = vrb_connect,
	.listen = kofi_pep_listen,
	.accept = vrb_accept,
	.reject = vrb_reject,
	.shutdown = vrb_shutdown,
};

/* ---- listening ---- */

static struct vrb_pep *pep_of(struct kofi_pep *pep)
{
	return container_of(pep, struct vrb_pep, pep);
}

static int pep_listen(struct kofi_pep *kpep)
{
	struct vrb_pep *pep = pep_of(kpep);
	int ret;

	if (!pep->ended)
		pep->ended = kofi_event_alloc(0, GFP_KERNEL);
	if (!pep->ended)
		return -FI_ENOMEM;
	ret = rdma_bind_addr(pep->cm.id, (struct sockaddr *)&pep->name);
	return ret ? ret : rdma_listen(pep->cm.id, BACKLOG);
}

static void pep_stop(struct kofi_pep *pep)
{
	rdma_destroy_id(pep_of(pep)->cm.id);
}

static void pep_free(struct kofi_pep *pep)
{
	kfree(pep_of(pep)->ended);
	kfree(pep_of(pep));
}

static const struct kofi_pep_ops pep_ops = {
	.listen = pep_listen,
	.stop = pep_stop,
	.refuse = req_refuse,
	.free = pep_free,
};

int vrb_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info, struct fid_pep **pep_p,
		   void *context)
{
	struct vrb_pep *pep;
	int ret;

	if (!info->src_addr)
		return -FI_EINVAL;
	pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	if (!pep)
		return -FI_ENOMEM;
	pep->cm.kind = VRB_PEP;
	memcpy(&pep->name, info->src_addr, min(info->src_addrlen, sizeof(pep->name)));
	pep->cm.id = rdma_create_id(fabric->fabric.net, vrb_handler, &pep->cm, RDMA_PS_TCP,
				    IB_QPT_RC);
	if (IS_ERR(pep->cm.id)) {
		ret = PTR_ERR(pep->cm.id);
		goto free;
	}
	ret = kofi_pep_init(&pep->pep, fabric, info, &pep_ops, &vrb_cm_ops, context);
	if (ret)
		goto destroy;
	*pep_p = &pep->pep.pep;
	return 0;
destroy:
	rdma_destroy_id(pep->cm.id);
free:
	kfree(pep);
	return ret;
}
