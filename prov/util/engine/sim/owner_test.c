/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What fi_peer(3) promises to a provider that owns our queues: a small owner with a
 * queue, a counter, an address vector and a shared receive context of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"
#include <netinet/in.h>
#include <rdma/providers/fi_peer.h>

#include "engine/recv.h"
#include "engine/sim/world.h"

#define ENTRIES 16

/* ---- the owner ------------------------------------------------------------------ */

struct entry {
	struct fi_peer_rx_entry peer;	/* first */
	struct iovec iov;
	bool used, tagged, posted, queued;
	unsigned long seq;
};

static struct {
	struct fid_peer_cq cq;
	struct fid_peer_cntr cntr;
	struct fid_peer_av av;
	struct fid_peer_srx srx;
	struct fi_cq_tagged_entry comp[64];
	fi_addr_t src[64];
	struct fi_cq_err_entry err[64];
	int comps, errs, taken, cntr_ok, cntr_err, freed, fail_queue;
	struct entry entry[ENTRIES];
	unsigned long seq;
	bool locked;			/* as an owner's lock would be held */
} own;

static ssize_t own_write(struct fid_peer_cq *cq, void *context, uint64_t flags, size_t len,
			 void *buf, uint64_t data, uint64_t tag, fi_addr_t src)
{
	own.comp[own.comps] = (struct fi_cq_tagged_entry) { context, flags, len, buf, data, tag };
	own.src[own.comps++] = src;
	return 0;
}

static ssize_t own_writeerr(struct fid_peer_cq *cq, const struct fi_cq_err_entry *err)
{
	own.err[own.errs++] = *err;
	return 0;
}

static void own_inc(struct fid_peer_cntr *cntr)
{
	own.cntr_ok++;
}

static void own_incerr(struct fid_peer_cntr *cntr)
{
	own.cntr_err++;
}

static int own_query(struct fid_peer_av *av, struct fi_av_attr *attr)
{
	attr->type = FI_AV_TABLE;
	attr->rx_ctx_bits = 0;
	attr->count = 10;
	return 0;
}

static fi_addr_t own_ep_addr(struct fid_peer_av *av, struct fid_ep *ep)
{
	return FI_ADDR_NOTAVAIL;
}

static struct entry *new_entry(bool tagged)
{
	int i;

	for (i = 0; i < ENTRIES; i++) {
		if (own.entry[i].used)
			continue;
		memset(&own.entry[i], 0, sizeof(own.entry[i]));
		own.entry[i].used = true;
		own.entry[i].tagged = tagged;
		own.entry[i].seq = own.seq++;
		own.entry[i].peer.srx = &own.srx;
		own.entry[i].peer.iov = &own.entry[i].iov;
		own.entry[i].peer.count = 1;
		return &own.entry[i];
	}
	return NULL;
}

/* The oldest that waits and fits. */
static struct entry *find(bool posted, bool tagged, fi_addr_t addr, uint64_t tag)
{
	struct entry *best = NULL, *e;

	for (e = own.entry; e < own.entry + ENTRIES; e++) {
		if (!e->used || e->tagged != tagged || e->peer.tag != tag ||
		    !(posted ? e->posted : e->queued))
			continue;
		if (addr != FI_ADDR_UNSPEC && e->peer.addr != FI_ADDR_UNSPEC &&
		    e->peer.addr != addr)
			continue;
		if (!best || e->seq < best->seq)
			best = e;
	}
	return best;
}

static int own_get(bool tagged, struct fi_peer_match_attr *attr, struct fi_peer_rx_entry **entry_p)
{
	struct entry *e;

	assert_false(own.locked);	/* the peer never calls from within a call of ours */
	e = find(true, tagged, attr->addr, tagged ? attr->tag : 0);
	if (e) {
		e->posted = false;
		e->peer.msg_size = attr->msg_size;
		*entry_p = &e->peer;
		return 0;
	}
	e = new_entry(tagged);
	if (!e)
		return -FI_ENOMEM;
	e->peer.addr = attr->addr;
	e->peer.tag = tagged ? attr->tag : 0;
	e->peer.msg_size = attr->msg_size;
	*entry_p = &e->peer;
	return -FI_ENOENT;
}

