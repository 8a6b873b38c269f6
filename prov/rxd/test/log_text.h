/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* log_text.h - what is logged on stderr, as text.  The program that includes it has CHECK(). */
#ifndef RXD_TEST_LOG_TEXT_H
#define RXD_TEST_LOG_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOG_MAX 65536

/* log_begin, log_end - what is logged between the two, "" if nothing is; to be freed. */
static FILE *log_file;
static int log_stderr;

static inline void log_begin(void)
{
	log_file = tmpfile();
	CHECK(log_file);
	log_stderr = dup(2);
	CHECK(log_stderr >= 0 && dup2(fileno(log_file), 2) == 2);
}

static inline char *log_end(void)
{
	char *text = calloc(1, LOG_MAX);

	CHECK(dup2(log_stderr, 2) == 2 && text);
	close(log_stderr);
	rewind(log_file);
	text[fread(text, 1, LOG_MAX - 1, log_file)] = '\0';
	fclose(log_file);
	return text;
}

#endif
