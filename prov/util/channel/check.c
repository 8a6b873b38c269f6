/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/check.h"

#include <rdma/fi_errno.h>

#include "base/clock.h"

#define ASK_EVERY_NS (1 * CLOCK_NS_PER_S)	/* a peer that is asked for each forged request would be flooded */

void chan_check_start(struct chan *chan, struct chan_check *check)
{
	uint64_t now = chan_now(chan->link);
	char text[CHAN_TEXT_MAX];
	int ret;

	if (check->asking || now < check->next_ns)
		return;
	check->next_ns = now + ASK_EVERY_NS;
	ret = chan->link->ops->ask(chan, check);
	if (ret)
		CHAN_INFO(chan->link, "cannot ask %s whether its connection stands: %s\n",
			  chan_peer_text(chan, text), fi_strerror(-ret));
}

/* Of an attempt in flight the answer may be in flight, too. */
bool chan_check_holds(const struct chan *chan, uint64_t epoch, uint64_t serial)
{
	if (chan->serial != serial)
		return false;
	return chan->state == CHAN_CONNECTING ||
	       ((chan_check_stands(chan) || chan->state == CHAN_PARKED) && chan->peer_epoch == epoch);
}

void chan_check_answered(struct chan *chan, uint64_t serial, uint64_t epoch, bool holds)
{
	char text[CHAN_TEXT_MAX];

	if (!chan_check_stands(chan) || chan->serial != serial)
		return;			/* another connection, or none: it needs no check */
	if (!holds || epoch != chan->peer_epoch)
		chan_lost(chan, FI_ECONNRESET, false);
	else
		CHAN_WARN_SPARSE(chan->link, "refused a connection that claims to be %s: that endpoint "
				 "says that its own stands\n", chan_peer_text(chan, text));
}
