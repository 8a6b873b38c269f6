/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/list.h"
#include "core/info.h"
#include "core/nic.h"

static void device_free(struct fi_device_attr *attr)
{
	if (!attr)
		return;
	free(attr->name);
	free(attr->device_id);
	free(attr->device_version);
	free(attr->vendor_id);
	free(attr->driver);
	free(attr->firmware);
	free(attr);
}

static void link_free(struct fi_link_attr *attr)
{
	if (!attr)
		return;
	free(attr->address);
	free(attr->network_type);
	free(attr);
}

static int nic_close(struct fid *fid)
{
	struct fid_nic *nic = container_of(fid, struct fid_nic, fid);

	device_free(nic->device_attr);
	free(nic->bus_attr);
	link_free(nic->link_attr);
	free(nic);
	return 0;
}

static int nic_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int nic_control(struct fid *fid, int command, void *arg)
{
	struct fid_nic **dup_p = arg;

	if (command != FI_DUP)
		return -FI_ENOSYS;
	*dup_p = core_nic_dup(container_of(fid, struct fid_nic, fid));
	return *dup_p ? 0 : -FI_ENOMEM;
}

static struct fi_ops nic_ops = {
	.size = offsetof(struct fi_ops, ops_open),
	.close = nic_close,
	.bind = nic_bind,
	.control = nic_control,
};

/* A string that cannot be copied is treated as unknown (NULL). */
static char *text_dup(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct fi_device_attr *device_dup(const struct fi_device_attr *src)
{
	struct fi_device_attr *dst = src ? calloc(1, sizeof(*dst)) : NULL;

	if (!dst)
		return NULL;
	dst->name = text_dup(src->name);
	dst->device_id = text_dup(src->device_id);
	dst->device_version = text_dup(src->device_version);
	dst->vendor_id = text_dup(src->vendor_id);
	dst->driver = text_dup(src->driver);
	dst->firmware = text_dup(src->firmware);
	return dst;
}

static struct fi_link_attr *link_dup(const struct fi_link_attr *src)
{
	struct fi_link_attr *dst = core_mem_dup(src, sizeof(*src));

	if (!dst)
		return NULL;
	dst->address = text_dup(src->address);
	dst->network_type = text_dup(src->network_type);
	return dst;
}

static struct fid_nic *nic_dup_by_owner(struct fid_nic *nic)
{
	struct fid_nic *dup = NULL;

	return fi_control(&nic->fid, FI_DUP, &dup) ? NULL : dup;
}

struct fid_nic *core_nic_dup(const struct fid_nic *src)
{
	struct fid_nic *dst;

	if (src->prov_attr && src->fid.ops)
		return nic_dup_by_owner((struct fid_nic *) src);
	dst = calloc(1, sizeof(*dst));
	if (!dst)
		return NULL;
	dst->fid.fclass = FI_CLASS_NIC;
	dst->fid.context = src->fid.context;
	dst->fid.ops = &nic_ops;
	dst->device_attr = device_dup(src->device_attr);
	dst->bus_attr = core_mem_dup(src->bus_attr, sizeof(*src->bus_attr));
	dst->link_attr = link_dup(src->link_attr);
	if ((src->device_attr && !dst->device_attr) ||
	    (src->bus_attr && !dst->bus_attr) || (src->link_attr && !dst->link_attr)) {
		nic_close(&dst->fid);
		return NULL;
	}
	return dst;
}

bool core_nic_adopt(struct fid_nic **nic_p)
{
	struct fid_nic *nic = *nic_p;

	if (!nic || nic->fid.ops == &nic_ops)
		return true;
	if (nic->prov_attr)
		return false;
	*nic_p = core_nic_dup(nic);
	core_nic_close(nic);
	return true;
}

void core_nic_close(struct fid_nic *nic)
{
	if (nic && FI_CHECK_OP(nic->fid.ops, struct fi_ops, close))
		fi_close(&nic->fid);
}
