/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/ep.h"

#include <rdma/fi_errno.h>
#include <string.h>

#include "obj/av_key.h"
#include "secure/policy.h"

#define MIN_MULTI_RECV 64

/* ---- life ---------------------------------------------------------------- */

/* take_key - an endpoint without a key has that of its domain, which a layer passes on. */
static void take_key(const struct obj_domain *domain, struct fi_ep_attr *attr)
{
	if (attr->auth_key_size || !domain->attr->auth_key_size)
		return;
	attr->auth_key = domain->attr->auth_key;
	attr->auth_key_size = domain->attr->auth_key_size;
}

/* What the program left out of its info is as the domain has it. */
static struct fi_info *copy_info(const struct obj_domain *domain, const struct fi_info *info)
{
	struct fi_info whole = *info;
	struct fi_ep_attr attr;

	whole.next = NULL;
	if (!whole.tx_attr)
		whole.tx_attr = domain->info->tx_attr;
	if (!whole.rx_attr)
		whole.rx_attr = domain->info->rx_attr;
	if (!whole.ep_attr)
		whole.ep_attr = domain->info->ep_attr;
	if (!whole.domain_attr)
		whole.domain_attr = domain->info->domain_attr;
	if (!whole.fabric_attr)
		whole.fabric_attr = domain->info->fabric_attr;
	if (whole.ep_attr) {
		attr = *whole.ep_attr;
		take_key(domain, &attr);
		whole.ep_attr = &attr;
	}
	return fi_dupinfo(&whole);
}

static bool of_other_domain(const struct obj_domain *domain, const struct fi_info *info)
{
	return info->domain_attr && info->domain_attr->name && domain->attr->name &&
	       strcmp(info->domain_attr->name, domain->attr->name);
}

static void init_limits(struct obj_ep *ep)
{
	int i;

	for (i = 0; i < OBJ_OPT_MAX_CNT; i++)
		ep->opt_max[i] = FI_OPT_MAX_MSG_SIZE + i < FI_OPT_INJECT_MSG_SIZE ?
				 ep->info->ep_attr->max_msg_size : ep->info->tx_attr->inject_size;
}

/* secure_ep - contexts are protected as the endpoint is that they belong to. */
static int secure_ep(struct obj_ep *ep, const struct obj_domain *domain, size_t fclass)
{
	if (fclass != FI_CLASS_EP && fclass != FI_CLASS_SEP)
		return 0;
	return obj_security_get(domain->fabric, ep->info, domain->attr, &ep->sec);
}

int obj_ep_init(struct obj_ep *ep, size_t fclass, struct fid_domain *domain_fid,
		const struct fi_info *info, const struct obj_ep_ops *ops, void *context)
{
	struct obj_domain *domain = obj_domain_of(domain_fid);
	int ret;

	if (!info || of_other_domain(domain, info)) {
		FI_WARN(domain->prov, FI_LOG_EP_CTRL,
			"cannot open an endpoint: its info is missing or names another domain\n");
		return -FI_EINVAL;
	}
	memset(ep, 0, sizeof(*ep));
	ep->info = copy_info(domain, info);
	if (!ep->info)
		return -FI_ENOMEM;
	if (!ep->info->tx_attr || !ep->info->rx_attr || !ep->info->ep_attr) {
		fi_freeinfo(ep->info);
		return -FI_EINVAL;
	}
	ret = secure_ep(ep, domain, fclass);
	if (ret) {
		fi_freeinfo(ep->info);
		return ret;
	}
	ep->h.fid.fid.fclass = fclass;
	ep->h.fid.fid.context = context;
	ep->h.ep = ep;
	ep->h.tx_op_flags = ep->info->tx_attr->op_flags;
	ep->h.rx_op_flags = ep->info->rx_attr->op_flags;
	ep->domain = domain;
	ep->prov = domain->prov;
	ep->ops = ops;
	ep->type = ep->info->ep_attr->type;
	ep->caps = ep->info->caps;
	ep->min_multi_recv = MIN_MULTI_RECV;
	init_limits(ep);
	if (ep->info->tx_attr->tclass == FI_TC_UNSPEC)
		ep->info->tx_attr->tclass = domain->attr->tclass;
	list_init(&ep->av_node);
	obj_refs_init(&ep->refs);
	obj_ref_get(&domain->refs, &ep->domain_ref, &ep->h.fid.fid);
	return 0;
}

void obj_ep_set_context(struct obj_ep *ep, struct obj_ep *sep, unsigned index)
{
	ep->sep = sep;
	ep->index = index;
	obj_ref_get(&sep->refs, &ep->sep_ref, &ep->h.fid.fid);
}

int obj_ep_busy(struct obj_ep *ep)
{
	return obj_refs_busy(&ep->refs, &ep->h.fid.fid, ep->prov, FI_LOG_EP_CTRL);
}

