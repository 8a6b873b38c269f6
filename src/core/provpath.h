/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* provpath.h - where provider files are looked for: FI_PROVIDER_PATH.
 *
 * [@] and then, separated by colons, directories and +FILEs.  Files are named lib<stem>-fi.so
 * or <stem>-fi.so.  Without any directory the default one is used.
 */
#ifndef CORE_PROVPATH_H
#define CORE_PROVPATH_H

#include <stdbool.h>

/* Called for each file; @preferred: FI_PROVIDER_PATH names the file itself. */
typedef void core_provpath_fn(const char *path, bool preferred, void *arg);

/* core_provpath_find - the files of one stem; opens nothing, reads no directory. */
void core_provpath_find(const char *stem, core_provpath_fn *fn, void *arg);

/* core_provpath_scan - every provider file; has no effect the second time unless the path has
 * changed or @again is set.
 * Threading: one call at a time; the caller holds the registry's lock.
 */
void core_provpath_scan(bool again, core_provpath_fn *fn, void *arg);

/* core_provpath_first_wins - true when the path begins with '@'. */
bool core_provpath_first_wins(void);

#endif
