/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* nic.h - the NIC description that may hang on an fi_info. */
#ifndef CORE_NIC_H
#define CORE_NIC_H

#include <stdbool.h>

#include <rdma/fabric.h>

/* core_nic_dup - a copy that is closed with fi_close().
 *
 * A description with prov_attr is copied by the provider that made it (FI_DUP);
 * without one by the library, whoever made it, so that the copy does not depend
 * on a provider's code.  NULL: no memory, or the provider failed.
 */
struct fid_nic *core_nic_dup(const struct fid_nic *nic);

/* core_nic_adopt - put a copy of our own in place of a provider's description.
 *
 * Returns false when it has to stay the provider's, for its prov_attr.
 */
bool core_nic_adopt(struct fid_nic **nic_p);

/* core_nic_close - close it if it has a close; NULL is fine. */
void core_nic_close(struct fid_nic *nic);

#endif
