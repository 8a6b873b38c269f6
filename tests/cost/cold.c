/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cold - compare the run time of two processes, run alternately.
 *
 *   cold RUNS PROGRAM PROGRAM
 *
 * Prints the median wall time of each and the ratio of the second to the first.
 */

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 1000

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static double life(char *path)
{
	char *argv[] = { path, NULL };
	double start = now_us();
	int status, err;
	pid_t pid;

	err = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	if (err || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "cold: %s: %s\n", path,
			err ? strerror(err) : "did not end with status 0");
		exit(1);
	}
	return now_us() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double us[2][RUNS_MAX];
	int runs = argc == 4 ? atoi(argv[1]) : 0;

	if (runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: cold RUNS PROGRAM PROGRAM (RUNS up to %d)\n", RUNS_MAX);
		return 2;
	}
	for (int i = -3; i < runs; i++) {	/* the first ones fill the caches */
		for (int k = 0; k < 2; k++) {
			double t = life(argv[2 + k]);

			if (i >= 0)
				us[k][i] = t;
		}
	}
	for (int k = 0; k < 2; k++) {
		qsort(us[k], (size_t) runs, sizeof(double), by_value);
		printf("%-9s %9.0f us\n", strrchr(argv[2 + k], '/') ? strrchr(argv[2 + k], '/') + 1 :
		       argv[2 + k], us[k][runs / 2]);
	}
	printf("ratio     %9.2f\n", us[1][runs / 2] / us[0][runs / 2]);
	return 0;
}
