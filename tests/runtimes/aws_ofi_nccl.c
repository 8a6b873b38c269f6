/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* aws-ofi-nccl: the sendrecv and the rdma protocol. */

#include "rt.h"

#include <string.h>

static struct fi_info *sendrecv_hints(uint64_t extra)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_LOCAL_COMM | FI_REMOTE_COMM | FI_TAGGED | FI_MSG | extra;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_VIRT_ADDR |
				  FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	h->domain_attr->mr_key_size = 2;
	h->domain_attr->control_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->threading = FI_THREAD_SAFE;
	if (extra & FI_HMEM)
		h->domain_attr->mr_mode |= FI_MR_HMEM;
	return h;
}

static struct fi_info *rdma_hints(void)
{
	struct fi_info *h = sendrecv_hints(0);

	h->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->domain_attr->threading = FI_THREAD_COMPLETION;
	h->domain_attr->cq_data_size = 4;
	return h;
}

/* The first entry decides; the others must be similar to be used beside it. */
static void check_alike(const struct fi_info *first)
{
	for (const struct fi_info *i = first->next; i; i = i->next) {
		if (strcmp(i->fabric_attr->prov_name, first->fabric_attr->prov_name) ||
		    i->addr_format != first->addr_format)
			continue;
		assert_int_equal(i->caps, first->caps);
		assert_int_equal(i->mode, first->mode);
		assert_int_equal(i->ep_attr->type, first->ep_attr->type);
		assert_int_equal(i->ep_attr->protocol, first->ep_attr->protocol);
	}
}

/* Versions are tried from the newest down, with device memory and then without. */
static void test_sendrecv(void **state)
{
	static const uint32_t version[] = { FI_VERSION(1, 20), FI_VERSION(1, 18),
					    FI_VERSION(1, 6) };
	struct rt_query q = { 0 };
	struct fi_info *info;

	for (int i = 0; i < 3; i++) {
		q.version = version[i];
		q.hints = sendrecv_hints(FI_HMEM);
		rt_none(&q);
		fi_freeinfo(q.hints);
		q.hints = sendrecv_hints(0);
		info = rt_all(&q);
		check_alike(info);
		assert_int_equal(info->domain_attr->threading, FI_THREAD_SAFE);
		assert_true(info->domain_attr->mr_key_size >= 2);
		fi_freeinfo(info);
		fi_freeinfo(q.hints);
	}
}

static void test_rdma(void **state)
{
	static const uint32_t version[] = { FI_VERSION(2, 5), FI_VERSION(1, 20),
					    FI_VERSION(1, 18) };
	struct rt_query q = { .hints = rdma_hints() };
	struct fi_info *info;

	for (int i = 0; i < 3; i++) {
		q.version = version[i];
		info = rt_all(&q);
		check_alike(info);
		assert_int_equal(info->domain_attr->threading, FI_THREAD_COMPLETION);
		fi_freeinfo(info);
	}
	fi_freeinfo(q.hints);
}

/* "lo" and "docker0" are dropped by name, and so is what is not IPv4: an interface must be
 * left, unless this host has no other.
 */
static void test_names_to_drop(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = sendrecv_hints(0) };
	int left = 0, lo = 0, rest = 0;
	struct fi_info *info;

	q.hints->addr_format = FI_SOCKADDR_IN;
	q.hints->fabric_attr->prov_name = strdup("tcp");
	info = rt_all(&q);
	for (const struct fi_info *i = info; i; i = i->next) {
		assert_int_equal(i->addr_format, FI_SOCKADDR_IN);
		if (!strcmp(i->domain_attr->name, "lo"))
			lo++;
		else if (!strcmp(i->domain_attr->name, "docker0"))
			rest++;
		else
			left++;
	}
	assert_true(left || lo || rest);
	if (!left)
		assert_string_equal(info->domain_attr->name, rest ? "docker0" : "lo");
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

/* Unknown options of device memory must return an error. */
static void test_unknown_options(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	static const int option[] = { FI_OPT_CUDA_API_PERMITTED, FI_OPT_SHARED_MEMORY_PERMITTED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = sendrecv_hints(0) };
	bool off = false;
	struct rt_world w;
	int ret;

	rt_open(&w, rt_all(&q), &setup);
	for (int i = 0; i < 2; i++) {
		ret = fi_setopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, option[i], &off, sizeof(off));
		assert_true(ret == 0 || ret == -FI_ENOPROTOOPT || ret == -FI_EOPNOTSUPP);
	}
	rt_carry_tagged(&w, 32768, 1);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* Buffers registered for local use only may all carry the key 0. */
static void test_registrations_with_one_key(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = sendrecv_hints(0) };
	static char buf[2][4096];
	struct fid_mr *mr[2];
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fi_mr_reg(w.domain, buf[i], sizeof(buf[i]), FI_SEND | FI_RECV, 0, 0,
					   0, &mr[i], NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fi_close(&mr[i]->fid), 0);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sendrecv),
		cmocka_unit_test(test_rdma),
		cmocka_unit_test(test_names_to_drop),
		cmocka_unit_test(test_unknown_options),
		cmocka_unit_test(test_registrations_with_one_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
