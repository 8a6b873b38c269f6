/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* state.h - what a connection that recovers has; private to this directory. */
#ifndef TCP_RECOVER_STATE_H
#define TCP_RECOVER_STATE_H

#include "channel/recover.h"
#include "tcp/link.h"
#include "tcp/recover.h"

/* The record that is being sent over a path, or received. */
struct tcp_piece {
	uint8_t head[TCP_RECORD_SIZE];
	size_t have;		/* bytes of the header sent, or received */
	uint64_t at;		/* the next byte of the stream */
	size_t left;		/* bytes of the record that follow */
};

struct tcp_path {
	struct chan_src src;		/* fd -1: the path does not stand */
	struct tcp_recover *rec;
	bool blocked;			/* its socket is full: wait for POLLOUT */
	bool sending;			/* @out is incomplete */
	bool mute;			/* nothing can be sent over it; what has arrived is still read */
	struct tcp_piece out, in;
	struct chan_sent sent;
};

struct tcp_recover {
	struct tcp_conn *conn;
	struct tcp_conn_end end;	/* of @conn */
	struct tcp_conn *joining;	/* a connect that becomes a path; NULL: none */
	struct tcp_conn_end joining_end;
	struct timer timer;		/* make paths, and look whether they live */
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
	struct tcp_path path[TCP_LANES_MAX];
	struct chan_kept kept;
	struct chan_got got;
};

/* tcp_path_open - the socket @fd is a path of @rec from now on; what waits is sent over it.
 * Errors: -FI_EMFILE: there are TCP_LANES_MAX; the caller keeps @fd.
 */
int tcp_path_open(struct tcp_recover *rec, int fd);

/* tcp_path_close - without anything else.  tcp_path_lost - and what went over it goes over the others. */
void tcp_path_close(struct tcp_path *path);
void tcp_path_lost(struct tcp_path *path, int err);

/* tcp_paths_push - give what waits to the paths that take it.
 * tcp_paths_say - tell the peer what was taken, if no record has.
 */
void tcp_paths_push(struct tcp_recover *rec);
void tcp_paths_say(struct tcp_recover *rec);

#define TCP_RECOVER_TICK_NS (100 * CLOCK_NS_PER_MS)	/* between two looks at the paths */

/* tcp_recover_has_all - has the peer ended its stream, and has all of it arrived?  Then nothing needs a path any more. */
bool tcp_recover_has_all(const struct tcp_recover *rec);

/* tcp_recover_set_tick - the next look at the paths, rec->timer, is due at @due_ns. */
void tcp_recover_set_tick(struct tcp_recover *rec, uint64_t due_ns);

/* tcp_recover_lost - one path fewer: look at once, if none stands.
 * tcp_recover_watch - look at the paths while bytes wait for an acknowledgement.
 */
void tcp_recover_lost(struct tcp_recover *rec);
void tcp_recover_watch(struct tcp_recover *rec);

#endif
