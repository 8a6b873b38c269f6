/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static const struct fi_info *fastest(const struct fi_info *list)
{
	const struct fi_info *info, *best = NULL;
	const struct fi_link_attr *link;
	size_t speed = 0;

	for (info = list; info; info = info->next) {
		link = info->nic ? info->nic->link_attr : NULL;
		if (!link || link->state != FI_LINK_UP || link->speed < speed)
			continue;
		if (best && link->speed == speed)
			continue;	/* the list is best first */
		best = info;
		speed = link->speed;
	}
	return best;
}
/* page] */

int main(void)
{
	const struct fi_info *best;
	struct fid_nic *copy = NULL;
	struct fi_info *list;
	int ret = 0;

	example_need_provider();
	MUST(fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, NULL, &list));
	best = fastest(list);
	if (best) {
		MUST(fi_control(&best->nic->fid, FI_DUP, &copy));
		ret = copy->link_attr->mtu != best->nic->link_attr->mtu;
		printf("%s: %zu bit/s\n", best->domain_attr->name, copy->link_attr->speed);
	}
	fi_freeinfo(list);
	if (copy)
		MUST(fi_close(&copy->fid));
	return ret;
}
