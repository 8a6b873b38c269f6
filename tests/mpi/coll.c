/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* coll - every collective operation, blocking and not, on data that is verified. */

#include "mt.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

static const int counts[] = { 0, 1, 7, 1000, 30000 };

static MPI_Comm comm;			/* the cases run on it: a part of the ranks, or all */
static int rank, size;
static bool later;			/* use the nonblocking form */

/* The blocking form, or the nonblocking one and a wait. */
#define DO(Op, Iop, ...) do { \
		if (later) { \
			MPI_Request req_; \
			Iop(__VA_ARGS__, &req_); \
			MPI_Wait(&req_, MPI_STATUS_IGNORE); \
		} else { \
			Op(__VA_ARGS__); \
		} \
	} while (0)

/* The element that rank @from has for rank @to. */
static int elem(int from, int to, int i)
{
	return from * 1000003 + to * 1009 + i;
}

static int *ints(int cnt)
{
	int *mem = mt_alloc(sizeof(int) * (size_t) cnt);

	for (int i = 0; i < cnt; i++)
		mem[i] = -1;
	return mem;
}

static void check_ints(const int *got, int cnt, int from, int to, const char *what)
{
	for (int i = 0; i < cnt; i++)
		if (!mt_check(got[i] == elem(from, to, i), "%s: element %d of %d is %d, not %d", what,
			      i, cnt, got[i], elem(from, to, i)))
			return;
}

static void barrier(int n)
{
	(void) n;
	if (later) {
		MPI_Request req;

		MPI_Ibarrier(comm, &req);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	} else {
		MPI_Barrier(comm);
	}
}

static void bcast(int n)
{
	int *buf = ints(n);

	for (int root = 0; root < size; root++) {
		for (int i = 0; i < n; i++)
			buf[i] = rank == root ? elem(root, 0, i) : -1;
		DO(MPI_Bcast, MPI_Ibcast, buf, n, MPI_INT, root, comm);
		check_ints(buf, n, root, 0, "bcast");
	}
	free(buf);
}

/* The v forms: n + rank elements from or for each rank, in order. */
static void growing(int n, int *cnt, int *at)
{
	int total = 0;

	for (int r = 0; r < size; r++) {
		cnt[r] = n + r;
		at[r] = total;
		total += cnt[r];
	}
}

/* Blocks of equal size between a root and all, and of size n + rank in the v forms. */
static void gather_scatter(int n)
{
	int *all = ints(size * (n + size)), *own = ints(n + size);
	int *cnt = ints(size), *at = ints(size);

	growing(n, cnt, at);
	for (int root = 0; root < size; root++) {
		for (int i = 0; i < n + rank; i++)
			own[i] = elem(rank, root, i);
		DO(MPI_Gather, MPI_Igather, own, n, MPI_INT, all, n, MPI_INT, root, comm);
		for (int r = 0; rank == root && r < size; r++)
			check_ints(all + r * n, n, r, root, "gather");
		DO(MPI_Gatherv, MPI_Igatherv, own, n + rank, MPI_INT, all, cnt, at, MPI_INT, root, comm);
		for (int r = 0; rank == root && r < size; r++)
			check_ints(all + at[r], cnt[r], r, root, "gatherv");
		for (int r = 0; rank == root && r < size; r++)
			for (int i = 0; i < n; i++)
				all[r * n + i] = elem(root, r, i);
		DO(MPI_Scatter, MPI_Iscatter, all, n, MPI_INT, own, n, MPI_INT, root, comm);
		check_ints(own, n, root, rank, "scatter");
		for (int r = 0; rank == root && r < size; r++)
			for (int i = 0; i < cnt[r]; i++)
				all[at[r] + i] = elem(root, r, i);
		DO(MPI_Scatterv, MPI_Iscatterv, all, cnt, at, MPI_INT, own, n + rank, MPI_INT, root,
		   comm);
		check_ints(own, n + rank, root, rank, "scatterv");
	}
	free(all);
	free(own);
	free(cnt);
	free(at);
}

