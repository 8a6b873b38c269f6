// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * connect_test.c - connections: their events, their data, their end.
 */
#include <linux/slab.h>

#include "test.h"

#define CAPS (FI_MSG | FI_RMA)

/* A listener and a side that is ready to connect. */
static int half_open(struct test *t, struct pair *p)
{
	struct fi_info *info;
	int ret;

	memset(p, 0, sizeof(*p));
	ret = info_get(t, FI_EP_MSG, CAPS, true, &info);
	if (!ret)
		ret = side_open(&p->b, info);
	if (!ret)
		ret = info_get(t, FI_EP_MSG, CAPS, false, &info);
	if (!ret)
		ret = side_open(&p->a, info);
	if (!ret)
		ret = pep_open(&p->b, &p->pep);
	return ret ? ret : side_ep(&p->a, p->a.info, 0);
}

struct big_entry {
	struct fi_eq_cm_entry	entry;
	char			room[256];
};

static void private_data(struct test *t)
{
	struct big_entry e = {};
	char peer[FI_NAME_MAX];
	size_t size = sizeof(peer);
	struct pair p;
	int ret;

	IS(t, half_open(t, &p), 0);
	IS(t, connect_to(&p.a, p.pep, "ping", 4), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNREQ);
	NEED(t, e.entry.fid == &p.pep->fid, 0);
	IS(t, memcmp(e.entry.data, "ping", 4), 0);
	NEED(t, e.entry.info->handle, 0);
	NEED(t, e.entry.info->dest_addr, 0);
	ret = side_ep(&p.b, e.entry.info, 0);
	fi_freeinfo(e.entry.info);
	IS(t, ret, 0);
	IS(t, fi_accept(p.b.ep, "pong!", 5), 0);
	IS(t, wait_event_of(p.a.eq, &e.entry, sizeof(e)), FI_CONNECTED);
	NEED(t, e.entry.fid == &p.a.ep->fid, 0);
	IS(t, memcmp(e.entry.data, "pong!", 5), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNECTED);
	NEED(t, e.entry.fid == &p.b.ep->fid, 0);
	IS(t, fi_getpeer(p.a.ep, peer, &size), 0);
	IS(t, fi_connect(p.a.ep, peer, NULL, 0), -FI_EOPBADSTATE);
	IS(t, fi_accept(p.a.ep, NULL, 0), -FI_EOPBADSTATE);
	IS(t, fi_shutdown(p.a.ep, 0), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_SHUTDOWN);
	NEED(t, e.entry.fid == &p.b.ep->fid, 0);
	IS(t, fi_shutdown(p.a.ep, 0), -FI_ENOTCONN);
out:
	pair_close(&p);
}

static void reject(struct test *t)
{
	struct big_entry e = {};
	struct pair p;
	int ret;

	IS(t, half_open(t, &p), 0);
	IS(t, connect_to(&p.a, p.pep, "x", 1), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNREQ);
	ret = fi_reject(p.pep, e.entry.info->handle, "no", 2);
	fi_freeinfo(e.entry.info);
	IS(t, ret, 0);
	memset(&e, 0, sizeof(e));
	IS(t, wait_event_of(p.a.eq, &e.entry, sizeof(e)), -FI_ECONNREFUSED);
	IS(t, memcmp(e.entry.data, "no", 2), 0);
	IS(t, fi_send(p.a.ep, "x", 1, NULL, 0, NULL), -FI_ENOTCONN);
out:
	pair_close(&p);
}

/* A handle that was answered, by either call, is that of no request any more. */
static void answered(struct test *t)
{
	struct big_entry e = {};
	struct fi_info *info = NULL;
	struct fid_ep *ep = NULL;
	struct pair p;

	IS(t, half_open(t, &p), 0);
	IS(t, connect_to(&p.a, p.pep, "x", 1), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNREQ);
	info = e.entry.info;
	IS(t, fi_reject(p.pep, info->handle, "no", 2), 0);
	IS(t, fi_reject(p.pep, info->handle, "no", 2), -FI_EINVAL);
	IS(t, fi_endpoint(p.b.domain, info, &ep, NULL), -FI_EINVAL);
	IS(t, wait_event_of(p.a.eq, &e.entry, sizeof(e)), -FI_ECONNREFUSED);
	fi_freeinfo(info);
	info = NULL;
	IS(t, fi_close(&p.a.ep->fid), 0);
	p.a.ep = NULL;
	IS(t, side_ep(&p.a, p.a.info, 0), 0);
	IS(t, connect_to(&p.a, p.pep, "y", 1), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNREQ);
	info = e.entry.info;
	IS(t, side_ep(&p.b, info, 0), 0);
	IS(t, fi_endpoint(p.b.domain, info, &ep, NULL), -FI_EINVAL);
	IS(t, fi_reject(p.pep, info->handle, "no", 2), -FI_EINVAL);
	IS(t, fi_accept(p.b.ep, NULL, 0), 0);
	IS(t, wait_event_of(p.a.eq, &e.entry, sizeof(e)), FI_CONNECTED);
	IS(t, fi_endpoint(p.b.domain, info, &ep, NULL), -FI_EINVAL);
out:
	fi_freeinfo(info);
	pair_close(&p);
}

