/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * osc - one-sided operations under fences, post-start-complete-wait and locks.
 *
 * The windows are in memory allocated by the program (MPI_Win_create), since ranks of one host
 * share the memory of MPI_Win_allocate and would not use the network.
 */

#include "mt.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 18 };		/* of 8 bytes: 2 MiB a rank */

static long *mem;			/* this rank's part of the window */
static MPI_Win win;

static void window_open(void)
{
	mem = mt_alloc(sizeof(*mem) * WORDS);
	for (int i = 0; i < WORDS; i++)
		mem[i] = -1;
	MPI_Win_create(mem, (MPI_Aint) sizeof(*mem) * WORDS, sizeof(*mem), MPI_INFO_NULL, mt_comm, &win);
}

static void window_close(void)
{
	MPI_Win_free(&win);
	free(mem);
}

static int next_rank(void)
{
	return (mt_rank + 1) % mt_size;
}

static int prev_rank(void)
{
	return (mt_rank + mt_size - 1) % mt_size;
}

static long elem(int rank, int i)
{
	return (long) rank * WORDS + i;
}

static void check_words(const long *at, int cnt, int rank, int first, const char *what)
{
	for (int i = 0; i < cnt; i++)
		if (!mt_check(at[i] == elem(rank, first + i), "%s: word %d of %d is %ld, not %ld", what, i,
			      cnt, at[i], elem(rank, first + i)))
			return;
}

static const int counts[] = { 1, 2, 100, 513, 4096, 8192, 8193, 100000, WORDS };

static long *fresh(void)
{
	long *out = mt_alloc(sizeof(*out) * WORDS);

	for (int i = 0; i < WORDS; i++)
		out[i] = elem(mt_rank, i);
	return out;
}

static void put_fence(void)
{
	long *out = fresh();

	window_open();
	MPI_Win_fence(0, win);
	for (int k = 0; k < mt_count(counts); k++) {
		MPI_Put(out, counts[k], MPI_LONG, next_rank(), 0, counts[k], MPI_LONG, win);
		MPI_Win_fence(0, win);
		check_words(mem, counts[k], prev_rank(), 0, "put");
		if (counts[k] < WORDS)
			mt_check(mem[counts[k]] == -1, "the word behind %d", counts[k]);
		MPI_Win_fence(0, win);
	}
	window_close();
	free(out);
}

static void get_fence(void)
{
	long *in = mt_alloc(sizeof(*in) * WORDS);

	window_open();
	for (int i = 0; i < WORDS; i++)
		mem[i] = elem(mt_rank, i);
	MPI_Win_fence(0, win);
	for (int k = 0; k < mt_count(counts); k++) {
		int from = (WORDS - counts[k]) / 2;

		memset(in, 0xff, sizeof(*in) * WORDS);
		MPI_Get(in, counts[k], MPI_LONG, next_rank(), from, counts[k], MPI_LONG, win);
		MPI_Win_fence(0, win);
		check_words(in, counts[k], next_rank(), from, "get");
	}
	window_close();
	free(in);
}

enum { DEEP = 20000, WIDE = 320, WIDE_WORDS = 128 << 10 >> 3 };

/* More operations in one epoch than a queue's size, each way: none may wait for another. */
static void deep_epoch(void)
{
	long *out = fresh(), *in = mt_alloc(sizeof(*in) * DEEP);

	window_open();
	MPI_Win_fence(0, win);
	for (int i = 0; i < DEEP; i++)
		MPI_Put(out + i, 1, MPI_LONG, next_rank(), i, 1, MPI_LONG, win);
	MPI_Win_fence(0, win);
	check_words(mem, DEEP, prev_rank(), 0, "put");
	for (int i = 0; i < DEEP; i++)
		MPI_Get(in + i, 1, MPI_LONG, next_rank(), i, 1, MPI_LONG, win);
	MPI_Win_fence(0, win);
	check_words(in, DEEP, mt_rank, 0, "get");
	for (int i = 0; i < WIDE; i++)
		MPI_Put(out + WIDE_WORDS, WIDE_WORDS, MPI_LONG, next_rank(), WIDE_WORDS, WIDE_WORDS,
			MPI_LONG, win);
	MPI_Win_fence(0, win);
	check_words(mem + WIDE_WORDS, WIDE_WORDS, prev_rank(), WIDE_WORDS, "long put");
	window_close();
	free(out);
	free(in);
}

