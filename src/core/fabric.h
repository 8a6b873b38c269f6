/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fabric.h - opening a fabric: find its provider, and record the open object. */
#ifndef CORE_FABRIC_H
#define CORE_FABRIC_H

#include <rdma/fabric.h>

/* core_fabric_open - fi_fabric().
 *
 * The provider of a layered name (udp;ofi_rxd) is the layer.
 *
 * Errors: -FI_EINVAL, -FI_ENODEV: no such provider; those of the provider.
 */
int core_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		     void *context);

#endif
