/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Mixed traffic over the simulated network, many seeds, against a model.
 *
 * The model is a table of every send and every receive.  When all is over:
 * each operation has completed once; each receive got one message, unchanged,
 * from whom it says, with tag and data as sent; no message came twice; and
 * messages of one sender were received in order: had an earlier one been
 * acceptable to a receive that got a later one, it must have gone to a receive
 * that was posted before that.
 *
 *	model_test [first seed [how many]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include "engine/sim/world.h"

#define OPS_MAX 400
#define LEN_MAX 4000
#define POST_PCT 45

struct send_op {
	int from, to;
	uint64_t tag, data;
	bool tagged, has_data;
	bool want_comp, done, failed;
	bool maybe;		/* may have been lost with a connection */
	size_t len;
	int epoch;		/* incarnation of both ends, see traffic.epoch */
	struct recv_op *got_by;
	char *buf;
};

struct recv_op {
	int at;			/* which node */
	int src;		/* -1: any */
	uint64_t tag, ignore;
	bool tagged, multi, done, failed, cancelled;
	int seq;
	size_t len;
	size_t used;		/* multi */
	struct send_op *got;
	char *buf;
	char *mark;		/* multi: bytes that a message lies in */
};

struct traffic {
	struct world w;
	struct send_op send[OPS_MAX];
	struct recv_op recv[OPS_MAX];
	int sends, recvs, seq;
	int epoch[NODES_MAX];
	bool deaths;
	long fails;		/* pool growths that failed */
};

static struct traffic t;

static size_t random_len(void)
{
	switch (sim_rnd(6)) {
	case 0:
		return 0;
	case 1:
		return 1 + sim_rnd(20);
	case 2:
		return 100 + sim_rnd(120);
	case 3:
		return 480 + sim_rnd(50);
	default:
		return sim_rnd(LEN_MAX);
	}
}

/* The first bytes of a message say which one it is, as far as they fit. */
static void write_message(struct send_op *s)
{
	pattern_fill(s->buf, s->len, (uint64_t) (s - t.send));
}

static void begin_send(void)
{
	struct send_op *s = &t.send[t.sends];
	struct iovec iov[4];
	struct fi_msg msg = { .msg_iov = iov, .context = s };
	struct fi_msg_tagged tmsg = { .msg_iov = iov, .context = s };
	struct node *n;
	uint64_t flags = 0;
	size_t i, cnt, at = 0;
	ssize_t ret;

	if (t.sends == OPS_MAX)
		return;
	memset(s, 0, sizeof(*s));
	s->from = (int) sim_rnd((uint64_t) t.w.cnt);
	s->to = (int) sim_rnd((uint64_t) t.w.cnt);
	n = &t.w.node[s->from];
	if (s->from == s->to || !n->ep)
		return;
	s->len = random_len();
	s->tagged = sim_rnd(3) > 0;
	s->tag = s->tagged ? sim_rnd(4) : 0;
	s->has_data = t.deaths || sim_rnd(2);	/* messages may be alike; lost ones may not */
	s->data = (uint64_t) t.sends + 1000;
	s->want_comp = true;
	s->buf = malloc(s->len + 1);
	write_message(s);
	switch (sim_rnd(8)) {
	case 0:
		flags = FI_DELIVERY_COMPLETE;
		break;
	case 1:
		flags = FI_MATCH_COMPLETE;
		break;
	case 2:
		flags = FI_FENCE;
		break;
	case 3:
		flags = FI_MORE;
		break;
	}
	if (s->len <= 200 && sim_rnd(2)) {
		s->want_comp = false;
		if (s->tagged)
			ret = s->has_data ?
			      fi_tinjectdata(n->ep, s->buf, s->len, s->data, (fi_addr_t) s->to, s->tag) :
			      fi_tinject(n->ep, s->buf, s->len, (fi_addr_t) s->to, s->tag);
		else
			ret = s->has_data ?
			      fi_injectdata(n->ep, s->buf, s->len, s->data, (fi_addr_t) s->to) :
			      fi_inject(n->ep, s->buf, s->len, (fi_addr_t) s->to);
		memset(s->buf, 0x5a, s->len);
	} else {
		cnt = 1 + sim_rnd(4);
		for (i = 0; i < cnt; i++) {
			iov[i].iov_base = s->buf + at;
			iov[i].iov_len = i + 1 == cnt ? s->len - at : sim_rnd(s->len - at + 1);
			at += iov[i].iov_len;
		}
		if (s->has_data)
			flags |= FI_REMOTE_CQ_DATA;
		msg.iov_count = tmsg.iov_count = cnt;
		msg.addr = tmsg.addr = (fi_addr_t) s->to;
		msg.data = tmsg.data = s->data;
		tmsg.tag = s->tag;
		ret = s->tagged ? fi_tsendmsg(n->ep, &tmsg, flags) : fi_sendmsg(n->ep, &msg, flags);
	}
	if (ret) {
		assert_int_equal(ret, -FI_EAGAIN);
		free(s->buf);
		return;
	}
	s->epoch = t.epoch[s->from] * 1000 + t.epoch[s->to];
	t.sends++;
}

static void post(int at, int src, bool tagged, uint64_t tag, uint64_t ignore, size_t len,
		 bool multi)
{
	struct recv_op *r = &t.recv[t.recvs];
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = r };
	struct node *n = &t.w.node[at];
	ssize_t ret;

	if (t.recvs == OPS_MAX || !n->ep)
		return;
	memset(r, 0, sizeof(*r));
	r->at = at;
	r->src = src;
	r->tagged = tagged;
	r->tag = tag;
	r->ignore = ignore;
	r->multi = multi;
	r->len = len;
	r->buf = malloc(len + 1);
	r->mark = multi ? calloc(1, len) : NULL;
	r->seq = t.seq++;
	t.recvs++;		/* it may complete at once */
	iov = (struct iovec) { r->buf, len };
	msg.addr = src < 0 ? FI_ADDR_UNSPEC : (fi_addr_t) src;
	if (tagged)
		ret = fi_trecv(n->ep, r->buf, len, NULL, msg.addr, tag, ignore, r);
	else
		ret = fi_recvmsg(n->ep, &msg, multi ? FI_MULTI_RECV : 0);
	if (ret) {
		assert_int_equal(ret, -FI_EAGAIN);
		free(r->buf);
		free(r->mark);
		t.recvs--;
	}
}

