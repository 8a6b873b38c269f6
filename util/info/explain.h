/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_EXPLAIN_H
#define INFO_EXPLAIN_H

/*
 * Why a candidate was not offered.  The providers say so in log lines
 * (src/base/explain.h); this file stands in for the library's log while
 * fi_getinfo runs and keeps those lines.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/explain.h"
#include "../json.h"

struct info_explain {
	struct explain_line *rows;	/* refusals in the order they were said, each once */
	size_t cnt;
	char **filtered;		/* providers that FI_PROVIDER leaves out */
	size_t filtered_cnt;
	char *filter;			/* value of FI_PROVIDER, or NULL */
	char *unknown;			/* provider name asked for that none has, or NULL */
	int lost;			/* lines that did not fit into memory */
	char ep_type[32];		/* FI_EP_*, by name, that was asked for; "": of any */
};

/* info_explain_start - have the library's log lines from now on.
 *
 * @ex: zeroed; stays where it is until info_explain_stop()
 *
 * Warnings still go to stderr.
 * Errors: what fi_import_log() says; -FI_ENOSYS from a library without it.
 */
int info_explain_start(struct info_explain *ex);

/* info_explain_providers - find the providers that FI_PROVIDER leaves out, and
 * whether @wanted ("tcp", "udp;ofi_rxd", NULL) names one that there is not.
 * Call it last: it takes FI_PROVIDER out of the environment.
 *
 * @version: for fi_getinfo
 */
void info_explain_providers(struct info_explain *ex, uint32_t version, const char *wanted);

/* info_explain_add - take one log line; lines of other kinds are left alone, and so
 * are refusals of an endpoint type that nobody but a layered provider asked for.
 * Errors: -FI_ENOENT: another kind; -FI_EINVAL: malformed; -FI_ENOMEM.
 */
int info_explain_add(struct info_explain *ex, const char *line);

/* info_explain_print - the text form, one block per provider.
 * info_explain_dump - "refused" and "filtered", into an open object.
 */
void info_explain_print(const struct info_explain *ex, FILE *out);
void info_explain_dump(const struct info_explain *ex, struct json *j);

void info_explain_free(struct info_explain *ex);

#endif
