/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fault.h - a network that does what bad ones do, for tests: by the environment, on
 * what leaves through dg.c.
 *
 * "drop=5,dup=1,reorder=10,corrupt=0.5,delay=10,seed=7": percent of the datagrams that
 * vanish, are doubled, change places with the next one, have a bit flipped; and
 * milliseconds that each takes on its way.  The same seed makes the same choices.
 */
#ifndef RXD_FAULT_H
#define RXD_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct rxd_fault {
	double drop, dup, reorder, corrupt;	/* percent */
	double delay;				/* milliseconds, one way */
	uint64_t seed;
	bool on;
};

enum rxd_fate {
	RXD_FATE_SEND = 0,
	RXD_FATE_DROP = 1 << 0,
	RXD_FATE_DUP = 1 << 1,
	RXD_FATE_HOLD = 1 << 2,		/* send it behind the next one */
	RXD_FATE_CORRUPT = 1 << 3,
};

/* rxd_fault_read - understand the text above.
 * Returns NULL, or what of it cannot be understood; @fault is then off.
 */
const char *rxd_fault_read(struct rxd_fault *fault, const char *text);

/* rxd_fault_draw - what becomes of the next datagram: RXD_FATE_*. */
unsigned rxd_fault_draw(struct rxd_fault *fault);

/* rxd_fault_rnd - a number below @n out of the same seed. */
uint64_t rxd_fault_rnd(struct rxd_fault *fault, uint64_t n);

#endif
