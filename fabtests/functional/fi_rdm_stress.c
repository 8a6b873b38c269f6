/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <stdlib.h>
#include <string.h>

#include "common/ft.h"

#define SLOTS	16
#define MOST	40000

/* Both sides send and receive concurrently: random sizes and tags from a common seed, receives
 * posted in another order than the messages are sent.
 */
static uint32_t draw(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static size_t size_of(int round, int slot, bool server)
{
	uint32_t seed = (uint32_t) (round * 64 + slot) * 2 + server;
	uint32_t r = draw(&seed);

	return r % 4 ? 1 + draw(&seed) % 600 : 1 + draw(&seed) % MOST;
}

static uint64_t seed_of(int round, int slot, bool server)
{
	return (uint64_t) ((round * 64 + slot) * 2 + server);
}

static void post_receives(struct ft *ft, struct ft_ep *e, struct fi_context2 *ctx, int round, int from, int to)
{
	for (int k = from; k < to; k++) {
		int slot = (k * 7 + round) % SLOTS;

		FT_POST(e, fi_trecv(e->ep, ft->rx.p + slot * MOST, MOST, ft->rx.desc, e->peer,
				    (uint64_t) slot, 0, &ctx[slot]));
		e->rx_posted++;
	}
}

static void one_round(struct ft *ft, struct ft_ep *e, int round)
{
	static struct fi_context2 rx[SLOTS], tx[SLOTS];

	post_receives(ft, e, rx, round, 0, SLOTS / 2);
	for (int slot = 0; slot < SLOTS; slot++) {
		char *p = ft->tx.p + slot * MOST;
		size_t len = size_of(round, slot, ft->server);

		ft_fill(p, len, seed_of(round, slot, ft->server));
		FT_POST(e, fi_tsend(e->ep, p, len, ft->tx.desc, e->peer, (uint64_t) slot, &tx[slot]));
		e->tx_posted++;
	}
	post_receives(ft, e, rx, round, SLOTS / 2, SLOTS);
	for (int i = 0; i < SLOTS; i++) {
		struct fi_cq_tagged_entry entry;
		int slot;

		ft_cq_take(e, e->rxcq, &entry);
		slot = (int) ((struct fi_context2 *) entry.op_context - rx);
		FT_WANT(slot >= 0 && slot < SLOTS, "a completion of no receive");
		FT_WANT(entry.tag == (uint64_t) slot, "tag %llu matched a receive of tag %d",
			(unsigned long long) entry.tag, slot);
		FT_WANT(entry.len == size_of(round, slot, !ft->server), "a message has %zu bytes, not %zu",
			entry.len, size_of(round, slot, !ft->server));
		ft_verify(ft->rx.p + slot * MOST, entry.len, seed_of(round, slot, !ft->server), "message");
	}
	ft_wait_tx(e, e->tx_posted);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: both sides at once, many sizes and tags, seeded.",
		.ep_type = FI_EP_RDM, .fixed_type = true, .caps = FI_TAGGED | FI_DIRECTED_RECV,
		.buf_size = SLOTS * MOST, .iters = 100,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	for (int round = 0; round < ft.opt.iters; round++)
		one_round(&ft, &ft.ep, round);
	return ft_end(&ft);
}
