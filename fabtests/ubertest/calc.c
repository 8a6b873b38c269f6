/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* What atomic operations come to, computed here from their definition. */
#include <complex.h>

#include "uber.h"

/* Within these, t is the target cell, a the operand and c the comparand. */
#define EVERY_TYPE \
	case FI_SUM: t = t + a; break; \
	case FI_PROD: t = t * a; break; \
	case FI_LOR: t = t || a; break; \
	case FI_LAND: t = t && a; break; \
	case FI_LXOR: t = !t != !a; break; \
	case FI_ATOMIC_WRITE: t = a; break; \
	case FI_CSWAP: t = c == t ? a : t; break; \
	case FI_CSWAP_NE: t = c != t ? a : t; break;
#define ORDERED \
	case FI_MIN: t = a < t ? a : t; break; \
	case FI_MAX: t = a > t ? a : t; break; \
	case FI_CSWAP_LE: t = c <= t ? a : t; break; \
	case FI_CSWAP_LT: t = c < t ? a : t; break; \
	case FI_CSWAP_GE: t = c >= t ? a : t; break; \
	case FI_CSWAP_GT: t = c > t ? a : t; break;
#define BITS \
	case FI_BOR: t = t | a; break; \
	case FI_BAND: t = t & a; break; \
	case FI_BXOR: t = t ^ a; break; \
	case FI_MSWAP: t = (a & c) | (t & ~c); break;

#define TYPE(name, type, cases) \
	static void calc_##name(void *tp, const void *ap, const void *cp, enum fi_op op) \
	{ \
		type t = *(type *) tp, a = *(const type *) ap, c = *(const type *) cp; \
		\
		switch ((int) op) { \
		cases \
		default: break; \
		} \
		*(type *) tp = t; \
	} \
	static void set_##name(void *p, int value) \
	{ \
		*(type *) p = (type) value; \
	} \
	static bool same_##name(const void *a, const void *b) \
	{ \
		return *(const type *) a == *(const type *) b; \
	}

TYPE(int8, int8_t, EVERY_TYPE ORDERED BITS)
TYPE(uint8, uint8_t, EVERY_TYPE ORDERED BITS)
TYPE(int16, int16_t, EVERY_TYPE ORDERED BITS)
TYPE(uint16, uint16_t, EVERY_TYPE ORDERED BITS)
TYPE(int32, int32_t, EVERY_TYPE ORDERED BITS)
TYPE(uint32, uint32_t, EVERY_TYPE ORDERED BITS)
TYPE(int64, int64_t, EVERY_TYPE ORDERED BITS)
TYPE(uint64, uint64_t, EVERY_TYPE ORDERED BITS)
TYPE(float, float, EVERY_TYPE ORDERED)
TYPE(double, double, EVERY_TYPE ORDERED)
TYPE(ldouble, long double, EVERY_TYPE ORDERED)
TYPE(fcomplex, float complex, EVERY_TYPE)
TYPE(dcomplex, double complex, EVERY_TYPE)
TYPE(ldcomplex, long double complex, EVERY_TYPE)

static const struct type {
	size_t size;
	void (*calc)(void *target, const void *arg, const void *compare, enum fi_op op);
	void (*set)(void *p, int value);
	bool (*same)(const void *a, const void *b);
} types[] = {
#define ROW(id, name, type)	[id] = { sizeof(type), calc_##name, set_##name, same_##name }
	ROW(FI_INT8, int8, int8_t), ROW(FI_UINT8, uint8, uint8_t),
	ROW(FI_INT16, int16, int16_t), ROW(FI_UINT16, uint16, uint16_t),
	ROW(FI_INT32, int32, int32_t), ROW(FI_UINT32, uint32, uint32_t),
	ROW(FI_INT64, int64, int64_t), ROW(FI_UINT64, uint64, uint64_t),
	ROW(FI_FLOAT, float, float), ROW(FI_DOUBLE, double, double),
	ROW(FI_LONG_DOUBLE, ldouble, long double),
	ROW(FI_FLOAT_COMPLEX, fcomplex, float complex),
	ROW(FI_DOUBLE_COMPLEX, dcomplex, double complex),
	ROW(FI_LONG_DOUBLE_COMPLEX, ldcomplex, long double complex),
};

size_t uber_size(enum fi_datatype type)
{
	return types[type].size;
}

/* Zero is among them, for the logical operations, and equals meet often. */
void uber_set(enum fi_datatype type, void *p, size_t cnt, unsigned int seed)
{
	for (size_t i = 0; i < cnt; i++)
		types[type].set((char *) p + i * types[type].size, (int) ((i + seed) * 7 % (3 + seed % 3)));
}

void uber_calc(enum fi_datatype type, enum fi_op op, void *target, const void *arg,
	       const void *compare, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		size_t at = i * types[type].size;

		types[type].calc((char *) target + at, (const char *) arg + at,
				 (const char *) compare + at, op);
	}
}

bool uber_same(enum fi_datatype type, const void *a, const void *b, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!types[type].same((const char *) a + i * types[type].size,
				      (const char *) b + i * types[type].size))
			return false;
	return true;
}
