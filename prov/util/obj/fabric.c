/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/fabric.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/domain.h"
#include "obj/eq.h"
#include "obj/ops.h"
#include "obj/wait.h"

int obj_fabric_prog(struct obj_fabric *fabric, struct obj_prog **prog_p)
{
	int ret = 0;

	pthread_mutex_lock(&fabric->lock);
	if (!fabric->pep_prog)
		ret = obj_prog_new(NULL, LOCK_MUTEX, &fabric->pep_prog);
	if (!ret) {
		obj_prog_get(fabric->pep_prog);
		*prog_p = fabric->pep_prog;
	}
	pthread_mutex_unlock(&fabric->lock);
	return ret;
}

struct fi_info *obj_info_whole(const struct obj_fabric *fabric, struct fi_info *info,
			       struct obj_info_room *room)
{
	if (!info || FI_VERSION_GE(fabric->api_version, FI_VERSION(2, 7)))
		return info;
	*room = (struct obj_info_room) { .info = *info };
	if (info->ep_attr) {
		memcpy(&room->ep, info->ep_attr, offsetof(struct fi_ep_attr, xpu_ctx));
		room->info.ep_attr = &room->ep;
	}
	if (info->domain_attr) {
		memcpy(&room->domain, info->domain_attr,
		       offsetof(struct fi_domain_attr, max_xpu_ctx_cnt));
		room->info.domain_attr = &room->domain;
	}
	return &room->info;
}

static int fabric_domain(struct fid_fabric *fabric, struct fi_info *info,
			 struct fid_domain **domain, void *context)
{
	return obj_domain_open(fabric, info, domain, 0, context);
}

static int fabric_domain2(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_domain **domain, uint64_t flags, void *context)
{
	return obj_domain_open(fabric, info, domain, flags, context);
}

static int fabric_passive_ep(struct fid_fabric *fid, struct fi_info *info, struct fid_pep **pep,
			     void *context)
{
	struct obj_fabric *fabric = obj_fabric_of(fid);
	struct obj_info_room room;

	if (!fabric->ops->passive_ep)
		return -FI_ENOSYS;
	return fabric->ops->passive_ep(fid, obj_info_whole(fabric, info, &room), pep, context);
}

static void fabric_free(struct obj_fabric *fabric)
{
	pthread_mutex_destroy(&fabric->lock);
	obj_refs_fini(&fabric->refs);
	free(fabric->name);
	free(fabric);
}

static int fabric_close(struct fid *fid)
{
	struct obj_fabric *fabric = container_of(fid, struct obj_fabric, fid.fid);
	int ret;

	if (obj_inherited(&fabric->refs))
		return 0;
	ret = obj_refs_busy(&fabric->refs, fid, fabric->prov, FI_LOG_FABRIC);
	if (ret)
		return ret;
	if (fabric->pep_prog)
		obj_prog_put(fabric->pep_prog);
	if (fabric->ops->fini)
		fabric->ops->fini(fabric);
	fabric_free(fabric);
	return 0;
}

/* The tables are the fabric's own: what a provider has differs. */
static void set_ops(struct obj_fabric *fabric)
{
	fabric->fi_ops.close = fabric_close;
	OBJ_OPS_FILL(&fabric->fi_ops, fid);
	fabric->fabric_ops.domain = fabric_domain;
	fabric->fabric_ops.domain2 = fabric_domain2;
	fabric->fabric_ops.passive_ep = fabric_passive_ep;
	fabric->fabric_ops.eq_open = obj_eq_open;
	fabric->fabric_ops.wait_open = obj_waitset_open;
	fabric->fabric_ops.trywait = obj_trywait;
	OBJ_OPS_FILL(&fabric->fabric_ops, fabric);
	fabric->fid.fid.ops = &fabric->fi_ops;
	fabric->fid.ops = &fabric->fabric_ops;
}

int obj_fabric_open(const struct fi_provider *prov, const struct obj_fabric_ops *ops,
		    size_t size, const struct fi_fabric_attr *attr,
		    struct fid_fabric **fabric_p, void *context)
{
	struct obj_fabric *fabric;

	if (!attr || !fabric_p)
		return -FI_EINVAL;
	fabric = calloc(1, size > sizeof(*fabric) ? size : sizeof(*fabric));
	if (!fabric)
		return -FI_ENOMEM;
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.api_version = attr->api_version;
	fabric->prov = prov;
	fabric->ops = ops;
	fabric->api_version = attr->api_version;
	pthread_mutex_init(&fabric->lock, NULL);
	obj_refs_init(&fabric->refs);
	set_ops(fabric);
	if (attr->name) {
		fabric->name = strdup(attr->name);
		if (!fabric->name) {
			fabric_free(fabric);
			return -FI_ENOMEM;
		}
	}
	*fabric_p = &fabric->fid;
	return 0;
}
