/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * case.h - what the tests of the calls have in common: three endpoints on a
 * simulated network, and buffers.  Included by one test program at a time.
 */
#ifndef ENG_ENGINE_CASE_H
#define ENG_ENGINE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include "engine/sim/world.h"
#include "engine/wire.h"

static struct world w;
static char out[8][20000], in[8][20000];
static int ctx[64];

static struct node *const a = &w.node[0], *const b = &w.node[1], *const c = &w.node[2];

static inline int set_up(void **arg)
{
	memset(&w, 0, sizeof(w));
	world_open(&w, 3, 1, &sim_ideal);
	memset(in, 0, sizeof(in));
	return 0;
}

static inline int set_up_rough(void **arg)
{
	memset(&w, 0, sizeof(w));
	world_open(&w, 3, 7, &sim_rough);
	memset(in, 0, sizeof(in));
	return 0;
}

static inline int tear_down(void **arg)
{
	world_close(&w);
	return 0;
}

#define expect(...)	node_expect(&w, __VA_ARGS__)
#define expect_err(...)	node_expect_err(&w, __VA_ARGS__)

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define ROUGH(name) cmocka_unit_test_setup_teardown(name, set_up_rough, tear_down)

/* tagged_in - a receive or a peek of @tag, into in[@i], with ctx[@i]. */
static inline struct fi_msg_tagged tagged_in(struct iovec *iov, int i, uint64_t tag)
{
	*iov = (struct iovec) { in[i], sizeof(in[i]) };
	return (struct fi_msg_tagged) { .msg_iov = iov, .iov_count = 1, .tag = tag,
					.addr = FI_ADDR_UNSPEC, .context = &ctx[i] };
}

/* connected - the first two are connected. */
static inline void connected(void)
{
	assert_int_equal(fi_inject(a->ep, "x", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	expect(b, &ctx[0], FI_RECV | FI_MSG, 1);
}

#endif
