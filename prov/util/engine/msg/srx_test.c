/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Shared receive contexts between endpoints on a simulated network: nodes 0 and 1
 * send, nodes 2 and 3 share the context.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"
#include <netinet/in.h>

#include "engine/recv.h"
#include "engine/sim/world.h"

static struct world w;
static struct fid_ep *srx;
static struct fid_stx *stx;
static struct fid_av *av;
static char out[8][20000], in[8][20000];
static int ctx[64];

static struct node *const a = &w.node[0], *const b = &w.node[1], *const c = &w.node[2],
		   *const d = &w.node[3];

static void share(struct world *world, int i)
{
	if (i < 2)
		return;
	assert_int_equal(fi_ep_bind(world->node[i].ep, &srx->fid, 0), 0);
	assert_int_equal(fi_ep_bind(world->node[i].ep, &stx->fid, 0), 0);
}

static void open_with(uint64_t seed, const struct sim_conf *conf)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_rx_attr attr = { .size = 64 };

	memset(&w, 0, sizeof(w));
	memset(in, 0, sizeof(in));
	world_open_domain(&w, seed, conf);
	assert_int_equal(fi_srx_context(w.domain, &attr, &srx, &ctx[63]), 0);
	assert_int_equal(fi_stx_context(w.domain, NULL, &stx, NULL), 0);
	assert_int_equal(fi_av_open(w.domain, &av_attr, &av, NULL), 0);
	w.before_enable = share;
	w.node[2].given = w.node[3].given = av;
	world_open_nodes(&w, 4);
	world_fill_av(&w, av);
}

static int set_up(void **arg)
{
	open_with(1, &sim_ideal);
	return 0;
}

static int tear_down(void **arg)
{
	int i;

	/* before the endpoints that are bound to it, as SHMEM libraries do */
	assert_int_equal(fi_close(&stx->fid), 0);
	for (i = 0; i < 4; i++)
		if (w.node[i].cq)
			node_close(&w, i);
	assert_int_equal(fi_close(&av->fid), 0);
	/* first as a child that has inherited it */
	obj_process++;
	assert_int_equal(fi_close(&srx->fid), 0);
	obj_process--;
	assert_int_equal(fi_close(&srx->fid), 0);
	world_close(&w);
	return 0;
}

#define expect(...)	node_expect(&w, __VA_ARGS__)
#define expect_err(...)	node_expect_err(&w, __VA_ARGS__)

