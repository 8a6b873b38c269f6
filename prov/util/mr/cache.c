/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mr/cache.h"

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_CNT 1024

/* The variables of interfaces whose registrations may be cached. */
static const struct {
	enum fi_hmem_iface iface;
	const char *name;
} monitors[] = {
	{ FI_HMEM_CUDA, "mr_cuda_cache_monitor_enabled" },
	{ FI_HMEM_ROCR, "mr_rocr_cache_monitor_enabled" },
	{ FI_HMEM_ZE, "mr_ze_cache_monitor_enabled" },
};
#define MONITORS (sizeof(monitors) / sizeof(monitors[0]))

void mr_cache_params(void)
{
	static bool done;
	size_t i;

	if (done)
		return;
	done = true;
	fi_param_define(NULL, "mr_cache_monitor", FI_PARAM_STRING,
			"how the memory of cached registrations is watched: userfaultfd; or "
			"disabled: none is cached (default: the monitor that the program imported; "
			"without one userfaultfd, where the system permits it)");
	fi_param_define(NULL, "mr_cache_max_count", FI_PARAM_SIZE_T,
			"how many unused registrations a domain caches; 0: none "
			"(default: %d)", DEFAULT_CNT);
	fi_param_define(NULL, "mr_cache_max_size", FI_PARAM_SIZE_T,
			"their total number of bytes (default: half of the memory)");
	for (i = 0; i < MONITORS; i++)
		fi_param_define(NULL, monitors[i].name, FI_PARAM_BOOL, "RDMA devices keep the "
				"registrations of an allocation of such a device, for local use, until "
				"it is freed (default: yes)");
}

bool mr_cache_hmem(enum fi_hmem_iface iface)
{
	int on = 1;
	size_t i;

	for (i = 0; i < MONITORS && monitors[i].iface != iface; i++)
		;
	if (i == MONITORS)
		return false;
	fi_param_get_bool(NULL, monitors[i].name, &on);
	return on;
}

static enum mr_watch_by watch_by(const struct fi_provider *prov)
{
	char *monitor = NULL;

	if (fi_param_get(NULL, "mr_cache_monitor", &monitor)) {
		if (!mr_watch_get(MR_BY_PROGRAM, prov))
			return MR_BY_PROGRAM;
	} else if (strcmp(monitor, "userfaultfd")) {
		if (strcmp(monitor, "disabled"))
			FI_WARN(prov, FI_LOG_MR, "FI_MR_CACHE_MONITOR=%s is unknown: use userfaultfd "
				"or disabled; no registration is cached\n", monitor);
		return MR_BY_NONE;
	}
	return mr_watch_get(MR_BY_KERNEL, prov) ? MR_BY_NONE : MR_BY_KERNEL;
}

void mr_cache_init(struct mr_cache *cache, const struct mr_cache_ops *ops, void *arg,
		   const struct fi_provider *prov)
{
	memset(cache, 0, sizeof(*cache));
	cache->ops = ops;
	cache->arg = arg;
	hmap_init(&cache->table);
	list_init(&cache->idle);
	cache->max_cnt = DEFAULT_CNT;
	cache->max_size = (size_t) sysconf(_SC_PHYS_PAGES) / 2 * (size_t) sysconf(_SC_PAGESIZE);
	fi_param_get(NULL, "mr_cache_max_count", &cache->max_cnt);
	fi_param_get(NULL, "mr_cache_max_size", &cache->max_size);
	if (cache->max_cnt && cache->max_size)
		cache->by = ops->gone ? MR_BY_OWNER : watch_by(prov);
	cache->changes = mr_watch_changes();
}

/* is_gone - is the memory of @entry another by now? */
static bool is_gone(struct mr_cache *cache, struct mr_entry *entry)
{
	return cache->by == MR_BY_OWNER ? cache->ops->gone(cache->arg, entry) :
					  mr_watch_gone(&entry->range);
}

/* ---- freeing entries ------------------------------------------------------------------- */

/* Removes an entry from the table.  Its users keep it. */
static void entry_unlist(struct mr_cache *cache, struct mr_entry *entry)
{
	if (entry->listed)
		hmap_remove(&cache->table, entry->addr);
	entry->listed = false;
}

/* Deregisters before the range stops being watched, so that no change is missed. */
static void entry_free(struct mr_cache *cache, struct mr_entry *entry)
{
	entry_unlist(cache, entry);
	if (entry->mr)
		cache->ops->close(cache->arg, entry->mr);
	if (entry->watched && cache->by != MR_BY_OWNER)
		mr_watch_del(&entry->range);
	free(entry);
}

