/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* sink.c - DATA pieces into the buffers of a receive, a read or a fetching atomic. */
#include "engine/sink.h"

#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "engine/dev.h"
#include "engine/peer.h"

int eng_sink_open(struct eng_sink *sink, struct eng_grp *grp, size_t want)
{
	sink->got = 0;
	sink->want = want;
	sink->pieces = 0;
	sink->err = 0;
	sink->fault = false;
	return eng_name_make(grp, &sink->name) ? 0 : -FI_ENOMEM;
}

/* Also after an error done() waits until the link moves no piece into the buffers. */
void eng_sink_check(struct eng_sink *sink)
{
	int err = sink->err;

	if (sink->pieces || (!err && sink->got != sink->want))
		return;
	if (__builtin_expect(sink->dev != NULL, 0) && !err)
		err = sink->dev->err;
	if (__builtin_expect(sink->fault, 0) && !err)
		err = -FI_EFAULT;
	sink->done(sink, err);
}

enum eng_rx_verdict eng_sink_on_data(struct eng_peer *peer, struct eng_rx *rx,
				     const struct wire_msg *msg, const char **why_p)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, msg->id, ENG_NAME_SINK, peer);
	struct eng_sink *sink;

	*why_p = NULL;
	if (!name) {
		*why_p = "data that was not asked for";
		return ENG_RX_BAD;
	}
	sink = container_of(name, struct eng_sink, name);
	/* The pieces come in the order of their sending. */
	if (msg->off != sink->got || !msg->len || msg->len > sink->want - sink->got) {
		*why_p = "data outside of what was asked for";
		return ENG_RX_BAD;
	}
	if (__builtin_expect(sink->dev != NULL, 0))
		return eng_dev_on_data(sink, peer, rx, msg);
	sink->got += msg->len;
	if (__builtin_expect(sink->fault, 0)) {
		eng_sink_check(sink);
		return ENG_RX_DONE;
	}
	if (rx->avail == rx->len) {
		iov_scatter(sink->iov, sink->iov_cnt, msg->off, rx->data, rx->len);
		eng_sink_check(sink);
		return ENG_RX_DONE;
	}
	rx->iov_cnt = iov_slice(sink->iov, sink->iov_cnt, msg->off, msg->len, rx->iov);
	rx->cookie = sink;
	sink->pieces++;
	return ENG_RX_PLACE;
}

void eng_on_placed(struct eng_link *link, void *cookie, int status)
{
	struct eng_sink *sink = cookie;

	sink->pieces--;
	if (__builtin_expect(status == -FI_EFAULT, 0)) {
		sink->fault = true;
	} else if (__builtin_expect(status, 0)) {
		sink->err = status;
		eng_peer_losing(sink->name.peer, status);
	}
	eng_sink_check(sink);
}
