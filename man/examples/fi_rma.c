/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Store a text at the beginning of a region, and read it back. */
static void write_and_read(struct example *e, uint64_t addr, uint64_t key, char *buf, size_t len)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	struct iovec iov = { "written from afar", 18 };
	struct fi_rma_iov rma = { addr, iov.iov_len, key };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = e->self,
		.rma_iov = &rma, .rma_iov_count = 1, .context = &ctx,
	};

	/* Delivered, not only sent: the read is to find it. */
	MUST(fi_writemsg(e->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	example_wait(e->cq, &entry);
	MUST(fi_read(e->ep, buf, len, NULL, e->self, addr, key, &ctx));
	example_wait(e->cq, &entry);
}
/* page] */

int main(void)
{
	char region[64] = "", copy[64] = "";
	struct example e;
	struct fid_mr *mr;

	example_open(&e, "tcp", FI_EP_RDM, FI_RMA);
	MUST(fi_mr_reg(e.domain, region, sizeof(region), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 17, 0,
		       &mr, NULL));
	write_and_read(&e, 0, fi_mr_key(mr), copy, sizeof(copy));
	MUST(fi_close(&mr->fid));
	example_close(&e);
	return strcmp(region, "written from afar") || strcmp(copy, region);
}
