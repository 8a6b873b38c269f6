/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.c - fi_cm(3) of active endpoints.
 *
 * The transport does the handshake; which call is allowed in which state, and the events
 * that report the outcome, are decided here.
 */
#include "obj/cm.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/ep.h"
#include "obj/ops.h"
#include "obj/pep.h"

/* A connection manager reports the end of a connection that has not come about as well as
 * of one that has; a datagram endpoint goes to CONNECTED when it is enabled.
 */
__attribute__((unused)) static const unsigned edges[] = {
	[OBJ_CM_IDLE] = 1u << OBJ_CM_CONNECTING | 1u << OBJ_CM_CONNECTED | 1u << OBJ_CM_SHUT,
	[OBJ_CM_CONNECTING] = 1u << OBJ_CM_IDLE | 1u << OBJ_CM_CONNECTED | 1u << OBJ_CM_SHUT,
	[OBJ_CM_CONNECTED] = 1u << OBJ_CM_SHUT,
	[OBJ_CM_SHUT] = 0,
};

void obj_cm_set_state(struct obj_ep *ep, enum obj_cm_state state)
{
	assert(edges[obj_cm_state(ep)] & 1u << state && "an endpoint has one connection");
	atomic_store(&ep->cm.state, state);
	if (ep->cm.ops && ep->cm.ops->changed)
		ep->cm.ops->changed(ep, state);
}

enum obj_cm_state obj_cm_shut(struct obj_ep *ep)
{
	enum obj_cm_state was = obj_cm_state(ep);

	if (was != OBJ_CM_SHUT)
		obj_cm_set_state(ep, OBJ_CM_SHUT);
	return was;
}

/* The group of the connection is locked from here to cm_unlock(), if there is one yet. */
static struct obj_prog *cm_lock(struct obj_ep *ep)
{
	struct obj_prog *prog = ep->cm.prog ? ep->cm.prog : ep->enabled ? ep->prog : NULL;

	if (prog)
		lock_get(&prog->lock);
	return prog;
}

static void cm_unlock(struct obj_prog *prog)
{
	if (prog)
		lock_put(&prog->lock);
}

/* ---- names ------------------------------------------------------------------ */

int obj_cm_info_name(const struct fi_info *info, void *addr, size_t *len_p)
{
	return info->src_addr ? obj_cm_copy_name(info->src_addr, info->src_addrlen, addr, len_p) :
				-FI_EOPBADSTATE;
}

int obj_cm_set_addr(void **addr_p, size_t *len_p, const void *addr, size_t len)
{
	void *copy = malloc(len ? len : 1);

	if (!copy)
		return -FI_ENOMEM;
	if (len)
		memcpy(copy, addr, len);
	free(*addr_p);
	*addr_p = copy;
	*len_p = len;
	return 0;
}

int obj_cm_rename(struct fi_info *info, const void *addr, size_t len)
{
	return addr && len ? obj_cm_set_addr(&info->src_addr, &info->src_addrlen, addr, len) :
			     -FI_EINVAL;
}

static struct obj_ep *ep_of(fid_t fid)
{
	return obj_ep_of(container_of(fid, struct fid_ep, fid));
}

static int cm_getname(fid_t fid, void *addr, size_t *len_p)
{
	struct obj_ep *ep = ep_of(fid);
	struct obj_prog *prog;
	int ret;

	if (!len_p || (!addr && *len_p))
		return -FI_EINVAL;
	prog = cm_lock(ep);
	ret = ep->cm.ops->getname(ep, addr, len_p);
	cm_unlock(prog);
	return ret;
}

static int cm_setname(fid_t fid, void *addr, size_t len)
{
	struct obj_ep *ep = ep_of(fid);
	struct obj_prog *prog;
	int ret;

	if (!ep->cm.ops->setname)
		return -FI_ENOSYS;
	prog = cm_lock(ep);
	ret = ep->cm.ops->setname(ep, addr, len);
	cm_unlock(prog);
	return ret;
}

