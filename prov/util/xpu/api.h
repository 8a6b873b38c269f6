/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * api.h - what a provider names in its obj_domain_ops, so that devices can post its transfers.
 */
#ifndef XPU_API_H
#define XPU_API_H

#include "obj/domain.h"

#define XPU_CTX_MAX 16		/* contexts of a domain, each of which has a thread */

extern const struct obj_xpu_ops xpu_ops;

#endif
