/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - one connection: its socket, its two segments, what is in flight.
 *
 *	our attempt:	REQUESTING		\
 *						 READY -> FAILED -> CLOSED
 *	the peer's:	ACCEPTED -> CONFIRMING	/
 *
 * The socket passes the segments, wakes sleepers, and tells when the peer is gone.
 * Threading: under the lock of the group of conn->poller.
 */
#ifndef SHM_CONN_H
#define SHM_CONN_H

#include <sys/types.h>

#include "channel/hold.h"
#include "obj/lease.h"
#include "poll.h"
#include "ring.h"
#include "share.h"

struct shm_chan;
struct shm_link;

enum shm_conn_state {
	SHM_CONN_REQUESTING,	/* ours: REQUEST sent, no answer yet */
	SHM_CONN_ACCEPTED,	/* theirs: the socket is accepted, no REQUEST yet */
	SHM_CONN_CONFIRMING,	/* theirs: ACCEPT sent, not confirmed yet */
	SHM_CONN_READY,		/* packets flow */
	SHM_CONN_FAILED,	/* lost; the next poll reports it */
	SHM_CONN_CLOSED,	/* memory goes when no event can name it */
};

/* Payload of an unexpected packet; its source is the connection. */
struct shm_hold {
	struct chan_hold base;	/* first; in the sender's memory: on rx.remote */
	struct shm_iovs from;	/* where it is there */
};

enum shm_body {
	SHM_BODY_NONE,		/* between packets */
	SHM_BODY_PLACE,		/* pieces go into iov */
	SHM_BODY_SKIP,		/* nobody wants the rest */
	SHM_BODY_SHARED,	/* the sender copies the rest; see sharing */
};

struct shm_rx {
	enum shm_body body;
	size_t left;			/* payload bytes still to come */
	size_t off;			/* where in iov the next piece goes */
	struct iovec iov[ENG_IOV_MAX];
	size_t iov_cnt;
	void *cookie;			/* for eng_on_placed(); NULL with @hold or nobody */
	struct shm_hold *hold;		/* filled by this payload */
	struct list remote;		/* struct shm_hold: payload that is still the sender's */
	unsigned pulls;			/* packets that want a DONE, those in owed[] included */
	unsigned owed_cnt;
	uint32_t owed[SHM_PULLS];	/* ids to send back */
};

struct shm_tx {
	uint64_t free;			/* bit i: pulls[i] may be used */
	struct eng_pkt *pulls[SHM_PULLS];
	uint32_t turns[SHM_PULLS];	/* uses of the place, so that an id is good once */
};

/* One lease of a peer, in our own memory. */
struct shm_let {
	bool live;
	uint64_t key;			/* also of one that has ended, but may be in use yet */
};

/* See reach.h; guarded by domain->mr_lock. */
struct shm_tenant {
	struct obj_tenant base;
	uint64_t stamp;			/* of the newest lease */
	unsigned turn;			/* whose place is taken when all are in use */
	struct shm_let *leases;		/* SHM_LEASES, as in our segment; NULL: none yet */
};

struct shm_conn {
	struct shm_src src;		/* first; fd -1: we talk to ourselves */
	enum shm_conn_state state;
	enum shm_conn_state was;	/* FAILED: state before */
	int err;			/* FAILED: positive FI_E* */
	uint64_t seq;			/* the last poll in which something came, or after which we looked */
	uint64_t looked;		/* tick of the clock in which we did so */
	bool hot;			/* on poller->hot */
	bool moved;			/* something came since it was last let asleep */
	bool ended;			/* the peer has hung up; its last packets may be unread */
	bool paused;			/* on poller->paused */
	bool plain;			/* READY, and nothing about it is half done: see shm_rx_one() */
	bool flushed;			/* the peer was told that we leave */
	pid_t pid;			/* of the peer, from the kernel; 0: cannot be seen */
	bool can_pull;			/* its memory can be read */
	bool can_reach;			/* and written */
	struct shm_sharing sharing;	/* what both copy to us */
	uint32_t turn_over;		/* what we copy to the peer: a share without a piece for us */
	struct shm_tenant tenant;	/* what the peer may touch here */
	struct shm_in in;
	struct shm_out out;
	struct shm_rx rx;
	struct shm_tx tx;
	struct shm_poller *poller;
	struct shm_link *link;
	struct shm_chan *chan;		/* NULL until the peer is known */
	struct chan_id id;		/* what the peer's handshake said */
	uint64_t probe;			/* what the peer looks for in our memory */
	struct list node;		/* on link->conns */
	struct list state_node;		/* on poller->base.failed, base.paused or dead */
	struct list blocked_node;	/* on poller->base.dirty */
	struct list help_node;		/* on poller->helping */
	struct timer timer;		/* the handshake must end */
};

