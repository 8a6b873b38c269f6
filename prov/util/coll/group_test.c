/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * group_test - joining, barriers and leaving
 */
#include "coll/test/world.h"

static void test_barrier(void **state)
{
	struct cworld cw;
	struct fid_mc *mc[NODES_MAX];
	int n, i, late;

	for (n = 1; n <= 9; n++) {
		cworld_open(&cw, n, (uint64_t) n, &sim_rough);
		join_all(&cw, NULL, n, NULL, mc);
		for (late = 0; late < n; late++) {
			for (i = 0; i < n; i++)
				if (i != late)
					assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]),
								    &context[i]), 0);
			for (i = 0; i < n; i++)
				if (i != late)
					node_none(&cw.w, &cw.w.node[i]);
			assert_int_equal(fi_barrier2(ep_of(&cw, late), fi_mc_addr(mc[late]), 0,
						     &context[late]), 0);
			expect_all(&cw, n);
		}
		leave_all(mc, n);
		cworld_close(&cw);
	}
}

/* A join ends when all members have called it; the set's address is accepted in place of
 * FI_ADDR_NOTAVAIL, and a group can be made from a group.
 */
static void test_join(void **state)
{
	struct fid_mc *mc[6], *sub[3], *again[6];
	const int odd[3] = { 5, 1, 3 };
	struct fid_av_set *set;
	fi_addr_t parents[3], addr;
	struct fi_eq_entry entry;
	struct cworld cw;
	uint32_t event;
	int i;

	cworld_open(&cw, 6, 5, &sim_rough);
	for (i = 0; i < 5; i++)
		mc[i] = start_join(&cw, i, NULL, 6, FI_ADDR_NOTAVAIL);
	for (i = 0; i < 300; i++)
		world_poll(&cw.w);
	for (i = 0; i < 5; i++) {
		assert_int_equal(fi_eq_read(cw.eq[i], &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
		assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]), NULL),
				 -FI_EOPBADSTATE);
	}
	set = make_set(&cw, 5, NULL, 6);
	assert_int_equal(fi_av_set_addr(set, &addr), 0);
	assert_int_equal(fi_join_collective(ep_of(&cw, 5), addr, set, 0, &mc[5], NULL), 0);
	for (i = 0; i < 6; i++)
		assert_int_equal(wait_join(&cw, i, mc[i]), 0);
	assert_int_equal(fi_close(&set->fid), 0);
	for (i = 0; i < 3; i++)
		parents[i] = fi_mc_addr(mc[odd[i]]);
	join_all(&cw, odd, 3, parents, sub);
	join_all(&cw, NULL, 6, NULL, again);
	for (i = 0; i < 3; i++)
		assert_int_equal(fi_barrier(ep_of(&cw, odd[i]), fi_mc_addr(sub[i]),
					    &context[odd[i]]), 0);
	for (i = 0; i < 3; i++)
		expect(&cw, odd[i], &context[odd[i]]);
	leave_all(mc, 6);
	for (i = 0; i < 6; i++)
		assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(again[i]), &context[i]), 0);
	expect_all(&cw, 6);
	leave_all(sub, 3);
	leave_all(again, 6);
	cworld_close(&cw);
}

/* Several concurrent joins of the same members make as many groups. */
static void test_join_same(void **state)
{
	struct fid_mc *mc[4][5];
	struct cworld cw;
	int i, k;

	cworld_open(&cw, 5, 9, &sim_rough);
	for (i = 0; i < 5; i++)
		for (k = 0; k < 4; k++)
			mc[k][i] = start_join(&cw, i, NULL, 5, FI_ADDR_NOTAVAIL);
	for (i = 0; i < 5; i++)
		for (k = 0; k < 4; k++)
			assert_int_equal(wait_join(&cw, i, mc[k][i]), 0);
	/* The groups are independent: operations may be called in different orders. */
	for (i = 0; i < 5; i++)
		for (k = 0; k < 4; k++)
			assert_int_equal(fi_barrier(ep_of(&cw, i),
						    fi_mc_addr(mc[(k + i) % 4][i]), &context[i]), 0);
	for (k = 0; k < 4; k++)
		expect_all(&cw, 5);
	for (k = 0; k < 4; k++)
		leave_all(mc[k], 5);
	cworld_close(&cw);
}

