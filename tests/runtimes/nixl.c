/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* NIXL: a tcp rail on a host without a better fabric. */

#include "rt.h"

#include <string.h>

static struct fi_info *rail_hints(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED;
	h->domain_attr->threading = FI_THREAD_COMPLETION;
	h->fabric_attr->prov_name = strdup("tcp");
	return h;
}

/* Discovery asks which of cxi, efa, tcp and sockets exist. */
static void test_discovery(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = rt_hints() };
	struct fi_info *info;
	bool tcp = false;

	q.hints->mode = ~0ULL;
	q.hints->domain_attr->mode = ~0ULL;
	q.hints->domain_attr->mr_mode = ~3;
	info = rt_all(&q);
	for (const struct fi_info *i = info; i; i = i->next)
		tcp |= !strcmp(i->fabric_attr->prov_name, "tcp");
	assert_true(tcp);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_device_memory_first(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = rail_hints() };

	q.hints->caps |= FI_HMEM;
	q.hints->domain_attr->mr_mode |= FI_MR_HMEM;
	rt_none(&q);
	fi_freeinfo(q.hints);
}

static void test_rail(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = rail_hints() };
	struct fi_info *info = rt_all(&q);

	assert_int_equal(info->domain_attr->threading, FI_THREAD_COMPLETION);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_messages(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_DATA,
					       .wait_obj = FI_WAIT_NONE };
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = rail_hints() };
	struct rt_world w;

	rt_open(&w, rt_now(&q), &setup);
	rt_carry(&w, 8192);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discovery),
		cmocka_unit_test(test_device_memory_first),
		cmocka_unit_test(test_rail),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
