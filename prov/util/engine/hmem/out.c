/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * out.c - payload from a device to a peer.
 *
 * A pump has some chunks into which the device copies, in the order of the payload.  One that
 * is full goes to the link as a piece; when that comes back the chunk is free for another.
 */
#include <rdma/fi_errno.h>

#include "engine/ctl.h"
#include "engine/dev.h"
#include "engine/peer.h"
#include "engine/pump.h"
#include "engine/tx.h"

struct eng_dev *eng_dev_of_tx(struct eng_tx *tx, void *const *desc, size_t cnt)
{
	tx->sink.dev = eng_dev_get(tx->ep->grp, desc, cnt);
	return tx->sink.dev;
}

/* stage_payload - copy a payload to the host now.  Errors: -FI_EAGAIN no memory, -FI_EIO. */
static int stage_payload(struct eng_dev *dev, const struct iovec *iov, size_t cnt, size_t len,
			 struct iovec *host_p)
{
	struct obj_mr_list list = { iov, dev->mrs, cnt };

	dev->chunk = eng_chunk_get(dev->grp, len, true, true);
	if (!dev->chunk)
		return -FI_EAGAIN;
	*host_p = (struct iovec) { dev->chunk->buf, len };
	return hmem_errno(obj_mr_gather(&list, 0, dev->chunk->buf, len));
}

int eng_dev_stage(struct eng_tx *tx, const struct iovec *iov, void *const *desc, size_t cnt,
		  size_t len, struct iovec *host_p)
{
	struct eng_dev *dev = eng_dev_of_tx(tx, desc, cnt);

	return dev ? stage_payload(dev, iov, cnt, len, host_p) : -FI_EAGAIN;
}

int eng_dev_stage_late(struct eng_tx *tx)
{
	struct eng_dev *dev = tx->sink.dev;
	struct iovec host;
	int ret;

	if (!dev || !dev->in_place)
		return 0;
	ret = stage_payload(dev, tx->pkt.iov, tx->pkt.iov_cnt, tx->len, &host);
	if (ret)
		return ret == -FI_EAGAIN ? -FI_ENOMEM : ret;
	dev->in_place = false;
	tx->pkt.iov[0] = host;
	tx->pkt.iov_cnt = 1;
	return 0;
}

/* In place: the pump fetches the payload as the peer asks for it, so the buffer stays the program's
 * until then.  The packet that says so if that fails is taken now, since it must not lack memory.
 */
int eng_dev_attach(struct eng_tx *tx, const struct iovec *iov, void *const *desc, size_t cnt,
		   size_t len, bool inject, bool in_place)
{
	struct iovec host;
	int ret;

	if (!in_place) {
		ret = eng_dev_stage(tx, iov, desc, cnt, len, &host);
		return ret ? ret : eng_tx_attach(tx, &host, 1, len, inject);
	}
	if (!eng_dev_of_tx(tx, desc, cnt))
		return -FI_EAGAIN;
	tx->sink.dev->in_place = true;
	tx->sink.dev->nack = eng_ctl_get(tx->ep->grp);
	if (!tx->sink.dev->nack)
		return -FI_EAGAIN;
	return eng_tx_attach(tx, iov, cnt, len, false);
}

void eng_dev_tell(struct eng_tx *tx, uint32_t rx_id)
{
	struct eng_dev *dev = tx->sink.dev;

	eng_ctl_send(dev->nack, tx->name.peer, WIRE_NACK, 0, rx_id, 0, FI_EIO);
	dev->nack = NULL;
}

/* ---- the pump ------------------------------------------------------------------------- */

static void on_dev_piece_done(struct eng_pkt *pkt, int status)
{
	struct eng_out *out = container_of(pkt, struct eng_out, pkt);
	struct eng_chunk *chunk = out->owner;
	struct eng_pump *pump = chunk->owner;

	pool_put(&out->grp->outs, out);
	eng_chunk_put(chunk);
	pump->pieces--;
	eng_pump_piece_done(pump, status);
}

