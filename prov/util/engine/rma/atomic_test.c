/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <complex.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/atomic.h"
#include "engine/minifloat.h"

#define LAST_TYPE FI_FLOAT8_E5M2

static int is_integer(int t)
{
	return t <= FI_UINT64 || t == FI_INT128 || t == FI_UINT128;
}

static int is_complex(int t)
{
	return t == FI_FLOAT_COMPLEX || t == FI_DOUBLE_COMPLEX || t == FI_LONG_DOUBLE_COMPLEX;
}

/* What fi_atomic(3) defines, written down a second time. */
static int defined(int form, int t, int op)
{
	int compare = op >= FI_CSWAP && op <= FI_MSWAP;
	int bits = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
	int order = op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op <= FI_CSWAP_GT);

	if (compare != (form == ENG_ATOMIC_COMPARE))
		return 0;
	if (op == FI_ATOMIC_READ && form == ENG_ATOMIC_BASE)
		return 0;
	if (bits)
		return is_integer(t);
	return !(order && is_complex(t));
}

static void validity_follows_the_manual(void **state)
{
	int form, t, op;

	for (form = ENG_ATOMIC_BASE; form <= ENG_ATOMIC_COMPARE; form++)
		for (t = 0; t <= LAST_TYPE; t++)
			for (op = 0; op <= FI_DIFF; op++)
				assert_int_equal(eng_atomic_valid(form, t, op),
						 defined(form, t, op) ? 0 : -FI_EOPNOTSUPP);
	assert_int_equal(eng_atomic_valid(ENG_ATOMIC_BASE, LAST_TYPE + 1, FI_SUM), -FI_EOPNOTSUPP);
	assert_int_equal(eng_atomic_valid(ENG_ATOMIC_BASE, FI_VOID, FI_SUM), -FI_EOPNOTSUPP);
	assert_int_equal(eng_atomic_valid(ENG_ATOMIC_BASE, FI_INT8, FI_NOOP), -FI_EOPNOTSUPP);
	assert_int_equal(eng_atomic_size(FI_VOID), 0);
}

/* Where the low @size bytes of a 64-bit integer are. */
static size_t low_at(size_t size)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint64_t) - size : 0;
}

/* The low @size bytes of @v as an integer of that size at @at, and the unsigned one that is there. */
static void put_int(void *at, uint64_t v, size_t size)
{
	memcpy(at, (const char *) &v + low_at(size), size);
}

static uint64_t get_int(const void *at, size_t size)
{
	uint64_t v = 0;

	memcpy((char *) &v + low_at(size), at, size);
	return v;
}

/* Model in 64-bit integers, for every integer type up to 64 bits. */
static uint64_t model(int op, int64_t so, int64_t sa, int64_t sc, int is_signed, uint64_t mask)
{
	uint64_t o = (uint64_t) so, a = (uint64_t) sa, c = (uint64_t) sc;
	int lt_ao = is_signed ? sa < so : a < o, lt_co = is_signed ? sc < so : c < o;

	(void) mask;
	switch (op) {
	case FI_MIN: return lt_ao ? a : o;
	case FI_MAX: return lt_ao ? o : a;
	case FI_SUM: return o + a;
	case FI_PROD: return o * a;
	case FI_DIFF: return o - a;
	case FI_LOR: return o || a;
	case FI_LAND: return o && a;
	case FI_LXOR: return !o != !a;
	case FI_BOR: return o | a;
	case FI_BAND: return o & a;
	case FI_BXOR: return o ^ a;
	case FI_ATOMIC_READ: return o;
	case FI_ATOMIC_WRITE: return a;
	case FI_CSWAP: return c == o ? a : o;
	case FI_CSWAP_NE: return c != o ? a : o;
	case FI_CSWAP_LE: return lt_co || c == o ? a : o;
	case FI_CSWAP_LT: return lt_co ? a : o;
	case FI_CSWAP_GE: return !lt_co ? a : o;
	case FI_CSWAP_GT: return !lt_co && c != o ? a : o;
	case FI_MSWAP: return (a & c) | (o & ~c);
	}
	fail_msg("operation %d has no model", op);
	return 0;
}

