/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmem/mem.h"
#include "info/check.h"
#include "net/tclass.h"
#include "secure/policy.h"

/* State of one comparison. */
struct check {
	const struct fi_provider *prov;
	const struct fi_info *offer;
	const struct info_limits *lim;
	const struct fi_info *hints;	/* never NULL; may have no attributes */
	uint32_t version;
	const struct explain_label *label;
	bool hinted;			/* the program passed hints */
	uint64_t hmem;			/* FI_HMEM, if it was asked for and can be had */
	size_t xpu_ctx_cnt;		/* likewise of FI_XPU; else 0 */
	/* results that differ from the hints */
	uint64_t caps;
	uint64_t tx_caps;
	uint64_t rx_caps;
	int mr_mode;
};

/* ---- refusing --------------------------------------------------------
 *
 * What refuses or checks returns true if the hints are refused; the reason is explained.
 */

static bool refuse_as(const struct check *ck, const char *attr, struct explain_value wanted,
		      struct explain_value offered)
{
	struct explain_refusal refusal = {
		.prov = ck->prov, .label = ck->label, .attr = attr,
		.ep_type = EXPLAIN_VALUE_NAMES(FI_TYPE_EP_TYPE, ck->offer->ep_attr->type),
		.wanted = wanted, .offered = offered,
	};

	explain_refuse(&refusal);
	return true;
}

static bool refuse_text(const struct check *ck, const char *attr, const char *wanted,
			const char *offered)
{
	return refuse_as(ck, attr, EXPLAIN_VALUE_TEXT(wanted), EXPLAIN_VALUE_TEXT(offered));
}

static bool refuse_value(const struct check *ck, const char *attr, enum fi_type type,
			 uint64_t wanted, uint64_t offered)
{
	return refuse_as(ck, attr, EXPLAIN_VALUE_NAMES(type, wanted),
			 EXPLAIN_VALUE_NAMES(type, offered));
}

static bool refuse_number(const struct check *ck, const char *attr, uint64_t wanted,
			  uint64_t offered)
{
	return refuse_as(ck, attr, EXPLAIN_VALUE_NUMBER(wanted), EXPLAIN_VALUE_NUMBER(offered));
}

/* ---- kinds of attributes --------------------------------------------- */

static bool check_bits(const struct check *ck, const char *attr, enum fi_type type,
		       uint64_t wanted, uint64_t offered)
{
	if (!(wanted & ~offered))
		return false;
	return refuse_value(ck, attr, type, wanted & ~offered, offered);
}

/* check_mode - mode bits: what the provider requires must be in what the program supports. */
static bool check_mode(const struct check *ck, const char *attr, uint64_t supported,
		       uint64_t required)
{
	if (!ck->hinted || !(required & ~supported))
		return false;
	return refuse_value(ck, attr, FI_TYPE_MODE, supported, required);
}

static bool check_number(const struct check *ck, const char *attr, uint64_t wanted,
			 uint64_t most)
{
	return wanted > most && refuse_number(ck, attr, wanted, most);
}

/* check_enum - 0 means "any" on both sides. */
static bool check_enum(const struct check *ck, const char *attr, enum fi_type type,
		       uint64_t wanted, uint64_t offered)
{
	if (!wanted || !offered || wanted == offered)
		return false;
	return refuse_value(ck, attr, type, wanted, offered);
}

/* check_protocol - an endpoint that speaks none of the numbered protocols is no answer to a number. */
static bool check_protocol(const struct check *ck, uint32_t wanted, uint32_t offered)
{
	if (!wanted || wanted == offered)
		return false;
	return refuse_value(ck, "ep_attr->protocol", FI_TYPE_PROTOCOL, wanted, offered);
}

static bool check_name(const struct check *ck, const char *attr, const char *wanted,
		       const char *offered)
{
	if (!wanted || !offered || !strcmp(wanted, offered))
		return false;
	return refuse_text(ck, attr, wanted, offered);
}

/* A domain has the name of its device; a domain of a special kind has a suffix: "-xrc". */
static bool check_device(const struct check *ck, const char *wanted, const char *offered)
{
	size_t len = wanted ? strlen(wanted) : 0;

	if (len && offered && !strncmp(wanted, offered, len) && offered[len] == '-')
		return false;
	return check_name(ck, "nic->device_attr->name", wanted, offered);
}

