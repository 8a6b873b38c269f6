/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/providers/fi_peer.h>

#include "example.h"

/* [page */
/* The owner's counter: what a program sees. */
struct owner_cntr {
	struct fid_peer_cntr peer;
	uint64_t done, failed;
};

static void inc(struct fid_peer_cntr *cntr)
{
	((struct owner_cntr *) cntr)->done++;
}

static void incerr(struct fid_peer_cntr *cntr)
{
	((struct owner_cntr *) cntr)->failed++;
}

static struct fi_ops_cntr_owner owner_ops = {
	.size = sizeof(owner_ops),
	.inc = inc,
	.incerr = incerr,
};

static int open_in_peer(struct owner_cntr *owner, struct fid_domain *peer_domain,
			struct fid_cntr **cntr)
{
	struct fi_peer_cntr_context context = { sizeof(context), &owner->peer };
	struct fi_cntr_attr attr = { .flags = FI_PEER };

	owner->peer.fid.fclass = FI_CLASS_PEER_CNTR;
	owner->peer.owner_ops = &owner_ops;
	return fi_cntr_open(peer_domain, &attr, cntr, &context);
}
/* page] */

int main(void)
{
	struct owner_cntr owner = { 0 };
	char in[4], name[FI_NAME_MAX];
	size_t len = sizeof(name);
	struct fi_context ctx;
	struct fid_cntr *cntr;
	struct example e;
	struct fid_ep *ep;
	fi_addr_t peer;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(open_in_peer(&owner, e.domain, &cntr));
	MUST(fi_endpoint(e.domain, e.info, &ep, NULL));
	MUST(fi_ep_bind(ep, &e.av->fid, 0));
	MUST(fi_ep_bind(ep, &e.cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION));
	MUST(fi_ep_bind(ep, &cntr->fid, FI_RECV));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(e.av, name, 1, &peer, 0, NULL));
	MUST(fi_recv(ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx));
	MUST(fi_inject(ep, "abc", 4, peer));
	while (!owner.done && !owner.failed)
		fi_cntr_read(cntr);
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cntr->fid));
	example_close(&e);
	return owner.done != 1 || strcmp(in, "abc");
}
