/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/pep.h"

#include <rdma/fi_errno.h>
#include <string.h>

#define BACKLOG 128

int obj_pep_init(struct obj_pep *pep, struct fid_fabric *fabric_fid, const struct fi_info *info,
		 void *context)
{
	struct obj_fabric *fabric = obj_fabric_of(fabric_fid);
	int ret;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG) {
		FI_WARN(fabric->prov, FI_LOG_EP_CTRL,
			"fi_passive_ep: info is not for FI_EP_MSG, the only type that listens\n");
		return -FI_EINVAL;
	}
	memset(pep, 0, sizeof(*pep));
	pep->info = fi_dupinfo(info);
	if (!pep->info)
		return -FI_ENOMEM;
	ret = obj_fabric_prog(fabric, &pep->prog);
	if (ret) {
		fi_freeinfo(pep->info);
		return ret;
	}
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fabric = fabric;
	pep->backlog = BACKLOG;
	obj_refs_init(&pep->refs);
	obj_ref_get(&fabric->refs, &pep->fabric_ref, &pep->fid.fid);
	return 0;
}

int obj_pep_busy(struct obj_pep *pep)
{
	return obj_refs_busy(&pep->refs, &pep->fid.fid, pep->fabric->prov, FI_LOG_EP_CTRL);
}

void obj_pep_fini(struct obj_pep *pep)
{
	if (pep->eq)
		obj_eq_purge(pep->eq, &pep->fid.fid);
	obj_prog_put(pep->prog);
	obj_ref_put(&pep->eq_ref);
	obj_ref_put(&pep->fabric_ref);
	obj_refs_fini(&pep->refs);
	fi_freeinfo(pep->info);
}

int obj_pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct obj_pep *pep = container_of(fid, struct obj_pep, fid.fid);
	struct obj_eq *eq;
	int ret;

	if (!bfid || bfid->fclass != FI_CLASS_EQ || pep->eq)
		return -FI_EINVAL;
	eq = container_of(bfid, struct obj_eq, fid.fid);
	if (eq->fabric != pep->fabric)
		return -FI_EINVAL;
	ret = obj_wait_feed(&eq->wait, pep->prog);
	if (ret)
		return ret;
	pep->eq = eq;
	obj_ref_get(&eq->refs, &pep->eq_ref, fid);
	return 0;
}

int obj_pep_control(struct fid *fid, int command, void *arg)
{
	struct obj_pep *pep = container_of(fid, struct obj_pep, fid.fid);

	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	if (!arg || *(int *) arg < 0)
		return -FI_EINVAL;
	pep->backlog = *(int *) arg;
	return 0;
}

int obj_pep_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen,
		   size_t cm_data_size)
{
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	if (!optlen)
		return -FI_EINVAL;
	if (*optlen < sizeof(cm_data_size)) {
		*optlen = sizeof(cm_data_size);
		return -FI_ETOOSMALL;
	}
	*optlen = sizeof(cm_data_size);
	memcpy(optval, &cm_data_size, sizeof(cm_data_size));
	return 0;
}
