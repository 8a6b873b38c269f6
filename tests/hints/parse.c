/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "../../util/info/names.h"

enum kind { BITS64, BITS32, ENUM32, SIZE, NUM64, TEXT };

/* The field of "key:" below "section:". */
struct field {
	const char *section;
	const char *key;
	enum kind kind;
	enum fi_type type;		/* of the names, for bits and enumerators */
	size_t offset;			/* in the section's struct */
};

#define FIELD(section, key, kind, type, in, member) \
	{ section, key, kind, type, offsetof(struct in, member) }

static const struct field fields[] = {
	FIELD("fi_info", "caps", BITS64, FI_TYPE_CAPS, fi_info, caps),
	FIELD("fi_info", "mode", BITS64, FI_TYPE_MODE, fi_info, mode),
	FIELD("fi_info", "addr_format", ENUM32, FI_TYPE_ADDR_FORMAT, fi_info, addr_format),
	FIELD("fi_tx_attr", "op_flags", BITS64, FI_TYPE_OP_FLAGS, fi_tx_attr, op_flags),
	FIELD("fi_tx_attr", "msg_order", BITS64, FI_TYPE_MSG_ORDER, fi_tx_attr, msg_order),
	FIELD("fi_tx_attr", "inject_size", SIZE, 0, fi_tx_attr, inject_size),
	FIELD("fi_tx_attr", "iov_limit", SIZE, 0, fi_tx_attr, iov_limit),
	FIELD("fi_rx_attr", "op_flags", BITS64, FI_TYPE_OP_FLAGS, fi_rx_attr, op_flags),
	FIELD("fi_rx_attr", "msg_order", BITS64, FI_TYPE_MSG_ORDER, fi_rx_attr, msg_order),
	FIELD("fi_rx_attr", "iov_limit", SIZE, 0, fi_rx_attr, iov_limit),
	FIELD("fi_ep_attr", "type", ENUM32, FI_TYPE_EP_TYPE, fi_ep_attr, type),
	FIELD("fi_ep_attr", "protocol", ENUM32, FI_TYPE_PROTOCOL, fi_ep_attr, protocol),
	FIELD("fi_ep_attr", "mem_tag_format", NUM64, 0, fi_ep_attr, mem_tag_format),
	FIELD("fi_domain_attr", "threading", ENUM32, FI_TYPE_THREADING, fi_domain_attr, threading),
	FIELD("fi_domain_attr", "control_progress", ENUM32, FI_TYPE_PROGRESS, fi_domain_attr,
	      control_progress),
	FIELD("fi_domain_attr", "data_progress", ENUM32, FI_TYPE_PROGRESS, fi_domain_attr,
	      data_progress),
	FIELD("fi_domain_attr", "av_type", ENUM32, FI_TYPE_AV_TYPE, fi_domain_attr, av_type),
	FIELD("fi_domain_attr", "mr_mode", BITS32, FI_TYPE_MR_MODE, fi_domain_attr, mr_mode),
	FIELD("fi_domain_attr", "mr_key_size", SIZE, 0, fi_domain_attr, mr_key_size),
	FIELD("fi_domain_attr", "cq_data_size", SIZE, 0, fi_domain_attr, cq_data_size),
	FIELD("fi_domain_attr", "mode", BITS64, FI_TYPE_MODE, fi_domain_attr, mode),
	FIELD("fi_fabric_attr", "prov_name", TEXT, 0, fi_fabric_attr, prov_name),
};

/* The struct of a section, allocated when its line is read. */
static void *section_of(struct fi_info *info, const char *name)
{
	struct { const char *name; void **slot; size_t size; } part[] = {
		{ "fi_tx_attr", (void **) &info->tx_attr, sizeof(*info->tx_attr) },
		{ "fi_rx_attr", (void **) &info->rx_attr, sizeof(*info->rx_attr) },
		{ "fi_ep_attr", (void **) &info->ep_attr, sizeof(*info->ep_attr) },
		{ "fi_domain_attr", (void **) &info->domain_attr, sizeof(*info->domain_attr) },
		{ "fi_fabric_attr", (void **) &info->fabric_attr, sizeof(*info->fabric_attr) },
	};

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
		if (strcmp(part[i].name, name))
			continue;
		if (!*part[i].slot)
			*part[i].slot = calloc(1, part[i].size);
		return *part[i].slot;
	}
	return NULL;
}

/* "[ A, B ]" to "A|B", which is what the tools read. */
static void bar_list(char *text)
{
	char *out = text;

	for (char *at = text; *at; at++) {
		if (*at == ',')
			*out++ = '|';
		else if (!strchr("[] \t", *at))
			*out++ = *at;
	}
	*out = 0;
}

