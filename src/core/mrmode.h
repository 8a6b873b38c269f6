/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* mrmode.h - the registration modes of programs for interfaces before 1.5.
 *
 * Such a program uses FI_MR_BASIC, FI_MR_SCALABLE, FI_MR_UNSPEC (either), and the info mode bit
 * FI_LOCAL_MR; newer programs may use the first two as well.  Providers never see these values
 * in hints: the core replaces them with the mode bits that they stand for, and converts the
 * result back.  The program then opens a domain with the old value again.
 */
#ifndef CORE_MRMODE_H
#define CORE_MRMODE_H

#include <stdbool.h>

#include <rdma/fabric.h>

#define CORE_MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

enum core_mrmode {
	CORE_MRMODE_BITS,	/* mode bits only */
	CORE_MRMODE_BASIC,
	CORE_MRMODE_SCALABLE,
	CORE_MRMODE_EITHER,
	CORE_MRMODE_WRONG,	/* invalid: an old value combined with bits */
};

/* core_mrmode_of - which form the caller uses; @hints may be NULL. */
enum core_mrmode core_mrmode_of(uint32_t version, const struct fi_info *hints);

/* core_mrmode_hints - replace the old value by mode bits in the caller's hints (a copy). */
void core_mrmode_hints(enum core_mrmode mode, struct fi_info *hints);

/* core_mrmode_answer - convert the mode bits of a result to the form that the caller uses.
 * Returns false when the old values cannot express them; the program cannot use the result
 * then.
 */
bool core_mrmode_answer(enum core_mrmode mode, const struct fi_info *hints,
			struct fi_info *info);

#endif
