// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * multi_test.c - multi-receive buffers and shared receive contexts.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

#define CAPS	(FI_MSG | FI_MULTI_RECV)
#define DONE	(FI_RECV | FI_MSG | FI_MULTI_RECV)

static enum fi_ep_type type;

static ssize_t post_multi(struct fid_ep *ep, void *buf, size_t len)
{
	struct kvec iov = { buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = buf };

	return fi_recvmsg(ep, &msg, FI_MULTI_RECV | FI_COMPLETION);
}

/* One message of @len bytes, all @c, and its completion here. */
static int say(struct side *s, fi_addr_t to, u8 *buf, char c, size_t len)
{
	struct fi_cq_tagged_entry e;
	int ret;

	memset(buf, c, len);
	ret = fi_send(s->ep, buf, len, NULL, to, NULL);
	return ret ? ret : wait_comp(s->tx, &e);
}

static bool holds(const u8 *p, char c, size_t len)
{
	return !len || (p[0] == c && !memcmp(p, p + 1, len - 1));
}

static void buffers(struct test *t)
{
	u8 *buf = kzalloc(8192, GFP_KERNEL), *src = buf + 4096;
	struct kvec iov[2] = { { buf, 64 }, { buf + 64, 64 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 2, .addr = FI_ADDR_UNSPEC };
	size_t min = 200, len = sizeof(min);
	struct fi_cq_tagged_entry e;
	struct pair p;
	int i;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	IS(t, fi_getopt(&p.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, &len), 0);
	IS(t, min, 64);
	IS(t, fi_recvmsg(p.b.ep, &msg, FI_MULTI_RECV), -FI_EINVAL);

	/* 5 of 200 bytes leave less than 64 of 1024 */
	IS(t, post_multi(p.b.ep, buf, 1024), 0);
	for (i = 0; i < 5; i++) {
		IS(t, say(&p.a, p.a.peer, src, 'a' + i, 200), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		NEED(t, e.op_context == buf && e.buf == buf + 200 * i && e.len == 200, i);
		NEED(t, e.flags == (i < 4 ? DONE & ~FI_MULTI_RECV : DONE), e.flags);
	}
	for (i = 0; i < 5; i++)
		NEED(t, holds(buf + 200 * i, 'a' + i, 200), i);

	/* messages that were there before; one that is cut short; a size to be left */
	min = 100;
	IS(t, fi_setopt(&p.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)), 0);
	IS(t, fi_setopt(&p.b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, 1), -FI_EINVAL);
	for (i = 0; i < 3; i++) {
		memset(src + 400 * i, 'k' + i, 100 + 150 * i);
		IS(t, fi_send(p.a.ep, src + 400 * i, 100 + 150 * i, NULL, p.a.peer, NULL), 0);
	}
	msleep(50);
	IS(t, post_multi(p.b.ep, buf, 500), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.buf == buf && e.len == 100 && holds(buf, 'k', 100), e.len);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.buf == buf + 100 && e.len == 250 && holds(buf + 100, 'l', 250), e.len);
	IS(t, wait_comp(p.b.rx, &e), -FI_ETRUNC);
	NEED(t, e.len == 150 && holds(buf + 350, 'm', 150), e.len);
	for (i = 0; i < 3; i++)
		IS(t, wait_comp(p.a.tx, &e), 0);

	/* taken back */
	IS(t, post_multi(p.b.ep, buf, 1024), 0);
	IS(t, say(&p.a, p.a.peer, src, 'z', 100), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, fi_cancel(&p.b.ep->fid, buf), 0);
	IS(t, wait_comp(p.b.rx, &e), -FI_ECANCELED);
	NEED(t, e.op_context == buf, 0);
	/* one that is outstanding ends with the endpoint */
	IS(t, post_multi(p.b.ep, buf, 1024), 0);
out:
	pair_close(&p);
	kfree(buf);
}

