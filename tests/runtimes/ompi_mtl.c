/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Open MPI, mtl/ofi: tagged messages with immediate data. */

#include "rt.h"

#include <string.h>

/* The bits that the runtime puts into a tag: protocol, communicator, tag. */
#define TAG_BITS_MIN (2 + 8 + 32)

static struct fi_info *hints(uint64_t extra)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV | extra;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->tx_attr->op_flags = FI_COMPLETION;
	h->rx_attr->op_flags = FI_COMPLETION;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->control_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->av_type = FI_AV_MAP;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->cq_data_size = 4;
	h->domain_attr->mr_mode = FI_MR_HMEM | FI_MR_ALLOCATED;
	return h;
}

/* What the runtime checks before it uses the first entry. */
static void check_answer(const struct fi_info *info)
{
	int bits = 64 - __builtin_clzll(info->ep_attr->mem_tag_format | 1);

	assert_int_equal(info->ep_attr->type, FI_EP_RDM);
	assert_true(info->domain_attr->cq_data_size >= 4);
	assert_true(bits >= TAG_BITS_MIN);
	assert_int_equal(info->domain_attr->threading, FI_THREAD_DOMAIN);
	assert_int_equal(info->domain_attr->av_type, FI_AV_MAP);
	assert_true(info->tx_attr->msg_order & FI_ORDER_SAS);
	assert_true(info->tx_attr->inject_size > 0);
}

static void test_device_memory_first(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = hints(FI_HMEM) };

	rt_none(&q);
	fi_freeinfo(q.hints);
}

static void test_hints(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 18), .hints = hints(0) };
	struct fi_info *info = rt_all(&q);

	check_answer(info);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_every_threading(void **state)
{
	static const enum fi_threading level[] = { FI_THREAD_SAFE, FI_THREAD_DOMAIN };
	struct rt_query q = { .version = FI_VERSION(1, 9), .hints = hints(0) };
	struct fi_info *info;

	for (int i = 0; i < 2; i++) {
		q.hints->domain_attr->threading = level[i];
		info = rt_now(&q);
		assert_int_equal(info->domain_attr->threading, level[i]);
		fi_freeinfo(info);
	}
	fi_freeinfo(q.hints);
}

static void open_world(struct rt_world *w, struct rt_query *q)
{
	static const struct rt_setup setup = {
		.av_type = FI_AV_MAP, .cq_format = FI_CQ_FORMAT_TAGGED, .cq_size = 100,
		.bind_flags = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION,
	};

	q->version = FI_VERSION(1, 18);
	q->hints = hints(0);
	rt_open(w, rt_now(q), &setup);
}

static void close_world(struct rt_world *w, struct rt_query *q)
{
	rt_close(w);
	fi_freeinfo(q->hints);
}

static void expect_data(struct rt_world *w, void *context, uint64_t tag, uint64_t data, size_t len)
{
	struct fi_cq_tagged_entry entry = rt_wait(w, 1);

	assert_ptr_equal(entry.op_context, context);
	assert_int_equal(entry.tag, tag);
	assert_int_equal(entry.len, len);
	assert_int_equal(entry.data, data);
	assert_true(entry.flags & FI_REMOTE_CQ_DATA);
	assert_true(entry.flags & FI_TAGGED);
}

static void test_messages(void **state)
{
	struct fi_context2 ctx[2];
	struct fi_msg_tagged none = { .context = &ctx[0], .tag = 5 };
	struct rt_query q = { 0 };
	struct rt_world w;
	char in[64];

	open_world(&w, &q);
	rt_carry_tagged(&w, 8, 0x300000000000007ULL);
	rt_carry_tagged(&w, 65536, 9);

	/* the source rank travels as immediate data */
	rt_do(&w, fi_trecv(w.ep[1], in, sizeof(in), NULL, FI_ADDR_UNSPEC, 3, 0, &ctx[1]));
	rt_do(&w, fi_tinjectdata(w.ep[0], "rank", 4, 0xabcd, w.addr[1], 3));
	expect_data(&w, &ctx[1], 3, 0xabcd, 4);
	assert_memory_equal(in, "rank", 4);
	rt_do(&w, fi_trecv(w.ep[1], in, sizeof(in), NULL, FI_ADDR_UNSPEC, 0x10, 0xf, &ctx[1]));
	rt_do(&w, fi_tsenddata(w.ep[0], "data", 4, NULL, 0x1234, w.addr[1], 0x1b, &ctx[0]));
	expect_data(&w, &ctx[1], 0x1b, 0x1234, 4);

	/* an acknowledgement has no bytes and no iov */
	none.addr = w.addr[1];
	rt_do(&w, fi_trecv(w.ep[1], NULL, 0, NULL, FI_ADDR_UNSPEC, 5, 0, &ctx[1]));
	rt_do(&w, fi_tsendmsg(w.ep[0], &none, FI_COMPLETION));
	assert_int_equal(rt_wait(&w, 1).len, 0);
	close_world(&w, &q);
}

static void test_cancel(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	struct rt_query q = { 0 };
	struct fi_context2 ctx;
	struct rt_world w;
	char in[64];

	open_world(&w, &q);
	rt_do(&w, fi_trecv(w.ep[1], in, sizeof(in), NULL, FI_ADDR_UNSPEC, 3, 0, &ctx));
	assert_int_equal(fi_cancel(&w.ep[1]->fid, &ctx), 0);
	while (fi_cq_read(w.cq[1], &entry, 1) == -FI_EAGAIN)
		;
	assert_int_equal(fi_cq_readerr(w.cq[1], &err, 0), 1);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_ptr_equal(err.op_context, &ctx);
	close_world(&w, &q);
}

static void test_peek(void **state)
{
	struct fi_context2 ctx;
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 7, .context = &ctx };
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	struct rt_query q = { 0 };
	struct rt_world w;
	ssize_t ret;

	open_world(&w, &q);
	assert_int_equal(fi_trecvmsg(w.ep[1], &msg, FI_PEEK), 0);
	while ((ret = fi_cq_read(w.cq[1], &entry, 1)) == -FI_EAGAIN)
		;
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w.cq[1], &err, 0), 1);
	assert_int_equal(err.err, FI_ENOMSG);
	close_world(&w, &q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_memory_first),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_every_threading),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_peek),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