static void allgather(int n)
{
	int *all = ints(size * (n + size)), *own = ints(n + size);
	int *cnt = ints(size), *at = ints(size);

	growing(n, cnt, at);
	for (int i = 0; i < n + rank; i++)
		own[i] = elem(rank, 0, i);
	DO(MPI_Allgather, MPI_Iallgather, own, n, MPI_INT, all, n, MPI_INT, comm);
	for (int r = 0; r < size; r++)
		check_ints(all + r * n, n, r, 0, "allgather");
	DO(MPI_Allgatherv, MPI_Iallgatherv, own, n + rank, MPI_INT, all, cnt, at, MPI_INT, comm);
	for (int r = 0; r < size; r++)
		check_ints(all + at[r], cnt[r], r, 0, "allgatherv");
	free(all);
	free(own);
	free(cnt);
	free(at);
}

static void alltoall(int n)
{
	int *out = ints(size * (n + size)), *in = ints(size * (n + size));
	int *cnt = ints(size), *at = ints(size);
	MPI_Datatype *types = mt_alloc(sizeof(*types) * (size_t) size);

	for (int r = 0; r < size; r++)
		for (int i = 0; i < n; i++)
			out[r * n + i] = elem(rank, r, i);
	DO(MPI_Alltoall, MPI_Ialltoall, out, n, MPI_INT, in, n, MPI_INT, comm);
	for (int r = 0; r < size; r++)
		check_ints(in + r * n, n, r, rank, "alltoall");
	/* Between a and b: n + (a + b) % size elements, in either direction. */
	for (int r = 0; r < size; r++) {
		cnt[r] = n + (r + rank) % size;
		at[r] = r * (n + size);
		types[r] = MPI_INT;
		for (int i = 0; i < cnt[r]; i++)
			out[at[r] + i] = elem(rank, r, i);
	}
	DO(MPI_Alltoallv, MPI_Ialltoallv, out, cnt, at, MPI_INT, in, cnt, at, MPI_INT, comm);
	for (int r = 0; r < size; r++)
		check_ints(in + at[r], cnt[r], r, rank, "alltoallv");
	for (int r = 0; r < size; r++)
		at[r] *= (int) sizeof(int);
	memset(in, 0xff, sizeof(int) * (size_t) (size * (n + size)));
	DO(MPI_Alltoallw, MPI_Ialltoallw, out, cnt, at, types, in, cnt, at, types, comm);
	for (int r = 0; r < size; r++)
		check_ints(in + r * (n + size), cnt[r], r, rank, "alltoallw");
	free(out);
	free(in);
	free(cnt);
	free(at);
	free(types);
}

/* Sums over a part of the ranks: 0 to @upto, without it. */
static int sum_elem(int upto, int i)
{
	return upto * (upto - 1) / 2 * 1000003 + upto * i;
}

static void check_sum(const int *got, int n, int first, int upto, const char *what)
{
	for (int i = 0; i < n; i++)
		if (!mt_check(got[i] == sum_elem(upto, first + i), "%s: element %d of %d is %d, not %d",
			      what, i, n, got[i], sum_elem(upto, first + i)))
			return;
}

static void reductions(int n)
{
	int total = size * n, *own = ints(total), *res = ints(total), *cnt = ints(size), first = 0;

	for (int i = 0; i < total; i++)
		own[i] = elem(rank, 0, i);
	for (int root = 0; root < size; root++) {
		DO(MPI_Reduce, MPI_Ireduce, own, res, n, MPI_INT, MPI_SUM, root, comm);
		if (rank == root)
			check_sum(res, n, 0, size, "reduce");
	}
	DO(MPI_Allreduce, MPI_Iallreduce, own, res, n, MPI_INT, MPI_SUM, comm);
	check_sum(res, n, 0, size, "allreduce");
	memcpy(res, own, sizeof(int) * (size_t) n);
	DO(MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, res, n, MPI_INT, MPI_SUM, comm);
	check_sum(res, n, 0, size, "allreduce in place");
	DO(MPI_Scan, MPI_Iscan, own, res, n, MPI_INT, MPI_SUM, comm);
	check_sum(res, n, 0, rank + 1, "scan");
	DO(MPI_Exscan, MPI_Iexscan, own, res, n, MPI_INT, MPI_SUM, comm);
	if (rank)
		check_sum(res, n, 0, rank, "exscan");
	DO(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, own, res, n, MPI_INT, MPI_SUM, comm);
	check_sum(res, n, rank * n, size, "reduce_scatter_block");
	for (int r = 0; r < size; r++)
		cnt[r] = n / 2 + (n > 2 ? r % 2 : 0);
	for (int r = 0; r < size - 1; r++)
		first += cnt[r];
	cnt[size - 1] = total - first;
	DO(MPI_Reduce_scatter, MPI_Ireduce_scatter, own, res, cnt, MPI_INT, MPI_SUM, comm);
	first = 0;
	for (int r = 0; r < rank; r++)
		first += cnt[r];
	check_sum(res, cnt[rank], first, size, "reduce_scatter");
	free(own);
	free(res);
	free(cnt);
}

