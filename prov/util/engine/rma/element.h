/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * element.h - the arithmetic of atomic operations: pure functions on elements, and the rows of the
 * table datatype x operation of integers of 8 to 64 bits.
 *
 * The library has it in atomic.c; kernel/gen_shared writes a copy for the kernel modules.  So nothing
 * here needs more than memcpy() and integers of fixed width.
 */
#ifndef ENG_ELEMENT_H
#define ENG_ELEMENT_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OP_CNT (FI_DIFF + 1)

/* @out = @old op @a for @cnt elements, @c being the compare operands.  Nothing need be aligned;
 * @out may be @old.
 */
typedef void (*element_fn)(void *out, const void *old, const void *a, const void *c, size_t cnt);

/* One such function.  The expression sees o (old), a and c, and yields the
 * new value; a condition that keeps the old value yields o.
 */
#define ELEMENT(name, T, op, expr)						\
	static void name##_##op(void *out, const void *old, const void *pa, const void *pc, \
				size_t cnt)					\
	{									\
		size_t at;							\
		T o, a, c, r;							\
		for (at = 0; at < cnt * sizeof(T); at += sizeof(T)) {		\
			memcpy(&o, (const char *) old + at, sizeof(T));		\
			memcpy(&a, (const char *) pa + at, sizeof(T));		\
			memcpy(&c, (const char *) pc + at, sizeof(T));		\
			(void) o; (void) a; (void) c;				\
			r = (T) (expr);						\
			memcpy((char *) out + at, &r, sizeof(T));		\
		}								\
	}

/* Operations that any type with == has.  CSWAP compares the compare operand
 * with the target, in this order: fi_atomic(3) writes "compare < target".
 */
#define EQUALITY_OPS(n, T)							\
	ELEMENT(n, T, lor, (o != 0) || (a != 0))				\
	ELEMENT(n, T, land, (o != 0) && (a != 0))				\
	ELEMENT(n, T, lxor, (o != 0) != (a != 0))				\
	ELEMENT(n, T, read, o)							\
	ELEMENT(n, T, write, a)							\
	ELEMENT(n, T, cswap, c == o ? a : o)					\
	ELEMENT(n, T, cswap_ne, c != o ? a : o)

#define ORDER_OPS(n, T)								\
	ELEMENT(n, T, min, a < o ? a : o)					\
	ELEMENT(n, T, max, a > o ? a : o)					\
	ELEMENT(n, T, cswap_le, c <= o ? a : o)					\
	ELEMENT(n, T, cswap_lt, c < o ? a : o)					\
	ELEMENT(n, T, cswap_ge, c >= o ? a : o)					\
	ELEMENT(n, T, cswap_gt, c > o ? a : o)

/* Integers wrap: the arithmetic is done in an unsigned type W that is not
 * promoted to int.
 */
#define INTEGER(n, T, W)							\
	EQUALITY_OPS(n, T)							\
	ORDER_OPS(n, T)								\
	ELEMENT(n, T, sum, (W) o + (W) a)					\
	ELEMENT(n, T, prod, (W) o * (W) a)					\
	ELEMENT(n, T, diff, (W) o - (W) a)					\
	ELEMENT(n, T, bor, (W) o | (W) a)					\
	ELEMENT(n, T, band, (W) o & (W) a)					\
	ELEMENT(n, T, bxor, (W) o ^ (W) a)					\
	ELEMENT(n, T, mswap, ((W) a & (W) c) | ((W) o & ~(W) c))

INTEGER(i8, int8_t, unsigned)
INTEGER(u8, uint8_t, unsigned)
INTEGER(i16, int16_t, unsigned)
INTEGER(u16, uint16_t, unsigned)
INTEGER(i32, int32_t, uint32_t)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
INTEGER(u64, uint64_t, uint64_t)

#define EQUALITY_ROW(n)								\
	[FI_LOR] = n##_lor, [FI_LAND] = n##_land, [FI_LXOR] = n##_lxor,		\
	[FI_ATOMIC_READ] = n##_read, [FI_ATOMIC_WRITE] = n##_write,		\
	[FI_CSWAP] = n##_cswap, [FI_CSWAP_NE] = n##_cswap_ne,			\
	[FI_SUM] = n##_sum, [FI_PROD] = n##_prod, [FI_DIFF] = n##_diff
#define ORDER_ROW(n)								\
	EQUALITY_ROW(n), [FI_MIN] = n##_min, [FI_MAX] = n##_max,		\
	[FI_CSWAP_LE] = n##_cswap_le, [FI_CSWAP_LT] = n##_cswap_lt,		\
	[FI_CSWAP_GE] = n##_cswap_ge, [FI_CSWAP_GT] = n##_cswap_gt
#define INTEGER_ROW(n)								\
	ORDER_ROW(n), [FI_BOR] = n##_bor, [FI_BAND] = n##_band,			\
	[FI_BXOR] = n##_bxor, [FI_MSWAP] = n##_mswap

/* Entries of a table of element_type, by datatype. */
#define INTEGER_TYPES								\
	[FI_INT8] = { 1, { INTEGER_ROW(i8) } },					\
	[FI_UINT8] = { 1, { INTEGER_ROW(u8) } },				\
	[FI_INT16] = { 2, { INTEGER_ROW(i16) } },				\
	[FI_UINT16] = { 2, { INTEGER_ROW(u16) } },				\
	[FI_INT32] = { 4, { INTEGER_ROW(i32) } },				\
	[FI_UINT32] = { 4, { INTEGER_ROW(u32) } },				\
	[FI_INT64] = { 8, { INTEGER_ROW(i64) } },				\
	[FI_UINT64] = { 8, { INTEGER_ROW(u64) } }

struct element_type {
	size_t size;			/* 0: an unknown datatype */
	element_fn op[OP_CNT];		/* NULL: not defined for the type */
};

/* element_form_fits - can @op be done by a call that has a @result, and operands to @compare?  A read
 * without a result is no operation.
 */
static inline bool element_form_fits(unsigned op, bool result, bool compare)
{
	return (op >= FI_CSWAP && op <= FI_MSWAP) == compare && (op != FI_ATOMIC_READ || result);
}

#endif
