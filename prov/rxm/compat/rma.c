/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Remote memory in the compatible format: the program's reads and writes are those of the provider
 * below; and rendezvous that are written by their sender, instead of read by the receiver.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "rxm/compat.h"
#include "foreign/rxmf/translate.h"

/* ---- reads and writes of the program ------------------------------------------------------------ */

/* The packet is done at once: it says only what to read. */
int rxm_compat_read(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg)
{
	struct wire_rma seg[WIRE_RMA_MAX];
	unsigned segs;
	const char *why = rxmf_translate_ranges(msg, seg, &segs);

	if (why)
		return rxm_compat_refuse(conn, pkt, why);
	return rxm_compat_ask(conn, msg->id, seg, segs, msg->len);
}

static bool data_fits(const struct rxm_conn *conn, uint64_t data)
{
	size_t size = rxm_conn_link(conn)->dom->base.info->domain_attr->cq_data_size;

	return size >= sizeof(data) || !(data >> 8 * size);
}

int rxm_compat_write(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg)
{
	struct rxm_write write = {
		.has_data = msg->flags & WIRE_F_DATA, .data = msg->data,
		.ack = msg->flags & WIRE_F_DELIVERED, .ack_id = msg->id,
	};
	struct wire_rma seg[WIRE_RMA_MAX];
	unsigned segs;
	const char *why = rxmf_translate_ranges(msg, seg, &segs);

	if (!why && write.has_data && !data_fits(conn, write.data))
		why = "completion data of writes as long as this";
	if (why)
		return rxm_compat_refuse(conn, pkt, why);
	if (msg->len || write.has_data)
		return rxm_write_start(conn, pkt, &write, seg, segs);
	return write.ack ? rxm_compat_ask(conn, msg->id, seg, segs, 0) : 1;
}

void rxm_compat_posted(struct rxm_conn *conn)
{
	conn->compat->writing = false;
	rxm_conn_dirty(conn);
}

/* ---- our rendezvous, which the peer wants written ------------------------------------------------- */

static void answer_owe(struct rxm_conn *conn, enum rxmf_packet_type type, uint64_t id)
{
	struct rxmf_packet pkt = { .type = type, .msg_id = id };

	rxm_compat_owe(conn, &pkt);
}

const char *rxm_compat_on_offer(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct rxm_rndv *rndv = hmap_find(&conn->rndv_ids, pkt->msg_id);

	if (!rndv || rndv->written)
		return "memory for an unknown rendezvous";
	rndv->written = true;
	if (rxm_write_rndv(conn, rndv->id, rndv->pkt, pkt->seg, pkt->segs))
		rxm_conn_fail(conn, FI_ENOMEM);
	return NULL;
}

void rxm_compat_written(struct rxm_conn *conn, uint64_t id)
{
	answer_owe(conn, RXMF_PACKET_WRITE_DONE, id);
	rxm_tx_returned(conn, id);
}

/* ---- rendezvous of the peer ----------------------------------------------------------------------- */

/* One that the peer writes into our memory. */
struct rxm_offer {
	struct list node;
	uint64_t id;
	void *cookie;			/* for eng_on_placed(); NULL: it is not wanted */
	bool in_order;			/* the next frame waits for it */
	struct fid_mr *mr[RXMF_PACKET_SEGS];
	uint8_t *bounce;		/* where it goes first, or NULL */
	size_t room;			/* bytes there */
	size_t iov_cnt;
	struct iovec iov[ENG_IOV_MAX];
};

static void offer_free(struct rxm_offer *offer)
{
	unsigned i;

	for (i = 0; i < RXMF_PACKET_SEGS && offer->mr[i]; i++)
		layer_mr_done(offer->mr[i]);
	list_del(&offer->node);
	free(offer->bounce);
	free(offer);
}

static int offer_expose(struct rxm_conn *conn, struct rxm_offer *offer, void *buf, size_t len,
			struct rxmf_packet *pkt)
{
	struct wire_rma *seg = &pkt->seg[pkt->segs];
	int ret = layer_mr_target(&rxm_conn_link(conn)->dom->base.mem, buf, len, &offer->mr[pkt->segs],
				  &seg->addr, &seg->key);