/* The oldest receive goes to the endpoint that a message reaches first, and completes on its queue. */
static void test_any_endpoint_takes_the_oldest(void **arg)
{
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_trecv(srx, in[1], 20000, NULL, FI_ADDR_UNSPEC, 7, 0, &ctx[1]), 0);
	assert_int_equal(fi_recv(srx, in[2], 100, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	pattern_fill(out[0], 100, 1);
	pattern_fill(out[1], 20000, 2);
	assert_int_equal(fi_send(a->ep, out[0], 100, NULL, 3, &ctx[10]), 0);
	expect(a, &ctx[10], FI_SEND | FI_MSG, 0);
	expect(d, &ctx[0], FI_RECV | FI_MSG, 100);
	assert_true(pattern_ok(in[0], 100, 1));
	assert_int_equal(fi_tsend(b->ep, out[1], 20000, NULL, 2, 7, &ctx[11]), 0);
	assert_int_equal(fi_send(b->ep, out[0], 50, NULL, 2, &ctx[12]), 0);
	expect(c, &ctx[2], FI_RECV | FI_MSG, 50);
	expect(c, &ctx[1], FI_RECV | FI_TAGGED, 20000);
	assert_true(pattern_ok(in[1], 20000, 2));
	assert_int_equal(fi_cntr_read(c->rx_cntr), 2);
	assert_int_equal(fi_cntr_read(d->rx_cntr), 1);
}

static void test_unexpected_wait_in_the_context(void **arg)
{
	int i;

	for (i = 0; i < 4; i++) {
		pattern_fill(out[i], 3000, (uint64_t) i);
		assert_int_equal(fi_send(a->ep, out[i], i % 2 ? 3000 : 10, NULL, 2 + (fi_addr_t) i / 2,
					 &ctx[i]), 0);
	}
	world_settle(&w);
	for (i = 0; i < 4; i++)
		assert_int_equal(fi_recv(srx, in[i], 3000, NULL, FI_ADDR_UNSPEC, &ctx[10 + i]), 0);
	expect(c, &ctx[10], FI_RECV | FI_MSG, 10);
	expect(c, &ctx[11], FI_RECV | FI_MSG, 3000);
	expect(d, &ctx[12], FI_RECV | FI_MSG, 10);
	expect(d, &ctx[13], FI_RECV | FI_MSG, 3000);
	for (i = 0; i < 4; i++)
		assert_true(pattern_ok(in[i], i % 2 ? 3000 : 10, (uint64_t) i));
}

/* Directed at b, whichever of the two endpoints it calls; a must not get it. */
static void test_directed(void **arg)
{
	struct comp comp;

	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[0]), 0);
	assert_int_equal(fi_recv(srx, in[1], 100, NULL, 1, &ctx[1]), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 10, 2), 0);
	node_none(&w, c);
	assert_int_equal(fi_inject(b->ep, out[0], 11, 3), 0);
	node_wait(&w, d, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[0]);
	assert_int_equal(comp.e.len, 11);
	assert_int_equal(comp.src, 1);
	assert_int_equal(fi_inject(b->ep, out[0], 12, 2), 0);
	expect(c, &ctx[1], FI_RECV | FI_MSG, 12);
	assert_int_equal(fi_recv(srx, in[2], 100, NULL, 0, &ctx[2]), 0);
	expect(c, &ctx[2], FI_RECV | FI_MSG, 10);
	assert_int_equal(fi_recv(srx, in[2], 100, NULL, 77, &ctx[2]), -FI_EINVAL);
}

/* A source is lost when the last endpoint that was connected to it loses it. */
static void test_directed_source_lost(void **arg)
{
	assert_int_equal(fi_inject(b->ep, out[0], 10, 2), 0);
	assert_int_equal(fi_inject(b->ep, out[0], 11, 3), 0);
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[0]), 0);
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[1]), 0);
	expect(c, &ctx[0], FI_RECV | FI_MSG, 10);
	expect(d, &ctx[1], FI_RECV | FI_MSG, 11);
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[2]), 0);
	assert_true(sim_break(PORT(1), PORT(2)));
	node_none(&w, c);
	assert_true(sim_break(PORT(1), PORT(3)));
	expect_err(d, &ctx[2], FI_ECONNRESET);
	/* it is reachable again, and so are we */
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[3]), 0);
	assert_int_equal(fi_inject(b->ep, out[0], 12, 2), 0);
	expect(c, &ctx[3], FI_RECV | FI_MSG, 12);
}

/* An entry that is removed and given to another leads to the other. */
static void test_reinserted(void **arg)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT(0)),
				   .sin_addr.s_addr = htonl(SIM_HOST) };
	fi_addr_t fi_addr = 1;

	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[0]), 0);
	assert_int_equal(fi_cancel(&srx->fid, &ctx[0]), 0);
	expect_err(c, &ctx[0], FI_ECANCELED);
	assert_int_equal(fi_av_remove(av, &fi_addr, 1, 0), 0);
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_av_insert(av, &sin, 1, &fi_addr, 0, NULL), 1);
	assert_int_equal(fi_addr, 1);
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, 1, &ctx[1]), 0);
	assert_int_equal(fi_inject(b->ep, out[0], 10, 2), 0);
	node_none(&w, c);
	assert_int_equal(fi_inject(a->ep, out[0], 11, 2), 0);
	expect(c, &ctx[1], FI_RECV | FI_MSG, 11);
}

