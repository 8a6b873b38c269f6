/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int deliver_always(struct fid_ep *ep)
{
	uint64_t flags = FI_TRANSMIT;
	int ret;

	ret = fi_control(&ep->fid, FI_GETOPSFLAG, &flags);
	if (ret)
		return ret;
	flags |= FI_TRANSMIT | FI_DELIVERY_COMPLETE;
	return fi_control(&ep->fid, FI_SETOPSFLAG, &flags);
}
/* page] */

int main(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx[2];
	char out = 'x', in = 0;
	struct example e;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(deliver_always(e.ep));
	MUST(fi_send(e.ep, &out, 1, NULL, e.self, &ctx[0]));
	/* No receive is posted, so it is not delivered. */
	if (fi_cq_sread(e.cq, &entry, 1, NULL, 20) != -FI_EAGAIN)
		return 1;
	MUST(fi_recv(e.ep, &in, 1, NULL, FI_ADDR_UNSPEC, &ctx[1]));
	example_wait(e.cq, &entry);
	example_wait(e.cq, &entry);
	example_close(&e);
	return in != 'x';
}
