/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * log_catch.h - for tests: the log lines of this process, in memory.
 *
 * catch_start() sends every line at any level here, catch_stop() gives the log
 * back.  Single-threaded tests only.
 */
#ifndef OBJ_LOG_CATCH_H
#define OBJ_LOG_CATCH_H

#include <rdma/fabric.h>
#include <rdma/fi_ext.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <string.h>

#define CATCH_LINES 64

static struct {
	enum fi_log_level quiet_from;	/* lines at this level and beyond are not wanted */
	size_t cnt;			/* lines seen, kept or not */
	enum fi_log_level level[CATCH_LINES];
	char line[CATCH_LINES][2048];
} caught;

static int catch_enabled(const struct fi_provider *prov, enum fi_log_level level,
			 enum fi_log_subsys subsys, uint64_t flags)
{
	return level < caught.quiet_from;
}

static int catch_ready(const struct fi_provider *prov, enum fi_log_level level,
		       enum fi_log_subsys subsys, uint64_t flags, uint64_t *showtime)
{
	return catch_enabled(prov, level, subsys, flags);
}

static void catch_log(const struct fi_provider *prov, enum fi_log_level level,
		      enum fi_log_subsys subsys, const char *func, int line, const char *msg)
{
	if (caught.cnt < CATCH_LINES) {
		caught.level[caught.cnt] = level;
		snprintf(caught.line[caught.cnt], sizeof(caught.line[0]), "%s", msg);
	}
	caught.cnt++;
}

static int catch_close(struct fid *fid)
{
	return 0;
}

static struct fi_ops catch_fi_ops = { .size = sizeof(struct fi_ops), .close = catch_close };
static struct fi_ops_log catch_ops = {
	.size = sizeof(struct fi_ops_log),
	.enabled = catch_enabled, .ready = catch_ready, .log = catch_log,
};
static struct fid_logging catch_fid = {
	.fid = { .fclass = FI_CLASS_LOG, .ops = &catch_fi_ops },
	.ops = &catch_ops,
};

static inline int catch_start(void)
{
	caught.cnt = 0;
	caught.quiet_from = FI_LOG_DEBUG + 1;
	return fi_import_log(FI_VERSION(2, 6), 0, &catch_fid);
}

static inline void catch_stop(void)
{
	fi_close(&catch_fid.fid);
}

static inline void catch_clear(void)
{
	caught.cnt = 0;
}

/* catch_find - the first line with @text in it, or NULL. */
static inline const char *catch_find(const char *text)
{
	size_t i;

	for (i = 0; i < caught.cnt && i < CATCH_LINES; i++)
		if (strstr(caught.line[i], text))
			return caught.line[i];
	return NULL;
}

#endif
