/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The arithmetic is a table of pure functions on elements, datatype x operation;
 * a compare-and-swap around it makes the update atomic.  One of 16 bytes costs little
 * more than one of a single element, so that adjacent elements are changed together.
 */
#include "engine/atomic.h"

#include <complex.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/minifloat.h"
#include "engine/rma/element.h"

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

#define WIDEST 32		/* long double complex */
#define CHUNK 128		/* bytes that are computed before any is written */

#define COMPLEX(n, T)								\
	EQUALITY_OPS(n, T)							\
	ELEMENT(n, T, sum, o + a)						\
	ELEMENT(n, T, prod, o * a)						\
	ELEMENT(n, T, diff, o - a)

#define REAL(n, T)								\
	COMPLEX(n, T)								\
	ORDER_OPS(n, T)

/* Short floats compute in float; what keeps a value keeps its bits. */
#define SHORT_ELEMENT(n, T, op, expr)						\
	static void n##_##op(void *out, const void *old, const void *pa, const void *pc, \
			     size_t cnt)					\
	{									\
		T ob, ab, cb, r;						\
		float o, a, c;							\
		size_t at;							\
		for (at = 0; at < cnt * sizeof(T); at += sizeof(T)) {		\
			memcpy(&ob, (const char *) old + at, sizeof(T));	\
			memcpy(&ab, (const char *) pa + at, sizeof(T));		\
			memcpy(&cb, (const char *) pc + at, sizeof(T));		\
			o = n##_to_float(ob);					\
			a = n##_to_float(ab);					\
			c = n##_to_float(cb);					\
			(void) o; (void) a; (void) c;				\
			r = expr;						\
			memcpy((char *) out + at, &r, sizeof(T));		\
		}								\
	}

