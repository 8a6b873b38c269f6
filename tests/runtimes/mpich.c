/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* MPICH, ch4:ofi: first without hints, then with hints made from the preferred result. */

#include "mpich_hints.h"

#include <string.h>

static void test_first_answer(void **state)
{
	const struct fi_info *best;
	struct fi_info *list;

	best = mpich_first(&list);
	assert_int_equal(best->ep_attr->type, FI_EP_RDM);
	assert_true(best->caps & FI_TAGGED);
	assert_non_null(best->src_addr);
	fi_freeinfo(list);
}

static void test_second_answer(void **state)
{
	static const enum fi_threading level[] = { FI_THREAD_DOMAIN, FI_THREAD_SAFE,
						   FI_THREAD_COMPLETION };
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	const struct fi_info *best;
	struct fi_info *list, *info;

	best = mpich_first(&list);
	for (int i = 0; i < 3; i++) {
		q.hints = mpich_hints(best, level[i]);
		info = rt_all(&q);
		mpich_check(info, q.hints);
		fi_freeinfo(info);
		fi_freeinfo(q.hints);
	}
	fi_freeinfo(list);
}

/* The capability sets of the presets, as far as they are supported. */
static void test_full_set(void **state)
{
	const struct fi_info *best;
	struct fi_info *list;
	struct rt_query q = { .version = FI_VERSION(1, 17) };

	best = mpich_first(&list);
	q.hints = mpich_hints(best, FI_THREAD_DOMAIN);
	q.hints->caps = FI_MSG | FI_MULTI_RECV | FI_TAGGED | FI_DIRECTED_RECV | FI_RMA | FI_READ |
			FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV | FI_ATOMIC;
	fi_freeinfo(list);
	list = rt_all(&q);
	mpich_check(list, q.hints);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

/* A queue for messages and a counter for one-sided operations, on one endpoint. */
static void test_counter_beside_queue(void **state)
{
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP,
					  .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	struct fi_info *list, *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cntr *cntr;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;

	q.hints = mpich_hints(mpich_first(&list), FI_THREAD_DOMAIN);
	info = rt_all(&q);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_cntr_open(domain, &cntr_attr, &cntr, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_av_open(domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV | FI_SELECTIVE_COMPLETION), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_READ | FI_WRITE), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_cntr_read(cntr), 0);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&cntr->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

static void test_messages(void **state)
{
	static const struct rt_setup setup = {
		.av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
		.bind_flags = FI_SEND | FI_RECV | FI_SELECTIVE_COMPLETION,
	};
	struct rt_query q = { .version = FI_VERSION(1, 17) };
	struct fi_info *list;
	struct rt_world w;

	q.hints = mpich_hints(mpich_first(&list), FI_THREAD_DOMAIN);
	rt_open(&w, rt_all(&q), &setup);
	assert_int_equal(w.addr[0], 0);		/* a table counts from 0 */
	assert_int_equal(w.addr[1], 1);
	rt_carry_tagged(&w, 0, 1);
	rt_carry_tagged(&w, 65536, 0x7000007fULL << 20);
	rt_close(&w);
	fi_freeinfo(list);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_answer),
		cmocka_unit_test(test_second_answer),
		cmocka_unit_test(test_full_set),
		cmocka_unit_test(test_counter_beside_queue),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
