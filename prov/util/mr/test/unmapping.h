/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * unmapping.h - an allocator that maps each allocation and unmaps it when it is freed, for a program that is
 * linked with --wrap of malloc, calloc, realloc and free. Without that (MR_UNMAPPING) it cannot begin.
 */
#ifndef MR_UNMAPPING_H
#define MR_UNMAPPING_H

#include <stdbool.h>
#include <stddef.h>

/* unmapping_begin - map what is allocated from now on.
 *
 * @before: called with each mapping before it is unmapped
 */
bool unmapping_begin(void (*before)(void *p, size_t len));
void unmapping_end(void);

#endif
