/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* provpath.h - the places where provider files lie: FI_PROVIDER_PATH.
 *
 * [@] and then, separated by colons, directories and +FILEs.  Files are named
 * lib<stem>-fi.so or <stem>-fi.so.  Without a directory the default one counts.
 */
#ifndef CORE_PROVPATH_H
#define CORE_PROVPATH_H

#include <stdbool.h>

/* Called for each file; @preferred: FI_PROVIDER_PATH names the file itself. */
typedef void core_provpath_fn(const char *path, bool preferred, void *arg);

/* core_provpath_find - the files of one stem; opens nothing, reads no directory. */
void core_provpath_find(const char *stem, core_provpath_fn *fn, void *arg);

/* core_provpath_scan - every provider file; does nothing the second time unless
 * the path has changed or @again says so.
 *
 * Threading: the caller sees to it that there is one at a time.
 */
void core_provpath_scan(bool again, core_provpath_fn *fn, void *arg);

/* core_provpath_first_wins - does the path begin with '@'? */
bool core_provpath_first_wins(void);

#endif
