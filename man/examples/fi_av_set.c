/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int even_and_last(struct fid_av *av, fi_addr_t peers, struct fid_av_set **set)
{
	struct fi_av_set_attr attr = {
		.start_addr = 0, .end_addr = peers - 2, .stride = 2,
	};
	int ret;

	ret = fi_av_set(av, &attr, set, NULL);
	if (ret)
		return ret;
	ret = fi_av_set_insert(*set, peers - 1);
	if (ret)
		fi_close(&(*set)->fid);
	return ret;
}
/* page] */

int main(void)
{
	struct fi_av_set_attr all_attr = { .flags = FI_UNIVERSE };
	struct fid_av_set *set, *all;
	struct example e;
	fi_addr_t sym[5];
	int ret;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	/* With its own address, six peers. */
	if (MUST(fi_av_insertsym(e.av, "127.0.0.1", 5, "7000", 1, sym, 0, NULL)) != 5)
		return 1;
	MUST(even_and_last(e.av, 6, &set));
	MUST(fi_av_set(e.av, &all_attr, &all, NULL));
	MUST(fi_av_set_diff(all, set));
	/* What is left is 1 and 3. */
	MUST(fi_av_set_remove(all, 1));
	MUST(fi_av_set_remove(all, 3));
	ret = fi_av_set_remove(all, 2);
	MUST(fi_close(&all->fid));
	MUST(fi_close(&set->fid));
	example_close(&e);
	return ret != -FI_EINVAL;
}
