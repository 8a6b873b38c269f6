/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* types - data that is scattered in memory on one side, or on both. */

#include "mt.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, COLS = 200 };

struct particle {
	char kind;
	double at[3];
	int id;
};

/* Sends @out as @cnt x @from to the next rank, which takes it as @in_cnt x @to. */
static void shift(const void *out, int cnt, MPI_Datatype from, void *in, int in_cnt, MPI_Datatype to)
{
	int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
	MPI_Request req[2];
	MPI_Status st[2];
	int got = -1;

	MPI_Irecv(in, in_cnt, to, prev, 4, mt_comm, &req[0]);
	MPI_Isend(out, cnt, from, next, 4, mt_comm, &req[1]);
	MPI_Waitall(2, req, st);
	MPI_Get_count(&st[0], to, &got);
	mt_check(got == in_cnt, "%d elements, not %d", got, in_cnt);
}

static int prev_rank(void)
{
	return (mt_rank + mt_size - 1) % mt_size;
}

static int value(int rank, int row, int col)
{
	return rank * ROWS * COLS + row * COLS + col;
}

static int (*new_matrix(int rank))[COLS]
{
	int (*m)[COLS] = mt_alloc(sizeof(int) * ROWS * COLS);

	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLS; c++)
			m[r][c] = rank < 0 ? -1 : value(rank, r, c);
	return m;
}

/* A column is sent and arrives as a row, and the reverse. */
static void vector(void)
{
	int (*out)[COLS] = new_matrix(mt_rank), (*in)[COLS] = new_matrix(-1);
	int line[ROWS];
	MPI_Datatype column;

	MPI_Type_vector(ROWS, 1, COLS, MPI_INT, &column);
	MPI_Type_commit(&column);
	shift(&out[0][7], 1, column, line, ROWS, MPI_INT);
	for (int r = 0; r < ROWS; r++)
		mt_check(line[r] == value(prev_rank(), r, 7), "row %d holds %d", r, line[r]);
	for (int r = 0; r < ROWS; r++)
		line[r] = value(mt_rank, r, 9);
	shift(line, ROWS, MPI_INT, &in[0][3], 1, column);
	for (int r = 0; r < ROWS; r++) {
		mt_check(in[r][3] == value(prev_rank(), r, 9), "row %d holds %d", r, in[r][3]);
		mt_check(in[r][2] == -1 && in[r][4] == -1, "row %d: beside the column", r);
	}
	MPI_Type_free(&column);
	free(out);
	free(in);
}

/* A triangle: each row one longer than the one before. */
static void indexed(void)
{
	int (*out)[COLS] = new_matrix(mt_rank), (*in)[COLS] = new_matrix(-1);
	int len[COLS], at[COLS];
	MPI_Datatype tri, block;

	for (int r = 0; r < COLS; r++) {
		len[r] = r + 1;
		at[r] = r * COLS;
	}
	MPI_Type_indexed(COLS, len, at, MPI_INT, &tri);
	MPI_Type_commit(&tri);
	shift(out, 1, tri, in, 1, tri);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLS; c++)
			if (!mt_check(in[r][c] == (r < COLS && c <= r ? value(prev_rank(), r, c) : -1),
				      "[%d][%d] holds %d", r, c, in[r][c]))
				break;
	MPI_Type_free(&tri);
	memset(in, 0xff, sizeof(int) * ROWS * COLS);
	MPI_Type_create_indexed_block(COLS, 3, at, MPI_INT, &block);
	MPI_Type_commit(&block);
	shift(out, 1, block, in, 1, block);
	for (int r = 0; r < COLS; r++)
		mt_check(in[r][2] == value(prev_rank(), r, 2) && in[r][3] == -1, "block of row %d", r);
	MPI_Type_free(&block);
	free(out);
	free(in);
}

static MPI_Datatype particle_type(void)
{
	int len[] = { 1, 3, 1 };
	MPI_Aint at[] = { offsetof(struct particle, kind), offsetof(struct particle, at),
			  offsetof(struct particle, id) };
	MPI_Datatype of[] = { MPI_CHAR, MPI_DOUBLE, MPI_INT }, tight, type;

	MPI_Type_create_struct(3, len, at, of, &tight);
	MPI_Type_create_resized(tight, 0, sizeof(struct particle), &type);
	MPI_Type_free(&tight);
	MPI_Type_commit(&type);
	return type;
}

static void structure(void)
{
	static const int cnts[] = { 1, 3, 100, 20000 };
	MPI_Datatype type = particle_type();

	for (int k = 0; k < mt_count(cnts); k++) {
		struct particle *out = mt_alloc(sizeof(*out) * (size_t) cnts[k]);
		struct particle *in = mt_alloc(sizeof(*in) * (size_t) cnts[k]);

		for (int i = 0; i < cnts[k]; i++)
			out[i] = (struct particle) { (char) i, { i, mt_rank, i * 0.5 }, i + mt_rank };
		memset(in, 0x55, sizeof(*in) * (size_t) cnts[k]);
		shift(out, cnts[k], type, in, cnts[k], type);
		for (int i = 0; i < cnts[k]; i++)
			if (!mt_check(in[i].kind == (char) i && in[i].at[0] == i &&
				      in[i].at[1] == prev_rank() && in[i].at[2] == i * 0.5 &&
				      in[i].id == i + prev_rank(), "particle %d of %d", i, cnts[k]) ||
			    !mt_check(((char *) &in[i])[1] == 0x55, "padding of %d was written", i))
				break;
		free(out);
		free(in);
	}
	MPI_Type_free(&type);
}

