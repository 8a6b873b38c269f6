/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cma.h - cross-memory attach: reading and writing another process's memory.
 *
 * Whether it works depends on users, namespaces, ptrace settings and system call filters of
 * both sides.  So it is tried: each side shows the other a random number in its memory, and
 * the other tries to read it.
 */
#ifndef SHM_CMA_H
#define SHM_CMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* shm_cma_probe - can the 8 bytes at @addr of process @pid be read, and are they @probe?
 * @write: can they be written?  Writes @probe, which is there already.
 */
bool shm_cma_probe(pid_t pid, bool write, uint64_t addr, uint64_t probe);

/* shm_cma_copy - copy @len bytes from @theirs in process @pid to @mine.
 *
 * @write: from @mine to @theirs
 * Both lists are at least @len bytes long.
 *
 * Threading: any; blocks for as long as the copy takes.
 * Errors:    -FI_EFAULT: one list cannot be read, or the other not written; -FI_ESRCH: the
 *            process has ended; -FI_EPERM.  Part of the destination may have been written.
 */
int shm_cma_copy(pid_t pid, bool write, const struct iovec *mine, size_t mine_cnt,
		 const struct iovec *theirs, size_t theirs_cnt, size_t len);

#endif
