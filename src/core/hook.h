/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* hook.h - FI_HOOK: providers that stand between a program and a fabric. */
#ifndef CORE_HOOK_H
#define CORE_HOOK_H

#include <rdma/fabric.h>

/* core_hook - put round a new fabric what FI_HOOK names, the first name innermost.
 *
 * @attr:   what the fabric was opened with
 * @fabric: what its provider opened
 *
 * Returns what the program gets: @fabric, or an object of a hook's in its place.
 * A hook that is not there or fails is left out, with a line in the log.
 */
struct fid_fabric *core_hook(const struct fi_fabric_attr *attr, struct fid_fabric *fabric);

#endif
