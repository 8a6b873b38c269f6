/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - an endpoint's link, its door, and its channels to peers.
 *
 * The link knows addresses as bytes only.  What they look like, which door an address
 * leads to, and what an endpoint without one is called is the business of struct
 * shm_naming: name.c has the one of the shm provider.
 */
#ifndef SHM_LINK_H
#define SHM_LINK_H

#include "conf.h"
#include "conn.h"

extern const struct eng_link_ops shm_link_ops;

struct shm_naming;

/* shm_link_make - the link of @ep, whose name is made of @src.
 * Errors: see shm_wireup_open(); -FI_ENOMEM.
 */
int shm_link_make(struct eng_ep *ep, const struct shm_naming *naming, struct shm_place place,
		  const void *src, size_t src_len, struct shm_link **link_p);

#define SHM_TEXT_MAX (SHM_ADDR_MAX + 1)

struct shm_naming {
	/* len - bytes of an address that the engine gave us. */
	size_t (*len)(const void *addr);
	/* key - the door behind an address, which may be a stranger's claim.
	 * Errors: -FI_EINVAL.
	 */
	int (*key)(const void *addr, size_t len, char key[SHM_KEY_MAX + 1]);
	/* own - the @try-th name that an endpoint opened from @src may have; -FI_ENODATA:
	 * there are no more.  Called until one is free.
	 */
	int (*own)(const void *src, size_t src_len, unsigned try, char addr[SHM_ADDR_MAX],
		   size_t *len_p);
	/* same - do two addresses lead to one endpoint? */
	bool (*same)(const void *a, size_t a_len, const void *b, size_t b_len);
	/* text - for log lines. */
	const char *(*text)(const void *addr, size_t len, char buf[SHM_TEXT_MAX]);
};

struct shm_link {
	struct eng_link base;		/* first */
	const struct shm_naming *naming;
	struct shm_place place;		/* of our door and our peers' */
	const struct fi_provider *prov;	/* for log lines */
	bool near;			/* there is another link to each peer, see engine/near.h */
	struct shm_poller *poller;
	struct shm_src door;
	char key[SHM_KEY_MAX + 1];	/* the door's */
	char addr[SHM_ADDR_MAX];	/* ours */
	size_t addr_len;
	uint64_t epoch;			/* random, of this endpoint's life */
	uint64_t serial;		/* of our last call */
	bool closing;			/* nothing goes up any more but done() and eng_on_placed() */
	struct list conns;		/* every connection */
	struct list chans;		/* channels that are not idle */
	struct eng_timer door_timer;	/* no callers until then: out of descriptors */
};

enum shm_chan_state {
	SHM_CHAN_IDLE,		/* no connection, none wanted */
	SHM_CHAN_DIALING,	/* our call is under way */
	SHM_CHAN_CROSSED,	/* our call was refused in favour of theirs, which must come */
	SHM_CHAN_ANSWERED,	/* we have welcomed their call, which they must confirm */
	SHM_CHAN_BACKOFF,	/* our call failed, the next one follows */
	SHM_CHAN_READY,
};

/* What a link keeps for each peer; zeroed by the engine. */
struct shm_chan {
	struct shm_conn *conn;	/* READY: packets go here; else NULL */
	enum shm_chan_state state;
	int err;		/* BACKOFF: why the last call failed */
	unsigned tries;		/* calls that failed since first_ns */
	bool give_up;		/* BACKOFF: the next poll reports @err */
	bool gone;		/* near: somebody was at the peer's address, and is no longer */
	bool told;		/* the log has the cause already */
	struct shm_conn *dial;	/* DIALING: our call; ANSWERED: theirs */
	struct shm_link *link;	/* NULL: never used yet */
	struct list txq;	/* packets that wait, in order */
	struct list link_node;	/* on link->chans */
	struct eng_timer timer;	/* CROSSED, BACKOFF */
	uint64_t first_ns;	/* when the first of a series of calls began */
	uint64_t peer_epoch;	/* of the last connection */
	uint64_t peer_serial;	/* newest call of the peer's that we welcomed */
};

/* shm_chan_of - the channel behind @peer, prepared on first use. */
struct shm_chan *shm_chan_of(struct shm_link *link, struct eng_peer *peer);

static inline struct eng_peer *shm_chan_peer(struct shm_chan *chan)
{
	return eng_peer_of(chan);
}

/* shm_chan_set_state - the only place where the state changes. */
void shm_chan_set_state(struct shm_chan *chan, enum shm_chan_state state);

/* shm_chan_drain - done(-@err) for every packet that waits. */
void shm_chan_drain(struct shm_chan *chan, int err);

/* shm_chan_put - the link's peer_put, and its way to close. */
void shm_chan_put(struct shm_chan *chan);

/* ---- wire-up (wireup.c) ----------------------------------------------------------- */

/* The link's peer_get. */
int shm_wireup_get(struct shm_link *link, struct shm_chan *chan);

/* shm_wireup_timer - a channel's timer is due. */
void shm_wireup_timer(struct eng_timer *timer, uint64_t now);

/* shm_wireup_timeout - a greeting took too long. */
void shm_wireup_timeout(struct eng_timer *timer, uint64_t now);

/* shm_wireup_event - something on the socket of a connection before READY. */
void shm_wireup_event(struct shm_conn *conn);

/* shm_wireup_lost - @conn is FAILED: report it and close it. */
void shm_wireup_lost(struct shm_conn *conn);

/* shm_wireup_open - bind the door and let callers in.  Errors: see shm_door_open(); logged. */
int shm_wireup_open(struct shm_link *link, const void *src, size_t src_len);
void shm_wireup_close(struct shm_link *link);

#endif
