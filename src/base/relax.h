/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * relax.h - one look more at memory that another processor is about to write.
 *
 * Without a pause the next looks are under way before the last one has an answer.
 * They fetch the line back from the writer between two of its stores, and when it
 * changes after all, the work that ran ahead of the looks is thrown away.
 * Source: the processors' manuals, on spin-wait loops.
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

#endif
