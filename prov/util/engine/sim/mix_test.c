/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Everything at once over the simulated network: tagged messages, peek, claim and discard,
 * cancel, writes with and without completion data, reads, atomics and fences, nothing of
 * which waits for anything else; with failing allocations, breaking connections and
 * endpoints that die.
 *
 * The model: each operation completes once.  A message is received, or discarded, once.
 * What an endpoint writes to its own slice of another's memory is there in the order of
 * its calls; a read sees what was written before it was called (a write may overtake a
 * read, so it is fenced then).  A word that all add 1 to is the sum of those additions
 * that succeeded, and of some of those that did not.
 *
 *	mix_test [first seed [how many]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "engine/sim/world.h"

#define NODES 3
#define OPS_MAX 600
#define SLICE 3000
#define WORDS 8
#define KEY(i) (100u + (uint64_t) (i))
#define LEN_MAX 1500

enum kind { SEND, RECV, PEEK, WRITE, READ, ADD, FETCH };

struct op {
	enum kind kind;
	int from, to;		/* RECV, PEEK: at @from */
	uint64_t peek;		/* PEEK: its flags */
	size_t off, len;
	unsigned char *buf;
	unsigned char *want;	/* READ: what it has to see */
	bool sure;		/* completes when it is done at the target */
	bool told;		/* WRITE: has completion data */
	bool silent;		/* injected: no completion unless it fails */
	bool exact;		/* READ: no doubt about @want */
	bool done, err, cancelled;
	int got;		/* SEND: times received; WRITE: times announced */
};

static struct world w;
static struct op op[OPS_MAX];
static int ops;
static bool deaths, whole;
static unsigned char mem[NODES][NODES * SLICE];
static uint64_t words[NODES][WORDS];
static struct fid_mr *mr[NODES], *mr_words[NODES];
static unsigned char shadow[NODES][NODES][SLICE];	/* of mem, by target and writer */
static int last[NODES][NODES][SLICE];			/* op that wrote it last */
static bool doubt[NODES][NODES];			/* a channel of the two was lost */
static int reads_out[NODES][NODES];
static uint64_t added[NODES][WORDS], maybe[NODES][WORDS];
static struct fid_cntr *rma_cntr[NODES];
static uint64_t rma_issued[NODES];

static struct op *new_op(enum kind kind)
{
	struct op *o = &op[ops];

	*o = (struct op) { .kind = kind, .from = (int) sim_rnd(NODES) };
	o->to = (o->from + 1 + (int) sim_rnd(NODES - 1)) % NODES;
	return o;
}

/* The call was made: does @o count? */
static bool counts(struct op *o, ssize_t ret)
{
	if (ret) {
		assert_int_equal(ret, -FI_EAGAIN);
		free(o->buf);
		free(o->want);
		return false;
	}
	ops++;
	return true;
}

static size_t some_len(void)
{
	return sim_rnd(3) ? 1 + sim_rnd(60) : 1 + sim_rnd(LEN_MAX);
}

static uint64_t some_level(struct op *o)
{
	o->sure = sim_rnd(3) == 0;
	return (o->sure ? FI_DELIVERY_COMPLETE : 0) | (sim_rnd(6) ? 0 : FI_FENCE) |
	       (sim_rnd(6) ? 0 : FI_MORE);
}

static void do_send(void)
{
	struct op *o = new_op(SEND);
	struct fi_msg_tagged msg = { .iov_count = 1, .context = o, .data = (uint64_t) ops,
				     .tag = sim_rnd(3), .addr = (fi_addr_t) o->to };
	struct iovec iov;
	uint64_t flags = some_level(o);

	o->len = some_len();
	o->off = msg.tag;
	o->buf = malloc(o->len);
	pattern_fill(o->buf, o->len, (uint64_t) ops);
	iov = (struct iovec) { o->buf, o->len };
	msg.msg_iov = &iov;
	o->silent = o->len <= 200 && sim_rnd(3) == 0;
	counts(o, o->silent ? fi_tinjectdata(w.node[o->from].ep, o->buf, o->len, msg.data, msg.addr,
					     msg.tag) :
	       fi_tsendmsg(w.node[o->from].ep, &msg, flags | FI_REMOTE_CQ_DATA));
}

static bool post_recv(int at, uint64_t tag, uint64_t ignore)
{
	struct op *o = new_op(RECV);

	o->from = at;
	o->len = LEN_MAX;
	o->buf = malloc(o->len);
	return counts(o, fi_trecv(w.node[at].ep, o->buf, o->len, NULL, sim_rnd(3) || ignore ?
				  FI_ADDR_UNSPEC : (fi_addr_t) o->to, tag, ignore, o));
}

static void do_recv(void)
{
	post_recv((int) sim_rnd(NODES), sim_rnd(3), 0);
}

static void do_peek(void)
{
	static const uint64_t also[] = { 0, FI_CLAIM, FI_DISCARD };
	struct op *o = new_op(PEEK);
	struct fi_msg_tagged msg = { .context = o, .tag = sim_rnd(3), .addr = FI_ADDR_UNSPEC };

	o->peek = also[sim_rnd(3)];
	counts(o, fi_trecvmsg(w.node[o->from].ep, &msg, FI_PEEK | o->peek));
}

static void do_cancel(void)
{
	struct op *o = ops ? &op[sim_rnd((uint64_t) ops)] : NULL;

	if (o && o->kind == RECV && !o->done)
		fi_cancel(&w.node[o->from].ep->fid, o);
}

static void do_write(void)
{
	struct op *o = new_op(WRITE);
	struct iovec iov;
	struct fi_rma_iov remote;
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &remote,
				  .rma_iov_count = 1, .context = o, .addr = (fi_addr_t) o->to,
				  .data = (uint64_t) ops };
	uint64_t flags = some_level(o) | (reads_out[o->to][o->from] ? FI_FENCE : 0);
	size_t i;

	o->len = some_len();
	o->off = sim_rnd(SLICE - o->len);
	o->told = sim_rnd(3) == 0;
	o->buf = malloc(o->len);
	for (i = 0; i < o->len; i++)
		o->buf[i] = (unsigned char) sim_rnd(256);
	iov = (struct iovec) { o->buf, o->len };
	remote = (struct fi_rma_iov) { (uint64_t) o->from * SLICE + o->off, o->len, KEY(o->to) };
	if (!counts(o, fi_writemsg(w.node[o->from].ep, &msg,
				   flags | (o->told ? FI_REMOTE_CQ_DATA : 0))))
		return;
	rma_issued[o->from]++;
	memcpy(shadow[o->to][o->from] + o->off, o->buf, o->len);
	for (i = 0; i < o->len; i++)
		last[o->to][o->from][o->off + i] = ops - 1;
}

