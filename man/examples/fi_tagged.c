/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Receive the oldest message with a tag into memory of just its size.
 * Returns its length, or -FI_ENOMSG when none has arrived.
 */
static ssize_t recv_exact(struct fid_ep *ep, struct fid_cq *cq, uint64_t tag, void **buf_p)
{
	struct fi_context ctx;
	struct iovec iov = { NULL, 0 };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .addr = FI_ADDR_UNSPEC, .tag = tag, .context = &ctx,
	};
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	ret = fi_trecvmsg(ep, &msg, FI_PEEK | FI_CLAIM);
	if (ret)
		return ret;
	ret = fi_cq_sread(cq, &entry, 1, NULL, -1);
	if (ret == -FI_EAVAIL) {
		ret = fi_cq_readerr(cq, &err, 0);
		return ret < 0 ? ret : -err.err;
	}
	iov.iov_base = malloc(entry.len);
	iov.iov_len = entry.len;
	if (!iov.iov_base)
		return -FI_ENOMEM;
	msg.iov_count = 1;
	ret = fi_trecvmsg(ep, &msg, FI_CLAIM);
	if (!ret)
		ret = fi_cq_sread(cq, &entry, 1, NULL, -1);
	*buf_p = iov.iov_base;
	return ret < 0 ? ret : (ssize_t) entry.len;
}
/* page] */

int main(void)
{
	char out[] = "how long is this message?";
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	struct example e;
	void *in = NULL;
	ssize_t ret;

	example_open(&e, "tcp", FI_EP_RDM, FI_TAGGED);
	MUST(fi_tsend(e.ep, out, sizeof(out), NULL, e.self, 7, &ctx));
	example_wait(e.cq, &entry);
	do {
		ret = recv_exact(e.ep, e.cq, 7, &in);
	} while (ret == -FI_ENOMSG);
	if (ret != sizeof(out) || strcmp(in, out))
		return 1;
	free(in);
	example_close(&e);
	return 0;
}