/* Odd lengths at odd addresses, of bytes. */
static void unaligned(void)
{
	unsigned char *part = mt_alloc(5000), out[777], in[777];
	MPI_Win w;

	memset(part, 0xee, 5000);
	mt_fill(out, sizeof(out), (unsigned int) mt_rank);
	MPI_Win_create(part, 5000, 1, MPI_INFO_NULL, mt_comm, &w);
	for (int at = 1; at < 40; at += 3) {
		MPI_Win_fence(0, w);
		MPI_Put(out + at, 777 - at, MPI_BYTE, next_rank(), 1000 + at, 777 - at, MPI_BYTE, w);
		MPI_Win_fence(0, w);
		MPI_Get(in + at, 777 - at, MPI_BYTE, next_rank(), 1000 + at, 777 - at, MPI_BYTE, w);
		MPI_Win_fence(0, w);
		mt_check(!memcmp(in + at, out + at, (size_t) (777 - at)), "what was put, at %d", at);
		mt_check(part[1777] == 0xee && part[999] == 0xee, "a byte beside it, at %d", at);
	}
	MPI_Win_free(&w);
	free(part);
}

/* A column of the target's matrix from a row of ours, and the reverse. */
static void strided(void)
{
	MPI_Datatype column;
	long *out = fresh(), in[256];

	MPI_Type_vector(256, 1, 512, MPI_LONG, &column);
	MPI_Type_commit(&column);
	window_open();
	MPI_Win_fence(0, win);
	MPI_Put(out, 256, MPI_LONG, next_rank(), 5, 1, column, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 256; i++)
		mt_check(mem[5 + i * 512] == elem(prev_rank(), i) && mem[6 + i * 512] == -1, "row %d", i);
	MPI_Get(in, 256, MPI_LONG, next_rank(), 5, 1, column, win);
	MPI_Win_fence(0, win);
	check_words(in, 256, mt_rank, 0, "what was put");
	window_close();
	MPI_Type_free(&column);
	free(out);
}

/* All ranks add to all concurrently: no update is lost. */
static void accumulate(void)
{
	long ones[100];

	for (int i = 0; i < 100; i++)
		ones[i] = i;
	window_open();
	for (int i = 0; i < 1000; i++)
		mem[i] = 0;
	MPI_Win_fence(0, win);
	for (int round = 0; round < 10; round++)
		for (int r = 0; r < mt_size; r++)
			MPI_Accumulate(ones, 100, MPI_LONG, r, 0, 100, MPI_LONG, MPI_SUM, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 100; i++)
		mt_check(mem[i] == 10L * mt_size * i, "sum %d is %ld", i, mem[i]);
	for (int r = 0; r < mt_size; r++)
		MPI_Accumulate(&(long) { 77 }, 1, MPI_LONG, r, 504, 1, MPI_LONG, MPI_REPLACE, win);
	MPI_Win_fence(0, win);
	mt_check(mem[504] == 77 && mem[505] == 0, "replace");
	window_close();
}

/*
 * Open MPI 4.1's btl gives up on network atomics other than sum and replace: this
 * case wants osc_rdma_acc_use_amo off, which makes them out of compare-and-swap.
 */
static void other_ops(void)
{
	long max[2] = { mt_rank, -mt_rank };

	window_open();
	for (int i = 500; i < 505; i++)
		mem[i] = 0;
	MPI_Win_fence(0, win);
	for (int r = 0; r < mt_size; r++) {
		MPI_Accumulate(&max[0], 1, MPI_LONG, r, 500, 1, MPI_LONG, MPI_MAX, win);
		MPI_Accumulate(&max[1], 1, MPI_LONG, r, 501, 1, MPI_LONG, MPI_MIN, win);
		MPI_Accumulate(&(long) { 1L << mt_rank }, 1, MPI_LONG, r, 502, 1, MPI_LONG, MPI_BOR, win);
		MPI_Accumulate(&(long) { 1L << mt_rank }, 1, MPI_LONG, r, 503, 1, MPI_LONG, MPI_BXOR, win);
	}
	MPI_Win_fence(0, win);
	mt_check(mem[500] == mt_size - 1 && mem[501] == 1 - mt_size, "max %ld, min %ld", mem[500], mem[501]);
	mt_check(mem[502] == (1L << mt_size) - 1 && mem[503] == mem[502], "or %lx, xor %lx", mem[502],
		 mem[503]);
	mt_check(mem[504] == 0, "the word beside them");
	window_close();
}

