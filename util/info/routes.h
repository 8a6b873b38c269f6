/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_ROUTES_H
#define INFO_ROUTES_H

/* The kernel's main table of routes. */

#include <stdbool.h>
#include <stdio.h>

#include "base/net_addr.h"

/* info_routes_has - does a route by interface @iface cover @peer?
 *
 * The kernel itself, asked for a way by one interface, assumes the host on its wire where no route covers it.
 * @file: open on /proc/net/route, or on /proc/net/ipv6_route for IPv6, from its beginning
 */
bool info_routes_has(FILE *file, const union net_sa *peer, const char *iface);

#endif