/* A limit in an attribute structure that is compared as a maximum. */
struct max {
	const char *attr;
	size_t off;
};

static bool check_maxima(const struct check *ck, const struct max *max, size_t cnt,
			 const void *wanted, const void *offered)
{
	size_t i, w, o;

	for (i = 0; i < cnt; i++) {
		memcpy(&w, (const char *) wanted + max[i].off, sizeof(w));
		memcpy(&o, (const char *) offered + max[i].off, sizeof(o));
		if (check_number(ck, max[i].attr, w, o))
			return true;
	}
	return false;
}

#define MAXIMA(ck, table, wanted, offered) \
	check_maxima(ck, table, sizeof(table) / sizeof(table[0]), wanted, offered)

/* ep_keys - how many an endpoint has (domain_attr->max_ep_auth_key). */
static size_t ep_keys(const struct check *ck)
{
	return ck->lim->auth_key_size && ck->offer->ep_attr->type == FI_EP_RDM;
}

/* check_key - a size without a key is no key: what asks for protection is not answered without. */
static bool check_key(const struct check *ck, const char *attr, const uint8_t *key, size_t wanted)
{
	if (FI_VERSION_LT(ck->version, FI_VERSION(1, 5)))
		return false;	/* the program's struct does not have the field */
	if (sec_is_sealed_above(key, wanted))
		return false;
	if (wanted == FI_AV_AUTH_KEY)
		return !ep_keys(ck) && refuse_text(ck, attr, "FI_AV_AUTH_KEY", "no keys of address vectors");
	return check_number(ck, attr, wanted, ck->lim->auth_key_size) ||
	       (wanted && !key && refuse_text(ck, attr, "of auth_key NULL", "0 without auth_key"));
}

/* check_tclass - a class is a wish: it is accepted also where the network has none. */
static bool check_tclass(const struct check *ck, const char *attr, uint32_t wanted)
{
	char text[16];

	if (net_tclass_valid(wanted))
		return false;
	snprintf(text, sizeof(text), "0x%x", wanted);
	return refuse_text(ck, attr, text, "FI_TC_BEST_EFFORT and the other labels, or FI_TC_DSCP "
			   "with a number up to 63");
}

/* ---- attribute structures -------------------------------------------- */

static bool format_fits(uint32_t wanted, uint32_t offered)
{
	bool ip = offered == FI_SOCKADDR_IN || offered == FI_SOCKADDR_IN6;

	switch (wanted) {
	case FI_FORMAT_UNSPEC:
		return true;
	case FI_SOCKADDR:
		return ip || offered == FI_SOCKADDR || offered == FI_SOCKADDR_IP ||
		       offered == FI_SOCKADDR_IB;
	case FI_SOCKADDR_IP:
		return ip || offered == FI_SOCKADDR_IP;
	default:
		return wanted == offered || !offered;
	}
}

/* check_identity - the attributes that identify the candidate.  They are compared first: a
 * program that wants a DGRAM endpoint is not helped by what RDM lacks.
 */
static bool check_identity(const struct check *ck)
{
	const struct fi_info *offer = ck->offer, *hints = ck->hints;

	return (hints->ep_attr &&
		(check_enum(ck, "ep_attr->type", FI_TYPE_EP_TYPE, hints->ep_attr->type,
			    offer->ep_attr->type) ||
		 check_protocol(ck, hints->ep_attr->protocol, offer->ep_attr->protocol))) ||
	       (hints->fabric_attr && check_name(ck, "fabric_attr->name", hints->fabric_attr->name,
						 offer->fabric_attr->name)) ||
	       (hints->domain_attr && check_name(ck, "domain_attr->name", hints->domain_attr->name,
						 offer->domain_attr->name)) ||
	       (hints->nic && hints->nic->device_attr &&
		check_device(ck, hints->nic->device_attr->name, offer->domain_attr->name)) ||
	       (!format_fits(hints->addr_format, offer->addr_format) &&
		refuse_value(ck, "addr_format", FI_TYPE_ADDR_FORMAT, hints->addr_format,
			     offer->addr_format));
}

/* check_hmem - device memory is offered to a program that names it, so the others start no
 * interface.
 */
