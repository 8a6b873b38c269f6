/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_open(): handles on parts of the library.
 *
 * A handle serves only to import an object.  The imported object stays when the handle is
 * closed, until the object itself is closed.
 */

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/list.h"
#include "core/export.h"
#include "core/init.h"
#include "core/log.h"
#include "core/monitor.h"

static int handle_close(struct fid *fid)
{
	free(fid);
	return 0;
}

static int handle_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

static int logging_bind(struct fid *fid, struct fid *impfid, uint64_t flags)
{
	if (flags)
		return -FI_EBADFLAGS;
	return core_log_import(impfid ? container_of(impfid, struct fid_logging, fid) :
					NULL);
}

static int mr_cache_bind(struct fid *fid, struct fid *impfid, uint64_t flags)
{
	if (flags)
		return -FI_EBADFLAGS;
	return core_monitor_import(impfid ?
				   container_of(impfid, struct fid_mem_monitor, fid) :
				   NULL);
}

static int mr_cache_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
			     void *context)
{
	if (strcmp(name, OFI_MONITOR_OPS))
		return -FI_ENOSYS;
	*ops = &core_monitor_ops;
	return 0;
}

static struct fi_ops logging_ops = {
	.size = offsetof(struct fi_ops, ops_open),
	.close = handle_close,
	.bind = logging_bind,
	.control = handle_control,
};

static struct fi_ops mr_cache_ops = {
	.size = sizeof(mr_cache_ops),
	.close = handle_close,
	.bind = mr_cache_bind,
	.control = handle_control,
	.ops_open = mr_cache_ops_open,
};

static const struct {
	const char *name;
	size_t fclass;
	struct fi_ops *ops;
} parts[] = {
	{ "logging", FI_CLASS_LOG, &logging_ops },
	{ "mr_cache", FI_CLASS_MR_CACHE, &mr_cache_ops },
};

static int handle_new(size_t fclass, struct fi_ops *ops, struct fid **fid_p,
		      void *context)
{
	struct fid *fid = calloc(1, sizeof(*fid));

	if (!fid)
		return -FI_ENOMEM;
	fid->fclass = fclass;
	fid->context = context;
	fid->ops = ops;
	*fid_p = fid;
	return 0;
}

CORE_EXPORT
int fi_open(uint32_t version, const char *name, void *attr, size_t attr_len,
	    uint64_t flags, struct fid **fid, void *context)
{
	size_t i;

	if (!name || !fid)
		return -FI_EINVAL;
	core_init();
	if (FI_VERSION_LT(fi_version(), version)) {
		CORE_WARN("fi_open: interface %u.%u is newer than this library (%d.%d)",
			  FI_MAJOR(version), FI_MINOR(version), FI_MAJOR_VERSION,
			  FI_MINOR_VERSION);
		return -FI_ENOSYS;
	}
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].name, name))
			continue;
		if (attr || attr_len)
			return -FI_EINVAL;
		if (flags)
			return -FI_EBADFLAGS;
		return handle_new(parts[i].fclass, parts[i].ops, fid, context);
	}
	CORE_INFO("fi_open: unknown name \"%s\"; known are logging and mr_cache",
		  name);
	return -FI_ENOSYS;
}
