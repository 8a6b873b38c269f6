/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * net_opt.h - what one provider of this library may ask of another below it, by
 * fi_setopt() with FI_OPT_ENDPOINT.
 */
#ifndef NET_OPT_H
#define NET_OPT_H

/*
 * NET_OPT_TRAINS - udp: an int, before fi_enable(); 1: datagrams travel in trains.
 *
 * Datagrams of one length that leave in a burst (FI_MORE) go through the system as
 * one (UDP_SEGMENT), and such as arrive one behind the other come up as one
 * (UDP_GRO), into a multi-receive buffer, each with its own completion.  No datagram
 * is fragmented: one that is too long for the interface fails with FI_EMSGSIZE.  Who begins a burst ends it
 * before anybody sleeps.
 *
 * All receives must then be multi-receive buffers, and FI_OPT_MIN_MULTI_RECV at least
 * NET_TRAIN_MAX.
 */
#define NET_OPT_TRAINS (-(0x0d9 << 16))

#define NET_TRAIN_MAX 65536	/* bytes of a train */

#endif
