/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* share.c - regions in memory of a device that another process of the host opens. */
#include <stdlib.h>

#include "obj/domain.h"
#include "obj/mr.h"

/* Of regions that cannot be shared. */
static struct hmem_share none;

/* The program's own copy functions know addresses of this process only. */
static struct hmem_share *share_describe(const struct obj_mr *mr)
{
	struct hmem_share *share;

	if (mr->iov_cnt != 1 || mr->domain->hmem_ops)
		return &none;
	share = malloc(sizeof(*share));
	if (share && !hmem_share_of(&mr->loc, mr->iov[0].iov_base, mr->iov[0].iov_len, share))
		return share;
	free(share);
	return &none;
}

/* Of two threads that describe it at once, one finds the other's. */
const struct hmem_share *obj_mr_share(struct obj_mr *mr)
{
	struct hmem_share *share = atomic_load(&mr->share), *had = NULL;

	if (!share) {
		share = share_describe(mr);
		if (!atomic_compare_exchange_strong(&mr->share, &had, share)) {
			if (share != &none)
				free(share);
			share = had;
		}
	}
	return share == &none ? NULL : share;
}

void obj_mr_share_fini(struct obj_mr *mr)
{
	struct hmem_share *share = atomic_load(&mr->share);

	if (share != &none)
		free(share);
}
