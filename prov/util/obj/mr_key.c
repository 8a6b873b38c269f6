/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Whose peers a region is for; leases ask it as well, which need nothing else of mr.c. */
#include <string.h>

#include "obj/ep.h"
#include "obj/mr.h"

bool obj_mr_has_key_of(const struct obj_mr *mr, const struct obj_ep *ep)
{
	const struct obj_ep *whole = ep->sep ? ep->sep : ep;
	const struct fi_ep_attr *attr = whole->info->ep_attr;

	return !whole->sec || (attr->auth_key_size == mr->auth_key_size &&
			       !memcmp(attr->auth_key, mr->auth_key, mr->auth_key_size));
}