static void begin_recv(void)
{
	bool tagged = sim_rnd(3) > 0, multi = !tagged && sim_rnd(4) == 0;
	int src = sim_rnd(2) ? -1 : (int) sim_rnd((uint64_t) t.w.cnt);

	post((int) sim_rnd((uint64_t) t.w.cnt), src, tagged, tagged ? sim_rnd(4) : 0,
	     tagged && sim_rnd(3) == 0 ? 1 + sim_rnd(3) : 0,
	     multi ? 6000 : sim_rnd(6) ? LEN_MAX : sim_rnd(300), multi);
}

static void cancel_one(void)
{
	struct recv_op *r;

	if (!t.recvs)
		return;
	r = &t.recv[sim_rnd((uint64_t) t.recvs)];
	if (r->done || !t.w.node[r->at].ep)
		return;
	fi_cancel(&t.w.node[r->at].ep->fid, r);
}

/* Which message is it?  By data if it has some, else by its bytes. */
static struct send_op *identify(struct recv_op *r, const struct comp *c, const char *buf)
{
	int i;

	for (i = 0; i < t.sends; i++) {
		struct send_op *s = &t.send[i];

		if (s->to != r->at || s->tagged != r->tagged || s->got_by || s->tag != c->e.tag)
			continue;
		if (s->has_data != !!(c->e.flags & FI_REMOTE_CQ_DATA))
			continue;
		if (s->has_data && s->data != c->e.data)
			continue;
		if (c->err != FI_ETRUNC && s->len != c->e.len)
			continue;
		if (c->err == FI_ETRUNC && s->len != c->e.len + c->olen)
			continue;
		if (c->src != (fi_addr_t) s->from)
			continue;
		if (pattern_ok(buf, c->e.len, (uint64_t) i))
			return s;
	}
	return NULL;
}