static void check_hmem(struct check *ck)
{
	const char *why = NULL;

	if (!(ck->hints->caps & FI_HMEM) || !ck->lim->hmem)
		return;
	if (ck->lim->hmem_at ? ck->lim->hmem_at(ck->offer, &why) : hmem_start())
		ck->hmem = FI_HMEM;
	else if (why)
		refuse_text(ck, "caps", "FI_HMEM", why);
	else
		hmem_explain(ck->prov);
}

static bool check_caps(struct check *ck)
{
	uint64_t offered = ck->offer->caps;

	check_hmem(ck);
	offered |= ck->hmem;
	/* likewise, since a domain with FI_XPU needs locks that the others do without */
	if (ck->hints->caps & FI_XPU)
		ck->xpu_ctx_cnt = ck->lim->xpu_ctx_cnt;
	if (ck->xpu_ctx_cnt)
		offered |= FI_XPU;
	if (info_caps_get(offered, ck->hints->caps, &ck->caps))
		return check_bits(ck, "caps", FI_TYPE_CAPS, ck->hints->caps, offered);
	return check_mode(ck, "mode", ck->hints->mode, ck->offer->mode);
}

/* check_mr - only mode bits that matter for the granted caps are compared. */
static bool check_mr(struct check *ck)
{
	const struct fi_domain_attr *want = ck->hints->domain_attr;
	int need = info_mr_mode_need(ck->offer->domain_attr->mr_mode |
				     (ck->hmem ? FI_MR_HMEM : 0), ck->caps);

	ck->mr_mode = need;
	if (!want || !info_mr_mode_get(need, want->mr_mode, &ck->mr_mode))
		return false;
	return refuse_value(ck, "domain_attr->mr_mode", FI_TYPE_MR_MODE,
			    (uint32_t) want->mr_mode, (uint32_t) need);
}

static bool check_progress(const struct check *ck, const char *attr, enum fi_progress wanted)
{
	if (wanted <= FI_PROGRESS_CONTROL_UNIFIED &&
	    !(wanted == FI_PROGRESS_AUTO && ck->lim->manual_only))
		return false;
	return refuse_value(ck, attr, FI_TYPE_PROGRESS, wanted, FI_PROGRESS_MANUAL);
}

#define MAX(type, var, field) { #var "->" #field, offsetof(struct type, field) }

static const struct max domain_max[] = {
	MAX(fi_domain_attr, domain_attr, mr_key_size),
	MAX(fi_domain_attr, domain_attr, cq_data_size),
	MAX(fi_domain_attr, domain_attr, max_ep_tx_ctx),
	MAX(fi_domain_attr, domain_attr, max_ep_rx_ctx),
	MAX(fi_domain_attr, domain_attr, max_ep_stx_ctx),
	MAX(fi_domain_attr, domain_attr, max_ep_srx_ctx),
	MAX(fi_domain_attr, domain_attr, mr_iov_limit),
	MAX(fi_domain_attr, domain_attr, max_err_data),
	MAX(fi_domain_attr, domain_attr, max_cntr_value),
	MAX(fi_domain_attr, domain_attr, max_err_cntr_value),
};

static bool check_domain_models(const struct check *ck, const struct fi_domain_attr *want,
				const struct fi_domain_attr *have)
{
	if (want->threading > FI_THREAD_ENDPOINT)
		return refuse_value(ck, "domain_attr->threading", FI_TYPE_THREADING,
				    want->threading, have->threading);
	if (want->resource_mgmt > FI_RM_ENABLED)
		return refuse_number(ck, "domain_attr->resource_mgmt", want->resource_mgmt,
				     have->resource_mgmt);
	return check_progress(ck, "domain_attr->control_progress", want->control_progress) ||
	       check_progress(ck, "domain_attr->data_progress", want->data_progress) ||
	       (want->av_type > FI_AV_TABLE &&
		refuse_value(ck, "domain_attr->av_type", FI_TYPE_AV_TYPE, want->av_type,
			     have->av_type)) ||
	       check_enum(ck, "domain_attr->av_type", FI_TYPE_AV_TYPE, want->av_type, have->av_type);
}

