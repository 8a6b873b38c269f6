/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Scalable endpoints and named receive contexts: two scalable endpoints, and a standard
 * one (node 0) whose address vector knows both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"
#include <netinet/in.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "base/clock.h"
#include "engine/recv.h"
#include "engine/sim/world.h"

#define TX 2
#define RX 3
#define BITS 2
#define SEPS 2

struct sep {
	struct fid_ep *ep, *tx[TX], *rx[RX];
	struct fid_cq *txcq[TX], *rxcq[RX];
	struct fid_cntr *cntr[RX];	/* FI_RECV and what peers do */
	struct fid_av *av;
};

static struct world w;
static struct sep s[SEPS];
static char out[8][20000], in[8][20000];
static int ctx[64];

static fi_addr_t at(int sep, int rx)
{
	return fi_rx_addr((fi_addr_t) (1 + sep), rx, BITS);
}

static struct fi_info *sep_info(int i)
{
	struct fi_info *info = sim_info(FI_EP_RDM, PORT(1 + i));

	info->caps |= FI_NAMED_RX_CTX;
	info->tx_attr->caps |= FI_NAMED_RX_CTX;
	info->ep_attr->tx_ctx_cnt = TX;
	info->ep_attr->rx_ctx_cnt = RX;
	return info;
}

static void open_contexts(struct sep *sep)
{
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE };
	struct fi_tx_attr tx = { .size = 8 };
	int i;

	for (i = 0; i < TX; i++) {
		assert_int_equal(fi_cq_open(w.domain, &attr, &sep->txcq[i], NULL), 0);
		assert_int_equal(fi_tx_context(sep->ep, i, i ? &tx : NULL, &sep->tx[i], NULL), 0);
		assert_int_equal(fi_ep_bind(sep->tx[i], &sep->txcq[i]->fid, FI_TRANSMIT), 0);
		assert_int_equal(fi_enable(sep->tx[i]), 0);
	}
	assert_int_equal(tx.size, 8);
	assert_int_equal(tx.inject_size, 200);
	for (i = 0; i < RX; i++) {
		assert_int_equal(fi_cq_open(w.domain, &attr, &sep->rxcq[i], NULL), 0);
		assert_int_equal(fi_cntr_open(w.domain, &cntr_attr, &sep->cntr[i], NULL), 0);
		assert_int_equal(fi_rx_context(sep->ep, i, NULL, &sep->rx[i], NULL), 0);
		assert_int_equal(fi_ep_bind(sep->rx[i], &sep->rxcq[i]->fid, FI_RECV), 0);
		assert_int_equal(fi_ep_bind(sep->rx[i], &sep->cntr[i]->fid,
					    FI_RECV | FI_REMOTE_WRITE | FI_REMOTE_READ), 0);
		assert_int_equal(fi_enable(sep->rx[i]), 0);
	}
}

static void open_all(uint64_t seed, const struct sim_conf *conf)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .rx_ctx_bits = BITS };
	struct fi_info *info;
	int i;

	memset(&w, 0, sizeof(w));
	memset(in, 0, sizeof(in));
	world_open_domain(&w, seed, conf);
	assert_int_equal(fi_av_open(w.domain, &attr, &w.node[0].given, NULL), 0);
	w.cnt = 1 + SEPS;
	world_fill_av(&w, w.node[0].given);
	node_open(&w, 0);
	for (i = 0; i < SEPS; i++) {
		info = sep_info(i);
		assert_int_equal(fi_scalable_ep(w.domain, info, &s[i].ep, &s[i]), 0);
		assert_int_equal(fi_av_open(w.domain, &attr, &s[i].av, NULL), 0);
		assert_int_equal(fi_scalable_ep_bind(s[i].ep, &s[i].av->fid, 0), 0);
		world_fill_av(&w, s[i].av);
		open_contexts(&s[i]);
		assert_int_equal(fi_enable(s[i].ep), 0);
		fi_freeinfo(info);
	}
	w.cnt = 1;
}

static int set_up(void **arg)
{
	open_all(1, &sim_ideal);
	return 0;
}

