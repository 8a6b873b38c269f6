/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include "engine/match.h"

/* ---- the model: two arrays in order, searched from the front -------------- */

#define MODEL_MAX 4096

struct item {
	struct match_recv recv;
	struct match_msg msg;
	int serial;
};

struct model {
	struct item *recvs[MODEL_MAX];
	struct item *msgs[MODEL_MAX];
	size_t recv_cnt, msg_cnt;
};

static int accepts(const struct match_recv *r, uint64_t tag, uint64_t src)
{
	return !((r->tag ^ tag) & ~r->ignore) && (!r->src || r->src == src);
}

static struct item *model_recv(struct model *mo, uint64_t tag, uint64_t src)
{
	size_t i;

	for (i = 0; i < mo->recv_cnt; i++)
		if (accepts(&mo->recvs[i]->recv, tag, src))
			return mo->recvs[i];
	return NULL;
}

static struct item *model_msg(struct model *mo, const struct match_recv *r)
{
	size_t i;

	for (i = 0; i < mo->msg_cnt; i++)
		if (accepts(r, mo->msgs[i]->msg.tag, mo->msgs[i]->msg.src))
			return mo->msgs[i];
	return NULL;
}

static void model_del(struct item **list, size_t *cnt, struct item *it)
{
	size_t i;

	for (i = 0; list[i] != it; i++)
		assert_true(i < *cnt);
	memmove(&list[i], &list[i + 1], (*cnt - i - 1) * sizeof(*list));
	(*cnt)--;
}

/* ---- random operations ---------------------------------------------------- */

static uint64_t state;

static uint64_t rnd(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % n;
}

struct shape {
	unsigned tags, srcs;		/* how many different ones */
	unsigned wild_pct, directed_pct;
	unsigned post_pct;		/* of operations */
	uint64_t mask;			/* of all receives with one; 0: different ones */
};

static void post(struct match *m, struct model *mo, const struct shape *sh)
{
	struct item *it = calloc(1, sizeof(*it)), *want;
	struct match_msg *got;

	it->recv.tag = rnd(sh->tags);
	it->recv.src = rnd(100) < sh->directed_pct ? 1 + rnd(sh->srcs) : MATCH_ANY;
	if (rnd(100) < sh->wild_pct)
		it->recv.ignore = sh->mask ? sh->mask : rnd(4) ? 1u << rnd(4) : UINT64_MAX;
	want = model_msg(mo, &it->recv);
	got = match_find_msg(m, it->recv.tag, it->recv.ignore, it->recv.src);
	assert_ptr_equal(got, want ? &want->msg : NULL);
	if (!want) {
		match_post(m, &it->recv);
		mo->recvs[mo->recv_cnt++] = it;
		return;
	}
	match_take(m, got);
	model_del(mo->msgs, &mo->msg_cnt, want);
	free(want);
	free(it);
}

static void arrive(struct match *m, struct model *mo, const struct shape *sh)
{
	uint64_t tag = rnd(sh->tags), src = 1 + rnd(sh->srcs);
	struct item *want = model_recv(mo, tag, src), *it;
	struct match_recv *got = match_find_recv(m, tag, src);

	assert_ptr_equal(got, want ? &want->recv : NULL);
	if (want) {
		match_unpost(m, got);
		model_del(mo->recvs, &mo->recv_cnt, want);
		free(want);
		return;
	}
	it = calloc(1, sizeof(*it));
	it->msg.tag = tag;
	it->msg.src = src;
	match_keep(m, &it->msg);
	mo->msgs[mo->msg_cnt++] = it;
}

static void withdraw(struct match *m, struct model *mo)
{
	struct item *it;

	if (mo->recv_cnt && rnd(2)) {
		it = mo->recvs[rnd(mo->recv_cnt)];
		match_unpost(m, &it->recv);
		model_del(mo->recvs, &mo->recv_cnt, it);
		free(it);
	} else if (mo->msg_cnt) {
		it = mo->msgs[rnd(mo->msg_cnt)];
		match_take(m, &it->msg);
		model_del(mo->msgs, &mo->msg_cnt, it);
		free(it);
	}
}

static bool count_one(struct match_recv *recv, void *arg)
{
	(void) recv;
	++*(size_t *) arg;
	return false;
}

