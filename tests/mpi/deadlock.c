/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * deadlock - each rank receives a message of tag 100 + its number from the next one, before it sends to the
 * rank before it.  Each prints "waits PID", and hangs until it is ended.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, next, before;
	char buf[64] = "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	MPI_Barrier(MPI_COMM_WORLD);
	printf("waits %d\n", (int) getpid());
	fflush(stdout);
	MPI_Recv(buf, sizeof(buf), MPI_BYTE, next, 100 + rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(buf, sizeof(buf), MPI_BYTE, before, 100 + before, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
