/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * barrier.h - a memory barrier that other threads execute, so that their fast path needs none.
 *
 * Linux: membarrier. POSIX: there is none, and callers do without.
 */
#ifndef OS_BARRIER_H
#define OS_BARRIER_H

#include <stdbool.h>

/* The threads of this process.
 * os_barrier_able - can the system make one?
 * os_barrier_enroll - before the first; takes milliseconds in a process of several threads.
 * os_barrier_threads - in all threads.  Returns 0; -EPERM: not enrolled, or forbidden; -ENOSYS.
 */
bool os_barrier_able(void);
int os_barrier_enroll(void);
int os_barrier_threads(void);

/* The threads of all processes that have joined.
 * os_barrier_join - false: the system has none.
 * os_barrier_joined - Returns 0, or a negative errno.
 */
bool os_barrier_join(void);
int os_barrier_joined(void);

#endif