static int own_get_msg(struct fid_peer_srx *srx, struct fi_peer_match_attr *attr,
		       struct fi_peer_rx_entry **entry_p)
{
	return own_get(false, attr, entry_p);
}

static int own_get_tag(struct fid_peer_srx *srx, struct fi_peer_match_attr *attr,
		       struct fi_peer_rx_entry **entry_p)
{
	return own_get(true, attr, entry_p);
}

static int own_queue(struct fi_peer_rx_entry *entry)
{
	if (own.fail_queue)
		return -FI_ENOMEM;
	container_of(entry, struct entry, peer)->queued = true;
	return 0;
}

static void own_unspec(struct fid_peer_srx *srx, fi_addr_t (*get)(struct fi_peer_rx_entry *))
{
	struct entry *e;

	for (e = own.entry; e < own.entry + ENTRIES; e++)
		if (e->used && e->queued && e->peer.addr == FI_ADDR_UNSPEC)
			e->peer.addr = get(&e->peer);
}

static void own_free(struct fi_peer_rx_entry *entry)
{
	struct entry *e = container_of(entry, struct entry, peer);

	assert_true(e->used);
	assert_false(e->posted || e->queued);
	e->used = false;
	own.freed++;
}

static struct fi_ops_cq_owner cq_ops = { sizeof(cq_ops), own_write, own_writeerr };
static struct fi_ops_cntr_owner cntr_ops = { sizeof(cntr_ops), own_inc, own_incerr };
static struct fi_ops_av_owner av_ops = { sizeof(av_ops), own_query, own_ep_addr };
static struct fi_ops_srx_owner srx_ops = {
	sizeof(srx_ops), own_get_msg, own_get_tag, own_queue, own_queue, own_unspec, own_free,
};

/* fi_recv() and fi_trecv() of the owner. */
static void own_recv(bool tagged, void *buf, size_t len, fi_addr_t addr, uint64_t tag, void *context)
{
	struct entry *e = find(false, tagged, addr, tag);
	bool queued = e != NULL;

	if (!e)
		e = new_entry(tagged);
	assert_non_null(e);
	e->iov = (struct iovec) { buf, len };
	e->peer.context = context;
	e->peer.tag = tag;
	if (!queued) {
		e->peer.addr = addr;
		e->posted = true;
		return;
	}
	e->queued = false;
	own.locked = true;
	assert_int_equal(tagged ? own.srx.peer_ops->start_tag(&e->peer) :
			 own.srx.peer_ops->start_msg(&e->peer), 0);
	own.locked = false;
}

/* ---- the world: node 0 sends, node 1 has everything of the owner's ---------------- */

static struct world w;
static struct fid_ep *srx;
static struct fid_cq *cq;
static struct fid_cntr *cntr;
static struct fid_av *av;
static struct fid_ep *ep;
static char out[4][20000], in[4][20000];
static int ctx[16];

static struct node *const a = &w.node[0];

static void open_imports(void)
{
	struct fi_peer_cq_context cq_ctx = { sizeof(cq_ctx), &own.cq };
	struct fi_peer_cntr_context cntr_ctx = { sizeof(cntr_ctx), &own.cntr };
	struct fi_peer_av_context av_ctx = { sizeof(av_ctx), &own.av };
	struct fi_peer_srx_context srx_ctx = { sizeof(srx_ctx), &own.srx };
	struct fi_cq_attr cq_attr = { .flags = FI_PEER, .format = FI_CQ_FORMAT_TAGGED };
	struct fi_cntr_attr cntr_attr = { .flags = FI_PEER };
	struct fi_av_attr av_attr = { .flags = FI_PEER, .type = FI_AV_MAP };
	struct fi_rx_attr rx_attr = { .op_flags = FI_PEER };

	own.cq.owner_ops = &cq_ops;
	own.cntr.owner_ops = &cntr_ops;
	own.av.owner_ops = &av_ops;
	own.srx.owner_ops = &srx_ops;
	assert_int_equal(fi_cq_open(w.domain, &cq_attr, &cq, &cq_ctx), 0);
	assert_int_equal(fi_cntr_open(w.domain, &cntr_attr, &cntr, &cntr_ctx), 0);
	assert_int_equal(fi_av_open(w.domain, &av_attr, &av, &av_ctx), 0);
	assert_int_equal(av_attr.type, FI_AV_TABLE);
	assert_int_equal(fi_srx_context(w.domain, &rx_attr, &srx, &srx_ctx), 0);
	assert_non_null(own.srx.peer_ops);
}

