/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* hook.h - FI_HOOK: providers that interpose between a program and a fabric. */
#ifndef CORE_HOOK_H
#define CORE_HOOK_H

#include <rdma/fabric.h>

/* core_hook - apply the hooks that FI_HOOK names to a new fabric, the first name innermost.
 * @attr:   what the fabric was opened with
 * @fabric: the provider's object
 * Returns the object for the program: @fabric, or one that a hook returns in its place. A hook
 * that is not available or fails is left out, with a line in the log.
 */
struct fid_fabric *core_hook(const struct fi_fabric_attr *attr, struct fid_fabric *fabric);

#endif
