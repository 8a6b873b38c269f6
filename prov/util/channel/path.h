/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * path.h - the connections of a channel, where there are several.
 *
 * A channel has 1 to CHAN_PATHS_MAX paths.  Path 0 is chan->conn: it carries every header, and with it the
 * order of packets.  The further ones carry parts of long payload (stripe.h), so that they need no headers
 * and nothing is reordered.  A striped packet is complete when all its parts are.  A READY channel whose
 * chan->paths is NULL has path 0 alone.
 *
 * Each path is a connection of one link, with the address at which the peer is reached over it.  The link
 * makes it, says when it stands and when it ends, and moves the bytes; what is kept here is the same for all
 * links: who is path of what, what of a striped packet was sent over which, and what has arrived.
 *
 * A path that is lost before it carries payload leaves the others as they are (chan_path_remove()): long
 * payload stays on path 0.  Once payload may be in it, only a peer that acknowledges parts could be sent
 * them again over another path.  Where a link has no such acknowledgements (the lanes of tcp), the channel is lost with
 * each of its paths; where it has them (rails of rxd), path 0 is the one that takes what is short, and may be lost
 * like the others.
 *
 * Pure: no I/O, no clock, no memory but the caller's.
 */
#ifndef CHAN_PATH_H
#define CHAN_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/net_addr.h"
#include "channel/stripe.h"

struct chan;
struct chan_link;
struct eng_pkt;

#define CHAN_PATHS_MAX CHAN_STRIPE_PATHS

/* One connection of a channel. */
struct chan_path {
	struct chan_link *link;	/* whose connection it is: our end has the link's address */
	union net_sa to;	/* where the peer is reached over it */
	void *conn;		/* the link's connection; NULL: none yet, or it has ended */
	size_t sent;		/* bytes of its part of paths->tx_pkt */
};

struct chan_paths {
	struct chan *chan;
	unsigned cnt;			/* agreed with the peer */
	struct chan_path path[CHAN_PATHS_MAX];
	const struct eng_pkt *tx_pkt;	/* striped packet being sent; NULL: none */
	unsigned rx_parts;		/* incomplete parts of the striped payload being received */
};

/* chan_paths_init - @chan, READY, may have @cnt paths; path 0 is its connection.  All are of its link, and
 * reach the peer at the address by which the engine knows it, until the caller says otherwise.
 * chan_paths_fini - it has path 0 alone again.  @paths, the caller's memory, may be freed.
 */
void chan_paths_init(struct chan_paths *paths, struct chan *chan, unsigned cnt);
void chan_paths_fini(struct chan_paths *paths);

/* chan_path_free - may path @i be made: is it agreed, and are there none of that number? */
bool chan_path_free(const struct chan_paths *paths, unsigned i);

/* chan_path_add - @conn is path @i from now on, which is free.
 * chan_path_remove - @conn ends, one of the further paths.
 */
void chan_path_add(struct chan_paths *paths, unsigned i, void *conn);
void chan_path_remove(struct chan_paths *paths, const void *conn);

/* ---- a striped packet ------------------------------------------------------------------ */

/* chan_path_part - how many bytes of a payload of @len bytes belong to path @i.
 * @off_p: [out] where they begin
 */
static inline size_t chan_path_part(const struct chan_paths *paths, size_t len, unsigned i, size_t *off_p)
{
	*off_p = chan_stripe_at(len, paths->cnt, i);
	return chan_stripe_at(len, paths->cnt, i + 1) - *off_p;
}

/* chan_paths_begin - @pkt is the striped packet being sent; nothing happens if it is already.
 * chan_paths_end - all of it has been sent: the next one may lie in the same memory.
 */
void chan_paths_begin(struct chan_paths *paths, const struct eng_pkt *pkt);
void chan_paths_end(struct chan_paths *paths);

/* chan_path_left - the bytes of its part that path @i has not sent.
 * @off_p: [out] where they begin in the payload of @len bytes
 */
static inline size_t chan_path_left(const struct chan_paths *paths, size_t len, unsigned i, size_t *off_p)
{
	size_t part = chan_path_part(paths, len, i, off_p);

	*off_p += paths->path[i].sent;
	return part - paths->path[i].sent;
}

#endif
