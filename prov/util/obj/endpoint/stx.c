/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "obj/ep.h"
#include "obj/ops.h"

static int stx_close(struct fid *fid)
{
	struct obj_stx *stx = container_of(fid, struct obj_stx, fid.fid);

	if (obj_opened_before_fork(stx->process))
		return 0;
	obj_ref_put(&stx->domain_ref);
	free(stx);
	return 0;
}

static struct fi_ops stx_fi_ops = {
	.close = stx_close,
};
OBJ_OPS_TABLE(stx_fi_ops, fid)

int obj_stx_open(struct fid_domain *domain_fid, struct fi_tx_attr *attr,
		 struct fid_stx **stx_p, void *context)
{
	struct obj_domain *domain = obj_domain_of(domain_fid);
	struct obj_stx *stx = calloc(1, sizeof(*stx));

	if (!stx)
		return -FI_ENOMEM;
	obj_fid_init(&stx->fid.fid, FI_CLASS_STX_CTX, context, &stx_fi_ops);
	stx->fid.ops = (struct fi_ops_ep *) &obj_ops_defaults.ep;
	stx->domain = domain;
	stx->process = obj_process;
	if (attr)
		stx->attr = *attr;
	else if (domain->info->tx_attr)
		stx->attr = *domain->info->tx_attr;
	obj_ref_get(&domain->refs, &stx->domain_ref, &stx->fid.fid);
	*stx_p = &stx->fid;
	return 0;
}
