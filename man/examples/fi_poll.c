/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <unistd.h>

#include "example.h"

/* [page */
/* Returns 1 with a completion, 0 when the other descriptor is readable. */
static int wait_for_either(struct fid_fabric *fabric, struct fid_cq *cq, int other,
			   struct fi_cq_tagged_entry *entry)
{
	struct fid *fids[] = { &cq->fid };
	struct pollfd pfd[2] = { { .events = POLLIN }, { .fd = other, .events = POLLIN } };
	ssize_t ret;

	ret = fi_control(&cq->fid, FI_GETWAIT, &pfd[0].fd);
	if (ret)
		return (int) ret;
	for (;;) {
		ret = fi_cq_read(cq, entry, 1);
		if (ret != -FI_EAGAIN)
			return (int) ret;
		if (pfd[1].revents & POLLIN)
			return 0;
		if (!fi_trywait(fabric, fids, 1) && poll(pfd, 2, -1) < 0)
			return -errno;
	}
}
/* page] */

int main(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD };
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx;
	struct example e;
	struct fid_cq *cq;
	struct fid_ep *ep;
	char name[FI_NAME_MAX], in = 0;
	size_t len = sizeof(name);
	fi_addr_t peer;
	int pipefd[2];

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(fi_cq_open(e.domain, &attr, &cq, NULL));
	MUST(fi_endpoint(e.domain, e.info, &ep, NULL));
	MUST(fi_ep_bind(ep, &e.av->fid, 0));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(e.av, name, 1, &peer, 0, NULL));

	MUST(fi_recv(ep, &in, 1, NULL, FI_ADDR_UNSPEC, &ctx));
	MUST(fi_inject(ep, "x", 1, peer));
	if (pipe(pipefd) || wait_for_either(e.fabric, cq, pipefd[0], &entry) != 1 || in != 'x')
		return 1;
	if (write(pipefd[1], "", 1) != 1 ||
	    wait_for_either(e.fabric, cq, pipefd[0], &entry) != 0)
		return 1;
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cq->fid));
	example_close(&e);
	return 0;
}
