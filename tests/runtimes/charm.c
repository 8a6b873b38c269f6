/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Charm++ OFI: written to 1.0, where registration had two modes. */

#include "rt.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static struct fi_info *hints(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_TAGGED | FI_RMA | FI_REMOTE_READ;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	return h;
}

static void check_answer(const struct fi_info *info)
{
	int mode = info->domain_attr->mr_mode;

	assert_true(mode == FI_MR_BASIC || mode == FI_MR_SCALABLE);
	assert_int_equal(info->ep_attr->type, FI_EP_RDM);
	assert_int_equal(info->fabric_attr->api_version, FI_VERSION(1, 0));
}

static void test_hints(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 0), .hints = hints() };
	struct fi_info *info = rt_all(&q);

	check_answer(info);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_memory_mode_names(void **state)
{
	static const int asked[] = { FI_MR_UNSPEC, FI_MR_BASIC, FI_MR_SCALABLE };
	struct rt_query q = { .version = FI_VERSION(1, 0), .hints = hints() };
	struct fi_info *info;

	for (int i = 0; i < 3; i++) {
		q.hints->domain_attr->mr_mode = asked[i];
		info = rt_now(&q);
		check_answer(info);
		if (asked[i] != FI_MR_UNSPEC)
			assert_int_equal(info->domain_attr->mr_mode, asked[i]);
		fi_freeinfo(info);
	}
	fi_freeinfo(q.hints);
}

static void test_messages(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 0), .hints = hints() };
	struct rt_world w;

	rt_open(&w, rt_now(&q), &setup);
	rt_carry_tagged(&w, 1024, 1);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_memory_mode_names),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
