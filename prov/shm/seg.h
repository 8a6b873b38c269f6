/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * seg.h - the memory that two processes share: anonymous, passed by descriptor.
 *
 * It has no name, so it is freed with the last process that maps it, however that ends.
 * It is sealed against a change of size, so that a peer cannot take pages away (access
 * would end in SIGBUS); memory that is not sealed is not mapped.
 */
#ifndef SHM_SEG_H
#define SHM_SEG_H

#include "wire.h"

/* shm_mem_make - @size new bytes, all zeroes, and the descriptor to pass on.
 * Ownership: the caller closes *@fd_p and ends with shm_mem_unmap().
 * Errors: -FI_EMFILE, -FI_ENOMEM, -FI_ENOSYS (no memfd or no seals); -FI_ENOSPC: the limit on the size of
 * files is smaller.
 * Cost: pages are allocated on first access.
 */
int shm_mem_make(size_t size, void **mem_p, int *fd_p);

/* shm_mem_map - @size bytes that came from a peer.
 * Ownership: the caller keeps @fd, which may be closed at once.
 * Errors: -FI_EINVAL: no sealed memory of that size; -FI_ENOMEM.
 */
int shm_mem_map(int fd, size_t size, void **mem_p);

/* shm_mem_unmap - NULL does nothing. */
void shm_mem_unmap(void *mem, size_t size);

/* The same for a segment. */
static inline int shm_seg_make(struct shm_seg **seg_p, int *fd_p)
{
	return shm_mem_make(sizeof(**seg_p), (void **) seg_p, fd_p);
}

static inline int shm_seg_map(int fd, struct shm_seg **seg_p)
{
	return shm_mem_map(fd, sizeof(**seg_p), (void **) seg_p);
}

static inline void shm_seg_unmap(struct shm_seg *seg)
{
	shm_mem_unmap(seg, sizeof(*seg));
}

#endif
