/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * op_test - concurrent operations, and failures of members, messages and memory
 */
#include "coll/test/world.h"

#include "engine/wire.h"

static void test_unseen(void **state)
{
	char in[2][100], out[100];
	struct fid_mc *mc[4];
	struct cworld cw;
	struct comp c;
	int i, round;

	cworld_open(&cw, 4, 77, &sim_rough);
	join_all(&cw, NULL, 4, NULL, mc);
	for (i = 0; i < 4; i++) {
		assert_int_equal(fi_recv(ep_of(&cw, i), in[0], 100, NULL, FI_ADDR_UNSPEC, in[0]), 0);
		assert_int_equal(fi_trecv(ep_of(&cw, i), in[1], 100, NULL, FI_ADDR_UNSPEC, 0,
					  ~UINT64_C(0), in[1]), 0);
	}
	for (round = 0; round < 20; round++) {
		uint64_t v[4], sum[4];

		for (i = 0; i < 4; i++) {
			v[i] = (uint64_t) (i + round);
			assert_int_equal(fi_allreduce(ep_of(&cw, i), &v[i], 1, NULL, &sum[i], NULL,
						      fi_mc_addr(mc[i]), FI_UINT64, FI_SUM, 0,
						      &context[i]), 0);
		}
		expect_all(&cw, 4);
		for (i = 0; i < 4; i++)
			assert_int_equal(sum[i], 6 + 4 * round);
	}
	/* The receives are still posted, and the program's message is there. */
	pattern_fill(out, 100, 3);
	assert_int_equal(fi_tinject(ep_of(&cw, 0), out, 100, 3, 99), 0);
	node_wait(&cw.w, &cw.w.node[3], &c);
	assert_ptr_equal(c.e.op_context, in[1]);
	assert_int_equal(c.e.flags, FI_RECV | FI_TAGGED);
	assert_int_equal(c.e.tag, 99);
	for (i = 0; i < 4; i++)
		node_none(&cw.w, &cw.w.node[i]);
	leave_all(mc, 4);
	cworld_close(&cw);
}

/* Many concurrent operations of several groups. */
static void test_concurrent(void **state)
{
	enum { N = 7, EVENS = 4, OPS = 30 };
	static uint64_t in[N][OPS], all[N][OPS], some[N][OPS];
	const int even[EVENS] = { 6, 0, 2, 4 };
	struct fid_mc *mc[N], *sub[EVENS];
	struct cworld cw;
	int i, k;

	cworld_open(&cw, N, 1234, &sim_rough);
	join_all(&cw, NULL, N, NULL, mc);
	join_all(&cw, even, EVENS, NULL, sub);
	for (i = 0; i < N; i++)
		for (k = 0; k < OPS; k++)
			in[i][k] = (uint64_t) (i * 1000 + k);
	for (i = 0; i < N; i++)
		for (k = 0; k < OPS; k++)
			assert_int_equal(fi_allreduce(ep_of(&cw, i), &in[i][k], 1, NULL, &all[i][k],
						      NULL, fi_mc_addr(mc[i]), FI_UINT64, FI_SUM, 0,
						      &context[i]), 0);
	for (i = 0; i < EVENS; i++)
		for (k = 0; k < OPS; k++)
			assert_int_equal(fi_allreduce(ep_of(&cw, even[i]), &in[even[i]][k], 1, NULL,
						      &some[i][k], NULL, fi_mc_addr(sub[i]),
						      FI_UINT64, FI_SUM, 0, &context[even[i]]), 0);
	for (k = 0; k < OPS; k++)
		expect_all(&cw, N);
	for (k = 0; k < OPS; k++)
		for (i = 0; i < EVENS; i++)
			expect(&cw, even[i], &context[even[i]]);
	for (k = 0; k < OPS; k++) {
		for (i = 0; i < N; i++)
			assert_int_equal(all[i][k], 21000 + N * k);
		for (i = 0; i < EVENS; i++)
			assert_int_equal(some[i][k], 12000 + EVENS * k);
	}
	leave_all(sub, EVENS);
	leave_all(mc, N);
	cworld_close(&cw);
}

