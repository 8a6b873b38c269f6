/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* [page */
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

static struct fi_provider prov;

static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		   const struct fi_info *hints, struct fi_info **info)
{
	int depth = 1;

	(void) version, (void) node, (void) service, (void) flags, (void) hints, (void) info;
	fi_param_get_int(&prov, "depth", &depth);
	FI_INFO(&prov, FI_LOG_CORE, "nothing to offer, at depth %d\n", depth);
	return -FI_ENODATA;
}

static int fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	(void) attr, (void) fabric, (void) context;
	return -FI_ENODEV;
}

static void cleanup(void)
{
}

static struct fi_provider prov = {
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "example",
	.getinfo = getinfo,
	.fabric = fabric,
	.cleanup = cleanup,
};

FI_EXT_INI
{
	fi_param_define(&prov, "depth", FI_PARAM_INT, "How deep to look (default: 1)");
	return &prov;
}
/* page] */
