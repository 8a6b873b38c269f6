/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.c - names of endpoints and the connections of FI_EP_MSG endpoints, over a link.
 *
 * obj/cm.h decides which call is allowed when and reports the outcome; the link does the
 * handshake.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/net_addr.h"
#include "engine/ep.h"
#include "engine/peer.h"
#include "engine/recv.h"

static struct eng_ep *ep_of(struct obj_ep *base)
{
	return (struct eng_ep *) base;
}

/* ---- names ------------------------------------------------------------------ */

static int cm_getname(struct obj_ep *base, void *addr, size_t *len_p)
{
	struct eng_ep *ep = ep_of(base);

	return eng_ep_enabled(ep) ? ep->link_ops->getname(ep->link, NULL, addr, len_p) :
				    obj_cm_info_name(base->info, addr, len_p);
}

static int cm_setname(struct obj_ep *base, const void *addr, size_t len)
{
	struct eng_ep *ep = ep_of(base);
	int ret;

	if (!eng_ep_enabled(ep))
		return obj_cm_rename(base->info, addr, len);
	if (obj_cm_state(base) != OBJ_CM_IDLE)
		return -FI_EOPBADSTATE;
	ret = ep->link_ops->setname(ep->link, addr, len);
	return ret == -FI_ENOSYS ? -FI_EOPBADSTATE : ret;
}

static int cm_getpeer(struct obj_ep *base, void *addr, size_t *len_p)
{
	struct eng_ep *ep = ep_of(base);

	return ep->link_ops->getname(ep->link, ep->only, addr, len_p);
}

/* ---- what the link reports -------------------------------------------------- */

/* Everything that waits for the peer completes before the program learns of the end. */
static void cm_disconnected(struct eng_ep *ep, int err)
{
	obj_cm_set_state(&ep->base, OBJ_CM_SHUT);
	ep->only->slow |= ENG_PEER_CLOSED;
	eng_peer_fail(ep->only, err);
	eng_recv_flush(ep->own, FI_ECANCELED);
}

void eng_cm_lost(struct eng_ep *ep, int err)
{
	switch (obj_cm_state(&ep->base)) {
	case OBJ_CM_CONNECTING:
		obj_cm_refused(&ep->base, OBJ_CM_IDLE, err, err, NULL, 0);
		break;
	case OBJ_CM_CONNECTED:
		cm_disconnected(ep, err);
		obj_cm_ended(&ep->base);
		break;
	default:
		eng_peer_fail(ep->only, err);
		break;
	}
}

void eng_on_connected(struct eng_link *link, struct eng_peer *peer, const void *param,
		      size_t paramlen)
{
	if (obj_cm_state(&peer->ep->base) != OBJ_CM_CONNECTING)
		return;
	peer->slow = 0;
	obj_cm_connected(&peer->ep->base, param, paramlen);
}

void eng_on_refused(struct eng_link *link, struct eng_peer *peer, int err, const void *param,
		    size_t paramlen)
{
	if (obj_cm_state(&peer->ep->base) == OBJ_CM_CONNECTING)
		obj_cm_refused(&peer->ep->base, OBJ_CM_IDLE, err, err, param, paramlen);
}

void eng_on_shutdown(struct eng_link *link, struct eng_peer *peer)
{
	if (obj_cm_state(&peer->ep->base) == OBJ_CM_CONNECTED)
		eng_cm_lost(peer->ep, FI_ECONNRESET);
}

/* ---- calls ------------------------------------------------------------------ */

static void set_peer_addr(struct eng_peer *peer, const void *addr, size_t len)
{
	memcpy(peer->addr, addr, len < peer->addr_len ? len : peer->addr_len);
}

static size_t addr_len(const struct fi_info *info, const void *addr)
{
	if (info->addr_format == FI_ADDR_STR)
		return strlen(addr) + 1;
	return net_addr_len(addr) ? net_addr_len(addr) : info->dest_addrlen;
}

static int cm_connect(struct obj_ep *base, const void *addr, const void *param, size_t paramlen)
{
	struct eng_ep *ep = ep_of(base);
	size_t len = addr_len(base->info, addr);

	if (!len)
		return -FI_EINVAL;
	set_peer_addr(ep->only, addr, len);
	return ep->link_ops->cm->connect(ep->link, ep->only, addr, len, param, paramlen);
}

static int cm_accept(struct obj_ep *base, void *req, const void *param, size_t paramlen)
{
	struct eng_ep *ep = ep_of(base);

	if (base->info->dest_addr)
		set_peer_addr(ep->only, base->info->dest_addr, base->info->dest_addrlen);
	return ep->link_ops->cm->answer(ep->link, ep->only, req, param, paramlen);
}

static int cm_shutdown(struct obj_ep *base)
{
	struct eng_ep *ep = ep_of(base);

	cm_disconnected(ep, FI_ECANCELED);
	return ep->link_ops->cm->shutdown(ep->link, ep->only);
}

static int cm_take_pep(struct obj_ep *base, struct obj_pep *pep)
{
	return eng_pep_give(pep, base->info);
}

const struct obj_cm_ops eng_cm_ops = {
	.getname = cm_getname,
	.setname = cm_setname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.accept = cm_accept,
	.shutdown = cm_shutdown,
	.take_pep = cm_take_pep,
};
