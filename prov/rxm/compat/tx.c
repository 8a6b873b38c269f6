/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending in the compatible format: eager messages, segments of longer ones, and rendezvous, whose
 * memory the peer reads.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "rxm/compat.h"
#include "net/opt.h"
#include "foreign/rxmf/translate.h"

#define SEG_LIMITS 8u			/* messages of up to so many eager limits are cut */
#define SEG_MAX UINT16_MAX

/* ---- messages ------------------------------------------------------------------------------ */

static int send_eager(struct rxm_conn *conn, struct eng_pkt *pkt, struct rxmf_packet *head)
{
	int ret;

	head->type = RXMF_PACKET_EAGER;
	head->payload_len = pkt->len;
	ret = rxm_compat_send(conn, head, pkt->iov, pkt->iov_cnt, 0);
	return ret ? ret : 1;
}

/* send_segments - as many as the queue below takes.  The rest follows before anything else: the
 * packet is the first that waits.
 */
static int send_segments(struct rxm_conn *conn, struct eng_pkt *pkt, struct rxmf_packet *head)
{
	struct rxm_compat *compat = conn->compat;
	size_t most = compat->limit < SEG_MAX ? compat->limit : SEG_MAX, left;
	int ret;

	if (compat->cutting != pkt) {
		compat->cutting = pkt;
		compat->cut = compat->cut_no = 0;
		compat->last_id++;
	}
	head->type = RXMF_PACKET_SEG;
	head->msg_id = compat->last_id;
	for (; compat->cut < pkt->len; compat->cut += head->payload_len) {
		left = pkt->len - compat->cut;
		head->payload_len = left < most ? left : most;
		head->seg_no = compat->cut_no;
		head->place = !compat->cut ? RXMF_PLACE_FIRST :
			      left <= most ? RXMF_PLACE_LAST : RXMF_PLACE_MIDDLE;
		ret = rxm_compat_send(conn, head, pkt->iov, pkt->iov_cnt, compat->cut);
		if (ret)
			return ret;
		compat->cut_no++;
	}
	compat->cutting = NULL;
	return 1;
}

int rxm_compat_rndv(struct rxm_conn *conn, const struct rxmf_packet *head, uint64_t id,
		    const struct wire_rma *seg, unsigned segs)
{
	struct rxmf_packet pkt = *head;

	pkt.type = RXMF_PACKET_RNDV;
	pkt.msg_id = id;
	pkt.segs = segs;
	memcpy(pkt.seg, seg, segs * sizeof(*seg));
	return rxm_compat_send(conn, &pkt, NULL, 0, 0);
}

static unsigned iov_pieces(const struct eng_pkt *pkt)
{
	unsigned i, cnt = 0;

	for (i = 0; i < pkt->iov_cnt; i++)
		cnt += !!pkt->iov[i].iov_len;
	return cnt;
}

/* in_segments - for messages that are not much longer than an eager one; or that have more pieces
 * than a rendezvous can list.
 *
 * Over tcp the peer may be one of the releases 1.13 to 1.17, which send no segments there and do not
 * find a segmented message that no receive has taken yet: a program that peeks waits for ever.
 */
static bool in_segments(const struct rxm_conn *conn, const struct eng_pkt *pkt)
{
	const struct fi_info *below = rxm_conn_link(conn)->info;

	if (iov_pieces(pkt) > RXMF_PACKET_SEGS)
		return true;
	return pkt->len <= SEG_LIMITS * conn->compat->limit &&
	       below->ep_attr->protocol != NET_PROTO_TCP_TAGS;
}

/* A message that the engine wants an acknowledgement for is a rendezvous: the peer says when it has
 * read it.
 */
static int put_message(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg)
{
	unsigned ack = msg->flags & WIRE_F_DELIVERED;
	size_t limit = conn->compat->limit;
	struct rxmf_packet head;
	const char *why = rxmf_translate_message(msg, &head);

	if (!why && pkt->len > rxm_conn_link(conn)->dom->base.info->ep_attr->max_msg_size)
		why = "messages as long as this";
	if (!why && ack && (!pkt->len || iov_pieces(pkt) > RXMF_PACKET_SEGS))
		why = "FI_DELIVERY_COMPLETE of empty messages, or of more than four pieces";
	if (why)
		return rxm_compat_refuse(conn, pkt, why);
	if (!ack && pkt->len <= limit)
		return send_eager(conn, pkt, &head);
	if (!ack && in_segments(conn, pkt))
		return send_segments(conn, pkt, &head);
	return rxm_tx_rndv(conn, pkt, &head, ack, msg->id);
}

/* ---- packets of the engine ------------------------------------------------------------------ */

int rxm_compat_put(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	struct wire_msg msg;
	const char *why;

	if (conn->compat->writing)
		return -FI_EAGAIN;
	why = wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, &msg);
	if (why)	/* never: the engine wrote it */
		return rxm_compat_refuse(conn, pkt, why);
	switch (msg.op) {
	case WIRE_EAGER:
		return put_message(conn, pkt, &msg);
	case WIRE_READ:
		return rxm_compat_read(conn, pkt, &msg);
	case WIRE_WRITE:
		return rxm_compat_write(conn, pkt, &msg);
	case WIRE_ATOMIC:
		return rxm_compat_atomic(conn, pkt, &msg);
	case WIRE_DATA:
	case WIRE_ACK:
	case WIRE_NACK:
		return rxm_compat_answer(conn, pkt, &msg);
	case WIRE_XOFF:
	case WIRE_XON:
		return 1;	/* what is not wanted yet stays here, up to the engine's limit */
	default:
		return rxm_compat_refuse(conn, pkt, "such packets");
	}
}
