/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "hmem/share.h"

#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"

#define SHARE_MAX 64		/* allocations that stay open without a user */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hmem_opened *newest;	/* the latest use first */

/* ---- the owner ------------------------------------------------------------------------ */

/* A child has another number than its parent: it has none of its memory. */
uint64_t hmem_share_proc(void)
{
	static uint64_t seed;

	pthread_mutex_lock(&lock);
	if (!seed && getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock_ns() | 1;
	pthread_mutex_unlock(&lock);
	return seed ^ (uint64_t) getpid() * UINT64_C(0x9e3779b97f4a7c15);
}

int hmem_share_of(const struct hmem_loc *loc, const void *addr, size_t len,
		  struct hmem_share *share)
{
	size_t total, off;
	void *base;
	int ret;

	if (loc->host || loc->unshared || hmem_p2p_disabled())
		return -FI_EOPNOTSUPP;
	memset(share, 0, sizeof(*share));
	ret = hmem_range(loc, addr, &base, &total);
	if (ret)
		return ret;
	off = (size_t) ((const char *) addr - (char *) base);
	if (off > total || len > total - off)
		return -FI_EOPNOTSUPP;
	ret = hmem_id(loc, base, &share->id);
	if (ret == -FI_EOPNOTSUPP)	/* handles differ instead */
		ret = 0;
	if (!ret)
		ret = hmem_ipc_get(loc, base, share->handle);
	share->proc = hmem_share_proc();
	share->base = (uintptr_t) base;
	share->len = total;
	share->iface = loc->iface;
	return ret;
}

/* ---- what is open ----------------------------------------------------------------------- */

static bool share_equal(const struct hmem_share *a, const struct hmem_share *b)
{
	return a->id == b->id && a->base == b->base && a->len == b->len &&
	       !memcmp(a->handle, b->handle, sizeof(a->handle));
}

/* The owner has something else at an address only after it has freed what was there. */
static bool share_replaced(const struct hmem_share *was, const struct hmem_share *is)
{
	return was->base < is->base + is->len && is->base < was->base + was->len && !share_equal(was, is);
}

static void opened_destroy(struct hmem_opened *opened)
{
	hmem_ipc_close(&opened->loc, opened->base);
	free(opened);
}

/* opened_drop - take it off the list; its last user closes it. */
static void opened_drop(struct hmem_opened **at)
{
	struct hmem_opened *opened = *at;

	*at = opened->next;
	opened->stale = true;
	if (!opened->users)
		opened_destroy(opened);
}

/* opened_find - the one for @share, now the newest; those that @share shows to be freed are dropped. */
static struct hmem_opened *opened_find(const struct hmem_loc *loc, const struct hmem_share *share)
{
	struct hmem_opened **at = &newest, *hit = NULL;

	while (*at) {
		struct hmem_opened *opened = *at;

		if (opened->share.proc == share->proc && opened->share.iface == share->iface) {
			if (share_replaced(&opened->share, share)) {
				opened_drop(at);
				continue;
			}
			if (opened->loc.ctx == loc->ctx && share_equal(&opened->share, share)) {
				hit = opened;
				*at = opened->next;
				continue;
			}
		}
		at = &opened->next;
	}
	if (hit) {
		hit->next = newest;
		newest = hit;
	}
	return hit;
}

/* opened_limit - close the oldest without users, beyond SHARE_MAX. */
static void opened_limit(void)
{
	struct hmem_opened **at = &newest, **oldest = NULL;
	unsigned cnt = 0;

	for (; *at; at = &(*at)->next) {
		cnt++;
		if (!(*at)->users)
			oldest = at;
	}
	if (cnt > SHARE_MAX && oldest)
		opened_drop(oldest);
}

/* share_check - the description is a peer's: does an allocation of that length begin at @at here? */
static int share_check(const struct hmem_loc *loc, const struct hmem_share *share, char *at)
{
	void *base;
	size_t len;
	int ret = hmem_range(loc, at, &base, &len);

	if (ret)
		return ret;
	return base == at && len >= share->len ? 0 : -FI_EINVAL;
}

static int open_new(const struct hmem_loc *loc, const struct hmem_share *share,
		    struct hmem_opened **opened_p)
{
	struct hmem_opened *opened = calloc(1, sizeof(*opened));
	void *base;
	int ret;

	if (!opened)
		return -FI_ENOMEM;
	opened->share = *share;
	opened->loc = *loc;
	opened->loc.map = NULL;
	ret = hmem_ipc_open(loc, share->handle, share->len, &base);
	if (ret) {
		free(opened);
		return ret;
	}
	opened->base = base;
	ret = share_check(loc, share, opened->base);
	if (ret) {
		opened_destroy(opened);
		return ret;
	}
	opened->next = newest;
	newest = opened;
	*opened_p = opened;
	opened_limit();
	return 0;
}

int hmem_share_open(const struct hmem_loc *loc, const struct hmem_share *share,
		    struct hmem_opened **opened_p, char **base_p)
{
	struct hmem_opened *opened;
	int ret = 0;

	if (share->iface != loc->iface || loc->host || hmem_p2p_disabled())
		return -FI_EOPNOTSUPP;
	*opened_p = NULL;
	if (share->proc == hmem_share_proc()) {
		*base_p = (char *) (uintptr_t) share->base;
		return share_check(loc, share, *base_p);
	}
	pthread_mutex_lock(&lock);
	opened = opened_find(loc, share);
	if (!opened)
		ret = open_new(loc, share, &opened);
	if (!ret) {
		opened->users++;
		*opened_p = opened;
		*base_p = opened->base;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

void hmem_share_close(struct hmem_opened *opened)
{
	if (!opened)
		return;
	pthread_mutex_lock(&lock);
	if (!--opened->users && opened->stale)
		opened_destroy(opened);
	pthread_mutex_unlock(&lock);
}

void hmem_share_trim(void)
{
	struct hmem_opened **at = &newest;

	pthread_mutex_lock(&lock);
	while (*at)
		if ((*at)->users)
			at = &(*at)->next;
		else
			opened_drop(at);
	pthread_mutex_unlock(&lock);
}

unsigned hmem_share_cnt(void)
{
	struct hmem_opened *opened;
	unsigned cnt = 0;

	pthread_mutex_lock(&lock);
	for (opened = newest; opened; opened = opened->next)
		cnt++;
	pthread_mutex_unlock(&lock);
	return cnt;
}
