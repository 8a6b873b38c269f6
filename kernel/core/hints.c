// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * hints.c - does an offer fit the hints, and what of it is granted. The rules are those of
 * user space (fi_getinfo(3)).
 */
#include "core.h"

#define MSG_OPS		(FI_MSG | FI_TAGGED)
#define RMA_OPS		(FI_RMA | FI_ATOMIC)
#define MSG_WAYS	(FI_SEND | FI_RECV)
#define RMA_WAYS	(FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
/* Capabilities that are granted without being asked for, since they cost nothing. */
#define CAPS_FREE	(FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SOURCE | FI_DIRECTED_RECV)
#define CAPS_TX		(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE)
#define CAPS_RX		(FI_MULTI_RECV | FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV | FI_REMOTE_READ | \
			 FI_REMOTE_WRITE | FI_SOURCE | FI_DIRECTED_RECV)
#define IOV_DEFAULT	8	/* pieces per operation that are reserved room for unasked */

static uint64_t caps_expand(uint64_t caps)
{
	if (caps & MSG_OPS && !(caps & MSG_WAYS))
		caps |= MSG_WAYS;
	if (caps & RMA_OPS && !(caps & RMA_WAYS))
		caps |= RMA_WAYS;
	return caps;
}

/* 0 is "any" on both sides. */
static bool same_or_any(uint64_t wanted, uint64_t offered)
{
	return !wanted || !offered || wanted == offered;
}

static bool same_name(const char *wanted, const char *offered)
{
	return !wanted || !offered || !strcmp(wanted, offered);
}

static bool format_fits(uint32_t wanted, uint32_t offered)
{
	bool ip = offered == FI_SOCKADDR_IN || offered == FI_SOCKADDR_IN6;

	if (wanted == FI_SOCKADDR || wanted == FI_SOCKADDR_IP)
		return ip || offered == wanted;
	return same_or_any(wanted, offered);
}

static bool identity_fits(const struct fi_info *offer, const struct fi_info *hints)
{
	const struct fi_ep_attr *ep = hints->ep_attr;

	if (ep && !(same_or_any(ep->type, offer->ep_attr->type) &&
		    same_or_any(ep->protocol, offer->ep_attr->protocol)))
		return false;
	if (hints->fabric_attr && !same_name(hints->fabric_attr->name, offer->fabric_attr->name))
		return false;
	if (hints->domain_attr && !same_name(hints->domain_attr->name, offer->domain_attr->name))
		return false;
	return format_fits(hints->addr_format, offer->addr_format);
}

static bool domain_fits(const struct fi_domain_attr *have, const struct fi_domain_attr *want)
{
	return want->threading <= FI_THREAD_ENDPOINT && want->resource_mgmt <= FI_RM_ENABLED &&
	       want->control_progress <= FI_PROGRESS_CONTROL_UNIFIED &&
	       want->data_progress <= FI_PROGRESS_CONTROL_UNIFIED &&
	       want->av_type <= FI_AV_TABLE && same_or_any(want->av_type, have->av_type) &&
	       want->mr_key_size <= have->mr_key_size &&
	       want->cq_data_size <= have->cq_data_size &&
	       want->mr_iov_limit <= have->mr_iov_limit &&
	       want->max_ep_tx_ctx <= have->max_ep_tx_ctx &&
	       want->max_ep_rx_ctx <= have->max_ep_rx_ctx && !want->max_ep_stx_ctx &&
	       want->max_ep_srx_ctx <= have->max_ep_srx_ctx && want->max_err_data <= have->max_err_data &&
	       !(want->caps & ~have->caps) && !(have->mode & ~want->mode) &&
	       !want->max_group_id && !want->auth_key_size &&
	       (want->tclass == FI_TC_UNSPEC || want->tclass == FI_TC_BEST_EFFORT);
}

static bool ep_fits(const struct fi_ep_attr *have, const struct fi_ep_attr *want, bool srx)
{
	return want->protocol_version <= have->protocol_version &&
	       want->max_msg_size <= have->max_msg_size &&
	       want->max_order_raw_size <= have->max_order_raw_size &&
	       want->max_order_war_size <= have->max_order_war_size &&
	       want->max_order_waw_size <= have->max_order_waw_size &&
	       want->tx_ctx_cnt <= 1 && (want->rx_ctx_cnt <= 1 ||
	       (srx && want->rx_ctx_cnt == FI_SHARED_CONTEXT)) && !want->auth_key_size;
}

