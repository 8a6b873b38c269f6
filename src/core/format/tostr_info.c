/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <inttypes.h>

#include "core/names.h"
#include "core/tostr.h"

/* Lines for the fields of "attr", one level below its head at "depth". */
#define LINE(key, fmt, value)	core_text_line(text, depth + 1, key, fmt, value)
#define SIZE(field)		LINE(#field, "%zu", attr->field)
#define NAMED(field, type)						\
	core_tostr_named(text, depth + 1, #field, type, (uint64_t) attr->field)

static const char *or_null(const char *s)
{
	return s ? s : "(null)";
}

/* The completion order bits of older interfaces that are still used. */
static void comp_order(struct core_text *text, int depth, uint64_t order)
{
	bool strict = (order & FI_ORDER_STRICT) == FI_ORDER_STRICT;
	bool data = order & FI_ORDER_DATA;

	core_text_line(text, depth + 1, "comp_order", "[ %s%s%s%s ]",
		       strict ? "FI_ORDER_STRICT" : "", strict && data ? ", " : "",
		       data ? "FI_ORDER_DATA" : "", order ? "" : "FI_ORDER_NONE");
}

void core_tostr_tx(struct core_text *text, int depth, const struct fi_tx_attr *attr)
{
	if (!core_text_head(text, depth, "fi_tx_attr", attr))
		return;
	NAMED(caps, FI_TYPE_CAPS);
	NAMED(mode, FI_TYPE_MODE);
	NAMED(op_flags, FI_TYPE_OP_FLAGS);
	NAMED(msg_order, FI_TYPE_MSG_ORDER);
	comp_order(text, depth, attr->comp_order);
	SIZE(inject_size);
	SIZE(size);
	SIZE(iov_limit);
	SIZE(rma_iov_limit);
	LINE("tclass", "0x%x", attr->tclass);
}

void core_tostr_rx(struct core_text *text, int depth, const struct fi_rx_attr *attr)
{
	if (!core_text_head(text, depth, "fi_rx_attr", attr))
		return;
	NAMED(caps, FI_TYPE_CAPS);
	NAMED(mode, FI_TYPE_MODE);
	NAMED(op_flags, FI_TYPE_OP_FLAGS);
	NAMED(msg_order, FI_TYPE_MSG_ORDER);
	comp_order(text, depth, attr->comp_order);
	SIZE(total_buffered_recv);
	SIZE(size);
	SIZE(iov_limit);
}

void core_tostr_ep(struct core_text *text, int depth, const struct fi_ep_attr *attr,
		   uint32_t version)
{
	if (!core_text_head(text, depth, "fi_ep_attr", attr))
		return;
	NAMED(type, FI_TYPE_EP_TYPE);
	NAMED(protocol, FI_TYPE_PROTOCOL);
	LINE("protocol_version", "%" PRIu32, attr->protocol_version);
	SIZE(max_msg_size);
	SIZE(msg_prefix_size);
	SIZE(max_order_raw_size);
	SIZE(max_order_war_size);
	SIZE(max_order_waw_size);
	LINE("mem_tag_format", "0x%016" PRIx64, attr->mem_tag_format);
	SIZE(tx_ctx_cnt);
	SIZE(rx_ctx_cnt);
	SIZE(auth_key_size);
	if (FI_VERSION_GE(version, FI_VERSION(2, 7)))
		LINE("xpu_ctx", "%p", (void *) attr->xpu_ctx);
}

void core_tostr_domain(struct core_text *text, int depth,
		       const struct fi_domain_attr *attr, uint32_t version)
{
	if (!core_text_head(text, depth, "fi_domain_attr", attr))
		return;
	LINE("domain", "0x%" PRIxPTR, (uintptr_t) attr->domain);
	LINE("name", "%s", or_null(attr->name));
	NAMED(threading, FI_TYPE_THREADING);
	NAMED(control_progress, FI_TYPE_PROGRESS);
	NAMED(data_progress, FI_TYPE_PROGRESS);
	LINE("resource_mgmt", "%s", core_name_rm(attr->resource_mgmt));
	NAMED(av_type, FI_TYPE_AV_TYPE);
	core_tostr_named(text, depth + 1, "mr_mode", FI_TYPE_MR_MODE,
			 (unsigned int) attr->mr_mode);
	SIZE(mr_key_size);
	SIZE(cq_data_size);
	SIZE(cq_cnt);
	SIZE(ep_cnt);
	SIZE(tx_ctx_cnt);
	SIZE(rx_ctx_cnt);
	SIZE(max_ep_tx_ctx);
	SIZE(max_ep_rx_ctx);
	SIZE(max_ep_stx_ctx);
	SIZE(max_ep_srx_ctx);
	SIZE(cntr_cnt);
	SIZE(mr_iov_limit);
	NAMED(caps, FI_TYPE_CAPS);
	NAMED(mode, FI_TYPE_MODE);
	SIZE(auth_key_size);
	SIZE(max_err_data);
	SIZE(mr_cnt);
	LINE("tclass", "0x%x", attr->tclass);
	SIZE(max_ep_auth_key);
	LINE("max_group_id", "%" PRIu32, attr->max_group_id);
	LINE("max_cntr_value", "%" PRIu64, attr->max_cntr_value);
	LINE("max_err_cntr_value", "%" PRIu64, attr->max_err_cntr_value);
	if (FI_VERSION_GE(version, FI_VERSION(2, 7)))
		SIZE(max_xpu_ctx_cnt);
}

static void version_line(struct core_text *text, int depth, const char *key, uint32_t v)
{
	core_text_line(text, depth + 1, key, "%u.%u", FI_MAJOR(v), FI_MINOR(v));
}

void core_tostr_fabric(struct core_text *text, int depth,
		       const struct fi_fabric_attr *attr)
{
	if (!core_text_head(text, depth, "fi_fabric_attr", attr))
		return;
	LINE("name", "%s", or_null(attr->name));
	LINE("prov_name", "%s", or_null(attr->prov_name));
	version_line(text, depth, "prov_version", attr->prov_version);
	version_line(text, depth, "api_version", attr->api_version);
}

static void tostr_device(struct core_text *text, int depth,
			 const struct fi_device_attr *attr)
{
	if (!core_text_head(text, depth, "fi_device_attr", attr))
		return;
	LINE("name", "%s", or_null(attr->name));
	LINE("device_id", "%s", or_null(attr->device_id));
	LINE("device_version", "%s", or_null(attr->device_version));
	LINE("vendor_id", "%s", or_null(attr->vendor_id));
	LINE("driver", "%s", or_null(attr->driver));
	LINE("firmware", "%s", or_null(attr->firmware));
}

static void tostr_pci(struct core_text *text, int depth, const struct fi_pci_attr *attr)
{
	core_text_head(text, depth, "fi_pci_attr", attr);
	LINE("domain_id", "%u", attr->domain_id);
	LINE("bus_id", "%u", attr->bus_id);
	LINE("device_id", "%u", attr->device_id);
	LINE("function_id", "%u", attr->function_id);
}

static void tostr_bus(struct core_text *text, int depth, const struct fi_bus_attr *attr)
{
	if (!core_text_head(text, depth, "fi_bus_attr", attr))
		return;
	LINE("bus_type", "%s", core_name_bus(attr->bus_type));
	if (attr->bus_type == FI_BUS_PCI)
		tostr_pci(text, depth + 1, &attr->attr.pci);
}

static void tostr_link(struct core_text *text, int depth, const struct fi_link_attr *attr)
{
	if (!core_text_head(text, depth, "fi_link_attr", attr))
		return;
	LINE("address", "%s", or_null(attr->address));
	SIZE(mtu);
	SIZE(speed);
	LINE("state", "%s", core_name_link_state(attr->state));
	LINE("network_type", "%s", or_null(attr->network_type));
}

void core_tostr_nic(struct core_text *text, int depth, const struct fid_nic *nic)
{
	if (!nic) {
		core_text_line(text, depth, "nic", "(nil)");
		return;
	}
	core_text_head(text, depth, "nic", nic);
	tostr_device(text, depth + 1, nic->device_attr);
	tostr_bus(text, depth + 1, nic->bus_attr);
	tostr_link(text, depth + 1, nic->link_attr);
}

static void tostr_addr(struct core_text *text, const char *key, uint32_t format,
		       const void *data, size_t len)
{
	core_text_add(text, "    %s: ", key);
	core_tostr_addr(text, format, data, len);
	core_text_add(text, "\n");
}

/* An info says which interface the program asked for; hints that do not say it may be of any. */
void core_tostr_info(struct core_text *text, const struct fi_info *info)
{
	uint32_t version = info && info->fabric_attr ? info->fabric_attr->api_version : 0;

	if (!core_text_head(text, 0, "fi_info", info))
		return;
	core_tostr_named(text, 1, "caps", FI_TYPE_CAPS, info->caps);
	core_tostr_named(text, 1, "mode", FI_TYPE_MODE, info->mode);
	core_tostr_named(text, 1, "addr_format", FI_TYPE_ADDR_FORMAT,
			 info->addr_format);
	core_text_line(text, 1, "src_addrlen", "%zu", info->src_addrlen);
	core_text_line(text, 1, "dest_addrlen", "%zu", info->dest_addrlen);
	tostr_addr(text, "src_addr", info->addr_format, info->src_addr, info->src_addrlen);
	tostr_addr(text, "dest_addr", info->addr_format, info->dest_addr,
		   info->dest_addrlen);
	core_text_line(text, 1, "handle", "%p", (void *) info->handle);
	core_tostr_tx(text, 1, info->tx_attr);
	core_tostr_rx(text, 1, info->rx_attr);
	core_tostr_ep(text, 1, info->ep_attr, version);
	core_tostr_domain(text, 1, info->domain_attr, version);
	core_tostr_fabric(text, 1, info->fabric_attr);
	core_tostr_nic(text, 1, info->nic);
}
