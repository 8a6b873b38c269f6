/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

static struct fid_cntr *sent, *received;

/* [page */
/* Successes need no entries: a counter tells that all are done. */
static int open_counted(struct example *e, struct fid_ep **ep)
{
	struct fi_cntr_attr attr = {
		.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC,
	};

	MUST(fi_cntr_open(e->domain, &attr, &sent, NULL));
	MUST(fi_cntr_open(e->domain, &attr, &received, NULL));
	MUST(fi_endpoint(e->domain, e->info, ep, NULL));
	MUST(fi_ep_bind(*ep, &e->av->fid, 0));
	MUST(fi_ep_bind(*ep, &e->cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION));
	MUST(fi_ep_bind(*ep, &sent->fid, FI_SEND));
	MUST(fi_ep_bind(*ep, &received->fid, FI_RECV));
	return fi_enable(*ep);
}

static int send_some(struct fid_ep *ep, fi_addr_t peer, uint64_t cnt)
{
	uint64_t i;

	for (i = 0; i < cnt; i++)
		MUST(fi_inject(ep, &i, sizeof(i), peer));
	return fi_cntr_wait(sent, cnt, 1000);
}
/* page] */

int main(void)
{
	struct fi_context ctx[10];
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);
	struct example e;
	struct fid_ep *ep;
	uint64_t in[10];
	fi_addr_t peer;
	int i;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(open_counted(&e, &ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(e.av, name, 1, &peer, 0, NULL));
	for (i = 0; i < 10; i++)
		MUST(fi_recv(ep, &in[i], sizeof(in[i]), NULL, FI_ADDR_UNSPEC, &ctx[i]));
	MUST(send_some(ep, peer, 10));
	MUST(fi_cntr_wait(received, 10, 1000));
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&sent->fid));
	MUST(fi_close(&received->fid));
	example_close(&e);
	return in[0] != 0 || in[9] != 9;
}
