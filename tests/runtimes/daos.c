/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* DAOS CaRT: Mercury's hints, one context for each stream, and its environment. */

#include "mercury_hints.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS 4

static void test_hints(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 20),
			      .hints = mercury_hints(&mercury_tcp, FI_THREAD_DOMAIN) };
	struct fi_info *info = rt_all(&q);

	assert_int_equal(info->domain_attr->threading, FI_THREAD_DOMAIN);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

/* Each stream has a separate domain, endpoint and queue. */
static void test_streams(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_MAP,
					       .cq_format = FI_CQ_FORMAT_TAGGED,
					       .wait_obj = FI_WAIT_FD };
	struct rt_query q = { .version = FI_VERSION(1, 20), .node = "127.0.0.1",
			      .flags = FI_SOURCE | FI_NUMERICHOST,
			      .hints = mercury_hints(&mercury_tcp, FI_THREAD_DOMAIN) };
	struct rt_world w[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		rt_open(&w[i], rt_now(&q), &setup);
	for (int i = 0; i < STREAMS; i++)
		rt_carry(&w[i], 1024);
	for (int i = 0; i < STREAMS; i++)
		rt_close(&w[i]);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_streams),
	};

	setenv("FI_UNIVERSE_SIZE", "2048", 1);
	setenv("FI_OFI_RXM_USE_SRX", "1", 1);
	setenv("FI_OFI_RXM_DEF_TCP_WAIT_OBJ", "pollfd", 1);
	setenv("FI_MR_CACHE_MAX_COUNT", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
