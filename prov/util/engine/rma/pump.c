/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* pump.c - a payload out as DATA pieces, a few of them with the link at a time. */
#include "engine/pump.h"

#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/peer.h"
#include "engine/wire.h"

static void on_pump_piece_done(struct eng_pkt *pkt, int status);

void eng_pump_header(const struct eng_pump *pump, struct eng_pkt *pkt, size_t off, size_t len)
{
	pkt->flags = off + len < pump->want ? ENG_PKT_MORE : 0;
	pkt->hdr_len = (uint16_t) wire_put_word(pkt->hdr,
		wire_put_base(pkt->hdr, WIRE_DATA, 0, 0, pump->rx_id, len), pump->base + off);
}

static struct eng_out *pump_make_piece(struct eng_pump *pump)
{
	struct eng_out *out = pool_get(&pump->grp->outs);
	size_t len = pump->want - pump->off, seg = eng_peer_seg(pump->peer);
	struct eng_pkt *pkt;

	if (!out)
		return NULL;
	if (len > seg)
		len = seg;
	out->grp = pump->grp;
	out->owner = pump;
	pkt = &out->pkt;
	eng_pump_header(pump, pkt, pump->off, len);
	pkt->iov_cnt = (uint16_t) iov_slice(pump->iov, pump->iov_cnt, pump->off, len, pkt->iov);
	pkt->len = len;
	pkt->done = on_pump_piece_done;
	return out;
}

/* The owner's buffer is free only when the link has given back every piece. */
static void pump_finish(struct eng_pump *pump)
{
	if (pump->pieces)
		return;
	list_del(&pump->work.node);
	pump->done(pump, pump->err);
}

/* The first cause counts; also the normal end, with 0. */
void eng_pump_stop(struct eng_pump *pump, int err)
{
	if (pump->stopped)
		return;
	pump->stopped = true;
	pump->err = err;
	if (__builtin_expect(pump->mrs != NULL, 0))
		eng_dev_stop(pump);
	pump_finish(pump);
}

/* Keep the link busy.  Returns -FI_EAGAIN if memory is short, or a copy in flight, and nothing
 * that comes back would call again.
 */
static int pump_push(struct eng_pump *pump)
{
	struct eng_peer *peer = pump->peer;
	struct eng_out *out;
	int ret;

	if (__builtin_expect(pump->mrs != NULL, 0))
		return eng_dev_push(pump);
	while (pump->off < pump->want && pump->pieces < ENG_PUMP_PIECES) {
		out = pump_make_piece(pump);
		if (!out)
			return pump->pieces ? 0 : -FI_EAGAIN;
		pump->off += out->pkt.len;
		pump->pieces++;
		ret = eng_peer_send(peer, &out->pkt);
		if (!ret)
			continue;
		pump->pieces--;
		pool_put(&out->grp->outs, out);
		if (ret < 0) {
			eng_pump_stop(pump, ret);
			return 0;
		}
	}
	if (pump->off == pump->want && !pump->pieces)
		eng_pump_stop(pump, 0);
	return 0;
}

/* A poll of the group calls it, until it returns 0. */
static int push_again(struct eng_work *work)
{
	return pump_push(container_of(work, struct eng_pump, work));
}

/* Usually a piece that comes back pushes the next one; without any, the group's poll does. */
static void push_or_defer(struct eng_pump *pump)
{
	struct eng_grp *grp = pump->grp;

	if (pump_push(pump))
		eng_grp_defer(grp, &pump->work);
}

static void on_pump_piece_done(struct eng_pkt *pkt, int status)
{
	struct eng_out *out = container_of(pkt, struct eng_out, pkt);
	struct eng_pump *pump = out->owner;

	pool_put(&out->grp->outs, out);
	pump->pieces--;
	eng_pump_piece_done(pump, status);
}

void eng_pump_piece_done(struct eng_pump *pump, int status)
{
	if (__builtin_expect(status, 0))
		eng_peer_losing(pump->peer, status);
	if (pump->stopped)
		pump_finish(pump);
	else if (status)
		eng_pump_stop(pump, status);
	else
		push_or_defer(pump);
}

void eng_pump_start(struct eng_pump *pump)
{
	pump->pieces = 0;
	pump->stopped = false;
	pump->err = 0;
	pump->off = 0;
	if (__builtin_expect(pump->mrs != NULL, 0))
		eng_dev_begin(pump);
	list_init(&pump->work.node);
	pump->work.run = push_again;
	push_or_defer(pump);
}
