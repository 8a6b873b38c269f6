/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* openfabric.h - the fabrics that are open.
 *
 * The core stands between a fabric object and its provider in one place only:
 * the object's close.  That tells when a provider is no longer in use, and which
 * fabric objects fi_getinfo() may refer to.
 */
#ifndef CORE_OPENFABRIC_H
#define CORE_OPENFABRIC_H

#include <pthread.h>
#include <stdbool.h>

#include <rdma/fabric.h>

#include "core/module.h"

/* core_openfabric_has - is this one watched already?  A provider may return one twice. */
bool core_openfabric_has(const struct fid_fabric *fabric);

/* core_openfabric_add - watch a fabric that @prov has just opened.
 *
 * Ownership: takes over the caller's hold of @prov until the fabric is closed.
 * Errors:    -FI_ENOMEM; nothing has changed.
 */
int core_openfabric_add(struct fid_fabric *fabric, struct core_prov *prov,
			const struct fi_fabric_attr *attr);

/* core_openfabric_find - the first open one that @attr names, or NULL. */
struct fid_fabric *core_openfabric_find(const struct fi_fabric_attr *attr);

/* core_openfabric_is - is @attr about this open fabric? */
bool core_openfabric_is(const struct fid_fabric *fabric,
			const struct fi_fabric_attr *attr);

extern pthread_mutex_t core_openfabric_lock;

#endif
