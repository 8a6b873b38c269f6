/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* oneCCL ATL/OFI: two passes; shared memory is opened separately, by name. */

#include "rt.h"

#include <string.h>

static struct fi_info *hints(const char *prov)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_TAGGED;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->mr_mode = 0;
	if (prov)
		h->fabric_attr->prov_name = strdup(prov);
	return h;
}

/* The first pass reads how many contexts an endpoint may have. */
static void test_two_passes(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 10), .hints = hints(NULL) };
	struct fi_info *first = rt_all(&q), *second;

	assert_true(first->domain_attr->max_ep_tx_ctx >= 1);
	assert_int_equal(first->domain_attr->mr_mode, 0);
	fi_freeinfo(q.hints);
	q.hints = hints(first->fabric_attr->prov_name);
	q.hints->ep_attr->tx_ctx_cnt = 1;
	q.hints->ep_attr->rx_ctx_cnt = 1;
	second = rt_all(&q);
	assert_string_equal(second->fabric_attr->prov_name, first->fabric_attr->prov_name);
	fi_freeinfo(second);
	fi_freeinfo(first);
	fi_freeinfo(q.hints);
}

static void test_shm_by_name(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 10), .hints = hints("shm") };
	struct fi_info *info = rt_all(&q);

	assert_false(info->caps & FI_HMEM);	/* otherwise it would be refused */
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_messages(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 10), .hints = hints(NULL) };
	struct rt_world w;
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);

	rt_open(&w, rt_all(&q), &setup);
	/* addresses are exchanged in slots of this size */
	assert_int_equal(fi_getname(&w.ep[0]->fid, name, &len), 0);
	assert_in_range(len, 1, FI_NAME_MAX);
	rt_carry_tagged(&w, 8192, 0x123456789abcdefULL);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_passes),
		cmocka_unit_test(test_shm_by_name),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
