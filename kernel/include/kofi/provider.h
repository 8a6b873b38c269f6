/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * provider.h - what a provider module gives to kofi.ko.
 */
#ifndef KOFI_PROVIDER_H
#define KOFI_PROVIDER_H

#include <linux/module.h>

#include <kofi/fabric.h>

/* What a getinfo call asks for. */
struct kofi_query {
	struct net		*net;
	uint32_t		version;	/* of the caller's interface */
	const char		*node;		/* or NULL */
	const char		*service;	/* or NULL */
	uint64_t		flags;
	const struct fi_info	*hints;		/* or NULL; kofi.ko checks the offers against it */
};

struct kofi_provider {
	size_t		size;		/* sizeof(struct kofi_provider) as the provider knows it */
	const char	*name;		/* prov_name of its answers */
	uint32_t	version;	/* the provider's own, FI_VERSION() */
	/* Lists what the provider has to offer, in the namespace of the current task, without
	 * looking at anything but the addresses in the hints: kofi.ko checks the rest and narrows
	 * the answers. May sleep. NULL: query. Errors: -FI_ENODATA nothing. */
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info_p);
	/* Frees what getinfo has returned. May sleep. NULL: fi_freeinfo() does. */
	int (*freeinfo)(struct fi_info *info);
	/* Opens a fabric. fid.ops, ops are the provider's; net, reg and api_version are set by
	 * kofi.ko afterwards. May sleep. */
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p, void *context);
	/* What getinfo is made of, for a provider whose answers differ between namespaces: it is
	 * asked for any of them, and its list is freed by fi_freeinfo(). NULL: getinfo. */
	int (*query)(const struct kofi_query *query, struct fi_info **list_p);
	uint32_t	max_tx_size;	/* largest tx_attr->size that hints may ask for */
	uint32_t	max_rx_size;	/* the same for rx_attr->size */
	struct module	*owner;		/* THIS_MODULE; pinned while a fabric is open */
};

/* kofi_provider_register - make a provider known.
 *
 * @version: interface the provider was written for, FI_VERSION()
 * @prov:    stays valid until kofi_provider_deregister() returned 0
 *
 * Threading: process context, may sleep.
 * Errors:    -FI_ENOSYS @version is newer than kofi.ko; -FI_EALREADY the name is taken;
 *            -FI_EINVAL an entry is missing; -FI_ENOMEM.
 */
int kofi_provider_register(uint32_t version, const struct kofi_provider *prov);

/* kofi_provider_deregister - make it unknown; waits for discovery calls that are running.
 *
 * Threading: process context, may sleep.
 * Errors:    -FI_EBUSY a fabric is open, nothing has changed; -FI_ENOENT not registered.
 */
int kofi_provider_deregister(const struct kofi_provider *prov);

#endif /* KOFI_PROVIDER_H */
