// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * rdm_test.c - tags, sources and addresses.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV)

static void tags(struct test *t)
{
	char *buf = kzalloc(4096, GFP_KERNEL), *src = buf + 2048;
	struct kvec iov = { src, 4 };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .tag = 0x700, .data = 3 };
	struct fi_cq_tagged_entry e;
	struct pair p;

	IS(t, pair_open(t, &p, FI_EP_RDM, CAPS), 0);
	NEED(t, buf, 0);
	memcpy(src, "abcdefgh", 8);
	IS(t, fi_trecv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, 0x10, 0, buf), 0);
	IS(t, fi_trecv(p.b.ep, buf + 64, 64, NULL, FI_ADDR_UNSPEC, 0x200, 0xff, buf + 64), 0);
	IS(t, fi_tsend(p.a.ep, src, 4, NULL, p.a.peer, 0x234, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.op_context == buf + 64, 0);
	IS(t, e.tag, 0x234);
	NEED(t, e.flags == (FI_RECV | FI_TAGGED), e.flags);
	IS(t, fi_tinject(p.a.ep, src + 4, 4, p.a.peer, 0x10), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.op_context == buf && !memcmp(buf, "efgh", 4), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	NEED(t, e.flags == (FI_SEND | FI_TAGGED), e.flags);

	/* unexpected: found by tag, in any sequence of receives */
	IS(t, fi_tsend(p.a.ep, "1", 1, NULL, p.a.peer, 1, NULL), 0);
	IS(t, fi_tsend(p.a.ep, "2", 1, NULL, p.a.peer, 2, NULL), 0);
	IS(t, fi_tsend(p.a.ep, "3", 1, NULL, p.a.peer, 1, NULL), 0);
	IS(t, fi_cq_sread(p.b.rx, &e, 1, NULL, 100), -FI_EAGAIN);
	IS(t, fi_trecv(p.b.ep, buf, 1, NULL, FI_ADDR_UNSPEC, 2, 0, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, *buf, '2');
	IS(t, fi_trecv(p.b.ep, buf, 1, NULL, FI_ADDR_UNSPEC, 1, 0, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, *buf, '1');
	IS(t, fi_trecv(p.b.ep, buf, 1, NULL, FI_ADDR_UNSPEC, 0, ~0ULL, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, *buf, '3');

	msg.addr = p.a.peer;
	IS(t, fi_trecvv(p.b.ep, &(struct kvec){ buf, 64 }, NULL, 1, p.b.peer, 0x700, 0, NULL), 0);
	IS(t, fi_tsendmsg(p.a.ep, &msg, FI_REMOTE_CQ_DATA), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.data == 3 && e.flags & FI_REMOTE_CQ_DATA, e.data);
	IS(t, fi_trecv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, 5, 0, NULL), 0);
	IS(t, fi_tsenddata(p.a.ep, src, 8, NULL, 0x88, p.a.peer, 5, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, e.data, 0x88);
	iov.iov_base = buf;
	msg.addr = FI_ADDR_UNSPEC;
	msg.tag = 6;
	IS(t, fi_trecvmsg(p.b.ep, &msg, 0), 0);
	IS(t, fi_tinjectdata(p.a.ep, src, 4, 0x89, p.a.peer, 6), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, e.data, 0x89);
	IS(t, fi_trecv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, 7, 0, NULL), 0);
	iov.iov_base = src;
	IS(t, fi_tsendv(p.a.ep, &iov, NULL, 1, p.a.peer, 7, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
out:
	pair_close(&p);
	kfree(buf);
}

/* Tagged and untagged messages do not meet. */
static void apart(struct test *t)
{
	struct fi_cq_tagged_entry e;
	char c[2] = "";
	struct pair p;

	IS(t, pair_open(t, &p, FI_EP_RDM, CAPS), 0);
	IS(t, fi_trecv(p.b.ep, &c[0], 1, NULL, FI_ADDR_UNSPEC, 0, ~0ULL, &c[0]), 0);
	IS(t, fi_recv(p.b.ep, &c[1], 1, NULL, FI_ADDR_UNSPEC, &c[1]), 0);
	IS(t, fi_inject(p.a.ep, "u", 1, p.a.peer), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.op_context == &c[1] && c[1] == 'u', 0);
	IS(t, fi_tinject(p.a.ep, "t", 1, p.a.peer, 5), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	NEED(t, e.op_context == &c[0] && c[0] == 't', 0);
out:
	pair_close(&p);
}

static void sources(struct test *t)
{
	struct fi_cq_tagged_entry e;
	fi_addr_t src = 0, stranger;
	char name[FI_NAME_MAX];
	size_t size = sizeof(name);
	struct pair p;
	char c[2];

	IS(t, pair_open(t, &p, FI_EP_RDM, CAPS), 0);
	/* an address without an endpoint, by which a directed receive must not be found */
	IS(t, fi_getname(&p.b.ep->fid, name, &size), 0);
	IS(t, fi_av_insert(p.b.av, name, 1, &stranger, 0, NULL), 1);
	IS(t, fi_recvfrom(p.b.ep, &c[0], 1, NULL, stranger, &c[0]), 0);
	IS(t, fi_recvfrom(p.b.ep, &c[1], 1, NULL, p.b.peer, &c[1]), 0);
	IS(t, fi_sendto(p.a.ep, "x", 1, NULL, p.a.peer, NULL), 0);
	NEED(t, wait_comp(p.a.tx, &e) == 0, 0);
	for (size = 0; size < 200; size++) {
		if (fi_cq_readfrom(p.b.rx, &e, 1, &src) == 1)
			break;
		msleep(20);
	}
	NEED(t, size < 200, 0);
	NEED(t, e.op_context == &c[1], 0);
	IS(t, src, p.b.peer);
	IS(t, fi_cancel(&p.b.ep->fid, &c[0]), 0);
out:
	pair_close(&p);
}

static void addresses(struct test *t)
{
	char name[FI_NAME_MAX], back[FI_NAME_MAX];
	size_t size = sizeof(name), len = sizeof(back);
	fi_addr_t addr, none = 99;
	struct pair p;

	IS(t, pair_open(t, &p, FI_EP_RDM, CAPS), 0);
	IS(t, fi_getname(&p.b.ep->fid, name, &size), 0);
	IS(t, fi_av_insert(p.a.av, name, 1, &addr, 0, NULL), 1);
	IS(t, fi_av_lookup(p.a.av, addr, back, &len), 0);
	IS(t, len, size);
	IS(t, memcmp(name, back, size), 0);
	IS(t, fi_av_insert(p.a.av, name, 1, &addr, FI_SYMMETRIC, NULL), -FI_EBADFLAGS);
	IS(t, fi_av_remove(p.a.av, &addr, 1, 0), 0);
	IS(t, fi_av_remove(p.a.av, &addr, 1, 0), -FI_EINVAL);
	IS(t, fi_av_lookup(p.a.av, addr, back, &len), -FI_EINVAL);
	IS(t, fi_av_remove(p.a.av, &none, 1, 0), -FI_EINVAL);
	IS(t, fi_send(p.a.ep, "x", 1, NULL, addr, NULL), -FI_EADDRNOTAVAIL);
out:
	pair_close(&p);
}

/* The peer has gone: the operation ends with an error. */
static void gone(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct pair p;
	int ret;

	IS(t, pair_open(t, &p, FI_EP_RDM, CAPS), 0);
	IS(t, fi_close(&p.b.ep->fid), 0);
	p.b.ep = NULL;
	IS(t, fi_send(p.a.ep, "x", 1, NULL, p.a.peer, NULL), 0);
	ret = wait_comp(p.a.tx, &e);
	NEED(t, ret < 0 && ret != -FI_ETIMEDOUT, ret);
out:
	pair_close(&p);
}

/* Both sides begin at once. */
static void crossing(struct test *t)
{
	struct fi_cq_tagged_entry e;
	char c[2];
	struct pair p;
	int i;

	for (i = 0; i < 20; i++) {
		IS(t, pair_open(t, &p, FI_EP_RDM, CAPS), 0);
		IS(t, fi_recv(p.a.ep, &c[0], 1, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, fi_recv(p.b.ep, &c[1], 1, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, fi_send(p.a.ep, "a", 1, NULL, p.a.peer, NULL), 0);
		IS(t, fi_send(p.b.ep, "b", 1, NULL, p.b.peer, NULL), 0);
		IS(t, wait_comp(p.a.rx, &e), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, wait_comp(p.a.tx, &e), 0);
		IS(t, wait_comp(p.b.tx, &e), 0);
		NEED(t, c[0] == 'b' && c[1] == 'a', i);
		pair_close(&p);
	}
out:
	pair_close(&p);
}

void test_rdm(struct test *t)
{
	test_case(t, "RDM: tags, masks, unexpected messages", tags);
	test_case(t, "RDM: tagged and untagged messages do not meet", apart);
	test_case(t, "RDM: source address, directed receive", sources);
	test_case(t, "RDM: address vector calls", addresses);
	test_case(t, "RDM: a peer that has gone", gone);
	test_case(t, "RDM: both sides send first", crossing);
}