/* resource_mgmt has no type in fi_tostr(). */
static int set_resource_mgmt(struct fi_domain_attr *dom, const char *val)
{
	dom->resource_mgmt = !strcmp(val, "FI_RM_ENABLED") ? FI_RM_ENABLED :
			     !strcmp(val, "FI_RM_DISABLED") ? FI_RM_DISABLED : FI_RM_UNSPEC;
	return 0;
}

/* Mode bits that programs of 1.x still pass, and that current headers do not name. */
static uint64_t take_retired(enum fi_type type, char *list)
{
	static const struct { const char *name; uint64_t bit; } retired[] = {
		{ "FI_BUFFERED_RECV", 1ULL << 51 },
		{ "FI_RESTRICTED_COMP", 1ULL << 53 },
		{ "FI_NOTIFY_FLAGS_ONLY", 1ULL << 54 },
	};
	uint64_t bits = 0;
	char *at;

	for (size_t i = 0; type == FI_TYPE_MODE && i < sizeof(retired) / sizeof(*retired); i++) {
		at = strstr(list, retired[i].name);
		if (!at)
			continue;
		bits |= retired[i].bit;
		memset(at, '|', strlen(retired[i].name));	/* an empty name is none */
	}
	return bits;
}

/* Protocol numbers have gaps and do not start at 0. */
static int read_enum(enum fi_type type, const char *val, uint32_t *out_p)
{
	if (type != FI_TYPE_PROTOCOL)
		return info_names_enum(type, val, out_p);
	for (*out_p = 0; *out_p < 256; ++*out_p)
		if (!strcmp(fi_tostr(out_p, type), val))
			return 0;
	return -FI_EINVAL;
}

static int set(void *base, const struct field *f, char *val)
{
	void *at = (char *) base + f->offset;
	uint64_t bits, retired;
	char bad[64];
	int ret = 0;

	switch (f->kind) {
	case BITS64:
	case BITS32:
		bar_list(val);
		retired = take_retired(f->type, val);
		ret = info_names_bits(f->type, val, &bits, bad, sizeof(bad));
		if (!ret && f->kind == BITS64)
			*(uint64_t *) at = bits | retired;
		else if (!ret)
			*(int *) at = (int) bits;
		return ret;
	case ENUM32:
		return read_enum(f->type, val, at);
	case SIZE:
		*(size_t *) at = strtoull(val, NULL, 0);
		return 0;
	case NUM64:
		*(uint64_t *) at = strtoull(val, NULL, 0);
		return 0;
	case TEXT:
		*(char **) at = strdup(val);
		return *(char **) at ? 0 : -FI_ENOMEM;
	}
	return -FI_EINVAL;
}

static int set_field(struct fi_info *info, const char *section, const char *key, char *val)
{
	void *base = strcmp(section, "fi_info") ? section_of(info, section) : info;

	if (!base)
		return -FI_EINVAL;
	if (!strcmp(key, "resource_mgmt") && base == info->domain_attr)
		return set_resource_mgmt(base, val);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].section, section) && !strcmp(fields[i].key, key))
			return set(base, &fields[i], val);
	return -FI_EINVAL;
}

/* "    key: value" or "    section:", blanks trimmed off. */
static int take_line(struct hints_call *call, char *section, size_t len, char *text)
{
	char *key = text + strspn(text, " \t"), *val = strchr(key, ':');

	if (!val)
		return -FI_EINVAL;
	*val++ = 0;
	val += strspn(val, " \t");
	if (*val)
		return set_field(call->hints, key - text < 8 ? "fi_info" : section, key, val);
	snprintf(section, len, "%s", key);
	return !strcmp(key, "fi_info") || section_of(call->hints, key) ? 0 : -FI_EINVAL;
}

static int take_head(struct hints_call *call, const char *text)
{
	unsigned int major, minor;
	unsigned long flags;
	const char *at = strstr(text, "flags=");

	if (sscanf(text, "== fi_getinfo(version %u.%u,", &major, &minor) != 2 || !at ||
	    sscanf(at, "flags=%lx", &flags) != 1)
		return -FI_EINVAL;
	memset(call, 0, sizeof(*call));
	call->version = FI_VERSION(major, minor);
	call->flags = flags;
	return 0;
}

int hints_next(FILE *f, struct hints_call *call_p, int *line)
{
	char text[1024], section[64] = "";
	int found = 0, ret = 0;

	while (!ret && fgets(text, sizeof(text), f)) {
		++*line;
		text[strcspn(text, "\n")] = 0;
		if (!*text && found)
			break;
		if (!*text)
			continue;
		if (!found) {
			ret = take_head(call_p, text);
			found = 1;
		} else if (strcmp(text, "hints=NULL")) {
			if (!call_p->hints)
				call_p->hints = calloc(1, sizeof(*call_p->hints));
			ret = take_line(call_p, section, sizeof(section), text);
		}
	}
	if (ret)
		hints_free(call_p);
	return ret ? ret : found;
}

void hints_free(struct hints_call *call)
{
	fi_freeinfo(call->hints);
	call->hints = NULL;
}