static bool check_domain(struct check *ck)
{
	const struct fi_domain_attr *want = ck->hints->domain_attr;
	const struct fi_domain_attr *have = ck->offer->domain_attr;
	bool refused = check_mr(ck);

	if (refused || !want)
		return refused;
	return check_domain_models(ck, want, have) ||
	       MAXIMA(ck, domain_max, want, have) ||
	       check_number(ck, "domain_attr->max_xpu_ctx_cnt", want->max_xpu_ctx_cnt,
			    ck->xpu_ctx_cnt) ||
	       check_bits(ck, "domain_attr->caps", FI_TYPE_CAPS, want->caps, have->caps) ||
	       check_mode(ck, "domain_attr->mode", want->mode, have->mode) ||
	       check_number(ck, "domain_attr->max_group_id", want->max_group_id,
			    have->max_group_id) ||
	       check_number(ck, "domain_attr->max_ep_auth_key", want->max_ep_auth_key, ep_keys(ck)) ||
	       check_key(ck, "domain_attr->auth_key_size", want->auth_key, want->auth_key_size) ||
	       check_tclass(ck, "domain_attr->tclass", want->tclass);
}

static const struct max ep_max[] = {
	MAX(fi_ep_attr, ep_attr, max_msg_size),
	MAX(fi_ep_attr, ep_attr, max_order_raw_size),
	MAX(fi_ep_attr, ep_attr, max_order_war_size),
	MAX(fi_ep_attr, ep_attr, max_order_waw_size),
};

static bool tag_is_named(const struct check *ck, uint64_t format)
{
	return FI_VERSION_GE(ck->version, FI_VERSION(2, 0)) &&
	       (format == FI_TAG_MPI || format == FI_TAG_CCL);
}

/* check_tag - tag masks are arbitrary here, so a format can only be too wide; a named format
 * uses all 64 bits.  Where there are no tags their format does not matter.
 */
static bool check_tag(const struct check *ck, uint64_t wanted, uint64_t offered)
{
	char w[24], o[24];

	if (tag_is_named(ck, wanted))
		wanted = UINT64_MAX;
	if (!wanted || !offered || __builtin_clzll(wanted) >= __builtin_clzll(offered))
		return false;
	snprintf(w, sizeof(w), "0x%016llx", (unsigned long long) wanted);
	snprintf(o, sizeof(o), "0x%016llx", (unsigned long long) offered);
	return refuse_text(ck, "ep_attr->mem_tag_format", w, o);
}

static bool check_ctx(const struct check *ck, const char *attr, size_t wanted, size_t most,
		      size_t shared)
{
	if (wanted != FI_SHARED_CONTEXT)
		return check_number(ck, attr, wanted, most);
	return !shared && refuse_text(ck, attr, "FI_SHARED_CONTEXT", "not supported");
}

static bool check_ep(const struct check *ck)
{
	const struct fi_ep_attr *want = ck->hints->ep_attr;
	const struct fi_ep_attr *have = ck->offer->ep_attr;
	const struct fi_domain_attr *dom = ck->offer->domain_attr;

	return want &&
	       (check_number(ck, "ep_attr->protocol_version", want->protocol_version,
			     have->protocol_version) ||
		MAXIMA(ck, ep_max, want, have) ||
		check_tag(ck, want->mem_tag_format, have->mem_tag_format) ||
		check_ctx(ck, "ep_attr->tx_ctx_cnt", want->tx_ctx_cnt, dom->max_ep_tx_ctx,
			  dom->max_ep_stx_ctx) ||
		check_ctx(ck, "ep_attr->rx_ctx_cnt", want->rx_ctx_cnt, dom->max_ep_rx_ctx,
			  dom->max_ep_srx_ctx) ||
		check_key(ck, "ep_attr->auth_key_size", want->auth_key, want->auth_key_size));
}

static size_t size_most(size_t limit, size_t offered)
{
	return limit > offered ? limit : offered;
}

/* side_mode - 0 in tx_attr or rx_attr means the mode of the info. */
static uint64_t side_mode(const struct check *ck, uint64_t mode)
{
	return mode ? mode : ck->hints->mode;
}

/* side_caps - the caps of a context: the endpoint's, or the requested part of them. */
static uint64_t side_caps(uint64_t share, uint64_t wanted, uint64_t mask)
{
	return wanted ? info_caps_expand(wanted) & mask : share;
}

static const struct max tx_max[] = {
	MAX(fi_tx_attr, tx_attr, iov_limit),
	MAX(fi_tx_attr, tx_attr, rma_iov_limit),
};