static bool tx_fits(const struct kofi_provider *prov, const struct fi_tx_attr *have,
		    const struct fi_tx_attr *want, uint64_t caps)
{
	return !(caps_expand(want->caps) & CAPS_TX & ~caps) && !(want->op_flags & ~have->op_flags) &&
	       !(want->msg_order & ~have->msg_order) &&
	       !(want->comp_order & ~have->comp_order) &&
	       want->inject_size <= have->inject_size &&
	       want->size <= max_t(size_t, prov->max_tx_size, have->size) &&
	       want->iov_limit <= have->iov_limit && want->rma_iov_limit <= have->rma_iov_limit &&
	       (want->tclass == FI_TC_UNSPEC || want->tclass == FI_TC_BEST_EFFORT);
}

static bool rx_fits(const struct kofi_provider *prov, const struct fi_rx_attr *have,
		    const struct fi_rx_attr *want, uint64_t caps)
{
	return !(caps_expand(want->caps) & CAPS_RX & ~caps) && !(want->op_flags & ~have->op_flags) &&
	       !(want->msg_order & ~have->msg_order) &&
	       !(want->comp_order & ~have->comp_order) &&
	       want->size <= max_t(size_t, prov->max_rx_size, have->size) &&
	       want->iov_limit <= have->iov_limit;
}

/* Registration modes that are needed with these capabilities. */
static int mr_mode_need(int mr_mode, uint64_t caps)
{
	return caps & RMA_OPS ? mr_mode : mr_mode & (FI_MR_LOCAL | FI_MR_ENDPOINT);
}

static void limit_size(size_t *out, size_t want, size_t usual)
{
	*out = want ? want : min(*out, usual);
}

static void narrow_answer(struct fi_info *out, const struct fi_info *hints)
{
	const struct fi_domain_attr *dom = hints->domain_attr;
	const struct fi_tx_attr *tx = hints->tx_attr;
	const struct fi_rx_attr *rx = hints->rx_attr;

	if (hints->handle && hints->handle->fclass == FI_CLASS_PEP)
		out->handle = hints->handle;
	if (hints->ep_attr && hints->ep_attr->rx_ctx_cnt)
		out->ep_attr->rx_ctx_cnt = hints->ep_attr->rx_ctx_cnt;
	out->tx_attr->op_flags = tx ? tx->op_flags : 0;
	out->rx_attr->op_flags = rx ? rx->op_flags : 0;
	if (tx && tx->size)
		out->tx_attr->size = tx->size;
	if (rx && rx->size)
		out->rx_attr->size = rx->size;
	limit_size(&out->tx_attr->iov_limit, tx ? tx->iov_limit : 0, IOV_DEFAULT);
	limit_size(&out->rx_attr->iov_limit, rx ? rx->iov_limit : 0, IOV_DEFAULT);
	if (dom && dom->threading)
		out->domain_attr->threading = dom->threading;
	/* Keys that the caller leaves to the provider cannot be guessed. */
	if (dom && out->caps & RMA_OPS)
		out->domain_attr->mr_mode |= dom->mr_mode & FI_MR_PROV_KEY;
}

int core_hints_check(const struct kofi_provider *prov, uint32_t version, struct fi_info *offer,
		     const struct fi_info *hints)
{
	static const struct fi_info none;
	uint64_t caps;
	int need;

	if (hints) {
		if (!identity_fits(offer, hints) || hints->caps & ~offer->caps ||
		    offer->mode & ~hints->mode)
			return -FI_ENODATA;
	} else {
		hints = &none;
	}
	caps = hints->caps ? (caps_expand(hints->caps) | CAPS_FREE) & offer->caps : offer->caps;
	need = mr_mode_need(offer->domain_attr->mr_mode, caps);
	if ((hints->domain_attr && (need & ~hints->domain_attr->mr_mode ||
				    !domain_fits(offer->domain_attr, hints->domain_attr))) ||
	    (hints->ep_attr && !ep_fits(offer->ep_attr, hints->ep_attr,
					  offer->domain_attr->max_ep_srx_ctx)) ||
	    (hints->tx_attr && !tx_fits(prov, offer->tx_attr, hints->tx_attr, caps)) ||
	    (hints->rx_attr && !rx_fits(prov, offer->rx_attr, hints->rx_attr, caps)))
		return -FI_ENODATA;
	offer->caps = caps;
	offer->tx_attr->caps = caps & CAPS_TX;
	offer->rx_attr->caps = caps & CAPS_RX;
	offer->domain_attr->mr_mode = need;
	narrow_answer(offer, hints);
	return 0;
}