static bool unpost_one(struct match_recv *recv, void *arg)
{
	match_unpost(arg, recv);
	free(container_of(recv, struct item, recv));
	return false;
}

static void run(const struct shape *sh, uint64_t seed, size_t ops)
{
	static struct model mo;
	struct match m;
	size_t i, cnt = 0;

	memset(&mo, 0, sizeof(mo));
	state = verify_seed = seed;
	assert_int_equal(match_init(&m), 0);
	for (i = 0; i < ops; i++) {
		unsigned dice = (unsigned) rnd(100);

		if (dice < 4)
			withdraw(&m, &mo);
		else if (dice < sh->post_pct)
			post(&m, &mo, sh);
		else
			arrive(&m, &mo, sh);
	}
	match_each_recv(&m, count_one, &cnt);
	assert_int_equal(cnt, mo.recv_cnt);
	assert_int_equal(m.msg_cnt, mo.msg_cnt);
	assert_null(match_each_recv(&m, unpost_one, &m));
	assert_int_equal(m.cnt + m.directed_cnt + m.wild_cnt, 0);
	for (i = 0; i < mo.msg_cnt; i++) {
		match_take(&m, &mo.msgs[i]->msg);
		free(mo.msgs[i]);
	}
	assert_true(list_empty(&m.all));
	match_fini(&m);
}

static void test_against_model(void **arg)
{
	static const struct shape shapes[] = {
		{ 1, 1, 0, 0, 52, 0 },		/* untagged, one peer */
		{ 1, 8, 0, 50, 50, 0 },		/* untagged, directed */
		{ 8, 4, 20, 30, 50, 0 },
		{ 1000, 3, 5, 20, 60, 0 },		/* many posted */
		{ 1000, 3, 5, 20, 40, 0 },		/* many unexpected */
		{ 16, 50, 50, 50, 50, 0 },
		{ 4, 2, 100, 50, 50, 0 },
		{ 64, 5, 100, 70, 50, 5 },	/* one mask, as runtimes use */
		{ 1000, 4, 80, 50, 60, 0x180 },
		{ 1000, 4, 80, 50, 40, 3 },
		{ 64, 5, 60, 50, 50, 0x3ff },	/* too many bits for the tables */
	};
	size_t i, seed;

	(void) arg;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (seed = 1; seed <= 40; seed++)
			run(&shapes[i], seed * 7919 + i, 3000);
}

static void test_order_across_kinds(void **arg)
{
	struct match_recv wild = { .tag = 5, .ignore = 1 };
	struct match_recv exact = { .tag = 5 };
	struct match_recv directed = { .tag = 5, .src = 7 };
	struct match m;

	(void) arg;
	assert_int_equal(match_init(&m), 0);
	match_post(&m, &directed);
	match_post(&m, &wild);
	match_post(&m, &exact);
	assert_ptr_equal(match_find_recv(&m, 5, 7), &directed);
	assert_ptr_equal(match_find_recv(&m, 5, 8), &wild);
	assert_ptr_equal(match_find_recv(&m, 4, 8), &wild);
	match_unpost(&m, &wild);
	assert_ptr_equal(match_find_recv(&m, 5, 8), &exact);
	assert_null(match_find_recv(&m, 4, 8));
	match_unpost(&m, &directed);
	assert_ptr_equal(match_find_recv(&m, 5, 7), &exact);
	match_unpost(&m, &exact);
	match_fini(&m);
}

static void test_messages_of_one_sender_keep_order(void **arg)
{
	struct match_msg a = { .tag = 1, .src = 1 }, b = { .tag = 2, .src = 1 };
	struct match_msg c = { .tag = 1, .src = 2 };
	struct match m;

	(void) arg;
	assert_int_equal(match_init(&m), 0);
	match_keep(&m, &b);
	match_keep(&m, &c);
	match_keep(&m, &a);
	assert_ptr_equal(match_find_msg(&m, 0, UINT64_MAX, 1), &b);
	assert_ptr_equal(match_find_msg(&m, 1, 0, MATCH_ANY), &c);
	assert_ptr_equal(match_find_msg(&m, 1, 0, 1), &a);
	assert_ptr_equal(match_find_msg(&m, 1, UINT64_MAX, 2), &c);
	assert_null(match_find_msg(&m, 2, 0, 2));
	match_take(&m, &b);
	assert_ptr_equal(match_find_msg(&m, 0, UINT64_MAX, 1), &a);
	match_take(&m, &a);
	match_take(&m, &c);
	match_fini(&m);
}

