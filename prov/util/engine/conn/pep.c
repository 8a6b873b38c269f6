/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pep.c - passive endpoints and the connection requests that they announce.
 *
 * A request stands on its own: it may be answered after its listener is closed.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ep.h"
#include "obj/ops.h"

struct eng_pep {
	struct obj_pep base;			/* first */
	const struct eng_link_ops *link_ops;
	struct eng_link *link;			/* NULL once an endpoint took the address over */
	bool listening;
};

struct eng_connreq {
	struct fid fid;				/* what info->handle points to */
	const struct eng_link_ops *link_ops;
	struct eng_ep *ep;			/* who will answer it, or NULL */
	void *req;				/* the link's */
};

static struct eng_pep *pep_of(struct fid *fid)
{
	return container_of(fid, struct eng_pep, base.fid.fid);
}

/* ---- requests --------------------------------------------------------------- */

/* Nobody wants the request: the event queue closed with it unread, or so. */
static int connreq_close(struct fid *fid)
{
	struct eng_connreq *cr = container_of(fid, struct eng_connreq, fid);

	if (cr->ep)
		return -FI_EBUSY;
	cr->link_ops->req_drop(cr->req);
	free(cr);
	return 0;
}

static struct fi_ops connreq_fid_ops = {
	.close = connreq_close,
};

int eng_connreq_take(struct eng_ep *ep, struct fid *handle)
{
	struct eng_connreq *cr = container_of(handle, struct eng_connreq, fid);

	if (handle->fclass != FI_CLASS_CONNREQ || cr->link_ops != ep->link_ops ||
	    ep->base.type != FI_EP_MSG)
		return -FI_EINVAL;
	if (cr->ep)
		return -FI_EBUSY;
	cr->ep = ep;
	ep->connreq = cr;
	return 0;
}

void *eng_connreq_use(struct eng_ep *ep)
{
	void *req = ep->connreq->req;

	free(ep->connreq);
	ep->connreq = NULL;
	return req;
}

void eng_connreq_drop(struct eng_ep *ep)
{
	ep->link_ops->req_drop(eng_connreq_use(ep));
}

static int set_addr(void **addr_p, size_t *len_p, const void *addr, size_t len)
{
	void *copy = malloc(len ? len : 1);

	if (!copy)
		return -FI_ENOMEM;
	memcpy(copy, addr, len);
	free(*addr_p);
	*addr_p = copy;
	*len_p = len;
	return 0;
}

static struct fi_info *request_info(struct eng_pep *pep, struct eng_connreq *cr,
				    const void *src, size_t srclen,
				    const void *dest, size_t destlen)
{
	struct fi_info *info = fi_dupinfo(pep->base.info);

	if (!info)
		return NULL;
	info->handle = &cr->fid;
	if (!set_addr(&info->src_addr, &info->src_addrlen, src, srclen) &&
	    !set_addr(&info->dest_addr, &info->dest_addrlen, dest, destlen))
		return info;
	fi_freeinfo(info);
	return NULL;
}

static int announce(struct eng_pep *pep, struct fi_info *info, const void *param,
		    size_t paramlen)
{
	size_t size = sizeof(struct fi_eq_cm_entry) + paramlen;
	struct fi_eq_cm_entry *entry = calloc(1, size);
	int ret;

	if (!entry)
		return -FI_ENOMEM;
	entry->fid = &pep->base.fid.fid;
	entry->info = info;
	if (paramlen)
		memcpy(entry->data, param, paramlen);
	ret = obj_eq_write(pep->base.eq, FI_CONNREQ, entry, size, 0);
	free(entry);
	return ret;
}

void eng_on_connreq(struct eng_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *param, size_t paramlen)
{
	struct eng_connreq *cr = calloc(1, sizeof(*cr));
	struct fi_info *info = NULL;

	if (!cr)
		goto refuse;
	cr->fid.fclass = FI_CLASS_CONNREQ;
	cr->fid.ops = &connreq_fid_ops;
	cr->link_ops = pep->link_ops;
	cr->req = req;
	info = request_info(pep, cr, src, srclen, dest, destlen);
	if (info && !announce(pep, info, param, paramlen))
		return;
	if (info)
		fi_freeinfo(info);
	free(cr);
refuse:
	FI_WARN(pep->base.fabric->prov, FI_LOG_EP_CTRL,
		"a connection request is refused: out of memory\n");
	pep->link_ops->reject(pep->link, req, NULL, 0);
}

/* ---- calls ------------------------------------------------------------------ */

static int pep_getname(fid_t fid, void *addr, size_t *len)
{
	struct eng_pep *pep = pep_of(fid);
	int ret = -FI_EOPBADSTATE;

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	lock_get(&pep->base.prog->lock);
	if (pep->link)
		ret = pep->link_ops->getname(pep->link, addr, len);
	lock_put(&pep->base.prog->lock);
	return ret;
}

