/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * core.h - what the files of kofi.ko share.
 */
#ifndef KOFI_CORE_H
#define KOFI_CORE_H

#include <kofi/provider.h>

/* A registered provider. */
struct kofi_registration {
	struct list_head		node;		/* in core_providers */
	const struct kofi_provider	*prov;
	atomic_t			fabrics;	/* open ones */
	struct device			*dev;		/* /sys/class/kofi/NAME */
};

extern struct list_head core_providers;		/* in order of registration */
extern struct rw_semaphore core_lock;		/* guards the list */

/* core_hints_check - does @offer fit @hints? If so, narrow it to what they ask for.
 *
 * @hints: or NULL, which fits everything
 *
 * Errors: -FI_ENODATA it does not fit.
 */
int core_hints_check(const struct kofi_provider *prov, uint32_t version, struct fi_info *offer,
		     const struct fi_info *hints);

/* core_name_allowed - is a provider let through by the module parameter "provider"? */
bool core_name_allowed(const char *name);

int core_sysfs_init(void);
void core_sysfs_exit(void);
int core_sysfs_add(struct kofi_registration *reg);
void core_sysfs_del(struct kofi_registration *reg);

void core_listing_init(void);
void core_listing_exit(void);

#endif /* KOFI_CORE_H */
