/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * abi_row.h - rows of a table, compared one by one.
 */
#ifndef ABI_ROW_H
#define ABI_ROW_H

#include <stddef.h>
#include <stdio.h>

/* One fact: what the compiler sees in our headers, what the table says. */
struct abi_row {
	const char *what;	/* names the row in a failure */
	long long got;
	long long want;
};

/* abi_row_check - number of rows that differ; each is printed. */
static inline size_t abi_row_check(const struct abi_row *rows, size_t count)
{
	size_t i, bad = 0;

	for (i = 0; i < count; i++) {
		if (rows[i].got == rows[i].want)
			continue;
		fprintf(stderr, "%s: have %lld (%#llx), the table says %lld (%#llx)\n",
			rows[i].what, rows[i].got, rows[i].got,
			rows[i].want, rows[i].want);
		bad++;
	}
	return bad;
}

#endif /* ABI_ROW_H */
