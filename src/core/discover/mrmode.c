/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "core/mrmode.h"

enum core_mrmode core_mrmode_of(uint32_t version, const struct fi_info *hints)
{
	int mr_mode = hints && hints->domain_attr ? hints->domain_attr->mr_mode : 0;

	switch (mr_mode) {
	case FI_MR_BASIC:
		return CORE_MRMODE_BASIC;
	case FI_MR_SCALABLE:
		return CORE_MRMODE_SCALABLE;
	case FI_MR_UNSPEC:
		return FI_VERSION_LT(version, FI_VERSION(1, 5)) ?
		       CORE_MRMODE_EITHER : CORE_MRMODE_BITS;
	}
	if (mr_mode & (FI_MR_BASIC | FI_MR_SCALABLE))
		return CORE_MRMODE_WRONG;
	return CORE_MRMODE_BITS;
}

void core_mrmode_hints(enum core_mrmode mode, struct fi_info *hints)
{
	int bits = mode == CORE_MRMODE_SCALABLE ? 0 : CORE_MR_BASIC_BITS;

	if (mode == CORE_MRMODE_BITS || !hints || !hints->domain_attr)
		return;
	if (hints->mode & FI_LOCAL_MR)
		bits |= FI_MR_LOCAL;
	hints->domain_attr->mr_mode = bits;
}

/* A provider that requires none of the basic bits works with them too.  A program that accepts
 * either mode gets FI_MR_BASIC, which is what such programs have always been given.
 */
bool core_mrmode_answer(enum core_mrmode mode, const struct fi_info *hints,
			struct fi_info *info)
{
	int bits = info->domain_attr ? info->domain_attr->mr_mode : 0;

	if (mode == CORE_MRMODE_BITS || !info->domain_attr)
		return true;
	if (bits & ~(CORE_MR_BASIC_BITS | FI_MR_LOCAL | FI_MR_BASIC | FI_MR_SCALABLE))
		return false;
	if (mode == CORE_MRMODE_SCALABLE && (bits & (CORE_MR_BASIC_BITS | FI_MR_BASIC)))
		return false;
	if (bits & FI_MR_LOCAL) {
		if (hints && !(hints->mode & FI_LOCAL_MR))
			return false;
		info->mode |= FI_LOCAL_MR;
	} else {
		info->mode &= ~FI_LOCAL_MR;
	}
	info->domain_attr->mr_mode = mode == CORE_MRMODE_SCALABLE ? FI_MR_SCALABLE :
								    FI_MR_BASIC;
	return true;
}