static void do_read(void)
{
	struct op *o = new_op(READ);

	o->len = some_len();
	o->off = sim_rnd(SLICE - o->len);
	o->buf = calloc(1, o->len);
	o->want = malloc(o->len);
	memcpy(o->want, shadow[o->to][o->from] + o->off, o->len);
	o->exact = !doubt[o->to][o->from];
	if (!counts(o, fi_read(w.node[o->from].ep, o->buf, o->len, NULL, (fi_addr_t) o->to,
			       (uint64_t) o->from * SLICE + o->off, KEY(o->to), o)))
		return;
	reads_out[o->to][o->from]++;
	rma_issued[o->from]++;
}

static void do_add(bool fetch)
{
	struct op *o = new_op(fetch ? FETCH : ADD);
	uint64_t *v = calloc(2, sizeof(*v));
	struct fi_ioc ioc = { v, 1 };
	struct fi_rma_ioc remote;
	struct fi_msg_atomic msg = { .msg_iov = &ioc, .iov_count = 1, .rma_iov = &remote,
				     .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM,
				     .addr = (fi_addr_t) o->to, .context = o };
	struct fid_ep *ep = w.node[o->from].ep;

	v[0] = 1;
	o->buf = (unsigned char *) v;
	o->off = sim_rnd(WORDS);
	remote = (struct fi_rma_ioc) { o->off * 8, 1, KEY(o->to + NODES) };
	if (counts(o, fetch ? fi_fetch_atomic(ep, v, 1, NULL, v + 1, NULL, msg.addr, remote.addr,
					      remote.key, FI_UINT64, FI_SUM, o) :
		   fi_atomicmsg(ep, &msg, some_level(o))))
		rma_issued[o->from]++;
}