static void on_recv(struct recv_op *r, const struct comp *c)
{
	bool release = c->e.flags & FI_MULTI_RECV;
	struct send_op *s;

	assert_true(r >= t.recv && r < t.recv + t.recvs);
	assert_false(r->done);
	if (c->err && c->err != FI_ETRUNC) {
		assert_true(c->err == FI_ECANCELED || t.deaths || c->err == FI_ENOMEM);
		r->cancelled = c->err == FI_ECANCELED;
		r->failed = !r->cancelled;
		/* A failed part does not end its buffer. */
		r->done = !r->multi || release;
		return;
	}
	if (r->multi && !c->e.buf && release) {		/* released early for want of memory */
		assert_true(t.fails);
		r->done = true;
		return;
	}
	if (r->multi) {
		size_t at = (size_t) ((char *) c->e.buf - r->buf), i;

		r->used += c->e.len;
		assert_true(at + c->e.len <= r->len && r->used <= r->len);
		for (i = 0; i < c->e.len; i++)
			assert_int_equal(r->mark[at + i]++, 0);
	}
	s = identify(r, c, r->multi ? c->e.buf : r->buf);
	assert_non_null(s);
	s->got_by = r;
	if (!r->multi)
		r->got = s;
	r->done = r->multi ? release : true;
}

static void on_send(struct send_op *s, const struct comp *c)
{
	if (!s) {		/* an inject that failed */
		assert_true(t.deaths && c->err);
		return;
	}
	assert_true(s->want_comp);
	assert_false(s->done);
	s->done = true;
	s->failed = c->err != 0;
	assert_true(!c->err || t.deaths);
}

static void reap(int i)
{
	struct node *n = &t.w.node[i];
	struct comp c;

	if (!n->cq)
		return;
	while (node_read(n, &c)) {
		if (c.e.flags & FI_RECV)
			on_recv(c.e.op_context, &c);
		else
			on_send(c.e.op_context, &c);
	}
}

static void reap_all(void)
{
	int i;

	for (i = 0; i < t.w.cnt; i++)
		reap(i);
}

/* ---- the end: receive what is left, cancel what is too much ----------------- */

static bool unmatched_left(int at, bool tagged)
{
	struct eng_rxc *rxc = eng_of(&t.w.node[at])->rxc;

	return tagged ? rxc->tagged.msg_cnt : rxc->msgs.msg_cnt;
}

static bool all_done(void)
{
	int i;

	for (i = 0; i < t.w.cnt && t.recvs < OPS_MAX; i++)
		if (t.w.node[i].ep && (unmatched_left(i, false) || unmatched_left(i, true)))
			return false;
	for (i = 0; i < t.recvs; i++)
		if (!t.recv[i].done && t.w.node[t.recv[i].at].ep)
			return false;
	for (i = 0; i < t.sends; i++)
		if (t.send[i].want_comp && !t.send[i].done && t.w.node[t.send[i].from].ep)
			return false;
	return true;
}

static void drain(void)
{
	int i, turn;

	for (turn = 0; turn < 20000; turn++) {
		world_poll(&t.w);
		reap_all();
		if (!sim_idle())
			continue;
		for (i = 0; i < t.recvs; i++)
			if (!t.recv[i].done && t.w.node[t.recv[i].at].ep)
				fi_cancel(&t.w.node[t.recv[i].at].ep->fid, &t.recv[i]);
		for (i = 0; i < t.w.cnt; i++) {
			if (!t.w.node[i].ep)
				continue;
			if (t.recvs < OPS_MAX && unmatched_left(i, false))
				post(i, -1, false, 0, 0, LEN_MAX, false);
			if (t.recvs < OPS_MAX && unmatched_left(i, true))
				post(i, -1, true, 0, UINT64_MAX, LEN_MAX, false);
		}
		reap_all();
		if (all_done() && turn > 200)
			return;
	}
	fail_msg("operations are left over");
}

/* ---- what must hold ---------------------------------------------------------- */

static bool accepts(const struct recv_op *r, const struct send_op *s)
{
	return r->at == s->to && r->tagged == s->tagged && (r->src < 0 || r->src == s->from) &&
	       !((r->tag ^ s->tag) & ~r->ignore);
}

static void check_order(void)
{
	int i, j;

	for (j = 0; j < t.sends; j++) {
		struct send_op *later = &t.send[j];

		if (!later->got_by)
			continue;
		for (i = 0; i < j; i++) {
			struct send_op *earlier = &t.send[i];

			if (earlier->from != later->from || earlier->epoch != later->epoch ||
			    !accepts(later->got_by, earlier))
				continue;
			if (!earlier->got_by) {
				assert_true(t.deaths);
				continue;
			}
			if (later->got_by->multi && earlier->got_by == later->got_by)
				continue;
			assert_true(earlier->got_by->seq < later->got_by->seq);
		}
	}
}

