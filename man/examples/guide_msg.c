/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A ping-pong between two processes over connected endpoints, whole. */
/* [page */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 1000
#define MUST(call) must((call), #call)

static long must(long ret, const char *call)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s: %s\n", call, fi_strerror((int) -ret));
	exit(ret == -FI_ENODATA ? 77 : 1);	/* 77: not offered on this machine */
}

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

static struct fi_info *ask(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	int ret;

	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->fabric_attr->prov_name = strdup("tcp");
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	MUST(ret);
	return info;
}

/* Wait for an event of a connection, at most ten seconds. */
static void expect(struct side *s, uint32_t wanted, struct fi_eq_cm_entry *entry)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;
	ssize_t ret;

	ret = fi_eq_sread(s->eq, &event, entry, sizeof(*entry), 10000, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(s->eq, &err, 0) > 0)
		ret = -err.err;		/* refused, unreachable... */
	MUST(ret);
	if (event != wanted)
		must(-FI_EOTHER, "event of another kind");
}

/* An endpoint for a connection that @info describes. */
static void open_endpoint(struct side *s, struct fi_info *info)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC };

	MUST(fi_domain(s->fabric, info, &s->domain, NULL));
	MUST(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	MUST(fi_endpoint(s->domain, info, &s->ep, NULL));
	MUST(fi_ep_bind(s->ep, &s->eq->fid, 0));
	MUST(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(s->ep));
}

static void serve(struct side *s, int tell)
{
	struct fi_eq_cm_entry entry;
	char name[FI_NAME_MAX] = { 0 };
	size_t len = sizeof(name);
	struct fid_pep *pep;

	MUST(fi_passive_ep(s->fabric, s->info, &pep, NULL));
	MUST(fi_pep_bind(pep, &s->eq->fid, 0));
	MUST(fi_listen(pep));
	MUST(fi_getname(&pep->fid, name, &len));
	if (write(tell, name, sizeof(name)) != sizeof(name))
		must(-FI_EIO, "telling the name");
	expect(s, FI_CONNREQ, &entry);
	open_endpoint(s, entry.info);
	fi_freeinfo(entry.info);		/* each request brings one */
	MUST(fi_accept(s->ep, NULL, 0));
	expect(s, FI_CONNECTED, &entry);
	MUST(fi_close(&pep->fid));
}

static void call(struct side *s, int told)
{
	struct fi_eq_cm_entry entry;
	char name[FI_NAME_MAX];

	if (read(told, name, sizeof(name)) != sizeof(name))
		must(-FI_EIO, "hearing the name");
	open_endpoint(s, s->info);
	MUST(fi_connect(s->ep, name, NULL, 0));
	expect(s, FI_CONNECTED, &entry);
}

static void take_one(struct side *s)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	ret = fi_cq_sread(s->cq, &entry, 1, NULL, 10000);	/* asleep until then */
	if (ret == -FI_EAVAIL && fi_cq_readerr(s->cq, &err, 0) == 1)
		ret = -err.err;
	MUST(ret);
}

static void ping_pong(struct side *s, int first)
{
	struct fi_context2 ctx;
	char out[64] = "ping", in[64];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		MUST(fi_recv(s->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx));
		if (!first)
			take_one(s);
		MUST(fi_inject(s->ep, out, sizeof(out), FI_ADDR_UNSPEC));
		if (first)
			take_one(s);
	}
}

static void hang_up(struct side *s, int first)
{
	struct fi_eq_cm_entry entry;

	if (!first)
		expect(s, FI_SHUTDOWN, &entry);		/* the other side has gone */
	else
		MUST(fi_shutdown(s->ep, 0));
	MUST(fi_close(&s->ep->fid));
	MUST(fi_close(&s->cq->fid));
	MUST(fi_close(&s->domain->fid));
	MUST(fi_close(&s->eq->fid));
	MUST(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}
int main(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct side s = { 0 };
	int told[2], child, status = 0;

	if (pipe(told))
		return 1;
	child = fork();		/* before anything is opened */
	s.info = ask();
	MUST(fi_fabric(s.info->fabric_attr, &s.fabric, NULL));
	MUST(fi_eq_open(s.fabric, &eq_attr, &s.eq, NULL));
	if (child)
		serve(&s, told[1]);
	else
		call(&s, told[0]);
	ping_pong(&s, child != 0);
	hang_up(&s, child != 0);
	if (child)
		waitpid(child, &status, 0);
	return status != 0;
}
/* page] */