static void test_join_errors(void **state)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_av_set_attr attr = { .start_addr = FI_ADDR_NOTAVAIL,
				       .end_addr = FI_ADDR_NOTAVAIL };
	const int without_us[2] = { 1, 2 }, far[3] = { 0, 1, 2 };
	struct fi_collective_addr none = { NULL, FI_ADDR_NOTAVAIL };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct fid_av_set *set, *other;
	struct fid_mc *mc[2], *bad = NULL;
	struct fid_av *av;
	struct cworld cw;
	fi_addr_t twin;

	cworld_open(&cw, 3, 1, &sim_ideal);
	set = make_set(&cw, 0, without_us, 2);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, set, 0, &bad, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_close(&set->fid), 0);
	set = make_set(&cw, 0, NULL, 0);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, set, 0, &bad, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_close(&set->fid), 0);
	set = make_set(&cw, 0, NULL, 2);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), 12345, set, 0, &bad, NULL), -FI_EINVAL);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, set, FI_RMA, &bad,
					    NULL), -FI_EBADFLAGS);
	assert_int_equal(fi_join(ep_of(&cw, 0), &none, FI_COLLECTIVE, &bad, NULL), -FI_EINVAL);
	assert_int_equal(fi_join(ep_of(&cw, 0), &none, 0, &bad, NULL), -FI_ENOSYS);
	/* a set of another address vector */
	assert_int_equal(fi_av_open(cw.w.domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_av_set(av, &attr, &other, NULL), 0);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, other, 0, &bad, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_close(&other->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	/* the same address twice */
	sin.sin_addr.s_addr = htonl(SIM_HOST);
	sin.sin_port = htons(PORT(1));
	assert_int_equal(fi_av_insert(cw.w.node[0].av, &sin, 1, &twin, 0, NULL), 1);
	assert_int_equal(fi_av_set_insert(set, twin), 0);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, set, 0, &bad, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_close(&set->fid), 0);
	/* a member that is not in the parent group */
	join_all(&cw, NULL, 2, NULL, mc);
	set = make_set(&cw, 0, far, 3);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), fi_mc_addr(mc[0]), set, 0, &bad, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_close(&set->fid), 0);
	assert_null(bad);
	leave_all(mc, 2);
	cworld_close(&cw);
}

/* Endpoints without FI_COLLECTIVE, or without an event queue. */
static void test_not_equipped(void **state)
{
	struct fid_av_set *set;
	struct fid_mc *mc;
	struct cworld cw;

	memset(&cw, 0, sizeof(cw));
	world_open_domain(&cw.w, 1, &sim_ideal);
	cw.w.node[1].caps = COLL_CAPS;
	world_open_nodes(&cw.w, 2);
	set = make_set(&cw, 0, NULL, 2);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
			 -FI_ENOSYS);
	assert_int_equal(fi_barrier(ep_of(&cw, 0), 0, NULL), -FI_ENOSYS);
	assert_null(eng_of(&cw.w.node[0])->oob);
	assert_int_equal(fi_close(&set->fid), 0);
	set = make_set(&cw, 1, NULL, 2);
	assert_int_equal(fi_join_collective(ep_of(&cw, 1), FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
			 -FI_ENOEQ);
	assert_int_equal(fi_barrier(ep_of(&cw, 1), 0, NULL), -FI_EINVAL);
	assert_null(eng_of(&cw.w.node[1])->oob);
	assert_int_equal(fi_close(&set->fid), 0);
	world_close(&cw.w);
}

