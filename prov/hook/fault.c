/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ofi_hook_fault: a lossy network below the datagram endpoints of any provider.  Datagrams that
 * are sent are dropped, duplicated, reordered, corrupted or delayed as FI_HOOK_FAULT says; all
 * other calls pass unchanged.
 */
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/provider.h"
#include "fault.h"
#include "progress/fdset.h"

static struct fi_provider fault_prov;

/* ---- endpoints ----------------------------------------------------------------------- */

static const struct fi_ops *real_fid(struct fid *fid)
{
	return hook_fid_table(fid)->real;
}

static void ep_free(void *priv)
{
	struct fault_ep *ep = priv;
	struct list *at;

	pthread_mutex_lock(&ep->dom->lock);
	list_del(&ep->node);
	pthread_mutex_unlock(&ep->dom->lock);
	while ((at = list_pop(&ep->delayed)))
		fault_copy_free(container_of(at, struct fault_copy, node));
	fault_copy_free(ep->held);
	free(ep);
}

/* Delayed copies are dropped when the endpoint closes. */
static int ep_close(struct fid *fid)
{
	struct fault_ep *ep = fault_ep_of(container_of(fid, struct fid_ep, fid));
	int ret;

	pthread_mutex_lock(&ep->dom->lock);
	list_del(&ep->node);
	pthread_mutex_unlock(&ep->dom->lock);
	ret = real_fid(fid)->close(fid);
	if (!ret)
		return 0;
	pthread_mutex_lock(&ep->dom->lock);
	list_add_tail(&ep->node, &ep->dom->eps);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static void on_bound(struct fault_ep *ep, struct fid *other, uint64_t flags)
{
	struct hook_obj *obj = hook_obj_at(other);

	if (other->fclass == FI_CLASS_AV)
		ep->av = container_of(other, struct fid_av, fid);
	if (other->fclass == FI_CLASS_CNTR && flags & FI_SEND)
		ep->cntr = container_of(other, struct fid_cntr, fid);
	if (other->fclass == FI_CLASS_CQ && flags & FI_SEND && obj) {
		ep->cq = obj->priv;
		ep->selective = flags & FI_SELECTIVE_COMPLETION;
	}
}

static int ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	int ret = real_fid(fid)->bind(fid, other, flags);

	if (!ret)
		on_bound(fault_ep_of(container_of(fid, struct fid_ep, fid)), other, flags);
	return ret;
}

static const struct fi_ops ep_fid_ops = {
	.size = sizeof(ep_fid_ops), .close = ep_close, .bind = ep_bind,
};

static void attach_ep(struct hook_obj *parent, const struct fi_info *info, struct fid_ep *fid)
{
	struct fault_ep *ep = calloc(1, sizeof(*ep));
	struct hook_obj *obj = ep ? hook_object(parent, &fid->fid) : NULL;

	if (!obj) {
		free(ep);
		FI_WARN(&fault_prov, FI_LOG_EP_CTRL, "no memory: no impairments on an endpoint\n");
		return;
	}
	ep->ep = fid;
	ep->dom = parent->priv;
	ep->op_flags = info->tx_attr->op_flags;
	ep->inject_max = info->tx_attr->inject_size;
	ep->dgram_max = info->ep_attr->max_msg_size;
	ep->prefix = info->mode & FI_MSG_PREFIX ? info->ep_attr->msg_prefix_size : 0;
	list_init(&ep->delayed);
	pthread_mutex_lock(&ep->dom->lock);
	ep->impair = ep->dom->impair;
	ep->dom->impair.seed += 2;	/* another random sequence for the next endpoint */
	list_add_tail(&ep->node, &ep->dom->eps);
	pthread_mutex_unlock(&ep->dom->lock);
	obj->priv = ep;
	obj->priv_free = ep_free;
	hook_override(obj, offsetof(struct fid_ep, msg), &fault_msg_ops);
	hook_override(obj, offsetof(struct fid, ops), &ep_fid_ops);
}

/* ---- queues ---------------------------------------------------------------------------- */

