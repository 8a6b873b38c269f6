/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pep.c - passive endpoints over librdmacm: a bound id, and the requests that it announces.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "verbs/cm.h"

static struct vrb_pep *pep_of(struct obj_pep *base)
{
	return container_of(base, struct vrb_pep, base);
}

/* ---- requests ------------------------------------------------------------------- */

void vrb_connreq_free(struct vrb_connreq *cr)
{
	cr->kind->request_free(cr->xrc);
	obj_prog_put(cr->prog);
	free(cr);
}

int vrb_pep_on_request(struct vrb_pep *pep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	const struct sockaddr *src = rdma_get_local_addr(event->id);
	const struct sockaddr *dest = rdma_get_peer_addr(event->id);
	const void *data = conn->private_data;
	size_t len = conn->private_data_len;
	struct vrb_connreq *cr = calloc(1, sizeof(*cr));
	int ret = cr ? 0 : -FI_ENOMEM;

	if (!ret)
		ret = pep->kind->request(pep->base.fabric, event, &cr->xrc, &data, &len);
	if (ret) {
		free(cr);
		if (ret == -FI_ENOMEM)
			VRB_WARN(FI_LOG_EP_CTRL, "a connection request is refused: out of memory\n");
		return ret;
	}
	cr->kind = pep->kind;
	cr->id = event->id;
	cr->id->context = NULL;
	cr->prog = pep->base.prog;
	obj_prog_get(cr->prog);
	cr->responder = conn->responder_resources;
	cr->initiator = conn->initiator_depth;
	ret = obj_pep_request(&pep->base, cr, src, vrb_sa_len(src), dest, vrb_sa_len(dest),
			      data, len);
	if (ret)
		vrb_connreq_free(cr);
	return ret;
}

/* ---- calls ---------------------------------------------------------------------- */

/* Requests that were announced have ids and references of their own, and survive the listener. */
static void pep_close(struct obj_pep *base)
{
	vrb_cm.destroy_id(pep_of(base)->cm.id);
}

static int pep_getname(struct obj_pep *base, void *addr, size_t *len_p)
{
	return vrb_cm_name(pep_of(base)->cm.id, base->info, addr, len_p);
}

/* An id is bound once: the new address takes a new id. */
static int pep_setname(struct obj_pep *base, const void *addr, size_t len)
{
	struct vrb_pep *pep = pep_of(base);
	struct rdma_cm_id *old = pep->cm.id;
	struct fi_info *info = fi_dupinfo(base->info);
	int ret = info ? obj_cm_rename(info, addr, len) : -FI_ENOMEM;

	if (!ret)
		ret = vrb_cm_bind_in(base->prog, &pep->cm, info);
	if (ret) {
		pep->cm.id = old;
		fi_freeinfo(info);
		return ret;
	}
	vrb_cm_set_class(pep->cm.id, info);
	vrb_cm.destroy_id(old);
	fi_freeinfo(base->info);
	base->info = info;
	return 0;
}

static int pep_listen(struct obj_pep *base, int backlog)
{
	return vrb_cm.listen(pep_of(base)->cm.id, backlog) ? cm_errno() : 0;
}

/* The id is destroyed here: after a reject librdmacm has no further event for it. */
static int pep_reject(struct obj_pep *base, void *req, const void *data, size_t len)
{
	struct vrb_connreq *cr = req;
	uint8_t buf[VRB_CM_DATA];
	int ret;

	len = cr->kind->put_reject(buf, data, len);
	ret = vrb_cm.reject(cr->id, buf, (uint8_t) len) ? cm_errno() : 0;
	vrb_cm.destroy_id(cr->id);
	vrb_connreq_free(cr);
	return ret;
}

/* Without an id the request is an endpoint's, which rejects it when it closes. */
static void pep_drop(const void *transport, void *req)
{
	struct vrb_connreq *cr = req;

	if (cr->id) {
		lock_get(&cr->prog->lock);
		vrb_cm_reject(cr->id);
		vrb_cm.destroy_id(cr->id);
		lock_put(&cr->prog->lock);
	}
	vrb_connreq_free(cr);
}

static const struct obj_pep_ops pep_ops = {
	.close = pep_close,
	.getname = pep_getname,
	.setname = pep_setname,
	.listen = pep_listen,
	.reject = pep_reject,
	.drop = pep_drop,
};

/* The event channel of the fabric is opened with the first listener or endpoint. */
static int pep_bind_id(struct vrb_pep *pep, const struct fi_info *info)
{
	struct obj_prog *prog;
	int ret = vrb_cm_open(pep->base.fabric, &prog);

	if (ret)
		return ret;
	lock_get(&prog->lock);
	ret = vrb_cm_bind_in(prog, &pep->cm, info);
	if (!ret)
		vrb_cm_set_class(pep->cm.id, info);
	lock_put(&prog->lock);
	obj_prog_put(prog);
	return ret;
}

int vrb_pep_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep_p,
		 void *context)
{
	struct vrb_pep *pep = calloc(1, sizeof(*pep));
	int ret;

	if (!pep)
		return -FI_ENOMEM;
	ret = vrb_kind_of_info(info, &pep->kind);
	if (ret)
		goto err_free;
	pep->cm.kind = VRB_ID_PEP;
	ret = obj_pep_init(&pep->base, fabric, info, &pep_ops, obj_fabric_of(fabric),
			   pep->kind->data_max, context);
	if (ret)
		goto err_free;
	ret = pep_bind_id(pep, info);
	if (ret)
		goto err_fini;
	*pep_p = &pep->base.fid;
	return 0;

err_fini:
	obj_pep_fini(&pep->base);
err_free:
	free(pep);
	return ret;
}
