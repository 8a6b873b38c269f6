/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Whether an endpoint may be made, and with which keys.  What cannot protect refuses: never in the clear. */
#include <rdma/fi_errno.h>

#include "obj/fabric.h"
#include "secure/policy.h"

static int refuse_ep(const struct obj_fabric *fabric, const char *why)
{
	FI_WARN(fabric->prov, FI_LOG_EP_CTRL, "no endpoint is made: %s\n", why);
	return -FI_EACCES;
}

static struct sec_source get_source(const struct fi_ep_attr *ep, const struct fi_domain_attr *domain)
{
	struct sec_source source = { .ep_key = ep->auth_key, .ep_key_len = ep->auth_key_size };

	if (domain && domain->auth_key_size != FI_AV_AUTH_KEY) {
		source.domain_key = domain->auth_key;
		source.domain_key_len = domain->auth_key_size;
	}
	return source;
}

/* can_protect - has this provider, and the one below it, protection for an endpoint?  The key may be the domain's. */
static bool can_protect(const struct obj_fabric *fabric, const struct fi_info *info, const struct fi_domain_attr *domain)
{
	struct fi_info asked = *info;

	if (domain)
		asked.domain_attr = (struct fi_domain_attr *) domain;	/* which is only read */
	return fabric->secures && (!fabric->ops->protects || fabric->ops->protects(fabric, &asked));
}

/* waits_for_key - the key comes from the address vector, once that is bound (obj/av_key.h).   Returns 0 where it can. */
static int waits_for_key(const struct obj_fabric *fabric, const struct fi_info *info, const struct fi_domain_attr *domain)
{
	enum sec_level level;

	if (info->ep_attr->type == FI_EP_MSG || !domain || domain->auth_key_size != FI_AV_AUTH_KEY) {
		FI_WARN(fabric->prov, FI_LOG_EP_CTRL, "no endpoint is made: FI_AV_AUTH_KEY is for endpoints with an address "
			"vector, and set for their domain\n");
		return -FI_EINVAL;
	}
	if (sec_policy_wish(true, &level) && !can_protect(fabric, info, domain))
		return refuse_ep(fabric, "FI_AV_AUTH_KEY asks for protection, and this provider, or the one below it, "
				 "has none; see fi_security(7)");
	return 0;
}

int obj_security_get(const struct obj_fabric *fabric, const struct fi_info *info,
		     const struct fi_domain_attr *domain, struct sec_policy **policy_p)
{
	struct sec_source source = get_source(info->ep_attr, domain ? domain : info->domain_attr);
	char why[SEC_WHY_MAX];
	enum sec_level level;
	int ret;

	*policy_p = NULL;
	if (sec_is_sealed_above(info->ep_attr->auth_key, info->ep_attr->auth_key_size))
		return 0;
	if (source.ep_key_len == FI_AV_AUTH_KEY)
		return waits_for_key(fabric, info, domain);
	if ((source.ep_key_len && !source.ep_key) || (source.domain_key_len && !source.domain_key))
		return refuse_ep(fabric, "auth_key_size is set, and auth_key is NULL");
	if (!sec_policy_wish(source.ep_key_len || source.domain_key_len, &level))
		return 0;
	if (!can_protect(fabric, info, domain))
		return refuse_ep(fabric, "FI_SECURITY, a key in FI_AUTH_KEY_FILE or auth_key asks for protection, "
				 "and this provider, or the one below it, has none; see fi_security(7)");
	ret = sec_policy_open(&source, policy_p, why);
	return ret == -FI_EACCES ? refuse_ep(fabric, why) : ret;
}
