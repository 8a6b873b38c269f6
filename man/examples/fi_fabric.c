/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int open_first(void)
{
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	int ret;

	ret = fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, NULL, &info);
	if (ret)
		return ret;
	fputs(fi_tostr(info, FI_TYPE_INFO), stdout);
	ret = fi_fabric(info->fabric_attr, &fabric, NULL);
	if (ret)
		goto free_info;
	ret = fi_eq_open(fabric, NULL, &eq, NULL);
	if (ret)
		goto close_fabric;
	/* The event queue was opened from the fabric, so it goes first. */
	if (fi_close(&fabric->fid) != -FI_EBUSY)
		ret = -FI_EOTHER;
	fi_close(&eq->fid);
close_fabric:
	fi_close(&fabric->fid);
free_info:
	fi_freeinfo(info);
	return ret;
}
/* page] */

int main(void)
{
	example_need_provider();
	setenv("FI_LOG_LEVEL", "none", 0);	/* the warning is expected */
	MUST(open_first());
	return 0;
}
