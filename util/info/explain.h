/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef INFO_EXPLAIN_H
#define INFO_EXPLAIN_H

/*
 * Why candidates were not offered.  Providers write that to the log (src/base/explain.h); this
 * file imports a logger while fi_getinfo runs and keeps those lines.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/explain.h"
#include "../json.h"

struct info_explain {
	struct explain_line *rows;	/* refusals in order, each once */
	size_t cnt;
	char **filtered;		/* providers that FI_PROVIDER excludes */
	size_t filtered_cnt;
	char *filter;			/* value of FI_PROVIDER, or NULL */
	char *unknown;			/* requested provider name that does not exist, or NULL */
	int lost;			/* number of lines dropped for want of memory */
	char ep_type[32];		/* requested FI_EP_*, by name; "": any */
};

/* info_explain_start - receive the library's log lines from now on.
 *
 * @ex: zeroed; must not move until info_explain_stop()
 *
 * Warnings still go to stderr.
 * Errors: those of fi_import_log(); -FI_ENOSYS from a library without it.
 */
int info_explain_start(struct info_explain *ex);

/* info_explain_providers - find the providers that FI_PROVIDER excludes, and whether @wanted
 * ("tcp", "udp;ofi_rxd", NULL) names one that does not exist.  Must be called last: it removes
 * FI_PROVIDER from the environment.
 *
 * @version: for fi_getinfo
 */
void info_explain_providers(struct info_explain *ex, uint32_t version, const char *wanted);

/* info_explain_add - process one log line.  Lines of other kinds are ignored, and so are
 * refusals of an endpoint type that only a layered provider asked for.
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