	seg->len = len;
	pkt->segs += !ret;
	return ret;
}

/* expose_all - where the peer is to write: the buffers, or memory of our own if they are too many for
 * a packet, or are none.
 */
static int expose_all(struct rxm_conn *conn, struct rxm_offer *offer, struct rxmf_packet *pkt)
{
	size_t i, cnt = 0;
	int ret = 0;

	for (i = 0; i < offer->iov_cnt; i++)
		cnt += offer->iov[i].iov_len != 0;
	if (cnt && cnt <= RXMF_PACKET_SEGS) {
		for (i = 0; i < offer->iov_cnt && !ret; i++)
			if (offer->iov[i].iov_len)
				ret = offer_expose(conn, offer, offer->iov[i].iov_base, offer->iov[i].iov_len,
						   pkt);
		return ret;
	}
	offer->room = iov_total(offer->iov, offer->iov_cnt);
	if (!offer->room)
		offer->room = 1;
	offer->bounce = calloc(1, offer->room);
	return offer->bounce ? offer_expose(conn, offer, offer->bounce, offer->room, pkt) : -FI_ENOMEM;
}

static int offer_memory(struct rxm_conn *conn, uint64_t id, const struct iovec *iov, size_t iov_cnt,
			void *cookie, bool in_order)
{
	struct rxmf_packet pkt = { .type = RXMF_PACKET_WRITE_OFFER, .msg_id = id };
	struct rxm_offer *offer = calloc(1, sizeof(*offer));

	if (!offer)
		return -FI_ENOMEM;
	list_add_tail(&offer->node, &conn->compat->offers);
	offer->id = id;
	offer->cookie = cookie;
	offer->in_order = in_order;
	offer->iov_cnt = iov_cnt;
	if (iov_cnt)
		memcpy(offer->iov, iov, iov_cnt * sizeof(*iov));
	if (expose_all(conn, offer, &pkt)) {
		offer_free(offer);
		return -FI_ENOMEM;
	}
	conn->reading |= in_order;
	rxm_compat_owe(conn, &pkt);
	return 0;
}

static struct rxm_offer *offer_find(struct rxm_compat *compat, uint64_t id)
{
	struct rxm_offer *offer;

	list_for_each_entry(offer, &compat->offers, node)
		if (offer->id == id)
			return offer;
	return NULL;
}

const char *rxm_compat_on_written(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct rxm_offer *offer = offer_find(conn->compat, pkt->msg_id);
	void *cookie;

	if (!offer)
		return "the end of a rendezvous that was not offered memory";
	if (offer->bounce)
		iov_scatter(offer->iov, offer->iov_cnt, 0, offer->bounce, offer->room);
	if (offer->in_order)
		conn->reading = false;
	cookie = offer->cookie;
	offer_free(offer);
	if (cookie)
		eng_on_placed(&conn->chan.link->base, cookie, 0);
	return NULL;
}

void rxm_compat_drop_offers(struct rxm_conn *conn, struct rxm_compat *compat, int err)
{
	struct rxm_offer *offer;
	void *cookie;

	while (!list_empty(&compat->offers)) {
		offer = container_of(compat->offers.next, struct rxm_offer, node);
		cookie = offer->cookie;
		offer_free(offer);
		if (cookie)
			eng_on_placed(&conn->chan.link->base, cookie, -err);
	}
}

int rxm_compat_take(struct rxm_conn *conn, uint64_t id, const struct wire_rma *seg, unsigned segs,
		    const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order)
{
	if (rxm_conf.rndv_write)
		return offer_memory(conn, id, iov, iov_cnt, cookie, in_order);
	return rxm_read_start(conn, id, seg, segs, iov, iov_cnt, cookie, in_order);
}

/* A peer that writes its rendezvous waits for memory, in any case. */
void rxm_compat_done(struct rxm_conn *conn, uint64_t id)
{
	if (!rxm_conf.rndv_write)
		answer_owe(conn, RXMF_PACKET_READ_DONE, id);
	else if (offer_memory(conn, id, NULL, 0, NULL, false))
		rxm_conn_fail(conn, FI_ENOMEM);
}
