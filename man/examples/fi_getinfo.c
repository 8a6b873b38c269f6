/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Reliable endpoints that can send tagged messages to a host. */
static int print_ways_to(const char *host, const char *port)
{
	struct fi_info *hints = fi_allocinfo(), *list, *info;
	char text[64];
	int ret;

	if (!hints)
		return -FI_ENOMEM;
	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT;	/* we pass a struct fi_context with each call */
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	ret = fi_getinfo(FI_VERSION(2, 0), host, port, 0, hints, &list);
	fi_freeinfo(hints);
	if (ret == -FI_ENODATA)
		fprintf(stderr, "no way to %s: try fi_info --explain\n", host);
	if (ret)
		return ret;
	for (info = list; info; info = info->next)
		printf("%s over %s (%s), injects up to %zu bytes\n",
		       info->fabric_attr->prov_name, info->domain_attr->name,
		       fi_tostr_r(text, sizeof(text), &info->addr_format, FI_TYPE_ADDR_FORMAT),
		       info->tx_attr->inject_size);
	fi_freeinfo(list);
	return 0;
}
/* page] */

int main(void)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret;

	example_need_provider();
	MUST(print_ways_to("127.0.0.1", "5000"));
	/* No provider has datagrams with tags, and the call says so. */
	hints->caps = FI_TAGGED;
	hints->ep_attr->type = FI_EP_DGRAM;
	ret = fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	return ret != -FI_ENODATA || info;
}