/* FI_SELECTIVE_COMPLETION, and the counter of writes and atomics. */
static void test_completions(void **state)
{
	struct fid_mc *mc[2];
	struct cworld cw;
	struct comp c;
	int i;

	memset(&cw, 0, sizeof(cw));
	cw.w.node[0].bind_flags = cw.w.node[1].bind_flags = FI_SELECTIVE_COMPLETION;
	cw.w.node[0].caps = cw.w.node[1].caps = COLL_CAPS;
	cw.w.before_enable = bind_eq;
	world_open_domain(&cw.w, 4, &sim_ideal);
	for (i = 0; i < 2; i++) {
		struct fi_eq_attr attr = { .wait_obj = FI_WAIT_NONE };

		assert_int_equal(fi_eq_open(cw.w.fabric, &attr, &cw.eq[i], NULL), 0);
	}
	world_open_nodes(&cw.w, 2);
	join_all(&cw, NULL, 2, NULL, mc);
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]), &context[i]), 0);
	world_settle(&cw.w);
	for (i = 0; i < 2; i++)
		assert_false(node_read(&cw.w.node[i], &c));
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_barrier2(ep_of(&cw, i), fi_mc_addr(mc[i]), FI_COMPLETION,
					     &context[i]), 0);
	expect_all(&cw, 2);
	leave_all(mc, 2);
	cworld_close(&cw);
}

/* The next completion of node @i is this error, caused by member @culprit. */
static void expect_error(struct cworld *cw, int i, int err, fi_addr_t culprit)
{
	struct comp c;

	node_wait(&cw->w, &cw->w.node[i], &c);
	assert_ptr_equal(c.e.op_context, &context[i]);
	assert_int_equal(c.e.flags, FI_COLLECTIVE);
	if (err)
		assert_int_equal(c.err, err);
	else
		assert_int_not_equal(c.err, 0);
	assert_int_equal(c.src, culprit);
}

/* A member dies before it has called; each other member gets one error. */
static void test_dead_member(void **state)
{
	struct fid_mc *mc[7];
	struct cworld cw;
	uint64_t seed;
	int i;

	for (seed = 0; seed < 30; seed++) {
		int dead = (int) (seed % 7);

		cworld_open(&cw, 7, seed, &sim_rough);
		join_all(&cw, NULL, 7, NULL, mc);
		for (i = 0; i < 7; i++)
			if (i != dead)
				assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]),
							    &context[i]), 0);
		for (i = 0; i < (int) (seed * 3 % 40); i++)
			world_poll(&cw.w);
		assert_int_equal(fi_close(&mc[dead]->fid), 0);
		sim_crash(PORT(dead));
		node_close(&cw.w, dead);
		for (i = 0; i < 7; i++)
			if (i != dead)
				expect_error(&cw, i, 0, (fi_addr_t) dead);
		for (i = 0; i < 7; i++)
			if (i != dead) {
				node_none(&cw.w, &cw.w.node[i]);
				assert_int_equal(fi_close(&mc[i]->fid), 0);
			}
		cworld_close(&cw);
	}
}

/* A member is restarted at its address, and does not know the group. */
static void test_restarted_member(void **state)
{
	struct fid_mc *mc[5];
	struct cworld cw;
	int i, dead;

	for (dead = 0; dead < 5; dead++) {
		cworld_open(&cw, 5, (uint64_t) dead, &sim_rough);
		join_all(&cw, NULL, 5, NULL, mc);
		assert_int_equal(fi_close(&mc[dead]->fid), 0);
		sim_crash(PORT(dead));
		node_close(&cw.w, dead);
		world_settle(&cw.w);
		node_open(&cw.w, dead);
		for (i = 0; i < 5; i++)
			if (i != dead)
				assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]),
							    &context[i]), 0);
		for (i = 0; i < 5; i++)
			if (i != dead)
				expect_error(&cw, i, 0, (fi_addr_t) dead);
		for (i = 0; i < 5; i++)
			if (i != dead)
				assert_int_equal(fi_close(&mc[i]->fid), 0);
		/* a new group of the same members */
		join_all(&cw, NULL, 5, NULL, mc);
		for (i = 0; i < 5; i++)
			assert_int_equal(fi_barrier(ep_of(&cw, i), fi_mc_addr(mc[i]), &context[i]),
					 0);
		expect_all(&cw, 5);
		leave_all(mc, 5);
		cworld_close(&cw);
	}
}

/* Leaving with operations in progress: they end, once, here and at the other members. */
static void test_leave(void **state)
{
	struct fid_mc *mc[5];
	static char big[5][40000], sum[5][40000];
	struct cworld cw;
	uint64_t seed;
	int i;

	for (seed = 0; seed < 20; seed++) {
		cworld_open(&cw, 5, seed, &sim_rough);
		join_all(&cw, NULL, 5, NULL, mc);
		for (i = 0; i < 4; i++)
			assert_int_equal(fi_allreduce(ep_of(&cw, i), big[i], 40000, NULL, sum[i],
						      NULL, fi_mc_addr(mc[i]), FI_UINT8, FI_MAX, 0,
						      &context[i]), 0);
		for (i = 0; i < (int) (seed * 5); i++)
			world_poll(&cw.w);
		assert_int_equal(fi_close(&mc[1]->fid), 0);
		expect_error(&cw, 1, FI_ECANCELED, 1);
		/* Those notified by member 1, directly or indirectly, and member 4. */
		assert_int_equal(fi_allreduce(ep_of(&cw, 4), big[4], 40000, NULL, sum[4], NULL,
					      fi_mc_addr(mc[4]), FI_UINT8, FI_MAX, 0, &context[4]),
				 0);
		for (i = 0; i < 5; i++)
			if (i != 1)
				expect_error(&cw, i, 0, 1);
		for (i = 0; i < 5; i++) {
			node_none(&cw.w, &cw.w.node[i]);
			if (i != 1)
				assert_int_equal(fi_close(&mc[i]->fid), 0);
		}
		cworld_close(&cw);
	}
}

