/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Open MPI, btl/ofi: one-sided communication below osc rdma. */

#include "rt.h"

#include <string.h>

static struct fi_info *hints(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_RMA | FI_ATOMIC;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
	h->rx_attr->op_flags = FI_COMPLETION;
	h->tx_attr->iov_limit = 1;
	h->rx_attr->iov_limit = 1;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR |
				  FI_MR_ENDPOINT;
	h->domain_attr->threading = FI_THREAD_SAFE;
	return h;
}

/* The runtime refuses mode bits that it did not offer, and treats rxm as slow. */
static void check_answer(const struct fi_info *info, const struct fi_info *asked)
{
	int extra = info->domain_attr->mr_mode & ~asked->domain_attr->mr_mode;

	assert_int_equal(extra, 0);
	assert_int_equal(info->mode & ~asked->mode, 0);
	assert_int_equal(info->ep_attr->type, FI_EP_RDM);
	assert_non_null(info->domain_attr->name);
	assert_true(info->ep_attr->max_msg_size > 0);
}

static void test_hints(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = hints() };
	struct fi_info *info = rt_all(&q);

	check_answer(info, q.hints);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_what_there_is(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 9), .hints = hints() };
	struct fi_info *info = rt_now(&q);

	check_answer(info, q.hints);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

/* The hints are on the stack of the runtime, mostly zero. */
static void test_hints_on_the_stack(void **state)
{
	struct fi_tx_attr tx = { .op_flags = FI_COMPLETION, .iov_limit = 1 };
	struct fi_rx_attr rx = { .op_flags = FI_COMPLETION, .iov_limit = 1 };
	struct fi_ep_attr ep = { .type = FI_EP_RDM };
	struct fi_domain_attr dom = { .mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR,
				      .threading = FI_THREAD_DOMAIN };
	struct fi_fabric_attr fab = { 0 };
	struct fi_info h = { .caps = FI_MSG, .mode = FI_CONTEXT | FI_CONTEXT2, .tx_attr = &tx,
			     .rx_attr = &rx, .ep_attr = &ep, .domain_attr = &dom,
			     .fabric_attr = &fab };
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = &h };
	struct fi_info *info = rt_all(&q);

	check_answer(info, &h);
	fi_freeinfo(info);
}

/* One module for each domain, found by its name; a peer is removed at the end. */
static void test_objects(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_MAP,
					       .cq_format = FI_CQ_FORMAT_CONTEXT,
					       .wait_obj = FI_WAIT_NONE };
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = hints() };
	struct rt_world w;

	rt_open(&w, rt_now(&q), &setup);
	rt_carry(&w, 8);
	assert_int_equal(fi_av_remove(w.av, &w.addr[1], 1, 0), 0);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_what_there_is),
		cmocka_unit_test(test_hints_on_the_stack),
		cmocka_unit_test(test_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
