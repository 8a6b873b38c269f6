/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pep.c - fi_cm(3) of passive endpoints, and connection requests.
 *
 * A request is the transport's (req) and ours (struct obj_connreq, whose fid is info->handle).
 * It ends once: accepted by the endpoint that is opened with its info (cm.c), rejected here, or
 * dropped when its event or the handle is closed unanswered.
 */
#include "obj/pep.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/ep.h"
#include "obj/log.h"
#include "obj/ops.h"
#include "secure/policy.h"

#define BACKLOG 128

__attribute__((unused)) static const unsigned edges[] = {
	[OBJ_PEP_BOUND] = 1u << OBJ_PEP_LISTENING | 1u << OBJ_PEP_GIVEN,
	[OBJ_PEP_LISTENING] = 0,
	[OBJ_PEP_GIVEN] = 0,
};

void obj_pep_set_state(struct obj_pep *pep, enum obj_pep_state state)
{
	assert(edges[pep->state] & 1u << state && "a bound address is used once");
	pep->state = state;
}

/* ---- requests --------------------------------------------------------------- */

/* A request is closed unanswered: the event queue closed with its event unread, or the
 * program closes the handle.
 */
static int connreq_close(struct fid *fid)
{
	struct obj_connreq *cr = container_of(fid, struct obj_connreq, fid);

	if (cr->process != obj_process)
		return 0;
	if (cr->ep)
		return -FI_EBUSY;
	cr->ops->drop(cr->transport, cr->req);
	free(cr);
	return 0;
}

static struct fi_ops connreq_fid_ops = {
	.close = connreq_close,
};
OBJ_OPS_TABLE(connreq_fid_ops, fid)

bool obj_connreq_is(const struct fid *handle)
{
	return handle && handle->fclass == FI_CLASS_CONNREQ && handle->ops == &connreq_fid_ops;
}



/* The info of the event: what the endpoint that answers is opened with. */
static struct fi_info *request_info(struct obj_pep *pep, struct obj_connreq *cr, const void *src,
				    size_t srclen, const void *dest, size_t destlen)
{
	struct fi_info *info = fi_dupinfo(pep->info);

	if (!info)
		return NULL;
	info->handle = &cr->fid;
	if (!obj_cm_set_addr(&info->src_addr, &info->src_addrlen, src, srclen) &&
	    !obj_cm_set_addr(&info->dest_addr, &info->dest_addrlen, dest, destlen))
		return info;
	fi_freeinfo(info);
	return NULL;
}



int obj_pep_request(struct obj_pep *pep, void *req, const void *src, size_t srclen,
		    const void *dest, size_t destlen, const void *data, size_t len)
{
	struct obj_connreq *cr = calloc(1, sizeof(*cr));
	struct fi_info *info = NULL;

	if (cr) {
		obj_fid_init(&cr->fid, FI_CLASS_CONNREQ, NULL, &connreq_fid_ops);
		cr->ops = pep->ops;
		cr->transport = pep->transport;
		cr->req = req;
		cr->process = obj_process;
		info = request_info(pep, cr, src, srclen, dest, destlen);
	}
	if (info && !obj_eq_write_cm(pep->eq, FI_CONNREQ, &pep->fid.fid, info, data, len))
		return 0;
	fi_freeinfo(info);
	free(cr);
	OBJ_WARN(pep->fabric->prov, FI_LOG_EP_CTRL,
		 "a connection request is refused: out of memory\n");
	return -FI_ENOMEM;
}

/* ---- calls ------------------------------------------------------------------ */

static struct obj_pep *pep_of(struct fid *fid)
{
	return container_of(fid, struct obj_pep, fid.fid);
}

static int pep_getname(fid_t fid, void *addr, size_t *len_p)
{
	struct obj_pep *pep = pep_of(fid);
	int ret;

	if (!len_p || (!addr && *len_p))
		return -FI_EINVAL;
	lock_get(&pep->prog->lock);
	ret = pep->ops->getname(pep, addr, len_p);
	lock_put(&pep->prog->lock);
	return ret;
}

static int pep_setname(fid_t fid, void *addr, size_t len)
{
	struct obj_pep *pep = pep_of(fid);
	int ret = -FI_EOPBADSTATE;

	if (!pep->ops->setname)
		return -FI_ENOSYS;
	lock_get(&pep->prog->lock);
	if (pep->state == OBJ_PEP_BOUND)
		ret = pep->ops->setname(pep, addr, len);
	lock_put(&pep->prog->lock);
	return ret;
}

