/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * coll_test - collectives as the manual has them, over the simulated network.
 */
#include "coll/coll_world.h"

#include "engine/atomic.h"
#include "engine/wire.h"

static int context[NODES_MAX];

/* A completion of node @i with this context. */
static void expect(struct cworld *cw, int i, void *ctx)
{
	struct comp c;

	node_wait(&cw->w, &cw->w.node[i], &c);
	if (c.err)
		fail_msg("node %d: %s", i, fi_strerror(c.err));
	assert_int_equal(c.e.flags, FI_COLLECTIVE);
	assert_ptr_equal(c.e.op_context, ctx);
}

static void expect_all(struct cworld *cw, int cnt)
{
	int i;

	for (i = 0; i < cnt; i++)
		expect(cw, i, &context[i]);
}

static struct fid_ep *ep_of(struct cworld *cw, int i)
{
	return cw->w.node[i].ep;
}

/* ---- joining and barriers ------------------------------------------------------------ */

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

/* A join ends only when all have called it; a set's own address does as well as none,
 * and a group can be made from a group.
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

/* Several joins of the same members at once become as many groups. */
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
	/* Each is one of its own: the calls may come in another order. */
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

	cworld_open(&cw, 3, 1, &sim_calm);
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
	/* another address vector's */
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
	/* a member that the parent lacks */
	join_all(&cw, NULL, 2, NULL, mc);
	set = make_set(&cw, 0, far, 3);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), fi_mc_addr(mc[0]), set, 0, &bad, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_close(&set->fid), 0);
	assert_null(bad);
	leave_all(mc, 2);
	cworld_close(&cw);
}

