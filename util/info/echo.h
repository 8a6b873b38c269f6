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

/* What a short stream of echo requests has come to. */
struct info_stream {
	unsigned sent, answered;	/* requests */
	uint64_t bytes;		/* of those that were answered */
	uint64_t ns;		/* from the first request to the last answer */
};

/* info_echo_stream - for a fifth of a second, echo requests that fill packets of @mtu bytes, several in flight.  What
 * comes back is less than a link can carry: at most 64 KiB a round trip, and no more than the two kernels answer.
 *
 * Returns 0 or an errno as info_echo(); with 0, some were answered.
 */
int info_echo_stream(const union net_sa *peer, const char *iface, uint32_t mtu, struct info_stream *stream_p);

#endif
