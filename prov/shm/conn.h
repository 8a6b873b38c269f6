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
#include "poll.h"
#include "ring.h"
#include "split.h"
#include "tenant.h"

struct shm_chan;
struct shm_link;
struct shm_proof;

enum shm_conn_state {
	SHM_CONN_REQUESTING,	/* we connect: REQUEST is sent, no answer yet */
	SHM_CONN_ACCEPTED,	/* accepted: no REQUEST yet */
	SHM_CONN_CONFIRMING,	/* accepted: ACCEPT is sent, not confirmed yet */
	SHM_CONN_READY,		/* packets are sent and received */
	SHM_CONN_FAILED,	/* lost; the next poll reports it */
	SHM_CONN_CLOSED,	/* freed once no fetched event can name it */
};

/* Payload of an unexpected packet; chan_hold.source is the connection. */
struct shm_hold {
	struct chan_hold base;	/* first; without data: on rx.remote */
	struct shm_iovs from;	/* without data: where it is in the sender's memory */
};

enum shm_body {
	SHM_BODY_NONE,		/* between packets */
	SHM_BODY_PLACE,		/* pieces go into iov */
	SHM_BODY_SKIP,		/* the rest is thrown away */
	SHM_BODY_SPLIT,		/* the sender copies the rest, see split.h */
};

/* The packet that is being received, and payload that stays with the sender. */
struct shm_rx {
	enum shm_body body;
	size_t left;			/* payload bytes still to come */
	size_t off;			/* where in iov the next piece goes */
	struct iovec iov[ENG_IOV_MAX];
	size_t iov_cnt;
	struct chan_sink sink;		/* what the payload is for */
	struct list remote;		/* struct shm_hold: payload in the sender's memory */
	unsigned pulls;			/* PULLs without a DONE, those in done_ids[] included */
	unsigned done_cnt;
	uint32_t done_ids[SHM_PULLS];	/* ids of PULLs to send in a DONE */
};

/* Packets whose payload the receiver reads from our memory. */
struct shm_tx {
	uint64_t free;			/* bit i: pulls[i] may be used */
	struct eng_pkt *pulls[SHM_PULLS];
	uint32_t turns[SHM_PULLS];	/* uses of the place: each makes another id */
};

/* What a poll reads of each connection is one line, what a message adds is the next ones. */
struct shm_conn {
	_Alignas(SHM_LINE) struct shm_in in;	/* our segment */
	bool active;			/* on poller->active */
	bool received;			/* a packet arrived since the poller last slept */
	bool ended;			/* the peer has closed; its last packets may be unread */
	bool split_waits;		/* a split copy waits for pieces that the sender has taken */
	bool paused;			/* on poller->base.paused */
	bool fast;			/* shm_rx_one() may be tried: READY, no packet half received */
	uint8_t left;			/* polls that left the unexpected message at hand in the ring */
	bool ready;			/* @state is SHM_CONN_READY */
	struct shm_poller *poller;
	struct shm_chan *chan;		/* NULL: the peer is not known yet */
	uint64_t seq;			/* last poll in which a packet arrived, or a check */
	struct shm_out out;		/* the peer's */
	union shm_bells *out_bells;	/* the peer's, with out.bell; NULL: it has none, or they are ours */
	int bell;			/* ours, for in; -1: none */
	unsigned place;			/* active: where in poller->active */
	bool flushed;			/* FLUSH was sent */
	bool covered;			/* a sleep has made a barrier for what its sender read at first: see fences_of() */
	struct shm_link *link;
	enum shm_conn_state state;
	enum shm_conn_state was;	/* FAILED: state before */
	int err;			/* FAILED: positive FI_E* */
	struct chan_src src;		/* fd -1: a connection to the endpoint itself */
	uint64_t checked;		/* tick of the clock in which the socket was checked */
	pid_t pid;			/* of the peer, from the kernel; 0: in another namespace */
	bool can_read;			/* its memory can be read */
	bool can_write;			/* its memory can be written, too */
	struct shm_rx rx;
	struct shm_tx tx;
	struct shm_split_rx split;	/* split copies into our memory */
	uint32_t split_done;		/* number of the last one to the peer that has no pieces left */
	struct shm_split_own access;	/* split writes and reads of the peer's memory */
	uint64_t share_pos;		/* slots written, with the last SHARE */
	bool assists;			/* the peer's access may have pieces for us */
	uint32_t assisted;		/* number of the last one that has none left */
	struct shm_tenant *tenant;	/* what the peer may still touch here; outlives the connection */
	struct chan_id id;		/* what the peer's handshake said */
	struct chan_version version;	/* that the peer has; all 0: to the endpoint itself */
	struct list node;		/* on link->conns */
	struct list state_node;		/* on poller->base.failed, base.paused or dead */
	struct list blocked_node;	/* on poller->base.dirty */
	struct list split_node;		/* on poller->splitting */
	struct list early_node;		/* on poller->early */
	uint64_t early_seq;		/* the poll since which it is */
	struct list unread_node;	/* on poller->unread */
	uint64_t unread_pos;		/* slots that the peer had taken at unread_ns, and not more since */
	uint64_t unread_ns;
	bool unread_logged;		/* a warning was given about that */
	struct shm_proof *proof;	/* before REQUEST: the key is not proven yet; else NULL */
	struct timer timer;		/* the handshake must end */
	uint64_t give_up_ns;		/* when the wait for the peer's accesses ends; 0: none waits */
};
_Static_assert(offsetof(struct shm_conn, out) == SHM_LINE, "what a poll reads is one line");