/* More messages than operations: they wait, and each byte arrives in its place. */
static void stream(struct test *t)
{
	const int total = 2000;
	u8 *buf = kzalloc(3 * 8192, GFP_KERNEL), *src = buf + 2 * 8192;
	int sent = 0, got = 0, buffer, last = 0, tries = 0;
	struct fi_cq_tagged_entry e;
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	for (buffer = 0; buffer < 2; buffer++)
		IS(t, post_multi(p.b.ep, buf + 8192 * buffer, 8192), 0);
	while (got < total && tries < 20000) {
		memset(src, sent, 16);
		if (sent < total && !fi_inject(p.a.ep, src, 16, p.a.peer)) {
			sent++;
		} else {
			tries++;
			usleep_range(500, 1000);
		}
		/* the queue fills up first */
		while ((sent == total || sent - got > 700) && fi_cq_read(p.b.rx, &e, 1) == 1) {
			NEED(t, e.len == 16 && *(u8 *)e.buf == (u8)got, got);
			got++;
			if (e.flags & FI_MULTI_RECV) {
				last++;
				IS(t, post_multi(p.b.ep, e.op_context, 8192), 0);
			}
		}
	}
	IS(t, got, total);
	IS(t, last, total * 16 / 8192);
	/* each message counts, a buffer does not */
	IS(t, fi_cntr_read(p.b.cntr), total);
	IS(t, fi_cntr_readerr(p.b.cntr), 0);
out:
	pair_close(&p);
	kfree(buf);
}

