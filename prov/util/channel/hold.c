/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/iov.h"

struct chan_hold *chan_hold_new(size_t size, const struct eng_rx *rx, bool remote,
				const struct chan_hold_ops *ops)
{
	struct chan_hold *hold = malloc(size + (remote ? 0 : rx->len));

	if (!hold)
		return NULL;
	memset(hold, 0, size);
	list_init(&hold->node);
	hold->ops = ops;
	hold->len = rx->len;
	if (!remote)
		hold->data = (uint8_t *) hold + size;
	if (!remote && rx->avail)
		memcpy(hold->data, rx->data, rx->avail);
	return hold;
}

/* Reset before the upcall, which may end the connection, and with it this sink again. */
void chan_sink_end(struct chan_sink *sink, struct eng_link *link, int err)
{
	struct chan_sink was = *sink;

	*sink = (struct chan_sink) { 0 };
	if (was.hold && err)
		chan_hold_lost(was.hold, err);
	else if (was.hold)
		chan_hold_done(was.hold);
	else if (was.cookie)
		eng_on_placed(link, was.cookie, -err);
}

static void hold_free(struct chan_hold *hold)
{
	list_del(&hold->node);
	free(hold->own);
	free(hold);
}

/* The token is used up in every case: take() has made the source forget the hold. */
int chan_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t iov_cnt,
	      void *cookie)
{
	struct chan_hold *hold = token;
	int ret = hold->err ? -hold->err : 1;

	if (hold->source)
		ret = hold->ops->take(hold, iov, iov_cnt, cookie);
	else if (!hold->err)
		iov_scatter(iov, iov_cnt, 0, hold->data, hold->len);
	hold_free(hold);
	return ret;
}

/* The source stops filling it first: what is still in flight is then skipped. */
void chan_drop(struct eng_link *link, void *token)
{
	struct chan_hold *hold = token;

	if (hold->source)
		hold->ops->release(hold);
	hold_free(hold);
}
