/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

#define ENDPOINTS 3
#define MESSAGES 4
#define ROOM 32

/* [page */
/* A receive context that endpoints share: one pool of buffers for all of them. */
static struct fid_ep *open_pool(struct fid_domain *domain, struct fi_info *info)
{
	struct fid_ep *srx;

	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	MUST(fi_srx_context(domain, info->rx_attr, &srx, NULL));
	return srx;
}

/* An endpoint that takes its receives from the pool, and reports them in @cq. */
static struct fid_ep *open_on_pool(struct fid_domain *domain, struct fi_info *info,
				   struct fid_ep *srx, struct fid_av *av, struct fid_cq *cq)
{
	struct fid_ep *ep;

	MUST(fi_endpoint(domain, info, &ep, NULL));
	MUST(fi_ep_bind(ep, &srx->fid, 0));
	MUST(fi_ep_bind(ep, &av->fid, 0));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	return ep;
}

/* Buffers are posted to the pool, and each goes back to it when its message is read. */
static void post(struct fid_ep *srx, char *buf, struct fi_context2 *ctx)
{
	MUST(fi_recv(srx, buf, ROOM, NULL, FI_ADDR_UNSPEC, ctx));
}

/* Which endpoint it came by is told by the queue that it stands in. */
static int take(struct fid_cq *cq, struct fid_ep *srx, char (*buf)[ROOM], struct fi_context2 *ctx)
{
	struct fi_cq_tagged_entry entry;
	int i;

	example_wait(cq, &entry);
	i = (int) ((struct fi_context2 *) entry.op_context - ctx);
	if (strcmp(buf[i], "for the pool"))
		return -FI_EINVAL;
	post(srx, buf[i], &ctx[i]);
	return 0;
}
/* page] */

int main(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[2], out;
	char buf[2][ROOM], name[FI_NAME_MAX];
	struct fid_ep *srx, *ep[ENDPOINTS];
	struct fid_cq *cq[ENDPOINTS];
	fi_addr_t addr[ENDPOINTS];
	struct fi_info *info;
	struct example client;
	size_t len;
	int i, n;

	example_open(&client, "tcp", FI_EP_RDM, FI_MSG);
	info = fi_dupinfo(client.info);
	srx = open_pool(client.domain, info);
	for (i = 0; i < ENDPOINTS; i++) {
		MUST(fi_cq_open(client.domain, &attr, &cq[i], NULL));
		ep[i] = open_on_pool(client.domain, info, srx, client.av, cq[i]);
		len = sizeof(name);
		MUST(fi_getname(&ep[i]->fid, name, &len));
		MUST(fi_av_insert(client.av, name, 1, &addr[i], 0, NULL));
	}
	/* Two buffers are enough for all. */
	post(srx, buf[0], &ctx[0]);
	post(srx, buf[1], &ctx[1]);
	for (n = 0; n < MESSAGES; n++) {
		for (i = 0; i < ENDPOINTS; i++) {
			MUST(fi_send(client.ep, "for the pool", 13, NULL, addr[i], &out));
			MUST(take(cq[i], srx, buf, ctx));
			example_wait(client.cq, &entry);
		}
	}
	for (i = 0; i < ENDPOINTS; i++)
		MUST(fi_close(&ep[i]->fid));
	MUST(fi_close(&srx->fid));
	for (i = 0; i < ENDPOINTS; i++)
		MUST(fi_close(&cq[i]->fid));
	fi_freeinfo(info);
	example_close(&client);
	return 0;
}