static void cq_free(void *priv)
{
	struct fault_cq *cq = priv;
	struct list *at;

	pthread_mutex_lock(&cq->dom->lock);
	list_del(&cq->node);
	pthread_mutex_unlock(&cq->dom->lock);
	while ((at = list_pop(&cq->pending)))
		free(container_of(at, struct fault_comp, node));
	while ((at = list_pop(&cq->copies)))
		fault_copy_free(container_of(at, struct fault_copy, node));
	os_alarm_close(&cq->alarm);
	fdset_close(cq->fd);
	free(cq);
}

static int attach_cq(struct hook_obj *parent, const struct fi_cq_attr *attr, struct fid_cq *fid)
{
	struct fault_cq *cq = calloc(1, sizeof(*cq));
	struct hook_obj *obj = cq ? hook_object(parent, &fid->fid) : NULL;

	if (!obj) {
		free(cq);
		return -FI_ENOMEM;
	}
	cq->cq = fid;
	cq->dom = parent->priv;
	cq->format = attr ? attr->format : FI_CQ_FORMAT_UNSPEC;
	cq->wait_obj = attr ? attr->wait_obj : FI_WAIT_NONE;
	cq->fd = -1;
	cq->alarm.event = OS_EVENT_NONE;
	list_init(&cq->pending);
	list_init(&cq->copies);
	pthread_mutex_lock(&cq->dom->lock);
	list_add_tail(&cq->node, &cq->dom->cqs);
	pthread_mutex_unlock(&cq->dom->lock);
	obj->priv = cq;
	obj->priv_free = cq_free;
	hook_override(obj, offsetof(struct fid_cq, ops), &fault_cq_ops);
	hook_override(obj, offsetof(struct fid, ops), &fault_cq_fid_ops);
	return 0;
}

/* ---- domains --------------------------------------------------------------------------- */

#define REAL(type, ops) ((const struct fi_ops_##type *) hook_table_of(ops)->real)

static int domain_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
			   void *context)
{
	int ret = REAL(domain, domain->ops)->endpoint(domain, info, ep, context);

	if (!ret && info->ep_attr->type == FI_EP_DGRAM)
		attach_ep(hook_table_of(domain->ops)->obj, info, *ep);
	return ret;
}

static int domain_endpoint2(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
			    uint64_t flags, void *context)
{
	int ret = REAL(domain, domain->ops)->endpoint2(domain, info, ep, flags, context);

	if (!ret && info->ep_attr->type == FI_EP_DGRAM)
		attach_ep(hook_table_of(domain->ops)->obj, info, *ep);
	return ret;
}

static int domain_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
			  struct fid_cq **cq, void *context)
{
	int ret = REAL(domain, domain->ops)->cq_open(domain, attr, cq, context);

	if (!ret && attach_cq(hook_table_of(domain->ops)->obj, attr, *cq)) {
		fi_close(&(*cq)->fid);
		return -FI_ENOMEM;
	}
	return ret;
}

static const struct fi_ops_domain domain_ops = {
	.size = sizeof(domain_ops),
	.endpoint = domain_endpoint,
	.endpoint2 = domain_endpoint2,
	.cq_open = domain_cq_open,
};

static void dom_free(void *priv)
{
	struct fault_dom *dom = priv;

	pthread_mutex_destroy(&dom->lock);
	free(dom);
}

static void attach_domain(struct hook_obj *parent, const struct fi_info *info,
			  struct fid_domain *fid)
{
	struct fault_dom *dom = calloc(1, sizeof(*dom));
	struct hook_obj *obj = dom ? hook_object(parent, &fid->fid) : NULL;

	if (!obj) {
		free(dom);
		FI_WARN(&fault_prov, FI_LOG_DOMAIN, "no memory: no impairments on the endpoints of a domain\n");
		return;
	}
	pthread_mutex_init(&dom->lock, NULL);
	dom->impair = *(struct impair *) parent->priv;
	dom->domain = fid;
	dom->registers = info->domain_attr->mr_mode & FI_MR_LOCAL;
	list_init(&dom->eps);
	list_init(&dom->cqs);
	obj->priv = dom;
	obj->priv_free = dom_free;
	hook_override(obj, offsetof(struct fid_domain, ops), &domain_ops);
}

/* ---- fabrics --------------------------------------------------------------------------- */

