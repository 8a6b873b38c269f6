/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_REPORT_H
#define PP_REPORT_H

/* The results, as a table or as JSON, and on a terminal the progress. */

#include <stdbool.h>
#include <stddef.h>

#include <rdma/fabric.h>

#include "../json.h"
#include "measure.h"
#include "options.h"

struct pp_report {
	const struct pp_options *o;
	bool silent;			/* print nothing */
	bool live;			/* show progress on stderr */
	bool shown;			/* a progress line is on the terminal */
	double started;			/* start time of the current size, seconds */
	struct json json;
};

/* pp_report_begin - the head of the table, or the JSON document up to the results.
 * pp_report_size - one row.
 * pp_report_end - @ok: all sizes were measured
 */
void pp_report_begin(struct pp_report *r, const struct pp_options *o,
		     const struct fi_info *info, bool silent);
void pp_report_size(struct pp_report *r, const struct pp_result *res);
void pp_report_end(struct pp_report *r, bool ok);

/* pp_report_progress - for struct pp_measure; @arg is the report. */
void pp_report_progress(void *arg, size_t size, double done);

#endif
