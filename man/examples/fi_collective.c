/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static void join_all(struct example *e, struct fid_eq *eq, struct fid_av_set **set,
		     struct fid_mc **mc)
{
	struct fi_av_set_attr attr = { .flags = FI_UNIVERSE };
	struct fi_eq_entry entry;
	uint32_t event;

	MUST(fi_av_set(e->av, &attr, set, NULL));
	MUST(fi_join_collective(e->ep, FI_ADDR_NOTAVAIL, *set, 0, mc, NULL));
	do {
		fi_cq_read(e->cq, NULL, 0);	/* joining takes progress */
	} while (fi_eq_read(eq, &event, &entry, sizeof(entry), 0) == -FI_EAGAIN);
}

static double sum_over_all(struct example *e, struct fid_mc *mc, double mine)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	double sum = 0;

	MUST(fi_allreduce(e->ep, &mine, 1, NULL, &sum, NULL, fi_mc_addr(mc), FI_DOUBLE, FI_SUM,
			  0, &ctx));
	example_wait(e->cq, &entry);
	return sum;
}
/* page] */

int main(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_av_set *set;
	struct example e;
	struct fid_eq *eq;
	struct fid_mc *mc;
	double sum;

	example_open_with(&e, "tcp", FI_EP_RDM, FI_MSG | FI_COLLECTIVE, &eq_attr, &eq);
	join_all(&e, eq, &set, &mc);
	sum = sum_over_all(&e, mc, 2.5);
	MUST(fi_close(&mc->fid));
	MUST(fi_close(&set->fid));
	MUST(fi_close(&e.ep->fid));
	MUST(fi_close(&eq->fid));
	e.ep = NULL;
	example_close(&e);
	return sum != 2.5;
}