void obj_ep_quiesce(struct obj_ep *ep)
{
	struct obj_av *av = ep->av;

	if (!av)
		return;
	pthread_mutex_lock(&av->eps_lock);
	list_del(&ep->av_node);
	pthread_mutex_unlock(&av->eps_lock);
}

void obj_ep_fini(struct obj_ep *ep)
{
	int i;

	obj_ep_quiesce(ep);
	if (ep->eq)
		obj_eq_purge(ep->eq, &ep->h.fid.fid);
	if (ep->prog)
		obj_prog_put(ep->prog);
	for (i = 0; i < OBJ_CNTR_CNT; i++)
		obj_ref_put(&ep->cntr_refs[i]);
	obj_ref_put(&ep->tx_cq_ref);
	obj_ref_put(&ep->rx_cq_ref);
	obj_ref_put(&ep->av_ref);
	obj_ref_put(&ep->eq_ref);
	obj_ref_put(&ep->srx_ref);
	obj_ref_put(&ep->sep_ref);
	obj_ref_put(&ep->domain_ref);
	obj_refs_fini(&ep->refs);
	sec_policy_close(ep->sec);
	fi_freeinfo(ep->info);
}

/* ---- enabling ------------------------------------------------------------ */

/* The group that @ep's completions are polled in already, or NULL. */
static struct obj_prog *find_home(struct obj_ep *ep)
{
	struct obj_prog *prog = NULL;
	int i;

	if (ep->rx_cq)
		prog = obj_feed_home(&ep->rx_cq->wait.feed);
	if (!prog && ep->tx_cq)
		prog = obj_feed_home(&ep->tx_cq->wait.feed);
	for (i = 0; i < OBJ_CNTR_CNT && !prog; i++)
		if (ep->cntrs[i])
			prog = obj_feed_home(&ep->cntrs[i]->wait.feed);
	return prog;
}

int obj_ep_prog(struct obj_ep *ep)
{
	struct obj_ep *above = ep->srx ? ep->srx : ep->sep;
	struct obj_prog *prog;
	int ret;

	if (ep->prog)
		return 0;
	/* Endpoints that share receives or an address are driven together. */
	if (above) {
		ret = obj_ep_prog(above);
		if (ret)
			return ret;
		prog = above->prog;
	} else {
		prog = find_home(ep);
	}
	if (prog)
		obj_prog_get(prog);
	else if ((ret = obj_prog_new(&ep->domain->groups, ep->domain->prog_lock_kind, &prog)))
		return ret;
	ep->prog = prog;
	return 0;
}

/* A thread that reads these drives the endpoint. */
static int feed_all(struct obj_ep *ep)
{
	int i, ret = 0;

	if (ep->tx_cq)
		ret = obj_wait_feed(&ep->tx_cq->wait, ep->prog);
	if (!ret && ep->rx_cq)
		ret = obj_wait_feed(&ep->rx_cq->wait, ep->prog);
	for (i = 0; i < OBJ_CNTR_CNT && !ret; i++)
		if (ep->cntrs[i])
			ret = obj_wait_feed(&ep->cntrs[i]->wait, ep->prog);
	/* An event queue may be read by a thread that no threading model binds.  Over connectionless endpoints
	 * joins of collective groups end there.
	 */
	if (!ret && ep->eq && ep->prog->lock.kind != LOCK_NONE)
		ret = obj_wait_feed(&ep->eq->wait, ep->prog);
	return ret;
}

/* Does @caps, with its modifiers, include this direction?  None of the modifiers
 * means all of them.
 */
static bool caps_include(uint64_t caps, uint64_t primary, uint64_t direction, uint64_t all)
{
	return (caps & primary) && ((caps & direction) || !(caps & all));
}

