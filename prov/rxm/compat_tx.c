/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending in the compatible format: eager messages, segments of longer ones, and rendezvous, whose
 * memory the peer reads.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "compat.h"
#include "rxm/compat/translate.h"

#define SEG_LIMITS 8u			/* messages of up to so many eager limits are cut */
#define SEG_MAX UINT16_MAX

struct rxm_owed {
	struct list node;
	uint64_t id;
};

/* ---- packets ------------------------------------------------------------------------------- */

/* send_packet - with pkt->payload_len bytes of @iov, from @off on.
 * Errors: -FI_EAGAIN: not now; others: the connection is lost.
 */
static int send_packet(struct rxm_conn *conn, struct rxm_packet *pkt, const struct iovec *iov,
		       size_t iov_cnt, size_t off)
{
	struct layer_mem *mem = &rxm_conn_link(conn)->dom->base.mem;
	struct layer_buf *buf = layer_buf_get(mem);
	struct rxm_tx_buf *msg = container_of(buf, struct rxm_tx_buf, buf);
	int ret;

	if (!buf)
		return -FI_EAGAIN;
	pkt->conn_id = conn->compat->conn_id;
	msg->len = rxm_packet_put(msg->data, pkt);
	if (pkt->payload_len)
		iov_gather(iov, iov_cnt, off, msg->data + msg->len, pkt->payload_len);
	msg->len += pkt->payload_len;
	ret = rxm_tx_post(conn, msg);
	if (ret)	/* copied, or not sent */
		layer_buf_put(mem, buf);
	if (ret < 0 && ret != -FI_EAGAIN)
		rxm_conn_fail(conn, -ret);
	return ret > 0 ? 0 : ret;
}

static int send_bare(struct rxm_conn *conn, enum rxm_packet_type type, uint64_t id)
{
	struct rxm_packet pkt = { .type = type, .msg_id = id };

	return send_packet(conn, &pkt, NULL, 0, 0);
}

static int send_eager(struct rxm_conn *conn, struct eng_pkt *pkt, struct rxm_packet *head)
{
	int ret;

	head->type = RXM_PACKET_EAGER;
	head->payload_len = pkt->len;
	ret = send_packet(conn, head, pkt->iov, pkt->iov_cnt, 0);
	return ret ? ret : 1;
}

/* send_segments - as many as the queue below takes.  The rest follows before anything else: the
 * packet is the first that waits.
 */
static int send_segments(struct rxm_conn *conn, struct eng_pkt *pkt, struct rxm_packet *head)
{
	struct rxm_compat *compat = conn->compat;
	size_t most = compat->limit < SEG_MAX ? compat->limit : SEG_MAX, left;
	int ret;

	if (compat->cutting != pkt) {
		compat->cutting = pkt;
		compat->cut = compat->cut_no = 0;
		compat->last_id++;
	}
	head->type = RXM_PACKET_SEG;
	head->msg_id = compat->last_id;
	for (; compat->cut < pkt->len; compat->cut += head->payload_len) {
		left = pkt->len - compat->cut;
		head->payload_len = left < most ? left : most;
		head->seg_no = compat->cut_no;
		head->place = !compat->cut ? RXM_PLACE_FIRST :
			      left <= most ? RXM_PLACE_LAST : RXM_PLACE_MIDDLE;
		ret = send_packet(conn, head, pkt->iov, pkt->iov_cnt, compat->cut);
		if (ret)
			return ret;
		compat->cut_no++;
	}
	compat->cutting = NULL;
	return 1;
}

int rxm_compat_rndv(struct rxm_conn *conn, const struct rxm_packet *head, uint64_t id,
		    const struct rxm_seg *seg, unsigned segs)
{
	struct rxm_packet pkt = *head;

	pkt.type = RXM_PACKET_RNDV;
	pkt.msg_id = id;
	pkt.segs = segs;
	memcpy(pkt.seg, seg, segs * sizeof(*seg));
	return send_packet(conn, &pkt, NULL, 0, 0);
}

/* ---- packets of the engine ------------------------------------------------------------------ */

/* refuse - the operation fails.  Without an id the engine does not wait for an answer, which could say
 * so: then the connection ends.
 */
static int refuse(struct rxm_conn *conn, struct eng_pkt *pkt, uint32_t id, const char *why)
{
	struct rxm_compat *compat = conn->compat;
	char text[CHAN_TEXT_MAX];

	if (!compat->logged)
		CHAN_WARN_SPARSE(conn->chan.link, "%s speaks the compatible format, which does not "
				 "have %s: such operations fail\n",
				 chan_peer_text(&conn->chan, text), why);
	compat->logged = true;
	if (!id) {
		rxm_conn_fail(conn, FI_EOPNOTSUPP);
		return -FI_EOPNOTSUPP;
	}
	pkt->link_priv = id;
	list_add_tail(&pkt->node, &compat->refused);
	rxm_conn_dirty(conn);
	return 0;
}

