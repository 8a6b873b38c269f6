// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * pep.c - what listens.
 */
#include <linux/slab.h>

#include "loop.h"

static struct loop_pep *pep_of(struct kofi_pep *pep)
{
	return container_of(pep, struct loop_pep, pep);
}

static int pep_listen(struct kofi_pep *pep)
{
	return loop_name_add(&loop_peps, &pep_of(pep)->name);
}

static void pep_stop(struct kofi_pep *pep)
{
	loop_name_del(&pep_of(pep)->name);
}

static void pep_free(struct kofi_pep *pep)
{
	kfree(pep_of(pep));
}

static const struct kofi_pep_ops pep_ops = {
	.listen = pep_listen,
	.stop = pep_stop,
	.refuse = loop_req_refuse,
	.free = pep_free,
};

int loop_passive_ep(struct kofi_fabric_obj *fabric, struct fi_info *info,
			   struct fid_pep **pep_p, void *context)
{
	struct loop_pep *pep = kzalloc(sizeof(*pep), GFP_KERNEL);
	int ret;

	if (!pep)
		return -FI_ENOMEM;
	pep->name.net = fabric->fabric.net;
	INIT_LIST_HEAD(&pep->name.node);
	ret = info->src_addr ? loop_name_set(&pep->name, info->src_addr, info->src_addrlen) : 0;
	if (!ret)
		ret = kofi_pep_init(&pep->pep, fabric, info, &pep_ops, &loop_cm, context);
	if (ret) {
		kfree(pep);
		return ret;
	}
	*pep_p = &pep->pep.pep;
	return 0;
}