/* A second endpoint of @b at its shared context, and a side @c that talks to it. */
static int join(struct test *t, struct pair *p, struct side *c, struct fid_ep **ep_p)
{
	struct fi_info *info, *from;
	struct fi_eq_cm_entry *entry;
	char room[64], name[FI_NAME_MAX];
	size_t size = sizeof(name);
	int ret;

	entry = (struct fi_eq_cm_entry *)room;
	ret = info_get(t, type, CAPS, false, &info);
	if (!ret)
		ret = side_open(c, info);
	if (!ret)
		ret = side_ep(c, c->info, 0);
	if (!ret && type == FI_EP_MSG) {
		ret = connect_to(c, p->pep, NULL, 0);
		if (!ret && wait_event_of(p->b.eq, entry, sizeof(room)) != FI_CONNREQ)
			ret = -FI_EOTHER;
	}
	if (ret)
		return ret;
	from = type == FI_EP_MSG ? entry->info : p->b.info;
	ret = fi_endpoint(p->b.domain, from, ep_p, NULL);
	if (type == FI_EP_MSG)
		fi_freeinfo(from);
	if (!ret)
		ret = fi_ep_bind(*ep_p, &p->b.tx->fid, FI_TRANSMIT);
	if (!ret)
		ret = fi_ep_bind(*ep_p, &p->b.rx->fid, FI_RECV);
	if (!ret)
		ret = fi_ep_bind(*ep_p, type == FI_EP_MSG ? &p->b.eq->fid : &p->b.av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(*ep_p, &p->b.srx->fid, 0);
	if (!ret)
		ret = fi_enable(*ep_p);
	if (ret)
		return ret;
	if (type == FI_EP_RDM) {
		ret = fi_getname(&(*ep_p)->fid, name, &size);
		return ret ? ret : fi_av_insert(c->av, name, 1, &c->peer, 0, NULL) == 1 ? 0 :
				   -FI_EINVAL;
	}
	ret = fi_accept(*ep_p, NULL, 0);
	return ret ? ret : wait_event_of(p->b.eq, entry, sizeof(room)) == FI_CONNECTED &&
			   wait_event_of(c->eq, entry, sizeof(room)) == FI_CONNECTED ? 0 : -FI_ENOTCONN;
}

static void shared(struct test *t)
{
	u8 *buf = kzalloc(8192, GFP_KERNEL), *src = buf + 4096;
	struct fid_ep *second = NULL;
	struct fi_cq_tagged_entry e;
	struct side c = {};
	struct pair p;
	int i, seen = 0;

	pair_srx = true;
	i = pair_open(t, &p, type, CAPS);
	pair_srx = false;
	IS(t, i, 0);
	NEED(t, buf, 0);
	IS(t, join(t, &p, &c, &second), 0);
	IS(t, fi_close(&p.b.srx->fid), -FI_EBUSY);
	IS(t, fi_recv(p.b.ep, buf, 16, NULL, FI_ADDR_UNSPEC, NULL), -FI_ENOSYS);
	NEED(t, fi_send(p.b.srx, buf, 0, NULL, 0, NULL) < 0, 0);

	/* in turn, from either sender */
	for (i = 0; i < 4; i++)
		IS(t, fi_recv(p.b.srx, buf + 64 * i, 64, NULL, FI_ADDR_UNSPEC, buf + 64 * i), 0);
	for (i = 0; i < 4; i++) {
		IS(t, say(i % 2 ? &c : &p.a, i % 2 ? c.peer : p.a.peer, src, '0' + i, 10 + i), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		NEED(t, e.op_context == buf + 64 * i && e.len == 10 + i, i);
		NEED(t, holds(buf + 64 * i, '0' + i, 10 + i), i);
	}
	/* messages that were there before */
	IS(t, fi_send(p.a.ep, "A", 1, NULL, p.a.peer, NULL), 0);
	IS(t, fi_send(c.ep, "C", 1, NULL, c.peer, NULL), 0);
	msleep(50);
	for (i = 0; i < 2; i++)
		IS(t, fi_recv(p.b.srx, buf + i, 1, NULL, FI_ADDR_UNSPEC, NULL), 0);
	for (i = 0; i < 2; i++)
		IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, (buf[0] == 'A' && buf[1] == 'C') || (buf[0] == 'C' && buf[1] == 'A'), buf[0]);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, wait_comp(c.tx, &e), 0);
	/* a buffer for the messages of both */
	IS(t, post_multi(p.b.srx, buf, 1024), 0);
	for (i = 0; i < 10; i++) {
		IS(t, say(i % 2 ? &c : &p.a, i % 2 ? c.peer : p.a.peer, src, 'a' + i, 100), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		NEED(t, e.buf == buf + 100 * i && holds(e.buf, 'a' + i, 100), i);
		seen += !!(e.flags & FI_MULTI_RECV);
	}
	IS(t, seen, 1);
	/* a receive counts at the endpoint that its message came to; the second one has no counter */
	IS(t, fi_cntr_read(p.b.cntr), 2 + 1 + 5);
	/* an endpoint goes; the receive stays for the other one */
	IS(t, fi_recv(p.b.srx, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_close(&second->fid), 0);
	second = NULL;
	IS(t, say(&p.a, p.a.peer, src, 'x', 20), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	/* one that is posted ends with the context */
	IS(t, fi_recv(p.b.srx, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_cancel(&p.b.srx->fid, NULL), 0);
	IS(t, fi_recv(p.b.srx, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
out:
	if (second)
		fi_close(&second->fid);
	side_close(&c);
	pair_close(&p);
	kfree(buf);
}

/* Opened, used and closed, again and again: a buffer, or a shared context, with messages and receives
 * that are outstanding at the end. */
static void cycles(struct test *t)
{
	u8 *buf = kzalloc(4096, GFP_KERNEL), *src = buf + 2048;
	struct fi_cq_tagged_entry e;
	struct pair p;
	int i, ret = buf ? 0 : -FI_ENOMEM;

	for (i = 0; i < test_cycles && !ret; i++) {
		pair_srx = i % 2;
		ret = pair_open(t, &p, type, CAPS);
		pair_srx = false;
		if (!ret)
			ret = post_multi(i % 2 ? p.b.srx : p.b.ep, buf, 1024);
		if (!ret)
			ret = say(&p.a, p.a.peer, src, i, 100);
		if (!ret)
			ret = wait_comp(p.b.rx, &e);
		if (!ret && i % 4 > 1)
			ret = fi_send(p.a.ep, src, 300, NULL, p.a.peer, NULL);
		pair_close(&p);
	}
	IS(t, ret, 0);
	IS(t, i, test_cycles);
out:
	kfree(buf);
}

void test_multi(struct test *t, enum fi_ep_type of)
{
	struct fi_info *info;

	type = of;
	if (info_get(t, of, CAPS, true, &info)) {
		test_skip(t, "multi-receive buffers, shared receive contexts", "not offered here");
		return;
	}
	fi_freeinfo(info);
#define CASE(text, fn) test_case(t, of == FI_EP_MSG ? "MSG: " text : "RDM: " text, fn)
	CASE("multi-receive: parts, truncation, cancel", buffers);
	CASE("multi-receive: more messages than operations", stream);
	CASE("shared receive context of two endpoints", shared);
	CASE("multi-receive, shared receive context: cycles of open, use, close", cycles);
}
