/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The symbol versions of older releases.
 *
 * Input structs are copied, as far as the caller's layout reaches, into current ones.  Output
 * structs are current ones, of which the caller sees the beginning, without the members that it
 * would not free.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include <rdma/fi_errno.h>

#include "core/compat.h"
#include "core/export.h"
#include "core/fabric.h"
#include "core/getinfo.h"
#include "core/info.h"

/* ---- every old struct is a prefix of the current one ------------------------------ */

#define SAME(old, now, member)							\
	static_assert(offsetof(struct old, member) == offsetof(struct now, member) && \
		      sizeof(((struct old *) 0)->member) ==			\
		      sizeof(((struct now *) 0)->member), #old " " #member)

SAME(fi_tx_attr_1_0, fi_tx_attr, comp_order);
SAME(fi_tx_attr_1_0, fi_tx_attr, inject_size);
SAME(fi_tx_attr_1_0, fi_tx_attr, rma_iov_limit);
SAME(fi_ep_attr_1_0, fi_ep_attr, protocol_version);
SAME(fi_ep_attr_1_0, fi_ep_attr, mem_tag_format);
SAME(fi_ep_attr_1_0, fi_ep_attr, rx_ctx_cnt);
SAME(fi_ep_attr_1_9, fi_ep_attr, auth_key);
SAME(fi_fabric_attr_1_0, fi_fabric_attr, prov_name);
SAME(fi_fabric_attr_1_0, fi_fabric_attr, prov_version);
SAME(fi_domain_attr_1_0, fi_domain_attr, data_progress);
SAME(fi_domain_attr_1_0, fi_domain_attr, mr_mode);
SAME(fi_domain_attr_1_0, fi_domain_attr, max_ep_srx_ctx);
SAME(fi_domain_attr_1_1, fi_domain_attr, auth_key);
SAME(fi_domain_attr_1_1, fi_domain_attr, mr_cnt);
SAME(fi_domain_attr_1_3, fi_domain_attr, tclass);
SAME(fi_domain_attr_1_7, fi_domain_attr, max_ep_auth_key);
SAME(fi_domain_attr_1_8, fi_domain_attr, max_group_id);
SAME(fi_domain_attr_1_9, fi_domain_attr, max_err_cntr_value);
SAME(fi_info_1_0, fi_info, addr_format);
SAME(fi_info_1_0, fi_info, handle);
SAME(fi_info_1_0, fi_info, fabric_attr);
SAME(fi_info_1_2, fi_info, nic);

/* abi/abi-old-structs.tsv */
static_assert(sizeof(struct fi_tx_attr_1_0) == 72, "");
static_assert(sizeof(struct fi_ep_attr_1_0) == 80, "");
static_assert(sizeof(struct fi_ep_attr_1_9) == 96, "");
static_assert(sizeof(struct fi_fabric_attr_1_0) == 32, "");
static_assert(sizeof(struct fi_domain_attr_1_0) == 120, "");
static_assert(sizeof(struct fi_domain_attr_1_1) == 184, "");
static_assert(sizeof(struct fi_domain_attr_1_3) == 192, "");
static_assert(sizeof(struct fi_domain_attr_1_7) == 200, "");
static_assert(sizeof(struct fi_domain_attr_1_8) == 208, "");
static_assert(sizeof(struct fi_domain_attr_1_9) == 224, "");
static_assert(sizeof(struct fi_info_1_0) == 112, "");
static_assert(sizeof(struct fi_info_1_1) == 112, "");
static_assert(sizeof(struct fi_info_1_2) == 120, "");
static_assert(sizeof(struct fi_info_1_3) == 120, "");
static_assert(sizeof(struct fi_info_1_7) == 120, "");
static_assert(sizeof(struct fi_info_1_8) == 120, "");
static_assert(sizeof(struct fi_info_1_9) == 120, "");

/* ---- layouts --------------------------------------------------------------------- */

/* The size up to the end of the last member: what follows is padding and undefined. */
#define REACH(type, last)	(offsetof(struct type, last) +			\
				 sizeof(((struct type *) 0)->last))

#define LAYOUT(ver, newest_, info_last, tx_attr, tx_last, ep_attr, ep_last, domain_attr,	\
	       domain_last, fabric_attr, fabric_last)				\
	static const struct core_layout layout_##ver = {			\
		.newest = newest_,						\
		.info = REACH(fi_info_##ver, info_last),			\
		.tx = REACH(tx_attr, tx_last),					\
		.rx = sizeof(struct fi_rx_attr),				\
		.ep = REACH(ep_attr, ep_last),					\
		.domain = REACH(domain_attr, domain_last),			\
		.fabric = REACH(fabric_attr, fabric_last),			\
	}

LAYOUT(1_0, FI_VERSION(1, 4), fabric_attr, fi_tx_attr_1_0, rma_iov_limit, fi_ep_attr_1_0, rx_ctx_cnt,
       fi_domain_attr_1_0, max_ep_srx_ctx, fi_fabric_attr_1_0, prov_version);
LAYOUT(1_1, FI_VERSION(1, 6), fabric_attr, fi_tx_attr_1_0, rma_iov_limit, fi_ep_attr_1_9, auth_key,
       fi_domain_attr_1_1, mr_cnt, fi_fabric_attr, api_version);
LAYOUT(1_2, FI_VERSION(1, 8), nic, fi_tx_attr_1_0, rma_iov_limit, fi_ep_attr_1_9, auth_key,
       fi_domain_attr_1_1, mr_cnt, fi_fabric_attr, api_version);
