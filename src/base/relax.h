/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * relax.h - a pause between two reads of memory that another processor is about to write.
 *
 * Without it the processor issues the next reads before the last one has returned.  They take
 * the cache line away from the writer between two of its stores, and when the value changes,
 * the speculative work behind the reads is discarded.  Where the writer runs on the other thread of
 * the core, they also take from it what the two share.
 * Source: the processors' manuals, on spin-wait loops.
 *
 * cpu_relax()  - for a wait that may be long: tens of nanoseconds.
 * cpu_settle() - for a read that ends the wait at once: the reads before it return first.
 */
#ifndef BASE_RELAX_H
#define BASE_RELAX_H

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#else
	__asm__ volatile("" : : : "memory");
#endif
}

static inline void cpu_settle(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("lfence" : : : "memory");
#else
	__asm__ volatile("" : : : "memory");
#endif
}

#endif