/* A join that cannot complete, because a member does not exist. */
static void test_join_fails(void **state)
{
	struct fid_mc *mc[4];
	struct cworld cw;
	int i;

	cworld_open(&cw, 4, 8, &sim_rough);
	node_close(&cw.w, 2);
	for (i = 0; i < 4; i++)
		if (i != 2)
			mc[i] = start_join(&cw, i, NULL, 4, FI_ADDR_NOTAVAIL);
	for (i = 0; i < 4; i++)
		if (i != 2) {
			assert_int_not_equal(wait_join(&cw, i, mc[i]), 0);
			assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]), NULL),
					 -FI_EOPBADSTATE);
			assert_int_equal(fi_close(&mc[i]->fid), 0);
		}
	cworld_close(&cw);
}

static void test_close_order(void **state)
{
	struct fid_mc *mc[2];
	struct cworld cw;
	int i;

	cworld_open(&cw, 2, 8, &sim_ideal);
	join_all(&cw, NULL, 2, NULL, mc);
	/* first as a child that has inherited it */
	obj_process++;
	assert_int_equal(fi_close(&mc[0]->fid), 0);
	obj_process--;
	assert_int_equal(fi_close(&ep_of(&cw, 0)->fid), -FI_EBUSY);
	/* Close a group that other members still use, then the endpoint. */
	assert_int_equal(fi_barrier(ep_of(&cw, 1), fi_mc_addr(mc[1]), &context[1]), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_close(&mc[i]->fid), 0);
	cworld_close(&cw);
}

/* ---- a join that has ended at one member alone ------------------------------------------------ */

/* A program that joins, calls a barrier, and begins again when either fails. */
struct again {
	enum { OUT, JOINING, INSIDE, THROUGH } at;
	struct fid_mc *mc;
};

static void begin_again(struct again *a)
{
	assert_int_equal(fi_close(&a->mc->fid), 0);
	a->at = OUT;
}

static void step_again(struct cworld *cw, int i, struct again *a)
{
	struct fi_eq_err_entry bad = { 0 };
	struct fi_eq_entry entry;
	struct comp c;
	uint32_t event;
	ssize_t ret;

	if (a->at == OUT) {
		a->mc = start_join(cw, i, NULL, 2, FI_ADDR_NOTAVAIL);
		a->at = JOINING;
	} else if (a->at == JOINING) {
		ret = fi_eq_read(cw->eq[i], &event, &entry, sizeof(entry), 0);
		if (ret == -FI_EAVAIL) {
			assert_int_equal(fi_eq_readerr(cw->eq[i], &bad, 0), sizeof(bad));
			begin_again(a);
		} else if (ret > 0) {
			assert_int_equal(fi_barrier(ep_of(cw, i), fi_mc_addr(a->mc), NULL), 0);
			a->at = INSIDE;
		}
	} else if (a->at == INSIDE && node_read(&cw->w.node[i], &c)) {
		if (c.err)
			begin_again(a);
		else
			a->at = THROUGH;
	}
}

/* Member 1 has given its join up; member 0 takes its report for that of the next join, and is ahead.  They meet
 * again, whenever member 1 joins.
 */
static void test_join_ahead(void **state)
{
	struct again a[2];
	struct cworld cw;
	int late, i, turns;

	for (late = 0; late < 60; late++) {
		memset(a, 0, sizeof(a));
		cworld_open(&cw, 2, (uint64_t) late, late % 2 ? &sim_rough : &sim_ideal);
		a[1].mc = start_join(&cw, 1, NULL, 2, FI_ADDR_NOTAVAIL);
		for (i = 0; i < 50; i++)
			world_poll(&cw.w);
		begin_again(&a[1]);
		for (turns = 0; a[0].at != THROUGH || a[1].at != THROUGH; turns++) {
			assert_true(turns < 20000);
			step_again(&cw, 0, &a[0]);
			if (turns > late)
				step_again(&cw, 1, &a[1]);
			world_poll(&cw.w);
		}
		for (i = 0; i < 2; i++)
			assert_int_equal(fi_close(&a[i].mc->fid), 0);
		cworld_close(&cw);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_same),
		cmocka_unit_test(test_join_errors),
		cmocka_unit_test(test_join_ahead),
		cmocka_unit_test(test_not_equipped),
		cmocka_unit_test(test_join_fails),
		cmocka_unit_test(test_close_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
