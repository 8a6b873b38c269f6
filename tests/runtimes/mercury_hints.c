/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mercury_hints.h"

#include <string.h>

const struct mercury_class mercury_tcp = {
	.prov = "tcp", .protocol = FI_PROTO_XNET, .addr_format = FI_SOCKADDR_IN,
	.progress = FI_PROGRESS_MANUAL, .extra_caps = FI_MULTI_RECV,
};

struct fi_info *mercury_hints(const struct mercury_class *class, enum fi_threading threading)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV | class->extra_caps;
	h->mode = FI_ASYNC_IOV | FI_CONTEXT;
	h->addr_format = class->addr_format;
	h->ep_attr->type = FI_EP_RDM;
	h->ep_attr->protocol = class->protocol;
	h->tx_attr->op_flags = FI_INJECT_COMPLETE;
	h->domain_attr->control_progress = class->progress;
	h->domain_attr->data_progress = class->progress;
	h->domain_attr->threading = threading;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				  FI_MR_LOCAL | FI_MR_ENDPOINT;
	h->fabric_attr->prov_name = strdup(class->prov);
	return h;
}
