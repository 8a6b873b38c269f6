/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mpich_hints.h"

#include <string.h>

#define ATOMIC_ORDERS (FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | \
		       FI_ORDER_ATOMIC_WAW)

static bool has(const struct fi_info *info, uint64_t caps)
{
	return (info->caps & caps) == caps;
}

static int score(const struct fi_info *info)
{
	int points = 0;

	points += info->domain_attr->cq_data_size >= 4;
	points += has(info, FI_TAGGED);
	points += has(info, FI_MSG | FI_MULTI_RECV);
	points += has(info, FI_RMA);
	points += has(info, FI_ATOMIC) &&
		  (info->tx_attr->msg_order & ATOMIC_ORDERS) == ATOMIC_ORDERS;
	points += info->ep_attr->type == FI_EP_RDM;
	if (strstr(info->fabric_attr->prov_name, "rxd"))
		points -= 2;
	if (!strcmp(info->fabric_attr->prov_name, "shm"))
		points -= 2;
	return points;
}

static bool link_down(const struct fi_info *info)
{
	return info->nic && info->nic->link_attr && info->nic->link_attr->state == FI_LINK_DOWN;
}

const struct fi_info *mpich_first(struct fi_info **list_p)
{
	const struct fi_info *best = NULL;

	assert_int_equal(fi_getinfo(fi_version(), NULL, NULL, 0, NULL, list_p), 0);
	for (const struct fi_info *info = *list_p; info; info = info->next) {
		if (link_down(info))
			continue;
		if (!best || score(info) > score(best))
			best = info;
	}
	assert_non_null(best);
	return best;
}

struct fi_info *mpich_hints(const struct fi_info *best, enum fi_threading threading)
{
	struct fi_info *h = rt_hints();

	h->fabric_attr->prov_name = strdup(best->fabric_attr->prov_name);
	h->caps = best->caps;
	h->mode = FI_CONTEXT | FI_ASYNC_IOV | FI_RX_CQ_DATA | FI_CONTEXT2;
	h->domain_attr->mode = FI_RESTRICTED_COMP;
	h->domain_attr->threading = threading;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->cq_data_size = 4;
	h->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				  FI_MR_ENDPOINT;
	h->tx_attr->op_flags = FI_COMPLETION;
	h->rx_attr->op_flags = FI_COMPLETION;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->ep_attr->type = FI_EP_RDM;
	h->ep_attr->mem_tag_format = 0x007000007fffffffULL;
	return h;
}

/* The first result is the provider itself; layers over it may follow. */
void mpich_check(const struct fi_info *info, const struct fi_info *asked)
{
	const char *name = asked->fabric_attr->prov_name;

	assert_string_equal(info->fabric_attr->prov_name, name);
	for (; info; info = info->next) {
		assert_memory_equal(info->fabric_attr->prov_name, name, strlen(name));
		assert_int_equal(info->domain_attr->threading, asked->domain_attr->threading);
		assert_int_equal(info->domain_attr->av_type, FI_AV_TABLE);
		assert_int_equal(info->domain_attr->mr_mode & ~asked->domain_attr->mr_mode, 0);
		assert_int_equal(info->mode & ~asked->mode, 0);
		assert_true(info->domain_attr->max_ep_tx_ctx >= 1);
		assert_true(info->domain_attr->cq_data_size >= 4);
		/* the launcher looks for the host name among these */
		assert_non_null(info->src_addr);
		assert_true(info->src_addrlen > 0);
	}
}