static int fabric_domain(struct fid_fabric *fabric, struct fi_info *info,
			 struct fid_domain **domain, void *context)
{
	int ret = REAL(fabric, fabric->ops)->domain(fabric, info, domain, context);

	if (!ret && info->ep_attr && info->ep_attr->type == FI_EP_DGRAM)
		attach_domain(hook_table_of(fabric->ops)->obj, info, *domain);
	return ret;
}

static int fabric_domain2(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_domain **domain, uint64_t flags, void *context)
{
	int ret = REAL(fabric, fabric->ops)->domain2(fabric, info, domain, flags, context);

	if (!ret && info->ep_attr && info->ep_attr->type == FI_EP_DGRAM)
		attach_domain(hook_table_of(fabric->ops)->obj, info, *domain);
	return ret;
}

static struct fault_cq *cq_of(struct fid *fid)
{
	struct hook_obj *obj = fid->fclass == FI_CLASS_CQ ? hook_obj_at(fid) : NULL;

	return obj ? obj->priv : NULL;
}

static bool cq_ready(struct fid *fid)
{
	struct fault_cq *cq = cq_of(fid);
	bool ready;

	if (!cq)
		return false;
	pthread_mutex_lock(&cq->dom->lock);
	ready = fault_cq_ready(cq);
	pthread_mutex_unlock(&cq->dom->lock);
	return ready;
}

static int fabric_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, ret;

	for (i = 0; i < count; i++)
		if (cq_ready(fids[i]))
			return -FI_EAGAIN;
	ret = REAL(fabric, fabric->ops)->trywait(fabric, fids, count);
	for (i = 0; i < count && !ret; i++)
		if (cq_of(fids[i]))
			fdset_settle(cq_of(fids[i])->fd);
	return ret;
}

static const struct fi_ops_fabric fabric_ops = {
	.size = sizeof(fabric_ops),
	.domain = fabric_domain,
	.domain2 = fabric_domain2,
	.trywait = fabric_trywait,
};

/* ---- the provider ---------------------------------------------------------------------- */

static const struct hook_watcher watcher = {
	.prov = &fault_prov, .state_size = sizeof(struct hook_state),
};

static int read_param(struct impair *impair)
{
	const char *why;
	char *text = NULL;

	if (fi_param_get_str(NULL, "hook_fault", &text) || !text) {
		FI_WARN(&fault_prov, FI_LOG_FABRIC, "FI_HOOK_FAULT is not set: set it, such "
			"as drop=5,dup=1,reorder=10,corrupt=0.5,delay=10,seed=7\n");
		return -FI_EINVAL;
	}
	why = impair_parse(impair, text);
	if (!why)
		return 0;
	FI_WARN(&fault_prov, FI_LOG_FABRIC, "FI_HOOK_FAULT is not understood from '%s' on: write "
		"drop=5,dup=1,reorder=10,corrupt=0.5,delay=10,seed=7 or a part of that, "
		"percents and milliseconds\n", why);
	return -FI_EINVAL;
}

static int fault_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	struct impair *impair = malloc(sizeof(*impair));
	struct hook_obj *obj;
	int ret = impair ? read_param(impair) : -FI_ENOMEM;

	if (!ret)
		ret = hook_fabric(&watcher, attr, fabric);
	if (ret) {
		free(impair);
		return ret;
	}
	obj = hook_obj_of(&attr->fabric->fid);
	if (obj->priv) {		/* a provider may return one fabric twice */
		free(impair);
		return 0;
	}
	obj->priv = impair;
	obj->priv_free = free;
	hook_override(obj, offsetof(struct fid_fabric, ops), &fabric_ops);
	return 0;
}

static struct fi_provider fault_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "ofi_hook_fault",
	.getinfo = hook_getinfo,
	.fabric = fault_fabric,
};

OFI_PROVIDER_INI(hook_fault)
{
	fi_param_define(NULL, "hook_fault", FI_PARAM_STRING,
			"What ofi_hook_fault does to datagrams that leave: percent that are lost, "
			"doubled, reordered or damaged, and milliseconds that each is late, such as "
			"drop=5,dup=1,reorder=10,corrupt=0.5,delay=10,seed=7 (default: nothing)");
	return &fault_prov;
}
