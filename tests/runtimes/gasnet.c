/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* GASNet-EX ofi-conduit: three endpoints on one address vector and send queue. */

#include "rt.h"

#include <stdlib.h>
#include <string.h>

#define PEERS 4
#define EPS 3
#define NAME_MAX_LEN 128

static struct fi_info *hints(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_RMA | FI_MSG | FI_MULTI_RECV;
	h->mode = FI_CONTEXT;
	h->addr_format = FI_FORMAT_UNSPEC;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_SAFE;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY |
				  FI_MR_ENDPOINT;
	return h;
}

/* The three basic bits are all set or all clear, or the runtime asserts. */
static void check_mr_mode(const struct fi_info *info)
{
	int basic = FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;

	for (; info; info = info->next)
		if (info->domain_attr->mr_mode & basic)
			assert_int_equal(info->domain_attr->mr_mode & basic, basic);
}

static void test_hints(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 5), .hints = hints() };
	struct fi_info *info = rt_all(&q);

	check_mr_mode(info);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

/* The second query, with provider and domain fixed: one for RMA, two for messages. */
static struct fi_info *ask_again(const struct fi_info *first, uint64_t caps, uint64_t mode,
				 struct fi_info *(*how)(const struct rt_query *))
{
	struct rt_query q = { .version = FI_VERSION(1, 5), .hints = hints() };
	struct fi_info *info;

	q.hints->caps = caps;
	q.hints->mode = mode;
	q.hints->fabric_attr->prov_name = strdup(first->fabric_attr->prov_name);
	q.hints->fabric_attr->name = strdup(first->fabric_attr->name);
	q.hints->domain_attr->name = strdup(first->domain_attr->name);
	info = how(&q);
	assert_string_equal(info->domain_attr->name, first->domain_attr->name);
	fi_freeinfo(q.hints);
	return info;
}

static void test_rma_endpoint(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 5), .hints = hints() };
	struct fi_info *first = rt_now(&q);

	fi_freeinfo(ask_again(first, FI_RMA, 0, rt_all));
	fi_freeinfo(first);
	fi_freeinfo(q.hints);
}

static void test_message_endpoints(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 5), .hints = hints() };
	struct fi_info *first = rt_now(&q);

	fi_freeinfo(ask_again(first, FI_MSG | FI_MULTI_RECV, FI_CONTEXT, rt_all));
	fi_freeinfo(first);
	fi_freeinfo(q.hints);
}

/* fi_addr is NULL for a table: the addresses are numbered in the order given. */
static void test_addresses_of_all_ranks(void **state)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = PEERS * EPS };
	struct rt_query q = { .version = FI_VERSION(1, 5), .node = "127.0.0.1",
			      .flags = FI_SOURCE | FI_NUMERICHOST, .hints = hints() };
	struct fi_info *info = rt_now(&q);
	char names[PEERS * EPS * NAME_MAX_LEN], back[NAME_MAX_LEN];
	struct fid_cq *txcq, *rxcq[EPS];
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep[EPS];
	size_t len = 0, got;
	struct fid_av *av;
	int ret;

	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_av_open(domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &txcq, NULL), 0);
	for (int i = 0; i < EPS; i++) {
		assert_int_equal(fi_endpoint(domain, info, &ep[i], NULL), 0);
		assert_int_equal(fi_ep_bind(ep[i], &av->fid, 0), 0);
		/* a shared queue; a provider may refuse with FI_EINVAL, ours does not */
		assert_int_equal(fi_ep_bind(ep[i], &txcq->fid, FI_TRANSMIT), 0);
		assert_int_equal(fi_cq_open(domain, &cq_attr, &rxcq[i], NULL), 0);
		assert_int_equal(fi_ep_bind(ep[i], &rxcq[i]->fid, FI_RECV), 0);
		assert_int_equal(fi_enable(ep[i]), 0);
	}
	assert_int_equal(fi_getname(&ep[0]->fid, NULL, &len), -FI_ETOOSMALL);
	assert_in_range(len, 1, NAME_MAX_LEN);
	for (int i = 0; i < PEERS * EPS; i++) {
		got = len;
		assert_int_equal(fi_getname(&ep[i % EPS]->fid, names + i * len, &got), 0);
		assert_int_equal(got, len);
	}
	ret = fi_av_insert(av, names, PEERS * EPS, NULL, 0, NULL);
	assert_int_equal(ret, PEERS * EPS);
	for (int i = 0; i < PEERS * EPS; i++) {
		got = sizeof(back);
		assert_int_equal(fi_av_lookup(av, (fi_addr_t) i, back, &got), 0);
		assert_int_equal(got, len);
		assert_memory_equal(back, names + i * len, len);
	}
	for (int i = 0; i < EPS; i++) {
		assert_int_equal(fi_close(&ep[i]->fid), 0);
		assert_int_equal(fi_close(&rxcq[i]->fid), 0);
	}
	assert_int_equal(fi_close(&txcq->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_rma_endpoint),
		cmocka_unit_test(test_message_endpoints),
		cmocka_unit_test(test_addresses_of_all_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
