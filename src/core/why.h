/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* why.h - what the core itself has to say about an empty fi_getinfo() answer.
 *
 * The lines are those that providers write (src/base/explain.h, the one
 * thing of theirs that the core uses), so that fi_info --explain reads one
 * grammar.
 */
#ifndef CORE_WHY_H
#define CORE_WHY_H

#include <stdbool.h>

#include <rdma/fabric.h>

#include "core/ask.h"
#include "core/registry.h"

/* core_why - a candidate was left out.
 *
 * @info:    the candidate, or NULL when it is the provider as a whole
 * @attr:    the hint, or the environment variable
 * @wanted, @offered: its values; NULL prints as "-"
 */
void core_why(const char *provider, const struct fi_info *info, const char *attr,
	      const char *wanted, const char *offered);

/* core_why_not - after a call without an answer: who was not even asked. */
void core_why_not(const struct core_ask *ask, const struct core_provs *asked);

#endif