static void refused(struct test *t)
{
	struct big_entry e = {};
	char name[FI_NAME_MAX];
	size_t size = sizeof(name);
	struct pair p;
	int ret;

	IS(t, half_open(t, &p), 0);
	IS(t, fi_getname(&p.pep->fid, name, &size), 0);
	IS(t, fi_close(&p.pep->fid), 0);
	p.pep = NULL;
	ret = fi_connect(p.a.ep, name, NULL, 0);
	if (!ret)
		ret = wait_event_of(p.a.eq, &e.entry, sizeof(e));
	IS(t, ret, -FI_ECONNREFUSED);
out:
	pair_close(&p);
}

/* A request that is not answered: its listener goes. */
static void abandoned(struct test *t)
{
	struct big_entry e = {};
	struct pair p;
	int ret;

	IS(t, half_open(t, &p), 0);
	IS(t, connect_to(&p.a, p.pep, NULL, 0), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNREQ);
	fi_freeinfo(e.entry.info);
	IS(t, fi_close(&p.pep->fid), 0);
	p.pep = NULL;
	ret = wait_event_of(p.a.eq, &e.entry, sizeof(e));
	NEED(t, ret < 0 && ret != -FI_EAGAIN, ret);
out:
	pair_close(&p);
}

/* A request whose endpoint is closed without an answer. */
static void unanswered(struct test *t)
{
	struct big_entry e = {};
	struct pair p;
	int ret;

	IS(t, half_open(t, &p), 0);
	IS(t, connect_to(&p.a, p.pep, NULL, 0), 0);
	IS(t, wait_event_of(p.b.eq, &e.entry, sizeof(e)), FI_CONNREQ);
	ret = side_ep(&p.b, e.entry.info, 0);
	fi_freeinfo(e.entry.info);
	IS(t, ret, 0);
	IS(t, fi_close(&p.b.ep->fid), 0);
	p.b.ep = NULL;
	ret = wait_event_of(p.a.eq, &e.entry, sizeof(e));
	NEED(t, ret < 0 && ret != -FI_EAGAIN, ret);
out:
	pair_close(&p);
}

static void misuse(struct test *t)
{
	char name[FI_NAME_MAX], big[300] = "";
	size_t size = sizeof(name);
	struct pair p;

	IS(t, half_open(t, &p), 0);
	IS(t, fi_listen(p.pep), -FI_EOPBADSTATE);
	IS(t, fi_reject(p.pep, NULL, NULL, 0), -FI_EINVAL);
	IS(t, fi_accept(p.a.ep, NULL, 0), -FI_EOPBADSTATE);
	IS(t, fi_shutdown(p.a.ep, 0), -FI_ENOTCONN);
	IS(t, fi_shutdown(p.a.ep, 1), -FI_EBADFLAGS);
	IS(t, fi_send(p.a.ep, "x", 1, NULL, 0, NULL), -FI_ENOTCONN);
	IS(t, fi_getname(&p.pep->fid, name, &size), 0);
	IS(t, fi_connect(p.a.ep, name, big, sizeof(big)), -FI_EINVAL);
	IS(t, fi_connect(p.a.ep, NULL, NULL, 0), -FI_EINVAL);
	size = 1;
	IS(t, fi_getname(&p.pep->fid, name, &size), -FI_ETOOSMALL);
	NEED(t, size > 1, size);
	size = sizeof(name);
	IS(t, fi_getpeer(p.a.ep, name, &size), -FI_ENOTCONN);
out:
	pair_close(&p);
}

