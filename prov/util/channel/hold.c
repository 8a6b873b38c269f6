/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "channel/chan.h"
#include "channel/poller.h"

static struct chan_hold *hold_get(struct chan_holds *holds, size_t size)
{
	size_t step = (size + CHAN_HOLD_STEP - 1) / CHAN_HOLD_STEP;
	struct chan_hold *hold;

	if (step >= CHAN_HOLD_STEPS) {
		hold = malloc(size);
		step = 0;
	} else if ((hold = holds->free[step])) {
		holds->free[step] = hold->source;
		holds->kept -= step * CHAN_HOLD_STEP;
	} else {
		hold = malloc(step * CHAN_HOLD_STEP);
	}
	if (hold)
		hold->step = (uint32_t) step;
	return hold;
}

static void hold_put(struct chan_holds *holds, struct chan_hold *hold)
{
	size_t size = (size_t) hold->step * CHAN_HOLD_STEP;

	if (!size || holds->kept + size > CHAN_HOLDS_KEPT) {
		free(hold);
		return;
	}
	hold->source = holds->free[hold->step];
	holds->free[hold->step] = hold;
	holds->kept += size;
}

void chan_holds_fini(struct chan_holds *holds)
{
	struct chan_hold *hold;
	size_t step;

	for (step = 0; step < CHAN_HOLD_STEPS; step++) {
		while ((hold = holds->free[step])) {
			holds->free[step] = hold->source;
			free(hold);
		}
	}
	holds->kept = 0;
}

struct chan_hold *chan_hold_new(struct chan_holds *holds, size_t size, const struct eng_rx *rx,
				bool remote, const struct chan_hold_ops *ops)
{
	struct chan_hold *hold = hold_get(holds, size + (remote ? 0 : rx->len));

	if (!hold)
		return NULL;
	list_init(&hold->node);
	hold->ops = ops;
	hold->source = NULL;
	hold->err = 0;
	hold->len = rx->len;
	hold->data = remote ? NULL : (uint8_t *) hold + size;
	hold->own = NULL;
	if (size > sizeof(*hold))
		memset(hold + 1, 0, size - sizeof(*hold));
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

static void hold_free(struct eng_link *link, struct chan_hold *hold)
{
	list_del(&hold->node);
	free(hold->own);
	hold_put(&chan_link_of(link)->poller->holds, hold);
}

/* pull_payload - take() makes the source forget the hold. */
static int pull_payload(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	if (hold->source)
		return hold->ops->take(hold, iov, iov_cnt, cookie);
	if (hold->err)
		return -hold->err;
	iov_scatter(iov, iov_cnt, 0, hold->data, hold->len);
	return 1;
}

/* Of a payload that is thrown away the source stops filling it first: what is still in flight is then
 * skipped.
 */
int chan_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t iov_cnt,
	      void *cookie)
{
	struct chan_hold *hold = token;
	int ret = 1;

	if (iov) {
		chan_link_of(link)->poller->pulled++;
		ret = pull_payload(hold, iov, iov_cnt, cookie);
	} else if (hold->source) {
		hold->ops->release(hold);
	}
	hold_free(link, hold);
	return ret;
}

bool chan_unplace_none(struct eng_link *link, struct eng_peer *peer, void *cookie)
{
	return false;
}
