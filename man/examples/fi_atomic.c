/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static uint64_t draw_ticket(struct example *e, fi_addr_t owner, uint64_t addr, uint64_t key)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	uint64_t one = 1, ticket;

	MUST(fi_fetch_atomic(e->ep, &one, 1, NULL, &ticket, NULL, owner, addr, key,
			     FI_UINT64, FI_SUM, &ctx));
	example_wait(e->cq, &entry);
	return ticket;
}
/* page] */

int main(void)
{
	uint64_t counter = 41, first, second;
	struct example e;
	struct fid_mr *mr;

	example_open(&e, "tcp", FI_EP_RDM, FI_ATOMIC);
	MUST(fi_mr_reg(e.domain, &counter, sizeof(counter), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 9,
		       0, &mr, NULL));
	first = draw_ticket(&e, e.self, 0, fi_mr_key(mr));
	second = draw_ticket(&e, e.self, 0, fi_mr_key(mr));
	MUST(fi_close(&mr->fid));
	example_close(&e);
	return first != 41 || second != 42 || counter != 43;
}
