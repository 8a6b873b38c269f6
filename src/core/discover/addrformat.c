/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <strings.h>

#include "core/answer.h"
#include "core/env.h"
#include "core/info.h"
#include "core/log.h"
#include "core/text.h"
#include "core/why.h"

/* The formats that may be named. */
static const struct format {
	const char *name;
	uint32_t value;
} formats[] = {
	{ "FI_SOCKADDR", FI_SOCKADDR },
	{ "FI_SOCKADDR_IN", FI_SOCKADDR_IN },
	{ "FI_SOCKADDR_IN6", FI_SOCKADDR_IN6 },
	{ "FI_SOCKADDR_IB", FI_SOCKADDR_IB },
	{ "FI_ADDR_IB_UD", FI_ADDR_IB_UD },
	{ "FI_ADDR_EFA", FI_ADDR_EFA },
	{ "FI_ADDR_PSMX3", FI_ADDR_PSMX3 },
	{ "FI_ADDR_OPX", FI_ADDR_OPX },
	{ "FI_ADDR_CXI", FI_ADDR_CXI },
	{ "FI_ADDR_STR", FI_ADDR_STR },
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const struct format *wanted;	/* NULL: any; constant from core_init() on */

static void warn_unknown(const char *value)
{
	struct core_text text;
	char names[256];
	size_t i;

	core_text_init(&text, names, sizeof(names));
	for (i = 0; i < FORMATS; i++)
		core_text_add(&text, "%s%s", i ? ", " : "", formats[i].name);
	CORE_WARN("FI_ADDR_FORMAT=%s is ignored, it must be one of: %s", value, names);
}

void core_addrformat_init(void)
{
	const char *value = core_env_get("FI_ADDR_FORMAT");
	size_t i;

	if (!value || !*value)
		return;
	for (i = 0; i < FORMATS && strcasecmp(value, formats[i].name); i++)
		;
	if (i < FORMATS)
		wanted = &formats[i];
	else
		warn_unknown(value);
}

static void info_drop(struct fi_info **link)
{
	struct fi_info *info = *link;
	char offered[32];

	core_why(info->fabric_attr->prov_name, info, "FI_ADDR_FORMAT", wanted->name,
		 fi_tostr_r(offered, sizeof(offered), &info->addr_format, FI_TYPE_ADDR_FORMAT));
	*link = info->next;
	info->next = NULL;
	core_info_free(info, &core_layout_now);
}

bool core_addrformat_filter(struct fi_info **list_p)
{
	struct fi_info **link = list_p;
	size_t dropped = 0;

	while (wanted && *link) {
		if ((*link)->addr_format == wanted->value) {
			link = &(*link)->next;
			continue;
		}
		info_drop(link);
		dropped++;
	}
	if (dropped && !*list_p)
		FI_WARN_ONCE(&core_prov, FI_LOG_CORE, "FI_ADDR_FORMAT=%s leaves none of %zu "
			     "endpoints that fi_getinfo() would offer: name the format of one of "
			     "them (fi_info -v), or unset it", wanted->name, dropped);
	return dropped != 0;
}
