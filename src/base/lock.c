/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread that has waited cannot know whether other threads still wait, so it sets the word to
 * 2 (contended).  At worst the next unlock makes one futex wake that finds no waiter.
 */
void lock_wait(struct lock *l)
{
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

/* The lock has been released already and its memory may have been freed.  The wake uses the
 * address only; if the memory is gone, no thread waits on it.
 */
void lock_wake(struct lock *l)
{
	syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
