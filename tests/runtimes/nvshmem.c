/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* NVSHMEM: device memory over verbs; its hints carry an empty nic. */

#include "rt.h"

#include <stdlib.h>
#include <string.h>

static struct fi_info *hints(const char *prov, uint64_t caps)
{
	struct fi_info *h = rt_hints();

	h->caps = caps;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->domain_attr->threading = FI_THREAD_SAFE;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				  FI_MR_PROV_KEY | FI_MR_HMEM | FI_MR_ENDPOINT;
	h->nic = calloc(1, sizeof(*h->nic));
	if (prov)
		h->fabric_attr->prov_name = strdup(prov);
	return h;
}

static void release(struct fi_info *h)
{
	free(h->nic);
	h->nic = NULL;
	fi_freeinfo(h);
}

/* Without device memory the result is -FI_ENODATA. */
static void test_device_memory(void **state)
{
	static const char *const prov[] = { "verbs", "cxi", "efa", NULL };
	struct rt_query q = { .version = FI_VERSION(1, 5) };

	for (int i = 0; i < 4; i++) {
		q.hints = hints(prov[i], FI_RMA | FI_HMEM | FI_ATOMIC);
		rt_none(&q);
		release(q.hints);
	}
}

/* The zeroed nic in the hints asks for nothing. */
static void test_empty_nic(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 5), .hints = hints(NULL, FI_MSG) };
	struct fi_info *info;

	q.hints->tx_attr->op_flags = 0;
	assert_int_equal(fi_getinfo(q.version, NULL, NULL, 0, q.hints, &info), 0);
	assert_non_null(info);
	fi_freeinfo(info);
	release(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_memory),
		cmocka_unit_test(test_empty_nic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
