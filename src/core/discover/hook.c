/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_errno.h>

#include "core/hook.h"
#include "core/log.h"
#include "core/registry.h"
#include "core/words.h"

#define NAME_MAX_LEN 64

static const char prefix[] = "ofi_hook_";

/* The full name of a hook: "trace" stands for "ofi_hook_trace".  False if it is too long. */
static bool whole_name(const char *word, size_t len, char name[NAME_MAX_LEN])
{
	const char *before = strncasecmp(word, prefix, sizeof(prefix) - 1) ? prefix : "";

	return snprintf(name, NAME_MAX_LEN, "%s%.*s", before, (int) len, word) < NAME_MAX_LEN;
}

static struct fid_fabric *hook_by_name(const char *name, const struct fi_fabric_attr *attr,
				       struct fid_fabric *fabric)
{
	struct core_prov *prov = core_registry_hold_name(name);
	struct fi_fabric_attr inner = *attr;
	struct fid_fabric *outer = NULL;
	int ret;

	if (!prov) {
		CORE_WARN("FI_HOOK names %s, which is not available: fi_info -l lists the hooks that "
			  "are", name);
		return fabric;
	}
	core_registry_pin(prov);	/* the program's objects point to its functions */
	inner.fabric = fabric;
	ret = prov->fi->fabric(&inner, &outer, NULL);
	core_prov_put(prov, false);
	if (!ret)
		return outer;
	CORE_WARN("hook %s could not be applied to fabric %s of %s, which is used without it: %s", name,
		  attr->name ? attr->name : "-", attr->prov_name, fi_strerror(-ret));
	return fabric;
}

struct fid_fabric *core_hook(const struct fi_fabric_attr *attr, struct fid_fabric *fabric)
{
	char name[NAME_MAX_LEN];
	const char *word, *rest;
	char *names = NULL;
	size_t len;

	if (fi_param_get_str(NULL, "hook", &names) || !names)
		return fabric;
	for (rest = names; (word = core_words_next(&rest, ';', &len)); )
		if (whole_name(word, len, name))
			fabric = hook_by_name(name, attr, fabric);
		else
			CORE_WARN("FI_HOOK: \"%.*s\" is not the name of a hook", (int) len, word);
	return fabric;
}
