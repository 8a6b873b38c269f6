/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * call_test - the results of each call, and which calls are refused
 */
#include "coll/test/world.h"

#include "engine/atomic.h"

/* ---- results: all members call, then the buffers are compared ------------------------------- */

/* Value i of the input of member k. */
static uint32_t val(int k, size_t i)
{
	return (uint32_t) ((k + 1) * 1000003u + i * 7919u);
}

/* The sum of value i over all members. */
static uint32_t sum_of(int n, size_t i)
{
	uint32_t sum = 0;

	while (n--)
		sum += val(n, i);
	return sum;
}

static uint32_t xor_of(int n, size_t i)
{
	uint32_t x = 0;

	while (n--)
		x ^= val(n, i);
	return x;
}

/* One operation of @n members with @c values each; the root is in the middle. */
struct call {
	struct cworld *cw;
	struct fid_mc **mc;
	int n, root;
	size_t c;
	uint32_t *in[NODES_MAX], *out[NODES_MAX];
};

static fi_addr_t addr_of(const struct call *call, int k)
{
	return fi_mc_addr(call->mc[k]);
}

static void bufs_make(struct call *call, size_t in, size_t out)
{
	size_t i;
	int k;

	for (k = 0; k < call->n; k++) {
		call->in[k] = malloc(in * 4 + 1);
		call->out[k] = calloc(out + 1, 4);
		for (i = 0; i < in; i++)
			call->in[k][i] = val(k, i);
	}
}

static void bufs_free(struct call *call)
{
	int k;

	for (k = 0; k < call->n; k++) {
		free(call->in[k]);
		free(call->out[k]);
	}
}

/* Member k makes the call with the parameters in @call. */
typedef ssize_t (*member_call)(struct call *call, struct fid_ep *ep, int k);

static void all_call(struct call *call, member_call one)
{
	int k;

	for (k = 0; k < call->n; k++)
		assert_int_equal(one(call, ep_of(call->cw, k), k), 0);
	expect_all(call->cw, call->n);
}

static ssize_t call_broadcast(struct call *call, struct fid_ep *ep, int k)
{
	return fi_broadcast(ep, call->in[k], call->c, NULL, addr_of(call, k),
			    (fi_addr_t) call->root, FI_UINT32, 0, &context[k]);
}

static void check_broadcast(struct call *call)
{
	bufs_make(call, call->c, 0);
	all_call(call, call_broadcast);
	for (int k = 0; k < call->n; k++)
		for (size_t i = 0; i < call->c; i++)
			assert_int_equal(call->in[k][i], val(call->root, i));
	bufs_free(call);
}

static ssize_t call_allreduce(struct call *call, struct fid_ep *ep, int k)
{
	return fi_allreduce(ep, call->in[k], call->c, NULL, call->out[k], NULL, addr_of(call, k),
			    FI_UINT32, FI_SUM, 0, &context[k]);
}

static void check_allreduce(struct call *call)
{
	bufs_make(call, call->c, call->c);
	all_call(call, call_allreduce);
	for (int k = 0; k < call->n; k++)
		for (size_t i = 0; i < call->c; i++)
			assert_int_equal(call->out[k][i], sum_of(call->n, i));
	bufs_free(call);
}

/* Only the root has a result buffer. */
static ssize_t call_reduce(struct call *call, struct fid_ep *ep, int k)
{
	return fi_reduce(ep, call->in[k], call->c, NULL, k == call->root ? call->out[k] : NULL,
			 NULL, addr_of(call, k), (fi_addr_t) call->root, FI_UINT32, FI_BXOR, 0,
			 &context[k]);
}

static void check_reduce(struct call *call)
{
	bufs_make(call, call->c, call->c);
	all_call(call, call_reduce);
	for (size_t i = 0; i < call->c; i++)
		assert_int_equal(call->out[call->root][i], xor_of(call->n, i));
	bufs_free(call);
}

static ssize_t call_allgather(struct call *call, struct fid_ep *ep, int k)
{
	return fi_allgather(ep, call->in[k], call->c, NULL, call->out[k], NULL, addr_of(call, k),
			    FI_UINT32, 0, &context[k]);
}