/* ---- completions ------------------------------------------------------------------- */

static void receive(const struct comp *c, const unsigned char *buf)
{
	struct op *s = &op[c->e.data];

	assert_true(c->e.data < (uint64_t) ops && s->kind == SEND);
	assert_true(c->e.flags & FI_REMOTE_CQ_DATA);
	assert_int_equal(c->e.len, s->len);
	assert_int_equal(c->e.tag, s->off);
	assert_int_equal(c->src, s->from);
	assert_int_equal(s->got++, 0);
	assert_true(!buf || pattern_ok(buf, s->len, c->e.data));
}

/* A claimed message is received at once; memory may be short for a while. */
static void claim(struct op *o)
{
	struct iovec iov;
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .context = o,
				     .addr = FI_ADDR_UNSPEC };
	long fail = sim_fail_after;
	ssize_t ret;

	o->kind = RECV;
	o->len = LEN_MAX;
	o->buf = malloc(LEN_MAX);
	iov = (struct iovec) { o->buf, LEN_MAX };
	ret = fi_trecvmsg(w.node[o->from].ep, &msg, FI_CLAIM);
	if (ret == -FI_EAGAIN) {
		sim_fail_after = 0;
		ret = fi_trecvmsg(w.node[o->from].ep, &msg, FI_CLAIM);
		sim_fail_after = fail;
	}
	assert_int_equal(ret, 0);
}

static void announced(int at, const struct comp *c)
{
	struct op *o = &op[c->e.data];
	size_t i;

	assert_true(c->e.data < (uint64_t) ops && o->kind == WRITE && o->told && o->to == at);
	assert_int_equal(c->e.len, o->len);
	assert_int_equal(o->got++, 0);
	for (i = 0; i < o->len; i++)
		if (last[at][o->from][o->off + i] == o - op)
			assert_int_equal(mem[at][o->from * SLICE + (int) (o->off + i)], o->buf[i]);
}

static void finished(struct op *o, const struct comp *c)
{
	switch (o->kind) {
	case RECV:
		if (!c->err)
			receive(c, o->buf);
		o->cancelled = c->err == FI_ECANCELED;
		assert_true(!c->err || o->cancelled || deaths || c->err == FI_ENOMEM);
		return;
	case READ:
		reads_out[o->to][o->from]--;
		if (!c->err && o->exact && !doubt[o->to][o->from])
			assert_memory_equal(o->buf, o->want, o->len);
		break;
	case ADD:
	case FETCH:
		if (c->err || (o->kind == ADD && !o->sure && deaths))
			maybe[o->to][o->off]++;
		else
			added[o->to][o->off]++;
		break;
	default:
		break;
	}
	assert_true(!c->err || deaths);
}

static void take(int at, const struct comp *c)
{
	struct op *o = c->e.op_context;

	if (!c->err && c->e.flags & FI_REMOTE_WRITE) {
		announced(at, c);
		return;
	}
	if (!o) {			/* an injected message that failed */
		assert_true(c->err && deaths);
		return;
	}
	assert_true(o >= op && o < op + ops && o->from == at && !o->done && !o->silent);
	if (o->kind == PEEK && !c->err && o->peek == FI_CLAIM) {
		claim(o);
		return;
	}
	o->done = true;
	o->err = c->err != 0;
	if (o->kind != PEEK)
		finished(o, c);
	else if (c->err)
		assert_int_equal(c->err, FI_ENOMSG);
	else if (o->peek == FI_DISCARD)
		receive(c, NULL);
}

