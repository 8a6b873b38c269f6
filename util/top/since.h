/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * since.h - what is compared between two looks: since when an operation has been seen, and what was moved
 * in the meantime.
 *
 * The programs that are looked at read no clock for it.
 */
#ifndef UTIL_TOP_SINCE_H
#define UTIL_TOP_SINCE_H

#include "gather.h"

struct seen;

/* What was seen by the last look; {0} before the first. */
struct since {
	struct seen *of;	/* sorted */
	size_t cnt;
	uint64_t ns;		/* when */
};

/* since_update - write into the sends, receives and messages of @answers since when each has been seen, and
 * remember them.
 * since_text - an age as ", at least 14 s", or "".
 * @ns: now, of a clock that does not jump
 */
void since_update(struct since *since, struct answers *answers, uint64_t ns);
const char *since_text(uint64_t age_ns, char buf[32]);
void since_free(struct since *since);

#endif