static bool ep_transmits(const struct obj_ep *ep)
{
	uint64_t caps = ep->info->tx_attr->caps ? ep->info->tx_attr->caps : ep->caps;
	size_t fclass = ep->h.fid.fid.fclass;

	if (fclass != FI_CLASS_EP && fclass != FI_CLASS_TX_CTX)
		return false;
	return caps_include(caps, FI_MSG | FI_TAGGED, FI_SEND, FI_SEND | FI_RECV) ||
	       caps_include(caps, FI_RMA | FI_ATOMIC, FI_READ | FI_WRITE,
			    FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
}

static bool ep_receives(const struct obj_ep *ep)
{
	uint64_t caps = ep->info->rx_attr->caps ? ep->info->rx_attr->caps : ep->caps;
	size_t fclass = ep->h.fid.fid.fclass;

	if (fclass != FI_CLASS_EP && fclass != FI_CLASS_RX_CTX)
		return false;
	return caps_include(caps, FI_MSG | FI_TAGGED, FI_RECV, FI_SEND | FI_RECV);
}

static int check_enable(struct obj_ep *ep)
{
	const char *what = NULL;
	int ret = 0;

	if (ep->h.fid.fid.fclass == FI_CLASS_EP && !ep->srx &&
	    ep->info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT) {
		what = "a shared receive context, as rx_ctx_cnt = FI_SHARED_CONTEXT says,";
		ret = -FI_EOPBADSTATE;
	} else if (ep_transmits(ep) && !ep->tx_cq) {
		what = "a completion queue with FI_TRANSMIT (needed for errors, even if it "
		       "is to report nothing else: FI_SELECTIVE_COMPLETION)";
		ret = -FI_ENOCQ;
	} else if (ep_receives(ep) && !ep->rx_cq && !(ep->srx && ep->srx->rx_cq)) {
		what = "a completion queue with FI_RECV";
		ret = -FI_ENOCQ;
	} else if (ep->type != FI_EP_MSG && !ep->av && !(ep->sep && ep->sep->av) &&
		   ep->h.fid.fid.fclass != FI_CLASS_SRX_CTX) {
		what = "an address vector";
		ret = -FI_ENOAV;
	} else if (ep->type == FI_EP_MSG && !ep->eq &&
		   ep->h.fid.fid.fclass == FI_CLASS_EP) {
		what = "an event queue";
		ret = -FI_ENOEQ;
	}
	if (ret)
		FI_WARN(ep->prov, FI_LOG_EP_CTRL,
			"cannot enable the %s %p (context %p): bind %s to it first\n",
			obj_fid_name(&ep->h.fid.fid), (void *) ep, ep->h.fid.fid.context, what);
	return ret;
}

static void join_av(struct obj_ep *ep)
{
	if (!ep->av)
		return;
	pthread_mutex_lock(&ep->av->eps_lock);
	list_add_tail(&ep->av_node, &ep->av->eps);
	pthread_mutex_unlock(&ep->av->eps_lock);
}

int obj_ep_enable(struct obj_ep *ep)
{
	int ret;

	if (ep->enabled || ep->h.fid.fid.fclass == FI_CLASS_SRX_CTX)
		return 0;
	if (ep->sep && !ep->av && ep->sep->av) {
		ep->av = ep->sep->av;
		obj_ref_get(&ep->av->refs, &ep->av_ref, &ep->h.fid.fid);
	}
	ret = check_enable(ep);
	if (!ret)
		ret = obj_av_key_take(ep);
	if (!ret)
		ret = obj_ep_prog(ep);
	if (!ret)
		ret = feed_all(ep);
	if (!ret)
		ret = obj_domain_started(ep->domain, ep->prog);
	if (!ret && ep->ops->enable)
		ret = ep->ops->enable(ep);
	if (ret)
		return ret;
	ep->enabled = true;
	join_av(ep);
	return 0;
}

/* ---- what a shared receive context borrows ---------------------------------- */

int obj_ep_lend_av(struct obj_ep *srx, struct obj_ep *ep)
{
	struct obj_av *had;

	if (!ep->av)
		return 0;
	lock_get(&srx->prog->lock);
	had = srx->av;
	if (!had)
		srx->av = ep->av;
	srx->enabled = true;
	lock_put(&srx->prog->lock);
	if (!had) {
		obj_ref_get(&ep->av->refs, &srx->av_ref, &srx->h.fid.fid);
		join_av(srx);
	} else if (had != ep->av) {
		FI_WARN(ep->prov, FI_LOG_EP_CTRL, "cannot enable the endpoint %p (context %p): "
			"endpoints with one shared receive context share one address vector\n",
			(void *) ep, ep->h.fid.fid.context);
		return -FI_EINVAL;
	}
	return 0;
}

void obj_ep_return_av(struct obj_ep *srx)
{
	obj_ep_quiesce(srx);
	lock_get(&srx->prog->lock);
	srx->av = NULL;
	lock_put(&srx->prog->lock);
	obj_ref_put(&srx->av_ref);
}

/* ---- failures ------------------------------------------------------------ */

static void count_err(struct obj_ep *ep, enum obj_ep_cntr c)
{
	if (c != OBJ_CNTR_NONE && ep->cntrs[c])
		obj_cntr_inc_err(ep->cntrs[c]);
}

void obj_ep_err_tx(struct obj_ep *ep, const struct fi_cq_err_entry *entry,
		   const void *err_data, size_t size, enum obj_ep_cntr c)
{
	PROBE4(error, ep, entry->op_context, entry->flags, entry->err);
	if (ep->tx_cq)
		obj_cq_write_err(ep->tx_cq, entry, err_data, size);
	count_err(ep, c);
}

void obj_ep_err_rx(struct obj_ep *ep, const struct fi_cq_err_entry *entry,
		   const void *err_data, size_t size, enum obj_ep_cntr c)
{
	PROBE4(error, ep, entry->op_context, entry->flags, entry->err);
	if (ep->rx_cq)
		obj_cq_write_err(ep->rx_cq, entry, err_data, size);
	count_err(ep, c);
}