/* A listener's name is what it was given; a port that was 0 is chosen by then. */
static void names(struct test *t)
{
	char name[FI_NAME_MAX], back[FI_NAME_MAX];
	size_t size = sizeof(name), len = sizeof(back);
	struct pair p;

	IS(t, half_open(t, &p), 0);
	IS(t, fi_getname(&p.pep->fid, name, &size), 0);
	IS(t, fi_close(&p.pep->fid), 0);
	p.pep = NULL;
	IS(t, fi_passive_ep(p.b.fabric, p.b.info, &p.pep, NULL), 0);
	IS(t, fi_listen(p.pep), -FI_ENOEQ);
	IS(t, fi_pep_bind(p.pep, &p.b.tx->fid, 0), -FI_EINVAL);
	IS(t, fi_pep_bind(p.pep, &p.a.eq->fid, 0), -FI_EDOMAIN);
	IS(t, fi_pep_bind(p.pep, &p.b.eq->fid, 0), 0);
	IS(t, fi_setname(&p.pep->fid, name, 0), -FI_EINVAL);
	IS(t, fi_setname(&p.pep->fid, "", 1), -FI_EINVAL);
	IS(t, fi_setname(&p.pep->fid, name, size), 0);
	IS(t, fi_listen(p.pep), 0);
	IS(t, fi_getname(&p.pep->fid, back, &len), 0);
	IS(t, len, size);
	IS(t, memcmp(name, back, size), 0);
	IS(t, fi_setname(&p.a.ep->fid, name, 1), -FI_EINVAL);
	len = sizeof(back);
	IS(t, fi_getopt(&p.a.ep->fid, FI_OPT_ENDPOINT, -1, back, &len), -FI_ENOPROTOOPT);
out:
	pair_close(&p);
}

/* What is outstanding when the connection ends, ends once. */
static void flush(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct big_entry event = {};
	int i, ret, cnt = 0;
	struct pair p;
	char *buf = kzalloc(1 << 16, GFP_KERNEL);

	IS(t, pair_open(t, &p, FI_EP_MSG, CAPS), 0);
	NEED(t, buf, 0);
	for (i = 0; i < 8; i++)
		IS(t, fi_recv(p.a.ep, buf, 64, NULL, 0, buf + i), 0);
	for (i = 0; i < 4; i++)
		IS(t, fi_recv(p.b.ep, buf, 64, NULL, 0, buf + i), 0);
	IS(t, fi_shutdown(p.b.ep, 0), 0);
	IS(t, wait_event_of(p.a.eq, &event.entry, sizeof(event)), FI_SHUTDOWN);
	for (i = 0; i < 8; i++) {
		ret = wait_comp(p.a.rx, &e);
		NEED(t, ret < 0 && ret != -FI_ETIMEDOUT, ret);
		cnt += (char *)e.op_context - buf;
	}
	IS(t, cnt, 28);
	IS(t, fi_cq_read(p.a.rx, &e, 1), -FI_EAGAIN);
	for (i = 0; i < 4; i++) {
		ret = wait_comp(p.b.rx, &e);
		NEED(t, ret < 0 && ret != -FI_ETIMEDOUT, ret);
	}
	ret = fi_recv(p.a.ep, buf, 64, NULL, 0, NULL);
	NEED(t, ret < 0, ret);
	ret = fi_send(p.a.ep, buf, 64, NULL, 0, NULL);
	NEED(t, ret < 0, ret);
out:
	pair_close(&p);
	kfree(buf);
}

/* An endpoint that closes ends its operations without completions. On iWARP the messages, which
 * find no receive, may end the connection first.
 */
static void close_busy(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct pair p;
	char *buf = kzalloc(1 << 20, GFP_KERNEL);
	bool iwarp;
	int i, ret;

	IS(t, pair_open(t, &p, FI_EP_MSG, CAPS), 0);
	NEED(t, buf, 0);
	iwarp = is_iwarp(p.a.info);
	for (i = 0; i < 8; i++) {
		ret = fi_recv(p.a.ep, buf, 64, NULL, 0, NULL);
		NEED(t, !ret || (iwarp && ret == -FI_ESHUTDOWN), ret);
		ret = fi_send(p.a.ep, buf, 1 << 17, NULL, 0, NULL);
		NEED(t, !ret || (iwarp && ret == -FI_ENOTCONN), ret);
	}
	IS(t, fi_close(&p.a.ep->fid), 0);
	p.a.ep = NULL;
	ret = fi_cq_read(p.a.rx, &e, 1);
	NEED(t, ret == -FI_EAGAIN || (iwarp && ret == -FI_EAVAIL), ret);
out:
	pair_close(&p);
	kfree(buf);
}

/* It finds connections in each of their states, and sockets with much or little in them. */
static void close_busy_often(struct test *t)
{
	int i;

	for (i = 0; i < 100 && !t->line; i++)
		close_busy(t);
}

void test_connect(struct test *t)
{
	test_case(t, "MSG: connect, accept, private data, shutdown", private_data);
	test_case(t, "MSG: reject", reject);
	test_case(t, "MSG: a request is answered once", answered);
	test_case(t, "MSG: connect without a listener", refused);
	test_case(t, "MSG: a listener goes with a request", abandoned);
	test_case(t, "MSG: an endpoint goes with a request that it has not accepted", unanswered);
	test_case(t, "MSG: misuse of connection calls", misuse);
	test_case(t, "MSG: names of listeners, options", names);
	test_case(t, "MSG: operations end once with the connection", flush);
	test_case(t, "MSG: close with operations outstanding", close_busy);
	test_case(t, "MSG: 100 closes with operations outstanding", close_busy_often);
}
