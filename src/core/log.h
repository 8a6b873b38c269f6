/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* log.h - the log: filters and destination.
 *
 * Lines pass FI_LOG_LEVEL, FI_LOG_PROV and FI_LOG_SUBSYS and go to FI_LOG_LOCATION, unless a
 * program has imported a logger (fi_import_log): then that logger is asked about every line,
 * before any of those filters, and gets the text.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <stdbool.h>

#include <rdma/fi_ext.h>
#include <rdma/providers/fi_log.h>

/* Log lines of the core itself, as provider "core". */
#define CORE_WARN(...)	FI_WARN(&core_prov, FI_LOG_CORE, __VA_ARGS__)
#define CORE_INFO(...)	FI_INFO(&core_prov, FI_LOG_CORE, __VA_ARGS__)

/* The provider under whose name the core logs and defines its parameters. */
extern struct fi_provider core_prov;

/* core_log_import - send every line to @log; NULL returns to the library's log.
 *
 * Replaces a logger imported before.  log->fid.ops is the library's until fi_close(&log->fid),
 * which removes the logger.
 * Threading: any.  When this call, or that close, returns, no thread is inside the previous
 *            logger, except the calling thread itself when it calls from inside it.
 * Errors:    -FI_EINVAL when the fid is not a logger.  An operation that @log lacks is done by
 *            the library's log.
 */
int core_log_import(struct fid_logging *log);

/* core_log_passes - does a line of this kind pass the filters? */
bool core_log_passes(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys);

/* core_log_fork_child - after fork(): discount threads that the child does not have. */
void core_log_fork_child(void);

#endif
