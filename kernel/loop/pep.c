// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * pep.c - what listens.
 */
#include <linux/slab.h>

#include "loop.h"

static int pep_close(struct fid *fid)
{
	struct loop_pep *pep = container_of(fid, struct loop_pep, pep.fid);

	loop_name_del(&pep->name);
	loop_reqs_refuse(pep);
	if (pep->eq) {
		kofi_eq_purge(pep->eq, fid);
		atomic_dec(&pep->eq->refs);
	}
	atomic_dec(&pep->fabric->refs);
	fi_freeinfo(pep->info);
	kfree(pep);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct loop_pep *pep = container_of(fid, struct loop_pep, pep.fid);

	if (bfid->fclass != FI_CLASS_EQ || flags || pep->eq)
		return -FI_EINVAL;
	pep->eq = container_of(bfid, struct kofi_eq, eq.fid);
	atomic_inc(&pep->eq->refs);
	return 0;
}

static struct fi_ops pep_ops = {
	.size = offsetofend(struct fi_ops, bind),
	.close = pep_close,
	.bind = pep_bind,
};

int loop_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info,
			   struct fid_pep **pep_p, void *context)
{
	struct loop_pep *pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	int ret;

	if (!pep)
		return -FI_ENOMEM;
	pep->info = fi_dupinfo(info);
	ret = pep->info ? 0 : -FI_ENOMEM;
	if (!ret && info->src_addr)
		ret = loop_name_set(&pep->name, info->src_addr, info->src_addrlen);
	if (ret) {
		fi_freeinfo(pep->info);
		kfree(pep);
		return ret;
	}
	pep->pep.fid.fclass = FI_CLASS_PEP;
	pep->pep.fid.context = context;
	pep->pep.fid.ops = &pep_ops;
	pep->pep.cm = &loop_cm;
	pep->fabric = fabric;
	pep->name.net = fabric->fabric.net;
	INIT_LIST_HEAD(&pep->name.node);
	INIT_LIST_HEAD(&pep->reqs);
	atomic_inc(&fabric->refs);
	*pep_p = &pep->pep;
	return 0;
}
