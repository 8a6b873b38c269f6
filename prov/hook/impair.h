/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * impair.h - network impairments: which datagrams are dropped, duplicated, reordered, corrupted
 * or delayed.  No I/O, no clock.
 *
 * "drop=5,dup=1,reorder=10,corrupt=0.5,delay=10,seed=7": the percentages of datagrams that are
 * dropped, duplicated, sent after the next one, or get one bit flipped; and the delay of each
 * in milliseconds.  The same seed makes the same choices.
 */
#ifndef HOOK_IMPAIR_H
#define HOOK_IMPAIR_H

#include <stdbool.h>
#include <stdint.h>

/* The parameters, and the state of the random generator. */
struct impair {
	double drop, dup, reorder, corrupt;	/* percent */
	double delay;				/* milliseconds, one way */
	uint64_t seed;
	bool on;
};

/* What happens to one datagram: a set of bits. */
enum impair_action {
	IMPAIR_NONE = 0,
	IMPAIR_DROP = 1 << 0,
	IMPAIR_DUP = 1 << 1,
	IMPAIR_REORDER = 1 << 2,		/* send it after the next datagram */
	IMPAIR_CORRUPT = 1 << 3,
};

/* impair_parse - parse the text above.
 * Returns NULL, or the part of @text at which parsing failed; @impair is then off.
 */
const char *impair_parse(struct impair *impair, const char *text);

/* impair_next - choose for the next datagram.  Returns a set of IMPAIR_*. */
unsigned impair_next(struct impair *impair);

/* impair_random - a number below @n from the same generator. */
uint64_t impair_random(struct impair *impair, uint64_t n);

#endif
