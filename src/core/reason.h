/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* reason.h - the most telling of the reasons why candidates are left out, for one warning.
 *
 * Providers, also loaded ones, write a line for each candidate that they leave out
 * (base/explain.h) at FI_LOG_INFO.  While a thread collects, the log passes these lines here,
 * whether or not they are logged.
 */
#ifndef CORE_REASON_H
#define CORE_REASON_H

#include <stdbool.h>
#include <rdma/providers/fi_log.h>

#include "base/explain.h"

struct core_reason {
	const char *subject;		/* the provider that was asked for; NULL: any of FI_PROVIDER */
	bool any;			/* no provider was asked for: @subject is NULL */
	int rank;			/* of @line; 0: there is none */
	bool warned;			/* a warning was logged meanwhile, which has the cause */
	struct explain_line line;	/* offered: of all candidates that this hint leaves out */
	struct core_reason *outer;	/* what the thread collected before */
};

/* core_reason_begin, core_reason_end - the calling thread collects between these calls.
 * The caller sets reason->any.
 */
void core_reason_begin(struct core_reason *reason, const char *subject);
void core_reason_end(struct core_reason *reason);

/* core_reason_wants - for the log: does this thread collect lines of this kind? */
bool core_reason_wants(enum fi_log_level level, enum fi_log_subsys subsys);

/* core_reason_add - for the log: a line, logged or not. */
void core_reason_add(enum fi_log_level level, const char *msg);

/* core_reason_is_choice - does the hint only select among the candidates, as a domain's name? */
bool core_reason_is_choice(const struct core_reason *reason);

/* core_reason_log - log the reason at @level, unless a warning has the cause already.  The same text is
 * logged once in a process: programs try one set of hints after another.
 * @who: what was asked for
 */
void core_reason_log(const struct core_reason *reason, enum fi_log_level level, const char *who);

#endif
