/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * multi_recv.c - buffers that take many messages.
 *
 * A buffer stays in the matcher while at least its minimum is free; each message
 * gets a part, a receive of its own that lies in the buffer.  When the buffer
 * has left the matcher, whichever part completes last carries FI_MULTI_RECV.  If
 * the buffer was taken back (cancel, error, close), the error does, after the
 * last part.  So the program learns once, and last of all, that it is free.
 */
#include "base/iov.h"
#include "engine/dev.h"
#include "engine/recv.h"

#include <assert.h>

struct eng_recv *eng_mrecv_part(struct eng_recv *buffer, size_t len)
{
	struct eng_recv *part = eng_recv_get(buffer->ep->grp);
	size_t used = len < buffer->room ? len : buffer->room;

	if (!part)
		return NULL;
	eng_recv_clear(part);
	if (__builtin_expect(buffer->sink.dev != NULL, 0) && !eng_dev_part(part, buffer)) {
		pool_put(&buffer->ep->grp->recvs, part);
		return NULL;
	}
	part->m.tag = buffer->m.tag;
	part->ep = buffer->ep;
	part->rxc = buffer->rxc;
	part->context = buffer->context;
	part->cq_flags = buffer->cq_flags;
	part->room = buffer->room;
	part->buffer = buffer;
	part->iov[0] = (struct iovec) { buffer->iov[0].iov_base, used };
	part->want_comp = buffer->want_comp;
	part->asked = buffer->asked;

	buffer->parts++;
	buffer->iov[0].iov_base = iov_at(&buffer->iov[0], used);
	buffer->iov[0].iov_len -= used;
	buffer->room -= used;
	if (!buffer->room || buffer->room < buffer->min) {
		match_unpost(eng_rxc_match(buffer->rxc, buffer->cq_flags & FI_TAGGED),
			     &buffer->m);
		buffer->rxc->posted--;
		eng_recv_set_state(buffer, ENG_RECV_CLOSING);
	}
	return part;
}

/* The error that says that @buffer is the program's again. */
static void release_aborted(struct eng_recv *buffer)
{
	struct eng_ep *ep = eng_srx_reporter(buffer->ep);
	struct fi_cq_err_entry entry = obj_cq_err(buffer->context, buffer->cq_flags | FI_MULTI_RECV,
						  buffer->abort);

	/* Even fi_close() gives the buffer back; what else it drops says nothing. */
	if (ep->base.rx_cq || ep->state != ENG_EP_CLOSED)
		obj_ep_err_rx(&ep->base, &entry, NULL, 0, OBJ_CNTR_RECV);
}

uint64_t eng_mrecv_part_done(struct eng_recv *buffer)
{
	assert(buffer->parts && "each part is completed once");
	if (--buffer->parts || buffer->state != ENG_RECV_CLOSING || buffer->abort)
		return 0;
	eng_recv_free(buffer);
	return FI_MULTI_RECV;
}

void eng_mrecv_close(struct eng_recv *buffer)
{
	struct eng_ep *ep = eng_srx_reporter(buffer->ep);

	eng_recv_set_state(buffer, ENG_RECV_CLOSING);
	if (buffer->parts)
		return;
	obj_ep_comp_rx(&ep->base, ep->base.rx_cq != NULL, buffer->context,
		       buffer->cq_flags | FI_MULTI_RECV, 0, NULL, 0, 0, FI_ADDR_NOTAVAIL,
		       OBJ_CNTR_NONE);
	eng_recv_free(buffer);
}

void eng_mrecv_abort(struct eng_recv *buffer, int err)
{
	if (!buffer->abort) {
		buffer->abort = err;
		if (buffer->state != ENG_RECV_CLOSING)
			eng_recv_set_state(buffer, ENG_RECV_CLOSING);
	}
	if (buffer->parts)
		return;
	release_aborted(buffer);
	eng_recv_free(buffer);
}
