/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider: its attributes and names, and its entry points.
 */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/provider.h"
#include "channel/select.h"
#include "coll/register.h"
#include "engine/api.h"
#include "engine/offer.h"
#include "info/check.h"
#include "secure/key.h"
#include "name.h"
#include "wire.h"

static struct fi_provider shm_prov;
static struct eng_offer offer;
static struct info_limits limits;	/* eng_offer_limits, and that connections can be protected */

static void define_offer(void)
{
	eng_offer_fill(&offer, &(struct eng_offer_of) {
		.type = FI_EP_RDM,
		.protocol = FI_PROTO_SHM,
		.protocol_version = SHM_VERSION,	/* of this library's own format */
		.reach = FI_LOCAL_COMM,
		.progress = FI_PROGRESS_MANUAL,
		.inject_size = ENG_INJECT_MAX,
		.tx_size = shm_conf.tx_size,
		.rx_size = shm_conf.rx_size,
	});
	offer.info.addr_format = FI_ADDR_STR;
	offer.domain.name = (char *) "shm";
	offer.fabric.name = (char *) "shm";
	offer.fabric.prov_name = (char *) "shm";
}

/* ---- names ----------------------------------------------------------------------------- */

/* set_name - an address of a fi_info.  Errors: -FI_ENOMEM. */
static int set_name(const char *name, void **addr, size_t *len)
{
	*addr = strdup(name);
	*len = strlen(name) + 1;
	return *addr ? 0 : -FI_ENOMEM;
}

static int make_ep_name(const char *node, const char *service, char name[SHM_NAME_MAX])
{
	int ret = shm_name_make(node, service, name);

	if (ret)
		FI_WARN(&shm_prov, FI_LOG_CORE, "a name made of node '%s' and service '%s' is too "
			"long: %d characters are the most\n", node ? node : "",
			service ? service : "", SHM_NAME_MAX - 1);
	return ret;
}

static int add_names(struct fi_info *info, const char *node, const char *service, uint64_t flags,
		     const struct fi_info *hints)
{
	const char *src = hints ? shm_name_hint(hints->src_addr, hints->src_addrlen) : NULL;
	const char *dest = hints ? shm_name_hint(hints->dest_addr, hints->dest_addrlen) : NULL;
	char from[SHM_NAME_MAX], to[SHM_NAME_MAX];
	int ret;

	ret = make_ep_name(flags & FI_SOURCE ? node : NULL, flags & FI_SOURCE ? service : NULL, from);
	if (!ret && !(flags & FI_SOURCE) && (node || service)) {
		ret = make_ep_name(node, service, to);
		dest = to;
	}
	if (ret)
		return ret;
	ret = set_name(src && !(flags & FI_SOURCE) ? src : from, &info->src_addr,
		       &info->src_addrlen);
	if (!ret && dest)
		ret = set_name(dest, &info->dest_addr, &info->dest_addrlen);
	return ret;
}

static bool is_numeric(const char *node)
{
	struct in6_addr addr;

	return strstr(node, "://") || inet_pton(AF_INET, node, &addr) == 1 ||
	       inet_pton(AF_INET6, node, &addr) == 1;
}

static int shm_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info_p)
{
	const struct explain_label label = { .domain = offer.domain.name };
	struct fi_info *info;
	int ret;

	if ((flags & FI_NUMERICHOST) && node && !is_numeric(node)) {
		explain_refusal(&shm_prov, &label, "FI_EP_RDM", "node", node, "a numeric address");
		return -FI_ENODATA;
	}
	ret = info_check(&shm_prov, &offer.info, &limits, hints, version, &label,
			     &info);
	if (ret)
		return ret;
	ret = add_names(info, node, service, flags, hints);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*info_p = info;
	return 0;
}

/* ---- objects ----------------------------------------------------------------------------- */

static int shm_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	static const struct eng_domain_ops domain = { .named = shm_name_own };

	chan_local_prepare();
	return eng_fabric_open(&shm_prov, &shm_link_ops, &domain, attr, fabric, context);
}

static struct fi_provider shm_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "shm",
	.getinfo = shm_getinfo,
	.fabric = shm_fabric,
};

OFI_PROVIDER_INI(shm)
{
	coll_register();
	shm_conf_define(&shm_conf, &shm_prov);
	define_offer();
	limits = eng_offer_limits;
	limits.secures = limits.keys_alone = true;
	limits.auth_key_size = SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE;
	return &shm_prov;
}
