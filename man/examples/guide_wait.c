/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "example.h"

/* [page */
/* Sleep until the queue has something, or @other, a descriptor of the program's own,
 * can be read.  Returns 1, 0 for @other, or an error.
 *
 * fi_trywait() is what makes this safe: it answers -FI_EAGAIN while anything waits to
 * be read or done, and 0 when the descriptor will tell of whatever comes next.
 */
static int wait_either(struct fid_fabric *fabric, struct fid_cq *cq, int other)
{
	struct fid *fids[] = { &cq->fid };
	struct pollfd pfd[2] = { { .events = POLLIN }, { .fd = other, .events = POLLIN } };
	int ret;

	ret = fi_control(&cq->fid, FI_GETWAIT, &pfd[0].fd);
	if (ret)
		return ret;
	ret = fi_trywait(fabric, fids, 1);
	if (ret == -FI_EAGAIN)
		return 1;			/* read first, sleep later */
	if (ret)
		return ret;
	while (poll(pfd, 2, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return !pfd[1].revents;
}
/* page] */

int main(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD };
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct example e;
	char in[8], byte = 0;
	fi_addr_t to;
	char name[FI_NAME_MAX];
	size_t len = sizeof(name);
	int bell[2], ret, waits = 0;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(fi_cq_open(e.domain, &attr, &cq, NULL));
	MUST(fi_endpoint(e.domain, e.info, &ep, NULL));
	MUST(fi_ep_bind(ep, &e.av->fid, 0));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, name, &len));
	MUST(fi_av_insert(e.av, name, 1, &to, 0, NULL));
	if (pipe(bell))
		return 1;

	/* the program's own descriptor ends the sleep */
	if (write(bell[1], &byte, 1) != 1)
		return 1;
	while ((ret = wait_either(e.fabric, cq, bell[0])) == 1)
		if (fi_cq_read(cq, &entry, 1) != -FI_EAGAIN || waits++ > 1000)
			return 2;
	if (ret || read(bell[0], &byte, 1) != 1)
		return 3;

	/* and so does a message */
	MUST(fi_recv(ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx));
	MUST(fi_inject(e.ep, "hello", 6, to));
	while ((ret = (int) fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
		fi_cq_read(e.cq, NULL, 0);
		if (wait_either(e.fabric, cq, bell[0]) != 1)
			return 4;
	}
	MUST(ret);
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cq->fid));
	example_close(&e);
	return strcmp(in, "hello") != 0;
}
