/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * model.h - what atomic operations do, by arithmetic of 64 bits: for tests in the kernel and in user
 * space, written apart from obj/element.h.
 */
#ifndef KOFI_TEST_MODEL_H
#define KOFI_TEST_MODEL_H

#define MODEL_OPS	(FI_DIFF + 1)
#define MODEL_TYPES	(FI_UINT128 + 1)

enum form { BASE, FETCH, COMPARE, FORMS };

static inline size_t model_size(enum fi_datatype t)
{
	return t <= FI_UINT8 ? 1 : t <= FI_UINT16 ? 2 : t <= FI_UINT32 ? 4 : t <= FI_UINT64 ? 8 : 0;
}

static inline bool model_signed(enum fi_datatype t)
{
	return t == FI_INT8 || t == FI_INT16 || t == FI_INT32 || t == FI_INT64;
}

/* As many low bits as the type has, with its sign. */
static inline uint64_t model_cut(enum fi_datatype t, uint64_t v)
{
	int shift = 64 - 8 * (int)model_size(t);

	return model_signed(t) ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static inline bool model_below(enum fi_datatype t, uint64_t x, uint64_t y)
{
	return model_signed(t) ? (int64_t)x < (int64_t)y : x < y;
}

static inline bool model_has(enum form form, enum fi_datatype t, unsigned int op)
{
	bool compare = op == FI_CSWAP || op == FI_CSWAP_NE || op == FI_CSWAP_LE || op == FI_CSWAP_LT ||
		       op == FI_CSWAP_GE || op == FI_CSWAP_GT || op == FI_MSWAP;

	if (!model_size(t) || op > FI_DIFF || compare != (form == COMPARE))
		return false;
	return op != FI_ATOMIC_READ || form == FETCH;
}

static inline uint64_t model(enum fi_datatype t, enum fi_op op, uint64_t o, uint64_t a, uint64_t c)
{
	switch ((int)op) {
	case FI_MIN: return model_below(t, a, o) ? a : o;
	case FI_MAX: return model_below(t, o, a) ? a : o;
	case FI_SUM: return model_cut(t, o + a);
	case FI_PROD: return model_cut(t, o * a);
	case FI_LOR: return o || a;
	case FI_LAND: return o && a;
	case FI_BOR: return o | a;
	case FI_BAND: return o & a;
	case FI_LXOR: return !o != !a;
	case FI_BXOR: return o ^ a;
	case FI_ATOMIC_READ: return o;
	case FI_ATOMIC_WRITE: return a;
	case FI_CSWAP: return c == o ? a : o;
	case FI_CSWAP_NE: return c != o ? a : o;
	case FI_CSWAP_LE: return model_below(t, o, c) ? o : a;
	case FI_CSWAP_LT: return model_below(t, c, o) ? a : o;
	case FI_CSWAP_GE: return model_below(t, c, o) ? o : a;
	case FI_CSWAP_GT: return model_below(t, o, c) ? a : o;
	case FI_MSWAP: return model_cut(t, (a & c) | (o & ~c));
	case FI_DIFF: return model_cut(t, o - a);
	default: return 0xbad;
	}
}

static inline uint64_t model_get(enum fi_datatype t, const void *p)
{
	union { uint16_t h; uint32_t w; uint64_t d; } u;

	switch (model_size(t)) {
	case 1: return model_cut(t, *(const uint8_t *)p);
	case 2: memcpy(&u.h, p, 2); return model_cut(t, u.h);
	case 4: memcpy(&u.w, p, 4); return model_cut(t, u.w);
	default: memcpy(&u.d, p, 8); return u.d;
	}
}

#endif /* KOFI_TEST_MODEL_H */