static void (*const collectives[])(int) = {
	barrier, bcast, gather_scatter, allgather, alltoall, reductions,
};

static void all_on(MPI_Comm on)
{
	comm = on;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (int c = 0; c < mt_count(collectives); c++)
		for (int n = 0; n < mt_count(counts); n++)
			collectives[c](counts[n]);
}

static void blocking(void)
{
	later = false;
	all_on(mt_comm);
}

static void nonblocking(void)
{
	later = true;
	all_on(mt_comm);
}

/* Several operations in progress, completed from the last to the first. */
static void overlapping(void)
{
	enum { CNT = 12 };
	MPI_Request req[CNT];
	int in[CNT][64], out[CNT][64];

	for (int k = 0; k < CNT; k++) {
		for (int i = 0; i < 64; i++)
			out[k][i] = mt_rank + k * i;
		if (k % 3 == 0)
			MPI_Ibarrier(mt_comm, &req[k]);
		else
			MPI_Iallreduce(out[k], in[k], 64, MPI_INT, k % 3 == 1 ? MPI_SUM : MPI_MAX,
				       mt_comm, &req[k]);
	}
	for (int k = CNT - 1; k >= 0; k--)
		MPI_Wait(&req[k], MPI_STATUS_IGNORE);
	for (int k = 0; k < CNT; k++)
		for (int i = 0; k % 3 && i < 64; i++) {
			int want = k % 3 == 1 ? mt_size * (mt_size - 1) / 2 + mt_size * k * i :
						mt_size - 1 + k * i;

			mt_check(in[k][i] == want, "%d of %d is %d, not %d", i, k, in[k][i], want);
		}
}

/* Half of the ranks each, numbered backwards, at the same time. */
static void split(void)
{
	MPI_Comm half, dup, node, made;
	MPI_Group all, group;
	int members[64], cnt = 0;

	MPI_Comm_split(mt_comm, mt_rank % 2, -mt_rank, &half);
	MPI_Comm_dup(half, &dup);
	later = false;
	all_on(dup);
	later = true;
	all_on(half);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&half);
	MPI_Comm_split_type(mt_comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	all_on(node);
	MPI_Comm_free(&node);
	MPI_Comm_group(mt_comm, &all);
	for (int r = mt_size - 1; r >= 0; r -= 2)
		members[cnt++] = r;
	MPI_Group_incl(all, cnt, members, &group);
	MPI_Comm_create(mt_comm, group, &made);
	if (made != MPI_COMM_NULL) {
		all_on(made);
		MPI_Comm_free(&made);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

/* A message of one communicator does not match in another. */
static void apart(void)
{
	MPI_Comm other;
	MPI_Request req[2];
	int in[2] = { -1, -1 }, flag, next = (mt_rank + 1) % mt_size;
	int prev = (mt_rank + mt_size - 1) % mt_size, out[2] = { mt_rank, mt_rank + 1000 };

	MPI_Comm_dup(mt_comm, &other);
	MPI_Send(&out[1], 1, MPI_INT, next, 5, other);
	MPI_Barrier(mt_comm);
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mt_comm, &flag, MPI_STATUS_IGNORE);
	mt_check(!flag, "a message of another communicator");
	MPI_Barrier(mt_comm);
	MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, mt_comm, &req[0]);
	MPI_Send(&out[0], 1, MPI_INT, next, 5, mt_comm);
	MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &req[1]);
	MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
	mt_check(in[0] == prev && in[1] == prev + 1000, "%d and %d", in[0], in[1]);
	MPI_Comm_free(&other);
}

