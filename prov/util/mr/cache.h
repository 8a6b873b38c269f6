/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cache.h - the registration cache.
 *
 * Registering a buffer takes longer than sending it if the device pins its pages, and programs
 * use the same buffers repeatedly.  A cache keeps registrations by their address while the
 * memory there is unchanged (watch.h), within limits.  A registration that it returns was made
 * for the mapping that exists at the time of the call; a registration in use stays until it is
 * released.
 *
 * Memory of devices is not watched.  There the owner of the cache says by a function whether an
 * entry still is of the allocation that it was made for.
 *
 * FI_MR_CACHE_MAX_COUNT and FI_MR_CACHE_MAX_SIZE limit the unused registrations; a count of 0,
 * or FI_MR_CACHE_MONITOR=disabled, switches the cache off.
 */
#ifndef MR_CACHE_H
#define MR_CACHE_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/list.h"
#include "mr/watch.h"

struct mr_cache;

/* One registration. */
struct mr_entry {
	struct mr_range range;
	struct mr_cache *cache;		/* its cache */
	struct list node;		/* on cache->idle while unused, oldest first */
	uintptr_t addr;
	size_t len;
	void *mr;			/* result of open() */
	unsigned users;
	bool watched, listed;		/* listed: in the table */
};

struct mr_cache_ops {
	/* open - register memory.  Errors: of the device; on -FI_ENOMEM unused registrations
	 * are freed and it is called again.
	 */
	int (*open)(void *arg, struct mr_entry *entry, void **mr_p);
	void (*close)(void *arg, void *mr);
	/* gone - is the memory of @entry another allocation by now, or none?  NULL: it is memory of
	 * the host, which is watched.
	 */
	bool (*gone)(void *arg, const struct mr_entry *entry);
};

struct mr_cache {
	const struct mr_cache_ops *ops;
	void *arg;			/* argument of its functions */
	struct hmap table;		/* address -> struct mr_entry */
	struct list idle;
	size_t idle_cnt, idle_size;	/* of the unused entries */
	size_t max_cnt, max_size;
	unsigned changes;		/* mr_watch_changes() at the last look for changed ranges */
	enum mr_watch_by by;		/* MR_BY_NONE: nothing is watched, so nothing is cached */
};

/* mr_cache_params - define the environment variables, if that has not been done.  Called while a
 * provider is initialised, which the core serialises.
 */
void mr_cache_params(void);

/* mr_cache_hmem - may registrations in memory of @iface be cached?  FI_MR_CUDA_CACHE_MONITOR_ENABLED
 * and its like; true by default, false for interfaces that have none.
 */
bool mr_cache_hmem(enum fi_hmem_iface iface);

/* mr_cache_init - an empty cache, with the limits of the environment.  Where memory cannot be
 * watched it works too, without caching.
 *
 * @prov: for log lines
 */
void mr_cache_init(struct mr_cache *cache, const struct mr_cache_ops *ops, void *arg,
		   const struct fi_provider *prov);

/* mr_cache_fini - close all registrations; none may be in use. */
void mr_cache_fini(struct mr_cache *cache);

/* mr_cache_get - a registration of [@addr, @addr + @len), or a longer one that begins at @addr.
 *
 * Ownership: in use until mr_cache_put().
 * Threading: caller holds the owner's lock, as for mr_cache_put(); memory may change at any
 *            time.
 * Errors:    those of open(), -FI_ENOMEM.
 */
int mr_cache_get(struct mr_cache *cache, void *addr, size_t len, struct mr_entry **entry_p);
void mr_cache_put(struct mr_entry *entry);

#endif
