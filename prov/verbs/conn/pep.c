/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Listeners, and the requests that come to them.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/cm.h"

/* ---- requests ------------------------------------------------------------------------------- */

void vrb_connreq_free(struct vrb_connreq *cr)
{
	vrb_xrc_asked_free(cr->xrc);
	obj_prog_put(cr->prog);
	free(cr);
}

static int connreq_close(struct fid *fid)
{
	struct vrb_connreq *cr = container_of(fid, struct vrb_connreq, fid);

	if (cr->ep)
		return -FI_EBUSY;
	lock_get(&cr->prog->lock);
	vrb_cm.reject(cr->cm.id, NULL, 0);
	vrb_cm.destroy_id(cr->cm.id);
	lock_put(&cr->prog->lock);
	vrb_connreq_free(cr);
	return 0;
}

struct fi_ops vrb_connreq_fid_ops = {
	.close = connreq_close,
};

static bool copy_addr(void **addr_p, size_t *len_p, const struct sockaddr *sa)
{
	size_t len = vrb_sa_len(sa);
	void *copy = malloc(len ? len : 1);

	if (!copy)
		return false;
	memcpy(copy, sa, len);
	free(*addr_p);
	*addr_p = copy;
	*len_p = len;
	return true;
}

int vrb_pep_on_request(struct vrb_pep *pep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	size_t skip = pep->xrc ? VRB_HELLO_SIZE : 0;
	struct vrb_connreq *cr = calloc(1, sizeof(*cr));
	struct fi_info *info = fi_dupinfo(pep->base.info);
	int ret = -FI_ENOMEM;

	if (!cr || !info ||
	    !copy_addr(&info->src_addr, &info->src_addrlen, rdma_get_local_addr(event->id)) ||
	    !copy_addr(&info->dest_addr, &info->dest_addrlen, rdma_get_peer_addr(event->id)) ||
	    (pep->xrc && (ret = vrb_xrc_asked(pep->base.fabric, event, &cr->xrc)))) {
		free(cr);
		fi_freeinfo(info);
		return ret;
	}
	cr->fid.fclass = FI_CLASS_CONNREQ;
	cr->fid.ops = &vrb_connreq_fid_ops;
	cr->cm.kind = VRB_ID_EP;
	cr->cm.id = event->id;
	cr->prog = pep->base.prog;
	obj_prog_get(cr->prog);
	cr->responder = conn->responder_resources;
	cr->initiator = conn->initiator_depth;
	event->id->context = NULL;
	info->handle = &cr->fid;
	vrb_cm_tell(pep->base.eq, FI_CONNREQ, &pep->base.fid.fid, info,
		    conn->private_data ? (const char *) conn->private_data + skip : NULL,
		    conn->private_data ? conn->private_data_len - skip : 0);
	return 0;
}

/* ---- listeners ---------------------------------------------------------------------- */

static struct vrb_pep *pep_of(struct fid *fid)
{
	return container_of(fid, struct vrb_pep, base.fid.fid);
}

static int pep_getname(fid_t fid, void *addr, size_t *len)
{
	struct vrb_pep *pep = pep_of(fid);
	int ret;

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	lock_get(&pep->base.prog->lock);
	ret = vrb_cm_name(pep->cm.id, pep->base.info, addr, len);
	lock_put(&pep->base.prog->lock);
	return ret;
}

static int pep_listen(struct fid_pep *fid)
{
	struct vrb_pep *pep = pep_of(&fid->fid);
	int ret = -FI_EOPBADSTATE;

	if (!pep->base.eq)
		return -FI_ENOEQ;
	lock_get(&pep->base.prog->lock);
	if (!pep->listening && pep->cm.id) {
		ret = vrb_cm.listen(pep->cm.id, pep->base.backlog) ? cm_errno() : 0;
		pep->listening = !ret;
	}
	lock_put(&pep->base.prog->lock);
	return ret;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param, size_t len)
{
	struct vrb_pep *pep = pep_of(&fid->fid);
	struct vrb_connreq *cr = container_of(handle, struct vrb_connreq, fid);
	struct vrb_hello no = { .kind = VRB_HELLO_NO };
	uint8_t data[VRB_CM_DATA];
	int ret;

	if (!handle || handle->ops != &vrb_connreq_fid_ops ||
	    vrb_cm_check_param(param, len, vrb_cm_room(cr->xrc)))
		return -FI_EINVAL;
	if (cr->ep)
		return -FI_EOPBADSTATE;
	if (cr->xrc) {
		len = vrb_hello_put(data, &no, param, len);
		param = data;
	}
	lock_get(&pep->base.prog->lock);
	ret = vrb_cm.reject(cr->cm.id, param, (uint8_t) len) ? cm_errno() : 0;
	vrb_cm.destroy_id(cr->cm.id);
	lock_put(&pep->base.prog->lock);
	vrb_connreq_free(cr);
	return ret;
}

static int pep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return obj_pep_getopt(fid, level, optname, optval, optlen, vrb_cm_room(pep_of(fid)->xrc));
}

static int pep_close(struct fid *fid)
{
	struct vrb_pep *pep = pep_of(fid);
	int ret = obj_pep_busy(&pep->base);

	if (ret)
		return ret;
	lock_get(&pep->base.prog->lock);
	if (pep->cm.id)
		vrb_cm.destroy_id(pep->cm.id);
	lock_put(&pep->base.prog->lock);
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
	.getname = pep_getname,
	.listen = pep_listen,
	.reject = pep_reject,
};

int vrb_pep_yield(struct fid *handle, struct vrb_ep *ep)
{
	struct vrb_pep *pep = pep_of(handle);
	int ret = -FI_EBUSY;

	if (handle->ops != &pep_fid_ops || pep->base.prog != ep->cm_prog)
		return -FI_EINVAL;
	lock_get(&pep->base.prog->lock);
	if (!pep->listening && pep->cm.id) {
		ep->cm.id = pep->cm.id;
		ep->cm.id->context = &ep->cm;
		pep->cm.id = NULL;
		ret = 0;
	}
	lock_put(&pep->base.prog->lock);
	return ret;
}

static int pep_bind_id(struct vrb_pep *pep, const struct fi_info *info)
{
	struct obj_prog *prog;
	int ret = vrb_cm_open(pep->base.fabric, &prog);

	if (ret)
		return ret;
	lock_get(&prog->lock);
	ret = vrb_cm_bind_in(prog, &pep->cm, info);
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
	ret = obj_pep_init(&pep->base, fabric, info, context);
	if (ret)
		goto err_free;
	pep->cm.kind = VRB_ID_PEP;
	pep->xrc = info->ep_attr && info->ep_attr->protocol == FI_PROTO_RDMA_CM_IB_XRC;
	ret = pep_bind_id(pep, info);
	if (ret)
		goto err_fini;
	pep->base.fid.fid.ops = &pep_fid_ops;
	pep->base.fid.ops = &pep_ep_ops;
	pep->base.fid.cm = &pep_cm_ops;
	*pep_p = &pep->base.fid;
	return 0;

err_fini:
	obj_pep_fini(&pep->base);
err_free:
	free(pep);
	return ret;
}

void vrb_pep_init_ops(void)
{
	OBJ_OPS_FILL(&vrb_connreq_fid_ops, fid);
	OBJ_OPS_FILL(&pep_fid_ops, fid);
	OBJ_OPS_FILL(&pep_ep_ops, ep);
	OBJ_OPS_FILL(&pep_cm_ops, cm);
}
