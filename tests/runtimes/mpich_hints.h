/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#ifndef TESTS_MPICH_HINTS_H
#define TESTS_MPICH_HINTS_H

/* MPICH ch4:ofi and its derivatives query in the same two steps. */

#include "rt.h"

/* mpich_first - the result without hints, and the entry with the best score; the first of
 * several.
 * @list_p: [out] for fi_freeinfo()
 */
const struct fi_info *mpich_first(struct fi_info **list_p);

/* mpich_hints - the hints of the second query, made from that entry. */
struct fi_info *mpich_hints(const struct fi_info *best, enum fi_threading threading);

/* mpich_check - the checks that end in "provider mismatch". */
void mpich_check(const struct fi_info *info, const struct fi_info *asked);

#endif
