/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fate.h - what becomes of a datagram in a network that does what bad ones do.  Pure.
 *
 * "drop=5,dup=1,reorder=10,corrupt=0.5,delay=10,seed=7": percent of the datagrams that
 * vanish, are doubled, change places with the next one, have a bit flipped; and
 * milliseconds that each takes on its way.  The same seed makes the same choices.
 */
#ifndef HOOK_FATE_H
#define HOOK_FATE_H

#include <stdbool.h>
#include <stdint.h>

struct fate_dice {
	double drop, dup, reorder, corrupt;	/* percent */
	double delay;				/* milliseconds, one way */
	uint64_t seed;
	bool on;
};

enum fate {
	FATE_SEND = 0,
	FATE_DROP = 1 << 0,
	FATE_DUP = 1 << 1,
	FATE_HOLD = 1 << 2,		/* send it behind the next one */
	FATE_CORRUPT = 1 << 3,
};

/* fate_read - understand the text above.
 * Returns NULL, or what of it cannot be understood; @dice is then off.
 */
const char *fate_read(struct fate_dice *dice, const char *text);

/* fate_draw - what becomes of the next datagram: FATE_*. */
unsigned fate_draw(struct fate_dice *dice);

/* fate_rnd - a number below @n out of the same seed. */
uint64_t fate_rnd(struct fate_dice *dice, uint64_t n);

#endif
