/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * file_limit.h - the limit on the size of files (ulimit -f), which holds for shared memory, too.
 */
#ifndef BASE_FILE_LIMIT_H
#define BASE_FILE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* file_limit_admits - may this process make a file, or memory with a descriptor, of @size bytes?  To be
 * asked before ftruncate() and fallocate(): beyond the limit they end the process by SIGXFSZ.
 *
 * Ownership: n/a
 * Threading: any
 * Errors:    none
 */
static inline bool file_limit_admits(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

#endif