static void subarray(void)
{
	int sizes[] = { ROWS, COLS }, part[] = { 50, 60 }, from[] = { 7, 11 }, to[] = { 200, 100 };
	int (*out)[COLS] = new_matrix(mt_rank), (*in)[COLS] = new_matrix(-1);
	MPI_Datatype src, dst;

	MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_INT, &src);
	MPI_Type_create_subarray(2, sizes, part, to, MPI_ORDER_C, MPI_INT, &dst);
	MPI_Type_commit(&src);
	MPI_Type_commit(&dst);
	shift(out, 1, src, in, 1, dst);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLS; c++) {
			bool inside = r >= 200 && r < 250 && c >= 100 && c < 160;

			if (!mt_check(in[r][c] == (inside ? value(prev_rank(), r - 193, c - 89) : -1),
				      "[%d][%d] holds %d", r, c, in[r][c]))
				break;
		}
	MPI_Type_free(&src);
	MPI_Type_free(&dst);
	free(out);
	free(in);
}

/* Columns that overlap by their extent: the whole matrix, transposed in transfer. */
static void resized(void)
{
	int (*out)[COLS] = new_matrix(mt_rank), *in = mt_alloc(sizeof(int) * ROWS * COLS);
	MPI_Datatype column, col;

	MPI_Type_vector(ROWS, 1, COLS, MPI_INT, &column);
	MPI_Type_create_resized(column, 0, sizeof(int), &col);
	MPI_Type_commit(&col);
	shift(out, COLS, col, in, ROWS * COLS, MPI_INT);
	for (int i = 0; i < ROWS * COLS; i++)
		if (!mt_check(in[i] == value(prev_rank(), i % ROWS, i / ROWS), "%d holds %d", i, in[i]))
			break;
	MPI_Type_free(&col);
	MPI_Type_free(&column);
	free(out);
	free(in);
}

/* By address, and of different types: a message whose buffer is MPI_BOTTOM. */
static void hindexed(void)
{
	static double a[1000];
	static int b[3000];
	MPI_Aint at[2];
	int len[] = { 1000, 3000 };
	MPI_Datatype of[] = { MPI_DOUBLE, MPI_INT }, type;

	MPI_Get_address(a, &at[0]);
	MPI_Get_address(b, &at[1]);
	MPI_Type_create_struct(2, len, at, of, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < 3000; i++) {
		b[i] = mt_rank + i;
		if (i < 1000)
			a[i] = mt_rank * 2 + i;
	}
	MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, (mt_rank + 1) % mt_size, 1, prev_rank(), 1, mt_comm,
			     MPI_STATUS_IGNORE);
	for (int i = 0; i < 3000; i++)
		mt_check(b[i] == prev_rank() + i && (i >= 1000 || a[i] == prev_rank() * 2 + i), "%d", i);
	MPI_Type_free(&type);
}

/* Packed data is sent like any other. */
static void packed(void)
{
	char buf[1000], in[1000];
	int at = 0, i = mt_rank, got;
	double d = mt_rank * 1.5, gotd;

	MPI_Pack(&i, 1, MPI_INT, buf, sizeof(buf), &at, mt_comm);
	MPI_Pack(&d, 1, MPI_DOUBLE, buf, sizeof(buf), &at, mt_comm);
	shift(buf, at, MPI_PACKED, in, at, MPI_PACKED);
	at = 0;
	MPI_Unpack(in, sizeof(in), &at, &got, 1, MPI_INT, mt_comm);
	MPI_Unpack(in, sizeof(in), &at, &gotd, 1, MPI_DOUBLE, mt_comm);
	mt_check(got == prev_rank() && gotd == prev_rank() * 1.5, "%d and %f", got, gotd);
}

/* 8 MiB with a hole after each 8 bytes, on one side only. */
static void large_strided(void)
{
	int cnt = 1 << 20;
	long *out = mt_alloc(sizeof(*out) * 2 * (size_t) cnt), *in = mt_alloc(sizeof(*in) * (size_t) cnt);
	MPI_Datatype type;

	for (int i = 0; i < 2 * cnt; i++)
		out[i] = i % 2 ? -1 : mt_rank + i / 2;
	MPI_Type_vector(cnt, 1, 2, MPI_LONG, &type);
	MPI_Type_commit(&type);
	shift(out, 1, type, in, cnt, MPI_LONG);
	for (int i = 0; i < cnt; i++)
		if (!mt_check(in[i] == prev_rank() + i, "%d holds %ld", i, in[i]))
			break;
	MPI_Type_free(&type);
	free(out);
	free(in);
}

static const struct mt_case cases[] = {
	{ "vector", vector, 2 },
	{ "indexed and indexed block", indexed, 2 },
	{ "struct, 1 to 20000 of them", structure, 2 },
	{ "subarray", subarray, 2 },
	{ "resized: a matrix transposed", resized, 2 },
	{ "struct of addresses from MPI_BOTTOM", hindexed, 2 },
	{ "packed", packed, 2 },
	{ "8 MiB strided", large_strided, 2 },
};

int main(int argc, char **argv)
{
	return mt_main(argc, argv, MPI_THREAD_SINGLE, cases, mt_count(cases));
}
