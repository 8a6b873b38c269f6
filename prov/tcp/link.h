/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - an endpoint's link, its listener, and its channels to peers.
 */
#ifndef TCP_LINK_H
#define TCP_LINK_H

#include "channel/chan.h"
#include "channel/hold.h"
#include "conn.h"

extern const struct eng_link_ops tcp_link_ops;

/* Where callers knock. */
struct tcp_listener {
	struct tcp_src src;		/* first; fd -1: not listening */
	struct timer timer;		/* take a break from accepting until then */
	unsigned asked;			/* callers whose HELLO is not complete */
	uint64_t short_ns;		/* since when there is no descriptor for any; 0: there is */
};

struct tcp_link {
	struct chan_link base;		/* first */
	const struct tcp_conf *conf;
	struct tcp_poller *poller;
	enum tcp_wire_kind kind;
	union net_sa addr;		/* bound address; family AF_UNSPEC: none */
	union net_sa name;		/* the same as peers are told, not the wildcard */
	struct list conns;		/* every connection, in whatever state */
	struct tcp_listener listener;
};

/* What a link keeps for each peer; zeroed by the engine. */
struct tcp_chan {
	struct chan base;	/* first; its conn is a struct tcp_conn */
	struct tcp_conn *dial;	/* CONNECTING: our attempt */
	struct tcp_conn *loop;	/* the other end, where an endpoint connects to itself */
};

static inline struct tcp_chan *tcp_chan_of(struct chan *chan)
{
	return (struct tcp_chan *) chan;	/* its first member */
}

static inline struct tcp_link *tcp_link_of(struct chan_link *link)
{
	return (struct tcp_link *) link;	/* its first member */
}

static inline struct tcp_conn *tcp_chan_conn(const struct tcp_chan *chan)
{
	return chan->base.conn;
}

extern const struct chan_ops tcp_chan_ops;

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

/* ---- RDM endpoints (connect.c) --------------------------------------------- */

extern const struct tcp_wireup tcp_rdm_wireup;

/* tcp_connect - chan_ops.connect. */
int tcp_connect(struct chan *chan);

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

/* tcp_park_check_ns - how often a PARKED channel is looked after; 0: never. */
uint64_t tcp_park_check_ns(const struct tcp_link *link);

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
