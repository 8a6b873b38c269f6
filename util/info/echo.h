/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_ECHO_H
#define INFO_ECHO_H

/* Echo requests of ICMP (RFC 792, RFC 4443). */

#include "base/net_addr.h"

/* info_echo - how long an echo of @peer takes by interface @iface: the least of some.
 *
 * @ns_p: [out] nanoseconds
 *
 * Returns 0 or an errno: ETIMEDOUT: no answer to a request within a second; EACCES, EPERM: the system lets
 * this user send none (net.ipv4.ping_group_range).
 */
int info_echo(const union net_sa *peer, const char *iface, uint64_t *ns_p);

#endif
