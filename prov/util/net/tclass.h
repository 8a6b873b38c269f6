/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tclass.h - traffic classes of fi_endpoint(3) as a network knows them.
 *
 * A class is a wish: a network that does not distinguish classes carries all of them alike.  So
 * every provider accepts each documented class, and sets it where packets have a field for it.
 */
#ifndef NET_TCLASS_H
#define NET_TCLASS_H

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stdint.h>

/* net_tclass_valid - FI_TC_UNSPEC, a label, or FI_TC_DSCP with a number of 6 bits. */
bool net_tclass_valid(uint32_t tclass);

/* net_tclass_of - the class of endpoints opened with @info: its own, or the domain's. */
uint32_t net_tclass_of(const struct fi_info *info);

/* net_tclass_octet - the traffic class octet of an IP header: the DSCP in its upper 6 bits, and
 * Not-ECT.  @tclass: valid.  FI_TC_UNSPEC: 0.
 *
 * Source: the DSCPs of the labels follow RFC 4594 section 2.3 and RFC 3246; FI_TC_SCAVENGER is
 *         CS1, which networks of today treat as lower than best effort.
 */
uint8_t net_tclass_octet(uint32_t tclass);

/* net_tclass_set - sockets: the octet and the priority within the host (SO_PRIORITY) of all that
 * is sent from now on.  FI_TC_UNSPEC leaves both as they are.  Does not log.
 *
 * Errors: the negative errno of the call that failed.
 */
int net_tclass_set(int fd, int family, uint32_t tclass);

#endif
