/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tcp_link.h - an endpoint's link, its listener, and its channels to peers.
 */
#ifndef TCP_LINK_H
#define TCP_LINK_H

#include "engine/link.h"
#include "tcp_conn.h"

extern const struct eng_link_ops tcp_link_ops;

/* Where callers knock. */
struct tcp_listener {
	struct tcp_src src;		/* first; fd -1: not listening */
	struct tcp_timer timer;		/* take a break from accepting until then */
	unsigned asked;			/* callers whose HELLO is not complete */
};

struct tcp_link {
	struct eng_link base;		/* first */
	const struct tcp_conf *conf;
	struct tcp_poller *poller;
	enum tcp_wire_kind kind;
	union net_sa addr;		/* bound address; family AF_UNSPEC: none */
	union net_sa name;		/* the same as peers are told, not the wildcard */
	uint64_t epoch;			/* random, of this endpoint's life */
	uint64_t serial;		/* of our last call */
	bool closing;			/* nothing goes up any more but done() and eng_on_placed() */
	struct list conns;		/* every connection, in whatever state */
	struct list chans;		/* channels that are not idle */
	struct tcp_listener listener;
};

enum tcp_chan_state {
	TCP_CHAN_IDLE,		/* no connection, none wanted */
	TCP_CHAN_WAITING,	/* on poller->waiting: too many calls at once */
	TCP_CHAN_DIALING,	/* our call is under way */
	TCP_CHAN_CROSSED,	/* our call was refused in favour of theirs, which must come */
	TCP_CHAN_BACKOFF,	/* our call failed, the next one follows */
	TCP_CHAN_READY,
};

/* What a link keeps for each peer; zeroed by the engine. */
struct tcp_chan {
	enum tcp_chan_state state;
	int err;		/* BACKOFF: why the last call failed */
	unsigned tries;		/* calls that failed since first_ns */
	bool give_up;		/* BACKOFF: the next poll reports @err */
	bool told;		/* BACKOFF: the log has the cause already */
	struct tcp_conn *conn;	/* READY: frames go out here */
	struct tcp_conn *dial;	/* DIALING: our call */
	struct tcp_conn *loop;	/* the other end, where an endpoint talks to itself */
	struct tcp_link *link;	/* NULL: never used yet */
	struct list txq;	/* packets that wait, in order */
	struct list node;	/* on poller->waiting */
	struct list link_node;	/* on link->chans */
	struct tcp_timer timer;	/* CROSSED, BACKOFF */
	uint64_t first_ns;	/* when the first of a series of calls began */
	uint64_t peer_epoch;	/* of the last connection */
	uint64_t peer_serial;	/* newest call of the peer's that we welcomed */
};

/* tcp_chan_of - the channel behind @peer, prepared on first use. */
struct tcp_chan *tcp_chan_of(struct tcp_link *link, struct eng_peer *peer);

static inline struct eng_peer *tcp_chan_peer(struct tcp_chan *chan)
{
	return eng_peer_of(chan);
}

/* tcp_chan_set_state - the only place where the state changes. */
void tcp_chan_set_state(struct tcp_chan *chan, enum tcp_chan_state state);

/* tcp_chan_drain - done(-@err) for every packet that waits. */
void tcp_chan_drain(struct tcp_chan *chan, int err);

/* tcp_chan_put - the link's peer_put, and its way to close: end everything that is
 * under way with the peer; what waits gets done(-FI_ECANCELED).
 */
void tcp_chan_put(struct tcp_chan *chan);

/* tcp_chan_up - @conn is READY and carries @chan from now on; what waited leaves. */
void tcp_chan_up(struct tcp_chan *chan, struct tcp_conn *conn, uint64_t peer_epoch);

/* ---- listener (tcp_listen.c) ----------------------------------------------- */

/* tcp_listener_open - bind link->addr (port 0: one is chosen) and listen; link->addr
 * is the bound address afterwards.  Callers get @wireup.
 * Errors: -FI_EADDRINUSE, -FI_EADDRNOTAVAIL, -FI_EMFILE, ...; logged.
 */
int tcp_listener_bind(struct tcp_link *link);
int tcp_listener_start(struct tcp_link *link, int backlog);
void tcp_listener_close(struct tcp_link *link);

/* tcp_listener_left - a caller of @link is no longer without a HELLO. */
void tcp_listener_left(struct tcp_link *link);

/* ---- RDM endpoints (tcp_rdm.c) --------------------------------------------- */

extern const struct tcp_wireup tcp_rdm_wireup;

/* The link's peer_get. */
int tcp_rdm_get(struct tcp_link *link, struct tcp_chan *chan);

/* tcp_rdm_timer - a channel's timer is due. */
void tcp_rdm_timer(struct tcp_timer *timer, uint64_t now);

/* tcp_rdm_next - start calls that have waited, while there are places. */
void tcp_rdm_next(struct tcp_poller *poller);

/* ---- connected endpoints (tcp_cm.c) ----------------------------------------- */

extern const struct tcp_wireup tcp_msg_wireup;
extern const struct tcp_wireup tcp_pep_wireup;

int tcp_cm_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen);
int tcp_cm_accept(struct eng_link *link, struct eng_peer *peer, void *req,
		  const void *param, size_t paramlen);
int tcp_cm_reject(struct eng_link *pep_link, void *req, const void *param, size_t paramlen);
void tcp_cm_req_drop(void *req);
int tcp_cm_shutdown(struct eng_link *link, struct eng_peer *peer);
int tcp_cm_getpeer(struct eng_link *link, struct eng_peer *peer, void *addr, size_t *len);

/* tcp_addr_out - copy an address out as getname does: -FI_ETOOSMALL when cut. */
int tcp_addr_out(const union net_sa *sa, void *addr, size_t *len);

#endif