static void test_multi_recv(void **arg)
{
	struct iovec iov = { in[0], 300 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
			      .context = &ctx[0] };
	size_t min = 100;
	struct comp comp;

	assert_int_equal(fi_setopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
				   sizeof(min)), 0);
	assert_int_equal(fi_recvmsg(srx, &msg, FI_MULTI_RECV), 0);
	pattern_fill(out[0], 100, 4);
	assert_int_equal(fi_inject(a->ep, out[0], 100, 2), 0);
	expect(c, &ctx[0], FI_RECV | FI_MSG, 100);
	assert_int_equal(fi_inject(b->ep, out[0], 100, 3), 0);
	expect(d, &ctx[0], FI_RECV | FI_MSG, 100);
	assert_int_equal(fi_inject(b->ep, out[0], 100, 3), 0);
	node_wait(&w, d, &comp);
	assert_true(comp.e.flags == (FI_RECV | FI_MSG | FI_MULTI_RECV));
	assert_ptr_equal(comp.e.buf, in[0] + 200);
	assert_true(pattern_ok(in[0] + 100, 100, 4));
	/* a buffer that is taken back is reported once, by one of them */
	assert_int_equal(fi_recvmsg(srx, &msg, FI_MULTI_RECV), 0);
	assert_int_equal(fi_cancel(&srx->fid, &ctx[0]), 0);
	node_wait(&w, c, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_true(comp.e.flags & FI_MULTI_RECV);
	node_none(&w, d);
}

static void test_cancel_and_peek(void **arg)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 9, .context = &ctx[5] };
	struct iovec iov = { in[0], 100 };
	struct comp comp;

	assert_int_equal(fi_recv(srx, in[0], 100, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_cancel(&c->ep->fid, &ctx[0]), -FI_ENOENT);
	assert_int_equal(fi_cancel(&srx->fid, &ctx[1]), -FI_ENOENT);
	assert_int_equal(fi_cancel(&srx->fid, &ctx[0]), 0);
	expect_err(c, &ctx[0], FI_ECANCELED);

	assert_int_equal(fi_trecvmsg(srx, &msg, FI_PEEK), 0);
	expect_err(c, &ctx[5], FI_ENOMSG);
	assert_int_equal(fi_tinject(a->ep, "late", 4, 3, 9), 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(srx, &msg, FI_PEEK | FI_CLAIM), 0);
	node_wait(&w, d, &comp);
	assert_int_equal(comp.err, 0);
	assert_int_equal(comp.e.len, 4);
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	assert_int_equal(fi_trecvmsg(srx, &msg, FI_CLAIM), 0);
	expect(d, &ctx[5], FI_RECV | FI_TAGGED, 4);
	assert_memory_equal(in[0], "late", 4);
}

/* What each handle is not for. */
static void test_refusals(void **arg)
{
	struct fid_av *other;
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	struct fi_info *info = sim_info(FI_EP_RDM, 1900);
	struct fid_ep *ep;

	assert_int_equal(fi_recv(c->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_ENOSYS);
	assert_int_equal(fi_send(srx, out[0], 1, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_tinject(srx, out[0], 1, 0, 0), -FI_ENOSYS);
	assert_int_equal(fi_close(&srx->fid), -FI_EBUSY);
	/* one address vector for all who share */
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	assert_int_equal(fi_av_open(w.domain, &attr, &other, NULL), 0);
	assert_int_equal(fi_endpoint(w.domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &other->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &c->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), -FI_EOPBADSTATE);
	assert_int_equal(fi_ep_bind(ep, &srx->fid, 0), 0);
	assert_int_equal(fi_enable(ep), -FI_EINVAL);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&other->fid), 0);
	fi_freeinfo(info);
}

