/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cache.h - registrations that are kept for the next time.
 *
 * To register a buffer costs more than to send it, if the device pins its pages; programs
 * use the same buffers again and again.  A cache keeps what was registered by its address,
 * as long as the memory there stays what it was (watch.h), within limits.  What it hands
 * out was registered for the very mapping that is there when it is asked; what is in use
 * stays registered until it is given back.
 *
 * FI_MR_CACHE_MAX_COUNT and FI_MR_CACHE_MAX_SIZE are the limits of what nobody uses; a
 * count of 0, or FI_MR_CACHE_MONITOR=disabled, keeps nothing.
 */
#ifndef MR_CACHE_H
#define MR_CACHE_H

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
	struct mr_cache *cache;		/* whose it is */
	struct list node;		/* of those that nobody uses: oldest first */
	uintptr_t addr;
	size_t len;
	void *mr;			/* what open() made of it */
	unsigned users;
	bool watched, listed;		/* listed: in the table */
};

struct mr_cache_ops {
	/* open - register memory.  Errors: as the device says; -FI_ENOMEM has what is not
	 * used dropped, and is then tried again.
	 */
	int (*open)(void *arg, struct mr_entry *entry, void **mr_p);
	void (*close)(void *arg, void *mr);
};

struct mr_cache {
	const struct mr_cache_ops *ops;
	void *arg;			/* of its calls */
	struct hmap table;		/* address -> struct mr_entry */
	struct list idle;
	size_t idle_cnt, idle_size;	/* in it */
	size_t max_cnt, max_size;
	unsigned changes;		/* mr_watch_changes() when idle ones were looked through */
	enum mr_watch_by by;		/* NOBODY: there is none, or a limit of 0 */
};

/* mr_cache_params - define the variables; once, when a provider starts. */
void mr_cache_params(void);

/* mr_cache_init - an empty cache, with the limits of the environment.  It works where memory
 * cannot be watched, too, and keeps nothing then.
 * @prov: in whose name things are logged
 */
void mr_cache_init(struct mr_cache *cache, const struct mr_cache_ops *ops, void *arg,
		   const struct fi_provider *prov);

/* mr_cache_fini - close all; none is in use. */
void mr_cache_fini(struct mr_cache *cache);

/* mr_cache_get - a registration of [@addr, @addr + @len), or one that begins there and is
 * longer; the caller's until mr_cache_put().
 *
 * Threading: the owner's lock, as for mr_cache_put(); memory may change at any time.
 * Errors:    those of open(), -FI_ENOMEM.
 */
int mr_cache_get(struct mr_cache *cache, void *addr, size_t len, struct mr_entry **entry_p);
void mr_cache_put(struct mr_entry *entry);

#endif
