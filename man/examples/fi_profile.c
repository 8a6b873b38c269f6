/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_profile.h>

#include "example.h"

/* [page */
static int print_values(struct fid *object)
{
	struct fi_profile_desc desc[16];
	struct fid_profile *profile;
	size_t cnt = 16, i;
	uint64_t value;
	ssize_t ret;

	ret = fi_profile_open(object, 0, &profile, NULL);
	if (ret)
		return (int) ret;
	ret = fi_profile_query_vars(profile, desc, &cnt);
	fi_profile_start_reads(profile, 0);
	for (i = 0; ret >= 0 && i < cnt && i < 16; i++)
		if (!fi_profile_read_u64(profile, desc[i].id, &value))
			printf("%s: %llu\n", desc[i].name, (unsigned long long) value);
	fi_profile_end_reads(profile, 0);
	fi_profile_close(profile);
	return ret < 0 ? (int) ret : 0;
}
/* page] */

int main(void)
{
	struct example e;
	int ret;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	ret = print_values(&e.ep->fid);
	example_close(&e);
	if (ret == -FI_ENOSYS) {
		printf("skipped: this provider shows nothing\n");
		return 77;
	}
	return ret != 0;
}
