/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * probe.h - places that tracers may stop at (USDT): a note in the ELF file names each, and where its arguments
 * lie.  fi_tuning(7) lists them.
 *
 * A probe is a place between two instructions, and none itself: the "nop" that sys/sdt.h puts there is left
 * out, since tracers replace the first byte of whichever instruction follows.  Arguments are what lies in registers
 * or in memory there anyway; a probe that needs one to be loaded changes the code, and does not belong on the
 * data path.
 */
#ifndef BASE_PROBE_H
#define BASE_PROBE_H

#if defined(HAVE_SYS_SDT_H) && defined(__x86_64__)
#include <sys/sdt.h>
#undef _SDT_NOP
#define _SDT_NOP
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
/* "inline": the text counts as one instruction when the compiler estimates the size of a function. */
#undef _SDT_PROBE
#define _SDT_PROBE(provider, name, n, arglist)								\
	do {												\
		__asm__ inline volatile (_SDT_ASM_BODY(provider, name, _SDT_ASM_ARGS, (n))		\
					 :: _SDT_ASM_OPERANDS_##n arglist);				\
		__asm__ inline volatile (_SDT_ASM_BASE);						\
	} while (0)
#endif
#define PROBE1(name, a) DTRACE_PROBE1(libfabric, name, a)
#define PROBE2(name, a, b) DTRACE_PROBE2(libfabric, name, a, b)
#define PROBE3(name, a, b, c) DTRACE_PROBE3(libfabric, name, a, b, c)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(libfabric, name, a, b, c, d)
#else
#define PROBE1(name, a) ((void) 0)
#define PROBE2(name, a, b) ((void) 0)
#define PROBE3(name, a, b, c) ((void) 0)
#define PROBE4(name, a, b, c, d) ((void) 0)
#endif

#endif
