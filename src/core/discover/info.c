/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdlib.h>
#include <string.h>

#include "core/export.h"
#include "core/info.h"
#include "core/nic.h"

const struct core_layout core_layout_now = {
	.info = sizeof(struct fi_info),
	.tx = sizeof(struct fi_tx_attr),
	.rx = sizeof(struct fi_rx_attr),
	.ep = sizeof(struct fi_ep_attr),
	.domain = sizeof(struct fi_domain_attr),
	.fabric = sizeof(struct fi_fabric_attr),
};

/* True when a struct of @size bytes has the member. */
#define HAS(size, type, member)						\
	((size) >= offsetof(type, member) + sizeof(((type *) 0)->member))

/* The first @have bytes of @src in a zeroed struct of @size; no @src: all zero. */
static void *struct_dup(const void *src, size_t have, size_t size)
{
	void *dst = calloc(1, size);

	if (dst && src)
		memcpy(dst, src, have < size ? have : size);
	return dst;
}

/* memcpy has copied pointers of the source.  Each function below first clears its pointer, so
 * that an incomplete copy can be freed.  They return false when there is no memory.
 */
static bool string_dup(char **dst, const char *src)
{
	*dst = NULL;
	if (!src)
		return true;
	*dst = strdup(src);
	return *dst != NULL;
}

static bool bytes_dup(void **dst, const void *src, size_t len)
{
	*dst = NULL;
	if (!src || !len)
		return true;
	*dst = core_mem_dup(src, len);
	return *dst != NULL;
}

/* FI_AV_AUTH_KEY in place of a size means that the keys are in the AV. */
static bool auth_key_dup(uint8_t **dst, const uint8_t *src, size_t len)
{
	return bytes_dup((void **) dst, src, len == FI_AV_AUTH_KEY ? 0 : len);
}

static struct fi_ep_attr *ep_dup(const struct fi_ep_attr *src, size_t have)
{
	struct fi_ep_attr *dst = struct_dup(src, have, sizeof(*dst));

	if (dst && src && HAS(have, struct fi_ep_attr, auth_key) &&
	    !auth_key_dup(&dst->auth_key, src->auth_key, src->auth_key_size)) {
		free(dst);
		return NULL;
	}
	return dst;
}

/* key_free - nothing of a key stays in memory. */
static void key_free(uint8_t *key, size_t size)
{
	if (key && size != FI_AV_AUTH_KEY)
		explicit_bzero(key, size);
	free(key);
}

static void ep_free(struct fi_ep_attr *attr, size_t have)
{
	if (attr && HAS(have, struct fi_ep_attr, auth_key))
		key_free(attr->auth_key, attr->auth_key_size);
	free(attr);
}

static void domain_free(struct fi_domain_attr *attr, size_t have)
{
	if (attr) {
		free(attr->name);
		if (HAS(have, struct fi_domain_attr, auth_key_size))
			key_free(attr->auth_key, attr->auth_key_size);
	}
	free(attr);
}

static struct fi_domain_attr *domain_dup(const struct fi_domain_attr *src,
					 size_t have)
{
	struct fi_domain_attr *dst = struct_dup(src, have, sizeof(*dst));
	bool ok = true;

	if (!dst || !src)
		return dst;
	dst->auth_key = NULL;
	if (HAS(have, struct fi_domain_attr, auth_key_size))
		ok = auth_key_dup(&dst->auth_key, src->auth_key, src->auth_key_size);
	if (string_dup(&dst->name, src->name) && ok)
		return dst;
	domain_free(dst, sizeof(*dst));
	return NULL;
}

static void fabric_free(struct fi_fabric_attr *attr)
{
	if (attr) {
		free(attr->name);
		free(attr->prov_name);
	}
	free(attr);
}

static struct fi_fabric_attr *fabric_dup(const struct fi_fabric_attr *src,
					 size_t have)
{
	struct fi_fabric_attr *dst = struct_dup(src, have, sizeof(*dst));
	bool ok;

	if (!dst || !src)
		return dst;
	ok = string_dup(&dst->name, src->name);
	if (string_dup(&dst->prov_name, src->prov_name) && ok)
		return dst;
	fabric_free(dst);
	return NULL;
}

