/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include "info/check.h"

#define RMA_WAYS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define ALL (INFO_CAPS_TX | INFO_CAPS_RX | FI_LOCAL_COMM | FI_REMOTE_COMM)

static void test_expand(void **state)
{
	assert_int_equal(info_caps_expand(FI_MSG), FI_MSG | FI_SEND | FI_RECV);
	assert_int_equal(info_caps_expand(FI_TAGGED), FI_TAGGED | FI_SEND | FI_RECV);
	assert_int_equal(info_caps_expand(FI_MSG | FI_SEND), FI_MSG | FI_SEND);
	assert_int_equal(info_caps_expand(FI_RMA), FI_RMA | RMA_WAYS);
	assert_int_equal(info_caps_expand(FI_ATOMIC | FI_REMOTE_READ), FI_ATOMIC | FI_REMOTE_READ);
	/* a direction for one group of capabilities does not apply to the other */
	assert_int_equal(info_caps_expand(FI_MSG | FI_RECV | FI_RMA),
			 FI_MSG | FI_RECV | FI_RMA | RMA_WAYS);
	assert_int_equal(info_caps_expand(0), 0);
}

static uint64_t get(uint64_t offered, uint64_t wanted)
{
	uint64_t caps = 0;

	assert_int_equal(info_caps_get(offered, wanted, &caps), 0);
	return caps;
}

static void test_get(void **state)
{
	uint64_t caps = 42;

	/* some only when they are asked for */
	assert_int_equal(get(ALL | INFO_CAPS_ASKED, 0), ALL & ~INFO_CAPS_ASKED);
	assert_int_equal(get(ALL | INFO_CAPS_ASKED, FI_MSG | FI_SOURCE_ERR) & INFO_CAPS_ASKED,
			 FI_SOURCE_ERR);
	assert_int_equal(get(ALL | INFO_CAPS_ASKED, FI_MSG | FI_AV_USER_ID | FI_PEER) & INFO_CAPS_ASKED,
			 FI_AV_USER_ID | FI_PEER);
	/* primary capabilities only as asked, and those secondary ones that cost nothing */
	assert_int_equal(get(ALL, FI_MSG), FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV |
			 FI_LOCAL_COMM | FI_REMOTE_COMM);
	assert_int_equal(get(ALL, FI_MSG | FI_SEND), FI_MSG | FI_SEND | FI_LOCAL_COMM |
			 FI_REMOTE_COMM);
	assert_int_equal(get(ALL, FI_RMA | FI_RMA_EVENT), FI_RMA | RMA_WAYS | FI_RMA_EVENT |
			 FI_LOCAL_COMM | FI_REMOTE_COMM);
	/* the expansion never exceeds the offer */
	assert_int_equal(get(FI_MSG | FI_SEND, FI_MSG), FI_MSG | FI_SEND);
	assert_int_equal(info_caps_get(FI_MSG | FI_SEND | FI_RECV, FI_TAGGED, &caps),
			 -FI_ENODATA);
	assert_int_equal(caps, 42);
}

static void test_sides(void **state)
{
	uint64_t caps = get(ALL, FI_MSG | FI_RMA | FI_SOURCE | FI_DIRECTED_RECV);

	assert_int_equal(info_caps_tx(caps), FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE);
	assert_int_equal(info_caps_rx(caps), FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_READ |
			 FI_REMOTE_WRITE | FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV);
	/* one direction only: the other side has no capabilities */
	caps = get(ALL, FI_MSG | FI_RECV);
	assert_int_equal(info_caps_tx(caps), 0);
	assert_int_equal(info_caps_rx(caps), FI_MSG | FI_RECV | FI_MULTI_RECV);
	caps = get(ALL, FI_RMA | FI_WRITE);
	assert_int_equal(info_caps_tx(caps), FI_RMA | FI_WRITE);
	assert_int_equal(info_caps_rx(caps), 0);
}

/* check_sides - an answer's three sets of capabilities agree. */
static void check_sides(uint64_t wanted, uint64_t caps)
{
	const uint64_t ops = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTICAST;
	uint64_t tx = info_caps_tx(caps), rx = info_caps_rx(caps);
	uint64_t sides = caps & ~(FI_LOCAL_COMM | FI_REMOTE_COMM);
	bool msg_way = caps & (FI_SEND | FI_RECV), rma_way = caps & RMA_WAYS;

	if ((wanted & ~caps) || ((tx | rx) & ~caps) ||
	    (tx & ~ops) != (caps & INFO_CAPS_TX & ~ops) ||
	    (rx & ~ops) != (caps & INFO_CAPS_RX & ~ops))
		fail_msg("caps 0x%llx give 0x%llx, tx 0x%llx, rx 0x%llx",
			 (unsigned long long) wanted, (unsigned long long) caps,
			 (unsigned long long) tx, (unsigned long long) rx);
	/* a multicast is sent, so an endpoint that only receives has no context with it */
	if (!(caps & FI_SEND))
		sides &= ~FI_MULTICAST;
	if (msg_way && rma_way && (tx | rx) != sides)
		fail_msg("caps 0x%llx are on neither side",
			 (unsigned long long) (sides & ~(tx | rx)));
}

