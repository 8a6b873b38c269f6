/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * jobs - a job of many ranks, from start to end: what tests/scale/jobs measures.
 *
 *   jobs [ROUNDS]	of each collective operation; 200 if nothing is said
 *
 * Rank 0 prints a line "NAME VALUE" for each figure: microseconds an operation, milliseconds of
 * MPI_Init, KiB of the largest rank.  Each rank checks what an alltoall brings.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BLOCK_MAX 65536

static int ranks, me, rounds = 200;
static char *out, *in;

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

static void barrier(int len)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int len)
{
	MPI_Allreduce(out, in, len, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void bcast(int len)
{
	MPI_Bcast(out, len, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void alltoall(int len)
{
	MPI_Alltoall(out, len, MPI_BYTE, in, len, MPI_BYTE, MPI_COMM_WORLD);
}

static void check_alltoall(int len)
{
	int i;

	for (i = 0; i < ranks; i++) {
		memset(out + (size_t) i * (size_t) len, me ^ i, (size_t) len);
		memset(in + (size_t) i * (size_t) len, 0xa5, (size_t) len);
	}
	alltoall(len);
	for (i = 0; i < ranks * len; i++)
		if (in[i] != (char) (me ^ (i / len))) {
			fprintf(stderr, "rank %d: wrong byte %d\n", me, i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	memset(out, 0, (size_t) ranks * (size_t) len);
}

static void measure(const char *name, void (*op)(int len), int len, int cnt)
{
	double begin;
	int i;

	for (i = 0; i < cnt / 10 + 1; i++)
		op(len);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = seconds();
	for (i = 0; i < cnt; i++)
		op(len);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!me)
		printf("%s %.2f\n", name, (seconds() - begin) / cnt * 1e6);
}

int main(int argc, char **argv)
{
	double begin = seconds();
	struct rusage usage;
	long own, most;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (argc > 1)
		rounds = atoi(argv[1]);
	if (!me)
		printf("init %.2f\n", (seconds() - begin) * 1e3);
	out = calloc((size_t) ranks, BLOCK_MAX);
	in = calloc((size_t) ranks, BLOCK_MAX);
	check_alltoall(64);
	check_alltoall(4096);
	measure("barrier", barrier, 0, rounds);
	measure("allreduce-8", allreduce, 8, rounds);
	measure("bcast-8", bcast, 8, rounds);
	measure("alltoall-64", alltoall, 64, rounds);
	measure("alltoall-4096", alltoall, 4096, rounds / 4 + 1);
	getrusage(RUSAGE_SELF, &usage);
	own = usage.ru_maxrss;
	MPI_Reduce(&own, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!me)
		printf("memory %ld\n", most);
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