/* Member @k has the input of all members, by rank. */
static void has_all(const struct call *call, int k)
{
	size_t i;

	for (i = 0; i < (size_t) call->n * call->c; i++)
		assert_int_equal(call->out[k][i], val((int) (i / call->c), i % call->c));
}

static void check_allgather(struct call *call)
{
	bufs_make(call, call->c, (size_t) call->n * call->c);
	all_call(call, call_allgather);
	for (int k = 0; k < call->n; k++)
		has_all(call, k);
	bufs_free(call);
}

static ssize_t call_gather(struct call *call, struct fid_ep *ep, int k)
{
	return fi_gather(ep, call->in[k], call->c, NULL, call->out[k], NULL, addr_of(call, k),
			 (fi_addr_t) call->root, FI_UINT32, 0, &context[k]);
}

static void check_gather(struct call *call)
{
	bufs_make(call, call->c, (size_t) call->n * call->c);
	all_call(call, call_gather);
	has_all(call, call->root);
	bufs_free(call);
}

/* Only the root has input. */
static ssize_t call_scatter(struct call *call, struct fid_ep *ep, int k)
{
	return fi_scatter(ep, k == call->root ? call->in[k] : NULL, call->c, NULL, call->out[k],
			  NULL, addr_of(call, k), (fi_addr_t) call->root, FI_UINT32, 0,
			  &context[k]);
}

static void check_scatter(struct call *call)
{
	bufs_make(call, (size_t) call->n * call->c, call->c);
	all_call(call, call_scatter);
	for (int k = 0; k < call->n; k++)
		for (size_t i = 0; i < call->c; i++)
			assert_int_equal(call->out[k][i],
					 val(call->root, (size_t) k * call->c + i));
	bufs_free(call);
}

static ssize_t call_reduce_scatter(struct call *call, struct fid_ep *ep, int k)
{
	return fi_reduce_scatter(ep, call->in[k], call->c, NULL, call->out[k], NULL,
				 addr_of(call, k), FI_UINT32, FI_SUM, 0, &context[k]);
}

static void check_reduce_scatter(struct call *call)
{
	bufs_make(call, (size_t) call->n * call->c, call->c);
	all_call(call, call_reduce_scatter);
	for (int k = 0; k < call->n; k++)
		for (size_t i = 0; i < call->c; i++)
			assert_int_equal(call->out[k][i],
					 sum_of(call->n, (size_t) k * call->c + i));
	bufs_free(call);
}

static ssize_t call_alltoall(struct call *call, struct fid_ep *ep, int k)
{
	return fi_alltoall(ep, call->in[k], call->c, NULL, call->out[k], NULL, addr_of(call, k),
			   FI_UINT32, 0, &context[k]);
}

static ssize_t call_alltoall_in_place(struct call *call, struct fid_ep *ep, int k)
{
	return fi_alltoall(ep, call->in[k], call->c, NULL, call->in[k], NULL, addr_of(call, k),
			   FI_UINT32, 0, &context[k]);
}

static void check_alltoall(struct call *call)
{
	size_t all = (size_t) call->n * call->c, c = call->c;

	bufs_make(call, all, all);
	all_call(call, call_alltoall);
	for (int k = 0; k < call->n; k++)
		for (size_t i = 0; i < all; i++)
			assert_int_equal(call->out[k][i],
					 val((int) (i / c), (size_t) k * c + i % c));
	all_call(call, call_alltoall_in_place);
	for (int k = 0; k < call->n; k++)
		assert_memory_equal(call->in[k], call->out[k], all * 4);
	bufs_free(call);
}

static void check_all(struct call *call)
{
	check_broadcast(call);
	check_allreduce(call);
	check_reduce(call);
	check_allgather(call);
	check_gather(call);
	check_scatter(call);
	check_reduce_scatter(call);
	check_alltoall(call);
}

