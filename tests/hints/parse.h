/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef TESTS_HINTS_PARSE_H
#define TESTS_HINTS_PARSE_H

/* Reads fi_getinfo calls from the text form that fi_tostr prints. */

#include <stdio.h>

#include <rdma/fabric.h>

struct hints_call {
	uint32_t version;
	uint64_t flags;
	struct fi_info *hints;		/* NULL where the program gave none */
};

/* hints_next - the next call of a file.
 *
 * @line: counts lines, for messages
 *
 * Returns 1 and the call, whose hints are for hints_free(); 0 at the end of the
 * file; -FI_EINVAL, and the line's number is in *line, for text that makes no sense.
 */
int hints_next(FILE *f, struct hints_call *call_p, int *line);

void hints_free(struct hints_call *call);

#endif
