/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "names.h"
#include "print.h"

/* Deprecated fields are printed as long as they exist. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void dump_name(const char *name, void *arg)
{
	json_str(arg, NULL, name);
}

static void dump_bits(struct json *j, const char *key, enum fi_type type, uint64_t bits)
{
	json_array(j, key);
	info_names_each(type, bits, dump_name, j);
	json_end(j);
}

static void dump_hex(struct json *j, const char *key, uint64_t val)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long) val);
	json_str(j, key, text);
}

static void dump_version(struct json *j, const char *key, uint32_t version)
{
	char text[24];

	snprintf(text, sizeof(text), "%u.%u", FI_MAJOR(version), FI_MINOR(version));
	json_str(j, key, text);
}

/* Prints the address of a line "    src_addr: fi_sockaddr_in://..." of the text form, so that
 * every address format is printed as the library prints it.
 */
static void dump_addr(struct json *j, const char *key, const char *form, const void *addr)
{
	char text[256] = "";
	char line[32];
	const char *at;

	snprintf(line, sizeof(line), "\n    %s: ", key);
	at = addr ? strstr(form, line) : NULL;
	if (at) {
		at += strlen(line);
		snprintf(text, sizeof(text), "%.*s", (int) strcspn(at, "\n"), at);
	}
	json_str(j, key, at ? text : NULL);
}

static void dump_tx(struct json *j, const struct fi_tx_attr *tx)
{
	json_object(j, "tx_attr");
	dump_bits(j, "caps", FI_TYPE_CAPS, tx->caps);
	dump_bits(j, "mode", FI_TYPE_MODE, tx->mode);
	dump_bits(j, "op_flags", FI_TYPE_OP_FLAGS, tx->op_flags);
	dump_bits(j, "msg_order", FI_TYPE_MSG_ORDER, tx->msg_order);
	json_u64(j, "inject_size", tx->inject_size);
	json_u64(j, "size", tx->size);
	json_u64(j, "iov_limit", tx->iov_limit);
	json_u64(j, "rma_iov_limit", tx->rma_iov_limit);
	json_u64(j, "tclass", tx->tclass);
	json_end(j);
}

static void dump_rx(struct json *j, const struct fi_rx_attr *rx)
{
	json_object(j, "rx_attr");
	dump_bits(j, "caps", FI_TYPE_CAPS, rx->caps);
	dump_bits(j, "mode", FI_TYPE_MODE, rx->mode);
	dump_bits(j, "op_flags", FI_TYPE_OP_FLAGS, rx->op_flags);
	dump_bits(j, "msg_order", FI_TYPE_MSG_ORDER, rx->msg_order);
	json_u64(j, "total_buffered_recv", rx->total_buffered_recv);
	json_u64(j, "size", rx->size);
	json_u64(j, "iov_limit", rx->iov_limit);
	json_end(j);
}

static void dump_ep(struct json *j, const struct fi_ep_attr *ep)
{
	json_object(j, "ep_attr");
	json_str(j, "type", fi_tostr(&ep->type, FI_TYPE_EP_TYPE));
	json_str(j, "protocol", fi_tostr(&ep->protocol, FI_TYPE_PROTOCOL));
	json_u64(j, "protocol_version", ep->protocol_version);
	json_u64(j, "max_msg_size", ep->max_msg_size);
	json_u64(j, "msg_prefix_size", ep->msg_prefix_size);
	json_u64(j, "max_order_raw_size", ep->max_order_raw_size);
	json_u64(j, "max_order_war_size", ep->max_order_war_size);
	json_u64(j, "max_order_waw_size", ep->max_order_waw_size);
	dump_hex(j, "mem_tag_format", ep->mem_tag_format);
	json_u64(j, "tx_ctx_cnt", ep->tx_ctx_cnt);
	json_u64(j, "rx_ctx_cnt", ep->rx_ctx_cnt);
	json_u64(j, "auth_key_size", ep->auth_key_size);
	json_end(j);
}

