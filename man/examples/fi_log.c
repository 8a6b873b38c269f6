/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
static char last_warning[512];

static int wanted(const struct fi_provider *prov, enum fi_log_level level,
		  enum fi_log_subsys subsys, uint64_t flags)
{
	(void) prov, (void) subsys, (void) flags;
	return level == FI_LOG_WARN;
}

static void keep(const struct fi_provider *prov, enum fi_log_level level,
		 enum fi_log_subsys subsys, const char *func, int line, const char *msg)
{
	(void) level, (void) subsys, (void) func, (void) line;
	snprintf(last_warning, sizeof(last_warning), "%s: %s", prov ? prov->name : "core", msg);
}

static struct fi_ops_log ops = {
	.size = sizeof(ops),
	.enabled = wanted,
	.log = keep,
};

static struct fid_logging logging = {
	.fid.fclass = FI_CLASS_LOG,
	.ops = &ops,
};
/* page] */

int main(void)
{
	struct fi_info *info;

	MUST(fi_import_log(FI_VERSION(2, 0), 0, &logging));
	/* No library is as new as this, and it says so. */
	if (fi_getinfo(FI_VERSION(99, 0), NULL, NULL, 0, NULL, &info) != -FI_ENOSYS)
		return 1;
	MUST(fi_close(&logging.fid));
	return !strstr(last_warning, "99.0");
}
