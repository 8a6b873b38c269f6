/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_PATH_H
#define INFO_PATH_H

/* fi_info --path: which way to a host is taken, and what speaks for and against each interface. */

#include "options.h"

/* info_path - print it, for the host o->node.
 *
 * @version: of the interface, for fi_getinfo
 *
 * With o->probe, some echo requests of ICMP go out by each interface that has a route, and a short stream of them.
 * Errors: -FI_ENODATA: the host has no IP address, or nothing is offered for it; the reason is on stderr.
 */
int info_path(const struct info_options *o, uint32_t version);

#endif