static void check_all(void)
{
	int i;

	for (i = 0; i < t.recvs; i++)
		assert_true(t.recv[i].done || t.deaths);
	for (i = 0; i < t.sends; i++) {
		assert_true(!t.send[i].want_comp || t.send[i].done || t.deaths);
		if (!t.deaths)
			assert_non_null(t.send[i].got_by);
	}
	check_order();
}

static void forget_all(void)
{
	int i;

	for (i = 0; i < t.recvs; i++) {
		free(t.recv[i].buf);
		free(t.recv[i].mark);
	}
	for (i = 0; i < t.sends; i++)
		free(t.send[i].buf);
}

static void start(uint64_t seed, const struct sim_conf *conf, int cnt)
{
	int i;

	memset(&t, 0, sizeof(t));
	sim_start(seed, conf);
	for (i = 0; i < cnt; i++) {
		t.w.node[i].tx_size = seed % 3 ? 64 : 4;
		t.w.node[i].rx_size = seed % 5 ? 256 : 8;
	}
	world_open(&t.w, cnt, seed, conf);
	for (i = 0; i < cnt; i++) {
		size_t min = sim_rnd(3) ? sim_rnd(2000) : 0;

		fi_setopt(&t.w.node[i].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
			  sizeof(min));
		if (seed % 4 == 0)
			eng_of(&t.w.node[i])->unexp_budget = 2000;
	}
}

static void step(void)
{
	uint64_t dice = sim_rnd(100);

	if (dice < 3)
		cancel_one();
	else if (dice < POST_PCT)
		begin_recv();
	else if (dice < 85)
		begin_send();
	else
		world_poll(&t.w);
	reap_all();
}

static uint64_t seeds_from = 1, seeds_cnt = 60;

static void run(uint64_t seed, const struct sim_conf *conf, int cnt)
{
	int i;

	start(seed, conf, cnt);
	for (i = 0; i < 350; i++)
		step();
	drain();
	check_all();
	world_close(&t.w);
	forget_all();
}

static void test_traffic(void **arg)
{
	uint64_t seed;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++)
		run(seed, seed % 2 ? &sim_rough : &sim_ideal, 2 + (int) (seed % 3));
}

/* Nothing is announced or cut, and what was before the format was known is made whole. */
static void test_traffic_in_whole_packets(void **arg)
{
	uint64_t seed;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++)
		run(seed * 5, &sim_whole, 3);
}

/* Memory runs out again and again; nothing is lost, it only takes longer. */
static void test_traffic_without_memory(void **arg)
{
	uint64_t seed;
	int i;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++) {
		start(seed * 3, &sim_rough, 3);
		for (i = 0; i < 350; i++) {
			if (i % 10 == 0) {
				sim_fail_after = (long) sim_rnd(3);
				t.fails++;
			}
			step();
		}
		sim_fail_after = 0;
		drain();
		check_all();
		world_close(&t.w);
		forget_all();
	}
	assert_int_equal(sim_fail_after, 0);
}

/* Connections break and endpoints die and come back in the middle of it. */
static void death(void)
{
	int i = (int) sim_rnd((uint64_t) t.w.cnt), j = (int) sim_rnd((uint64_t) t.w.cnt), k;

	if (sim_rnd(3)) {
		if (sim_break(PORT(i), PORT(j))) {
			t.epoch[i]++;
			t.epoch[j]++;
		}
		return;
	}
	reap(i);
	if (sim_rnd(2))
		sim_crash(PORT(i));
	node_close(&t.w, i);
	t.epoch[i]++;
	/* What it had outstanding is gone without a completion. */
	for (k = 0; k < t.sends; k++)
		if (t.send[k].from == i)
			t.send[k].done = true;
	for (k = 0; k < t.recvs; k++)
		if (t.recv[k].at == i)
			t.recv[k].done = true;
	node_open(&t.w, i);
}

static void test_traffic_with_deaths(void **arg)
{
	uint64_t seed;
	int i;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++) {
		start(seed * 7 + 1, seed % 2 ? &sim_rough : &sim_ideal, 3);
		t.deaths = true;
		for (i = 0; i < 350; i++) {
			step();
			if (sim_rnd(40) == 0)
				death();
		}
		drain();
		check_all();
		world_close(&t.w);
		forget_all();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic),
		cmocka_unit_test(test_traffic_in_whole_packets),
		cmocka_unit_test(test_traffic_without_memory),
		cmocka_unit_test(test_traffic_with_deaths),
	};

	world_seeds(argc, argv, &seeds_from, &seeds_cnt);
	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
