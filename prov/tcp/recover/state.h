/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* state.h - what a connection that recovers has; private to this directory. */
#ifndef TCP_RECOVER_STATE_H
#define TCP_RECOVER_STATE_H

#include "base/hash/siphash.h"
#include "channel/rail.h"
#include "channel/recover.h"
#include "net/rail.h"
#include "tcp/link.h"
#include "tcp/recover.h"

/* The record that is being sent over a path, or received. */
struct tcp_piece {
	uint8_t head[TCP_RECORD_SIZE];
	size_t have;		/* bytes of the header sent, or received */
	uint64_t at;		/* the next byte of the stream */
	size_t left;		/* bytes of the record that follow */
	uint8_t *list;		/* they are of a list of rails, and here; NULL: of the stream */
};

struct tcp_path {
	struct chan_src src;		/* fd -1: the path does not stand */
	struct tcp_recover *rec;
	bool blocked;			/* its socket is full: wait for POLLOUT */
	bool sending;			/* @out is incomplete */
	bool mute;			/* nothing can be sent over it; what has arrived is still read */
	bool unproven;			/* nothing is sent until its first record has @answer */
	bool proves;			/* our first record has @proof */
	int ours;			/* our rail; -1: none of them */
	uint64_t answer, proof;
	union net_sa peer;		/* the other end of its socket */
	struct tcp_piece out, in;
	uint8_t list[sizeof(struct tcp_wire_rails)];	/* of the peer, as far as it has come */
	size_t list_len;
	struct chan_sent sent;
};

/* A connect that becomes a path. */
struct tcp_join {
	struct tcp_conn *conn;		/* NULL: none */
	struct tcp_conn_end end;
	uint64_t nonce;			/* of a rail */
};

struct tcp_rail {
	struct chan_rail base;
	struct tcp_join join;
};

/* What both sides have said of their interfaces. */
struct tcp_exchange {
	bool on;			/* both have several */
	bool sent;			/* our list, over a path that stands */
	bool got;			/* the peer's */
	unsigned down;			/* a bit for each of our rails that the peer is to be told of */
	unsigned told;			/* and that it was told of, in a record that may be lost with its path */
	struct siphash_key ours, theirs;	/* a key is known to its side and the peer's endpoint */
	unsigned their_cnt, rail_cnt;
	union net_sa their[CHAN_RAILS_MAX];
	struct tcp_rail rail[CHAN_RAILS_MAX];
	struct tcp_wire_rails list;	/* ours */
	size_t list_len;
	unsigned probes;		/* connects to addresses that had proven nothing */
};

/* The interfaces of an endpoint. */
struct tcp_rails {
	struct tcp_link *link;
	unsigned cnt;
	struct tcp_rail_listener {
		struct chan_listener base;
		struct tcp_rails *rails;
		union net_sa at;
	} listener[NET_RAILS_MAX];
	struct net_rail rail[NET_RAILS_MAX];
};

struct tcp_recover {
	struct tcp_conn *conn;
	struct tcp_conn_end end;	/* of @conn */
	struct tcp_join join;		/* at the address by which the peer is known */
	struct tcp_exchange ex;
	struct timer timer;		/* make paths, and look whether they live */
	struct list watch_node;		/* on poller->watched: @timer is set later */
	bool joined;			/* the timer has its place in the heap */
	bool ended, end_sent;		/* our stream ends at kept.end; a record has said so */
	bool peer_ended;		/* the peer's ends at @peer_end */
	uint64_t peer_end;
	uint64_t said;			/* newest acknowledgement that a record has */
	uint64_t down_ns;		/* since when no path stands; 0: one does */
	uint64_t refused_ns;		/* since when the peer's host refuses each connect; 0: it does not */
	unsigned tries;			/* connects in a row that failed */
	unsigned want;			/* paths, while long payload is sent; FI_TCP_LANES of both sides */
	bool busy;			/* long payload was sent: this side makes the further paths, if it made the first */
	uint64_t lost_cnt;		/* paths that were lost so far */
	uint64_t made_cnt;		/* and made */
	struct tcp_path path[TCP_LANES_MAX];
	struct tcp_path *best;		/* takes short messages; NULL: none stands */
	size_t short_max;		/* bytes that it takes alone, while nothing else waits */
	uint64_t reads;			/* that found something */
	uint64_t looked;		/* @reads at the last look at the paths */
	struct chan_kept kept;
	struct chan_got got;
};

/* tcp_path_open - the socket @fd is a path of @rec from now on.   @event: tcp_path_event()
 * tcp_path_made - and what waits is sent over it.
 * Errors: -FI_EMFILE: there are TCP_LANES_MAX; the caller keeps @fd.
 */
