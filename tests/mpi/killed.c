/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * killed - the last rank is killed; the others must detect that, report it and end.
 *
 * Run under mpirun --enable-recovery, so that mpirun ends no rank itself.  The argument says
 * what the survivors were waiting for.  A survivor that gets an error prints "told"; one that
 * gets none within its limit prints "no end".
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "../limit.h"

#define LIMIT 20
#define BEGUN 100

static int rank, size;

static void too_long(int sig)
{
	(void) sig;
	if (write(STDOUT_FILENO, "no end\n", 7) < 0)
		_exit(4);
	_exit(3);
}

/* The error handler of MPI; a survivor ends here. */
static void told(MPI_Comm *comm, int *err, ...)
{
	char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 40];
	int len = 0, cnt;

	(void) comm;
	MPI_Error_string(*err, text, &len);
	cnt = snprintf(line, sizeof(line), "told: rank %d: %s\n", rank, text);
	if (write(STDOUT_FILENO, line, (size_t) cnt) < 0)
		_exit(4);
	_exit(0);
}

static void die(void)
{
	kill(getpid(), SIGKILL);
}

/* A message of 64 MiB of which the killed rank has received a part. */
static void sending(void)
{
	char *big = calloc(64, 1 << 20);
	MPI_Request req;

	if (rank == size - 1) {
		MPI_Irecv(big, 1 << 20, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &req);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
		die();
	}
	MPI_Send(big, 1 << 20, MPI_BYTE, size - 1, 1, MPI_COMM_WORLD);
	for (int i = 0; i < 100; i++)
		MPI_Send(big, 64 << 20, MPI_BYTE, size - 1, 2, MPI_COMM_WORLD);
}

/*
 * Messages that the killed rank had begun: it is killed when each of the others has said that
 * they are announced, when most of them cannot have arrived.
 */
static void receiving(void)
{
	char *big = calloc(64, 1 << 20), begun = 0;
	MPI_Request req[BEGUN];

	for (int r = 0; r < size - 1 && rank == size - 1; r++) {
		for (int i = 0; i < BEGUN; i++)
			MPI_Isend(big, 64 << 20, MPI_BYTE, r, 1, MPI_COMM_WORLD, &req[i]);
		MPI_Send(&begun, 1, MPI_BYTE, r, 2, MPI_COMM_WORLD);
	}
	if (rank == size - 1) {
		for (int r = 0; r < size - 1; r++)
			MPI_Recv(&begun, 1, MPI_BYTE, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		die();
	}
	for (int i = 0; i < BEGUN; i++)
		MPI_Irecv(big, 64 << 20, MPI_BYTE, size - 1, 1, MPI_COMM_WORLD, &req[i]);
	MPI_Recv(&begun, 1, MPI_BYTE, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&begun, 1, MPI_BYTE, size - 1, 3, MPI_COMM_WORLD);
	MPI_Waitall(BEGUN, req, MPI_STATUSES_IGNORE);
}

/*
 * Messages in both directions.  They are longer than what is injected: Open MPI 4.1 crashes on
 * the failure of an injected message, which has no context (fi_cq(3)).
 */
static void talking(void)
{
	static char in[4096], out[4096];

	for (int i = 0; ; i++) {
		if (rank == size - 1) {
			for (int r = 0; r < size - 1; r++) {
				MPI_Recv(in, sizeof(in), MPI_BYTE, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Send(out, sizeof(out), MPI_BYTE, r, 1, MPI_COMM_WORLD);
			}
			if (i == 1000)
				die();
		} else {
			MPI_Sendrecv(out, sizeof(out), MPI_BYTE, size - 1, 1, in, sizeof(in),
				     MPI_BYTE, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* A collective operation that can no longer complete. */
static void reducing(void)
{
	int *big = calloc(1 << 20, sizeof(*big)), *sum = calloc(1 << 20, sizeof(*sum));

	for (int i = 0; ; i++) {
		if (i == 3 && rank == size - 1)
			die();
		MPI_Allreduce(big, sum, 1 << 20, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } forms[] = {
		{ "sending", sending }, { "receiving", receiving },
		{ "talking", talking }, { "reducing", reducing },
	};
	MPI_Errhandler handler;

	limit_time(LIMIT, too_long);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_create_errhandler(told, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Barrier(MPI_COMM_WORLD);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (argc > 1 && !strcmp(forms[i].name, argv[1]))
			forms[i].run();
	printf("rank %d: not told\n", rank);
	fflush(stdout);
	_exit(1);
}
