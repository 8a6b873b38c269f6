/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* The version to state in fi_getinfo(), or 0 when the library is too old. */
static uint32_t version_to_use(void)
{
	uint32_t ours = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
	uint32_t loaded = fi_version();

	if (FI_VERSION_LT(loaded, FI_VERSION(1, 9))) {
		fprintf(stderr, "libfabric %u.%u is too old, 1.9 is needed\n",
			FI_MAJOR(loaded), FI_MINOR(loaded));
		return 0;
	}
	return FI_VERSION_LT(loaded, ours) ? loaded : ours;
}
/* page] */

int main(void)
{
	struct fi_info *info;
	int ret;

	if (!version_to_use())
		return 1;
	ret = fi_getinfo(version_to_use(), NULL, NULL, 0, NULL, &info);
	if (!ret)
		fi_freeinfo(info);
	if (ret && ret != -FI_ENODATA)
		return 1;
	return fi_getinfo(fi_version() + 1, NULL, NULL, 0, NULL, &info) != -FI_ENOSYS;
}