#define SHORT_REAL(n, T)							\
	SHORT_ELEMENT(n, T, lor, n##_from_float((o != 0) || (a != 0)))		\
	SHORT_ELEMENT(n, T, land, n##_from_float((o != 0) && (a != 0)))		\
	SHORT_ELEMENT(n, T, lxor, n##_from_float((o != 0) != (a != 0)))		\
	SHORT_ELEMENT(n, T, read, ob)						\
	SHORT_ELEMENT(n, T, write, ab)						\
	SHORT_ELEMENT(n, T, cswap, c == o ? ab : ob)				\
	SHORT_ELEMENT(n, T, cswap_ne, c != o ? ab : ob)				\
	SHORT_ELEMENT(n, T, min, a < o ? ab : ob)				\
	SHORT_ELEMENT(n, T, max, a > o ? ab : ob)				\
	SHORT_ELEMENT(n, T, cswap_le, c <= o ? ab : ob)				\
	SHORT_ELEMENT(n, T, cswap_lt, c < o ? ab : ob)				\
	SHORT_ELEMENT(n, T, cswap_ge, c >= o ? ab : ob)				\
	SHORT_ELEMENT(n, T, cswap_gt, c > o ? ab : ob)				\
	SHORT_ELEMENT(n, T, sum, n##_from_float(o + a))				\
	SHORT_ELEMENT(n, T, prod, n##_from_float(o * a))			\
	SHORT_ELEMENT(n, T, diff, n##_from_float(o - a))

INTEGER(i128, i128, u128)
INTEGER(u128, u128, u128)
REAL(f32, float)
REAL(f64, double)
REAL(f80, long double)
COMPLEX(c32, float complex)
COMPLEX(c64, double complex)
COMPLEX(c80, long double complex)
SHORT_REAL(f16, uint16_t)
SHORT_REAL(bf16, uint16_t)
SHORT_REAL(e4m3, uint8_t)
SHORT_REAL(e5m2, uint8_t)

static const struct element_type types[] = {
	INTEGER_TYPES,
	[FI_INT128] = { 16, { INTEGER_ROW(i128) } },
	[FI_UINT128] = { 16, { INTEGER_ROW(u128) } },
	[FI_FLOAT] = { sizeof(float), { ORDER_ROW(f32) } },
	[FI_DOUBLE] = { sizeof(double), { ORDER_ROW(f64) } },
	[FI_LONG_DOUBLE] = { sizeof(long double), { ORDER_ROW(f80) } },
	[FI_FLOAT_COMPLEX] = { sizeof(float complex), { EQUALITY_ROW(c32) } },
	[FI_DOUBLE_COMPLEX] = { sizeof(double complex), { EQUALITY_ROW(c64) } },
	[FI_LONG_DOUBLE_COMPLEX] = { sizeof(long double complex), { EQUALITY_ROW(c80) } },
	[FI_FLOAT16] = { 2, { ORDER_ROW(f16) } },
	[FI_BFLOAT16] = { 2, { ORDER_ROW(bf16) } },
	[FI_FLOAT8_E4M3] = { 1, { ORDER_ROW(e4m3) } },
	[FI_FLOAT8_E5M2] = { 1, { ORDER_ROW(e5m2) } },
};

#define TYPE_CNT (sizeof(types) / sizeof(*types))

size_t eng_atomic_size(enum fi_datatype datatype)
{
	return (unsigned) datatype < TYPE_CNT ? types[datatype].size : 0;
}

int eng_atomic_valid(enum eng_atomic_form form, enum fi_datatype datatype, enum fi_op op)
{
	if (!eng_atomic_size(datatype) || (unsigned) op >= OP_CNT || !types[datatype].op[op])
		return -FI_EOPNOTSUPP;
	return element_form_fits(op, form != ENG_ATOMIC_BASE, form == ENG_ATOMIC_COMPARE) ? 0 : -FI_EOPNOTSUPP;
}

/* ---- making an update atomic -------------------------------------------- */

#define LOCK_CNT 64

static char locks[LOCK_CNT][64] __attribute__((aligned(64)));

static char *lock_of(const void *addr)
{
	return locks[((uintptr_t) addr >> 5) % LOCK_CNT];
}

static void update_locked(element_fn fn, size_t size, char *dst, const char *a,
			  const char *c, char *old)
{
	char *lock = lock_of(dst);
	char out[WIDEST];

	while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE))
		sched_yield();
	memcpy(old, dst, size);
	fn(out, old, a, c, 1);
	memcpy(dst, out, size);
	__atomic_clear(lock, __ATOMIC_RELEASE);
}

#define UPDATE_CAS(W)								\
	static void update_##W(element_fn fn, size_t cnt, void *dst, const char *a, \
			       const char *c, char *old)			\
	{									\
		W was = __atomic_load_n((W *) dst, __ATOMIC_RELAXED), now;	\
		do {								\
			fn(&now, &was, a, c, cnt);				\
		} while (!__atomic_compare_exchange_n((W *) dst, &was, now, true, \
						      __ATOMIC_ACQ_REL,		\
						      __ATOMIC_ACQUIRE));	\
		memcpy(old, &was, sizeof(W));					\
	}

UPDATE_CAS(uint8_t)
UPDATE_CAS(uint16_t)
UPDATE_CAS(uint32_t)
UPDATE_CAS(uint64_t)

#ifdef __x86_64__
/* Every CPU that runs a 64-bit system since 2006 has it; checked all the same. */
static bool have_cas16(void)
{
	static int known;	/* 0: not asked yet, 1: yes, -1: no; any thread may ask */
	unsigned a, b, c, d;
	int have = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!have) {
		have = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_CMPXCHG16B) ? 1 : -1;
		__atomic_store_n(&known, have, __ATOMIC_RELAXED);
	}
	return have > 0;
}

/* @now takes the place of @was, unless that has changed: then @was is what is there. */
static inline bool cas_u128(uint64_t *dst, uint64_t was[2], const uint64_t now[2])
{
	bool ok;

	__asm__ __volatile__("lock cmpxchg16b %1"
			     : "=@ccz" (ok), "+m" (*(u128 *) dst),
			       "+a" (was[0]), "+d" (was[1])
			     : "b" (now[0]), "c" (now[1])
			     : "memory");
	return ok;
}

static void update_16(element_fn fn, size_t cnt, uint64_t *dst, const char *a, const char *c,
		      uint64_t was[2])
{
	uint64_t now[2];

	do {
		fn(now, was, a, c, cnt);
	} while (!cas_u128(dst, was, now));
}

/* update_chunk - at most CHUNK bytes, in units of 16.  A locked instruction waits for all stores
 * before it, so that all new values are computed first, and those of a unit that has changed
 * meanwhile again.
 */
static void update_chunk(element_fn fn, size_t size, size_t len, uint64_t *dst, const char *a,
			 const char *c, char *old)
{
	uint64_t was[CHUNK / 8], now[CHUNK / 8], w[2];
	size_t i, cnt = len / 8;

	for (i = 0; i < cnt; i++)
		was[i] = __atomic_load_n(&dst[i], __ATOMIC_ACQUIRE);
	fn(now, was, a, c, len / size);
	for (i = 0; i < cnt; i += 2) {
		w[0] = was[i];
		w[1] = was[i + 1];
		/* longer elements may have been read torn */
		if (size <= sizeof(*dst) && w[0] == now[i] && w[1] == now[i + 1])
			continue;
		if (__builtin_expect(!cas_u128(&dst[i], w, &now[i]), 0))
			update_16(fn, 16 / size, &dst[i], a + i * 8, c + i * 8, &was[i]);
	}
	memcpy(old, was, len);
}
#else
static bool have_cas16(void)
{
	return false;
}

static void update_chunk(element_fn fn, size_t size, size_t len, uint64_t *dst, const char *a,
			 const char *c, char *old)
{
	(void) len;
	update_locked(fn, size, (char *) dst, a, c, old);
}
#endif

/* elements_together - how many of @cnt elements at @dst one call of update_elements() changes. */
static size_t elements_together(const char *dst, size_t size, size_t cnt)
{
	size_t width = sizeof(uint64_t), len = cnt * size;

	if ((uintptr_t) dst & (size - 1) || size > 16)
		return 1;
	if (!((uintptr_t) dst & 15) && len >= 16 && have_cas16())
		return (len < CHUNK ? len & ~(size_t) 15 : CHUNK) / size;
	while (width > size && ((uintptr_t) dst & (width - 1) || width > len))
		width /= 2;
	return width > size ? width / size : 1;
}

/* update_elements - @cnt elements, as many as elements_together() says. */
static void update_elements(element_fn fn, size_t size, size_t cnt, char *dst, const char *a,
			    const char *c, char *old)
{
	size_t len = size * cnt;

	if ((uintptr_t) dst & (size - 1) || size > 16)
		len = 0;
	switch (len) {
	case 0:
		update_locked(fn, size, dst, a, c, old);
		break;
	case 1:
		update_uint8_t(fn, cnt, dst, a, c, old);
		break;
	case 2:
		update_uint16_t(fn, cnt, dst, a, c, old);
		break;
	case 4:
		update_uint32_t(fn, cnt, dst, a, c, old);
		break;
	case 8:
		update_uint64_t(fn, cnt, dst, a, c, old);
		break;
	default:
		if (have_cas16())
			update_chunk(fn, size, len, (uint64_t *) dst, a, c, old);
		else
			update_locked(fn, size, dst, a, c, old);
	}
}

void eng_atomic_apply(enum fi_datatype datatype, enum fi_op op, void *dst,
		      const void *operand, const void *compare, void *result,
		      size_t count)
{
	element_fn fn = types[datatype].op[op];
	size_t at, cnt, size = types[datatype].size;
	static const char zero[CHUNK];
	char old[CHUNK];
	const char *a = operand, *c = compare;

	for (at = 0; count; at += cnt * size, count -= cnt) {
		cnt = elements_together((char *) dst + at, size, count);
		update_elements(fn, size, cnt, (char *) dst + at, a ? a + at : zero, c ? c + at : zero, old);
		if (result)
			memcpy((char *) result + at, old, cnt * size);
	}
}

void eng_atomic_reduce(enum fi_datatype datatype, enum fi_op op, void *dst,
		       const void *operand, size_t count)
{
	types[datatype].op[op](dst, dst, operand, operand, count);
}