static int pep_setname(fid_t fid, void *addr, size_t len)
{
	struct eng_pep *pep = pep_of(fid);
	int ret = -FI_EOPBADSTATE;

	lock_get(&pep->base.prog->lock);
	if (pep->link && !pep->listening && pep->link_ops->setname)
		ret = pep->link_ops->setname(pep->link, addr, len);
	lock_put(&pep->base.prog->lock);
	return ret;
}

static int pep_listen(struct fid_pep *fid)
{
	struct eng_pep *pep = pep_of(&fid->fid);
	int ret;

	if (!pep->base.eq)
		return -FI_ENOEQ;
	lock_get(&pep->base.prog->lock);
	if (!pep->link || pep->listening) {
		ret = -FI_EOPBADSTATE;
	} else {
		ret = pep->link_ops->listen(pep->link, pep->base.backlog);
		pep->listening = !ret;
	}
	lock_put(&pep->base.prog->lock);
	return ret;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param, size_t paramlen)
{
	struct eng_pep *pep = pep_of(&fid->fid);
	struct eng_connreq *cr = container_of(handle, struct eng_connreq, fid);
	int ret;

	if (!handle || handle->fclass != FI_CLASS_CONNREQ || cr->link_ops != pep->link_ops)
		return -FI_EINVAL;
	if (paramlen > pep->link_ops->cm_data_size || (paramlen && !param))
		return -FI_EINVAL;
	if (cr->ep || !pep->link)
		return -FI_EOPBADSTATE;
	lock_get(&pep->base.prog->lock);
	ret = pep->link_ops->reject(pep->link, cr->req, param, paramlen);
	lock_put(&pep->base.prog->lock);
	free(cr);
	return ret;
}

static int pep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return obj_pep_getopt(fid, level, optname, optval, optlen,
			      pep_of(fid)->link_ops->cm_data_size);
}

static void close_link(struct eng_pep *pep)
{
	lock_get(&pep->base.prog->lock);
	if (pep->link)
		pep->link_ops->pep_close(pep->link);
	pep->link = NULL;
	lock_put(&pep->base.prog->lock);
}

static int pep_close(struct fid *fid)
{
	struct eng_pep *pep = pep_of(fid);
	int ret = obj_pep_busy(&pep->base);

	if (ret)
		return ret;
	close_link(pep);
	obj_pep_fini(&pep->base);
	free(pep);
	return 0;
}

static struct fi_ops pep_fid_ops = {
	.close = pep_close,
	.bind = obj_pep_bind,
	.control = obj_pep_control,
};

static struct fi_ops_ep pep_ep_ops = {
	.getopt = pep_getopt,
};

static struct fi_ops_cm pep_cm_ops = {
	.setname = pep_setname,
	.getname = pep_getname,
	.listen = pep_listen,
	.reject = pep_reject,
};

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
	OBJ_OPS_FILL(&connreq_fid_ops, fid);
	OBJ_OPS_FILL(&pep_fid_ops, fid);
	OBJ_OPS_FILL(&pep_ep_ops, ep);
	OBJ_OPS_FILL(&pep_cm_ops, cm);
}

int eng_pep_yield(struct fid *handle, const struct eng_link_ops *ops, struct fi_info *info)
{
	struct eng_pep *pep = pep_of(handle);
	char addr[OBJ_ADDR_MAX];
	size_t len = sizeof(addr);
	int ret;

	if (handle->ops != &pep_fid_ops || pep->link_ops != ops)
		return -FI_EINVAL;
	if (pep->listening)
		return -FI_EBUSY;
	ret = pep_getname(handle, addr, &len);
	if (!ret)
		ret = eng_cm_rename(info, addr, len);
	if (!ret)
		close_link(pep);
	return ret;
}

int eng_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 const struct eng_link_ops *link, struct fid_pep **pep_p, void *context)
{
	struct eng_pep *pep;
	int ret;

	if (!link->pep_open)
		return -FI_ENOSYS;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pthread_once(&tables_once, fill_tables);
	pep->link_ops = link;
	ret = obj_pep_init(&pep->base, fabric, info, context);
	if (ret)
		goto free_pep;
	pep->base.fid.fid.ops = &pep_fid_ops;
	pep->base.fid.ops = &pep_ep_ops;
	pep->base.fid.cm = &pep_cm_ops;
	lock_get(&pep->base.prog->lock);
	ret = link->pep_open(pep, &pep->link);
	if (!ret) {
		pep->link->ops = link;
		pep->link->pep = pep;
		pep->link->prog = pep->base.prog;
	}
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