static void close_ctx(struct fid_ep **ep, struct fid_cq **cq, struct fid_cntr **cntr)
{
	if (!*ep)
		return;
	assert_int_equal(fi_close(&(*ep)->fid), 0);
	assert_int_equal(fi_close(&(*cq)->fid), 0);
	if (cntr)
		assert_int_equal(fi_close(&(*cntr)->fid), 0);
	*ep = NULL;
	*cq = NULL;
}

static void sep_close(struct sep *sep)
{
	int i;

	if (!sep->ep)
		return;
	for (i = 0; i < TX; i++)
		close_ctx(&sep->tx[i], &sep->txcq[i], NULL);
	for (i = 0; i < RX; i++)
		close_ctx(&sep->rx[i], &sep->rxcq[i], &sep->cntr[i]);
	assert_int_equal(fi_close(&sep->ep->fid), 0);
	assert_int_equal(fi_close(&sep->av->fid), 0);
	sep->ep = NULL;
}

static int tear_down(void **arg)
{
	int i;

	for (i = 0; i < SEPS; i++)
		sep_close(&s[i]);
	node_close(&w, 0);
	assert_int_equal(fi_close(&w.node[0].given->fid), 0);
	world_close(&w);
	return 0;
}

static void turn(void)
{
	int i, j;

	world_poll(&w);
	for (i = 0; i < SEPS; i++) {
		for (j = 0; s[i].ep && j < TX; j++)
			if (s[i].txcq[j])
				fi_cq_read(s[i].txcq[j], NULL, 0);
	}
}

/* The next of a queue; its errors are positive in comp.err. */
static void next(struct fid_cq *cq, struct comp *comp)
{
	struct node n = { .cq = cq };
	int i;

	for (i = 0; i < 100000; i++, turn())
		if (node_read(&n, comp))
			return;
	fail_msg("no completion");
}

static void expect(struct fid_cq *cq, void *context, size_t len)
{
	struct comp comp;

	next(cq, &comp);
	assert_int_equal(comp.err, 0);
	assert_ptr_equal(comp.e.op_context, context);
	if (comp.e.flags & FI_RECV)
		assert_int_equal(comp.e.len, len);
}

static void nothing(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e;
	int i;

	for (i = 0; i < 300; i++)
		turn();
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
}

/* Short and long, from each transmit context to each receive context. */
static void test_named(void **arg)
{
	int t, r;

	for (t = 0; t < TX; t++) {
		for (r = 0; r < RX; r++) {
			size_t len = r == 1 ? 20000 : 40;

			pattern_fill(out[0], len, (uint64_t) (t * 8 + r));
			assert_int_equal(fi_recv(s[1].rx[r], in[0], len, NULL, FI_ADDR_UNSPEC,
						 &ctx[r]), 0);
			assert_int_equal(fi_send(s[0].tx[t], out[0], len, NULL, at(1, r),
						 &ctx[10 + t]), 0);
			expect(s[1].rxcq[r], &ctx[r], len);
			expect(s[0].txcq[t], &ctx[10 + t], 0);
			assert_true(pattern_ok(in[0], len, (uint64_t) (t * 8 + r)));
		}
	}
	for (r = 0; r < RX; r++)
		assert_int_equal(fi_cntr_read(s[1].cntr[r]), TX);
}

