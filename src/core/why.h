/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* why.h - the reasons why fi_getinfo() found nothing, as far as the core knows them.
 *
 * The lines have the format that providers write (src/base/explain.h), so that fi_info
 * --explain parses one grammar.
 */
#ifndef CORE_WHY_H
#define CORE_WHY_H

#include <stdbool.h>

#include <rdma/fabric.h>

#include "core/ask.h"
#include "core/registry.h"

/* core_why - log that a candidate was left out.
 * @info:    the candidate, or NULL for the provider as a whole
 * @attr:    the hint, or the environment variable
 * @wanted, @offered: its values; NULL prints as "-"
 */
void core_why(const char *provider, const struct fi_info *info, const char *attr,
	      const char *wanted, const char *offered);

/* core_why_not - after a call without a result: log which providers were not asked, and why. */
void core_why_not(const struct core_ask *ask, const struct core_provs *asked);

#endif
