/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "mt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../limit.h"

#define CASE_SECONDS 30		/* times $MT_SLOW */
#define ERRORS_SHOWN 5

int mt_rank, mt_size;
MPI_Comm mt_comm;

static MPI_Comm verdicts;		/* for the sum of errors over all ranks */
static const char *running = "start";
static int errors;

/* Only write(2): the handler may interrupt any call. */
static void too_long(int sig)
{
	char text[160];
	int len = snprintf(text, sizeof(text), "# rank %d: no end of \"%s\"\n", mt_rank, running);

	(void) sig;
	if (write(STDERR_FILENO, text, (size_t) len) < 0)
		_exit(4);
	_exit(3);
}

void mt_limit(unsigned int seconds)
{
	const char *slow = getenv("MT_SLOW");

	limit_time(seconds * (slow ? (unsigned int) atoi(slow) : 1), too_long);
}

bool mt_check_at(bool ok, const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (ok)
		return true;
	if (__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED) >= ERRORS_SHOWN)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "# rank %d, %s:%d, \"%s\": %s\n", mt_rank, file, line, running, text);
	return false;
}

static unsigned char byte_at(size_t i, unsigned int seed)
{
	return (unsigned char) ((i * 167 + (i >> 8) * 13 + (i >> 16) * 7) ^ (seed * 101 + 1));
}

void mt_fill(void *buf, size_t len, unsigned int seed)
{
	unsigned char *at = buf;

	for (size_t i = 0; i < len; i++)
		at[i] = byte_at(i, seed);
}

void mt_verify(const void *buf, size_t len, unsigned int seed, const char *what)
{
	const unsigned char *at = buf;

	for (size_t i = 0; i < len; i++)
		if (!mt_check(at[i] == byte_at(i, seed), "%s: byte %zu of %zu is %02x, not %02x",
			      what, i, len, at[i], byte_at(i, seed)))
			return;
}

void *mt_alloc(size_t len)
{
	void *mem = malloc(len ? len : 1);

	if (!mem) {
		fprintf(stderr, "# rank %d: no memory for %zu bytes\n", mt_rank, len);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	return mem;
}

static int run_case(const struct mt_case *c)
{
	int sum = 0;

	running = c->name;
	errors = 0;
	mt_limit(CASE_SECONDS);
	c->run();
	MPI_Allreduce(&errors, &sum, 1, MPI_INT, MPI_SUM, verdicts);
	if (!mt_rank) {
		printf("%s %s\n", sum ? "not ok" : "ok", c->name);
		fflush(stdout);
	}
	return sum != 0;
}

/* "WORD": the cases whose names have it; "-WORD": the others. */
static bool wanted(const char *name, const char *word)
{
	if (!word)
		return true;
	return *word == '-' ? !strstr(name, word + 1) : strstr(name, word) != NULL;
}

int mt_main(int argc, char **argv, int level, const struct mt_case *cases, int cnt)
{
	int got = 0, bad = 0;

	mt_limit(CASE_SECONDS);
	MPI_Init_thread(&argc, &argv, level, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &mt_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &mt_size);
	if (got < level) {
		fprintf(stderr, "# MPI was asked for thread level %d and gives %d\n", level, got);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Comm_dup(MPI_COMM_WORLD, &mt_comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &verdicts);
	for (int i = 0; i < cnt; i++)
		if (cases[i].ranks <= mt_size && wanted(cases[i].name, argv[1]))
			bad += run_case(&cases[i]);
	running = "end";
	MPI_Comm_free(&verdicts);
	MPI_Comm_free(&mt_comm);
	MPI_Finalize();
	return bad != 0;
}