/* Attributes that the source lacks stay NULL, but an empty info gets all of them. */
static bool attrs_dup(struct fi_info *dst, const struct fi_info *src,
		      const struct core_layout *layout)
{
	if (!src || src->tx_attr)
		dst->tx_attr = struct_dup(src ? src->tx_attr : NULL, layout->tx,
					  sizeof(*dst->tx_attr));
	if (!src || src->rx_attr)
		dst->rx_attr = struct_dup(src ? src->rx_attr : NULL, layout->rx,
					  sizeof(*dst->rx_attr));
	if (!src || src->ep_attr)
		dst->ep_attr = ep_dup(src ? src->ep_attr : NULL, layout->ep);
	if (!src || src->domain_attr)
		dst->domain_attr = domain_dup(src ? src->domain_attr : NULL,
					      layout->domain);
	if (!src || src->fabric_attr)
		dst->fabric_attr = fabric_dup(src ? src->fabric_attr : NULL,
					      layout->fabric);
	return (!src || src->tx_attr ? !!dst->tx_attr : true) &&
	       (!src || src->rx_attr ? !!dst->rx_attr : true) &&
	       (!src || src->ep_attr ? !!dst->ep_attr : true) &&
	       (!src || src->domain_attr ? !!dst->domain_attr : true) &&
	       (!src || src->fabric_attr ? !!dst->fabric_attr : true);
}

static bool addrs_dup(struct fi_info *dst, const struct fi_info *src)
{
	return bytes_dup(&dst->src_addr, src->src_addr, src->src_addrlen) &&
	       bytes_dup(&dst->dest_addr, src->dest_addr, src->dest_addrlen);
}

static bool nic_dup(struct fi_info *dst, const struct fi_info *src,
		    const struct core_layout *layout)
{
	if (!HAS(layout->info, struct fi_info, nic) || !src->nic)
		return true;
	dst->nic = core_nic_dup(src->nic);
	return dst->nic != NULL;
}

struct fi_info *core_info_dup(const struct fi_info *src,
			      const struct core_layout *layout)
{
	struct fi_info *dst = struct_dup(src, layout->info, sizeof(*dst));

	if (!dst)
		return NULL;
	dst->next = NULL;
	dst->src_addr = dst->dest_addr = NULL;
	dst->tx_attr = NULL;
	dst->rx_attr = NULL;
	dst->ep_attr = NULL;
	dst->domain_attr = NULL;
	dst->fabric_attr = NULL;
	dst->nic = NULL;
	if (attrs_dup(dst, src, layout) &&
	    (!src || (addrs_dup(dst, src) && nic_dup(dst, src, layout))))
		return dst;
	core_info_free(dst, &core_layout_now);
	return NULL;
}

void core_info_free(struct fi_info *list, const struct core_layout *layout)
{
	struct fi_info *info;

	while ((info = list)) {
		list = info->next;
		free(info->src_addr);
		free(info->dest_addr);
		free(info->tx_attr);
		free(info->rx_attr);
		ep_free(info->ep_attr, layout->ep);
		domain_free(info->domain_attr, layout->domain);
		fabric_free(info->fabric_attr);
		if (HAS(layout->info, struct fi_info, nic))
			core_nic_close(info->nic);
		free(info);
	}
}

void core_info_narrow(struct fi_info *info, const struct core_layout *layout)
{
	for (; info; info = info->next) {
		if (!HAS(layout->info, struct fi_info, nic)) {
			core_nic_close(info->nic);
			info->nic = NULL;
		}
		if (info->ep_attr && !HAS(layout->ep, struct fi_ep_attr, auth_key)) {
			free(info->ep_attr->auth_key);
			info->ep_attr->auth_key = NULL;
		}
		if (info->domain_attr &&
		    !HAS(layout->domain, struct fi_domain_attr, auth_key_size)) {
			free(info->domain_attr->auth_key);
			info->domain_attr->auth_key = NULL;
		}
	}
}

CORE_EXPORT
struct fi_info *fi_dupinfo(const struct fi_info *info)
{
	return core_info_dup(info, &core_layout_now);
}

CORE_EXPORT
void fi_freeinfo(struct fi_info *info)
{
	core_info_free(info, &core_layout_now);
}
