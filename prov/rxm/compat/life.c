/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A connection in the compatible format: its begin and end, packets that wait for room, and upcalls that
 * wait for a poll, since the engine may be in the middle of something when it sends.
 */
#include "rxm/compat.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "foreign/op.h"

/* ---- packets ------------------------------------------------------------------------------- */

struct rxm_owed {
	struct list node;
	struct rxmf_packet pkt;
};

int rxm_compat_send(struct rxm_conn *conn, struct rxmf_packet *pkt, const struct iovec *iov,
		    size_t iov_cnt, size_t off)
{
	struct layer_mem *mem = &rxm_conn_link(conn)->dom->base.mem;
	struct layer_buf *buf = layer_buf_get(mem);
	struct rxm_tx_buf *msg = container_of(buf, struct rxm_tx_buf, buf);
	int ret;

	if (!buf)
		return -FI_EAGAIN;
	pkt->conn_id = conn->compat->conn_id;
	msg->len = rxmf_packet_put(msg->data, pkt);
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

void rxm_compat_owe(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct rxmf_packet now = *pkt;
	struct rxm_owed *owed;

	if (!conn->chan.conn)
		return;
	if (list_empty(&conn->compat->owed) && !rxm_compat_send(conn, &now, NULL, 0, 0))
		return;
	owed = malloc(sizeof(*owed));
	if (!owed) {
		rxm_conn_fail(conn, FI_ENOMEM);
		return;
	}
	owed->pkt = *pkt;
	list_add_tail(&owed->node, &conn->compat->owed);
	rxm_conn_dirty(conn);
}

int rxm_compat_push(struct rxm_conn *conn)
{
	struct rxm_compat *compat = conn->compat;
	struct rxm_owed *owed;
	int ret;

	while (conn->chan.conn && !list_empty(&compat->owed)) {
		owed = container_of(compat->owed.next, struct rxm_owed, node);
		ret = rxm_compat_send(conn, &owed->pkt, NULL, 0, 0);
		if (ret)
			return ret;
		list_del(&owed->node);
		free(owed);
	}
	return 0;
}

/* ---- in place of the peer -------------------------------------------------------------------- */

/* An upcall for the next poll. */
struct rxm_report {
	struct list node;
	struct eng_pkt *refused;	/* it fails; or NULL: a read begins */
	uint32_t id;			/* of the operation */
	uint64_t len;			/* of the read; 0: it is complete */
	unsigned segs;
	struct wire_rma seg[WIRE_RMA_MAX];
};

static struct rxm_report *report_new(struct rxm_conn *conn, uint32_t id)
{
	struct rxm_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->id = id;
	list_add_tail(&report->node, &conn->compat->reports);
	rxm_conn_dirty(conn);
	return report;
}

/* log_unspoken - each of them once in the life of an endpoint. */
static void log_unspoken(struct rxm_conn *conn, const char *what)
{
	const char **named = rxm_conn_link(conn)->unspoken, **end = named + RXM_UNSPOKEN;
	char text[CHAN_TEXT_MAX];

	for (; named < end && *named; named++)
		if (*named == what)
			return;
	if (named < end)
		*named = what;
	CHAN_WARN(conn->chan.link, "%s speaks the compatible format, which does not have %s: such "
		  "operations fail\n", chan_peer_text(&conn->chan, text), what);
}

int rxm_compat_refuse(struct rxm_conn *conn, struct eng_pkt *pkt, const char *why)
{
	struct rxm_report *report;

	log_unspoken(conn, why);
	report = report_new(conn, 0);
	if (!report)
		return -FI_EAGAIN;
	report->refused = pkt;
	return 0;
}

int rxm_compat_ask(struct rxm_conn *conn, uint32_t id, const struct wire_rma *seg, unsigned segs,
		   uint64_t len)
{
	struct rxm_report *report = report_new(conn, id);

	if (!report)
		return -FI_EAGAIN;
	report->len = len;
	report->segs = segs;
	memcpy(report->seg, seg, segs * sizeof(*seg));
	return 1;
}

enum eng_rx_verdict rxm_compat_tell(struct rxm_conn *conn, const struct wire_msg *msg, struct eng_rx *rx)
{
	uint8_t hdr[ENG_HDR_MAX];
	enum eng_rx_verdict verdict;

	rx->hdr = hdr;
	rx->hdr_len = wire_put(hdr, msg);
	rx->len = (size_t) msg->len;
	verdict = eng_on_packet(&conn->chan.link->base, chan_peer(&conn->chan), rx);
	if (verdict == ENG_RX_BAD)
		rxm_conn_fail(conn, FI_EPROTO);
	return verdict;
}

void rxm_compat_ack(struct rxm_conn *conn, unsigned ack, uint32_t id)
{
	struct wire_msg msg = foreign_ack((uint8_t) ack, id);
	struct eng_rx rx = { 0 };

	rxm_compat_tell(conn, &msg, &rx);
}

void rxm_compat_nack(struct rxm_conn *conn, int err, uint32_t id)
{
	struct wire_msg msg = foreign_nack(err, id);
	struct eng_rx rx = { 0 };

	rxm_compat_tell(conn, &msg, &rx);
}

/* begin_read - the engine says where the bytes belong. */
static void begin_read(struct rxm_conn *conn, const struct rxm_report *report)
{
	struct wire_msg msg = foreign_data(report->id, 0, report->len);
	struct eng_rx rx = { 0 };

	if (rxm_compat_tell(conn, &msg, &rx) != ENG_RX_PLACE ||
	    !rxm_read_memory(conn, report->seg, report->segs, &rx))
		return;
	rxm_conn_fail(conn, FI_ENOMEM);
	eng_on_placed(&conn->chan.link->base, rx.cookie, -FI_ENOMEM);
}

/* With no call of the engine on the stack: it may send from within any of these. */
static void report_one(struct rxm_conn *conn, const struct rxm_report *report)
{
	if (report->refused)
		report->refused->done(report->refused, -FI_EOPNOTSUPP);
	else if (report->len)
		begin_read(conn, report);
	else
		rxm_compat_ack(conn, WIRE_F_DELIVERED, report->id);
}

void rxm_compat_report(struct rxm_conn *conn)
{
	struct rxm_report *report;

	while (conn->chan.conn &&
	       (report = list_pop_entry(&conn->compat->reports, struct rxm_report, node))) {
		report_one(conn, report);
		free(report);
	}
}

/* ---- the connection -------------------------------------------------------------------------- */

int rxm_compat_start(struct rxm_conn *conn, uint32_t conn_id, size_t limit)
{
	struct rxm_compat *compat = calloc(1, sizeof(*compat));

	if (!compat)
		return -FI_ENOMEM;
	compat->conn_id = conn_id;
	compat->limit = limit;
	list_init(&compat->owed);
	list_init(&compat->reports);
	list_init(&compat->amos);
	list_init(&compat->serves);
	list_init(&compat->offers);
	list_init(&compat->parts);
	conn->compat = compat;
	return 0;
}

void rxm_compat_end(struct rxm_conn *conn, int err)
{
	struct rxm_compat *compat = conn->compat;
	struct rxm_report *report;
	struct eng_pkt *pkt;
	struct list *node;

	if (!compat)
		return;
	conn->compat = NULL;
	rxm_compat_drop_offers(conn, compat, err);
	while ((node = list_pop(&compat->owed)))
		free(container_of(node, struct rxm_owed, node));
	while ((report = list_pop_entry(&compat->reports, struct rxm_report, node))) {
		if (report->refused)
			report->refused->done(report->refused, -err);
		free(report);
	}
	while ((pkt = list_pop_entry(&compat->amos, struct eng_pkt, node)))
		pkt->done(pkt, -err);
	rxm_compat_drop_serves(compat);
	free(compat);
}

bool rxm_compat_idle(const struct rxm_compat *compat)
{
	return list_empty(&compat->owed) && list_empty(&compat->reports) && list_empty(&compat->amos);
}