/* Members that pass different lengths get an error. */
static void test_disagree(void **state)
{
	static uint32_t in[3][3000], out[3][3000];
	struct fid_mc *mc[3];
	struct cworld cw;
	struct comp c;
	int i, k, errors;

	cworld_open(&cw, 3, 8, &sim_rough);
	join_all(&cw, NULL, 3, NULL, mc);
	for (k = 0; k < 4; k++) {
		static const size_t odd[4] = { 9, 11, 1000, 3000 };

		for (i = 0; i < 3; i++)
			assert_int_equal(fi_allreduce(ep_of(&cw, i), in[i], i == 1 ? odd[k] : 10,
						      NULL, out[i], NULL, fi_mc_addr(mc[i]),
						      FI_UINT32, FI_SUM, 0, &context[i]), 0);
		for (errors = i = 0; i < 3; i++) {
			node_wait(&cw.w, &cw.w.node[i], &c);
			errors += c.err != 0;
		}
		assert_true(errors > 0);
	}
	leave_all(mc, 3);
	cworld_close(&cw);
}

/* Messages with names of collectives from an endpoint that is not a member. */
static void test_strangers(void **state)
{
	static const uint64_t keys[] = { 0, ~UINT64_C(0), 1u << 28, 2u << 28, 3u << 28, 4u << 28,
					 9u << 28, 10u << 28, UINT64_C(5) << 32 | 1u << 28 };
	uint8_t hdr[ENG_HDR_MAX];
	struct fid_mc *mc[2];
	struct cworld cw;
	size_t i, len;

	cworld_open(&cw, 3, 8, &sim_ideal);
	join_all(&cw, NULL, 2, NULL, mc);
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char data[20] = "stranger";
		uint64_t space = i & 1 ? 42 :
			container_of(mc[0], struct coll_group, mc)->id;

		/* opens a channel */
		assert_int_equal(fi_inject(ep_of(&cw, 2), "x", 1, 0), 0);
		world_settle(&cw.w);
		for (int rts = 0; rts < 2; rts++) {
			len = wire_put_base(hdr, rts ? WIRE_RTS : WIRE_EAGER,
					    WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB, 0, 20);
			len = wire_put_word(hdr, len, space);
			len = wire_put_word(hdr, len, keys[i]);
			sim_inject_packet(PORT(2), PORT(0), hdr, len, data, rts ? 0 : 20);
		}
		world_settle(&cw.w);
	}
	assert_int_equal(fi_barrier(ep_of(&cw, 0), fi_mc_addr(mc[0]), &context[0]), 0);
	assert_int_equal(fi_barrier(ep_of(&cw, 1), fi_mc_addr(mc[1]), &context[1]), 0);
	expect_all(&cw, 2);
	leave_all(mc, 2);
	cworld_close(&cw);
}

/* Memory is short for a while. */
static void test_no_memory(void **state)
{
	enum { N = 6 };
	static uint32_t in[N][3000], out[N][3000];
	struct fid_mc *mc[N];
	struct cworld cw;
	int i, k, left, called[N];

	for (k = 1; k < 25; k++) {
		memset(called, 0, sizeof(called));
		cworld_open(&cw, N, (uint64_t) k, &sim_rough);
		join_all(&cw, NULL, N, NULL, mc);
		sim_fail_after = k;
		for (left = N; left;) {
			for (i = 0; i < N; i++) {
				ssize_t ret;

				if (called[i])
					continue;
				ret = fi_allreduce(ep_of(&cw, i), in[i], 3000, NULL, out[i], NULL,
						   fi_mc_addr(mc[i]), FI_UINT32, FI_SUM, 0,
						   &context[i]);
				if (ret)
					assert_int_equal(ret, -FI_EAGAIN);
				called[i] = !ret;
				left -= called[i];
			}
			for (i = 0; i < 50; i++)
				world_poll(&cw.w);
		}
		sim_fail_after = 0;
		expect_all(&cw, N);
		leave_all(mc, N);
		cworld_close(&cw);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_concurrent),
		cmocka_unit_test(test_completions),
		cmocka_unit_test(test_dead_member),
		cmocka_unit_test(test_restarted_member),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_disagree),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