void eng_dev_begin(struct eng_pump *pump)
{
	list_init(&pump->full);
	pump->fetched = 0;
	pump->chunks = 0;
}

/* Fetch as much of the payload as there are chunks for.  A failure ends it. */
static int pump_fetch(struct eng_pump *pump)
{
	size_t len, seg = eng_peer_seg(pump->peer);
	struct obj_mr_list list = { pump->iov, pump->mrs, pump->iov_cnt };
	bool whole = eng_peer_is_whole(pump->peer);
	struct eng_chunk *chunk;

	if (!whole && seg > ENG_DEV_PIECE)
		seg = ENG_DEV_PIECE;
	while (pump->fetched < pump->want && pump->chunks + pump->pieces < ENG_DEV_DEPTH) {
		len = pump->want - pump->fetched;
		if (len > seg)
			len = seg;
		chunk = eng_chunk_get(pump->grp, len, true, whole);
		if (!chunk)
			return 0;
		chunk->owner = pump;
		chunk->off = pump->fetched;
		eng_chunk_copy(chunk, HMEM_TO_HOST, &list);
		list_add_tail(&chunk->node, &pump->full);
		pump->chunks++;
		pump->fetched += len;
		if (chunk->err)
			return chunk->err;
	}
	return 0;
}

static struct eng_out *dev_make_piece(struct eng_pump *pump, struct eng_chunk *chunk)
{
	struct eng_out *out = pool_get(&pump->grp->outs);
	struct eng_pkt *pkt;

	if (!out)
		return NULL;
	out->grp = pump->grp;
	out->owner = chunk;
	pkt = &out->pkt;
	eng_pump_header(pump, pkt, chunk->off, chunk->len);
	pkt->iov[0] = (struct iovec) { chunk->buf, chunk->len };
	pkt->iov_cnt = 1;
	pkt->len = chunk->len;
	pkt->done = on_dev_piece_done;
	return out;
}

/* send_full - the oldest chunk, whose copy has ended.  1: it is sent; 0: no memory. */
static int send_full(struct eng_pump *pump, struct eng_chunk *chunk)
{
	struct eng_out *out;
	int ret;

	if (chunk->err)
		return chunk->err;
	out = dev_make_piece(pump, chunk);
	if (!out)
		return 0;
	list_del(&chunk->node);
	pump->chunks--;
	pump->off += chunk->len;
	pump->pieces++;
	ret = eng_peer_send(pump->peer, &out->pkt);
	if (!ret)
		return 1;
	pump->pieces--;
	pool_put(&out->grp->outs, out);
	eng_chunk_put(chunk);
	return ret;
}

void eng_dev_stop(struct eng_pump *pump)
{
	struct eng_chunk *chunk;

	while ((chunk = list_pop_entry(&pump->full, struct eng_chunk, node))) {
		eng_chunk_wait(chunk);
		eng_chunk_put(chunk);
		pump->chunks--;
	}
}

/* All that was fetched is out.  Nothing is to be looked at while the link has a piece. */
static int all_out(struct eng_pump *pump)
{
	if (pump->off < pump->want)
		return pump->pieces ? 0 : -FI_EAGAIN;
	if (!pump->pieces)
		eng_pump_stop(pump, 0);
	return 0;
}

/* Returns -FI_EAGAIN while there is something to look at that does not come back by itself. */
int eng_dev_push(struct eng_pump *pump)
{
	struct eng_chunk *chunk;
	int ret;

	for (;;) {
		ret = pump_fetch(pump);
		if (ret)
			break;
		if (!pump->chunks)
			return all_out(pump);
		chunk = container_of(pump->full.next, struct eng_chunk, node);
		if (!eng_chunk_done(chunk))
			return -FI_EAGAIN;
		ret = send_full(pump, chunk);
		if (ret < 0)
			break;
		if (!ret)
			return -FI_EAGAIN;
	}
	eng_pump_stop(pump, ret);
	return 0;
}
