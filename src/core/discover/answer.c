/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "core/answer.h"
#include "core/info.h"
#include "core/nic.h"
#include "core/openfabric.h"
#include "core/registry.h"
#include "core/why.h"

static int name_fill(const struct core_answer *answer, struct fi_info *info)
{
	struct fi_fabric_attr *attr = info->fabric_attr;

	if (!attr) {
		attr = info->fabric_attr = calloc(1, sizeof(*attr));
		if (!attr)
			return -FI_ENOMEM;
	}
	free(attr->prov_name);
	attr->prov_name = strdup(answer->name);
	if (!attr->prov_name)
		return -FI_ENOMEM;
	attr->prov_version = answer->prov->version;
	attr->api_version = answer->version;
	return 0;
}

/* The copy must stay valid when the provider's code is unloaded. */
static void nic_fill(const struct core_answer *answer, struct fi_info *info)
{
	if (answer->prov->module->path && !core_nic_adopt(&info->nic))
		core_registry_pin(answer->prov);
}

static bool fabric_fill(const struct core_answer *answer, struct fi_info *info)
{
	const struct fi_info *hints = answer->hints;
	struct fid_fabric *want = hints && hints->fabric_attr ?
				  hints->fabric_attr->fabric : NULL;

	if (!want) {
		info->fabric_attr->fabric = core_openfabric_find(info->fabric_attr);
		return true;
	}
	info->fabric_attr->fabric = want;
	if (core_openfabric_is(want, info->fabric_attr))
		return true;
	core_why(answer->name, info, "fabric_attr->fabric", "another open fabric",
		 info->fabric_attr->name);
	return false;
}

static bool mrmode_fill(const struct core_answer *answer, struct fi_info *info)
{
	int bits = info->domain_attr ? info->domain_attr->mr_mode : 0;

	if (core_mrmode_answer(answer->mrmode, answer->hints, info))
		return true;
	core_why(answer->name, info, "domain_attr->mr_mode",
		 answer->mrmode == CORE_MRMODE_SCALABLE ? "FI_MR_SCALABLE" :
							  "FI_MR_BASIC",
		 fi_tostr(&bits, FI_TYPE_MR_MODE));
	return false;
}

int core_answer_finish(const struct core_answer *answer, struct fi_info **list_p)
{
	struct fi_info *info, **link = list_p;
	int ret;

	while ((info = *link)) {
		ret = name_fill(answer, info);
		if (ret) {
			core_info_free(*list_p, &core_layout_now);
			*list_p = NULL;
			return ret;
		}
		nic_fill(answer, info);
		if (fabric_fill(answer, info) && mrmode_fill(answer, info)) {
			link = &info->next;
			continue;
		}
		*link = info->next;
		info->next = NULL;
		core_info_free(info, &core_layout_now);
	}
	return 0;
}

struct fi_info *core_answer_provider(const struct core_answer *answer)
{
	struct fi_info *info = core_info_dup(NULL, &core_layout_now);

	if (info && name_fill(answer, info)) {
		core_info_free(info, &core_layout_now);
		info = NULL;
	}
	return info;
}