/* ---- reductions with each predefined operation ------------------------------------ */

/*
 * Rank r of n contributes r + 1 in each element, 0/1 under the logical operations. The expected
 * results are computed in the widest type and compared exactly: all values are small whole
 * numbers.
 */
static long double expected(MPI_Op op, int n)
{
	long double res = 0;
	unsigned long bits = 0;

	for (int v = 1; v <= n; v++) {
		unsigned long u = (unsigned long) v;

		if (v == 1) {
			res = 1;
			bits = 1;
		} else if (op == MPI_SUM) {
			res += v;
		} else if (op == MPI_PROD) {
			res *= v;
		} else if (op == MPI_MAX) {
			res = v;
		} else if (op == MPI_BAND) {
			bits &= u;
		} else if (op == MPI_BOR) {
			bits |= u;
		} else if (op == MPI_BXOR) {
			bits ^= u;
		}
	}
	return op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR ? bits : res;
}

#define CHECK_TYPE(ctype, mtype, op) do { \
		ctype out_[5], in_[5]; \
		for (int i_ = 0; i_ < 5; i_++) \
			out_[i_] = (ctype) (mt_rank + 1); \
		MPI_Allreduce(out_, in_, 5, mtype, op, mt_comm); \
		for (int i_ = 0; i_ < 5; i_++) \
			mt_check(in_[i_] == (ctype) expected(op, mt_size), "%s", #op " of " #mtype); \
	} while (0)

#define INTEGERS(op) do { \
		CHECK_TYPE(signed char, MPI_SIGNED_CHAR, op); \
		CHECK_TYPE(unsigned char, MPI_UNSIGNED_CHAR, op); \
		CHECK_TYPE(short, MPI_SHORT, op); \
		CHECK_TYPE(unsigned short, MPI_UNSIGNED_SHORT, op); \
		CHECK_TYPE(int, MPI_INT, op); \
		CHECK_TYPE(unsigned int, MPI_UNSIGNED, op); \
		CHECK_TYPE(long, MPI_LONG, op); \
		CHECK_TYPE(unsigned long, MPI_UNSIGNED_LONG, op); \
		CHECK_TYPE(long long, MPI_LONG_LONG, op); \
		CHECK_TYPE(int8_t, MPI_INT8_T, op); \
		CHECK_TYPE(uint64_t, MPI_UINT64_T, op); \
	} while (0)

#define FLOATS(op) do { \
		CHECK_TYPE(float, MPI_FLOAT, op); \
		CHECK_TYPE(double, MPI_DOUBLE, op); \
		CHECK_TYPE(long double, MPI_LONG_DOUBLE, op); \
	} while (0)

#define COMPLEXES(op) do { \
		CHECK_TYPE(float complex, MPI_C_FLOAT_COMPLEX, op); \
		CHECK_TYPE(double complex, MPI_C_DOUBLE_COMPLEX, op); \
	} while (0)

static void arithmetic_ops(void)
{
	INTEGERS(MPI_SUM);
	FLOATS(MPI_SUM);
	COMPLEXES(MPI_SUM);
	INTEGERS(MPI_PROD);
	FLOATS(MPI_PROD);
	COMPLEXES(MPI_PROD);
	INTEGERS(MPI_MAX);
	FLOATS(MPI_MAX);
	INTEGERS(MPI_MIN);
	FLOATS(MPI_MIN);
}

static void bit_ops(void)
{
	INTEGERS(MPI_BAND);
	INTEGERS(MPI_BOR);
	INTEGERS(MPI_BXOR);
}

