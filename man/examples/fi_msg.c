/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Reading an empty queue moves transfers along, and so makes room. */
static ssize_t send_all(struct fid_ep *ep, struct fid_cq *cq, const char *buf, size_t len,
			fi_addr_t peer, struct fi_context *ctx)
{
	ssize_t ret;

	for (;;) {
		ret = fi_send(ep, buf, len, NULL, peer, ctx);
		if (ret != -FI_EAGAIN)
			return ret;
		fi_cq_read(cq, NULL, 0);
	}
}
/* page] */

int main(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context recv_ctx, send_ctx;
	char in[4096], out[] = "one buffer, many messages";
	int received = 0, returned = 0;
	size_t min = 64;
	struct example e;
	struct iovec iov = { in, sizeof(in) };
	struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &recv_ctx,
	};

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(fi_setopt(&e.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)));
	MUST(fi_recvmsg(e.ep, &msg, FI_MULTI_RECV));
	MUST(fi_inject(e.ep, out, sizeof(out), e.self));
	while (!returned) {
		MUST(send_all(e.ep, e.cq, out, sizeof(out), e.self, &send_ctx));
		do {
			example_wait(e.cq, &entry);
			if (entry.flags & FI_RECV && entry.len == sizeof(out) &&
			    !strcmp(entry.buf, out))
				received++;
			returned |= (entry.flags & FI_MULTI_RECV) != 0;
		} while (!(entry.flags & FI_SEND));
	}
	example_close(&e);
	return received < 100;
}