static void open_ep(void)
{
	struct fi_info *info = sim_info(FI_EP_RDM, PORT(1));

	assert_int_equal(fi_endpoint(w.domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_RECV | FI_SEND), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &srx->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	fi_freeinfo(info);
}

static void open_with(uint64_t seed, const struct sim_conf *conf)
{
	memset(&w, 0, sizeof(w));
	memset(&own, 0, sizeof(own));
	memset(in, 0, sizeof(in));
	world_open_domain(&w, seed, conf);
	open_imports();
	open_ep();
	w.cnt = 2;
	node_open(&w, 0);
	w.cnt = 1;
}

static int set_up(void **arg)
{
	open_with(1, &sim_ideal);
	return 0;
}

static int tear_down(void **arg)
{
	if (ep)
		assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&srx->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&cntr->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	world_close(&w);
	return 0;
}

static void turn(int cnt)
{
	while (cnt--) {
		world_poll(&w);
		assert_int_equal(fi_cq_read(cq, NULL, 0), 0);
	}
}

static struct fi_cq_tagged_entry *next(void)
{
	int i;

	for (i = 0; i < 10000 && own.taken == own.comps; i++)
		turn(1);
	assert_true(own.taken < own.comps);
	return &own.comp[own.taken++];
}

static void know_sender(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT(0)),
				   .sin_addr.s_addr = htonl(SIM_HOST) };
	fi_addr_t fi_addr;

	assert_int_equal(fi_av_insert(av, &sin, 1, &fi_addr, 0, NULL), 1);
	assert_int_equal(fi_addr, 0);
}

static void test_posted_first(void **arg)
{
	struct fi_cq_tagged_entry *e;

	know_sender();
	pattern_fill(out[0], 20000, 1);
	own_recv(false, in[0], 100, FI_ADDR_UNSPEC, 0, &ctx[0]);
	own_recv(true, in[1], 20000, 0, 9, &ctx[1]);
	assert_int_equal(fi_inject(a->ep, out[0], 100, 1), 0);
	e = next();
	assert_ptr_equal(e->op_context, &ctx[0]);
	assert_true(e->flags == (FI_RECV | FI_MSG));
	assert_int_equal(e->len, 100);
	assert_int_equal(own.src[0], 0);
	assert_true(pattern_ok(in[0], 100, 1));
	assert_int_equal(fi_tsend(a->ep, out[0], 20000, NULL, 1, 9, NULL), 0);
	e = next();
	assert_ptr_equal(e->op_context, &ctx[1]);
	assert_int_equal(e->tag, 9);
	assert_true(pattern_ok(in[1], 20000, 1));
	assert_int_equal(own.freed, 2);
	assert_int_equal(own.cntr_ok, 2);
}

/* The owner starts them in an order of its own; truncation is ours to see. */
static void test_unexpected_first(void **arg)
{
	struct fi_cq_tagged_entry *e;

	know_sender();
	pattern_fill(out[0], 20000, 2);
	assert_int_equal(fi_tinject(a->ep, out[0], 50, 1, 1), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], 20000, NULL, 1, 2, NULL), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 60, 1), 0);
	turn(50);
	own_recv(false, in[2], 100, FI_ADDR_UNSPEC, 0, &ctx[2]);
	own_recv(true, in[1], 20000, FI_ADDR_UNSPEC, 2, &ctx[1]);
	own_recv(true, in[0], 20, FI_ADDR_UNSPEC, 1, &ctx[0]);
	e = next();
	assert_ptr_equal(e->op_context, &ctx[2]);
	assert_int_equal(e->len, 60);
	e = next();
	assert_ptr_equal(e->op_context, &ctx[1]);
	assert_true(pattern_ok(in[1], 20000, 2));
	turn(20);
	assert_int_equal(own.errs, 1);
	assert_int_equal(own.err[0].err, FI_ETRUNC);
	assert_int_equal(own.err[0].olen, 30);
	assert_ptr_equal(own.err[0].op_context, &ctx[0]);
	assert_int_equal(own.freed, 3);
}

