/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * word.h - sleep until another thread of the process changes a word.
 *
 * Linux: a futex. POSIX: condition variables, one for many words.
 *
 * Threading: any.
 */
#ifndef OS_WORD_H
#define OS_WORD_H

/* os_word_wait - sleep while *@word is @value; returns earlier, too.
 * os_word_wake - one thread that sleeps on @word, or more.  It uses the address alone: the memory may be gone.
 */
void os_word_wait(unsigned *word, unsigned value);
void os_word_wake(unsigned *word);

#endif
