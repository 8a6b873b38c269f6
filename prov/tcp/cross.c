/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "cross.h"

static bool comes_first(const struct tcp_cross_id *a, const struct tcp_cross_id *b)
{
	int cmp = net_addr_cmp(a->addr, b->addr);

	return cmp < 0 || (!cmp && a->epoch < b->epoch);
}

static bool is_self(const struct tcp_cross *cross)
{
	return cross->self.epoch == cross->peer.epoch &&
	       !net_addr_cmp(cross->self.addr, cross->peer.addr);
}

enum tcp_cross_verdict tcp_cross_judge(const struct tcp_cross *cross,
				       const struct tcp_hello *hello)
{
	bool same_life = cross->peer_epoch == cross->peer.epoch;

	if (is_self(cross))
		return TCP_CROSS_SELF;
	switch (cross->have) {
	case TCP_HAVE_HELLO:
		return comes_first(&cross->self, &cross->peer) ? TCP_CROSS_REFUSE
							       : TCP_CROSS_ACCEPT;
	case TCP_HAVE_OURS:
		return same_life && hello->prev < cross->serial ? TCP_CROSS_REFUSE
								: TCP_CROSS_REPLACE;
	case TCP_HAVE_THEIRS:
		return same_life && hello->serial <= cross->serial ? TCP_CROSS_REFUSE
								   : TCP_CROSS_REPLACE;
	default:
		return TCP_CROSS_ACCEPT;
	}
}