/* A standard endpoint talks to contexts, and contexts to it. */
static void test_standard_endpoint(void **arg)
{
	struct comp comp;

	assert_int_equal(fi_trecv(s[0].rx[2], in[0], 100, NULL, 0, 5, 0, &ctx[0]), 0);
	assert_int_equal(fi_tinject(w.node[0].ep, "two", 3, at(0, 2), 5), 0);
	next(s[0].rxcq[2], &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[0]);
	assert_int_equal(comp.src, 0);
	assert_int_equal(fi_recv(w.node[0].ep, in[1], 100, NULL, 1, &ctx[1]), 0);
	assert_int_equal(fi_inject(s[0].tx[1], "zero", 4, 0), 0);
	next(w.node[0].cq, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_equal(comp.src, 1);
	/* without a name it is context 0 */
	assert_int_equal(fi_recv(s[0].rx[0], in[2], 100, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	assert_int_equal(fi_inject(w.node[0].ep, "none", 4, 1), 0);
	expect(s[0].rxcq[0], &ctx[2], 4);
	assert_int_equal(fi_inject(w.node[0].ep, "none", 4, 1ULL << 40), -FI_EINVAL);
}

/* Contexts do not see one another's messages, and what comes early waits. */
static void test_unexpected(void **arg)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .context = &ctx[9] };
	struct comp comp;

	assert_int_equal(fi_inject(s[0].tx[0], "one", 3, at(1, 1)), 0);
	assert_int_equal(fi_send(s[0].tx[0], out[0], 3000, NULL, at(1, 2), &ctx[8]), 0);
	assert_int_equal(fi_recv(s[1].rx[0], in[0], 100, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	nothing(s[1].rxcq[0]);
	assert_int_equal(fi_trecvmsg(s[1].rx[1], &msg, FI_PEEK), 0);
	next(s[1].rxcq[1], &comp);
	assert_int_equal(comp.err, FI_ENOMSG);
	assert_int_equal(fi_recv(s[1].rx[1], in[1], 100, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	expect(s[1].rxcq[1], &ctx[1], 3);
	assert_int_equal(fi_cancel(&s[1].rx[1]->fid, &ctx[0]), -FI_ENOENT);
	assert_int_equal(fi_cancel(&s[1].rx[0]->fid, &ctx[0]), 0);
	next(s[1].rxcq[0], &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	/* a context that closes and comes back finds what is there for it */
	close_ctx(&s[1].rx[2], &s[1].rxcq[2], &s[1].cntr[2]);
	for (int i = 0; i < 50; i++)
		turn();
	{
		struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };
		struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP };

		assert_int_equal(fi_cq_open(w.domain, &attr, &s[1].rxcq[2], NULL), 0);
		assert_int_equal(fi_cntr_open(w.domain, &cntr_attr, &s[1].cntr[2], NULL), 0);
		assert_int_equal(fi_rx_context(s[1].ep, 2, NULL, &s[1].rx[2], NULL), 0);
		assert_int_equal(fi_ep_bind(s[1].rx[2], &s[1].rxcq[2]->fid, FI_RECV), 0);
		assert_int_equal(fi_enable(s[1].rx[2]), 0);
	}
	assert_int_equal(fi_recv(s[1].rx[2], in[2], 3000, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	expect(s[1].rxcq[2], &ctx[2], 3000);
	expect(s[0].txcq[0], &ctx[8], 0);
}

/* A context that does not exist: the message is refused, the connection stays. */
static void test_no_such_context(void **arg)
{
	static const size_t lens[] = { 3000, 0, 10, 200 };
	struct comp comp;
	int i;

	assert_int_equal(fi_inject(s[0].tx[0], "lost", 4, at(1, 3)), 0);
	next(s[0].txcq[0], &comp);
	assert_int_equal(comp.err, FI_EADDRNOTAVAIL);
	for (i = 0; i < 4; i++) {
		assert_int_equal(fi_tsend(s[0].tx[i % TX], out[0], lens[i], NULL, at(1, 3), 0, &ctx[i]), 0);
		next(s[0].txcq[i % TX], &comp);
		assert_int_equal(comp.err, FI_EADDRNOTAVAIL);
		assert_ptr_equal(comp.e.op_context, &ctx[i]);
	}
	assert_int_equal(fi_recv(s[1].rx[1], in[1], 100, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_inject(s[0].tx[0], "kept", 4, at(1, 1)), 0);
	expect(s[1].rxcq[1], &ctx[1], 4);
}

/* Whether the peer has the context is known before a receive is posted there, and is asked once. */
static void test_first_message(void **arg)
{
	unsigned acks = sim_ops[WIRE_ACK];
	int i;

	for (i = 0; i < 4; i++) {
		assert_int_equal(fi_tsend(s[0].tx[0], out[0], 40, NULL, at(1, 1 + i % 2), 7, &ctx[i]), 0);
		expect(s[0].txcq[0], &ctx[i], 0);
	}
	assert_int_equal(sim_ops[WIRE_ACK] - acks, 2);
	for (i = 0; i < 4; i++) {
		assert_int_equal(fi_trecv(s[1].rx[1 + i % 2], in[0], 40, NULL, FI_ADDR_UNSPEC, 7, 0, &ctx[10 + i]), 0);
		expect(s[1].rxcq[1 + i % 2], &ctx[10 + i], 40);
	}
}

/* What peers do to memory counts, and reports data, at the context they name. */
static void test_remote_memory(void **arg)
{
	uint64_t mem[4] = { 0 }, val = 7, old = 0;
	struct fid_mr *mr;
	struct comp comp;

	assert_int_equal(fi_mr_reg(w.domain, mem, sizeof(mem), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
				   5, 0, &mr, NULL), 0);
	assert_int_equal(fi_mr_bind(mr, &s[1].ep->fid, 0), 0);
	assert_int_equal(fi_mr_enable(mr), 0);
	assert_int_equal(fi_writedata(s[0].tx[0], &val, 8, NULL, 99, at(1, 2), 0, 5, &ctx[0]), 0);
	next(s[1].rxcq[2], &comp);
	assert_int_equal(comp.e.data, 99);
	expect(s[0].txcq[0], &ctx[0], 0);
	assert_int_equal(mem[0], 7);
	assert_int_equal(fi_cntr_read(s[1].cntr[2]), 1);
	assert_int_equal(fi_fetch_atomic(s[0].tx[1], &val, 1, NULL, &old, NULL, at(1, 1), 0, 5,
					 FI_UINT64, FI_SUM, &ctx[1]), 0);
	expect(s[0].txcq[1], &ctx[1], 0);
	assert_int_equal(old, 7);
	assert_int_equal(mem[0], 14);
	assert_int_equal(fi_cntr_read(s[1].cntr[1]), 1);
	assert_int_equal(fi_cntr_read(s[1].cntr[0]), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
}

/* MPICH passes info->caps, with FI_NAMED_RX_CTX, as the capabilities of each context. */
static void test_caps_of_info(void **arg)
{
	struct fi_info *info = sep_info(6);
	struct fi_rx_attr rx = { .caps = info->caps | info->tx_attr->caps | info->rx_attr->caps };
	struct fi_tx_attr tx = { .caps = rx.caps };
	struct fid_ep *sep, *ep;

	assert_true(rx.caps & FI_NAMED_RX_CTX);
	info->caps = rx.caps;
	info->tx_attr->caps &= ~FI_RECV;
	assert_int_equal(fi_scalable_ep(w.domain, info, &sep, NULL), 0);
	assert_int_equal(fi_tx_context(sep, 0, &tx, &ep, NULL), 0);
	assert_true(tx.caps == info->tx_attr->caps);
	assert_int_equal(fi_close(&ep->fid), 0);
	tx.caps = FI_RECV;	/* nothing that a transmit context does */
	assert_int_equal(fi_tx_context(sep, 0, &tx, &ep, NULL), -FI_EINVAL);
	assert_int_equal(fi_rx_context(sep, 0, &rx, &ep, NULL), 0);
	assert_true(rx.caps == info->rx_attr->caps);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&sep->fid), 0);
	fi_freeinfo(info);
}

static void test_refusals(void **arg)
{
	struct fi_info *info = sep_info(5);
	struct fid_ep *ep;
	struct fi_tx_attr tx = { .caps = FI_COLLECTIVE };
	int i;

	assert_int_equal(fi_send(s[0].rx[0], out[0], 1, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_inject(s[0].rx[0], out[0], 1, 0), -FI_ENOSYS);
	assert_int_equal(fi_recv(s[0].tx[0], in[0], 1, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_send(s[0].ep, out[0], 1, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_recv(s[0].ep, out[0], 1, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_tx_context(s[0].ep, 0, NULL, &ep, NULL), -FI_EBUSY);
	assert_int_equal(fi_tx_context(s[0].ep, TX, NULL, &ep, NULL), -FI_EINVAL);
	assert_int_equal(fi_rx_context(s[0].ep, -1, NULL, &ep, NULL), -FI_EINVAL);
	assert_int_equal(fi_close(&s[0].ep->fid), -FI_EBUSY);
	close_ctx(&s[0].tx[1], &s[0].txcq[1], NULL);
	assert_int_equal(fi_tx_context(s[0].ep, 1, &tx, &ep, NULL), -FI_EINVAL);
	assert_int_equal(fi_tx_context(s[0].ep, 1, NULL, &ep, NULL), 0);
	assert_int_equal(fi_send(ep, out[0], 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_enable(ep), -FI_ENOCQ);
	assert_int_equal(fi_close(&ep->fid), 0);
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	assert_int_equal(fi_scalable_ep(w.domain, info, &ep, NULL), -FI_EINVAL);
	info->ep_attr->rx_ctx_cnt = 1;
	info->ep_attr->type = FI_EP_MSG;
	assert_int_equal(fi_scalable_ep(w.domain, info, &ep, NULL), -FI_ENOSYS);
	fi_freeinfo(info);
	/* a context's queue has the size that was asked for, and takes more up to the limit */
	assert_int_equal(((struct eng_ep *) obj_ep_of(s[1].tx[1]))->tx_size, 8);
	((struct eng_ep *) obj_ep_of(s[1].tx[1]))->tx_max = 8;
	for (i = 0; i < 8; i++)
		assert_int_equal(fi_send(s[1].tx[1], out[0], 3000, NULL, at(0, 0), &ctx[i]), 0);
	assert_int_equal(fi_send(s[1].tx[1], out[0], 3000, NULL, at(0, 0), &ctx[i]), -FI_EAGAIN);
	assert_int_equal(fi_send(s[1].tx[0], out[0], 3000, NULL, at(0, 0), &ctx[i]), 0);
}

/* A context closes in the middle; its neighbours go on, and nothing touches its
 * buffers any more.
 */
static void test_close_midway(void **arg)
{
	assert_int_equal(fi_recv(s[1].rx[0], in[0], 20000, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(s[1].rx[1], in[1], 20000, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	pattern_fill(out[1], 20000, 9);
	assert_int_equal(fi_send(s[0].tx[0], out[0], 20000, NULL, at(1, 0), &ctx[2]), 0);
	assert_int_equal(fi_send(s[0].tx[1], out[1], 20000, NULL, at(1, 1), &ctx[3]), 0);
	turn();
	close_ctx(&s[0].tx[0], &s[0].txcq[0], NULL);
	close_ctx(&s[1].rx[0], &s[1].rxcq[0], &s[1].cntr[0]);
	expect(s[0].txcq[1], &ctx[3], 0);
	expect(s[1].rxcq[1], &ctx[1], 20000);
	assert_true(pattern_ok(in[1], 20000, 9));
}

/* The peer does not take the message: the context closes the connection, not its memory. */
static void test_close_stuck(void **arg)
{
	struct comp comp;

	assert_int_equal(fi_send(s[0].tx[0], out[0], 20000, NULL, at(1, 0), &ctx[2]), 0);
	assert_int_equal(fi_send(s[0].tx[1], out[1], 20000, NULL, at(1, 1), &ctx[3]), 0);
	turn();
	close_ctx(&s[0].tx[0], &s[0].txcq[0], NULL);
	next(s[0].txcq[1], &comp);
	assert_int_equal(comp.err, FI_ECONNABORTED);
	assert_ptr_equal(comp.e.op_context, &ctx[3]);
	nothing(s[1].rxcq[1]);
	assert_int_equal(fi_recv(s[1].rx[1], in[1], 20000, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_send(s[0].tx[1], out[1], 500, NULL, at(1, 1), &ctx[4]), 0);
	expect(s[0].txcq[1], &ctx[4], 0);
	expect(s[1].rxcq[1], &ctx[1], 500);
}

/* An answer that no completion waits for is not waited for, and no other transfer ends for it. */
static void test_close_unanswered(void **arg)
{
	struct eng_ep *sep = eng_ep_of(s[0].ep);
	struct pool *outs = &sep->grp->outs;
	struct pool_item *spare = outs->free;
	struct comp comp;
	uint64_t then;

	assert_int_equal(fi_recv(s[1].rx[1], in[0], 20000, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_send(s[0].tx[1], out[0], 100, NULL, at(1, 0), &ctx[1]), 0);
	expect(s[0].txcq[1], &ctx[1], 0);
	assert_int_equal(fi_send(s[0].tx[1], out[0], 20000, NULL, at(1, 0), &ctx[1]), 0);
	outs->free = NULL;		/* the receiver has no memory for its answer */
	sim_fail_after = 1;
	assert_int_equal(fi_inject(s[0].tx[0], "kept", 4, at(1, 1)), 0);
	for (int i = 0; i < 20; i++)
		turn();
	assert_int_equal(eng_ep_of(s[0].tx[0])->tx_out, 1);
	then = clock_ns();
	close_ctx(&s[0].tx[0], &s[0].txcq[0], NULL);
	assert_true(clock_ns() - then < UINT64_C(1000000000));
	assert_int_equal(sep->tx_out, 1);
	assert_int_equal(fi_cq_read(s[0].txcq[1], &comp.e, 1), -FI_EAGAIN);
	outs->free = spare;
	sim_fail_after = 0;
	expect(s[1].rxcq[1], &ctx[0], 4);
	for (int i = 0; i < 100 && sep->tx_out; i++)
		turn();
	assert_int_equal(sep->tx_out, 0);
	assert_int_equal(fi_recv(s[1].rx[0], in[0], 20000, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(s[1].rx[0], in[1], 20000, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	expect(s[0].txcq[1], &ctx[1], 0);
}

static void test_peer_dies(void **arg)
{
	struct comp comp;
	int i;

	assert_int_equal(fi_recv(s[0].rx[1], in[1], 100, NULL, 2, &ctx[1]), 0);
	assert_int_equal(fi_recv(s[0].rx[2], in[2], 100, NULL, 2, &ctx[2]), 0);
	assert_int_equal(fi_send(s[0].tx[0], out[0], 3000, NULL, at(1, 0), &ctx[3]), 0);
	for (i = 0; i < 20; i++)
		turn();
	sim_crash(PORT(2));
	sep_close(&s[1]);
	next(s[0].rxcq[1], &comp);
	assert_int_equal(comp.err, FI_ECONNRESET);
	next(s[0].rxcq[2], &comp);
	assert_int_equal(comp.err, FI_ECONNRESET);
	next(s[0].txcq[0], &comp);
	assert_int_equal(comp.err, FI_ECONNRESET);
}

static void test_rough(void **arg)
{
	enum { CNT = 90 };
	int i, sent, got, order[TX][RX];
	struct comp comp;
	ssize_t ret;

	tear_down(NULL);
	open_all(5, &sim_rough);
	memset(order, 0, sizeof(order));
	for (i = 0; i < RX; i++)
		assert_int_equal(fi_recv(s[1].rx[i], in[i], 3000, NULL, FI_ADDR_UNSPEC, NULL), 0);
	for (sent = got = 0; got < CNT; turn()) {
		if (sent < CNT) {
			ret = fi_senddata(s[0].tx[sent % TX], out[0], (size_t) (sent * 97 % 3000),
					  NULL, (uint64_t) sent, at(1, sent % RX), NULL);
			sent += !ret;
		}
		for (i = 0; i < TX; i++)
			while (node_read(&(struct node) { .cq = s[0].txcq[i] }, &comp))
				assert_int_equal(comp.err, 0);
		for (i = 0; i < RX; i++) {
			if (!node_read(&(struct node) { .cq = s[1].rxcq[i] }, &comp))
				continue;
			assert_int_equal(comp.err, 0);
			assert_int_equal(comp.e.data % RX, i);
			assert_int_equal(comp.e.len, comp.e.data * 97 % 3000);
			/* those of one pair of contexts come in order */
			assert_true((int) comp.e.data >= order[comp.e.data % TX][i]);
			order[comp.e.data % TX][i] = (int) comp.e.data + 1;
			got++;
			assert_int_equal(fi_recv(s[1].rx[i], in[i], 3000, NULL, FI_ADDR_UNSPEC,
						 NULL), 0);
		}
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_named),
		CASE(test_standard_endpoint),
		CASE(test_unexpected),
		CASE(test_no_such_context),
		CASE(test_first_message),
		CASE(test_remote_memory),
		CASE(test_caps_of_info),
		CASE(test_refusals),
		CASE(test_close_midway),
		CASE(test_close_stuck),
		CASE(test_close_unanswered),
		CASE(test_peer_dies),
		CASE(test_rough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
