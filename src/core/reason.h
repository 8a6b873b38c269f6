/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* reason.h - the most telling of the reasons why candidates are left out, for one warning.
 *
 * While a thread collects, the refusals of the providers in this library come here as structures
 * (base/explain.h); text is made of them for the warning alone.  Providers of other files write
 * a line at FI_LOG_INFO for each, which the log passes here whether or not it is logged.
 */
#ifndef CORE_REASON_H
#define CORE_REASON_H

#include <stdbool.h>
#include <rdma/providers/fi_log.h>

#include "base/explain.h"

#define CORE_REASON_VALUES 8		/* distinct values that the warning can name */

struct core_reason {
	const char *subject;		/* the provider that was asked for; NULL: any of FI_PROVIDER */
	bool any;			/* no provider was asked for: @subject is NULL */
	int rank;			/* of what follows; 0: there is none */
	bool warned;			/* a warning was logged meanwhile, which has the cause */
	char attr[64];
	struct explain_value wanted;
	struct explain_value offered[CORE_REASON_VALUES]; /* of all candidates that @attr leaves out */
	int offered_cnt;
	char texts[1 + CORE_REASON_VALUES][EXPLAIN_VALUE_MAX]; /* of @wanted and @offered that are texts */
	struct core_reason *outer;	/* what the thread collected before */
};

/* core_reason_begin, core_reason_end - the calling thread collects between these calls.
 * The caller sets reason->any.
 */
void core_reason_begin(struct core_reason *reason, const char *subject);
void core_reason_end(struct core_reason *reason);

/* core_reason_lines - the providers that are called from here on write lines instead of structures:
 * they are loaded.  Returns what held before, to be set again after the call.
 */
bool core_reason_lines(bool on);

/* core_reason_wants - for the log: does this thread collect lines of this kind? */
bool core_reason_wants(enum fi_log_level level, enum fi_log_subsys subsys);

/* core_reason_taker - takes the refusals of this library's providers. */
extern const struct explain_taker core_reason_taker;

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