static void reap(int i)
{
	struct comp c;

	while (node_read(&w.node[i], &c))
		take(i, &c);
}

static void reap_all(void)
{
	int i;

	for (i = 0; i < NODES; i++)
		reap(i);
}

/* ---- faults --------------------------------------------------------------------------- */

static void lose(int i, int j)
{
	doubt[i][j] = doubt[j][i] = true;
}

static void kill_node(int i)
{
	int k;

	reap(i);
	if (sim_rnd(2))
		sim_crash(PORT(i));
	node_close(&w, i);
	for (k = 0; k < ops; k++) {
		struct op *o = &op[k];

		if (o->from != i || o->done)
			continue;
		o->done = o->err = true;	/* it is gone without a completion */
		if (o->kind == READ)
			reads_out[o->to][i]--;
		if (o->kind == ADD || o->kind == FETCH)
			maybe[o->to][o->off]++;
	}
	for (k = 0; k < NODES; k++)
		lose(i, k);
	node_open(&w, i);
}

static void mishap(void)
{
	int i = (int) sim_rnd(NODES), j = (int) sim_rnd(NODES);

	if (sim_rnd(3) == 0)
		kill_node(i);
	else if (sim_break(PORT(i), PORT(j)))
		lose(i, j);
}

/* ---- runs ------------------------------------------------------------------------------- */

static void bind_cntr(struct world *world, int i)
{
	assert_int_equal(fi_ep_bind(world->node[i].ep, &rma_cntr[i]->fid, FI_READ | FI_WRITE), 0);
}

static void start(uint64_t seed)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
	uint64_t all = FI_REMOTE_READ | FI_REMOTE_WRITE;
	int i;

	memset(&w, 0, sizeof(w));
	memset(mem, 0, sizeof(mem));
	memset(words, 0, sizeof(words));
	memset(shadow, 0, sizeof(shadow));
	memset(last, 0xff, sizeof(last));
	memset(doubt, 0, sizeof(doubt));
	memset(reads_out, 0, sizeof(reads_out));
	memset(added, 0, sizeof(added));
	memset(maybe, 0, sizeof(maybe));
	memset(rma_issued, 0, sizeof(rma_issued));
	ops = 0;
	w.before_enable = bind_cntr;
	world_open_domain(&w, seed, whole ? &sim_whole : seed % 2 ? &sim_rough : &sim_ideal);
	for (i = 0; i < NODES; i++) {
		assert_int_equal(fi_cntr_open(w.domain, &attr, &rma_cntr[i], NULL), 0);
		assert_int_equal(fi_mr_reg(w.domain, mem[i], sizeof(mem[i]), all, 0, KEY(i), 0,
					   &mr[i], NULL), 0);
		assert_int_equal(fi_mr_reg(w.domain, words[i], sizeof(words[i]), all, 0,
					   KEY(i + NODES), 0, &mr_words[i], NULL), 0);
		w.node[i].tx_size = seed % 3 ? 64 : 4;
		w.node[i].rx_size = seed % 5 ? 256 : 8;
	}
	world_open_nodes(&w, NODES);
	for (i = 0; i < NODES && seed % 4 == 0; i++)
		eng_of(&w.node[i])->unexp_budget = 2000;
}

static void step(void)
{
	static void (*const calls[])(void) = {
		do_send, do_send, do_recv, do_recv, do_peek, do_cancel, do_write, do_write, do_read,
	};
	uint64_t dice = sim_rnd(16);

	if (dice < sizeof(calls) / sizeof(calls[0]))
		calls[dice]();
	else if (dice < 11)
		do_add(dice == 9);
	else
		world_poll(&w);
	reap_all();
}