static void integers_match_a_model(void **state)
{
	int t, op, i, k, shift;
	uint8_t dst[128], a[128], c[128], res[128];
	int64_t v[3];

	srandom(4711);
	for (t = FI_INT8; t <= FI_UINT64; t++) {
		size_t size = eng_atomic_size(t);
		uint64_t mask = size == 8 ? ~UINT64_C(0) : (UINT64_C(1) << size * 8) - 1;
		int is_signed = !(t & 1);

		for (op = 0; op <= FI_DIFF; op++) {
			for (i = 0; i < 2000; i++) {
				int off = i % 3 ? 0 : 1;	/* every third misaligned */
				uint64_t want, got, old;

				for (k = 0; k < 3; k++) {
					v[k] = (int64_t) ((uint64_t) random() << 40 ^
							  (uint64_t) random() << 20 ^ (uint64_t) random());
					if (random() % 4 == 0)
						v[k] = random() % 3 - 1;
					if (random() % 4 == 0)
						v[k] = v[0];
					shift = 64 - (int) size * 8;
					v[k] = is_signed ? (int64_t) ((uint64_t) v[k] << shift) >> shift
							 : (int64_t) ((uint64_t) v[k] & mask);
				}
				put_int(dst + 8 + off, (uint64_t) v[0], size);
				put_int(a + off, (uint64_t) v[1], size);
				put_int(c + off, (uint64_t) v[2], size);
				eng_atomic_apply(t, op, dst + 8 + off, a + off, c + off, res + off, 1);
				got = get_int(dst + 8 + off, size);
				old = get_int(res + off, size);
				want = model(op, v[0], v[1], v[2], is_signed, mask) & mask;
				if (got != want || old != ((uint64_t) v[0] & mask))
					fail_msg("type %d op %d: %#llx,%#llx,%#llx gave %#llx, not %#llx",
						 t, op, (long long) v[0], (long long) v[1],
						 (long long) v[2], (long long) got, (long long) want);
			}
		}
	}
}

static void wide_and_complex_types(void **state)
{
	__extension__ typedef __int128 i128;
	_Alignas(16) i128 w[2] = { (i128) 1 << 100, -1 }, one[2] = { 1, 1 }, old[2];
	double complex z = 1 + 2 * I, y = 3 - I, was;
	long double complex q[2] = { 1 + I, 2 }, s[2] = { 1, 1 }, r[2];
	long double x = 1.5L, m = 2.5L;

	eng_atomic_apply(FI_INT128, FI_SUM, w, one, NULL, old, 2);
	assert_true(w[0] == ((i128) 1 << 100) + 1 && w[1] == 0 && old[1] == -1);
	eng_atomic_apply(FI_DOUBLE_COMPLEX, FI_PROD, &z, &y, NULL, &was, 1);
	assert_true(z == 5 + 5 * I && was == 1 + 2 * I);
	eng_atomic_apply(FI_DOUBLE_COMPLEX, FI_CSWAP, &z, &y, &was, NULL, 1);
	assert_true(z == 5 + 5 * I);
	was = z;
	eng_atomic_apply(FI_DOUBLE_COMPLEX, FI_CSWAP, &z, &y, &was, NULL, 1);
	assert_true(z == y);
	eng_atomic_apply(FI_LONG_DOUBLE_COMPLEX, FI_SUM, q, s, NULL, r, 2);
	assert_true(q[0] == 2 + I && q[1] == 3 && r[0] == 1 + I);
	eng_atomic_apply(FI_LONG_DOUBLE, FI_MAX, &x, &m, NULL, NULL, 1);
	assert_true(x == 2.5L);
	/* A read changes nothing and needs no operand. */
	m = 0;
	eng_atomic_apply(FI_LONG_DOUBLE, FI_ATOMIC_READ, &x, NULL, NULL, &m, 1);
	assert_true(m == 2.5L && x == 2.5L);
}

