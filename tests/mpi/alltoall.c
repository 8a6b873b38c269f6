/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * alltoall - all ranks send 512 KiB to each other again and again, and check what they get.
 *
 *   alltoall SECONDS FILE		FILE is made when the first exchange has ended
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CNT 131072

static int rank, size;
static int *from, *to;

static int elem(int a, int b, int i, int round)
{
	return a * 1000003 + b * 1009 + i + round;
}

/* exchange - returns how many elements are wrong. */
static long exchange(int round)
{
	long wrong = 0;

	for (int peer = 0; peer < size; peer++)
		for (int i = 0; i < CNT; i++)
			from[peer * CNT + i] = elem(rank, peer, i, round);
	MPI_Alltoall(from, CNT, MPI_INT, to, CNT, MPI_INT, MPI_COMM_WORLD);
	for (int peer = 0; peer < size; peer++)
		for (int i = 0; i < CNT; i++)
			wrong += to[peer * CNT + i] != elem(peer, rank, i, round);
	return wrong;
}

int main(int argc, char **argv)
{
	double begin, at, longest = 0;
	int round = 0, more = 1;
	long wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	from = malloc(sizeof(int) * CNT * (size_t) size);
	to = malloc(sizeof(int) * CNT * (size_t) size);
	if (argc < 3 || !from || !to)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (begin = MPI_Wtime(); more; round++) {
		at = MPI_Wtime();
		wrong += exchange(round);
		at = MPI_Wtime() - at;
		longest = at > longest ? at : longest;
		if (!round && !rank)
			fclose(fopen(argv[2], "w"));
		more = MPI_Wtime() - begin < atof(argv[1]);
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	printf("rank %d: %d exchanges, %ld wrong, the longest took %.2f s\n", rank, round, wrong, longest);
	MPI_Finalize();
	return wrong != 0;
}