static const char *rm_name(enum fi_resource_mgmt rm)
{
	return rm == FI_RM_ENABLED ? "FI_RM_ENABLED" :
	       rm == FI_RM_DISABLED ? "FI_RM_DISABLED" : "FI_RM_UNSPEC";
}

static void dump_domain_limits(struct json *j, const struct fi_domain_attr *dom)
{
	json_u64(j, "mr_key_size", dom->mr_key_size);
	json_u64(j, "cq_data_size", dom->cq_data_size);
	json_u64(j, "cq_cnt", dom->cq_cnt);
	json_u64(j, "ep_cnt", dom->ep_cnt);
	json_u64(j, "tx_ctx_cnt", dom->tx_ctx_cnt);
	json_u64(j, "rx_ctx_cnt", dom->rx_ctx_cnt);
	json_u64(j, "max_ep_tx_ctx", dom->max_ep_tx_ctx);
	json_u64(j, "max_ep_rx_ctx", dom->max_ep_rx_ctx);
	json_u64(j, "max_ep_stx_ctx", dom->max_ep_stx_ctx);
	json_u64(j, "max_ep_srx_ctx", dom->max_ep_srx_ctx);
	json_u64(j, "cntr_cnt", dom->cntr_cnt);
	json_u64(j, "mr_iov_limit", dom->mr_iov_limit);
	json_u64(j, "auth_key_size", dom->auth_key_size);
	json_u64(j, "max_err_data", dom->max_err_data);
	json_u64(j, "mr_cnt", dom->mr_cnt);
	json_u64(j, "tclass", dom->tclass);
}

/* Members that the struct of a library before 2.0 does not have. */
static void dump_domain_new(struct json *j, const struct fi_domain_attr *dom)
{
	if (FI_VERSION_LT(fi_version(), FI_VERSION(2, 0)))
		return;
	json_u64(j, "max_ep_auth_key", dom->max_ep_auth_key);
	json_u64(j, "max_group_id", dom->max_group_id);
	if (FI_VERSION_LT(fi_version(), FI_VERSION(2, 6)))
		return;
	json_u64(j, "max_cntr_value", dom->max_cntr_value);
	json_u64(j, "max_err_cntr_value", dom->max_err_cntr_value);
	if (FI_VERSION_LT(fi_version(), FI_VERSION(2, 7)))
		return;
	json_u64(j, "max_xpu_ctx_cnt", dom->max_xpu_ctx_cnt);
}

static void dump_domain(struct json *j, const struct fi_domain_attr *dom)
{
	json_object(j, "domain_attr");
	json_str(j, "name", dom->name);
	json_str(j, "threading", fi_tostr(&dom->threading, FI_TYPE_THREADING));
	json_str(j, "control_progress", fi_tostr(&dom->control_progress, FI_TYPE_PROGRESS));
	json_str(j, "data_progress", fi_tostr(&dom->data_progress, FI_TYPE_PROGRESS));
	json_str(j, "resource_mgmt", rm_name(dom->resource_mgmt));
	json_str(j, "av_type", fi_tostr(&dom->av_type, FI_TYPE_AV_TYPE));
	dump_bits(j, "mr_mode", FI_TYPE_MR_MODE, dom->mr_mode);
	dump_bits(j, "caps", FI_TYPE_CAPS, dom->caps);
	dump_bits(j, "mode", FI_TYPE_MODE, dom->mode);
	dump_domain_limits(j, dom);
	dump_domain_new(j, dom);
	json_end(j);
}

static void dump_fabric(struct json *j, const struct fi_fabric_attr *fab)
{
	json_object(j, "fabric_attr");
	json_str(j, "name", fab->name);
	json_str(j, "prov_name", fab->prov_name);
	dump_version(j, "prov_version", fab->prov_version);
	dump_version(j, "api_version", fab->api_version);
	json_end(j);
}