/* Every short float survives a round trip; rounding is to nearest even. */
static void short_floats(void **state)
{
	unsigned v;
	float f;

	for (v = 0; v < 0x10000; v++) {
		f = f16_to_float((uint16_t) v);
		if (f == f)
			assert_int_equal(f16_from_float(f), v);
		f = bf16_to_float((uint16_t) v);
		if (f == f)
			assert_int_equal(bf16_from_float(f), v);
	}
	for (v = 0; v < 0x100; v++) {
		f = e4m3_to_float((uint8_t) v);
		if (f == f)
			assert_int_equal(e4m3_from_float(f), v);
		f = e5m2_to_float((uint8_t) v);
		if (f == f)
			assert_int_equal(e5m2_from_float(f), v);
	}
	assert_true(f16_to_float(0x3c00) == 1.0f && f16_to_float(0x7bff) == 65504.0f);
	assert_true(f16_to_float(0x0001) == 0x1p-24f && isinf(f16_to_float(0x7c00)));
	assert_true(e4m3_to_float(0x7e) == 448.0f && isnan(e4m3_to_float(0x7f)));
	assert_true(e5m2_to_float(0x7b) == 57344.0f && isinf(e5m2_to_float(0x7c)));
	assert_int_equal(f16_from_float(65520.0f), 0x7c00);	/* ties away from the range */
	assert_int_equal(f16_from_float(65519.0f), 0x7bff);
	assert_int_equal(f16_from_float(1.0f + 0x1p-11f), 0x3c00);	/* tie to even */
	assert_int_equal(f16_from_float(1.0f + 0x3p-11f), 0x3c02);
	assert_int_equal(e4m3_from_float(1e6f), 0x7f);		/* no infinity: NaN */
	assert_int_equal(bf16_from_float(1.0f + 0x1p-8f), 0x3f80);
}

static void short_float_sum(void **state)
{
	uint16_t a[3] = { 0x3c00, 0x4000, 0x7bff }, b[3] = { 0x3c00, 0xc000, 0x7bff }, old[3];

	eng_atomic_apply(FI_FLOAT16, FI_SUM, a, b, NULL, old, 3);
	assert_int_equal(a[0], 0x4000);
	assert_int_equal(a[1], 0);
	assert_int_equal(a[2], 0x7c00);
	assert_int_equal(old[2], 0x7bff);
}

struct race {
	int type;
	void *cell;
	const void *one;
	int rounds;
};

static void *add_many(void *arg)
{
	struct race *r = arg;
	int i;

	for (i = 0; i < r->rounds; i++)
		eng_atomic_apply(r->type, FI_SUM, r->cell, r->one, NULL, NULL, 1);
	return NULL;
}

/* Two threads lose no update, aligned or not, whatever the width. */
static void updates_are_not_lost(void **state)
{
	__extension__ typedef __int128 i128;
	static _Alignas(32) char mem[64];
	int32_t one32 = 1;
	double oned = 1;
	i128 one128 = 1;
	long double onel = 1;
	struct race races[] = {
		{ FI_INT32, mem, &one32, 200000 },
		{ FI_INT32, mem + 1, &one32, 200000 },
		{ FI_DOUBLE, mem, &oned, 200000 },
		{ FI_INT128, mem, &one128, 200000 },
		{ FI_LONG_DOUBLE, mem, &onel, 200000 },
	};
	size_t i;

	for (i = 0; i < sizeof(races) / sizeof(*races); i++) {
		pthread_t th[2];
		double d;
		long double l;
		int32_t v;
		i128 w;
		double got = 0;

		memset(mem, 0, sizeof(mem));
		pthread_create(&th[0], NULL, add_many, &races[i]);
		pthread_create(&th[1], NULL, add_many, &races[i]);
		pthread_join(th[0], NULL);
		pthread_join(th[1], NULL);
		switch (races[i].type) {
		case FI_INT32: memcpy(&v, races[i].cell, 4); got = v; break;
		case FI_DOUBLE: memcpy(&d, races[i].cell, 8); got = d; break;
		case FI_INT128: memcpy(&w, races[i].cell, 16); got = (double) w; break;
		default: memcpy(&l, races[i].cell, sizeof(l)); got = (double) l;
		}
		assert_true(got == 2.0 * races[i].rounds);
	}
}

/* Many elements at any place among the units that change together: each changes once, the old values
 * are right, and what is beside them stays.
 */
