/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Put a record into the peer's region, then raise the count that says how many there are.  The fence
 * holds the count back until the record is complete, whatever order the provider has.
 */
static void publish(struct example *e, const void *record, size_t len, uint64_t to, uint64_t cnt_addr,
		    uint64_t key, struct fi_context2 ctx[2])
{
	uint64_t one = 1;
	struct iovec iov = { (void *) record, len };
	struct fi_rma_iov place = { to, len, key };
	struct fi_msg_rma write = {
		.msg_iov = &iov, .iov_count = 1, .addr = e->self, .rma_iov = &place, .rma_iov_count = 1,
		.context = &ctx[0],
	};
	struct fi_ioc ioc = { &one, 1 };
	struct fi_rma_ioc cnt = { cnt_addr, 1, key };
	struct fi_msg_atomic add = {
		.msg_iov = &ioc, .iov_count = 1, .addr = e->self, .rma_iov = &cnt, .rma_iov_count = 1,
		.datatype = FI_UINT64, .op = FI_SUM, .context = &ctx[1],
	};

	MUST(fi_writemsg(e->ep, &write, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	MUST(fi_atomicmsg(e->ep, &add, FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_FENCE));
}
/* page] */

int main(void)
{
	static struct {
		uint64_t cnt;
		char records[10][16];
	} box;
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[2];
	char record[16] = "";
	struct example e;
	struct fid_mr *mr;
	unsigned i;

	example_open(&e, "tcp", FI_EP_RDM, FI_RMA | FI_ATOMIC | FI_FENCE);
	MUST(fi_mr_reg(e.domain, &box, sizeof(box), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 17, 0, &mr, NULL));
	for (i = 0; i < 10; i++) {
		snprintf(record, sizeof(record), "record %u", i);
		publish(&e, record, sizeof(record), offsetof(typeof(box), records) + i * 16, 0, 17, ctx);
		example_wait(e.cq, &entry);
		example_wait(e.cq, &entry);
	}
	MUST(fi_close(&mr->fid));
	example_close(&e);
	return box.cnt == 10 && !strcmp(box.records[9], "record 9") ? 0 : 1;
}