static void get_accumulate(void)
{
	long add[64], old[64], none[64];

	window_open();
	for (int i = 0; i < 64; i++) {
		add[i] = i + 1;
		mem[i] = 1000 * i;
	}
	MPI_Win_fence(0, win);
	MPI_Get_accumulate(add, 64, MPI_LONG, old, 64, MPI_LONG, next_rank(), 0, 64, MPI_LONG, MPI_SUM, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 64; i++)
		mt_check(old[i] == 1000 * i && mem[i] == 1001 * i + 1, "%d: %ld and %ld", i, old[i], mem[i]);
	MPI_Get_accumulate(none, 0, MPI_LONG, old, 64, MPI_LONG, next_rank(), 0, 64, MPI_LONG, MPI_NO_OP,
			   win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 64; i++)
		mt_check(old[i] == 1001 * i + 1, "read %d: %ld", i, old[i]);
	window_close();
}

/* Each rank draws tickets: all numbers are drawn, none twice. */
static void fetch_and_op(void)
{
	enum { DRAWS = 200 };
	long one = 1, got, last = -1;
	char *taken = mt_alloc((size_t) (DRAWS * mt_size));

	memset(taken, 0, (size_t) (DRAWS * mt_size));
	window_open();
	mem[10] = 0;
	MPI_Barrier(mt_comm);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < DRAWS; i++) {
		MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 10, MPI_SUM, win);
		MPI_Win_flush(0, win);
		if (mt_check(got > last && got < (long) DRAWS * mt_size, "%ld after %ld", got, last))
			taken[got] = 1;
		last = got;
	}
	MPI_Win_unlock_all(win);
	MPI_Allreduce(MPI_IN_PLACE, taken, DRAWS * mt_size, MPI_CHAR, MPI_SUM, mt_comm);
	for (int i = 0; i < DRAWS * mt_size; i++)
		mt_check(taken[i] == 1, "number %d was drawn %d times", i, taken[i]);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Fetch_and_op(NULL, &got, MPI_LONG, 0, 10, MPI_NO_OP, win);
	MPI_Win_unlock(0, win);
	mt_check(got == (long) DRAWS * mt_size, "the counter stands at %ld", got);
	window_close();
	free(taken);
}

/*
 * A lock made of compare-and-swap protects a counter of plain gets and puts. The rank that has
 * the counter does not take the lock: Open MPI 4.1 crashes when it swaps in its own memory,
 * over any library.
 */
