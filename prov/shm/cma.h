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

/* shm_cma_probe_read - is @probe what process @pid has at @addr? */
bool shm_cma_probe_read(pid_t pid, uint64_t addr, uint64_t probe);

/* shm_cma_probe_write - can it be written, too?  Writes what is there. */
bool shm_cma_probe_write(pid_t pid, uint64_t addr, uint64_t probe);

/* shm_cma_read - read @len bytes of @from in process @pid into @to.
 *
 * @to, @from: both lists are at least @len bytes long
 *
 * Threading: any; blocks for as long as the copy takes.
 * Errors:    -FI_EFAULT: not readable there or not writable here; -FI_ESRCH: the process
 *            has ended; -FI_EPERM.  Part of @to may have been written.
 */
int shm_cma_read(pid_t pid, const struct iovec *to, size_t to_cnt,
		  const struct iovec *from, size_t from_cnt, size_t len);

/* shm_cma_write - write @len bytes of @from to @to in process @pid; otherwise the same. */
int shm_cma_write(pid_t pid, const struct iovec *from, size_t from_cnt,
		   const struct iovec *to, size_t to_cnt, size_t len);

#endif