/* shm_conn_new - a connection around a socket.
 * @fd: -1: to the endpoint itself
 * Ownership: on 0 it owns @fd; it is on link->conns until closed.
 * Errors: -FI_ENOMEM, ...; the caller keeps @fd.
 */
int shm_conn_new(struct shm_link *link, int fd, pid_t pid, enum shm_conn_state state,
		 struct shm_conn **conn_p);

/* shm_conn_set_state - the only place where the state changes. */
void shm_conn_set_state(struct shm_conn *conn, enum shm_conn_state state);

/* shm_conn_start - both segments are there: READY, and active. */
void shm_conn_start(struct shm_conn *conn);

/* shm_conn_fail - FAILED: the next poll reports @err (positive).  May be called anywhere. */
void shm_conn_fail(struct shm_conn *conn, int err);

/* shm_conn_malformed - FAILED with FI_EPROTO: the peer sent @what, for the log. */
void shm_conn_malformed(struct shm_conn *conn, const char *what);

/* shm_conn_close - end it without a report.  Payload that was promised to the engine is
 * reported as lost, packets that the peer has not read get done(-@err); packets that
 * wait in the channel stay there.  The memory is valid until the end of the poll.
 * Threading: from poll(), close() and peer_put() only.
 */
void shm_conn_close(struct shm_conn *conn, int err);
void shm_conn_free(struct shm_conn *conn);

/* shm_conn_peer_closed - the peer has closed the socket: the next polls take what is left
 * in the ring, then report the loss.
 */
void shm_conn_peer_closed(struct shm_conn *conn);

/* shm_conn_check - has the peer closed the socket?  Looks once per tick of the clock, and not where the
 * poller has heard of no end within SHM_HEARD_MS.
 * Never calls up.
 */
void shm_conn_check(struct shm_conn *conn);

/* shm_conn_can_write - may the peer's memory be written now?  The id of a process that has
 * ended may be reused for another one, but not within a few milliseconds.
 */
bool shm_conn_can_write(struct shm_conn *conn);

/* shm_socket_ended - has the other side closed the socket @fd?  -1: no.  A system call. */
bool shm_socket_ended(int fd);

/* shm_conn_ended - has the peer closed the socket?  A system call. */
bool shm_conn_ended(const struct shm_conn *conn);

/* shm_conn_wait - the connection closes, and the peer still accesses this process's memory: let
 * others run, then return true, so that the caller looks again.  False: for obj_lease_patience_ns it
 * has not ended, which is logged.  All waits of a connection share one limit, and all connections of a
 * link that closes.
 */
bool shm_conn_wait(struct shm_conn *conn);

/* shm_conn_wake - wake the peer, which sleeps. */
void shm_conn_wake(struct shm_conn *conn);