static int cm_getpeer(struct fid_ep *fid, void *addr, size_t *len_p)
{
	struct obj_ep *ep = obj_ep_of(fid);
	struct obj_prog *prog;
	int ret = -FI_ENOTCONN;

	if (!len_p || (!addr && *len_p))
		return -FI_EINVAL;
	prog = cm_lock(ep);
	if (obj_cm_state(ep) == OBJ_CM_CONNECTED)
		ret = ep->cm.ops->getpeer(ep, addr, len_p);
	cm_unlock(prog);
	return ret;
}

static int no_peer(struct fid_ep *fid, void *addr, size_t *len_p)
{
	return -FI_ENOTCONN;
}

/* ---- events ----------------------------------------------------------------- */

static void cm_report(struct obj_ep *ep, uint32_t what, const void *data, size_t len)
{
	int ret = obj_eq_write_cm(ep->eq, what, &ep->h.fid.fid, NULL, data, len);

	if (ret)
		FI_WARN(ep->prov, FI_LOG_EP_CTRL, "connection event %u of the endpoint %p is lost: "
			"%s\n", what, (void *) ep, fi_strerror(-ret));
}

void obj_cm_connected(struct obj_ep *ep, const void *data, size_t len)
{
	obj_cm_set_state(ep, OBJ_CM_CONNECTED);
	cm_report(ep, FI_CONNECTED, data, len);
}

void obj_cm_refused(struct obj_ep *ep, enum obj_cm_state state, int err, int prov_errno,
		    const void *data, size_t len)
{
	struct fi_eq_err_entry entry = {
		.fid = &ep->h.fid.fid,
		.context = ep->h.fid.fid.context,
		.err = err,
		.prov_errno = prov_errno,
	};

	if (obj_cm_state(ep) == OBJ_CM_SHUT)
		return;
	obj_cm_set_state(ep, state);
	obj_eq_write_err(ep->eq, &entry, data, len);
}

void obj_cm_ended(struct obj_ep *ep)
{
	assert(obj_cm_state(ep) == OBJ_CM_SHUT && "the event follows the state");
	cm_report(ep, FI_SHUTDOWN, NULL, 0);
}

/* ---- connect, accept, shutdown ---------------------------------------------- */

int obj_cm_check_data(const struct fi_provider *prov, const void *data, size_t len, size_t room)
{
	if (len <= room && (data || !len))
		return 0;
	FI_WARN(prov, FI_LOG_EP_CTRL, "%zu bytes of private data; a connection request can carry at "
		"most %zu (FI_OPT_CM_DATA_SIZE)\n", len, room);
	return -FI_EINVAL;
}

/* May the endpoint enter OBJ_CM_CONNECTING now? */
static int may_connect(struct obj_ep *ep)
{
	switch (obj_cm_state(ep)) {
	case OBJ_CM_IDLE:
		return 0;
	case OBJ_CM_CONNECTING:
		return -FI_EALREADY;
	case OBJ_CM_CONNECTED:
		return -FI_EISCONN;
	default:
		return -FI_EOPBADSTATE;
	}
}

static int cm_enable(struct obj_ep *ep, const void *data, size_t len)
{
	int ret = obj_cm_check_data(ep->prov, data, len, ep->cm.data_size);

	return ret ? ret : obj_ep_enable(ep);
}

/* An endpoint that was opened for a request can accept it only. */
static int connect_locked(struct obj_ep *ep, const void *addr, const void *data, size_t len)
{
	int ret = may_connect(ep);

	if (ret)
		return ret;
	if (ep->cm.req)
		return -FI_EOPBADSTATE;
	obj_cm_set_state(ep, OBJ_CM_CONNECTING);
	ret = ep->cm.ops->connect(ep, addr, data, len);
	if (ret)
		obj_cm_set_state(ep, OBJ_CM_IDLE);
	return ret;
}

/* Enables the endpoint, if the program has not; the outcome is an event. */
static int cm_connect(struct fid_ep *fid, const void *addr, const void *data, size_t len)
{
	struct obj_ep *ep = obj_ep_of(fid);
	struct obj_prog *prog;
	int ret;

	if (!addr)
		addr = ep->info->dest_addr;
	ret = addr ? cm_enable(ep, data, len) : -FI_EINVAL;
	if (ret)
		return ret;
	prog = cm_lock(ep);
	ret = connect_locked(ep, addr, data, len);
	cm_unlock(prog);
	return ret;
}

