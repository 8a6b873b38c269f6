/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * state.h - rails: further paths of a connection, each by another interface.
 *
 * Path 0 is the connection itself, struct rxd_conn.  A rail is a second struct rxd_conn with ids, packet numbers, a
 * congestion window, a round trip and a path MTU of its own, and without a stream: its packets carry bytes of the
 * connection's stream (rxd_main_of()), by their offsets, so that order and once-only need no other rule.  What is short
 * goes by path 0; where FI_RAIL_MIN bytes wait, each path takes the next piece when its window has room, and so as much
 * as it delivers.  Bytes that are declared lost on one path go over any.
 *
 * A path is mute that is silent while another one answers, or whose interface is down: what was in flight on it goes over
 * the others, and it is asked again by its probe timeouts until it answers.  Silence of all is a peer without progress: nothing changes.
 *
 *	share.c   which path takes what; mute ones; the end
 *	join.c    addresses are exchanged and prove themselves; rails are made
 *	open.c    the interfaces of an endpoint
 *	choose.c  which these are (beside dg.c: the system is asked)
 */
#ifndef RXD_RAILS_STATE_H
#define RXD_RAILS_STATE_H

#include "channel/path.h"
#include "channel/rail.h"
#include "net/rail.h"
#include "rxd/conn.h"
#include "rxd/addresses/list.h"

#define RXD_RAILS_MAX (CHAN_PATHS_MAX - 1)	/* beside path 0 */

/* The interfaces of an endpoint, but that of its own address. */
struct rxd_rail_ports {
	unsigned cnt;
	struct net_rail iface[RXD_RAILS_MAX];
	struct rxd_dg *dg[RXD_RAILS_MAX];
	union net_sa at[RXD_RAILS_MAX];		/* its address there */
	struct net_rail own;			/* that of the endpoint's own address; its name is "-" if it is not known */
	struct siphash_key secret;		/* of the keys of connections */
	struct list gone;			/* struct rxd_rails of connections that have ended */
};

struct rxd_rail {
	struct rxd_conn conn;		/* first; chan.conn is NULL while the rail does not stand */
	struct rxd_rails *rails;
	struct chan_rail base;		/* .ours is its place in the ports, and here */
	bool paired;			/* this side makes it, to the address base.theirs */
	bool made;			/* it has been made, and what it has is to be given back */
	uint64_t nonce;			/* what we have asked the peer to hash; 0: nothing */
	uint64_t proof;			/* @paired: the hash that proves us to the peer */
};

struct rxd_rails {
	struct chan_paths base;		/* first; path 0 is the connection, path i + 1 rail[i] */
	struct list node;		/* on ports->gone */
	struct rxd_rail_ports *ports;
	struct siphash_key ours, theirs;	/* a key is known to its side and the peer's endpoint */
	union net_sa their[CHAN_RAILS_MAX];
	unsigned their_cnt;
	uint32_t dgram_max;		/* longest datagram of both ends, whatever path 0 carries */
	bool makes;			/* this side makes the rails */
	bool wanted;			/* long payload was sent, or has come */
	unsigned probes;		/* ASK to addresses that had proven nothing */
	uint64_t silent_ns[CHAN_PATHS_MAX];	/* of a path: the first of the probe timeouts in a row */
	uint64_t carried[CHAN_PATHS_MAX];	/* bytes that were sent over it, but for short messages */
	unsigned cnt;			/* of ports */
	struct rxd_rail rail[];
};

static inline struct rxd_rails *rxd_rails_of(const struct rxd_conn *conn)
{
	return (struct rxd_rails *) conn->chan.paths;	/* its first member */
}

static inline struct rxd_rail *rxd_rail_of(struct rxd_conn *conn)
{
	return (struct rxd_rail *) conn;	/* its first member */
}

/* rxd_path_number - of @conn, which is alive and has rails or is one. */
static inline unsigned rxd_path_number(const struct rxd_conn *conn)
{
	return rxd_is_rail(conn) ? ((const struct rxd_rail *) conn)->base.ours + 1u : 0;
}

/* ---- share.c ---- */

/* (join.c) rxd_rail_down - @rail, which was made, does not stand any more: what was in flight on it goes over the others.
 * It is tried again later.   @err: positive, for the log
 */
void rxd_rail_down(struct rxd_rail *rail, int err);

/* rxd_rail_clear - it has nothing any more, and what was in flight on it is forgotten. */
void rxd_rail_clear(struct rxd_rail *rail);

/* rxd_rails_stand - how many paths do, path 0 included. */
unsigned rxd_rails_stand(const struct rxd_rails *rails);

#endif
