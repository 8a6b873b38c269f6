/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int open_domain(struct fi_info **info, struct fid_fabric **fabric,
		       struct fid_domain **domain)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -FI_ENOMEM;
	hints->ep_attr->type = FI_EP_RDM;
	hints->mode = FI_CONTEXT;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	ret = fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, info);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	ret = fi_fabric((*info)->fabric_attr, fabric, NULL);
	if (ret)
		goto free_info;
	ret = fi_domain(*fabric, *info, domain, NULL);
	if (!ret)
		return 0;
	fi_close(&(*fabric)->fid);
free_info:
	fi_freeinfo(*info);
	return ret;
}
/* page] */

int main(void)
{
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;

	example_need_provider();
	MUST(open_domain(&info, &fabric, &domain));
	if (info->domain_attr->threading != FI_THREAD_DOMAIN ||
	    info->domain_attr->data_progress != FI_PROGRESS_MANUAL)
		return 1;
	MUST(fi_close(&domain->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return 0;
}
