/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Sleep until one of several queues and counters has something, without descriptors,
 * and say which: up to @count of their contexts.
 *
 * Each was opened with FI_WAIT_SET and this wait set, and is a member of the poll set.
 * Returns how many, 0 after @ms milliseconds without any, or an error.
 */
static int wait_any(struct fid_wait *wait, struct fid_poll *poll, void **contexts, int count,
		    int ms)
{
	int ret = fi_poll(poll, contexts, count);	/* makes progress, too */

	if (ret)
		return ret;
	ret = fi_wait(wait, ms);
	if (ret && ret != -FI_ETIMEDOUT)
		return ret;
	return fi_poll(poll, contexts, count);
}
/* page] */

int main(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_SET };
	struct fi_wait_attr wait_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_poll_attr poll_attr = { 0 };
	struct fi_cq_tagged_entry entry;
	char buf[16], name[FI_NAME_MAX];
	struct fid_cq *cq[2], *from;
	struct fi_context2 in, out;
	struct fid_wait *wait;
	struct fid_poll *poll;
	struct fid_ep *ep[2];
	struct example e;
	fi_addr_t addr[2];
	void *context;
	size_t len;
	int i, ret, idle = 0;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG);
	MUST(fi_wait_open(e.fabric, &wait_attr, &wait));
	MUST(fi_poll_open(e.domain, &poll_attr, &poll));
	cq_attr.wait_set = wait;
	for (i = 0; i < 2; i++) {
		MUST(fi_cq_open(e.domain, &cq_attr, &cq[i], &cq[i]));
		MUST(fi_poll_add(poll, &cq[i]->fid, 0));
		MUST(fi_endpoint(e.domain, e.info, &ep[i], NULL));
		MUST(fi_ep_bind(ep[i], &e.av->fid, 0));
		MUST(fi_ep_bind(ep[i], &cq[i]->fid, FI_TRANSMIT | FI_RECV));
		MUST(fi_enable(ep[i]));
		len = sizeof(name);
		MUST(fi_getname(&ep[i]->fid, name, &len));
		MUST(fi_av_insert(e.av, name, 1, &addr[i], 0, NULL));
	}
	MUST(fi_recv(ep[1], buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, &in));
	MUST(fi_send(ep[0], "hello", 6, NULL, addr[1], &out));
	for (i = 0; i < 2;) {		/* the send in one queue, the receive in the other */
		ret = (int) MUST(wait_any(wait, poll, &context, 1, 1000));
		if (!ret && ++idle > 30)
			return 1;
		if (!ret)
			continue;
		from = *(struct fid_cq **) context;
		while ((ret = (int) fi_cq_read(from, &entry, 1)) == 1) {
			if (entry.op_context != (from == cq[0] ? &out : &in))
				return 2;
			i++;
		}
		if (ret != -FI_EAGAIN)
			return 3;
	}
	for (i = 0; i < 2; i++) {
		MUST(fi_close(&ep[i]->fid));
		MUST(fi_poll_del(poll, &cq[i]->fid, 0));
		MUST(fi_close(&cq[i]->fid));
	}
	MUST(fi_close(&poll->fid));
	MUST(fi_close(&wait->fid));
	example_close(&e);
	return strcmp(buf, "hello") != 0;
}