static int pep_listen(struct fid_pep *fid)
{
	struct obj_pep *pep = obj_pep_of(fid);
	int ret = -FI_EOPBADSTATE;

	if (!pep->eq)
		return -FI_ENOEQ;
	lock_get(&pep->prog->lock);
	if (pep->state == OBJ_PEP_BOUND)
		ret = pep->ops->listen(pep, pep->backlog);
	if (!ret)
		obj_pep_set_state(pep, OBJ_PEP_LISTENING);
	lock_put(&pep->prog->lock);
	return ret;
}

/* The handle is used up, whatever the transport returns. */
static int pep_reject(struct fid_pep *fid, fid_t handle, const void *data, size_t len)
{
	struct obj_connreq *cr = container_of(handle, struct obj_connreq, fid);
	struct obj_pep *pep = obj_pep_of(fid);
	int ret;

	if (!obj_connreq_is(handle) || cr->transport != pep->transport ||
	    obj_cm_check_data(pep->fabric->prov, data, len, pep->data_size))
		return -FI_EINVAL;
	if (cr->ep || pep->state == OBJ_PEP_GIVEN)
		return -FI_EOPBADSTATE;
	lock_get(&pep->prog->lock);
	ret = pep->ops->reject(pep, cr->req, data, len);
	lock_put(&pep->prog->lock);
	free(cr);
	return ret;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct obj_pep *pep = pep_of(fid);
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

static int pep_control(struct fid *fid, int command, void *arg)
{
	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	if (!arg || *(int *) arg < 0)
		return -FI_EINVAL;
	pep_of(fid)->backlog = *(int *) arg;
	return 0;
}

static int pep_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen)
{
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	return obj_ep_show_size(pep_of(fid)->data_size, optval, optlen);
}

/* A passive endpoint whose address an active one took over (fi_endpoint with its handle) has no
 * transport any more.
 */
static int pep_close(struct fid *fid)
{
	struct obj_pep *pep = pep_of(fid);
	int ret;

	if (obj_inherited(&pep->refs))
		return 0;
	ret = obj_refs_busy(&pep->refs, fid, pep->fabric->prov, FI_LOG_EP_CTRL);
	if (ret)
		return ret;
	if (pep->state != OBJ_PEP_GIVEN) {
		lock_get(&pep->prog->lock);
		pep->ops->close(pep);
		lock_put(&pep->prog->lock);
	}
	obj_pep_fini(pep);
	free(pep);
	return 0;
}

static struct fi_ops pep_fid_ops = {
	.close = pep_close,
	.bind = pep_bind,
	.control = pep_control,
};
OBJ_OPS_TABLE(pep_fid_ops, fid)

static struct fi_ops_ep pep_ep_ops = {
	.getopt = pep_getopt,
};
OBJ_OPS_TABLE(pep_ep_ops, ep)

static struct fi_ops_cm pep_cm_ops = {
	.setname = pep_setname,
	.getname = pep_getname,
	.listen = pep_listen,
	.reject = pep_reject,
};
OBJ_OPS_TABLE(pep_cm_ops, cm)

bool obj_pep_is(const struct fid *handle)
{
	return handle && handle->fclass == FI_CLASS_PEP && handle->ops == &pep_fid_ops;
}

/* ---- life ------------------------------------------------------------------- */

int obj_pep_init(struct obj_pep *pep, struct fid_fabric *fabric_fid, const struct fi_info *info,
		 const struct obj_pep_ops *ops, const void *transport, size_t data_size,
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
	ret = obj_security_get(fabric, pep->info, NULL, &pep->sec);
	if (!ret)
		ret = obj_fabric_prog(fabric, &pep->prog);
	if (ret) {
		sec_policy_close(pep->sec);
		fi_freeinfo(pep->info);
		return ret;
	}
	obj_fid_init(&pep->fid.fid, FI_CLASS_PEP, context, &pep_fid_ops);
	pep->fid.ops = &pep_ep_ops;
	pep->fid.cm = &pep_cm_ops;
	pep->ops = ops;
	pep->transport = transport;
	pep->data_size = data_size;
	pep->fabric = fabric;
	pep->backlog = BACKLOG;
	obj_refs_init(&pep->refs);
	obj_ref_get(&fabric->refs, &pep->fabric_ref, &pep->fid.fid);
	return 0;
}

void obj_pep_fini(struct obj_pep *pep)
{
	if (pep->eq)
		obj_eq_purge(pep->eq, &pep->fid.fid);
	obj_prog_put(pep->prog);
	obj_ref_put(&pep->eq_ref);
	obj_ref_put(&pep->fabric_ref);
	obj_refs_fini(&pep->refs);
	sec_policy_close(pep->sec);
	fi_freeinfo(pep->info);
}
