/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * serve_share.c - writes that are announced, because their payload is memory of a device, and
 * reads whose initiator copies from our device.  Both pin their region until they end.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "engine/dev.h"
#include "engine/serve.h"

_Static_assert(OBJ_MR_IOV_MAX <= ENG_IOV_MAX, "a range of one region fits the list of a packet");

/* ---- announced writes ------------------------------------------------------------- */

/* All of the payload is in place, or its rest does not come: sv->err. */
static void on_filled(struct eng_sink *sink, int status)
{
	struct eng_serve *sv = container_of(sink, struct eng_serve, sink);

	eng_serve_untouch(sv);
	if (!status)
		eng_serve_written(sv->peer, &sv->msg, sv->ctl);
	else if (!sv->err && !(sink->dev && sink->dev->told))
		eng_serve_failed(sv->peer, &sv->msg, status, sv->ctl);
	else if (sv->ctl)
		eng_ctl_put(sv->ctl);
	sv->ctl = NULL;
	eng_serve_put(sv);
}

/* share_place - where the payload of @sv goes: @cnt pieces of one region.  False: no memory. */
static bool share_place(struct eng_serve *sv, const struct eng_rx *rx, size_t cnt,
			const struct eng_uses *uses)
{
	struct eng_sink *sink = &sv->sink;

	sink->iov = sv->iov;
	sink->done = on_filled;
	memcpy(sv->iov, rx->iov, cnt * sizeof(*rx->iov));
	sink->iov_cnt = (uint16_t) cnt;
	if (!eng_serve_on_device(uses))
		return true;
	sink->dev = eng_dev_get(sv->peer->ep->grp, NULL, 0);
	if (sink->dev)
		eng_dev_name_all(sink->dev->mrs, uses->use[0].mr, cnt);
	return sink->dev != NULL;
}

/* share_prepare - a request with all that its answers need, or NULL. */
static struct eng_serve *share_prepare(struct eng_peer *peer, const struct eng_rx *rx,
				       const struct wire_msg *msg, size_t cnt,
				       const struct eng_uses *uses)
{
	struct eng_serve *sv = eng_serve_get(peer, msg);

	if (!sv)
		return NULL;
	sv->err = 0;
	sv->ctl = eng_ctl_get(peer->ep->grp);
	if (sv->ctl && share_place(sv, rx, cnt, uses) &&
	    !eng_sink_open(&sv->sink, peer->ep->grp, msg->len))
		return sv;
	eng_serve_put(sv);
	return NULL;
}

enum eng_rx_verdict eng_serve_announced(struct eng_peer *peer, const struct eng_rx *rx,
					const struct wire_msg *msg, size_t cnt,
					struct eng_uses *uses)
{
	struct eng_out *cts = eng_ctl_get(peer->ep->grp);
	struct eng_serve *sv = cts ? share_prepare(peer, rx, msg, cnt, uses) : NULL;
	uint8_t flags = 0;

	if (!sv) {
		if (cts)
			eng_ctl_put(cts);
		return ENG_RX_LATER;
	}
	eng_serve_touch(sv, uses);
	uses->cnt = 0;
	if (sv->sink.dev && (msg->flags & WIRE_F_SHARE))
		flags = eng_dev_accept(peer->ep, &sv->sink);
	eng_ctl_send(cts, peer, WIRE_CTS, flags, msg->id, msg->len, sv->sink.name.id);
	return ENG_RX_DONE;
}

/* abort_write - no more of its payload comes, and its initiator gets no answer. */
static void abort_write(struct eng_serve *sv, int err)
{
	sv->err = err;
	sv->sink.err = err;
	eng_name_drop(sv->peer->ep->grp, &sv->sink.name);
	eng_sink_check(&sv->sink);
}

bool eng_serve_refused(struct eng_peer *peer, uint32_t id, int err)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, id, ENG_NAME_SINK, peer);
	struct eng_sink *sink = name ? container_of(name, struct eng_sink, name) : NULL;

	if (!sink || sink->done != on_filled)
		return false;
	abort_write(container_of(sink, struct eng_serve, sink), -err);
	return true;
}

void eng_serve_fail_announced(struct eng_peer *peer)
{
	struct eng_serve *sv, *next;

	list_for_each_entry_safe(sv, next, &peer->ep->grp->serving, live)
		if (sv->peer == peer && sv->sink.name.id)
			abort_write(sv, -FI_ECONNRESET);
}

/* ---- reads that are copied by their initiator ---------------------------------------- */

bool eng_serve_share(struct eng_serve *sv)
{
	struct eng_peer *peer = sv->peer;
	struct eng_grp *grp = peer->ep->grp;

	if (!peer->link->attr.same_host || sv->msg.rma_cnt != 1 || sv->pump.iov_cnt != 1 ||
	    !sv->pump.mrs || !eng_dev_shares(peer->ep, sv->mrs[0]) ||
	    !eng_name_make(grp, &sv->name))
		return false;
	sv->shared = eng_dev_tell_share(peer, sv->mrs[0], sv->iov[0].iov_base, sv->msg.len,
					sv->name.id, sv->msg.id);
	if (!sv->shared)
		eng_name_drop(grp, &sv->name);
	return sv->shared;
}

/* share_copied - the initiator's copy has ended. */
static void share_copied(struct eng_serve *sv, int status)
{
	sv->shared = false;
	eng_name_drop(sv->peer->ep->grp, &sv->name);
	eng_serve_range_done(sv, status);
}

void eng_serve_unshare(struct eng_serve *sv)
{
	share_copied(sv, -FI_ECONNRESET);
}

bool eng_serve_answered(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, msg->id, ENG_NAME_SERVE, peer);
	struct eng_serve *sv = name ? container_of(name, struct eng_serve, name) : NULL;

	if (!sv)
		return false;
	if (msg->op != WIRE_CTS) {
		share_copied(sv, msg->op == WIRE_NACK ? -(int) msg->err : 0);
		return true;
	}
	/* It cannot open it, and takes DATA. */
	sv->shared = false;
	eng_name_drop(peer->ep->grp, &sv->name);
	eng_pump_start(&sv->pump);
	return true;
}
