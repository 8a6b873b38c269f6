/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * share.h - memory of a device that another process of the host opens.
 *
 * The owner describes an allocation by struct hmem_share, the other process opens it by that and
 * copies from it.  What was opened stays open, because opening takes longer than many a copy,
 * until the owner has something else at that address, until SHARE_MAX are open, or until
 * hmem_share_trim().
 */
#ifndef HMEM_SHARE_H
#define HMEM_SHARE_H

#include "hmem/mem.h"

/* An allocation, as it is described to another process. */
struct hmem_share {
	uint64_t proc;			/* the owner: hmem_share_proc() there */
	uint64_t id;			/* hmem_id(); 0: the interface has none, and handles differ instead */
	uint64_t base;			/* its address, with the owner */
	uint64_t len;
	char handle[HMEM_IPC_SIZE];	/* aligned like the words above: libraries use it as a structure */
	uint32_t iface;			/* enum fi_hmem_iface */
};

/* An allocation that is open here, at @base. */
struct hmem_opened {
	struct hmem_share share;
	struct hmem_loc loc;		/* by which it was opened */
	char *base;
	unsigned users;
	bool stale;			/* the owner has freed it: closed by its last user */
	struct hmem_opened *next;	/* the one that was used before it */
};

/* hmem_share_proc - a number of this process that no other one of the host has. */
uint64_t hmem_share_proc(void);

/* hmem_share_of - describe the allocation in which [@addr, @addr + @len) lies.
 * Errors: -FI_EOPNOTSUPP no process may open it: it is the host's, of virtual memory management,
 *         of several allocations, or FI_HMEM_DISABLE_P2P is set; the device's.
 */
int hmem_share_of(const struct hmem_loc *loc, const void *addr, size_t len,
		  struct hmem_share *share_p);

/* hmem_share_open - open @share for copies by @loc.
 *
 * @opened_p: [out] open until hmem_share_close(), or NULL: memory of this process, at its address
 * @base_p:   [out] where it begins here
 *
 * Errors: -FI_EOPNOTSUPP another interface, or FI_HMEM_DISABLE_P2P; -FI_EINVAL it is shorter
 *         than @share says; -FI_ENOMEM; the device's.
 */
int hmem_share_open(const struct hmem_loc *loc, const struct hmem_share *share,
		    struct hmem_opened **opened_p, char **base_p);
void hmem_share_close(struct hmem_opened *opened);

/* hmem_share_trim - close what has no users.  hmem_share_cnt - how many are open. */
void hmem_share_trim(void);
unsigned hmem_share_cnt(void);

#endif
