/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider: what it offers, and fi_getinfo().
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/provider.h"
#include "coll/register.h"
#include "engine/api.h"
#include "engine/offer.h"
#include "info/check.h"
#include "link.h"
#include "name.h"

static struct fi_provider loop_prov;
static struct eng_offer offer;

static void define_offer(void)
{
	eng_offer_fill(&offer, &(struct eng_offer_of) {
		.type = FI_EP_RDM,
		.protocol = FI_PROTO_UNSPEC,
		.protocol_version = 1,
		.reach = FI_LOCAL_COMM,
		.progress = FI_PROGRESS_MANUAL,
		.inject_size = ENG_INJECT_MAX,
		.tx_size = loop_conf.tx_size,
		.rx_size = loop_conf.rx_size,
	});
	offer.info.addr_format = FI_ADDR_STR;
	offer.domain.name = (char *) "loop";
	offer.fabric.name = (char *) "loop";
	offer.fabric.prov_name = (char *) "loop";
}

/* set_name - Errors: -FI_ENOMEM. */
static int set_name(const char *name, void **addr_p, size_t *len_p)
{
	*addr_p = name ? strdup(name) : NULL;
	*len_p = name ? strlen(name) + 1 : 0;
	return name && !*addr_p ? -FI_ENOMEM : 0;
}

/* set_names - node and service before the addresses of the hints; see fi_getinfo(3). */
static int set_names(struct fi_info *info, const char *node, const char *service, uint64_t flags,
		     const struct fi_info *hints)
{
	const char *src = hints ? loop_name_hint(hints->src_addr, hints->src_addrlen) : NULL;
	const char *dest = hints ? loop_name_hint(hints->dest_addr, hints->dest_addrlen) : NULL;
	char given[LOOP_NAME_MAX], any[LOOP_NAME_MAX];
	int ret = loop_name_make(node, service, given);

	loop_name_make(NULL, NULL, any);
	if (ret) {
		FI_WARN(&loop_prov, FI_LOG_CORE, "no endpoint of this process has the node '%s' and the "
			"service '%s'\n", node ? node : "", service ? service : "");
		return ret;
	}
	if (flags & FI_SOURCE)
		src = given;
	else if (node || service)
		dest = given;
	ret = set_name(src ? src : any, &info->src_addr, &info->src_addrlen);
	return ret ? ret : set_name(dest, &info->dest_addr, &info->dest_addrlen);
}

static int loop_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
			const struct fi_info *hints, struct fi_info **info_p)
{
	const struct explain_label label = { .domain = offer.domain.name };
	struct fi_info *info;
	int ret;

	ret = info_check(&loop_prov, &offer.info, &eng_offer_limits, hints, version, &label, &info);
	if (ret)
		return ret;
	ret = set_names(info, node, service, flags, hints);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*info_p = info;
	return 0;
}

static int loop_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	static const struct eng_domain_ops domain = { .named = loop_name_own };

	return eng_fabric_open(&loop_prov, &loop_link_ops, &domain, attr, fabric, context);
}

static struct fi_provider loop_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "loop",
	.getinfo = loop_getinfo,
	.fabric = loop_fabric,
};

OFI_PROVIDER_INI(loop)
{
	coll_register();
	define_offer();
	return &loop_prov;
}
