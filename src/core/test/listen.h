/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* listen.h - the test program's side of testprov.h, and its FI_PROVIDER_PATH. */
#ifndef CORE_TESTPROV_LISTEN_H
#define CORE_TESTPROV_LISTEN_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/test/testprov.h"

/* How often each event was reported, by any file; per file in heard_tag. */
static atomic_int heard[TESTPROV_CLOSE + 1];
static atomic_int heard_tag[8][TESTPROV_CLOSE + 1];

/* Set by a test that checks the arguments of getinfo. */
static void (*on_getinfo)(const struct testprov_call *call);

testprov_tell_fn testprov_tell;

__attribute__((visibility("default")))
void testprov_tell(enum testprov_event event, const struct testprov_call *call)
{
	atomic_fetch_add(&heard[event], 1);
	atomic_fetch_add(&heard_tag[call->tag][event], 1);
	if (event == TESTPROV_GETINFO && on_getinfo)
		on_getinfo(call);
}

/* The directory of the modules @name, where libtool puts them. */
static inline const char *testprov_dir(const char *name)
{
	static char dir[4][512];
	static int turn;
	char *buf = dir[turn++ & 3];
	const char *top = getenv("top_builddir");

	snprintf(buf, sizeof(dir[0]), "%s/src/core/test/%s/.libs",
		 top ? top : ".", name);
	return buf;
}

static inline int loaded(int tag)
{
	return heard_tag[tag][TESTPROV_LOAD] - heard_tag[tag][TESTPROV_UNLOAD];
}

#endif