static void leave_idle(struct mr_cache *cache, struct mr_entry *entry)
{
	list_del(&entry->node);
	cache->idle_cnt--;
	cache->idle_size -= entry->len;
}

/* Frees the idle entry that was used least recently.  Returns false when there is none. */
static bool drop_oldest(struct mr_cache *cache)
{
	struct mr_entry *entry;

	if (list_empty(&cache->idle))
		return false;
	entry = container_of(cache->idle.next, struct mr_entry, node);
	leave_idle(cache, entry);
	entry_free(cache, entry);
	return true;
}

/* Free the idle entries whose range is gone, which unpins their pages. */
static void free_gone(struct mr_cache *cache)
{
	struct mr_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &cache->idle, node) {
		if (is_gone(cache, entry)) {
			leave_idle(cache, entry);
			entry_free(cache, entry);
		}
	}
}

/* Where memory is watched: some has changed. */
static void cache_sweep(struct mr_cache *cache)
{
	unsigned changes = mr_watch_changes();

	if (cache->by == MR_BY_OWNER || changes == cache->changes)
		return;
	cache->changes = changes;
	free_gone(cache);
}

void mr_cache_fini(struct mr_cache *cache)
{
	while (drop_oldest(cache))
		;
	hmap_destroy(&cache->table);
	if (cache->by && cache->by != MR_BY_OWNER)
		mr_watch_put(cache->by);
	cache->by = MR_BY_NONE;
}

/* ---- use ---------------------------------------------------------------------------------- */

/* Registers @addr.  The range is watched before it is registered, so that no change in between
 * is missed.
 */
static int entry_new(struct mr_cache *cache, void *addr, size_t len, struct mr_entry **entry_p)
{
	struct mr_entry *entry = calloc(1, sizeof(*entry));
	int ret;

	if (!entry)
		return -FI_ENOMEM;
	entry->cache = cache;
	entry->addr = (uintptr_t) addr;
	entry->len = len;
	if (cache->by == MR_BY_OWNER)
		free_gone(cache);	/* the owner is asked only when a registration is made */
	entry->watched = cache->by == MR_BY_OWNER ||
			 (cache->by && !mr_watch_add(&entry->range, cache->by, addr, len));
	do {
		ret = cache->ops->open(cache->arg, entry, &entry->mr);
	} while (ret == -FI_ENOMEM && drop_oldest(cache));
	if (ret) {
		entry->mr = NULL;
		entry_free(cache, entry);
		return ret;
	}
	*entry_p = entry;
	return 0;
}

/* A change that is only beginning to be reported counts for an entry that is about to be used. */
static bool is_usable(struct mr_cache *cache, struct mr_entry *entry, size_t len)
{
	return entry->len >= len && !(cache->by != MR_BY_OWNER && mr_watch_unsure(&entry->range)) &&
	       !is_gone(cache, entry);
}

static struct mr_entry *entry_find(struct mr_cache *cache, void *addr, size_t len)
{
	struct mr_entry *entry = hmap_find(&cache->table, (uintptr_t) addr);

	if (!entry || is_usable(cache, entry, len))
		return entry;
	entry_unlist(cache, entry);
	if (!entry->users) {
		leave_idle(cache, entry);
		entry_free(cache, entry);
	}
	return NULL;
}

int mr_cache_get(struct mr_cache *cache, void *addr, size_t len, struct mr_entry **entry_p)
{
	struct mr_entry *entry;
	int ret;

	cache_sweep(cache);
	entry = entry_find(cache, addr, len);
	if (!entry) {
		ret = entry_new(cache, addr, len, &entry);
		if (ret)
			return ret;
		entry->listed = entry->watched && !hmap_insert(&cache->table, entry->addr, entry);
	} else if (!entry->users) {
		leave_idle(cache, entry);
	}
	entry->users++;
	*entry_p = entry;
	return 0;
}

void mr_cache_put(struct mr_entry *entry)
{
	struct mr_cache *cache = entry->cache;

	if (--entry->users)
		return;
	if (!entry->listed || is_gone(cache, entry)) {
		entry_free(cache, entry);
		return;
	}
	list_add_tail(&entry->node, &cache->idle);
	cache->idle_cnt++;
	cache->idle_size += entry->len;
	while (cache->idle_cnt > cache->max_cnt || cache->idle_size > cache->max_size)
		drop_oldest(cache);
}
