/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * atomic.h - the one table of atomic operations.
 *
 * Every datatype and operation of fi_atomic(3), on local memory.  Used at the
 * target of an atomic request and by the reductions of collectives.
 *
 * An element that is naturally aligned and 1, 2, 4, 8 or (where the CPU has a
 * 16-byte compare-and-swap) 16 bytes wide is updated atomically against any
 * thread of the machine that uses the CPU's own atomics; several that fill 16 bytes are
 * changed together.  A value that stays the same need not be written.  Wider or misaligned
 * elements are atomic against other calls of this module in the process.
 */
#ifndef ENG_ATOMIC_H
#define ENG_ATOMIC_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <stddef.h>

/* Which of the three call forms of fi_atomic(3) is meant. */
enum eng_atomic_form {
	ENG_ATOMIC_BASE,	/* fi_atomic: no result */
	ENG_ATOMIC_FETCH,	/* fi_fetch_atomic: result is the old value */
	ENG_ATOMIC_COMPARE,	/* fi_compare_atomic: compare operand and result */
};

/* eng_atomic_size - bytes of one element; 0 for an unknown datatype. */
size_t eng_atomic_size(enum fi_datatype datatype);

/* eng_atomic_valid - can @op on @datatype be done in this form?
 * Returns 0 or -FI_EOPNOTSUPP.
 */
int eng_atomic_valid(enum eng_atomic_form form, enum fi_datatype datatype, enum fi_op op);

/* eng_atomic_apply - do @op on @count elements.
 *
 * @dst:     target, changed in place
 * @operand: @count elements; may be NULL for FI_ATOMIC_READ
 * @compare: @count elements; only read by the compare form
 * @result:  @count old values, or NULL: not wanted
 *
 * operand, compare and result may be misaligned; result may not overlap dst.
 * Threading: any; takes a short spin lock for elements the CPU cannot update.
 * Errors:    none: check eng_atomic_valid first.
 */
void eng_atomic_apply(enum fi_datatype datatype, enum fi_op op, void *dst,
		      const void *operand, const void *compare, void *result,
		      size_t count);

/* eng_atomic_reduce - dst[i] = dst[i] op operand[i] in private memory, not
 * atomically: for collectives.  Same operations as the base form.
 */
void eng_atomic_reduce(enum fi_datatype datatype, enum fi_op op, void *dst,
		       const void *operand, size_t count);

#endif
