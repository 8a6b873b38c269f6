/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* nic.h - the optional NIC description of an fi_info. */
#ifndef CORE_NIC_H
#define CORE_NIC_H

#include <stdbool.h>

#include <rdma/fabric.h>

/* core_nic_dup - a copy that is closed with fi_close().
 * A description with prov_attr is copied by the provider that made it (FI_DUP).  One without is
 * copied by the library, so that the copy does not depend on a provider's code.
 * Errors: NULL: no memory, or the provider failed.
 */
struct fid_nic *core_nic_dup(const struct fid_nic *nic);

/* core_nic_adopt - replace a provider's description by a copy made by the library.
 * Returns false when that is impossible because the description has a prov_attr.
 */
bool core_nic_adopt(struct fid_nic **nic_p);

/* core_nic_close - close the description if it has a close operation; NULL is allowed. */
void core_nic_close(struct fid_nic *nic);

#endif
