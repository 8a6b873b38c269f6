/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef TESTS_MPI_MT_H
#define TESTS_MPI_MT_H

/*
 * mt.h - shared by the MPI programs.
 *
 * A program is a table of cases that all ranks run in the same order.  A case counts errors
 * with mt_check(); after it the ranks add them up and rank 0 prints one line, "ok NAME" or "not
 * ok NAME".  A case that exceeds its time limit ends the program, and names the rank.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

struct mt_case {
	const char *name;
	void (*run)(void);
	int ranks;			/* minimum; with fewer the case is left out */
};

extern int mt_rank, mt_size;		/* in MPI_COMM_WORLD */
extern MPI_Comm mt_comm;		/* a duplicate of it, for the cases */

/* mt_main - initialize MPI at thread level @level, run the cases, finalize.
 * The first argument picks cases: "WORD" those whose names have it, "-WORD" the
 * others.  Returns what main() shall return.
 */
int mt_main(int argc, char **argv, int level, const struct mt_case *cases, int cnt);

/* mt_check - count an error of this rank, with the place and a text, if not @ok. */
#define mt_check(ok, ...) mt_check_at((ok), __FILE__, __LINE__, __VA_ARGS__)
bool mt_check_at(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* mt_fill, mt_verify - bytes that depend on @seed and their place.
 * mt_verify() names the first wrong byte and its value.
 */
void mt_fill(void *buf, size_t len, unsigned int seed);
void mt_verify(const void *buf, size_t len, unsigned int seed, const char *what);

/* mt_alloc - memory, or the end of the program. */
void *mt_alloc(size_t len);

/* mt_limit - seconds that the running case may take from here; times MT_SLOW of the
 * environment, where the machine is a slow one.
 */
void mt_limit(unsigned int seconds);

#define mt_count(array) ((int) (sizeof(array) / sizeof(*(array))))

#endif
