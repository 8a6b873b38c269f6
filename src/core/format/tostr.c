/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <string.h>

#include "base/release.h"
#include "core/export.h"
#include "core/names.h"
#include "core/tostr.h"

#define OWN_VERSION FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

#define TOSTR_SIZE 8192

void core_tostr_named(struct core_text *text, int depth, const char *key,
		      enum fi_type type, uint64_t value)
{
	if (!core_names_kind(type)) {
		core_text_line(text, depth, key, "%s",
			       core_name_of(type, (uint32_t) value));
		return;
	}
	core_text_add(text, "%*s%s: [ ", 4 * depth, "", key);
	core_names_of(text, type, value);
	core_text_add(text, " ]\n");
}

/* A value of a named type; @data has exactly the size of that type. */
static void tostr_named(struct core_text *text, enum fi_type type, const void *data)
{
	uint32_t narrow;
	uint64_t value;

	if (!data) {
		core_text_add(text, "(null)");
		return;
	}
	if (core_names_bytes(type) == sizeof(value)) {
		memcpy(&value, data, sizeof(value));
	} else {
		memcpy(&narrow, data, sizeof(narrow));
		value = narrow;
	}
	if (core_names_kind(type))
		core_names_of(text, type, value);
	else
		core_text_add(text, "%s", core_name_of(type, (uint32_t) value));
}

/* A switch over the types, one case for each. */
static void tostr_type(struct core_text *text, enum fi_type type, const void *data)
{
	switch (type) {
	case FI_TYPE_INFO:
		core_tostr_info(text, data);
		break;
	case FI_TYPE_TX_ATTR:
		core_tostr_tx(text, 0, data);
		break;
	case FI_TYPE_RX_ATTR:
		core_tostr_rx(text, 0, data);
		break;
	case FI_TYPE_EP_ATTR:
		core_tostr_ep(text, 0, data, OWN_VERSION);
		break;
	case FI_TYPE_DOMAIN_ATTR:
		core_tostr_domain(text, 0, data, OWN_VERSION);
		break;
	case FI_TYPE_FABRIC_ATTR:
		core_tostr_fabric(text, 0, data);
		break;
	case FI_TYPE_VERSION:
		core_text_add(text, "%s", release_long());
		break;
	case FI_TYPE_FID:
		core_tostr_fid(text, data);
		break;
	case FI_TYPE_AV_ATTR:
		core_tostr_av(text, data);
		break;
	case FI_TYPE_CQ_ATTR:
		core_tostr_cq(text, data);
		break;
	case FI_TYPE_MR_ATTR:
		core_tostr_mr(text, data);
		break;
	case FI_TYPE_CNTR_ATTR:
		core_tostr_cntr(text, data);
		break;
	case FI_TYPE_CQ_ERR_ENTRY:
		core_tostr_cq_err(text, data);
		break;
	default:
		if (core_names_kind(type) < 0)
			core_text_add(text, "Unknown type");
		else
			tostr_named(text, type, data);
	}
}

CORE_EXPORT
char *fi_tostr_r(char *buf, size_t len, const void *data, enum fi_type datatype)
{
	struct core_text text;

	if (!buf || !len)
		return buf;
	core_text_init(&text, buf, len);
	tostr_type(&text, datatype, data);
	return buf;
}

/* One buffer per thread, so that threads do not overwrite each other's text. */
CORE_EXPORT
char *fi_tostr(const void *data, enum fi_type datatype)
{
	static _Thread_local char buf[TOSTR_SIZE];

	return fi_tostr_r(buf, sizeof(buf), data, datatype);
}
