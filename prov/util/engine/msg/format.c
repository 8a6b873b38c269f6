/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * format.c - packets that were made before the format of their channel was known become those of the
 * format.
 */
#include <assert.h>
#include <string.h>

#include "engine/peer.h"
#include "engine/tx.h"
#include "engine/wire.h"

/* ---- announced late -------------------------------------------------------------------- */

static void announce_pending(struct eng_peer *peer, struct list *pending)
{
	struct eng_pkt *pkt;
	size_t sum = 0, len;

	list_for_each_entry(pkt, pending, node) {
		len = pkt->len;
		if (sum + len <= peer->ep->ahead || !eng_tx_announce_late(pkt))
			sum += len;
	}
}

/* ---- made whole ------------------------------------------------------------------------ */

/* The pieces of a write cut a range, or an entry of the list, in two: these become one again.  So there are
 * never more of either than the call had.
 */
static void add_range(struct wire_msg *msg, const struct wire_rma *rma)
{
	struct wire_rma *last = &msg->rma[msg->rma_cnt - 1];	/* a piece has one */

	if (!rma->len)
		return;
	if (last->key == rma->key && last->addr + last->len == rma->addr)
		last->len += rma->len;
	else if (msg->rma_cnt < WIRE_RMA_MAX)
		msg->rma[msg->rma_cnt++] = *rma;
}

static void add_entry(struct eng_pkt *pkt, const struct iovec *iov)
{
	struct iovec *last = &pkt->iov[pkt->iov_cnt - 1];

	if ((char *) last->iov_base + last->iov_len == iov->iov_base)
		last->iov_len += iov->iov_len;
	else if (pkt->iov_cnt < ENG_IOV_MAX)
		pkt->iov[pkt->iov_cnt++] = *iov;
	pkt->len += iov->iov_len;
}

/* join_piece - @next goes with the payload of @piece, which precedes it. */
static void join_piece(struct eng_pkt *piece, struct eng_pkt *next)
{
	struct wire_msg first, msg;
	unsigned i;

	if (wire_parse(piece->hdr, piece->hdr_len, piece->len, &first) ||
	    wire_parse(next->hdr, next->hdr_len, next->len, &msg) || first.id != msg.id) {
		assert(!"the pieces of a write are sent one after another");
		return;
	}
	for (i = 0; i < msg.rma_cnt; i++)
		add_range(&first, &msg.rma[i]);
	for (i = 0; i < next->iov_cnt; i++)
		add_entry(piece, &next->iov[i]);
	memcpy(next->iov, piece->iov, piece->iov_cnt * sizeof(*next->iov));
	next->iov_cnt = piece->iov_cnt;
	next->len = piece->len;
	next->flags &= ~ENG_PKT_INLINE;
	msg.rma_cnt = first.rma_cnt;
	memcpy(msg.rma, first.rma, first.rma_cnt * sizeof(*msg.rma));
	msg.len = next->len;
	if (msg.total == msg.len)
		msg.flags &= (uint8_t) ~WIRE_F_TOTAL;
	next->hdr_len = (uint16_t) wire_put(next->hdr, &msg);
	list_del(&piece->node);
	piece->done(piece, 0);
}

static bool is_piece(const struct eng_pkt *pkt)
{
	return pkt->hdr[0] == WIRE_WRITE && !(pkt->hdr[1] & WIRE_F_LAST);
}

static void make_whole(struct list *pending)
{
	struct eng_pkt *pkt, *next;

	list_for_each_entry_safe(pkt, next, pending, node) {
		if (is_piece(pkt) && &next->node != pending)
			join_piece(pkt, next);
		else
			eng_tx_announce_not(pkt);
	}
}

void eng_on_format(struct eng_peer *peer, enum eng_format format, struct list *pending)
{
	peer->format = format;
	if (format == ENG_FORMAT_ANNOUNCES)
		announce_pending(peer, pending);
	else if (format == ENG_FORMAT_WHOLE)
		make_whole(pending);
}