static void logical_ops(void)
{
	/* Element 0: true everywhere; 1: nowhere; 2: on rank 0 alone. */
	int out[3] = { 5, 0, mt_rank ? 0 : 3 }, in[3];

	MPI_Allreduce(out, in, 3, MPI_INT, MPI_LAND, mt_comm);
	mt_check(in[0] == 1 && in[1] == 0 && in[2] == (mt_size == 1), "MPI_LAND");
	MPI_Allreduce(out, in, 3, MPI_INT, MPI_LOR, mt_comm);
	mt_check(in[0] == 1 && in[1] == 0 && in[2] == 1, "MPI_LOR");
	MPI_Allreduce(out, in, 3, MPI_INT, MPI_LXOR, mt_comm);
	mt_check(in[0] == mt_size % 2 && in[1] == 0 && in[2] == 1, "MPI_LXOR");
}

static void place_ops(void)
{
	struct { double value; int at; } out = { mt_rank == 1 ? 100 : -mt_rank, mt_rank }, in;
	struct { int value, at; } iout = { mt_rank / 2, mt_rank }, iin;

	MPI_Allreduce(&out, &in, 1, MPI_DOUBLE_INT, MPI_MAXLOC, mt_comm);
	mt_check(in.value == 100 && in.at == 1, "MPI_MAXLOC: %f at %d", in.value, in.at);
	MPI_Allreduce(&iout, &iin, 1, MPI_2INT, MPI_MINLOC, mt_comm);
	mt_check(iin.value == 0 && iin.at == 0, "MPI_MINLOC: %d at %d", iin.value, iin.at);
}

/* Not commutative: an affine map, as a stand-in for a product of matrices. */
static void affine(void *in, void *inout, int *len, MPI_Datatype *type)
{
	long (*a)[2] = in, (*b)[2] = inout;

	(void) type;
	for (int i = 0; i < *len; i++) {
		b[i][1] = a[i][1] * b[i][0] + b[i][1];
		b[i][0] = a[i][0] * b[i][0];
	}
}

static void own_op(void)
{
	long out[4][2], in[4][2], want[2] = { 1, 0 };
	MPI_Datatype pair;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_LONG, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(affine, 0, &op);
	for (int i = 0; i < 4; i++) {
		out[i][0] = 2;
		out[i][1] = mt_rank;
	}
	MPI_Allreduce(out, in, 4, pair, op, mt_comm);
	for (int r = 0; r < mt_size; r++) {
		want[1] = want[1] * 2 + r;
		want[0] *= 2;
	}
	for (int i = 0; i < 4; i++)
		mt_check(in[i][0] == want[0] && in[i][1] == want[1], "%ld, %ld", in[i][0], in[i][1]);
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
}

/* 16 MiB, where the algorithms change to rings and pipelines. */
static void large(void)
{
	int n = 4 << 20, *out = ints(n), *in = ints(n);

	for (int i = 0; i < n; i++)
		out[i] = mt_rank + i;
	MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, mt_comm);
	for (int i = 0; i < n; i++)
		if (!mt_check(in[i] == mt_size * (mt_size - 1) / 2 + mt_size * i, "%d holds %d", i, in[i]))
			break;
	MPI_Bcast(out, n, MPI_INT, mt_size - 1, mt_comm);
	for (int i = 0; i < n; i++)
		if (!mt_check(out[i] == mt_size - 1 + i, "broadcast: %d holds %d", i, out[i]))
			break;
	free(out);
	free(in);
}

static const struct mt_case cases[] = {
	{ "every collective operation", blocking, 2 },
	{ "every nonblocking collective operation", nonblocking, 2 },
	{ "12 collective operations at once", overlapping, 2 },
	{ "duplicated, split and made communicators", split, 2 },
	{ "messages of two communicators stay apart", apart, 2 },
	{ "sum, prod, max and min of 16 types", arithmetic_ops, 2 },
	{ "band, bor and bxor of 11 types", bit_ops, 2 },
	{ "land, lor and lxor", logical_ops, 2 },
	{ "maxloc and minloc", place_ops, 2 },
	{ "an operation of the program's own", own_op, 2 },
	{ "16 MiB", large, 2 },
};

int main(int argc, char **argv)
{
	return mt_main(argc, argv, MPI_THREAD_SINGLE, cases, mt_count(cases));
}
