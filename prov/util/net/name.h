/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* name.h - the address at which peers reach a socket that is bound to the wildcard. */
#ifndef NET_NAME_H
#define NET_NAME_H

#include "net/iface.h"

/* net_name - the address that an endpoint's getname returns.
 *
 * @bound:  what the socket is bound to
 * @iface:  name of the domain: its address replaces a wildcard
 * @name_p: [out] @bound; or its port at an address of @iface, or at the preferred interface
 *          when @iface has no address of the family
 *
 * Errors: -FI_EADDRNOTAVAIL: no address of the family; those of net_list_read().
 */
int net_name(const struct sockaddr *bound, const char *iface, union net_sa *name_p);

#endif