/* The first mask of few bits is left out of the tables, whatever has come before. */
static void test_one_mask_for_all(void **arg)
{
	struct match_msg early = { .tag = 0x105, .src = 3 }, other = { .tag = 0x106, .src = 3 };
	struct match_recv first = { .tag = 9, .ignore = 0xf00, .src = 3 };
	struct match_recv same = { .tag = 9, .ignore = 0xf00 }, exact = { .tag = 0x209 };
	struct match_recv many = { .tag = 0, .ignore = UINT64_MAX };
	struct match m;

	(void) arg;
	assert_int_equal(match_init(&m), 0);
	match_keep(&m, &early);
	match_keep(&m, &other);
	match_post(&m, &first);
	assert_int_equal(m.wild_cnt, 0);
	assert_ptr_equal(match_find_msg(&m, 5, 0xf00, 3), &early);
	assert_ptr_equal(match_find_msg(&m, 0x206, 0xf00, MATCH_ANY), &other);
	assert_null(match_find_msg(&m, 5, 0, 3));
	assert_ptr_equal(match_find_msg(&m, 0x105, 0, 3), &early);
	match_post(&m, &exact);
	match_post(&m, &same);
	match_post(&m, &many);
	assert_int_equal(m.wild_cnt, 1);
	assert_ptr_equal(match_find_recv(&m, 0x209, 3), &first);
	assert_ptr_equal(match_find_recv(&m, 0x209, 4), &exact);
	assert_ptr_equal(match_find_recv(&m, 0x309, 4), &same);
	assert_ptr_equal(match_find_recv(&m, 0x30a, 4), &many);
	match_unpost(&m, &many);
	assert_null(match_find_recv(&m, 0x30a, 4));
	match_unpost(&m, &same);
	match_unpost(&m, &exact);
	match_unpost(&m, &first);
	match_take(&m, &early);
	match_take(&m, &other);
	assert_int_equal(m.cnt + m.directed_cnt + m.wild_cnt, 0);
	match_fini(&m);
}

/* The only receive is in no table, whatever it accepts; what is posted behind it comes second. */
static void test_the_only_receive(void **arg)
{
	struct match_recv only = { .tag = 5, .src = 7 }, next = { .tag = 5 }, wild = { .tag = 4, .ignore = 3 };
	struct match m;

	(void) arg;
	assert_int_equal(match_init(&m), 0);
	assert_false(match_may_direct(&m));
	match_post(&m, &only);
	assert_ptr_equal(m.only, &only);
	assert_true(match_may_direct(&m));
	assert_ptr_equal(match_find_recv(&m, 5, 7), &only);
	assert_null(match_find_recv(&m, 5, 8));
	assert_null(match_find_recv(&m, 6, 7));
	match_post(&m, &next);
	assert_null(m.only);
	assert_ptr_equal(match_find_recv(&m, 5, 7), &only);
	assert_ptr_equal(match_find_recv(&m, 5, 8), &next);
	match_unpost(&m, &only);
	assert_false(match_may_direct(&m));
	assert_ptr_equal(match_find_recv(&m, 5, 7), &next);
	match_unpost(&m, &next);
	/* the first mask is learnt before its receive is the only one */
	match_post(&m, &wild);
	assert_ptr_equal(m.only, NULL);
	assert_ptr_equal(match_find_recv(&m, 7, 1), &wild);
	match_unpost(&m, &wild);
	match_post(&m, &wild);
	assert_ptr_equal(m.only, &wild);
	assert_ptr_equal(match_find_recv(&m, 7, 1), &wild);
	assert_null(match_find_recv(&m, 8, 1));
	match_post(&m, &next);
	assert_ptr_equal(match_find_recv(&m, 5, 1), &wild);
	match_unpost(&m, &wild);
	assert_ptr_equal(match_find_recv(&m, 5, 1), &next);
	match_unpost(&m, &next);
	assert_int_equal(m.cnt + m.directed_cnt + m.wild_cnt, 0);
	match_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_only_receive),
		cmocka_unit_test(test_order_across_kinds),
		cmocka_unit_test(test_messages_of_one_sender_keep_order),
		cmocka_unit_test(test_one_mask_for_all),
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