int tcp_path_open(struct tcp_recover *rec, int fd, void (*event)(struct chan_src *src, uint32_t events),
		  struct tcp_path **path_p);
void tcp_path_made(struct tcp_path *path);

/* tcp_path_event - a path can be read or written (event.c).  tcp_path_watch - be told when it can.
 * tcp_path_read - one read.  Returns 1: there may be more; 0: there is not, or the path or the connection is lost;
 * negative: the peer has sent what is not possible.
 */
void tcp_path_event(struct chan_src *src, uint32_t events);
void tcp_path_watch(struct tcp_path *path);
int tcp_path_read(struct tcp_path *path);

/* tcp_path_failed - a read has returned @ret, not positive: the path is lost, or has nothing.
 * tcp_path_begin - the header of a record is complete, path->in.head.  False: it is not possible.
 * tcp_path_parse - the next @have bytes of a path are in @buf: their places are in the ring.  False: they are not possible.
 */
void tcp_path_failed(struct tcp_path *path, ssize_t ret);
bool tcp_path_begin(struct tcp_path *path);
bool tcp_path_parse(struct tcp_path *path, const uint8_t *buf, size_t have);

/* tcp_path_close - without anything else.  tcp_path_lost - and what went over it goes over the others. */
void tcp_path_close(struct tcp_path *path);
void tcp_path_lost(struct tcp_path *path, int err);

#define TCP_SAY_EVERY (TCP_WIRE_WINDOW / 8)	/* bytes taken until the peer is told */

/* tcp_paths_push - give what waits to the paths that take it, and say again what a lost one has said of bytes taken.
 * tcp_paths_send - the same where the program has sent something, and nothing else has changed: of a short message one
 *                  path alone is looked at.
 * tcp_paths_say - tell the peer what was taken, if no record has.
 */
void tcp_paths_push(struct tcp_recover *rec);
void tcp_paths_send(struct tcp_recover *rec);
void tcp_paths_say(struct tcp_recover *rec);

/* tcp_path_stands - is it one that carries bytes? */
static inline bool tcp_path_stands(const struct tcp_path *path)
{
	return path->src.fd >= 0 && !path->unproven;
}

/* tcp_rails_start - tcp_rails_open() with these interfaces. */
void tcp_rails_start(struct tcp_link *link, const struct net_rail *rail, unsigned cnt);

/* ---- rails (proof.c) ---- */

/* tcp_exchange_begin - both sides have rails: there are a key and a list to be sent. */
void tcp_exchange_begin(struct tcp_recover *rec);

/* tcp_exchange_came - the peer's list, of @len bytes.  False: it is not possible. */
bool tcp_exchange_came(struct tcp_recover *rec, const void *list, size_t len);

/* tcp_rail_find - the rail whose interface is @ours; NULL: none. */
struct tcp_rail *tcp_rail_find(struct tcp_recover *rec, int ours);

/* tcp_rails_wait - is there one that does not stand, and is to be tried now or later? */
bool tcp_rails_wait(struct tcp_recover *rec);

/* tcp_rail_stands - does a path go by our interface @ours? */
bool tcp_rail_stands(const struct tcp_recover *rec, int ours);

/* ---- what is looked at from time to time (watch.c) ---- */

/* The rule: the paths of a connection are looked at every TCP_RECOVER_TICK_NS while it sends, receives or misses bytes, or
 * wants a path that does not stand.
 */

#define TCP_RECOVER_TICK_NS (100 * CLOCK_NS_PER_MS)	/* between two looks at the paths */

/* tcp_recover_is_watched - is a look at the paths to come? */
static inline bool tcp_recover_is_watched(const struct tcp_recover *rec)
{
	return rec->timer.at || !list_empty(&rec->watch_node);
}

/* tcp_recover_has_all - has the peer ended its stream, and has all of it arrived?  Then nothing needs a path any more. */
bool tcp_recover_has_all(const struct tcp_recover *rec);

/* tcp_recover_set_tick - the next look at the paths, rec->timer, is due at @due_ns. */
void tcp_recover_set_tick(struct tcp_recover *rec, uint64_t due_ns);

/* tcp_recover_lost - one path fewer: look at once if none stands, else at the next tick.
 * tcp_recover_watch - look at the paths while bytes wait for an acknowledgement, or come.
 */
void tcp_recover_lost(struct tcp_recover *rec);
void tcp_recover_watch_paths(struct tcp_recover *rec);

static inline void tcp_recover_watch(struct tcp_recover *rec)
{
	if (!tcp_recover_is_watched(rec))
		tcp_recover_watch_paths(rec);
}

#endif