static void all_counts_at_all_places(void **state)
{
	static const struct { int type; size_t size; } kinds[] = {
		{ FI_UINT8, 1 }, { FI_UINT16, 2 }, { FI_UINT32, 4 }, { FI_UINT64, 8 }, { FI_UINT128, 16 },
	};
	static _Alignas(64) uint8_t mem[1024];
	uint8_t was[sizeof(mem)], ones[512], old[512];
	size_t k, i, at, cnt, end;

	for (k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (at = 0; at < 48; at++)
			for (cnt = 1; cnt * kinds[k].size < sizeof(ones); cnt += 1 + cnt / 9) {
				for (i = 0; i < sizeof(mem); i++)
					was[i] = mem[i] = (uint8_t) (i * 7 & 127);
				memset(ones, 0, sizeof(ones));
				for (i = 0; i < cnt; i++)
					ones[i * kinds[k].size] = (uint8_t) (i & 63);
				eng_atomic_apply(kinds[k].type, FI_SUM, mem + at, ones, NULL, old, cnt);
				end = cnt * kinds[k].size;
				assert_memory_equal(old, was + at, end);
				for (i = 0; i < end; i++)
					was[at + i] += ones[i];
				assert_memory_equal(mem, was, sizeof(mem));
				eng_atomic_apply(kinds[k].type, FI_ATOMIC_READ, mem + at, NULL, NULL, old, cnt);
				assert_memory_equal(old, was + at, end);
				assert_memory_equal(mem, was, sizeof(mem));
			}
}

/* Two threads change ranges that overlap, in units that do not coincide. */
struct overlap {
	int type;
	char *at;
	size_t cnt;
};

static const uint64_t ones64[64] = { [0 ... 63] = 1 };

static void *add_range(void *arg)
{
	const struct overlap *o = arg;
	uint32_t ones32[64];
	int i;

	for (i = 0; i < 64; i++)
		ones32[i] = 1;
	for (i = 0; i < 20000; i++)
		eng_atomic_apply(o->type, FI_SUM, o->at, o->type == FI_UINT64 ? (void *) ones64 : ones32,
				 NULL, NULL, o->cnt);
	return NULL;
}

static void overlapping_ranges_lose_nothing(void **state)
{
	static const int types_of[] = { FI_UINT32, FI_UINT64 };
	static _Alignas(64) char mem[512];
	size_t k, i, size;
	uint64_t v;

	for (k = 0; k < 2; k++) {
		struct overlap a = { types_of[k], mem, 41 }, b = a;
		pthread_t th[2];

		size = eng_atomic_size(types_of[k]);
		b.at += size;
		memset(mem, 0, sizeof(mem));
		pthread_create(&th[0], NULL, add_range, &a);
		pthread_create(&th[1], NULL, add_range, &b);
		pthread_join(th[0], NULL);
		pthread_join(th[1], NULL);
		for (i = 0; i < 42; i++) {
			v = get_int(mem + i * size, size);
			assert_int_equal(v, i == 0 || i == 41 ? 20000 : 40000);
		}
	}
}

static void reduce_is_the_same_arithmetic(void **state)
{
	float a[4] = { 1, 2, 3, 4 }, b[4] = { 4, 3, 2, 1 };
	uint8_t x[3] = { 1, 250, 7 }, y[3] = { 1, 10, 7 };

	eng_atomic_reduce(FI_FLOAT, FI_MAX, a, b, 4);
	assert_true(a[0] == 4 && a[1] == 3 && a[2] == 3 && a[3] == 4);
	eng_atomic_reduce(FI_UINT8, FI_SUM, x, y, 3);
	assert_true(x[0] == 2 && x[1] == 4 && x[2] == 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(validity_follows_the_manual),
		cmocka_unit_test(integers_match_a_model),
		cmocka_unit_test(wide_and_complex_types),
		cmocka_unit_test(short_floats),
		cmocka_unit_test(short_float_sum),
		cmocka_unit_test(updates_are_not_lost),
		cmocka_unit_test(all_counts_at_all_places),
		cmocka_unit_test(overlapping_ranges_lose_nothing),
		cmocka_unit_test(reduce_is_the_same_arithmetic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
