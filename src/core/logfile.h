/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* logfile.h - the destination of log lines: FI_LOG_LOCATION.
 *
 * stderr, stdout, the name of a file that does not exist yet, or a directory, in which
 * ofi_<pid>.log is made.  New files get FI_LOG_LOCATION_MODE (0600).
 */
#ifndef CORE_LOGFILE_H
#define CORE_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>

/* core_logfile_open - read FI_LOG_LOCATION and open what it names.
 * @why: [out] when it returns false, the error and the destination used instead
 */
bool core_logfile_open(char *why, size_t size);

/* core_logfile_write - write one whole line; keeps errno.  Never blocks on a pipe, a socket
 * or a terminal: a line that these do not take at once is left out, and counted in the next
 * one that is written.
 */
void core_logfile_write(const char *line, size_t len);

#endif