static void test_discard(void **arg)
{
	struct entry *e;

	assert_int_equal(fi_inject(a->ep, out[0], 50, 1), 0);
	assert_int_equal(fi_send(a->ep, out[0], 3000, NULL, 1, NULL), 0);
	turn(50);
	while ((e = find(false, false, FI_ADDR_UNSPEC, 0))) {
		e->queued = false;
		assert_int_equal(own.srx.peer_ops->discard_msg(&e->peer), 0);
	}
	turn(50);
	assert_int_equal(own.freed, 2);
	assert_int_equal(own.comps, 0);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 2);	/* as if they were received */
}

/* A sender that is known only later is asked for then. */
static void test_late_source(void **arg)
{
	assert_int_equal(fi_inject(a->ep, out[0], 5, 1), 0);
	turn(50);
	assert_true(find(false, false, FI_ADDR_UNSPEC, 0)->peer.addr == FI_ADDR_UNSPEC);
	know_sender();
	assert_int_equal(find(false, false, FI_ADDR_UNSPEC, 0)->peer.addr, 0);
	own_recv(false, in[0], 5, 0, 0, &ctx[0]);
	assert_ptr_equal(next()->op_context, &ctx[0]);
}

/* The sender dies: what had come in whole is received, what was announced is not. */
static void test_sender_dies(void **arg)
{
	know_sender();
	pattern_fill(out[0], 3000, 3);
	assert_int_equal(fi_inject(a->ep, out[0], 50, 1), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 2, NULL), 0);
	turn(50);
	sim_crash(PORT(0));
	node_close(&w, 0);
	turn(50);
	own_recv(true, in[1], 3000, FI_ADDR_UNSPEC, 2, &ctx[1]);
	own_recv(false, in[0], 50, FI_ADDR_UNSPEC, 0, &ctx[0]);
	assert_ptr_equal(next()->op_context, &ctx[0]);
	assert_true(pattern_ok(in[0], 50, 3));
	assert_int_equal(own.errs, 1);
	assert_ptr_equal(own.err[0].op_context, &ctx[1]);
	assert_int_equal(own.err[0].err, FI_ECONNRESET);
	assert_int_equal(own.freed, 2);
}

/* Our endpoint goes while the owner still keeps what was sent to it. */
static void test_close(void **arg)
{
	struct entry *e;

	assert_int_equal(fi_inject(a->ep, out[0], 50, 1), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 51, 1), 0);
	turn(50);
	own_recv(false, in[0], 60, FI_ADDR_UNSPEC, 0, &ctx[0]);	/* started, not yet done */
	assert_int_equal(fi_close(&ep->fid), 0);
	ep = NULL;
	assert_int_equal(own.comps, 0);
	/* another endpoint can report it */
	open_ep();
	turn(20);
	assert_int_equal(own.errs, 1);
	assert_ptr_equal(own.err[0].op_context, &ctx[0]);
	assert_int_equal(own.freed, 1);
	e = find(false, false, FI_ADDR_UNSPEC, 0);
	assert_int_equal(e->peer.msg_size, 51);
}

/* A message that arrives while our endpoint's link lingers: it has no peer any more that would keep it, and a
 * receive of the owner's stays for other endpoints.
 */
static void close_with_one_in_flight(bool posted)
{
	assert_int_equal(fi_inject(a->ep, out[0], 50, 1), 0);
	turn(50);
	if (posted)
		own_recv(true, in[1], 60, FI_ADDR_UNSPEC, 0, &ctx[1]);
	assert_int_equal(fi_tinject(a->ep, out[0], 52, 1, 0), 0);
	assert_int_equal(fi_close(&ep->fid), 0);
	ep = NULL;
	assert_int_equal(find(false, false, FI_ADDR_UNSPEC, 0)->peer.msg_size, 50);
	find(false, false, FI_ADDR_UNSPEC, 0)->queued = false;
	assert_null(find(false, false, FI_ADDR_UNSPEC, 0));
	assert_null(find(false, true, FI_ADDR_UNSPEC, 0));
	assert_int_equal(find(true, true, FI_ADDR_UNSPEC, 0) != NULL, posted);
	assert_int_equal(own.comps + own.errs + own.freed, 0);
}

