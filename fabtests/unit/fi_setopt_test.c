/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "common/ft.h"

static void min_multi_recv(struct ft_ep *e)
{
	size_t value = 0, len = sizeof(value), want = 2048;

	FT_MAY(fi_getopt(&e->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &len));
	FT_WANT(len == sizeof(value), "FI_OPT_MIN_MULTI_RECV has %zu bytes", len);
	FT_TRY(fi_setopt(&e->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &want, sizeof(want)));
	FT_TRY(fi_getopt(&e->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &len));
	FT_WANT(value == want, "FI_OPT_MIN_MULTI_RECV was set to %zu and is %zu", want, value);
}

static void cm_data_size(struct ft_ep *e)
{
	size_t value = 0, len = sizeof(value);

	FT_TRY(fi_getopt(&e->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value, &len));
	FT_WANT(value >= 16, "connection requests carry %zu bytes of private data only", value);
}

static void refusals(struct ft_ep *e)
{
	char few[2];
	size_t value = 1, len = sizeof(few);

	FT_WANT(fi_setopt(&e->ep->fid, FI_OPT_ENDPOINT, 0x7fff, &value, sizeof(value)) < 0,
		"an option that does not exist was set");
	FT_WANT(fi_getopt(&e->ep->fid, 77, FI_OPT_MIN_MULTI_RECV, &value, &len) < 0,
		"an option of a level that does not exist was read");
	FT_IS(fi_getopt(&e->ep->fid, FI_OPT_ENDPOINT,
			e->ft->info->ep_attr->type == FI_EP_MSG ? FI_OPT_CM_DATA_SIZE :
			FI_OPT_MIN_MULTI_RECV, few, &len), -FI_ETOOSMALL);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: endpoint options are set, read back and refused.",
		.local = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	ft_ep_open(&ft, &ft.ep, ft.info);
	if (ft.info->ep_attr->type == FI_EP_MSG)
		cm_data_size(&ft.ep);
	else
		min_multi_recv(&ft.ep);
	refusals(&ft.ep);
	return ft_end(&ft);
}
