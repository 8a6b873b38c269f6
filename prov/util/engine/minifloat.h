/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * minifloat.h - 16- and 8-bit floating point numbers to and from float.
 *
 * f16:  IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction bits)
 * bf16: the upper half of a float (1, 8, 7)
 * e4m3: OCP 8-bit (1, 4, 3): no infinity, one NaN pattern per sign; overflow gives NaN
 * e5m2: OCP 8-bit (1, 5, 2): with infinities, as IEEE
 *
 * Rounding is to nearest, ties to even.  Source: OCP 8-bit Floating Point
 * Specification 1.0; IEEE 754-2019.
 */
#ifndef ENG_MINIFLOAT_H
#define ENG_MINIFLOAT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* mini_to_float - decode @exp_bits exponent and @man_bits fraction bits.
 * @ieee: the top exponent means infinity or NaN; else only all ones is NaN.
 */
static inline float mini_to_float(uint32_t v, int exp_bits, int man_bits, int ieee)
{
	uint32_t man = v & ((1u << man_bits) - 1);
	uint32_t top = (1u << exp_bits) - 1;
	uint32_t exp = (v >> man_bits) & top;
	int bias = (1 << (exp_bits - 1)) - 1;
	float f;

	if (exp == top && ieee)
		f = man ? NAN : INFINITY;
	else if (exp == top && man == (1u << man_bits) - 1)
		f = NAN;
	else if (!exp)
		f = ldexpf((float) man, 1 - bias - man_bits);
	else
		f = ldexpf((float) (man | 1u << man_bits), (int) exp - bias - man_bits);
	return (v >> (exp_bits + man_bits)) & 1 ? -f : f;
}

/* mini_from_float - encode with round to nearest even.
 *
 * Beyond the largest finite value: infinity with @ieee, else NaN.  A NaN keeps its sign and is
 * quiet; its payload is lost.  What is smaller than half the smallest subnormal becomes zero.
 */
static inline uint32_t mini_from_float(float f, int exp_bits, int man_bits, int ieee)
{
	uint32_t sign = (uint32_t) !!signbit(f) << (exp_bits + man_bits);
	uint32_t top = (1u << exp_bits) - 1;
	int bias = (1 << (exp_bits - 1)) - 1, exp;
	uint32_t nan = top << man_bits | (ieee ? 1u << (man_bits - 1) : (1u << man_bits) - 1);
	uint32_t over = ieee ? top << man_bits : nan;
	uint32_t largest = ieee ? (top << man_bits) - 1 : nan - 1;
	float mag = fabsf(f), rest;
	uint32_t v;

	if (isnan(f))
		return sign | nan;
	if (isinf(f))
		return sign | over;
	if (mag == 0)
		return sign;
	frexpf(mag, &exp);
	exp--;				/* mag = 1.x * 2^exp */
	if (exp < 1 - bias)
		exp = 1 - bias;		/* subnormal: fixed scale */
	mag = ldexpf(mag, man_bits - exp);
	v = (uint32_t) mag;
	rest = mag - (float) v;
	/* a carry runs into the exponent by itself; rintf() would need libm */
	if (rest > 0.5f || (rest == 0.5f && v & 1))
		v++;
	if (v >= 1u << man_bits)
		v += (uint32_t) (exp + bias - 1) << man_bits;
	return sign | (v > largest ? over : v);
}

/* ---- the four formats ----------------------------------------------------------
 *
 * from_float(to_float(v)) is v again for all v but NaNs, of which only the sign is kept.
 */

/* f16: largest 65504, smallest normal 2^-14, smallest subnormal 2^-24. */
static inline float f16_to_float(uint16_t v)
{
	return mini_to_float(v, 5, 10, 1);
}

static inline uint16_t f16_from_float(float f)
{
	return (uint16_t) mini_from_float(f, 5, 10, 1);
}

/* e5m2: largest 57344, smallest normal 2^-14, smallest subnormal 2^-16. */
static inline float e5m2_to_float(uint8_t v)
{
	return mini_to_float(v, 5, 2, 1);
}

static inline uint8_t e5m2_from_float(float f)
{
	return (uint8_t) mini_from_float(f, 5, 2, 1);
}

/* e4m3: largest 448, smallest normal 2^-6, smallest subnormal 2^-9. */
static inline float e4m3_to_float(uint8_t v)
{
	return mini_to_float(v, 4, 3, 0);
}

static inline uint8_t e4m3_from_float(float f)
{
	return (uint8_t) mini_from_float(f, 4, 3, 0);
}

/* bf16: the range of float, so bits are enough. */
static inline float bf16_to_float(uint16_t v)
{
	uint32_t bits = (uint32_t) v << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Adding just less than half a unit, plus the last bit that stays, rounds ties to even; a
 * carry runs into the exponent.  A NaN is made quiet, lest its bits round to infinity.
 */
static inline uint16_t bf16_from_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	if (isnan(f))
		return (uint16_t) (bits >> 16 | 0x40);
	return (uint16_t) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

#endif