static bool check_tx(struct check *ck)
{
	const struct fi_tx_attr *want = ck->hints->tx_attr, *have = ck->offer->tx_attr;
	uint64_t share = info_caps_tx(ck->caps) & (have->caps | ck->hmem);

	ck->tx_caps = want ? side_caps(share, want->caps, INFO_CAPS_TX) : share;
	if (check_mode(ck, "tx_attr->mode", side_mode(ck, want ? want->mode : 0), have->mode))
		return true;
	return want &&
	       (check_bits(ck, "tx_attr->caps", FI_TYPE_CAPS, ck->tx_caps, share) ||
		check_bits(ck, "tx_attr->op_flags", FI_TYPE_OP_FLAGS, want->op_flags,
			   have->op_flags) ||
		check_bits(ck, "tx_attr->msg_order", FI_TYPE_MSG_ORDER, want->msg_order,
			   have->msg_order) ||
		check_number(ck, "tx_attr->inject_size", want->inject_size,
			     size_most(ck->lim->inject_size, have->inject_size)) ||
		check_number(ck, "tx_attr->size", want->size, size_most(ck->lim->tx_size, have->size)) ||
		MAXIMA(ck, tx_max, want, have) ||
		check_tclass(ck, "tx_attr->tclass", want->tclass));
}

static bool check_rx(struct check *ck)
{
	const struct fi_rx_attr *want = ck->hints->rx_attr, *have = ck->offer->rx_attr;
	uint64_t share = info_caps_rx(ck->caps) & (have->caps | ck->hmem);

	ck->rx_caps = want ? side_caps(share, want->caps, INFO_CAPS_RX) : share;
	if (check_mode(ck, "rx_attr->mode", side_mode(ck, want ? want->mode : 0), have->mode))
		return true;
	return want &&
	       (check_bits(ck, "rx_attr->caps", FI_TYPE_CAPS, ck->rx_caps, share) ||
		check_bits(ck, "rx_attr->op_flags", FI_TYPE_OP_FLAGS, want->op_flags,
			   have->op_flags) ||
		check_bits(ck, "rx_attr->msg_order", FI_TYPE_MSG_ORDER, want->msg_order,
			   have->msg_order) ||
		check_number(ck, "rx_attr->size", want->size, size_most(ck->lim->rx_size, have->size)) ||
		check_number(ck, "rx_attr->iov_limit", want->iov_limit, have->iov_limit));
}

/* is_sealed_above - does a layer ask, which protects by itself what it sends? */
static bool is_sealed_above(const struct check *ck)
{
	const struct fi_ep_attr *ep = ck->hints->ep_attr;

	return ep && FI_VERSION_GE(ck->version, FI_VERSION(1, 5)) &&
	       sec_is_sealed_above(ep->auth_key, ep->auth_key_size);
}

/* check_security - what cannot protect is not offered where a variable asks for that: never in the clear.  An
 * auth_key is refused by auth_key_size.
 */
static bool check_security(const struct check *ck)
{
	enum sec_level level;

	if (ck->lim->secures && !ck->lim->keys_alone)
		return false;		/* whatever is asked for */
	if (is_sealed_above(ck) || !sec_policy_wish(false, &level))
		return false;
	if (!ck->lim->secures)
		return refuse_text(ck, "FI_SECURITY", sec_level_name(level),
				   "none: connections of this provider are not protected; see fi_security(7)");
	return ck->lim->keys_alone && sec_policy_by_cert() &&
	       refuse_text(ck, "FI_TLS_CERT", "certificates",
			   "FI_AUTH_KEY_FILE: by certificates connections of this provider are not protected");
}

static bool check_all(struct check *ck)
{
	return check_identity(ck) || check_security(ck) || check_caps(ck) || check_domain(ck) || check_ep(ck) ||
	       check_tx(ck) || check_rx(ck);
}

/* ---- the result ------------------------------------------------------ */

static void raise_size(size_t *have, size_t want)
{
	if (*have < want)
		*have = want;
}

#define ECHO(out, want, field) \
	do { if ((want)->field) (out)->field = (want)->field; } while (0)

static int narrow_key(uint8_t **key, size_t *size, const uint8_t *want, size_t want_size)
{
	if (want_size == FI_AV_AUTH_KEY) {
		*size = want_size;
		return 0;
	}
	if (!want || !want_size)
		return 0;
	free(*key);
	*size = 0;
	*key = malloc(want_size);
	if (!*key)
		return -FI_ENOMEM;
	memcpy(*key, want, want_size);
	*size = want_size;
	return 0;
}