/* The request is the transport's again, and its handle is gone. */
static void *use_req(struct obj_ep *ep)
{
	void *req = ep->cm.req->req;

	free(ep->cm.req);
	ep->cm.req = NULL;
	return req;
}

static int accept_locked(struct obj_ep *ep, const void *data, size_t len)
{
	int ret = may_connect(ep);

	if (ret)
		return ret;
	if (!ep->cm.req)
		return -FI_EOPBADSTATE;
	obj_cm_set_state(ep, OBJ_CM_CONNECTING);
	ret = ep->cm.ops->accept(ep, use_req(ep), data, len);
	if (ret)
		obj_cm_set_state(ep, OBJ_CM_IDLE);
	return ret;
}

static int cm_accept(struct fid_ep *fid, const void *data, size_t len)
{
	struct obj_ep *ep = obj_ep_of(fid);
	struct obj_prog *prog;
	int ret = cm_enable(ep, data, len);

	if (ret)
		return ret;
	prog = cm_lock(ep);
	ret = accept_locked(ep, data, len);
	cm_unlock(prog);
	return ret;
}

/* The program ends the connection; the transport changes the state.  Programs in which both
 * sides call fi_shutdown() wait for FI_SHUTDOWN at both: the event is raised here as well, and
 * what the peer does afterwards raises none.
 */
static int cm_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct obj_ep *ep = obj_ep_of(fid);
	struct obj_prog *prog;
	int ret = -FI_ENOTCONN;

	if (flags)
		return -FI_EINVAL;
	prog = cm_lock(ep);
	if (obj_cm_state(ep) == OBJ_CM_CONNECTED) {
		ret = ep->cm.ops->shutdown(ep);
		obj_cm_ended(ep);
	}
	cm_unlock(prog);
	return ret;
}

/* ---- what an endpoint is opened for ------------------------------------------ */

/* The endpoint gets the address of a passive endpoint that does not listen. */
static int take_pep(struct obj_ep *ep, struct obj_pep *pep)
{
	struct obj_prog *prog = pep->prog;
	int ret = -FI_EBUSY;

	lock_get(&prog->lock);
	if (pep->state == OBJ_PEP_BOUND)
		ret = ep->cm.ops->take_pep(ep, pep);
	if (!ret)
		obj_pep_set_state(pep, OBJ_PEP_GIVEN);
	lock_put(&prog->lock);
	return ret;
}

/* One endpoint per request; it accepts it, or drops it when it closes. */
static int take_req(struct obj_ep *ep, struct obj_connreq *cr)
{
	struct obj_prog *prog;
	int ret = 0;

	if (cr->ep)
		return -FI_EBUSY;
	prog = cm_lock(ep);
	if (ep->cm.ops->take_req)
		ret = ep->cm.ops->take_req(ep, cr->req);
	if (!ret) {
		cr->ep = ep;
		ep->cm.req = cr;
	}
	cm_unlock(prog);
	return ret;
}

/* info->handle: a passive endpoint or a connection request, of the same transport. */
int obj_cm_take(struct obj_ep *ep, struct fid *handle)
{
	struct obj_connreq *cr = container_of(handle, struct obj_connreq, fid);
	struct obj_pep *pep = container_of(handle, struct obj_pep, fid.fid);

	if (obj_pep_is(handle) && pep->transport == ep->cm.transport)
		return take_pep(ep, pep);
	if (obj_connreq_is(handle) && cr->transport == ep->cm.transport && ep->type == FI_EP_MSG)
		return take_req(ep, cr);
	return -FI_EINVAL;
}

void obj_cm_drop(struct obj_ep *ep)
{
	const struct obj_pep_ops *ops;

	if (!ep->cm.req)
		return;
	ops = ep->cm.req->ops;
	ops->drop(ep->cm.transport, use_req(ep));
}

struct fi_ops_cm obj_cm_msg_ops = {
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.accept = cm_accept,
	.shutdown = cm_shutdown,
};
OBJ_OPS_TABLE(obj_cm_msg_ops, cm)

struct fi_ops_cm obj_cm_rdm_ops = {
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = no_peer,
};
OBJ_OPS_TABLE(obj_cm_rdm_ops, cm)

