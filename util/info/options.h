/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_OPTIONS_H
#define INFO_OPTIONS_H

/* The command line of fi_info. */

#include <stdbool.h>

#include <rdma/fabric.h>

enum info_task {
	INFO_QUERY,		/* call fi_getinfo and print the result */
	INFO_ENV,		/* print environment variables */
	INFO_PATH,		/* the way to @node */
	INFO_VERSION,
	INFO_USAGE,
};

struct info_options {
	enum info_task task;
	const char *node;		/* of fi_getinfo, NULL when not given */
	const char *service;
	uint64_t flags;			/* FI_SOURCE, FI_PROV_ATTR_ONLY */
	struct fi_info *hints;		/* NULL unless a filter was given */
	const char *substr;		/* -g: part of a variable's name; -i: of the text */
	bool list;			/* -l */
	bool verbose;			/* -v or -i */
	bool explain;
	bool json;
	bool probe;
};

/* info_options_parse - parse the command line.
 *
 * @o_p: [out] always filled in; release with info_options_free()
 *
 * Prints errors in values to stderr.
 * Errors: -FI_EINVAL, an invalid value; -FI_ENOMEM.  An unknown option is not an error here:
 *         the task is INFO_USAGE.
 */
int info_options_parse(int argc, char **argv, struct info_options *o_p);
void info_options_free(struct info_options *o);

/* info_options_usage - print the options to stdout. */
void info_options_usage(void);

#endif
