/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * packet.h - what the ways in to a receive share.
 */
#ifndef ENG_PACKET_H
#define ENG_PACKET_H

#include "engine/recv.h"

/* eng_packet_take - @recv has met the eager message whose packet is @rx: copy what is
 * here, or have the link place it.  Returns the verdict for the link.
 */
enum eng_rx_verdict eng_packet_take(struct eng_recv *recv, struct eng_rx *rx);

#endif
