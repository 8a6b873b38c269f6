/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5.h - what the folder mlx5/ offers to the rest of the provider: the queues of an mlx5 device, written
 * and read directly (FI_VERBS_DOORBELL=direct).  configure --disable-verbs-mlx5, or a machine without
 * infiniband/mlx5dv.h, leaves the folder out: then no device may be used so (vrb_mlx5_may()).
 */
#ifndef VRB_MLX5_H
#define VRB_MLX5_H

#if HAVE_VERBS_MLX5
#include "mlx5_doorbell.h"
#include "mlx5_dv.h"
#include "mlx5_native.h"
#include "mlx5_queue.h"
#else
#include "mlx5_absent.h"
#endif

#endif
