/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * share.c - a long payload from a device to a device of another process of the host, copied by
 * the receiver.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "engine/ctl.h"
#include "engine/dev.h"
#include "engine/flow.h"
#include "engine/tx.h"
#include "engine/wire.h"

/* May copies go directly between the memory of @mr and another process? */
static bool share_permitted(const struct eng_ep *ep, const struct obj_mr *mr)
{
	return mr && mr->loc.iface != FI_HMEM_SYSTEM && !mr->loc.host &&
	       ep->base.hmem_p2p != FI_HMEM_P2P_DISABLED && !hmem_p2p_disabled() &&
	       !mr->domain->hmem_ops;
}

bool eng_dev_shares(const struct eng_ep *ep, const struct obj_mr *mr)
{
	return share_permitted(ep, mr) && !mr->loc.unshared;
}

/* ---- the sender ------------------------------------------------------------------------- */

bool eng_dev_announces(const struct eng_peer *peer, size_t len)
{
	return peer->link->attr.same_host && len > ENG_DEV_SHORT;
}

uint8_t eng_dev_offer(struct eng_tx *tx)
{
	struct eng_dev *dev = tx->sink.dev;

	if (tx->name.peer->link->attr.same_host && tx->pkt.iov_cnt == 1 &&
	    eng_dev_shares(tx->ep, dev->mrs[0]))
		dev->shared = true;
	return dev->shared ? WIRE_F_SHARE : 0;
}

bool eng_dev_offered(const struct eng_tx *tx)
{
	return tx->sink.dev && tx->sink.dev->shared;
}

static void write_share(uint8_t *hdr, size_t at, const struct hmem_share *share, const void *buf,
			uint32_t tx_id)
{
	struct wire_share wire = {
		.tx_id = tx_id, .iface = share->iface, .proc = share->proc, .id = share->id,
		.base = share->base, .alloc = share->len, .off = (uintptr_t) buf - share->base,
	};

	memcpy(wire.handle, share->handle, sizeof(wire.handle));
	wire_put_share(hdr, at, &wire);
}

bool eng_dev_tell_share(struct eng_peer *peer, struct obj_mr *mr, const void *buf, size_t len,
			uint32_t tx_id, uint32_t rx_id)
{
	const struct hmem_share *share = obj_mr_share(mr);
	struct eng_out *ctl = share ? eng_ctl_get(peer->ep->grp) : NULL;

	if (!ctl)
		return false;
	write_share(ctl->pkt.hdr, sizeof(struct wire_base), share, buf, tx_id);
	eng_ctl_send(ctl, peer, WIRE_SHARE, 0, rx_id, len, 0);
	return true;
}

bool eng_dev_share(struct eng_tx *tx, const struct wire_msg *msg)
{
	return eng_dev_tell_share(tx->name.peer, tx->sink.dev->mrs[0], tx->pkt.iov[0].iov_base,
				  msg->len, tx->name.id, msg->rx_id);
}

/* ---- the receiver ----------------------------------------------------------------------- */

uint8_t eng_dev_accept(const struct eng_ep *ep, struct eng_sink *sink)
{
	sink->dev->shared = sink->iov_cnt == 1 && share_permitted(ep, sink->dev->mrs[0]);
	return sink->dev->shared ? WIRE_F_SHARE : 0;
}

/* find_shared_sink - the sink that waits for the memory that @msg tells of. */
static struct eng_sink *find_shared_sink(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, msg->id, ENG_NAME_SINK, peer);
	struct eng_sink *sink = name ? container_of(name, struct eng_sink, name) : NULL;

	return sink && sink->dev && sink->dev->shared && msg->len == sink->want ? sink : NULL;
}

/* share_copy_begin - open the memory and begin to copy.  Errors: it cannot be opened. */
static int share_copy_begin(struct eng_chunk *chunk, struct eng_sink *sink, const struct wire_msg *msg)
{
	const struct wire_share *wire = &msg->share;
	const struct hmem_loc *loc = &sink->dev->mrs[0]->loc;
	struct hmem_share share = { .proc = wire->proc, .id = wire->id, .base = wire->base,
				    .len = wire->alloc, .iface = wire->iface };
	char *base;
	int ret;

	memcpy(share.handle, wire->handle, sizeof(share.handle));
	ret = hmem_share_open(loc, &share, &chunk->opened, &base);
	if (ret)
		return ret;
	chunk->owner = sink;
	chunk->tx_id = wire->tx_id;
	chunk->err = hmem_copy_start(HMEM_ON_DEVICE, loc, sink->iov[0].iov_base, base + wire->off,
				     msg->len, &chunk->event[0]);
	chunk->event_cnt = !chunk->err && chunk->event[0].kind;
	return 0;
}

enum eng_rx_verdict eng_dev_on_share(struct eng_peer *peer, const struct wire_msg *msg,
				     const char **why_p)
{
	struct eng_sink *sink = find_shared_sink(peer, msg);
	struct eng_grp *grp = peer->ep->grp;
	struct eng_chunk *chunk;
	struct eng_out *ctl;

	*why_p = sink ? NULL : "shared memory that was not asked for";
	if (!sink)
		return ENG_RX_BAD;
	ctl = eng_flow_refuse(peer, sizeof(*ctl)) ? NULL : eng_ctl_get(grp);
	chunk = ctl ? eng_chunk_get(grp, 0, false, true) : NULL;
	if (!chunk) {
		if (ctl)
			eng_ctl_put(ctl);
		return ENG_RX_LATER;
	}
	sink->dev->shared = false;
	if (share_copy_begin(chunk, sink, msg)) {
		eng_chunk_put(chunk);
		eng_ctl_send(ctl, peer, WIRE_CTS, 0, msg->share.tx_id, msg->len, msg->id);
		return ENG_RX_DONE;
	}
	chunk->answer = ctl;
	sink->got = sink->want;
	sink->pieces++;
	eng_chunk_to_sink(chunk);
	return ENG_RX_DONE;
}

/* A sender that was lost meanwhile may be back, with other requests: it gets no answer. */
void eng_dev_answer(struct eng_chunk *chunk)
{
	struct eng_sink *sink = chunk->owner;

	hmem_share_close(chunk->opened);
	if (sink->err)
		eng_ctl_put(chunk->answer);
	else if (chunk->err)
		eng_ctl_send(chunk->answer, sink->name.peer, WIRE_NACK, 0, chunk->tx_id, 0, FI_EIO);
	else
		eng_ctl_send(chunk->answer, sink->name.peer, WIRE_ACK, WIRE_F_SHARE, chunk->tx_id, 0,
			     0);
	sink->dev->told = chunk->err;
}
