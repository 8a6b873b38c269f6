/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pep.c - passive endpoints over a link.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/net_addr.h"
#include "engine/ep.h"

struct eng_pep {
	struct obj_pep base;			/* first */
	const struct eng_link_ops *link_ops;
	struct eng_link *link;			/* NULL once an endpoint took the address over */
};

static struct eng_pep *pep_of(struct obj_pep *base)
{
	return (struct eng_pep *) base;
}

void eng_on_connreq(struct eng_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *param, size_t paramlen)
{
	if (obj_pep_request(&pep->base, req, src, srclen, dest, destlen, param, paramlen))
		pep->link_ops->cm->answer(pep->link, NULL, req, NULL, 0);
}

static void pep_close(struct obj_pep *base)
{
	struct eng_pep *pep = pep_of(base);

	pep->link_ops->close(pep->link, 0);
	pep->link = NULL;
}

static int pep_getname(struct obj_pep *base, void *addr, size_t *len_p)
{
	struct eng_pep *pep = pep_of(base);

	return pep->link ? pep->link_ops->getname(pep->link, NULL, addr, len_p) : -FI_EOPBADSTATE;
}

/* Caller holds the lock of the listeners' group. */
static int open_link(struct eng_pep *pep)
{
	int ret = pep->link_ops->open(NULL, pep, &pep->link);

	if (ret)
		return ret;
	pep->link->ops = pep->link_ops;
	pep->link->pep = pep;
	pep->link->prog = pep->base.prog;
	return 0;
}

/* pep_reopen - a link that cannot change its name: open another under the new name, then close
 * this one.  On an error nothing has changed.
 */
static int pep_reopen(struct eng_pep *pep, const void *addr, size_t len)
{
	struct fi_info *old = pep->base.info, *info = fi_dupinfo(old);
	struct eng_link *link = pep->link;
	union net_sa name;
	int ret = info ? 0 : -FI_ENOMEM;

	if (!ret && info->addr_format != FI_ADDR_STR)
		ret = net_addr_copy(addr, len, &name);
	if (!ret)
		ret = obj_cm_rename(info, addr, len);
	if (!ret) {
		pep->base.info = info;
		ret = open_link(pep);
	}
	if (ret) {
		pep->base.info = old;
		pep->link = link;
		fi_freeinfo(info);
		return ret;
	}
	pep->link_ops->close(link, 0);
	fi_freeinfo(old);
	return 0;
}

static int pep_setname(struct obj_pep *base, const void *addr, size_t len)
{
	struct eng_pep *pep = pep_of(base);
	int ret = pep->link ? pep->link_ops->setname(pep->link, addr, len) : -FI_EOPBADSTATE;

	return ret == -FI_ENOSYS ? pep_reopen(pep, addr, len) : ret;
}

static int pep_listen(struct obj_pep *base, int backlog)
{
	return pep_of(base)->link_ops->cm->listen(pep_of(base)->link, backlog);
}

static int pep_reject(struct obj_pep *base, void *req, const void *data, size_t len)
{
	return pep_of(base)->link_ops->cm->answer(pep_of(base)->link, NULL, req, data, len);
}

/* Without the listener, which may be closed by now. */
static void pep_drop(const void *transport, void *req)
{
	((const struct eng_link_ops *) transport)->cm->answer(NULL, NULL, req, NULL, 0);
}

static const struct obj_pep_ops pep_ops = {
	.close = pep_close,
	.getname = pep_getname,
	.setname = pep_setname,
	.listen = pep_listen,
	.reject = pep_reject,
	.drop = pep_drop,
};

int eng_pep_give(struct obj_pep *base, struct fi_info *info)
{
	char addr[OBJ_ADDR_MAX];
	size_t len = sizeof(addr);
	int ret = pep_getname(base, addr, &len);

	if (!ret)
		ret = obj_cm_rename(info, addr, len);
	if (!ret)
		pep_close(base);
	return ret;
}

int eng_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 const struct eng_link_ops *link, struct fid_pep **pep_p, void *context)
{
	struct eng_pep *pep;
	int ret;

	if (!link->cm)
		return -FI_ENOSYS;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->link_ops = link;
	ret = obj_pep_init(&pep->base, fabric, info, &pep_ops, link, link->cm->data_size, context);
	if (ret)
		goto free_pep;
	lock_get(&pep->base.prog->lock);
	ret = open_link(pep);
	lock_put(&pep->base.prog->lock);
	if (ret)
		goto fini_base;
	*pep_p = &pep->base.fid;
	return 0;

fini_base:
	obj_pep_fini(&pep->base);
free_pep:
	free(pep);
	return ret;
}