LAYOUT(1_3, FI_VERSION(1, 19), nic, fi_tx_attr, tclass, fi_ep_attr_1_9, auth_key,
       fi_domain_attr_1_3, tclass, fi_fabric_attr, api_version);
LAYOUT(1_7, FI_VERSION(1, 22), nic, fi_tx_attr, tclass, fi_ep_attr_1_9, auth_key,
       fi_domain_attr_1_7, max_ep_auth_key, fi_fabric_attr, api_version);
LAYOUT(1_8, FI_VERSION(2, 4), nic, fi_tx_attr, tclass, fi_ep_attr_1_9, auth_key,
       fi_domain_attr_1_8, max_group_id, fi_fabric_attr, api_version);
LAYOUT(1_9, FI_VERSION(2, 6), nic, fi_tx_attr, tclass, fi_ep_attr_1_9, auth_key,
       fi_domain_attr_1_9, max_err_cntr_value, fi_fabric_attr, api_version);

/* ---- the three calls, in any layout ----------------------------------------------- */

/* limit_version - a program may ask for the interface of the library that it runs with, by fi_version(): its
 * structs are those of the headers that it was built with.
 */
static uint32_t limit_version(const struct core_layout *layout, uint32_t version)
{
	bool ours = !FI_VERSION_LT(fi_version(), version);

	return ours && FI_VERSION_LT(layout->newest, version) ? layout->newest : version;
}

static int old_getinfo(const struct core_layout *layout, uint32_t version,
		       const char *node, const char *service, uint64_t flags,
		       const void *hints, void *info_p)
{
	struct fi_info *copy = NULL, *list = NULL;
	int ret;

	if (!info_p)
		return -FI_EINVAL;
	*(void **) info_p = NULL;
	if (hints) {
		copy = core_info_dup(hints, layout);
		if (!copy)
			return -FI_ENOMEM;
	}
	ret = core_getinfo(limit_version(layout, version), node, service, flags, copy, &list);
	if (copy)
		core_info_free(copy, &core_layout_now);
	if (ret)
		return ret;
	core_info_narrow(list, layout);
	*(void **) info_p = list;
	return 0;
}

static void *old_dupinfo(const struct core_layout *layout, const void *info)
{
	return core_info_dup(info, layout);
}

static void old_freeinfo(const struct core_layout *layout, void *info)
{
	core_info_free(info, layout);
}

#define OLD_INFO_CALLS(ver, node)							\
	CORE_EXPORT									\
	int core_getinfo_##ver(uint32_t version, const char *node_, const char *service, \
			       uint64_t flags, const struct fi_info_##ver *hints,	\
			       struct fi_info_##ver **info);				\
	CORE_EXPORT									\
	int core_getinfo_##ver(uint32_t version, const char *node_, const char *service, \
			       uint64_t flags, const struct fi_info_##ver *hints,	\
			       struct fi_info_##ver **info)				\
	{										\
		return old_getinfo(&layout_##ver, version, node_, service, flags,	\
				   hints, info);					\
	}										\
	CORE_OLD_VERSION(core_getinfo_##ver, fi_getinfo, node)				\
											\
	CORE_EXPORT									\
	struct fi_info_##ver *core_dupinfo_##ver(const struct fi_info_##ver *info);	\
	CORE_EXPORT									\
	struct fi_info_##ver *core_dupinfo_##ver(const struct fi_info_##ver *info)	\
	{										\
		return old_dupinfo(&layout_##ver, info);				\
	}										\
	CORE_OLD_VERSION(core_dupinfo_##ver, fi_dupinfo, node)				\
											\
	CORE_EXPORT									\
	void core_freeinfo_##ver(struct fi_info_##ver *info);				\
	CORE_EXPORT									\
	void core_freeinfo_##ver(struct fi_info_##ver *info)				\
	{										\
		old_freeinfo(&layout_##ver, info);					\
	}										\
	CORE_OLD_VERSION(core_freeinfo_##ver, fi_freeinfo, node)

OLD_INFO_CALLS(1_0, FABRIC_1.0)
OLD_INFO_CALLS(1_1, FABRIC_1.1)
OLD_INFO_CALLS(1_2, FABRIC_1.2)
OLD_INFO_CALLS(1_3, FABRIC_1.3)
OLD_INFO_CALLS(1_7, FABRIC_1.7)
OLD_INFO_CALLS(1_8, FABRIC_1.8)
OLD_INFO_CALLS(1_9, FABRIC_1.9)

/* ---- fi_fabric without api_version -------------------------------------------------- */

CORE_EXPORT
int core_fabric_1_0(struct fi_fabric_attr_1_0 *attr, struct fid_fabric **fabric,
		    void *context);

/* Such a program cannot say which interface it uses; it is taken to be 1.0. */
CORE_EXPORT
int core_fabric_1_0(struct fi_fabric_attr_1_0 *attr, struct fid_fabric **fabric,
		    void *context)
{
	struct fi_fabric_attr now;

	if (!attr)
		return -FI_EINVAL;
	now = (struct fi_fabric_attr) {
		.fabric = attr->fabric,
		.name = attr->name,
		.prov_name = attr->prov_name,
		.prov_version = attr->prov_version,
		.api_version = FI_VERSION(1, 0),
	};
	return core_fabric_open(&now, fabric, context);
}
CORE_OLD_VERSION(core_fabric_1_0, fi_fabric, FABRIC_1.0)
