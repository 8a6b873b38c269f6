/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Chapel comm=ofi: three sets of hints, tried one after the other. */

#include "rt.h"

static struct fi_info *hints(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_MULTI_RECV | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->tx_attr->op_flags = FI_COMPLETION;
	h->rx_attr->op_flags = FI_COMPLETION;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->control_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY |
				  FI_MR_ENDPOINT | FI_MR_ALLOCATED;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	return h;
}

static void ask(struct fi_info *(*how)(const struct rt_query *), uint64_t caps, uint64_t order,
		uint64_t level)
{
	struct rt_query q = { .version = FI_VERSION(1, 9), .hints = hints() };
	struct fi_info *info;

	q.hints->caps |= caps;
	q.hints->tx_attr->msg_order = order;
	q.hints->rx_attr->msg_order = order;
	q.hints->tx_attr->op_flags |= level;
	info = how(&q);
	assert_int_equal(info->domain_attr->threading, FI_THREAD_DOMAIN);
	assert_int_equal(info->domain_attr->mr_mode & ~q.hints->domain_attr->mr_mode, 0);
	if (info->caps & FI_RMA)
		assert_int_equal(order & ~info->tx_attr->msg_order, 0);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_atomics_with_fence(void **state)
{
	ask(rt_all, FI_ATOMIC | FI_FENCE, FI_ORDER_ATOMIC_WAW | FI_ORDER_SAS, 0);
}

static void test_message_order(void **state)
{
	ask(rt_all, 0, FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_SAS, 0);
}

static void test_delivery_complete(void **state)
{
	ask(rt_all, 0, FI_ORDER_SAS, FI_DELIVERY_COMPLETE);
}

static void test_what_there_is(void **state)
{
	ask(rt_now, 0, FI_ORDER_SAS, 0);
}

static void test_messages(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_DATA };
	struct rt_query q = { .version = FI_VERSION(1, 9), .hints = hints() };
	struct rt_world w;

	rt_open(&w, rt_now(&q), &setup);
	rt_carry(&w, 64);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atomics_with_fence),
		cmocka_unit_test(test_message_order),
		cmocka_unit_test(test_delivery_complete),
		cmocka_unit_test(test_what_there_is),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
