/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Send @text to @peer once @received has reached @after. */
static ssize_t answer_later(struct fid_ep *ep, fi_addr_t peer, char *text, struct iovec *iov,
			    struct fid_cntr *received, size_t after,
			    struct fi_triggered_context *ctx)
{
	struct fi_msg msg = {
		.msg_iov = iov, .iov_count = 1, .addr = peer, .context = ctx,
	};

	iov->iov_base = text;
	iov->iov_len = strlen(text) + 1;
	ctx->event_type = FI_TRIGGER_THRESHOLD;
	ctx->trigger.threshold.cntr = received;
	ctx->trigger.threshold.threshold = after;
	return fi_sendmsg(ep, &msg, FI_TRIGGER);
}
/* page] */

int main(void)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_triggered_context ctx;
	struct fi_context recv_ctx[2];
	char question[16], answer[16] = "", name[FI_NAME_MAX];
	size_t len = sizeof(name);
	struct fid_cntr *received;
	struct example e;
	struct iovec iov;
	struct fid_ep *ep;
	fi_addr_t peer;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG | FI_TRIGGER);
	MUST(fi_cntr_open(e.domain, &attr, &received, NULL));
	MUST(fi_endpoint(e.domain, e.info, &ep, NULL));
	MUST(fi_ep_bind(ep, &e.av->fid, 0));
	MUST(fi_ep_bind(ep, &e.cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION));
	MUST(fi_ep_bind(ep, &received->fid, FI_RECV));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(e.av, name, 1, &peer, 0, NULL));

	MUST(fi_recv(ep, question, sizeof(question), NULL, FI_ADDR_UNSPEC, &recv_ctx[0]));
	MUST(fi_recv(ep, answer, sizeof(answer), NULL, FI_ADDR_UNSPEC, &recv_ctx[1]));
	MUST(answer_later(ep, peer, "here I am", &iov, received, 1, &ctx));
	MUST(fi_inject(ep, "where are you", 14, peer));
	MUST(fi_cntr_wait(received, 2, 1000));
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&received->fid));
	example_close(&e);
	return strcmp(answer, "here I am") != 0;
}
