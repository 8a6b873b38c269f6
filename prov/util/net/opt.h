/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * opt.h - what one provider of this library may ask of another below it, by
 * fi_setopt() with FI_OPT_ENDPOINT.
 */
#ifndef NET_OPT_H
#define NET_OPT_H

#include <stddef.h>
#include <stdint.h>

/*
 * NET_OPT_TRAINS - udp: an int, before fi_enable(); 1: datagrams travel in trains.
 *
 * Datagrams of one length that leave in a burst (FI_MORE) go through the system as
 * one (UDP_SEGMENT), and such as arrive one behind the other come up as one
 * (UDP_GRO), into a multi-receive buffer, each with its own completion.  No datagram
 * is fragmented: one that is too long for the interface fails with FI_EMSGSIZE.  Who
 * begins a burst ends it before anybody sleeps.
 *
 * All receives must then be multi-receive buffers, and FI_OPT_MIN_MULTI_RECV at least
 * NET_TRAIN_MAX.
 */
#define NET_OPT_TRAINS (-(0x0d9 << 16))

#define NET_TRAIN_MAX 65536	/* bytes of a train */

/*
 * NET_OPT_ECN - udp: an int, after NET_OPT_TRAINS: a codepoint of NET_ECN_*, with which
 * all datagrams leave from now on.
 *
 * Set before fi_enable(), to whatever codepoint, it also makes the data field of each
 * completion of a receive without FI_REMOTE_CQ_DATA the codepoint with which the
 * datagram came.  May be called again at any time.
 *
 * Source: RFC 3168 section 5.
 */
#define NET_OPT_ECN (-(0x0da << 16))

/*
 * NET_OPT_SOURCE - udp: an int, after NET_OPT_TRAINS, before fi_enable(); 1: the data
 * field of each completion of a receive without FI_REMOTE_CQ_DATA also has, from bit
 * NET_SOURCE_SHIFT on, a number of the address from which the datagram came: never 0, and
 * for one address always the same.
 *
 * NET_OPT_SOURCE_ADDR - udp: fi_getopt() of a struct net_source with a number that came
 * lately fills in the address.   Errors: -FI_ENOENT, too many others have come since.
 */
#define NET_OPT_SOURCE (-(0x0db << 16))
#define NET_OPT_SOURCE_ADDR (-(0x0dc << 16))
#define NET_SOURCE_SHIFT 2

struct net_source {
	uint64_t number;	/* [in] */
	size_t len;		/* [out] of the address, as the endpoint's address format has it */
	uint8_t addr[64];
};

#define NET_ECN_NOT 0		/* who sends it would not listen */
#define NET_ECN_ECT0 2		/* would */
#define NET_ECN_CE 3		/* and a queue on the way is long */
#define NET_ECN_MASK 3

#endif
