/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* openfabric.h - the open fabrics.
 *
 * The core interposes on a fabric object in one place only: its close.  That tells it when a
 * provider is no longer in use, and which fabric objects fi_getinfo() may return.
 */
#ifndef CORE_OPENFABRIC_H
#define CORE_OPENFABRIC_H

#include <pthread.h>
#include <stdbool.h>

#include <rdma/fabric.h>

#include "core/module.h"

/* core_openfabric_has - true when @fabric is recorded already; a provider may return one object
 * twice.
 */
bool core_openfabric_has(const struct fid_fabric *fabric);

/* core_openfabric_add - record a fabric that @prov has just opened.
 * Ownership: takes over the caller's hold of @prov until the fabric is closed.
 * Errors:    -FI_ENOMEM; nothing has changed.
 */
int core_openfabric_add(struct fid_fabric *fabric, struct core_prov *prov,
			const struct fi_fabric_attr *attr);

/* core_openfabric_find - the first open fabric that matches @attr, or NULL. */
struct fid_fabric *core_openfabric_find(const struct fi_fabric_attr *attr);

/* core_openfabric_is - true when @attr describes this open fabric. */
bool core_openfabric_is(const struct fid_fabric *fabric,
			const struct fi_fabric_attr *attr);

extern pthread_mutex_t core_openfabric_lock;

#endif