/* ---- sending (tx.c) ---------------------------------------------------------------- */

/* shm_tx_send - eng_link_ops.send for a READY connection.  Never calls up. */
int shm_tx_send(struct shm_conn *conn, struct eng_pkt *pkt);

/* shm_tx_slot, shm_tx_post - eng_link_ops.slot and post. */
void *shm_tx_slot(void *chan, size_t len);
int shm_tx_post(void *chan, size_t hdr_len, size_t len);

/* shm_tx_pump - send what waits, as far as there is room; calls done().  From poll() only. */
int shm_tx_pump(struct shm_conn *conn);

/* shm_tx_send_done - send rx.done_ids, as far as there is room.  No upcall. */
void shm_tx_send_done(struct shm_conn *conn);

/* shm_tx_on_done - the peer has read the payload of the PULL @id.  False: there is none. */
bool shm_tx_on_done(struct shm_conn *conn, uint32_t id);

/* shm_tx_find - the packet that the PULL @id named, or NULL: there is none. */
struct eng_pkt *shm_tx_find(const struct shm_conn *conn, uint32_t id);

/* shm_tx_flush - the endpoint closes: ask the peer to read what PULLs named. */
void shm_tx_flush(struct shm_conn *conn);

/* shm_tx_drop - done(-@err) for what the peer has not read; after shm_tenant_leave(), which marks the segment: the peer
 * discards what it reads from then on.
 */
void shm_tx_drop(struct shm_conn *conn, int err);

/* shm_tx_may_share - may a SHARE be sent?  Not if there is no room, or the receiver has not taken the one
 * before, so that it does other things.
 * @taken: it has, even if its counters do not say so yet
 */
bool shm_tx_may_share(struct shm_conn *conn, bool taken);

/* shm_tx_share - send a SHARE, which nothing waits for. */
void shm_tx_share(struct shm_conn *conn);

/* shm_tx_blocked - does sending wait for the peer to take slots? */
bool shm_tx_blocked(struct shm_conn *conn);

/* ---- receiving (rx.c) --------------------------------------------------------------- */

/* shm_rx_one - the fast path: take the next slot, if it holds a whole short message that a
 * posted receive matches, and conn->fast.  Below ENG_FAST_DONE nothing has been done,
 * shm_rx_poll() takes the slot and sets conn->fast for the next one.  From poll() only.
 */
enum eng_fast shm_rx_one(struct shm_conn *conn);

/* shm_rx_poll - take at most @budget slots.  Returns how many.  From poll() only.
 * @unexpected: take a message that no posted receive matches, too, as the last one
 */
int shm_rx_poll(struct shm_conn *conn, unsigned budget, bool unexpected);

/* shm_rx_take_early - unexpected payload that has stayed in the memory of its sender for @polls polls, and is
 * shorter than SHM_EARLY_MAX, moves here.  From poll() and before the poller sleeps only.
 */
void shm_rx_take_early(struct shm_poller *poller, unsigned polls);

/* shm_rx_drop - the connection closes: all payload that has not arrived is lost. */
void shm_rx_drop(struct shm_conn *conn, int err);

/* shm_rx_unplace - eng_link_held.unplace. */
bool shm_rx_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie);

/* shm_rx_hold - eng_link_held.hold. */
void *shm_rx_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx);

/* ---- peers that take nothing (memory/unread.c) ---------------------------------------------- */

/* shm_unread_begin - slots were sent to @conn that the peer may not have taken by @now, clock_coarse_ns(): the next
 * looks watch whether it does.
 * shm_unread_end - @conn closes.
 */
void shm_unread_begin(struct shm_conn *conn, uint64_t now);
void shm_unread_end(struct shm_conn *conn);

static inline void shm_unread_mark(struct shm_conn *conn, uint64_t now)
{
	if (conn->out.pos != conn->out.seen_pos)
		shm_unread_begin(conn, now);
}

/* shm_unread_check - poller->unread_due_ns has passed: name peers that have taken nothing for CHAN_STALL_NS. */
void shm_unread_check(struct shm_poller *poller, uint64_t now);

#endif
