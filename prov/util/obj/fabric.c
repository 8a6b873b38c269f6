/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/fabric.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/domain.h"
#include "obj/eq.h"
#include "obj/ops.h"
#include "obj/waitset.h"

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

/* What the structs of a program for an interface before @before have. */
static const struct layout {
	uint32_t before;
	size_t info, tx, ep, domain;
} layouts[] = {
#define HAS(info, tx, ep, domain)						\
	offsetof(struct fi_info, info), offsetof(struct fi_tx_attr, tx),	\
	offsetof(struct fi_ep_attr, ep), offsetof(struct fi_domain_attr, domain)
	{ FI_VERSION(1, 5), HAS(nic, tclass, auth_key_size, cntr_cnt) },
	{ FI_VERSION(1, 7), HAS(nic, tclass, xpu_ctx, tclass) },
#undef HAS
#define HAS(tx, domain)								\
	sizeof(struct fi_info), tx, offsetof(struct fi_ep_attr, xpu_ctx),	\
	offsetof(struct fi_domain_attr, domain)
	{ FI_VERSION(1, 9), HAS(offsetof(struct fi_tx_attr, tclass), tclass) },
	{ FI_VERSION(1, 20), HAS(sizeof(struct fi_tx_attr), max_ep_auth_key) },
	{ FI_VERSION(2, 0), HAS(sizeof(struct fi_tx_attr), max_group_id) },
	{ FI_VERSION(2, 5), HAS(sizeof(struct fi_tx_attr), max_cntr_value) },
	{ FI_VERSION(2, 7), HAS(sizeof(struct fi_tx_attr), max_xpu_ctx_cnt) },
#undef HAS
};

/* layout_of - NULL: that of today. */
static const struct layout *layout_of(uint32_t version)
{
	size_t i, cnt = sizeof(layouts) / sizeof(layouts[0]);

	for (i = version ? 0 : cnt - 1; i < cnt; i++)
		if (FI_VERSION_LT(version, layouts[i].before))
			return &layouts[i];
	return NULL;
}

struct fi_info *obj_info_whole(const struct obj_fabric *fabric, struct fi_info *info,
			       struct obj_info_room *room)
{
	const struct layout *has = layout_of(fabric->api_version);

	if (!info || !has)
		return info;
	memset(room, 0, sizeof(*room));
	memcpy(&room->info, info, has->info);
	if (info->tx_attr) {
		memcpy(&room->tx, info->tx_attr, has->tx);
		room->info.tx_attr = &room->tx;
	}
	if (info->ep_attr) {
		memcpy(&room->ep, info->ep_attr, has->ep);
		room->info.ep_attr = &room->ep;
	}
	if (info->domain_attr) {
		memcpy(&room->domain, info->domain_attr, has->domain);
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
static void fabric_set_ops(struct obj_fabric *fabric)
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
	fabric_set_ops(fabric);
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
