/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Wait for a datagram from any peer, in the AV or not, and send it back. */
static ssize_t echo_one(struct fid_ep *ep, struct fid_av *av, struct fid_cq *cq,
			char *buf, size_t len)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	fi_addr_t from;
	ssize_t ret;

	ret = fi_recv(ep, buf, len, NULL, FI_ADDR_UNSPEC, &ctx);
	if (ret)
		return ret;
	ret = fi_cq_sreadfrom(cq, &entry, 1, &from, NULL, 1000);
	if (ret == -FI_EAVAIL) {
		ret = fi_cq_readerr(cq, &err, 0);
		if (ret < 0)
			return ret;
		if (err.err != FI_EADDRNOTAVAIL)
			return -err.err;
		/* The datagram is in the buffer; its sender is not in the vector yet. */
		ret = fi_av_insert(av, err.err_data, 1, &from, 0, NULL);
		entry.len = err.len;
	}
	if (ret != 1)
		return ret < 0 ? ret : -FI_EINVAL;
	return fi_inject(ep, buf, entry.len, from);
}
/* page] */

int main(void)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	char name[FI_NAME_MAX], buf[64], in[16] = "";
	size_t len = sizeof(name);
	struct example server;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *client;
	fi_addr_t peer;
	int i;

	example_open(&server, "udp", FI_EP_DGRAM, FI_MSG | FI_SOURCE | FI_SOURCE_ERR);
	MUST(fi_av_open(server.domain, &av_attr, &av, NULL));
	MUST(fi_cq_open(server.domain, &cq_attr, &cq, NULL));
	MUST(fi_endpoint(server.domain, server.info, &client, NULL));
	MUST(fi_ep_bind(client, &av->fid, 0));
	MUST(fi_ep_bind(client, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(client));
	MUST(fi_getname(&server.ep->fid, name, &len));
	MUST(fi_av_insert(av, name, 1, &peer, 0, NULL));

	/* A stranger the first time, known the second. */
	for (i = 0; i < 2; i++) {
		MUST(fi_recv(client, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx));
		MUST(fi_inject(client, "who am I?", 10, peer));
		MUST(echo_one(server.ep, server.av, server.cq, buf, sizeof(buf)));
		example_wait(cq, &entry);
	}
	MUST(fi_close(&client->fid));
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&av->fid));
	example_close(&server);
	return strcmp(in, "who am I?") != 0;
}