static void test_size(void **arg)
{
	int i;

	assert_int_equal(((struct eng_ep *) obj_ep_of(srx))->rxc->size, 64);
	((struct eng_ep *) obj_ep_of(srx))->rxc->max = 64;
	for (i = 0; i < 64; i++)
		assert_int_equal(fi_recv(srx, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[i]), 0);
	assert_int_equal(fi_recv(srx, in[0], 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EAGAIN);
}

/* An endpoint goes with what it was receiving; the others go on, and when all are
 * gone the address vector may close before the context.
 */
static void test_close_one_by_one(void **arg)
{
	assert_int_equal(fi_recv(srx, in[0], 3000, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(srx, in[1], 3000, NULL, 0, &ctx[1]), 0);
	assert_int_equal(fi_recv(srx, in[2], 3000, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	assert_int_equal(fi_send(b->ep, out[0], 3000, NULL, 2, &ctx[10]), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 1, 3), 0);
	expect(d, &ctx[1], FI_RECV | FI_MSG, 1);
	node_close(&w, 2);
	assert_int_equal(fi_inject(a->ep, out[0], 5, 3), 0);
	expect(d, &ctx[2], FI_RECV | FI_MSG, 5);
	node_close(&w, 3);
	assert_int_equal(fi_recv(srx, in[1], 30, NULL, FI_ADDR_UNSPEC, &ctx[4]), 0);
	assert_int_equal(fi_recv(srx, in[1], 30, NULL, 0, &ctx[4]), -FI_EINVAL);
	/* and others may come */
	world_settle(&w);
	node_open(&w, 3);
	assert_int_equal(fi_recv(srx, in[3], 3000, NULL, 0, &ctx[3]), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 6, 3), 0);
	expect(d, &ctx[4], FI_RECV | FI_MSG, 6);
}

/* A message that arrives while the link of a closed endpoint lingers takes no receive from the others. */
static void test_closed_takes_none(void **arg)
{
	assert_int_equal(fi_recv(srx, in[0], 100, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 9, 2), 0);
	expect(c, &ctx[0], FI_RECV | FI_MSG, 9);
	assert_int_equal(fi_recv(srx, in[1], 100, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 10, 2), 0);
	node_close(&w, 2);
	assert_int_equal(fi_inject(b->ep, out[0], 11, 3), 0);
	expect(d, &ctx[1], FI_RECV | FI_MSG, 11);
}

/* Much of it, on a network that delays, cuts and refuses. */
static void test_rough(void **arg)
{
	enum { CNT = 60 };
	struct comp comp;
	int i, got, sent;
	char seen[CNT];
	ssize_t ret;

	tear_down(NULL);
	open_with(11, &sim_rough);
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < 8; i++)
		assert_int_equal(fi_recv(srx, in[i], 2000, NULL, FI_ADDR_UNSPEC, in[i]), 0);
	for (got = sent = 0; got < CNT;) {
		if (sent < CNT) {
			pattern_fill(out[sent % 8], 2000, (uint64_t) sent);
			ret = fi_senddata(w.node[sent % 2].ep, out[sent % 8],
					  (size_t) (sent * 331 % 2000), NULL, (uint64_t) sent,
					  2 + (fi_addr_t) (sent / 2 % 2), &ctx[sent]);
			sent += !ret;
		}
		world_poll(&w);
		while (node_read(a, &comp) || node_read(b, &comp))
			assert_int_equal(comp.err, 0);
		while (node_read(c, &comp) || node_read(d, &comp)) {
			char *buf = comp.e.op_context;

			assert_int_equal(comp.err, 0);
			assert_int_equal(comp.e.len, comp.e.data * 331 % 2000);
			/* the sender's buffers are reused every eight messages */
			if (sent - (int) comp.e.data <= 8)
				assert_true(comp.e.len == 0 || pattern_ok(buf, comp.e.len,
									  comp.e.data));
			assert_int_equal(seen[comp.e.data]++, 0);
			got++;
			assert_int_equal(fi_recv(srx, buf, 2000, NULL, FI_ADDR_UNSPEC, buf), 0);
		}
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_any_endpoint_takes_the_oldest),
		CASE(test_unexpected_wait_in_the_context),
		CASE(test_directed),
		CASE(test_directed_source_lost),
		CASE(test_reinserted),
		CASE(test_multi_recv),
		CASE(test_cancel_and_peek),
		CASE(test_refusals),
		CASE(test_size),
		CASE(test_close_one_by_one),
		CASE(test_closed_takes_none),
		CASE(test_rough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
