// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * info.c - copies of fi_info.
 */
#include <linux/slab.h>

#include "core.h"

static void free_one(struct fi_info *info)
{
	if (info->ep_attr)
		kfree(info->ep_attr->auth_key);
	if (info->domain_attr) {
		kfree(info->domain_attr->name);
		kfree(info->domain_attr->auth_key);
	}
	if (info->fabric_attr) {
		kfree(info->fabric_attr->name);
		kfree(info->fabric_attr->prov_name);
	}
	kfree(info->tx_attr);
	kfree(info->rx_attr);
	kfree(info->ep_attr);
	kfree(info->domain_attr);
	kfree(info->fabric_attr);
	kfree(info->src_addr);
	kfree(info->dest_addr);
	kfree(info);
}

void fi_freeinfo(struct fi_info *info)
{
	struct fi_info *next;

	for (; info; info = next) {
		next = info->next;
		free_one(info);
	}
}
EXPORT_SYMBOL_GPL(fi_freeinfo);

/* A copy of @src, or zeros. */
static void *copy_mem(const void *src, size_t size, bool *bad)
{
	void *out = src ? kmemdup(src, size, GFP_KERNEL) : kzalloc(size, GFP_KERNEL);

	if (!out)
		*bad = true;
	return out;
}

/* Replaces a pointer that a copied structure shares with its source by a copy of what it
 * points to. */
static void own_copy(void *field, size_t size, bool *bad)
{
	void **pointer = field;

	if (*pointer && size)
		*pointer = copy_mem(*pointer, size, bad);
	else
		*pointer = NULL;
}

static void own_text(char **text, bool *bad)
{
	own_copy(text, *text ? strlen(*text) + 1 : 0, bad);
}

struct fi_info *fi_dupinfo(const struct fi_info *src)
{
	struct fi_info *info;
	bool bad = false;

	info = copy_mem(src, sizeof(*info), &bad);
	if (!info)
		return NULL;
	info->next = NULL;
	info->nic = NULL;
	own_copy(&info->src_addr, info->src_addrlen, &bad);
	own_copy(&info->dest_addr, info->dest_addrlen, &bad);
	info->tx_attr = copy_mem(info->tx_attr, sizeof(*info->tx_attr), &bad);
	info->rx_attr = copy_mem(info->rx_attr, sizeof(*info->rx_attr), &bad);
	info->ep_attr = copy_mem(info->ep_attr, sizeof(*info->ep_attr), &bad);
	if (info->ep_attr)
		own_copy(&info->ep_attr->auth_key, info->ep_attr->auth_key_size, &bad);
	info->domain_attr = copy_mem(info->domain_attr, sizeof(*info->domain_attr), &bad);
	if (info->domain_attr) {
		own_text(&info->domain_attr->name, &bad);
		own_copy(&info->domain_attr->auth_key, info->domain_attr->auth_key_size, &bad);
	}
	info->fabric_attr = copy_mem(info->fabric_attr, sizeof(*info->fabric_attr), &bad);
	if (info->fabric_attr) {
		own_text(&info->fabric_attr->name, &bad);
		own_text(&info->fabric_attr->prov_name, &bad);
	}
	if (bad) {
		free_one(info);
		return NULL;
	}
	return info;
}
EXPORT_SYMBOL_GPL(fi_dupinfo);
