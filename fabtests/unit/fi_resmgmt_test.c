/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>
#include <string.h>

#include "common/ft.h"

/* Posts receives until the endpoint is full, then makes sure that each of them
 * is cancelled once, however small the queue was: resource management loses nothing.
 */
static void managed(struct fi_info *hints)
{
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
}

static int fill(struct ft *ft, struct fi_context2 *ctx, int max)
{
	int posted = 0;

	for (; posted < max; posted++) {
		ssize_t ret = fi_recv(ft->ep.ep, ft->rx.p, 64, ft->rx.desc, FI_ADDR_UNSPEC, &ctx[posted]);

		if (ret == -FI_EAGAIN)
			break;
		FT_TRY(ret);
	}
	return posted;
}

static void cancel_all(struct ft *ft, struct fi_context2 *ctx, int posted)
{
	char *seen = calloc(1, (size_t) posted);
	struct fi_cq_err_entry err = { 0 };

	for (int i = 0; i < posted; i++)
		FT_TRY(fi_cancel(&ft->ep.ep->fid, &ctx[i]));
	for (int i = 0; i < posted; i++) {
		ssize_t k;

		ft_cq_take_err(&ft->ep, ft->ep.rxcq, &err);
		k = (struct fi_context2 *) err.op_context - ctx;
		FT_WANT(err.err == FI_ECANCELED, "a cancelled receive says %s", fi_strerror(err.err));
		FT_WANT(k >= 0 && k < posted && !seen[k], "a receive was reported twice");
		seen[k] = 1;
	}
	ft_cq_quiet(&ft->ep, ft->ep.rxcq, 20);
	free(seen);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: a full endpoint says so, and a queue too small loses nothing.",
		.local = true,
		.tune = managed,
	};
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .size = 4, .wait_obj = FI_WAIT_NONE };
	struct fi_context2 *ctx;
	struct ft ft;
	int max, posted;

	ft_begin(&ft, &test, argc, argv);
	if (ft.info->ep_attr->type == FI_EP_MSG)
		ft_skip("needs an endpoint that works without a peer");
	FT_WANT(ft.info->domain_attr->resource_mgmt == FI_RM_ENABLED, "FI_RM_ENABLED was not given");
	FT_TRY(fi_cq_open(ft.domain, &attr, &ft.ep.txcq, NULL));
	FT_TRY(fi_cq_open(ft.domain, &attr, &ft.ep.rxcq, NULL));
	ft.ep.own_cqs = true;
	ft_ep_open(&ft, &ft.ep, ft.info);
	FT_TRY(fi_enable(ft.ep.ep));
	max = (int) ft.info->rx_attr->size;
	max = max > 4096 ? 4096 : max;
	ctx = calloc((size_t) max, sizeof(*ctx));
	posted = fill(&ft, ctx, max);
	FT_WANT(posted >= (max < 16 ? max : 16), "only %d receives fit where rx_attr.size says %d",
		posted, max);
	cancel_all(&ft, ctx, posted);
	free(ctx);
	return ft_end(&ft);
}
