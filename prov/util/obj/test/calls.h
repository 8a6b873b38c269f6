/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls.h - for tests of several processes: what fails says where, and aborts.
 *
 * (cmocka would jump back into its runner, which in a child is a copy of the parent's.)
 */
#ifndef OBJ_TEST_CALLS_H
#define OBJ_TEST_CALLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/test/value.h"

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort();						\
		}								\
	} while (0)

/* A call that has to return 0. */
#define CALL(call)								\
	do {									\
		long ret_ = (long) (call);					\
		if (ret_) {							\
			char text_[64];						\
			fprintf(stderr, "%s:%d: %s is %s, expected 0\n", __FILE__, __LINE__, #call, \
				verify_value_text((uintmax_t) ret_, false, text_, sizeof(text_))); \
			abort();						\
		}								\
	} while (0)

static inline uint64_t now_ms(void)
{
	return clock_ns() / CLOCK_NS_PER_MS;
}

#endif
