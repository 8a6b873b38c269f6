/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * alloc.h - allocations of this process that fail when a test says so.
 *
 * The program's own malloc(), calloc(), realloc(), posix_memalign(), aligned_alloc() and mmap()
 * stand in place of the C library's, for the library and for what that calls.
 */
#ifndef NOMEM_ALLOC_H
#define NOMEM_ALLOC_H

/* alloc_arm - count allocations of every thread from now on; number @first (the first one is 0) and
 * the @cnt - 1 after it fail.
 *
 * @first: negative: none fails
 *
 * Ownership: n/a
 * Threading: any; allocations are counted for all threads together
 * Errors:    none
 */
void alloc_arm(long first, long cnt);

/* alloc_disarm - count no more, and let none fail.  Returns how many were counted.
 *
 * Ownership: n/a
 * Threading: any
 * Errors:    none
 */
long alloc_disarm(void);

/* alloc_failed - how many have failed. */
long alloc_failed(void);

/* alloc_trace - write the stack of each allocation that fails to standard error. */
void alloc_trace(void);

#endif