static void test_results(void **state)
{
	static const size_t counts[] = { 1, 3, 200, 12000 };
	struct fid_mc *mc[NODES_MAX];
	struct cworld cw;
	int n;

	for (n = 1; n <= 17; n += n < 9 ? 1 : 4) {
		cworld_open(&cw, n, (uint64_t) n, n & 1 ? &sim_rough : &sim_ideal);
		join_all(&cw, NULL, n, NULL, mc);
		for (size_t i = 0; i < (n < 10 ? 4 : 3); i++)
			check_all(&(struct call) { .cw = &cw, .mc = mc, .n = n, .root = n / 2,
						   .c = counts[i] });
		leave_all(mc, n);
		cworld_close(&cw);
	}
}

/* An allreduce of three members for one type and operation, compared with a loop over the
 * values.
 */
static void check_type(struct cworld *cw, struct fid_mc **mc, int type, int op, size_t cnt)
{
	_Alignas(16) char in[3][320], out[3][320], ref[320];
	size_t len = cnt * eng_atomic_size(type), i;
	int k;

	/* small numbers of any type: bytes of 0 and 1 */
	for (k = 0; k < 3; k++)
		for (i = 0; i < len; i++)
			in[k][i] = (char) ((i * 7 + (size_t) k * 3) % 5 == 1);
	/* the order of reduction: members 1 and 2 first, then 0 */
	memcpy(ref, in[0], len);
	eng_atomic_reduce(type, op, ref, in[1], cnt);
	eng_atomic_reduce(type, op, ref, in[2], cnt);
	for (k = 0; k < 3; k++)
		assert_int_equal(fi_allreduce(ep_of(cw, k), in[k], cnt, NULL, out[k], NULL,
					      fi_mc_addr(mc[k]), type, op, 0, &context[k]), 0);
	expect_all(cw, 3);
	/* the padding of long doubles is undefined */
	if (type == FI_LONG_DOUBLE || type == FI_LONG_DOUBLE_COMPLEX)
		return;
	for (k = 0; k < 3; k++)
		assert_memory_equal(out[k], ref, len);
}

/* Every type and operation of atomics: the result of the query is true. */
static void test_types(void **state)
{
	struct fid_mc *mc[3];
	struct fi_collective_attr attr;
	struct cworld cw;
	char v[320] = "";
	int tried = 0;

	cworld_open(&cw, 3, 3, &sim_ideal);
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
				assert_int_equal(fi_allreduce(ep_of(&cw, 0), v, cnt, NULL, v, NULL,
							      fi_mc_addr(mc[0]), type, op, 0, NULL),
						 -FI_EOPNOTSUPP);
				continue;
			}
			tried++;
			assert_int_equal(attr.datatype_attr.size, size);
			assert_true(attr.datatype_attr.count >= cnt && attr.max_members > 1000);
			check_type(&cw, mc, type, op, cnt);
		}
	assert_true(tried > 100);
	leave_all(mc, 3);
	cworld_close(&cw);
}

static void test_query(void **state)
{
	struct fi_collective_attr attr = { .op = FI_SUM, .datatype = FI_UINT64 };
	struct cworld cw;

	cworld_open(&cw, 1, 1, &sim_ideal);
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

/* fi_ops_collective.msg: scatter lists. */
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

	cworld_open(&cw, 3, 1, &sim_ideal);
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
	/* none of them took a sequence number: the group is in step */
	assert_int_equal(fi_barrier(ep_of(&cw, 0), g, &context[0]), 0);
	assert_int_equal(fi_barrier(ep_of(&cw, 1), fi_mc_addr(mc[1]), &context[1]), 0);
	expect_all(&cw, 2);
	/* an empty operation completes, too */
	assert_int_equal(fi_broadcast(ep_of(&cw, 0), NULL, 0, NULL, g, 1, FI_UINT32, 0,
				      &context[0]), 0);
	assert_int_equal(fi_broadcast(ep_of(&cw, 1), NULL, 0, NULL, fi_mc_addr(mc[1]), 1, FI_UINT32,
				      0, &context[1]), 0);
	expect_all(&cw, 2);
	leave_all(mc, 2);
	cworld_close(&cw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_call_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
