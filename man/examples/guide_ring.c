/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A program of the guide's smallest provider, which provider_test builds and loads. */

#include "example.h"

#define ROUNDS 1000

static int take(struct fid_cq *cq, uint64_t flags, void *context, size_t len)
{
	struct fi_cq_tagged_entry entry;

	return MUST(fi_cq_read(cq, &entry, 1)) == 1 && entry.flags & flags &&
	       entry.op_context == context && entry.len == len;
}

int main(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE };
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	char name[16], out[32], in[32];
	size_t len = sizeof(name);
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t self;

	hints->fabric_attr->prov_name = strdup("ring");
	hints->caps = FI_MSG;
	MUST(fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, &info));
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_domain(fabric, info, &domain, NULL));
	MUST(fi_av_open(domain, &av_attr, &av, NULL));
	MUST(fi_cq_open(domain, &cq_attr, &cq, NULL));
	MUST(fi_endpoint(domain, info, &ep, NULL));
	MUST(fi_ep_bind(ep, &av->fid, 0));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(av, name, 1, &self, 0, NULL));

	if (fi_send(ep, out, 1, NULL, self, NULL) != -FI_EAGAIN)
		return 1;	/* there is no receive yet */
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(out, sizeof(out), "message %d", i);
		MUST(fi_recv(ep, in, sizeof(in), NULL, self, in));
		MUST(fi_send(ep, out, sizeof(out), NULL, self, out));
		if (!take(cq, FI_RECV, in, sizeof(out)) || !take(cq, FI_SEND, out, 0) ||
		    strcmp(in, out))
			return 1;
	}
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&av->fid));
	MUST(fi_close(&domain->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	fi_freeinfo(hints);
	printf("%d messages went round\n", ROUNDS);
	return 0;
}