static void test_close_lingers(void **arg)
{
	close_with_one_in_flight(false);
}

static void test_close_lingers_posted(void **arg)
{
	close_with_one_in_flight(true);
}

static void test_refusals(void **arg)
{
	struct fi_peer_srx_context srx_ctx = { sizeof(srx_ctx), NULL };
	struct fi_rx_attr rx_attr = { .op_flags = FI_PEER };
	struct fi_av_attr av_attr = { .flags = FI_PEER };
	struct fid_ep *other;
	struct fid_av *other_av;

	assert_int_equal(fi_srx_context(w.domain, &rx_attr, &other, NULL), -FI_EINVAL);
	assert_int_equal(fi_srx_context(w.domain, &rx_attr, &other, &srx_ctx), -FI_EINVAL);
	assert_int_equal(fi_av_open(w.domain, &av_attr, &other_av, NULL), -FI_EINVAL);
	assert_int_equal(fi_recv(srx, in[0], 1, NULL, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cq_readerr(cq, NULL, 0), -FI_ENOSYS);
	/* an owner that has no room: the message is lost, and the log says so */
	own.fail_queue = 1;
	assert_int_equal(fi_inject(a->ep, out[0], 50, 1), 0);
	turn(50);
	assert_int_equal(own.freed, 1);
	own.fail_queue = 0;
	own_recv(false, in[0], 60, FI_ADDR_UNSPEC, 0, &ctx[0]);
	assert_int_equal(fi_inject(a->ep, out[0], 10, 1), 0);
	assert_int_equal(next()->len, 10);
}

/* Beyond the limit for headers the connection ends; the owner is given nothing to keep. */
static void test_too_many(void **arg)
{
	eng_ep_of(ep)->heads_max = ENG_HEAD_COST;
	assert_int_equal(fi_inject(a->ep, out[0], 50, 1), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 51, 1), 0);
	turn(50);
	assert_int_equal(own.freed, 1);
	own_recv(false, in[0], 60, FI_ADDR_UNSPEC, 0, &ctx[0]);
	assert_int_equal(next()->len, 50);
	assert_null(find(false, false, FI_ADDR_UNSPEC, 0));
}

static void test_rough(void **arg)
{
	enum { CNT = 120 };
	struct fi_cq_tagged_entry *e;
	int sent = 0, got = 0, posted = 0;
	struct comp comp;
	ssize_t ret;

	tear_down(NULL);
	open_with(3, &sim_rough);
	know_sender();
	while (got < CNT) {
		if (sent < CNT && sent - got < 8) {
			ret = fi_senddata(a->ep, out[0], (size_t) (sent * 173 % 2000), NULL,
					  (uint64_t) sent, 1, NULL);
			sent += !ret;
		}
		if (posted < CNT && posted - got < 4 && sim_rnd(2)) {
			own_recv(false, in[0], 2000, FI_ADDR_UNSPEC, 0, NULL);
			posted++;
		}
		turn(1);
		while (node_read(a, &comp))
			assert_int_equal(comp.err, 0);
		while (own.taken < own.comps) {
			e = &own.comp[own.taken++];
			assert_int_equal(e->len, e->data * 173 % 2000);
			got++;
		}
		if (own.comps > 40)
			own.comps = own.taken = 0;
	}
	/* one that the link could not hold just then was given back and asked for again */
	assert_true(own.freed >= CNT);
	for (got = 0; got < ENTRIES; got++)
		assert_false(own.entry[got].used);
	assert_int_equal(own.errs, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_posted_first),
		CASE(test_unexpected_first),
		CASE(test_discard),
		CASE(test_late_source),
		CASE(test_sender_dies),
		CASE(test_close),
		CASE(test_close_lingers),
		CASE(test_close_lingers_posted),
		CASE(test_refusals),
		CASE(test_too_many),
		CASE(test_rough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
