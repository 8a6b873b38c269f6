/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.c - names of endpoints, and the connections of FI_EP_MSG endpoints.
 *
 * The link does the handshake; this is who may ask for what when, and the events.
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ep.h"
#include "engine/flow.h"
#include "engine/peer.h"
#include "engine/recv.h"
#include "base/net_addr.h"

/* ---- names ------------------------------------------------------------------ */

int eng_cm_name(const void *name, size_t name_len, void *addr, size_t *len)
{
	size_t room = *len;

	*len = name_len;
	if (addr && room)
		memcpy(addr, name, room < name_len ? room : name_len);
	return room < name_len ? -FI_ETOOSMALL : 0;
}

int eng_cm_rename(struct fi_info *info, const void *addr, size_t len)
{
	void *copy;

	if (!addr || !len)
		return -FI_EINVAL;
	copy = malloc(len);
	if (!copy)
		return -FI_ENOMEM;
	memcpy(copy, addr, len);
	free(info->src_addr);
	info->src_addr = copy;
	info->src_addrlen = len;
	return 0;
}

static int cm_getname(fid_t fid, void *addr, size_t *len)
{
	struct eng_ep *ep = eng_ep_of(container_of(fid, struct fid_ep, fid));
	struct fi_info *info = ep->base.info;
	int ret;

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	if (!eng_ep_enabled(ep))
		return info->src_addr ?
		       eng_cm_name(info->src_addr, info->src_addrlen, addr, len) :
		       -FI_EOPBADSTATE;
	lock_get(&ep->base.prog->lock);
	ret = ep->link_ops->getname(ep->link, addr, len);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int cm_setname(fid_t fid, void *addr, size_t len)
{
	struct eng_ep *ep = eng_ep_of(container_of(fid, struct fid_ep, fid));
	int ret = -FI_EOPBADSTATE;

	if (!eng_ep_enabled(ep))
		return eng_cm_rename(ep->base.info, addr, len);
	if (!ep->link_ops->setname)
		return ret;
	lock_get(&ep->base.prog->lock);
	if (ep->state == ENG_EP_READY)
		ret = ep->link_ops->setname(ep->link, addr, len);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int cm_getpeer(struct fid_ep *fid, void *addr, size_t *len)
{
	struct eng_ep *ep = eng_ep_of(fid);
	int ret = -FI_ENOTCONN;

	if (!len || (!addr && *len))
		return -FI_EINVAL;
	if (!eng_ep_enabled(ep))
		return ret;
	lock_get(&ep->base.prog->lock);
	if (ep->state == ENG_EP_CONNECTED)
		ret = ep->link_ops->getpeer(ep->link, ep->only, addr, len);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int no_peer(struct fid_ep *fid, void *addr, size_t *len)
{
	return -FI_ENOTCONN;
}

/* ---- events ----------------------------------------------------------------- */

static void event(struct eng_ep *ep, uint32_t what, const void *param, size_t paramlen)
{
	size_t size = sizeof(struct fi_eq_cm_entry) + paramlen;
	struct fi_eq_cm_entry *entry = calloc(1, size);
	int ret = -FI_ENOMEM;

	if (entry) {
		entry->fid = &ep->base.h.fid.fid;
		if (paramlen)
			memcpy(entry->data, param, paramlen);
		ret = obj_eq_write(ep->base.eq, what, entry, size, 0);
	}
	if (ret)
		ENG_WARN(ep, "event %u for an endpoint is lost: %s\n", what, fi_strerror(-ret));
	free(entry);
}

static void event_error(struct eng_ep *ep, int err, const void *param, size_t paramlen)
{
	struct fi_eq_err_entry entry = {
		.fid = &ep->base.h.fid.fid,
		.context = ep->base.h.fid.fid.context,
		.err = err,
		.prov_errno = err,
	};

	obj_eq_write_err(ep->base.eq, &entry, param, paramlen);
}

/* The end of a connection, whoever ended it. */
static void disconnected(struct eng_ep *ep, int err, bool tell)
{
	eng_ep_set_state(ep, ENG_EP_SHUT);
	ep->only->slow |= ENG_PEER_CLOSED;
	eng_peer_fail(ep->only, err);
	eng_recv_flush(ep->own, FI_ECANCELED);
	if (tell)
		event(ep, FI_SHUTDOWN, NULL, 0);
}

void eng_cm_lost(struct eng_ep *ep, int err)
{
	switch (ep->state) {
	case ENG_EP_CONNECTING:
		eng_ep_set_state(ep, ENG_EP_READY);
		event_error(ep, err, NULL, 0);
		break;
	case ENG_EP_CONNECTED:
		disconnected(ep, err, true);
		break;
	default:
		eng_peer_fail(ep->only, err);
		break;
	}
}

void eng_on_connected(struct eng_link *link, struct eng_peer *peer, const void *param,
		      size_t paramlen)
{
	struct eng_ep *ep = peer->ep;

	if (ep->state != ENG_EP_CONNECTING)
		return;
	eng_ep_set_state(ep, ENG_EP_CONNECTED);
	peer->slow = 0;
	event(ep, FI_CONNECTED, param, paramlen);
}

void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err, const void *param,
		    size_t paramlen)
{
	struct eng_ep *ep = peer->ep;

	if (ep->state != ENG_EP_CONNECTING)
		return;
	eng_ep_set_state(ep, ENG_EP_READY);
	event_error(ep, err, param, paramlen);
}

void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	if (peer->ep->state == ENG_EP_CONNECTED)
		disconnected(peer->ep, FI_ECONNRESET, true);
}

/* ---- calls ------------------------------------------------------------------ */

/* May a connection be asked for now? */
static int may_connect(struct eng_ep *ep)
{
	switch (ep->state) {
	case ENG_EP_READY:
		return 0;
	case ENG_EP_CONNECTING:
		return -FI_EALREADY;
	case ENG_EP_CONNECTED:
		return -FI_EISCONN;
	default:
		return -FI_EOPBADSTATE;
	}
}

static size_t addr_len(const struct eng_ep *ep, const void *addr)
{
	if (ep->base.info->addr_format == FI_ADDR_STR)
		return strlen(addr) + 1;
	return net_addr_len(addr) ? net_addr_len(addr) : ep->base.info->dest_addrlen;
}

static int check_param(struct eng_ep *ep, const void *param, size_t paramlen)
{
	if (paramlen > ep->link_ops->cm_data_size || (paramlen && !param)) {
		ENG_WARN(ep, "%zu bytes of private data; at most %zu can go with a connection "
			 "request (FI_OPT_CM_DATA_SIZE)\n", paramlen, ep->link_ops->cm_data_size);
		return -FI_EINVAL;
	}
	return 0;
}

static int connect_locked(struct eng_ep *ep, const void *addr, const void *param,
			  size_t paramlen)
{
	size_t len;
	int ret = may_connect(ep);

	if (ret)
		return ret;
	if (ep->connreq)
		return -FI_EOPBADSTATE;
	len = addr_len(ep, addr);
	if (!len)
		return -FI_EINVAL;
	memcpy(ep->only->addr, addr, len < ep->only->addr_len ? len : ep->only->addr_len);
	ret = ep->link_ops->connect(ep->link, ep->only, addr, len, param, paramlen);
	if (!ret)
		eng_ep_set_state(ep, ENG_EP_CONNECTING);
	return ret;
}

static int cm_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct eng_ep *ep = eng_ep_of(fid);
	int ret = check_param(ep, param, paramlen);

	if (!addr)
		addr = ep->base.info->dest_addr;
	if (!addr)
		ret = -FI_EINVAL;
	if (!ret)
		ret = obj_ep_enable(&ep->base);
	if (ret)
		return ret;
	lock_get(&ep->base.prog->lock);
	ret = connect_locked(ep, addr, param, paramlen);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int accept_locked(struct eng_ep *ep, const void *param, size_t paramlen)
{
	int ret = may_connect(ep);

	if (ret)
		return ret;
	if (!ep->connreq)
		return -FI_EOPBADSTATE;
	if (ep->base.info->dest_addr)
		memcpy(ep->only->addr, ep->base.info->dest_addr,
		       ep->base.info->dest_addrlen < ep->only->addr_len ?
		       ep->base.info->dest_addrlen : ep->only->addr_len);
	ret = ep->link_ops->accept(ep->link, ep->only, eng_connreq_use(ep), param, paramlen);
	if (!ret)
		eng_ep_set_state(ep, ENG_EP_CONNECTING);
	return ret;
}

static int cm_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct eng_ep *ep = eng_ep_of(fid);
	int ret = check_param(ep, param, paramlen);

	if (!ret)
		ret = obj_ep_enable(&ep->base);
	if (ret)
		return ret;
	lock_get(&ep->base.prog->lock);
	ret = accept_locked(ep, param, paramlen);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int cm_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct eng_ep *ep = eng_ep_of(fid);
	int ret = -FI_ENOTCONN;

	if (flags)
		return -FI_EINVAL;
	if (!eng_ep_enabled(ep))
		return ret;
	lock_get(&ep->base.prog->lock);
	if (ep->state == ENG_EP_CONNECTED) {
		disconnected(ep, FI_ECANCELED, false);
		ret = ep->link_ops->shutdown(ep->link, ep->only);
	}
	lock_put(&ep->base.prog->lock);
	return ret;
}

struct fi_ops_cm eng_cm_msg_ops = {
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.accept = cm_accept,
	.shutdown = cm_shutdown,
};

struct fi_ops_cm eng_cm_rdm_ops = {
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = no_peer,
};
