/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>

#include "core/ask.h"
#include "core/export.h"
#include "core/fabric.h"
#include "core/hook.h"
#include "core/init.h"
#include "core/log.h"
#include "core/openfabric.h"
#include "core/registry.h"

/* Opens a fabric of @prov; on success the fabric takes over the hold. */
static int fabric_open(struct core_prov *prov, struct fi_fabric_attr *attr,
		       struct fid_fabric **fabric_p, void *context)
{
	struct fid_fabric *fabric = NULL;
	int ret;

	ret = prov->fi->fabric(attr, &fabric, context);
	if (ret)
		return ret;
	fabric->api_version = attr->api_version;
	/* Hooks come after this, so that the object that the program closes is the outermost. */
	if (!core_openfabric_has(fabric))
		fabric = core_hook(attr, fabric);
	ret = core_openfabric_add(fabric, prov, attr);
	if (ret) {
		fi_close(&fabric->fid);
		return ret;
	}
	*fabric_p = fabric;
	return 0;
}

int core_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		     void *context)
{
	struct core_prov *prov;
	struct core_ask ask;
	int ret;

	if (!attr || !fabric_p || !attr->prov_name || !*attr->prov_name)
		return -FI_EINVAL;
	core_init();
	ret = core_ask_init(&ask, attr->prov_name, 0);
	if (ret) {
		CORE_WARN("fi_fabric: \"%s\" names no provider", attr->prov_name);
		return -FI_EINVAL;
	}
	prov = core_registry_hold_name(*ask.layer ? ask.layer : ask.core);
	if (!prov) {
		CORE_WARN("fi_fabric: provider %s is not available: fi_info -l lists those that are",
			  attr->prov_name);
		return -FI_ENODEV;
	}
	ret = fabric_open(prov, attr, fabric_p, context);
	if (ret) {
		CORE_INFO("provider %s did not open fabric %s: %s", attr->prov_name,
			  attr->name ? attr->name : "-", fi_strerror(ret));
		core_prov_put(prov, true);
	}
	return ret;
}

CORE_EXPORT
int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return core_fabric_open(attr, fabric, context);
}

CORE_EXPORT
int fi_fabric2(struct fi_info *info, struct fid_fabric **fabric, uint64_t flags,
	       void *context)
{
	if (!info)
		return -FI_EINVAL;
	if (flags)
		return -FI_EBADFLAGS;
	return core_fabric_open(info->fabric_attr, fabric, context);
}

CORE_EXPORT
uint32_t fi_version(void)
{
	return FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
}
