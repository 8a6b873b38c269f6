/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pull.h - reading from another process's memory, and writing to it.
 *
 * Whether that works depends on users, namespaces, ptrace settings and system call
 * filters of both sides; so nobody guesses.  Each side shows the other a random number
 * in its memory, and the other tries to read it.
 */
#ifndef SHM_PULL_H
#define SHM_PULL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* shm_pull_try - is @probe what process @pid has at @addr? */
bool shm_pull_try(pid_t pid, uint64_t addr, uint64_t probe);

/* shm_pull_try_write - may it be written, too?  Writes what is there. */
bool shm_pull_try_write(pid_t pid, uint64_t addr, uint64_t probe);

/* shm_pull_read - read @len bytes of @from in process @pid into @to.
 *
 * @to, @from: both lists are at least @len bytes long
 *
 * Threading: any; blocks for as long as the copy takes.
 * Errors:    -FI_EFAULT: not readable there or not writable here; -FI_ESRCH: the process
 *            is gone; -FI_EPERM.  Part of @to may have been written.
 */
int shm_pull_read(pid_t pid, const struct iovec *to, size_t to_cnt,
		  const struct iovec *from, size_t from_cnt, size_t len);

/* shm_pull_write - write @len bytes of @from to @to in process @pid; else the same. */
int shm_pull_write(pid_t pid, const struct iovec *from, size_t from_cnt,
		   const struct iovec *to, size_t to_cnt, size_t len);

#endif
