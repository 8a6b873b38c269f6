/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * latency - half the round trip of a message between two ranks, by MPI.
 *
 *   mpirun -n 2 latency [BYTES [ITERATIONS]]      (8 bytes, 100000 times)
 *
 * Prints microseconds, the median of ten slices.  It has no pass or fail criterion.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SLICES 10
#define TAG 7

static void bounce(int rank, char *buf, int len, int times)
{
	int i;

	for (i = 0; i < times; i++) {
		if (!rank)
			MPI_Send(buf, len, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
		MPI_Recv(buf, len, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank)
			MPI_Send(buf, len, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int len = argc > 1 ? atoi(argv[1]) : 8, times = argc > 2 ? atoi(argv[2]) : 100000;
	int rank, ranks, i;
	double us[SLICES];
	char *buf;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	buf = calloc(1, len > 0 ? (size_t) len : 1);
	if (ranks != 2 || len < 0 || times < SLICES || !buf) {
		fprintf(stderr, "usage: mpirun -n 2 latency [BYTES [ITERATIONS]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bounce(rank, buf, len, times / SLICES);
	for (i = 0; i < SLICES; i++) {
		us[i] = MPI_Wtime();
		bounce(rank, buf, len, times / SLICES);
		us[i] = (MPI_Wtime() - us[i]) * 1e6 / (times / SLICES) / 2;
	}
	qsort(us, SLICES, sizeof(*us), compare);
	if (!rank)
		printf("%.3f us half round trip, %d bytes\n", us[SLICES / 2], len);
	free(buf);
	MPI_Finalize();
	return 0;
}
