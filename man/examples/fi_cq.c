/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int wait_for_one(struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	do {
		ret = fi_cq_sread(cq, entry, 1, NULL, -1);
	} while (ret == -FI_EAGAIN || ret == -FI_EINTR);
	if (ret != -FI_EAVAIL)
		return ret < 0 ? (int) ret : 0;
	ret = fi_cq_readerr(cq, &err, 0);
	if (ret < 0)
		return (int) ret;
	fprintf(stderr, "transfer %p failed: %s (%s)\n", err.op_context, fi_strerror(err.err),
		fi_cq_strerror(cq, err.prov_errno, err.err_data, NULL, 0));
	return -err.err;
}
/* page] */

int main(void)
{
	struct example e;
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx[2];
	char out[] = "hello", in[16] = "", tiny[2];
	int i, truncated = 0;

	example_open(&e, "tcp", FI_EP_RDM, FI_TAGGED);
	MUST(fi_trecv(e.ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[0]));
	MUST(fi_tsend(e.ep, out, sizeof(out), NULL, e.self, 1, &ctx[1]));
	for (i = 0; i < 2; i++)
		MUST(wait_for_one(e.cq, &entry));
	if (strcmp(in, out))
		return 1;
	/* A receive that is too short for its message. */
	MUST(fi_trecv(e.ep, tiny, sizeof(tiny), NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[0]));
	MUST(fi_tsend(e.ep, out, sizeof(out), NULL, e.self, 2, &ctx[1]));
	for (i = 0; i < 2; i++)
		truncated += wait_for_one(e.cq, &entry) == -FI_ETRUNC;
	example_close(&e);
	return truncated != 1;
}
