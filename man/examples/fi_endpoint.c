/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static int open_endpoint(struct fid_domain *domain, struct fi_info *info,
			 struct fid_av *av, struct fid_cq *cq, struct fid_ep **ep_p)
{
	struct fid_ep *ep;
	int ret;

	ret = fi_endpoint(domain, info, &ep, NULL);
	if (ret)
		return ret;
	ret = fi_ep_bind(ep, &av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
	if (!ret)
		ret = fi_ep_bind(ep, &cq->fid, FI_RECV);
	if (!ret)
		ret = fi_enable(ep);
	if (ret)
		fi_close(&ep->fid);
	else
		*ep_p = ep;
	return ret;
}
/* page] */

int main(void)
{
	struct example e;
	struct fid_ep *ep = NULL, *loud = NULL;
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx[2];
	char name[FI_NAME_MAX], out = 'x', in = 0;
	size_t len = sizeof(name);
	fi_addr_t peer;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(open_endpoint(e.domain, e.info, e.av, e.cq, &ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(e.av, name, 1, &peer, 0, NULL));
	/* An alias whose sends are all reported. */
	MUST(fi_ep_alias(ep, &loud, FI_TRANSMIT | FI_COMPLETION));
	MUST(fi_recv(ep, &in, 1, NULL, FI_ADDR_UNSPEC, &ctx[0]));
	MUST(fi_send(loud, &out, 1, NULL, peer, &ctx[1]));
	example_wait(e.cq, &entry);
	example_wait(e.cq, &entry);
	MUST(fi_close(&loud->fid));
	MUST(fi_close(&ep->fid));
	example_close(&e);
	return in != 'x';
}