static int narrow_domain(const struct check *ck, struct fi_domain_attr *out)
{
	const struct fi_domain_attr *want = ck->hints->domain_attr;

	out->mr_mode = ck->mr_mode;
	out->max_ep_auth_key = ep_keys(ck);
	out->max_xpu_ctx_cnt = ck->xpu_ctx_cnt;
	if (!want)
		return 0;
	ECHO(out, want, threading);
	ECHO(out, want, data_progress);
	out->control_progress = want->control_progress ? want->control_progress :
							 out->data_progress;
	ECHO(out, want, resource_mgmt);
	ECHO(out, want, av_type);
	ECHO(out, want, tclass);
	raise_size(&out->cq_cnt, want->cq_cnt);
	raise_size(&out->ep_cnt, want->ep_cnt);
	raise_size(&out->tx_ctx_cnt, want->tx_ctx_cnt);
	raise_size(&out->rx_ctx_cnt, want->rx_ctx_cnt);
	raise_size(&out->cntr_cnt, want->cntr_cnt);
	raise_size(&out->mr_cnt, want->mr_cnt);
	if (!ck->lim->auth_key_size)
		return 0;
	return narrow_key(&out->auth_key, &out->auth_key_size, want->auth_key,
			  want->auth_key_size);
}

static int narrow_ep(const struct check *ck, struct fi_ep_attr *out)
{
	const struct fi_ep_attr *want = ck->hints->ep_attr;

	if (!want)
		return 0;
	ECHO(out, want, protocol_version);
	ECHO(out, want, tx_ctx_cnt);
	ECHO(out, want, rx_ctx_cnt);
	if (tag_is_named(ck, want->mem_tag_format))
		out->mem_tag_format = want->mem_tag_format;
	if (!ck->lim->auth_key_size && !is_sealed_above(ck))
		return 0;
	return narrow_key(&out->auth_key, &out->auth_key_size, want->auth_key,
			  want->auth_key_size);
}

static void narrow_tx(const struct check *ck, struct fi_tx_attr *out)
{
	const struct fi_tx_attr *want = ck->hints->tx_attr;

	out->caps = ck->tx_caps;
	out->op_flags = want ? want->op_flags : 0;
	if (!want)
		return;
	ECHO(out, want, msg_order);
	ECHO(out, want, size);
	ECHO(out, want, tclass);
	raise_size(&out->inject_size, want->inject_size);
}

static void narrow_rx(const struct check *ck, struct fi_rx_attr *out)
{
	const struct fi_rx_attr *want = ck->hints->rx_attr;

	out->caps = ck->rx_caps;
	out->op_flags = want ? want->op_flags : 0;
	if (!want)
		return;
	ECHO(out, want, msg_order);
	ECHO(out, want, size);
}

static int narrow_answer(const struct check *ck, struct fi_info *out)
{
	int ret;

	out->next = NULL;
	out->caps = ck->caps;
	out->handle = NULL;
	if (ck->hints->handle && ck->hints->handle->fclass == FI_CLASS_PEP)
		out->handle = ck->hints->handle;
	out->fabric_attr->api_version = ck->version;
	narrow_tx(ck, out->tx_attr);
	narrow_rx(ck, out->rx_attr);
	ret = narrow_domain(ck, out->domain_attr);
	return ret ? ret : narrow_ep(ck, out->ep_attr);
}

int info_check(const struct fi_provider *prov, const struct fi_info *offer,
		   const struct info_limits *limits, const struct fi_info *hints,
		   uint32_t version, const struct explain_label *label, struct fi_info **info_p)
{
	static const struct info_limits no_limits;
	static const struct fi_info no_hints;
	struct check ck = {
		.prov = prov, .offer = offer, .lim = limits ? limits : &no_limits,
		.hints = hints ? hints : &no_hints, .version = version, .label = label,
		.hinted = hints != NULL,
	};
	struct fi_info *info;
	int ret;

	if (check_all(&ck))
		return -FI_ENODATA;
	if (!info_p)
		return 0;
	info = fi_dupinfo(offer);
	if (!info)
		return -FI_ENOMEM;
	ret = narrow_answer(&ck, info);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*info_p = info;
	return 0;
}