static void dump_pci(struct json *j, const struct fi_pci_attr *pci)
{
	char text[24];

	snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", pci->domain_id, pci->bus_id,
		 pci->device_id, pci->function_id);
	json_str(j, "pci", text);
}

static void dump_link(struct json *j, const struct fi_link_attr *link)
{
	static const char *const state[] = { "unknown", "down", "up" };

	json_object(j, "link_attr");
	json_str(j, "address", link->address);
	json_u64(j, "mtu", link->mtu);
	json_u64(j, "speed", link->speed);
	json_str(j, "state", link->state <= FI_LINK_UP ? state[link->state] : "unknown");
	json_str(j, "network_type", link->network_type);
	json_end(j);
}

static void dump_nic(struct json *j, const struct fid_nic *nic)
{
	if (!nic) {
		json_null(j, "nic");
		return;
	}
	json_object(j, "nic");
	if (nic->device_attr) {
		json_object(j, "device_attr");
		json_str(j, "name", nic->device_attr->name);
		json_str(j, "device_id", nic->device_attr->device_id);
		json_str(j, "device_version", nic->device_attr->device_version);
		json_str(j, "vendor_id", nic->device_attr->vendor_id);
		json_str(j, "driver", nic->device_attr->driver);
		json_str(j, "firmware", nic->device_attr->firmware);
		json_end(j);
	}
	if (nic->bus_attr && nic->bus_attr->bus_type == FI_BUS_PCI)
		dump_pci(j, &nic->bus_attr->attr.pci);
	if (nic->link_attr)
		dump_link(j, nic->link_attr);
	json_end(j);
}

static void dump_info(struct json *j, const struct fi_info *info, const char *form)
{
	json_object(j, NULL);
	dump_bits(j, "caps", FI_TYPE_CAPS, info->caps);
	dump_bits(j, "mode", FI_TYPE_MODE, info->mode);
	json_str(j, "addr_format", fi_tostr(&info->addr_format, FI_TYPE_ADDR_FORMAT));
	dump_addr(j, "src_addr", form, info->src_addr);
	dump_addr(j, "dest_addr", form, info->dest_addr);
	dump_tx(j, info->tx_attr);
	dump_rx(j, info->rx_attr);
	dump_ep(j, info->ep_attr);
	dump_domain(j, info->domain_attr);
	dump_fabric(j, info->fabric_attr);
	dump_nic(j, info->nic);
	json_end(j);
}

void info_dump_infos(struct json *j, const struct fi_info *list, const char *substr)
{
	char *form;

	json_array(j, "infos");
	for (const struct fi_info *info = list; info; info = info->next) {
		form = strdup(fi_tostr(info, FI_TYPE_INFO));
		if (form && (!substr || strstr(form, substr)))
			dump_info(j, info, form);
		free(form);
	}
	json_end(j);
}

void info_dump_providers(struct json *j, const struct fi_info *list)
{
	json_array(j, "providers");
	for (const struct fi_info *info = list; info; info = info->next) {
		json_object(j, NULL);
		json_str(j, "name", info->fabric_attr->prov_name);
		dump_version(j, "version", info->fabric_attr->prov_version);
		json_end(j);
	}
	json_end(j);
}

void info_dump_params(struct json *j, const struct fi_param *params, int cnt,
		      const char *substr)
{
	json_array(j, "params");
	for (int i = 0; i < cnt; i++) {
		if (!info_print_param_match(&params[i], substr))
			continue;
		json_object(j, NULL);
		json_str(j, "name", params[i].name);
		json_str(j, "type", info_print_param_type(params[i].type));
		json_str(j, "help", params[i].help_string);
		json_str(j, "value", params[i].value);
		json_end(j);
	}
	json_end(j);
}

void info_dump_error(struct json *j, int err)
{
	json_object(j, "error");
	json_i64(j, "code", err);
	json_str(j, "text", fi_strerror(err < 0 ? -err : err));
	json_end(j);
}
