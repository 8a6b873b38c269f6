/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_cm.h - librdmacm for tests: what enabling and closing endpoints needs, queries for names
 * of datagram endpoints, and connections between ids of this process.
 */
#ifndef VRB_MLX5_CM_H
#define VRB_MLX5_CM_H

#include <stdbool.h>

#include "verbs/lib.h"

#define CM_QKEY 0x01234567u	/* of all datagram queue pairs */

/* cm_boot - have the kernel of mlx5_kernel.h, its device, and these in place of librdmacm.
 * Returns false where the libraries are missing.
 */
bool cm_boot(void);

/* cm_hold - hold back answers to queries for names, or release them. */
void cm_hold(bool hold);

#endif
