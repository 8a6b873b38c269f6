/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <inttypes.h>

#include <rdma/fi_errno.h>

#include "core/tostr.h"

#define LINE(key, fmt, value)	core_text_line(text, 1, key, fmt, value)
#define NAMED(key, type, value)	core_tostr_named(text, 1, key, type, (uint64_t) (value))
#define FLAGS(value)		LINE("flags", "0x%" PRIx64, value)
/* A struct of a program for an interface before 2.7 ends before xpu_ctx, and FI_XPU is not in its
 * flags.
 */
#define XPU_CTX(attr)							\
	do {								\
		if ((attr)->flags & FI_XPU)				\
			LINE("xpu_ctx", "%p", (void *) (attr)->xpu_ctx);	\
	} while (0)

/* An object may implement fi_tostr() itself; then its text follows the address. */
void core_tostr_fid(struct core_text *text, const struct fid *fid)
{
	char own[1024] = "";

	if (fid && FI_CHECK_OP(fid->ops, struct fi_ops, tostr) &&
	    !fid->ops->tostr(fid, own, sizeof(own)) && *own)
		core_text_add(text, "%s", own);
	else
		core_text_add(text, "fid: %p\n", (const void *) fid);
}

void core_tostr_av(struct core_text *text, const struct fi_av_attr *attr)
{
	if (!core_text_head(text, 0, "fi_av_attr", attr))
		return;
	NAMED("type", FI_TYPE_AV_TYPE, attr->type);
	LINE("rx_ctx_bits", "%d", attr->rx_ctx_bits);
	LINE("count", "%zu", attr->count);
	LINE("ep_per_node", "%zu", attr->ep_per_node);
	LINE("name", "%s", attr->name ? attr->name : "(null)");
	LINE("map_addr", "%p", attr->map_addr);
	FLAGS(attr->flags);
}

void core_tostr_cq(struct core_text *text, const struct fi_cq_attr *attr)
{
	if (!core_text_head(text, 0, "fi_cq_attr", attr))
		return;
	LINE("size", "%zu", attr->size);
	FLAGS(attr->flags);
	NAMED("format", FI_TYPE_CQ_FORMAT, attr->format);
	NAMED("wait_obj", FI_TYPE_WAIT_OBJ, attr->wait_obj);
	LINE("signaling_vector", "%d", attr->signaling_vector);
	NAMED("wait_cond", FI_TYPE_CQ_WAIT_COND, attr->wait_cond);
	LINE("wait_set", "%p", (void *) attr->wait_set);
	XPU_CTX(attr);
}

void core_tostr_cntr(struct core_text *text, const struct fi_cntr_attr *attr)
{
	if (!core_text_head(text, 0, "fi_cntr_attr", attr))
		return;
	LINE("events", "%s", attr->events == FI_CNTR_EVENTS_COMP ?
			     "FI_CNTR_EVENTS_COMP" :
			     attr->events == FI_CNTR_EVENTS_BYTES ?
			     "FI_CNTR_EVENTS_BYTES" : "Unknown");
	NAMED("wait_obj", FI_TYPE_WAIT_OBJ, attr->wait_obj);
	LINE("wait_set", "%p", (void *) attr->wait_set);
	FLAGS(attr->flags);
	XPU_CTX(attr);
}

static void mr_iov(struct core_text *text, const struct fi_mr_attr *attr)
{
	size_t i;

	for (i = 0; attr->mr_iov && i < attr->iov_count; i++)
		core_text_line(text, 2, "iov", "%p, %zu bytes",
			       attr->mr_iov[i].iov_base, attr->mr_iov[i].iov_len);
}

/* The union is printed as an iov: which member is valid depends on a flag of the call. */
void core_tostr_mr(struct core_text *text, const struct fi_mr_attr *attr)
{
	if (!core_text_head(text, 0, "fi_mr_attr", attr))
		return;
	LINE("mr_iov", "%p", (const void *) attr->mr_iov);
	LINE("iov_count", "%zu", attr->iov_count);
	mr_iov(text, attr);
	NAMED("access", FI_TYPE_CAPS, attr->access);
	LINE("offset", "0x%" PRIx64, attr->offset);
	LINE("requested_key", "0x%" PRIx64, attr->requested_key);
	LINE("context", "%p", attr->context);
	LINE("auth_key_size", "%zu", attr->auth_key_size);
	NAMED("iface", FI_TYPE_HMEM_IFACE, attr->iface);
	LINE("device", "0x%" PRIx64, attr->device.reserved);
	LINE("hmem_data", "%p", attr->hmem_data);
	LINE("page_size", "%zu", attr->page_size);
	LINE("base_mr", "%p", (const void *) attr->base_mr);
	LINE("sub_mr_cnt", "%zu", attr->sub_mr_cnt);
}

void core_tostr_cq_err(struct core_text *text, const struct fi_cq_err_entry *entry)
{
	if (!core_text_head(text, 0, "fi_cq_err_entry", entry))
		return;
	LINE("op_context", "%p", entry->op_context);
	NAMED("flags", FI_TYPE_CQ_EVENT_FLAGS, entry->flags);
	LINE("len", "%zu", entry->len);
	LINE("buf", "%p", entry->buf);
	LINE("data", "0x%" PRIx64, entry->data);
	LINE("tag", "0x%" PRIx64, entry->tag);
	LINE("olen", "%zu", entry->olen);
	core_text_line(text, 1, "err", "%d (%s)", entry->err, fi_strerror(entry->err));
	LINE("prov_errno", "%d", entry->prov_errno);
	LINE("err_data", "%p", entry->err_data);
	LINE("err_data_size", "%zu", entry->err_data_size);
	LINE("src_addr", "0x%" PRIx64, entry->src_addr);
}
