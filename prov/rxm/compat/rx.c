/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving in the compatible format.  Messages wait on conn->rxq, as those of the native format do;
 * ends of rendezvous and segments are processed when they arrive.  A message in segments is put
 * together in memory of its own, so that no receive buffer waits for another.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "rxm/compat.h"
#include "foreign/rxmf/translate.h"

#define PART_MAX (UINT64_C(1) << 30)	/* bytes of a segmented message */

struct rxm_part {
	struct rxm_rx_buf buf;		/* first; its op has no endpoint */
	struct list node;		/* on compat->parts while it is incomplete */
	struct rxmf_packet head;		/* of the first segment */
	size_t got;
	uint32_t next_no;
	uint8_t data[];
};

static struct rxm_part *part_of(struct rxm_rx_buf *buf)
{
	return container_of(buf, struct rxm_part, buf);
}

/* ---- segments ------------------------------------------------------------------------------- */

static struct rxm_part *part_find(struct rxm_compat *compat, uint64_t id)
{
	struct rxm_part *part;

	list_for_each_entry(part, &compat->parts, node)
		if (part->head.msg_id == id)
			return part;
	return NULL;
}

static struct rxm_part *part_new(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct rxm_compat *compat = conn->compat;
	struct rxm_part *part = NULL;

	if (pkt->len <= PART_MAX && compat->part_bytes < RXM_PARTS_MAX &&
	    !part_find(compat, pkt->msg_id))
		part = malloc(sizeof(*part) + (size_t) pkt->len);
	if (!part)
		return NULL;
	compat->part_bytes += pkt->len;
	memset(part, 0, sizeof(*part));
	part->head = *pkt;
	part->buf.data = part->data;
	part->buf.len = (size_t) pkt->len;
	list_init(&part->buf.node);
	list_add_tail(&part->node, &compat->parts);
	list_add_tail(&part->buf.node, &conn->rxq);
	return part;
}

/* on_segment - Returns NULL, or what is wrong. */
static const char *on_segment(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct rxm_part *part = pkt->place == RXMF_PLACE_FIRST ? part_new(conn, pkt) :
								part_find(conn->compat, pkt->msg_id);

	if (!part)
		return "a segment of an unknown message, or of one too many or too long";
	if (pkt->seg_no != part->next_no || pkt->len != part->head.len ||
	    pkt->payload_len > part->head.len - part->got ||
	    (pkt->place == RXMF_PLACE_LAST) != (part->got + pkt->payload_len == part->head.len))
		return "a segment that does not fit its message";
	memcpy(part->data + part->got, pkt->payload, pkt->payload_len);
	part->got += pkt->payload_len;
	part->next_no++;
	if (part->got == part->head.len)
		list_del(&part->node);
	return NULL;
}

void rxm_compat_free_part(struct rxm_conn *conn, struct rxm_rx_buf *buf)
{
	struct rxm_part *part = part_of(buf);

	conn->compat->part_bytes -= part->head.len;
	list_del(&part->node);
	list_del(&buf->node);
	free(part);
}

/* ---- packets -------------------------------------------------------------------------------- */

bool rxm_compat_is_end(const struct rxm_rx_buf *buf)
{
	switch (buf->len > 1 ? buf->data[1] : RXMF_PACKET_TYPES) {
	case RXMF_PACKET_READ_DONE:
	case RXMF_PACKET_ATOMIC_RESPONSE:
	case RXMF_PACKET_CREDIT:
	case RXMF_PACKET_WRITE_OFFER:
	case RXMF_PACKET_WRITE_DONE:
		return true;
	default:
		return false;
	}
}

static const char *on_read_done(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct rxm_rndv *rndv = hmap_find(&conn->rndv_ids, pkt->msg_id);

	if (!rndv || rndv->written || rxm_tx_returned(conn, pkt->msg_id))
		return "the end of an unknown rendezvous";
	return NULL;
}

/* on_packet - one that passed the validator.
 * @queue_p: [out] it belongs on conn->rxq
 * Returns NULL, or what is wrong.
 */
static const char *on_packet(struct rxm_conn *conn, struct rxm_rx_buf *buf,
			     const struct rxmf_packet *pkt, bool *queue_p)
{
	const char *why;

	switch (pkt->type) {
	case RXMF_PACKET_EAGER:
	case RXMF_PACKET_RNDV:
		*queue_p = true;
		return NULL;
	case RXMF_PACKET_SEG:
		return on_segment(conn, pkt);
	case RXMF_PACKET_READ_DONE:
		return on_read_done(conn, pkt);
	case RXMF_PACKET_ATOMIC:
		why = rxm_compat_on_atomic(conn, pkt, &buf->id);
		*queue_p = buf->id != 0;
		return why;
	case RXMF_PACKET_ATOMIC_RESPONSE:
		return rxm_compat_on_response(conn, pkt);
	case RXMF_PACKET_WRITE_OFFER:
		return rxm_compat_on_offer(conn, pkt);
	case RXMF_PACKET_WRITE_DONE:
		return rxm_compat_on_written(conn, pkt);
	default:
		return NULL;		/* credits are not counted */
	}
}

int rxm_compat_arrived(struct rxm_conn *conn, struct rxm_rx_buf *buf)
{
	char text[CHAN_TEXT_MAX];
	struct rxmf_packet pkt;
	const char *why = rxmf_packet_parse(buf->data, buf->len, conn->compat->limit, &pkt);
	bool queue = false;

	buf->at = 0;
	if (!why)
		why = on_packet(conn, buf, &pkt, &queue);
	if (!why)
		return queue;
	CHAN_WARN_SPARSE(conn->chan.link, "%s sent a packet that is refused: %s\n",
			 chan_peer_text(&conn->chan, text), why);
	return -FI_EPROTO;
}

size_t rxm_compat_item(struct rxm_conn *conn, struct rxm_rx_buf *buf, struct rxm_item *item_p)
{
	struct rxm_compat *compat = conn->compat;
	struct rxm_part *part = part_of(buf);
	struct rxmf_packet pkt;
	struct wire_msg msg;

	if (rxm_compat_is_part(buf)) {
		if (part->got < part->head.len)
			return 0;
		pkt = part->head;
		pkt.payload = part->data;
	} else {
		/* it has passed when it arrived */
		rxmf_packet_parse(buf->data, buf->len, compat->limit, &pkt);
	}
	msg = rxmf_translate_in(&pkt, buf->id);
	*item_p = (struct rxm_item) {
		.kind = pkt.type == RXMF_PACKET_RNDV ? RXM_RNDV : RXM_EAGER,
		.hdr = compat->hdr,
		.hdr_len = wire_put(compat->hdr, &msg),
		.data = pkt.payload,
		.len = (size_t) msg.len,
		.id = pkt.msg_id,
		.segs = pkt.segs,
	};
	memcpy(item_p->seg, pkt.seg, sizeof(pkt.seg));
	return buf->len;
}