/* An endpoint without FI_COLLECTIVE, or without an event queue. */
static void test_not_equipped(void **state)
{
	struct fid_av_set *set;
	struct fid_mc *mc;
	struct cworld cw;

	memset(&cw, 0, sizeof(cw));
	world_open_domain(&cw.w, 1, &sim_calm);
	cw.w.node[1].caps = COLL_CAPS;
	world_open_nodes(&cw.w, 2);
	set = make_set(&cw, 0, NULL, 2);
	assert_int_equal(fi_join_collective(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
			 -FI_ENOSYS);
	assert_int_equal(fi_barrier(ep_of(&cw, 0), 0, NULL), -FI_ENOSYS);
	assert_null(eng_of(&cw.w.node[0])->aside);
	assert_int_equal(fi_close(&set->fid), 0);
	set = make_set(&cw, 1, NULL, 2);
	assert_int_equal(fi_join_collective(ep_of(&cw, 1), FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
			 -FI_ENOEQ);
	assert_int_equal(fi_barrier(ep_of(&cw, 1), 0, NULL), -FI_EINVAL);
	assert_null(eng_of(&cw.w.node[1])->aside);
	assert_int_equal(fi_close(&set->fid), 0);
	world_close(&cw.w);
}

/* ---- results ----------------------------------------------------------------------------- */

/* Value i of what member k brings. */
static uint32_t val(int k, size_t i)
{
	return (uint32_t) ((k + 1) * 1000003u + i * 7919u);
}

struct bufs {
	uint32_t *in[NODES_MAX], *out[NODES_MAX];
};

static void bufs_make(struct bufs *b, int n, size_t in, size_t out)
{
	size_t i;
	int k;

	for (k = 0; k < n; k++) {
		b->in[k] = malloc(in * 4 + 1);
		b->out[k] = calloc(out + 1, 4);
		for (i = 0; i < in; i++)
			b->in[k][i] = val(k, i);
	}
}

static void bufs_free(struct bufs *b, int n)
{
	while (n--) {
		free(b->in[n]);
		free(b->out[n]);
	}
}

static void all_ops(struct cworld *cw, struct fid_mc **mc, int n, size_t c)
{
	fi_addr_t root = (fi_addr_t) (n / 2), g[NODES_MAX];
	struct bufs b;
	uint32_t sum;
	size_t i;
	int k, m;

	for (k = 0; k < n; k++)
		g[k] = fi_mc_addr(mc[k]);

	bufs_make(&b, n, c, 0);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_broadcast(ep_of(cw, k), b.in[k], c, NULL, g[k], root, FI_UINT32,
					      0, &context[k]), 0);
	expect_all(cw, n);
	for (k = 0; k < n; k++)
		for (i = 0; i < c; i++)
			assert_int_equal(b.in[k][i], val((int) root, i));
	bufs_free(&b, n);

	bufs_make(&b, n, c, c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_allreduce(ep_of(cw, k), b.in[k], c, NULL, b.out[k], NULL, g[k],
					      FI_UINT32, FI_SUM, 0, &context[k]), 0);
	expect_all(cw, n);
	for (i = 0; i < c; i++) {
		for (sum = 0, m = 0; m < n; m++)
			sum += val(m, i);
		for (k = 0; k < n; k++)
			assert_int_equal(b.out[k][i], sum);
	}
	bufs_free(&b, n);

	bufs_make(&b, n, c, c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_reduce(ep_of(cw, k), b.in[k], c, NULL,
					   k == (int) root ? b.out[k] : NULL, NULL, g[k], root,
					   FI_UINT32, FI_BXOR, 0, &context[k]), 0);
	expect_all(cw, n);
	for (i = 0; i < c; i++) {
		for (sum = 0, m = 0; m < n; m++)
			sum ^= val(m, i);
		assert_int_equal(b.out[root][i], sum);
	}
	bufs_free(&b, n);

	bufs_make(&b, n, c, (size_t) n * c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_allgather(ep_of(cw, k), b.in[k], c, NULL, b.out[k], NULL, g[k],
					      FI_UINT32, 0, &context[k]), 0);
	expect_all(cw, n);
	for (k = 0; k < n; k++)
		for (i = 0; i < (size_t) n * c; i++)
			assert_int_equal(b.out[k][i], val((int) (i / c), i % c));
	bufs_free(&b, n);

	bufs_make(&b, n, c, (size_t) n * c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_gather(ep_of(cw, k), b.in[k], c, NULL, b.out[k], NULL, g[k],
					   root, FI_UINT32, 0, &context[k]), 0);
	expect_all(cw, n);
	for (i = 0; i < (size_t) n * c; i++)
		assert_int_equal(b.out[root][i], val((int) (i / c), i % c));
	bufs_free(&b, n);

	bufs_make(&b, n, (size_t) n * c, c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_scatter(ep_of(cw, k), k == (int) root ? b.in[k] : NULL, c, NULL,
					    b.out[k], NULL, g[k], root, FI_UINT32, 0, &context[k]),
				 0);
	expect_all(cw, n);
	for (k = 0; k < n; k++)
		for (i = 0; i < c; i++)
			assert_int_equal(b.out[k][i], val((int) root, (size_t) k * c + i));
	bufs_free(&b, n);

	bufs_make(&b, n, (size_t) n * c, c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_reduce_scatter(ep_of(cw, k), b.in[k], c, NULL, b.out[k], NULL,
						   g[k], FI_UINT32, FI_SUM, 0, &context[k]), 0);
	expect_all(cw, n);
	for (k = 0; k < n; k++)
		for (i = 0; i < c; i++) {
			for (sum = 0, m = 0; m < n; m++)
				sum += val(m, (size_t) k * c + i);
			assert_int_equal(b.out[k][i], sum);
		}
	bufs_free(&b, n);

	bufs_make(&b, n, (size_t) n * c, (size_t) n * c);
	for (k = 0; k < n; k++)
		assert_int_equal(fi_alltoall(ep_of(cw, k), b.in[k], c, NULL, b.out[k], NULL, g[k],
					     FI_UINT32, 0, &context[k]), 0);
	expect_all(cw, n);
	for (k = 0; k < n; k++)
		for (i = 0; i < (size_t) n * c; i++)
			assert_int_equal(b.out[k][i], val((int) (i / c), (size_t) k * c + i % c));
	/* in place */
	for (k = 0; k < n; k++)
		assert_int_equal(fi_alltoall(ep_of(cw, k), b.in[k], c, NULL, b.in[k], NULL, g[k],
					     FI_UINT32, 0, &context[k]), 0);
	expect_all(cw, n);
	for (k = 0; k < n; k++)
		assert_memory_equal(b.in[k], b.out[k], (size_t) n * c * 4);
	bufs_free(&b, n);
}

static void test_results(void **state)
{
	static const size_t counts[] = { 1, 3, 200, 12000 };
	struct fid_mc *mc[NODES_MAX];
	struct cworld cw;
	int n;

	for (n = 1; n <= 17; n += n < 9 ? 1 : 4) {
		cworld_open(&cw, n, (uint64_t) n, n & 1 ? &sim_rough : &sim_calm);
		join_all(&cw, NULL, n, NULL, mc);
		for (size_t i = 0; i < (n < 10 ? 4 : 3); i++)
			all_ops(&cw, mc, n, counts[i]);
		leave_all(mc, n);
		cworld_close(&cw);
	}
}

/* Every type and operation that atomics have, against a plain loop over them. */
static void test_types(void **state)
{
	struct fid_mc *mc[3];
	struct fi_collective_attr attr;
	_Alignas(16) char in[3][320], out[3][320], ref[320];
	struct cworld cw;
	int k, tried = 0;

	cworld_open(&cw, 3, 3, &sim_calm);
	join_all(&cw, NULL, 3, NULL, mc);
	for (int type = 0; type < 24; type++)
		for (int op = 0; op <= FI_DIFF; op++) {
			size_t size = eng_atomic_size(type), cnt = size ? 320 / size : 0;
			int ret;

			memset(&attr, 0, sizeof(attr));
			attr.datatype = type;
			attr.op = op;
			ret = fi_query_collective(cw.w.domain, FI_ALLREDUCE, &attr, 0);
			if (ret) {
				assert_int_equal(ret, -FI_EOPNOTSUPP);
				assert_int_equal(fi_allreduce(ep_of(&cw, 0), in[0], cnt, NULL,
							      out[0], NULL, fi_mc_addr(mc[0]), type,
							      op, 0, NULL), -FI_EOPNOTSUPP);
				continue;
			}
			tried++;
			assert_int_equal(attr.datatype_attr.size, size);
			assert_true(attr.datatype_attr.count >= cnt && attr.max_members > 1000);
			/* small numbers, of any type: bytes of 0 and 1 */
			for (k = 0; k < 3; k++)
				for (size_t i = 0; i < 320; i++)
					in[k][i] = (char) ((i * 7 + (size_t) k * 3) % 5 == 1);
			/* members 1 and 2 fold first: 0 + 1, then 2 */
			memcpy(ref, in[0], 320);
			eng_atomic_reduce(type, op, ref, in[1], cnt);
			eng_atomic_reduce(type, op, ref, in[2], cnt);
			for (k = 0; k < 3; k++)
				assert_int_equal(fi_allreduce(ep_of(&cw, k), in[k], cnt, NULL,
							      out[k], NULL, fi_mc_addr(mc[k]), type,
							      op, 0, &context[k]), 0);
			expect_all(&cw, 3);
			/* what long doubles have beside their value is nobody's */
			if (type == FI_LONG_DOUBLE || type == FI_LONG_DOUBLE_COMPLEX)
				continue;
			for (k = 0; k < 3; k++)
				assert_memory_equal(out[k], ref, cnt * size);
		}
	assert_true(tried > 100);
	leave_all(mc, 3);
	cworld_close(&cw);
}

static void test_query(void **state)
{
	struct fi_collective_attr attr = { .op = FI_SUM, .datatype = FI_UINT64 };
	struct cworld cw;

	cworld_open(&cw, 1, 1, &sim_calm);
	for (int c = FI_BARRIER; c <= FI_GATHER; c++) {
		memset(&attr, 0, sizeof(attr));
		attr.op = c == FI_BARRIER ? FI_NOOP : FI_MAX;
		attr.datatype = c == FI_BARRIER ? FI_VOID : FI_DOUBLE;
		assert_int_equal(fi_query_collective(cw.w.domain, c, &attr, 0), 0);
		assert_int_equal(attr.datatype_attr.size, c == FI_BARRIER ? 0 : 8);
		assert_int_equal(attr.mode, 0);
	}
	attr = (struct fi_collective_attr) { .op = FI_SUM, .datatype = FI_UINT64 };
	assert_int_equal(fi_query_collective(cw.w.domain, FI_REDUCE, &attr, FI_SCATTER), 0);
	attr.op = FI_CSWAP;
	assert_int_equal(fi_query_collective(cw.w.domain, FI_REDUCE, &attr, FI_SCATTER),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_query_collective(cw.w.domain, FI_REDUCE, &attr, FI_RMA), -FI_EBADFLAGS);
	assert_int_equal(fi_query_collective(cw.w.domain, 99, &attr, 0), -FI_EOPNOTSUPP);
	assert_int_equal(fi_query_collective(cw.w.domain, FI_BARRIER, NULL, 0), -FI_EINVAL);
	attr.op = FI_NOOP;
	attr.datatype = FI_VOID;
	assert_int_equal(fi_query_collective(cw.w.domain, FI_BROADCAST, &attr, 0), -FI_EOPNOTSUPP);
	cworld_close(&cw);
}

/* fi_ops_collective.msg: buffers in pieces. */
static void test_lists(void **state)
{
	uint32_t in[3][12], out[3][12];
	struct fid_mc *mc[3];
	struct cworld cw;
	int k;

	cworld_open(&cw, 3, 2, &sim_rough);
	join_all(&cw, NULL, 3, NULL, mc);
	for (k = 0; k < 3; k++)
		for (size_t i = 0; i < 12; i++)
			in[k][i] = val(k, i);
	memset(out, 0, sizeof(out));
	for (k = 0; k < 3; k++) {
		struct fi_ioc from[3] = { { &in[k][0], 1 }, { &in[k][1], 4 }, { &in[k][5], 4 } };
		struct fi_ioc to[2] = { { &out[k][6], 3 }, { &out[k][0], 6 } };
		struct fi_msg_collective msg = {
			.msg_iov = from, .iov_count = 3, .coll_addr = fi_mc_addr(mc[k]),
			.coll = FI_ALLTOALL, .datatype = FI_UINT32, .op = FI_NOOP,
			.context = &context[k],
		};

		assert_int_equal(ep_of(&cw, k)->collective->msg(ep_of(&cw, k), &msg, to, NULL, 2, 0),
				 0);
	}
	expect_all(&cw, 3);
	for (k = 0; k < 3; k++)
		for (int i = 0; i < 9; i++)
			assert_int_equal(out[k][(i + 6) % 9],
					 val(i / 3, (size_t) k * 3 + (size_t) i % 3));
	for (k = 0; k < 3; k++) {
		struct fi_ioc both[2] = { { &in[k][3], 9 }, { &in[k][0], 3 } };
		struct fi_msg_collective msg = {
			.msg_iov = both, .iov_count = 2, .coll_addr = fi_mc_addr(mc[k]),
			.root_addr = 1, .coll = FI_BROADCAST, .datatype = FI_UINT32, .op = FI_NOOP,
			.context = &context[k],
		};

		assert_int_equal(ep_of(&cw, k)->collective->msg(ep_of(&cw, k), &msg, NULL, NULL, 0,
								0), 0);
	}
	expect_all(&cw, 3);
	for (k = 0; k < 3; k++)
		for (size_t i = 0; i < 12; i++)
			assert_int_equal(in[k][i], val(1, i));
	leave_all(mc, 3);
	cworld_close(&cw);
}

static void test_call_errors(void **state)
{
	struct fid_mc *mc[2];
	struct cworld cw;
	uint32_t v[4] = { 0 };
	fi_addr_t g;

	cworld_open(&cw, 3, 1, &sim_calm);
	join_all(&cw, NULL, 2, NULL, mc);
	g = fi_mc_addr(mc[0]);
	assert_int_equal(fi_barrier(ep_of(&cw, 0), g + 1, NULL), -FI_EINVAL);
	assert_int_equal(fi_barrier(ep_of(&cw, 0), FI_ADDR_NOTAVAIL, NULL), -FI_EINVAL);
	assert_int_equal(fi_barrier2(ep_of(&cw, 0), g, FI_RMA, NULL), -FI_EBADFLAGS);
	assert_int_equal(fi_broadcast(ep_of(&cw, 0), v, 1, NULL, g, 2, FI_UINT32, 0, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_broadcast(ep_of(&cw, 0), v, 1, NULL, g, 1, FI_VOID, 0, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_broadcast(ep_of(&cw, 0), NULL, 1, NULL, g, 1, FI_UINT32, 0, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_allreduce(ep_of(&cw, 0), v, 1, NULL, NULL, NULL, g, FI_UINT32, FI_SUM, 0,
				      NULL), -FI_EINVAL);
	assert_int_equal(fi_allreduce(ep_of(&cw, 0), v, 1, NULL, v, NULL, g, FI_UINT32, FI_DIFF, 0,
				      NULL), -FI_EOPNOTSUPP);
	assert_int_equal(fi_allreduce(ep_of(&cw, 0), v, 1, NULL, v, NULL, g, FI_DOUBLE, FI_BAND, 0,
				      NULL), -FI_EOPNOTSUPP);
	assert_int_equal(fi_allgather(ep_of(&cw, 0), v, SIZE_MAX / 8, NULL, v, NULL, g, FI_UINT32, 0,
				      NULL), -FI_EMSGSIZE);
	/* none of them counts: the group is in step */
	assert_int_equal(fi_barrier(ep_of(&cw, 0), g, &context[0]), 0);
	assert_int_equal(fi_barrier(ep_of(&cw, 1), fi_mc_addr(mc[1]), &context[1]), 0);
	expect_all(&cw, 2);
	/* nothing to do is done, too */
	assert_int_equal(fi_broadcast(ep_of(&cw, 0), NULL, 0, NULL, g, 1, FI_UINT32, 0,
				      &context[0]), 0);
	assert_int_equal(fi_broadcast(ep_of(&cw, 1), NULL, 0, NULL, fi_mc_addr(mc[1]), 1, FI_UINT32,
				      0, &context[1]), 0);
	expect_all(&cw, 2);
	leave_all(mc, 2);
	cworld_close(&cw);
}

/* ---- apart from the program's own traffic ---------------------------------------------------- */

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
	/* The receives are still there, and so is the program's message. */
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

/* Many operations of several groups at once. */
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

/* ---- what goes wrong ------------------------------------------------------------------------------ */

/* The next completion of node @i is this error, of member @culprit. */
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

/* A member dies before it has called; everybody hears of it, once. */
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

/* A member is started anew at its address, and does not know the group. */
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

/* A join that cannot end, because a member is not there. */
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

/* Leaving with operations under way: they end, once, here and with the others. */
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
		/* Those that hear of it from member 1, or from who did, and member 4. */
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

/* Members that disagree about the length find out. */
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

static void test_close_order(void **state)
{
	struct fid_mc *mc[2];
	struct cworld cw;
	int i;

	cworld_open(&cw, 2, 8, &sim_calm);
	join_all(&cw, NULL, 2, NULL, mc);
	assert_int_equal(fi_close(&ep_of(&cw, 0)->fid), -FI_EBUSY);
	/* Closing a group that others still use, and then the endpoint with it. */
	assert_int_equal(fi_barrier(ep_of(&cw, 1), fi_mc_addr(mc[1]), &context[1]), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_close(&mc[i]->fid), 0);
	cworld_close(&cw);
}

/* Messages for the library from somebody who has no business with it. */
static void test_strangers(void **state)
{
	static const uint64_t keys[] = { 0, ~UINT64_C(0), 1u << 28, 2u << 28, 3u << 28, 4u << 28,
					 9u << 28, 10u << 28, UINT64_C(5) << 32 | 1u << 28 };
	uint8_t hdr[ENG_HDR_MAX];
	struct fid_mc *mc[2];
	struct cworld cw;
	size_t i, len;

	cworld_open(&cw, 3, 8, &sim_calm);
	join_all(&cw, NULL, 2, NULL, mc);
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char data[20] = "stranger";
		uint64_t space = i & 1 ? 42 :
			container_of(mc[0], struct coll_group, mc)->id;

		/* there is a channel to speak through */
		assert_int_equal(fi_inject(ep_of(&cw, 2), "x", 1, 0), 0);
		world_settle(&cw.w);
		for (int rts = 0; rts < 2; rts++) {
			len = wire_put_base(hdr, rts ? WIRE_RTS : WIRE_EAGER,
					    WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_ASIDE, 0, 20);
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

/* Memory runs out for a while. */
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
	world_open_domain(&cw.w, 4, &sim_calm);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_same),
		cmocka_unit_test(test_join_errors),
		cmocka_unit_test(test_not_equipped),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_call_errors),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_concurrent),
		cmocka_unit_test(test_dead_member),
		cmocka_unit_test(test_restarted_member),
		cmocka_unit_test(test_join_fails),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_disagree),
		cmocka_unit_test(test_close_order),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
