/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * in.c - payload from a peer to a device.
 *
 * Pieces of a long payload go to chunks, and from there to the device while the next ones
 * arrive.  A piece for which there is no chunk stays with the link (ENG_RX_LATER), which is
 * the flow control.  After a failed copy the rest of the payload is passed over, so that the
 * connection lives on, and the request ends with the error.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "engine/dev.h"
#include "engine/peer.h"

#define PIECES_MAX 8		/* of one sink, in chunks */

void eng_chunk_end(struct eng_chunk *chunk)
{
	struct eng_sink *sink = chunk->owner;

	if (chunk->answer)
		eng_dev_answer(chunk);
	if (chunk->err && !sink->dev->err)
		sink->dev->err = chunk->err;
	eng_chunk_put(chunk);
	sink->pieces--;
	eng_sink_check(sink);
}

/* In the order of their start, which is nearly that of their end. */
static int dev_poll_chunks(struct eng_work *work)
{
	struct eng_dev_grp *dg = container_of(work, struct eng_dev_grp, work);
	struct eng_chunk *chunk;

	while (!list_empty(&dg->busy)) {
		chunk = container_of(dg->busy.next, struct eng_chunk, node);
		if (!eng_chunk_done(chunk))
			return -FI_EAGAIN;
		list_del(&chunk->node);
		eng_chunk_end(chunk);
	}
	return 0;
}

void eng_chunk_to_sink(struct eng_chunk *chunk)
{
	struct eng_dev_grp *dg = chunk->grp->dev;

	if (eng_chunk_done(chunk)) {
		eng_chunk_end(chunk);
		return;
	}
	list_add_tail(&chunk->node, &dg->busy);
	dg->work.run = dev_poll_chunks;
	eng_grp_defer(dg->grp, &dg->work);
}

static void to_device(struct eng_chunk *chunk)
{
	struct eng_sink *sink = chunk->owner;

	eng_chunk_copy(chunk, HMEM_TO_DEVICE,
		       &(struct obj_mr_list) { sink->iov, sink->dev->mrs, sink->iov_cnt });
	eng_chunk_to_sink(chunk);
}

static void on_placed(struct eng_sink *part, int status)
{
	struct eng_chunk *chunk = container_of(part, struct eng_chunk, sink);
	struct eng_sink *sink = chunk->owner;

	if (!status && !sink->err) {
		to_device(chunk);
		return;
	}
	if (!sink->err)
		sink->err = status;
	eng_chunk_end(chunk);
}

enum eng_rx_verdict eng_dev_on_data(struct eng_sink *sink, struct eng_peer *peer,
				    struct eng_rx *rx, const struct wire_msg *msg)
{
	struct eng_chunk *chunk = NULL;

	if (!sink->dev->err) {
		if (sink->pieces < PIECES_MAX)
			chunk = eng_chunk_get(peer->ep->grp, msg->len, false, !sink->pieces);
		if (!chunk)
			return ENG_RX_LATER;
	}
	sink->got += msg->len;
	if (!chunk) {
		eng_sink_check(sink);
		return ENG_RX_DONE;
	}
	sink->pieces++;
	chunk->owner = sink;
	chunk->off = msg->off;
	if (rx->avail == rx->len) {
		memcpy(chunk->buf, rx->data, rx->len);
		to_device(chunk);
		return ENG_RX_DONE;
	}
	chunk->sink.name.peer = peer;
	chunk->sink.done = on_placed;
	eng_sink_expect(&chunk->sink);
	rx->iov[0] = (struct iovec) { chunk->buf, msg->len };
	rx->iov_cnt = 1;
	rx->cookie = &chunk->sink;
	return ENG_RX_PLACE;
}

/* Their owners may complete here. */
void eng_dev_settle(struct eng_grp *grp)
{
	struct eng_chunk *chunk;

	while (grp->dev && (chunk = list_pop_entry(&grp->dev->busy, struct eng_chunk, node))) {
		eng_chunk_wait(chunk);
		eng_chunk_end(chunk);
	}
}

/* ---- receives ---------------------------------------------------------------------------- */

bool eng_dev_describe(struct eng_recv *recv, void *const *desc, size_t cnt)
{
	recv->sink.dev = eng_dev_get(recv->ep->grp, desc, cnt);
	recv->slow = true;
	return recv->sink.dev != NULL;
}

bool eng_dev_part(struct eng_recv *part, const struct eng_recv *buffer)
{
	void *desc = buffer->sink.dev->mrs[0];

	part->sink.dev = eng_dev_get(buffer->ep->grp, &desc, 1);
	return part->sink.dev != NULL;
}

/* dev_hold_eager - a buffer of the host for an eager payload, as much of it as there is room for. */
static bool dev_hold_eager(struct eng_recv *recv, size_t len)
{
	struct eng_dev *dev = recv->sink.dev;

	if (len > recv->room)
		len = recv->room;
	dev->chunk = eng_chunk_get(dev->grp, len, false, true);
	return dev->chunk != NULL;
}

static int to_recv(const struct eng_recv *recv, const void *buf, size_t len)
{
	struct obj_mr_list list = { recv->iov, recv->sink.dev->mrs, recv->iov_cnt };

	return obj_mr_scatter(&list, 0, buf, len);
}

int eng_dev_pull(struct eng_recv *recv, struct eng_msg *msg)
{
	struct iovec iov;

	if (!dev_hold_eager(recv, msg->env.len)) {
		recv->sink.dev->err = -FI_ENOMEM;
		msg->link->ops->held.pull(msg->link, msg->token, NULL, 0, NULL);
		return 1;
	}
	iov = (struct iovec) { recv->sink.dev->chunk->buf, recv->sink.dev->chunk->len };
	return msg->link->ops->held.pull(msg->link, msg->token, &iov, 1, &recv->sink);
}

enum eng_rx_verdict eng_dev_take(struct eng_recv *recv, struct eng_rx *rx)
{
	size_t len = rx->len < recv->room ? rx->len : recv->room;
	struct eng_dev *dev = recv->sink.dev;

	if (rx->avail == rx->len) {
		eng_recv_finish(recv, to_recv(recv, rx->data, len));
		return ENG_RX_DONE;
	}
	if (!dev_hold_eager(recv, len)) {
		eng_recv_finish(recv, -FI_ENOMEM);
		return ENG_RX_DONE;
	}
	eng_recv_placing(recv);
	rx->iov[0] = (struct iovec) { dev->chunk->buf, len };
	rx->iov_cnt = 1;
	rx->cookie = &recv->sink;
	return ENG_RX_PLACE;
}

int eng_dev_arrived(struct eng_recv *recv, int status)
{
	struct eng_dev *dev = recv->sink.dev;

	if (!status && dev->chunk)
		status = to_recv(recv, dev->chunk->buf, dev->chunk->len);
	return status ? status : dev->err;
}
