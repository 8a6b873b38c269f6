/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* mrmode.h - the registration modes of programs from before interface 1.5.
 *
 * Such a program knows FI_MR_BASIC, FI_MR_SCALABLE and FI_MR_UNSPEC (either),
 * and the info mode bit FI_LOCAL_MR; newer programs may say the first two as
 * well.  Providers never see them in hints: they get the mode bits that these
 * words stand for, and the answer is put back into the caller's words.  What a
 * program then opens a domain with is again the word.
 */
#ifndef CORE_MRMODE_H
#define CORE_MRMODE_H

#include <stdbool.h>

#include <rdma/fabric.h>

#define CORE_MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

enum core_mrmode {
	CORE_MRMODE_BITS,	/* the program speaks in mode bits */
	CORE_MRMODE_BASIC,
	CORE_MRMODE_SCALABLE,
	CORE_MRMODE_EITHER,
	CORE_MRMODE_WRONG,	/* a word and bits together */
};

/* core_mrmode_of - how the caller speaks; @hints may be NULL. */
enum core_mrmode core_mrmode_of(uint32_t version, const struct fi_info *hints);

/* core_mrmode_hints - put mode bits into the caller's hints (a copy). */
void core_mrmode_hints(enum core_mrmode mode, struct fi_info *hints);

/* core_mrmode_answer - put the caller's word into an answer.
 *
 * Returns false when the provider wants what the caller's words cannot say;
 * the answer is then of no use to it.
 */
bool core_mrmode_answer(enum core_mrmode mode, const struct fi_info *hints,
			struct fi_info *info);

#endif