/* Programs that name no FI_MSG and no FI_TAGGED may name FI_DIRECTED_RECV and FI_NAMED_RX_CTX:
 * every subset of the capabilities is in the caps of its side.
 */
static void test_sides_of_all_subsets(void **state)
{
	static const uint64_t bits[] = {
		FI_MSG, FI_RMA, FI_TAGGED, FI_ATOMIC, FI_MULTICAST, FI_COLLECTIVE, FI_READ,
		FI_WRITE, FI_RECV, FI_SEND, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_MULTI_RECV,
		FI_TRIGGER, FI_FENCE, FI_SOURCE, FI_RMA_EVENT, FI_NAMED_RX_CTX,
		FI_DIRECTED_RECV, FI_HMEM,
	};
	const uint32_t end = 1u << (sizeof(bits) / sizeof(bits[0]));
	uint64_t wanted = 0;
	uint32_t set;

	/* each set differs in one bit from the one before (a Gray code) */
	for (set = 1; set < end; set++) {
		wanted ^= bits[__builtin_ctz(set)];
		check_sides(wanted, get(ALL, wanted));
	}
}

static void test_mr_bits(void **state)
{
	assert_int_equal(info_mr_mode_bits(0), 0);
	assert_int_equal(info_mr_mode_bits(FI_MR_SCALABLE), 0);
	assert_int_equal(info_mr_mode_bits(FI_MR_BASIC), INFO_MR_BASIC_BITS);
	assert_int_equal(info_mr_mode_bits(FI_MR_LOCAL | FI_MR_PROV_KEY),
			 FI_MR_LOCAL | FI_MR_PROV_KEY);
}

static void test_mr_need(void **state)
{
	int all = INFO_MR_BASIC_BITS | FI_MR_LOCAL | FI_MR_HMEM | FI_MR_RMA_EVENT |
		  FI_MR_COLLECTIVE | FI_MR_XPU_DESC;

	assert_int_equal(info_mr_mode_need(all, FI_MSG), FI_MR_LOCAL);
	assert_int_equal(info_mr_mode_need(all, FI_MSG | FI_HMEM), FI_MR_LOCAL | FI_MR_HMEM);
	assert_int_equal(info_mr_mode_need(all, FI_MSG | FI_XPU), FI_MR_LOCAL | FI_MR_XPU_DESC);
	assert_int_equal(info_mr_mode_need(all, FI_RMA), INFO_MR_BASIC_BITS | FI_MR_LOCAL);
	assert_int_equal(info_mr_mode_need(all, FI_ATOMIC | FI_RMA_EVENT),
			 INFO_MR_BASIC_BITS | FI_MR_LOCAL | FI_MR_RMA_EVENT);
	assert_int_equal(info_mr_mode_need(FI_MR_BASIC, FI_RMA), INFO_MR_BASIC_BITS);
}

static void test_mr_get(void **state)
{
	const int hw = INFO_MR_BASIC_BITS | FI_MR_LOCAL;
	const struct { int need, wanted, ret, out; } row[] = {
		/* software: no bit is required, so none is returned */
		{ 0, 0, 0, 0 },
		{ 0, INFO_MR_BASIC_BITS | FI_MR_LOCAL | FI_MR_ENDPOINT, 0, 0 },
		{ 0, FI_MR_BASIC, 0, FI_MR_BASIC },
		{ 0, FI_MR_SCALABLE, 0, FI_MR_SCALABLE },
		/* hardware */
		{ hw, hw, 0, hw },
		{ hw, hw | FI_MR_ENDPOINT | FI_MR_RAW, 0, hw },
		{ hw, FI_MR_LOCAL, -FI_ENODATA, 0 },
		{ hw, 0, -FI_ENODATA, 0 },
		{ INFO_MR_BASIC_BITS, FI_MR_BASIC, 0, FI_MR_BASIC },
		{ FI_MR_PROV_KEY, FI_MR_SCALABLE, -FI_ENODATA, 0 },
		{ FI_MR_BASIC, INFO_MR_BASIC_BITS, 0, INFO_MR_BASIC_BITS },
		/* the old values cannot be combined with bits */
		{ 0, FI_MR_BASIC | FI_MR_LOCAL, -FI_ENODATA, 0 },
		{ 0, FI_MR_BASIC | FI_MR_SCALABLE, -FI_ENODATA, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int out = 0;

		assert_int_equal(info_mr_mode_get(row[i].need, row[i].wanted, &out), row[i].ret);
		assert_int_equal(out, row[i].out);
	}
}

/* GASNet asserts that either all or none of the three basic bits are set. */
static void test_basic_bits_stay_together(void **state)
{
	int wanted, out, basic;

	for (wanted = 0; wanted < 0x1000; wanted += 4) {
		if (info_mr_mode_get(0, wanted, &out))
			continue;
		basic = out & INFO_MR_BASIC_BITS;
		assert_true(basic == 0 || basic == INFO_MR_BASIC_BITS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_sides_of_all_subsets),
		cmocka_unit_test(test_mr_bits),
		cmocka_unit_test(test_mr_need),
		cmocka_unit_test(test_mr_get),
		cmocka_unit_test(test_basic_bits_stay_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
