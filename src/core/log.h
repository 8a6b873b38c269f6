/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* log.h - the log: who hears a line, and where it goes.
 *
 * Lines pass FI_LOG_LEVEL, FI_LOG_PROV and FI_LOG_SUBSYS and go to
 * FI_LOG_LOCATION, unless a program imported a logger of its own
 * (fi_import_log): then that logger is asked about every line, before any of
 * those filters, and gets the text.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <rdma/fi_ext.h>
#include <rdma/providers/fi_log.h>

/* What the core itself logs, as provider "core". */
#define CORE_WARN(...)	FI_WARN(&core_prov, FI_LOG_CORE, __VA_ARGS__)
#define CORE_TRACE(...)	FI_TRACE(&core_prov, FI_LOG_CORE, __VA_ARGS__)
#define CORE_INFO(...)	FI_INFO(&core_prov, FI_LOG_CORE, __VA_ARGS__)

/* The name under which the core logs and owns its parameters. */
extern struct fi_provider core_prov;

/* core_log_import - send every line to @log; NULL returns to the own log.
 *
 * Replaces a logger imported before.  log->fid.ops is the library's until
 * fi_close(&log->fid), which is the way to take the logger out again.
 *
 * Threading: any.  When this, or that close, returns, no thread is inside the
 *            logger that was replaced, but for the caller's own callers.
 * Errors:    -FI_EINVAL for a fid that is no logger.  A call that its ops lack
 *            goes the library's way.
 */
int core_log_import(struct fid_logging *log);

/* core_log_fork_child - forget threads that the child does not have. */
void core_log_fork_child(void);

#endif