static bool unmatched_left(int i)
{
	return eng_of(&w.node[i])->rxc->tagged.msg_cnt && ops < OPS_MAX;
}

static bool all_done(void)
{
	int i;

	for (i = 0; i < NODES; i++)
		if (unmatched_left(i))
			return false;
	for (i = 0; i < ops; i++)
		if (!op[i].done && !op[i].silent)
			return false;
	return true;
}

/* What is left is received or cancelled. */
static void drain(void)
{
	int i, turn;

	for (turn = 0; turn < 20000; turn++) {
		world_poll(&w);
		reap_all();
		if (!sim_idle())
			continue;
		for (i = 0; i < ops; i++)
			if (op[i].kind == RECV && !op[i].done)
				fi_cancel(&w.node[op[i].from].ep->fid, &op[i]);
		for (i = 0; i < NODES; i++)
			if (unmatched_left(i))
				post_recv(i, 0, UINT64_MAX);
		reap_all();
		if (all_done() && turn > 200)
			return;
	}
	fail_msg("operations are left over");
}

static void check_all(void)
{
	int i, j;

	for (i = 0; i < ops; i++)
		if (!deaths && (op[i].kind == SEND || (op[i].kind == WRITE && op[i].told)))
			assert_int_equal(op[i].got, 1);
	for (i = 0; i < NODES; i++) {
		for (j = 0; j < NODES; j++)
			if (!doubt[i][j])
				assert_memory_equal(mem[i] + j * SLICE, shadow[i][j], SLICE);
		for (j = 0; j < WORDS; j++)
			assert_true(words[i][j] >= added[i][j] &&
				    words[i][j] <= added[i][j] + maybe[i][j]);
		if (!deaths) {
			assert_int_equal(fi_cntr_read(rma_cntr[i]), rma_issued[i]);
			assert_int_equal(fi_cntr_readerr(rma_cntr[i]), 0);
		}
	}
}

static void finish(void)
{
	int i;

	for (i = 0; i < NODES; i++)
		node_close(&w, i);
	for (i = 0; i < NODES; i++) {
		assert_int_equal(fi_close(&mr[i]->fid), 0);
		assert_int_equal(fi_close(&mr_words[i]->fid), 0);
		assert_int_equal(fi_close(&rma_cntr[i]->fid), 0);
	}
	world_close(&w);
	for (i = 0; i < ops; i++) {
		free(op[i].buf);
		free(op[i].want);
	}
}

static uint64_t seeds_from = 1, seeds_cnt = 60;

static void run(uint64_t seed, bool starve)
{
	int i;

	start(seed);
	for (i = 0; i < 500 && ops < OPS_MAX - 60; i++) {
		if (starve && i % 10 == 0)
			sim_fail_after = (long) sim_rnd(3);
		if (deaths && sim_rnd(40) == 0) {
			sim_fail_after = 0;
			mishap();
		}
		step();
	}
	sim_fail_after = 0;
	drain();
	check_all();
	finish();
}

static void run_all(bool starve)
{
	uint64_t seed;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++) {
		if (seeds_cnt == 1)
			print_message("seed %llu\n", (unsigned long long) seed);
		run(seed, starve);
	}
}

static void test_mix(void **arg)
{
	deaths = false;
	run_all(false);
}

static void test_mix_without_memory(void **arg)
{
	deaths = false;
	run_all(true);
}

static void test_mix_with_deaths(void **arg)
{
	deaths = true;
	run_all(false);
}

static void test_mix_in_whole_packets(void **arg)
{
	whole = true;
	deaths = false;
	run_all(false);
	run_all(true);
	deaths = true;
	run_all(false);
	whole = false;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_mix_without_memory),
		cmocka_unit_test(test_mix_with_deaths),
		cmocka_unit_test(test_mix_in_whole_packets),
	};

	world_seeds(argc, argv, &seeds_from, &seeds_cnt);
	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
