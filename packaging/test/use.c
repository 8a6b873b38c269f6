/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* use.c - a program that a build system makes: fails where the library offers no endpoint. */
#include <rdma/fabric.h>
#include <stdio.h>

int main(void)
{
	struct fi_info *info;
	int ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, NULL, &info);

	if (ret) {
		fprintf(stderr, "fi_getinfo: %s\n", fi_strerror(-ret));
		return 1;
	}
	printf("%u.%u %s\n", FI_MAJOR(fi_version()), FI_MINOR(fi_version()), info->fabric_attr->prov_name);
	fi_freeinfo(info);
	return 0;
}
