/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * memory.h - memory that processes share, by a descriptor.
 *
 * Linux: a memfd, whose size is sealed. POSIX: shm_open() of a name that is removed at once. There a peer
 * can truncate what it has shared: a process that maps it trusts the peers of its user.
 */
#ifndef OS_MEMORY_H
#define OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* os_memory_make - @size bytes of zeros that have no name.  Returns the descriptor, or a negative errno. */
int os_memory_make(size_t size);

/* os_memory_is_fixed - nothing can change the size of the memory of a peer, which POSIX does not tell, and we may write to
 * it.
 */
bool os_memory_is_fixed(int fd);

/* os_memory_keep - a child process gets no copy of this mapping, where the system can do that.
 * os_memory_place - prefer pages near the processor of this thread, which has not written to it.
 */
void os_memory_keep(void *mem, size_t size);
void os_memory_place(void *mem, size_t size);

/* os_memory_node - the NUMA node of the processor that this thread runs on; -1: not known. */
int os_memory_node(void);

/* os_memory_admits - may this process make a file, or memory with a descriptor, of @size bytes?  To be
 * asked before ftruncate() and fallocate(): beyond the limit they end the process by SIGXFSZ.
 *
 * Ownership: n/a
 * Threading: any
 * Errors:    none
 */
static inline bool os_memory_admits(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

#endif
