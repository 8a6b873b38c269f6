/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* getinfo - the same process with one fi_getinfo, no hints. */

#include <rdma/fabric.h>

int main(void)
{
	struct fi_info *info;

	if (fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, NULL, &info))
		return 1;
	fi_freeinfo(info);
	return 0;
}
