/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - an endpoint's link, its listener, and its channels to peers.
 */
#ifndef TCP_LINK_H
#define TCP_LINK_H

#include "engine/link.h"
#include "conn.h"

extern const struct eng_link_ops tcp_link_ops;

/* Where callers knock. */
struct tcp_listener {
	struct tcp_src src;		/* first; fd -1: not listening */
	struct tcp_timer timer;		/* take a break from accepting until then */
	unsigned asked;			/* callers whose HELLO is not complete */
	uint64_t short_ns;		/* since when there is no descriptor for any; 0: there is */
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
	TCP_CHAN_PARKING,	/* the peer is asked whether it minds; nothing is sent */
	TCP_CHAN_PARKED,	/* both closed an idle connection; the next packet makes another */
};

/* What a link keeps for each peer; zeroed by the engine. */
struct tcp_chan {
	enum tcp_chan_state state;
	int err;		/* BACKOFF: why the last call failed */
	unsigned tries;		/* calls that failed, one after the other */
	bool give_up;		/* BACKOFF: the next poll reports @err */
	bool told;		/* BACKOFF: the log has the cause already */
	bool busy;		/* descriptors are short on either side: keep on calling */
	bool resumes;		/* since PARKED: the next connection goes on where the last ended */
	struct tcp_conn *conn;	/* READY, PARKING: frames go out here, and come in */
	struct tcp_conn *dial;	/* DIALING: our call */
	struct tcp_conn *loop;	/* the other end, where an endpoint talks to itself */
	struct tcp_link *link;	/* NULL: never used yet */
	struct list txq;	/* packets that wait, in order */
	struct list node;	/* on poller->waiting */
	struct list link_node;	/* on link->chans */
	struct tcp_timer timer;	/* CROSSED, BACKOFF, PARKED */
	uint64_t first_ns;	/* when the first of a series of calls failed */
	uint64_t peer_epoch;	/* of the last connection */
	uint64_t peer_serial;	/* newest call of the peer's that we welcomed */
	uint64_t peer_newest;	/* newest call that the peer had made by the last connection */
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

/* ---- listener (listen.c) ----------------------------------------------- */

/* tcp_listener_open - bind link->addr (port 0: one is chosen) and listen; link->addr
 * is the bound address afterwards.  Callers get @wireup.
 * Errors: -FI_EADDRINUSE, -FI_EADDRNOTAVAIL, -FI_EMFILE, ...; logged.
 */
int tcp_listener_bind(struct tcp_link *link);
int tcp_listener_start(struct tcp_link *link, int backlog);
void tcp_listener_close(struct tcp_link *link);

/* tcp_listener_left - a caller of @link is no longer without a HELLO. */
void tcp_listener_left(struct tcp_link *link);

/* ---- RDM endpoints (rdm.c) --------------------------------------------- */

extern const struct tcp_wireup tcp_rdm_wireup;

/* The link's peer_get. */
int tcp_rdm_get(struct tcp_link *link, struct tcp_chan *chan);

/* tcp_rdm_call - a packet for a PARKED channel: connect again. */
void tcp_rdm_call(struct tcp_chan *chan);

/* tcp_rdm_timer - a channel's timer is due. */
void tcp_rdm_timer(struct tcp_timer *timer, uint64_t now);

/* tcp_rdm_next - start calls that have waited, while there are places. */
void tcp_rdm_next(struct tcp_poller *poller);

/* ---- too many connections (park.c) --------------------------------------- */

void tcp_park_init(struct tcp_poller *poller);

/* tcp_park_opened, tcp_park_closed - there is one socket more, or one less; makes room
 * where few are left.
 */
void tcp_park_opened(struct tcp_conn *conn);
void tcp_park_closed(struct tcp_conn *conn);

/* tcp_park_ready - @conn carries a channel; @features: what its peer can do. */
void tcp_park_ready(struct tcp_conn *conn, uint8_t features);

/* tcp_park_want - no descriptor is left, or few.  Have @cnt idle connections closed,
 * which takes a while; true if there are any at all that may be.
 */
bool tcp_park_want(struct tcp_poller *poller, unsigned cnt);

/* tcp_park_must - the same where somebody waits for a descriptor. */
bool tcp_park_must(struct tcp_poller *poller);

/* tcp_park_check - have tcp_rdm_timer() look after a PARKED channel in a while. */
void tcp_park_check(struct tcp_chan *chan);

/* tcp_park_any - does the process have connections that may become idle? */
bool tcp_park_any(void);

/* tcp_park_reserved - is @fd one of the last ones, which are for callers?  Its number
 * tells: the system gives the lowest that is free.
 */
bool tcp_park_reserved(int fd);

/* tcp_park_full - does the process have as many connections as it may? */
bool tcp_park_full(const struct tcp_conf *conf);

/* tcp_park_word - @word has come between two frames of @conn; the connection may be
 * no longer READY.  Returns false if it makes no sense.
 */
bool tcp_park_word(struct tcp_conn *conn, unsigned word);

/* ---- connected endpoints (cm.c) ----------------------------------------- */

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
