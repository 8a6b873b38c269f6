/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

struct side {
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

static void open_side(struct side *s, struct fid_fabric *fabric, struct fi_info *info,
		      struct fid_eq *eq)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };

	MUST(fi_domain(fabric, info, &s->domain, NULL));
	MUST(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	MUST(fi_endpoint(s->domain, info, &s->ep, NULL));
	MUST(fi_ep_bind(s->ep, &eq->fid, 0));
	MUST(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
}

static void close_side(struct side *s)
{
	MUST(fi_close(&s->ep->fid));
	MUST(fi_close(&s->cq->fid));
	MUST(fi_close(&s->domain->fid));
}

/* [page */
union cm_event {
	struct fi_eq_cm_entry entry;
	char room[sizeof(struct fi_eq_cm_entry) + 64];	/* with private data */
};

/* Wait for one event; an error entry becomes a return value. */
static int expect(struct fid_eq *eq, uint32_t wanted, union cm_event *ev)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;
	ssize_t ret;

	ret = fi_eq_sread(eq, &event, ev, sizeof(*ev), 2000, 0);
	if (ret == -FI_EAVAIL) {
		ret = fi_eq_readerr(eq, &err, 0);
		return ret < 0 ? (int) ret : -err.err;
	}
	if (ret < 0)
		return (int) ret;
	return event == wanted ? 0 : -FI_EOTHER;
}

static int connect_both(struct fid_fabric *fabric, struct fid_pep *pep, struct fid_eq *eq,
			struct fi_info *info, struct side *caller, struct side *called)
{
	char where[FI_NAME_MAX];
	size_t len = sizeof(where);
	union cm_event ev;
	int i, ret;

	MUST(fi_listen(pep));
	MUST(fi_getname(&pep->fid, where, &len));
	open_side(caller, fabric, info, eq);
	MUST(fi_connect(caller->ep, where, "hello", sizeof("hello")));

	ret = expect(eq, FI_CONNREQ, &ev);
	if (ret)
		return ret;
	printf("a caller says %s\n", (const char *) ev.entry.data);
	open_side(called, fabric, ev.entry.info, eq);
	fi_freeinfo(ev.entry.info);
	MUST(fi_accept(called->ep, "welcome", sizeof("welcome")));

	/* One FI_CONNECTED for each of the two, in any order. */
	for (i = 0; i < 2 && !ret; i++)
		ret = expect(eq, FI_CONNECTED, &ev);
	return ret;
}
/* page] */

int main(void)
{
	struct fi_info *info = example_getinfo("tcp", FI_EP_MSG, FI_MSG);
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_tagged_entry entry;
	struct fi_context ctx[2];
	struct side caller = { 0 }, called = { 0 };
	struct fid_fabric *fabric;
	struct fid_pep *pep;
	struct fid_eq *eq;
	union cm_event ev;
	char in[8] = "";

	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_eq_open(fabric, &eq_attr, &eq, NULL));
	MUST(fi_passive_ep(fabric, info, &pep, NULL));
	MUST(fi_pep_bind(pep, &eq->fid, 0));
	MUST(connect_both(fabric, pep, eq, info, &caller, &called));

	MUST(fi_recv(called.ep, in, sizeof(in), NULL, 0, &ctx[0]));
	MUST(fi_send(caller.ep, "ping", 5, NULL, 0, &ctx[1]));
	example_wait(called.cq, &entry);
	example_wait(caller.cq, &entry);
	MUST(fi_shutdown(caller.ep, 0));
	MUST(expect(eq, FI_SHUTDOWN, &ev));

	close_side(&caller);
	close_side(&called);
	MUST(fi_close(&pep->fid));
	MUST(fi_close(&eq->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return strcmp(in, "ping") != 0;
}
