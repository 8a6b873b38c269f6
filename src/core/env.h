/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* env.h - the text of a parameter, from the environment or the configuration file.
 *
 * The environment comes first, then the file SYSCONFDIR/libfabric/libfabric.conf, whose lines
 * read "FI_NAME = value" ('#' starts a comment line).  With FI_PREFER_SYSCONFIG=yes, in either
 * place, the file comes first.  A program that runs with more rights than its user (setuid)
 * uses only the file.
 */
#ifndef CORE_ENV_H
#define CORE_ENV_H

/* core_env_get - value of a variable by its full name (FI_TCP_IFACE).
 *
 * Returns NULL when it is set nowhere.
 *
 * Ownership: the string belongs to the environment or to the library and stays
 *            valid while the program does not change that variable.
 * Threading: any; the file is read once, on first use.
 */
const char *core_env_get(const char *name);

/* core_env_each_line - call @each for every line of the file that is no comment, the last one first.
 * @name: of the variable that it sets; NULL: it sets none
 */
void core_env_each_line(void (*each)(const char *file, unsigned line, const char *name));

/* core_env_parse_bool - 0 or 1 for a text that means no or yes, -1 for any other. */
int core_env_parse_bool(const char *word);

#endif