static unsigned pieces(const struct eng_pkt *pkt)
{
	unsigned i, cnt = 0;

	for (i = 0; i < pkt->iov_cnt; i++)
		cnt += !!pkt->iov[i].iov_len;
	return cnt;
}

/* A message that the engine wants an acknowledgement for is a rendezvous: the peer says when it has
 * read it.
 */
int rxm_compat_put(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	struct rxm_compat *compat = conn->compat;
	struct rxm_packet head;
	const char *why;
	unsigned ack;
	uint32_t id;

	switch (rxm_translate_out(pkt, &head, &ack, &id, &why)) {
	case RXM_NOT_NEEDED:
		return 1;
	case RXM_NOT_POSSIBLE:
		return refuse(conn, pkt, id, why);
	case RXM_TRANSLATED:
		break;
	}
	if (ack && (!pkt->len || pieces(pkt) > RXM_PACKET_SEGS))
		return refuse(conn, pkt, id, "FI_DELIVERY_COMPLETE of empty messages, or of more than "
			      "four pieces");
	if (!ack && pkt->len <= compat->limit)
		return send_eager(conn, pkt, &head);
	if (!ack && (pkt->len <= SEG_LIMITS * compat->limit || pieces(pkt) > RXM_PACKET_SEGS))
		return send_segments(conn, pkt, &head);
	return rxm_tx_rndv(conn, pkt, &head, ack, id);
}

/* ---- what waits ----------------------------------------------------------------------------- */

void rxm_compat_done(struct rxm_conn *conn, uint64_t id)
{
	struct rxm_owed *owed;

	if (list_empty(&conn->compat->dones) && !send_bare(conn, RXM_PACKET_READ_DONE, id))
		return;
	owed = malloc(sizeof(*owed));
	if (!owed) {
		rxm_conn_fail(conn, FI_ENOMEM);
		return;
	}
	owed->id = id;
	list_add_tail(&owed->node, &conn->compat->dones);
	rxm_conn_dirty(conn);
}

static struct eng_pkt *refused_next(struct rxm_compat *compat)
{
	struct list *node = list_pop(&compat->refused);

	return node ? container_of(node, struct eng_pkt, node) : NULL;
}

/* report_refused - in place of the peer, which would answer so. */
static void report_refused(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	uint32_t id = (uint32_t) pkt->link_priv;
	uint8_t hdr[ENG_HDR_MAX];
	struct eng_rx rx = { .hdr = hdr, .hdr_len = rxm_translate_nack(FI_EOPNOTSUPP, id, hdr) };

	/* first: what wants no acknowledgement is complete with done() */
	eng_on_packet(&conn->chan.link->base, chan_peer(&conn->chan), &rx);
	pkt->done(pkt, 0);
}

int rxm_compat_push(struct rxm_conn *conn)
{
	struct rxm_compat *compat = conn->compat;
	struct rxm_owed *owed;
	struct eng_pkt *pkt;
	int ret;

	while (!list_empty(&compat->dones)) {
		owed = container_of(compat->dones.next, struct rxm_owed, node);
		ret = send_bare(conn, RXM_PACKET_READ_DONE, owed->id);
		if (ret)
			return ret;
		list_del(&owed->node);
		free(owed);
	}
	while (conn->chan.link->poller->polling && conn->chan.conn && (pkt = refused_next(compat)))
		report_refused(conn, pkt);
	return 0;
}

/* ---- the connection -------------------------------------------------------------------------- */

int rxm_compat_start(struct rxm_conn *conn, uint32_t conn_id, uint32_t process, size_t limit)
{
	struct rxm_compat *compat = calloc(1, sizeof(*compat));

	if (!compat)
		return -FI_ENOMEM;
	compat->conn_id = conn_id;
	compat->process = process;
	compat->limit = limit;
	list_init(&compat->dones);
	list_init(&compat->refused);
	list_init(&compat->parts);
	conn->compat = compat;
	return 0;
}

void rxm_compat_end(struct rxm_conn *conn, int err)
{
	struct rxm_compat *compat = conn->compat;
	struct eng_pkt *pkt;
	struct list *node;

	if (!compat)
		return;
	conn->compat = NULL;
	while ((node = list_pop(&compat->dones)))
		free(container_of(node, struct rxm_owed, node));
	while ((pkt = refused_next(compat)))
		pkt->done(pkt, -err);
	free(compat);
}