/* shm_conn_new - a connection around a socket.
 * @fd: -1: to ourselves
 * Ownership: on 0 it owns @fd; it is on link->conns until closed.
 * Errors: -FI_ENOMEM, ...; the caller keeps @fd.
 */
int shm_conn_new(struct shm_link *link, int fd, pid_t pid, enum shm_conn_state state,
		 struct shm_conn **conn_p);

/* shm_conn_set_state - the only place where the state changes. */
void shm_conn_set_state(struct shm_conn *conn, enum shm_conn_state state);

/* shm_conn_start - both segments are there: READY, and hot. */
void shm_conn_start(struct shm_conn *conn);

/* shm_conn_fail - it is lost; the next poll reports it, so this may be called anywhere. */
void shm_conn_fail(struct shm_conn *conn, int err);

/* shm_conn_malformed - the peer sent @what, which no correct peer does: logged, FAILED. */
void shm_conn_malformed(struct shm_conn *conn, const char *what);

/* shm_conn_close - end it without a report.  Payload that was promised to the engine is
 * reported as lost, packets that wait to be read by the peer come back with -@err; what
 * waits in the channel's queue stays.  The memory is valid until the end of the poll.
 * Threading: from poll(), close() and peer_put() only.
 */
void shm_conn_close(struct shm_conn *conn, int err);
void shm_conn_free(struct shm_conn *conn);

/* shm_conn_hung_up - we found that the peer has hung up: take what is left in the ring,
 * then report it, in the next polls.
 */
void shm_conn_hung_up(struct shm_conn *conn);

/* shm_conn_look - has it?  Asked once per tick of the clock.  Never calls up. */
void shm_conn_look(struct shm_conn *conn);

/* shm_conn_reaches - may we write the peer's memory?  A process that is gone could have
 * left its number to another one: it cannot have done so since the last tick of the clock.
 */
bool shm_conn_reaches(struct shm_conn *conn);

/* shm_conn_ended - has the other side hung up? */
bool shm_conn_ended(const struct shm_conn *conn);

/* shm_conn_ring - wake the peer. */
void shm_conn_ring(struct shm_conn *conn);

/* ---- sending (tx.c) ---------------------------------------------------------------- */

/* shm_tx_send - eng_link_ops.send for a READY connection.  Never calls up. */
int shm_tx_send(struct shm_conn *conn, struct eng_pkt *pkt);

/* shm_tx_slot, shm_tx_post - eng_link_ops.slot and post. */
void *shm_tx_slot(void *chan, size_t len);
int shm_tx_post(void *chan, size_t hdr_len, size_t len);

/* shm_tx_pump - send what waits, as far as there is room; calls done().  From poll() only. */
int shm_tx_pump(struct shm_conn *conn);

/* shm_tx_answer - send the DONEs that are owed, as far as there is room.  No upcall. */
void shm_tx_answer(struct shm_conn *conn);

/* shm_tx_on_done - the peer is done with a packet.  False: it had none with that id. */
bool shm_tx_on_done(struct shm_conn *conn, uint32_t id);

/* shm_tx_find - the packet that the PULL @id named, or NULL: there is none. */
struct eng_pkt *shm_tx_find(const struct shm_conn *conn, uint32_t id);

/* shm_tx_flush - we are about to leave: have the peer read what it was told of. */
void shm_tx_flush(struct shm_conn *conn);

/* shm_tx_drop - done(-@err) for what the peer has not read. */
void shm_tx_drop(struct shm_conn *conn, int err);

/* shm_tx_stuck - nothing can be sent before the peer is done with something. */
bool shm_tx_stuck(struct shm_conn *conn);

/* ---- receiving (rx.c) --------------------------------------------------------------- */

/* shm_rx_one - take the next slot, if it holds a short message that a receive waits for, and
 * nothing else is to be thought of: that no packet is half there, that no answer is owed,
 * that the link is not closing.  False: nothing has been done, shm_rx_poll() knows what to
 * do, and whether the next one is as simple.  From poll() only.
 */
bool shm_rx_one(struct shm_conn *conn);

/* shm_rx_poll - take at most @budget slots.  Returns how many.  From poll() only. */
int shm_rx_poll(struct shm_conn *conn, unsigned budget);

/* shm_rx_drop - the rest of a payload will not come. */
void shm_rx_drop(struct shm_conn *conn, int err);

/* shm_rx_hold - eng_link_ops.hold */
void *shm_rx_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx);

#endif