static void compare_and_swap(void)
{
	long zero = 0, me = mt_rank + 1, old, val;

	window_open();
	mem[0] = mem[1] = 0;
	MPI_Barrier(mt_comm);
	MPI_Win_lock_all(0, win);
	for (int i = 0; mt_rank && i < 30; i++) {
		do {
			MPI_Compare_and_swap(&me, &zero, &old, MPI_LONG, 0, 0, win);
			MPI_Win_flush(0, win);
		} while (old);
		MPI_Get(&val, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		val++;
		MPI_Put(&val, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		MPI_Compare_and_swap(&zero, &me, &old, MPI_LONG, 0, 0, win);
		MPI_Win_flush(0, win);
		mt_check(old == me, "the lock was taken away by %ld", old);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(mt_comm);
	if (!mt_rank) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		mt_check(mem[1] == 30L * (mt_size - 1), "the counter stands at %ld", mem[1]);
		MPI_Win_unlock(0, win);
	}
	window_close();
}

/* 32-bit types and bytes beside the native 64 bits. */
static void small_types(void)
{
	int *part = mt_alloc(sizeof(int) * 100), one = 1, old, zero = 0, seven = 7;
	MPI_Win w;

	for (int i = 0; i < 100; i++)
		part[i] = 0;
	MPI_Win_create(part, sizeof(int) * 100, sizeof(int), MPI_INFO_NULL, mt_comm, &w);
	MPI_Win_lock_all(0, w);
	for (int i = 0; i < 50; i++)
		MPI_Fetch_and_op(&one, &old, MPI_INT, next_rank(), 3, MPI_SUM, w);
	MPI_Compare_and_swap(&seven, &zero, &old, MPI_INT, next_rank(), 4, w);
	MPI_Win_flush_all(w);
	mt_check(old == 0, "swapped %d", old);
	MPI_Win_unlock_all(w);
	MPI_Barrier(mt_comm);
	MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w);
	mt_check(part[3] == 50 && part[4] == 7 && !part[2] && !part[5], "%d, %d", part[3], part[4]);
	MPI_Win_unlock(mt_rank, w);
	MPI_Win_free(&w);
	free(part);
}

static void doubles(void)
{
	double *part = mt_alloc(sizeof(double) * 1000), add[1000];
	MPI_Win w;

	for (int i = 0; i < 1000; i++) {
		part[i] = 0.5;
		add[i] = i * 0.25;
	}
	MPI_Win_create(part, sizeof(double) * 1000, sizeof(double), MPI_INFO_NULL, mt_comm, &w);
	MPI_Win_fence(0, w);
	for (int r = 0; r < mt_size; r++)
		MPI_Accumulate(add, 1000, MPI_DOUBLE, r, 0, 1000, MPI_DOUBLE, MPI_SUM, w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < 1000; i++)
		mt_check(part[i] == 0.5 + mt_size * i * 0.25, "%d: %f", i, part[i]);
	MPI_Win_free(&w);
	free(part);
}

/* Post, start, complete, wait: a ring of neighbours. */
static void pscw(void)
{
	MPI_Group all, from, to;
	long *out = fresh();
	int flag;

	MPI_Comm_group(mt_comm, &all);
	MPI_Group_incl(all, 1, &(int) { prev_rank() }, &from);
	MPI_Group_incl(all, 1, &(int) { next_rank() }, &to);
	window_open();
	for (int round = 0; round < 20; round++) {
		MPI_Win_post(from, 0, win);
		MPI_Win_start(to, 0, win);
		MPI_Put(out + round, 1000, MPI_LONG, next_rank(), round, 1000, MPI_LONG, win);
		MPI_Win_complete(win);
		if (round % 2)
			MPI_Win_wait(win);
		else
			for (flag = 0; !flag;)
				MPI_Win_test(win, &flag);
		check_words(mem + round, 1000, prev_rank(), round, "put");
	}
	window_close();
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	free(out);
}

/* An exclusive lock makes a read, a sum and a write atomic. */
static void exclusive_lock(void)
{
	long val;

	window_open();
	mem[0] = 0;
	MPI_Barrier(mt_comm);
	for (int i = 0; i < 30; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(&val, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		val++;
		MPI_Put(&val, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(mt_comm);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(&val, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
	MPI_Win_unlock(0, win);
	mt_check(val == 30L * mt_size, "the counter stands at %ld", val);
	window_close();
}

/* The target sleeps while others read and write its memory. */
static void passive_target(void)
{
	long *out = fresh(), *in = mt_alloc(sizeof(*in) * WORDS);

	window_open();
	MPI_Barrier(mt_comm);
	if (mt_rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		MPI_Put(out, WORDS, MPI_LONG, 0, 0, WORDS, MPI_LONG, win);
		MPI_Win_flush(0, win);
		MPI_Get(in, WORDS, MPI_LONG, 0, 0, WORDS, MPI_LONG, win);
		MPI_Win_unlock(0, win);
		check_words(in, WORDS, 1, 0, "what was put");
	}
	MPI_Barrier(mt_comm);
	if (!mt_rank)
		check_words(mem, WORDS, 1, 0, "put");
	window_close();
	free(out);
	free(in);
}

static void request_based(void)
{
	enum { CNT = 32, LEN = 2000 };
	long *out = fresh(), in[CNT];
	MPI_Request req[CNT];

	window_open();
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < CNT; i++)
		MPI_Rput(out + i * LEN, LEN, MPI_LONG, next_rank(), i * LEN, LEN, MPI_LONG, win, &req[i]);
	MPI_Waitall(CNT, req, MPI_STATUSES_IGNORE);
	MPI_Win_flush_all(win);
	for (int i = 0; i < CNT; i++)
		MPI_Rget(&in[i], 1, MPI_LONG, next_rank(), i * LEN + 1, 1, MPI_LONG, win, &req[i]);
	MPI_Waitall(CNT, req, MPI_STATUSES_IGNORE);
	for (int i = 0; i < CNT; i++)
		mt_check(in[i] == elem(mt_rank, i * LEN + 1), "%d: %ld", i, in[i]);
	for (int i = 0; i < CNT; i++)
		MPI_Raccumulate(&out[1], 1, MPI_LONG, next_rank(), WORDS - 1, 1, MPI_LONG,
				i ? MPI_SUM : MPI_REPLACE, win, &req[i]);
	MPI_Waitall(CNT, req, MPI_STATUSES_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Barrier(mt_comm);
	MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
	mt_check(mem[WORDS - 1] == CNT * elem(prev_rank(), 1), "sum %ld", mem[WORDS - 1]);
	MPI_Win_unlock(mt_rank, win);
	window_close();
	free(out);
}

/* Memory allocated by MPI, and memory attached to an open window. */
static void other_windows(void)
{
	long *part, val = mt_rank;
	MPI_Aint at, *ats = mt_alloc(sizeof(*ats) * (size_t) mt_size);
	MPI_Win w;

	MPI_Win_allocate(1000 * sizeof(*part), sizeof(*part), MPI_INFO_NULL, mt_comm, &part, &w);
	MPI_Win_fence(0, w);
	for (int r = 0; r < mt_size; r++)
		MPI_Put(&val, 1, MPI_LONG, r, mt_rank, 1, MPI_LONG, w);
	MPI_Win_fence(0, w);
	for (int r = 0; r < mt_size; r++)
		mt_check(part[r] == r, "allocated: %d holds %ld", r, part[r]);
	MPI_Win_free(&w);

	part = mt_alloc(1000 * sizeof(*part));
	MPI_Win_create_dynamic(MPI_INFO_NULL, mt_comm, &w);
	MPI_Win_attach(w, part, 1000 * sizeof(*part));
	MPI_Get_address(part, &at);
	MPI_Allgather(&at, 1, MPI_AINT, ats, 1, MPI_AINT, mt_comm);
	MPI_Win_lock_all(0, w);
	for (int r = 0; r < mt_size; r++)
		MPI_Put(&val, 1, MPI_LONG, r, MPI_Aint_add(ats[r], mt_rank * (MPI_Aint) sizeof(*part)), 1,
			MPI_LONG, w);
	MPI_Win_unlock_all(w);
	MPI_Barrier(mt_comm);
	for (int r = 0; r < mt_size; r++)
		mt_check(part[r] == r, "attached: %d holds %ld", r, part[r]);
	MPI_Win_detach(w, part);
	MPI_Win_free(&w);
	free(part);
	free(ats);
}

/* Messages and one-sided operations between the same ranks; no order between them. */
static void with_messages(void)
{
	long *out = fresh(), in = -1;

	window_open();
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 100; i++) {
		MPI_Put(out, 3000, MPI_LONG, next_rank(), i * 10, 3000, MPI_LONG, win);
		MPI_Sendrecv(&out[i], 1, MPI_LONG, next_rank(), i, &in, 1, MPI_LONG, prev_rank(), i, mt_comm,
			     MPI_STATUS_IGNORE);
		mt_check(in == elem(prev_rank(), i), "message %d", i);
		MPI_Win_flush(next_rank(), win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(mt_comm);
	check_words(mem + 990, 3000, prev_rank(), 0, "the last put");
	window_close();
	free(out);
}

static const struct mt_case cases[] = {
	{ "put, 8 bytes to 2 MiB, fences", put_fence, 2 },
	{ "get, 8 bytes to 2 MiB, fences", get_fence, 2 },
	{ "20000 puts, gets and 320 of 128 KiB in an epoch", deep_epoch, 2 },
	{ "bytes at odd addresses", unaligned, 2 },
	{ "put and get of a column", strided, 2 },
	{ "accumulate by all to all", accumulate, 2 },
	{ "accumulate: max, min, bor, bxor", other_ops, 2 },
	{ "get_accumulate", get_accumulate, 2 },
	{ "fetch_and_op draws each number once", fetch_and_op, 2 },
	{ "a lock made of compare_and_swap", compare_and_swap, 2 },
	{ "32-bit fetch_and_op and compare_and_swap", small_types, 2 },
	{ "accumulate of doubles", doubles, 2 },
	{ "post, start, complete, wait and test", pscw, 2 },
	{ "exclusive lock", exclusive_lock, 2 },
	{ "2 MiB to and from a target that waits elsewhere", passive_target, 2 },
	{ "rput, rget and raccumulate", request_based, 2 },
	{ "allocated and dynamic windows", other_windows, 2 },
	{ "puts between messages", with_messages, 2 },
};

int main(int argc, char **argv)
{
	return mt_main(argc, argv, MPI_THREAD_SINGLE, cases, mt_count(cases));
}
