/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - one TCP connection: its socket, its greeting, its two streams.
 *
 * A connection knows frames and who owns it.  Who may talk to whom is decided by
 * its struct tcp_wireup: rdm.c for RDM endpoints, cm.c for connected
 * ones and for listeners.
 *
 * Life:  dial  -> DIALING -> GREETING -> READY -> FAILED -> CLOSED
 *        accept -> ASKED -> READY, or -> HELD -> READY, or -> LEAVING -> CLOSED
 *        READY -> LEAVING when the engine forgets the peer
 *
 * Threading: under the lock of the group of conn->poller, except that a HELD
 * connection belongs to whoever holds the request.
 */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "base/net_addr.h"
#include "hello.h"
#include "poll.h"

struct tcp_chan;
struct tcp_link;

enum tcp_conn_state {
	TCP_CONN_DIALING,	/* ours: connect() is under way */
	TCP_CONN_GREETING,	/* ours: HELLO sent, no answer yet */
	TCP_CONN_ASKED,		/* theirs: HELLO not complete */
	TCP_CONN_HELD,		/* theirs: announced, the application decides */
	TCP_CONN_READY,		/* frames flow */
	TCP_CONN_LEAVING,	/* nothing more to say: waiting for the other side to hang up */
	TCP_CONN_FAILED,	/* lost; the next poll reports it */
	TCP_CONN_CLOSED,	/* no socket any more; memory goes when no event can name it */
};

/* What becomes of a connection; calls come from poll(), and may close @conn. */
struct tcp_wireup {
	enum tcp_wire_kind kind;
	/* A whole HELLO is here: answer with tcp_conn_welcome() or tcp_conn_refuse(). */
	void (*hello)(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);
	/* Our HELLO was welcomed; the connection is READY. */
	void (*welcome)(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);
	/* Our HELLO was refused; must close @conn. */
	void (*refused)(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);
	/* Lost in state conn->was for the reason conn->err; must close @conn. */
	void (*lost)(struct tcp_conn *conn);
};

/* Both greetings; exists from the beginning until READY. */
struct tcp_greet {
	size_t have;				/* bytes in @in */
	uint8_t in[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
	size_t out_len;
	uint8_t out[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
};

enum tcp_body {
	TCP_BODY_NONE,		/* between packets */
	TCP_BODY_PLACE,		/* payload goes into iov */
	TCP_BODY_SKIP,		/* nobody wants the rest */
	TCP_BODY_OTHERS,	/* our part is here, those of other lanes are not */
};

struct tcp_rx {
	enum tcp_body body;
	uint64_t left;			/* payload bytes still to come */
	struct iovec iov[ENG_IOV_MAX];	/* where they go: entries cur..cnt, trimmed as they fill */
	size_t iov_cur, iov_cnt;
	void *cookie;			/* for eng_on_placed(); NULL with @hold or nobody */
	struct chan_hold *hold;		/* filled by this payload */
	bool big;			/* last packet was long: read little ahead */
	bool quiet;			/* what comes is not wanted yet: not asked for */
	uint8_t *kept;			/* buffer with packets that the engine refused for now */
	size_t kept_pos, kept_end;
	size_t stash_len;
	uint8_t stash[TCP_FRAME_SIZE + ENG_HDR_MAX];	/* beginning of a header */
};

struct tcp_tx {
	struct list dirty_node;		/* on poller->base.dirty */
	uint64_t seq;			/* poll in which the last packet was sent */
	uint8_t *stage;			/* small packets not sent yet; NULL: none */
	size_t stage_pos, stage_end;
	bool blocked;			/* socket is full, EPOLLOUT is awaited */
	bool shut;			/* end the stream after what is queued */
};

/* The connections to one peer, where several are agreed; see lane.c. */
struct tcp_lanes {
	unsigned cnt;			/* agreed */
	bool called;			/* those beyond the first: it was tried */
	struct tcp_conn *conn[TCP_LANES_MAX];	/* [0]: the first, which owns this; NULL: not there */
	unsigned rx_parts;		/* parts of the payload coming in that are not complete */
	const struct eng_pkt *tx_pkt;	/* going out in parts; NULL: none */
	size_t tx_sent[TCP_LANES_MAX];	/* of its parts, beyond the first */
};

struct tcp_conn {
	struct tcp_src src;		/* first */
	enum tcp_conn_state state;
	enum tcp_conn_state was;	/* FAILED: state before */
	int err;			/* FAILED: positive FI_E* */
	bool ours;			/* we called */
	bool patient;			/* GREETING: the peer takes its time, and has it */
	bool clean_end;			/* FAILED: the peer closed between two packets */
	bool hot;			/* on poller->hot: read directly */
	bool detached;			/* hot for long: not in the set, until somebody sleeps */
	uint16_t streak;		/* hot: polls since somebody slept */
	const struct tcp_wireup *wireup;
	struct tcp_poller *poller;
	struct tcp_link *link;		/* endpoint or listener */
	struct tcp_chan *chan;		/* NULL until the peer is known, and in lanes beyond the first */
	struct tcp_lanes *lanes;	/* of the first one; NULL: it is the only one */
	struct tcp_conn *first;		/* lane beyond the first: the one that it helps; else NULL */
	struct list node;		/* on link->conns */
	struct list state_node;		/* on poller->base.failed, paused or dead */
	struct timer timer;		/* greeting must end, or takes long; LEAVING must end */
	uint64_t since_ns;		/* when it was made */
	struct tcp_greet *greet;
	uint64_t serial;		/* of the call, in the caller's count */
	uint64_t max_payload;		/* that the peer may send us */
	uint64_t used_seq;		/* poll that last found input; see park.c */
	uint64_t asked_ns;		/* when the peer last said STAY */
	struct list guard_node;		/* on poller->guarded, or on none */
	uint64_t mute_ns;		/* guarded: since when the other side answers nothing; 0: it does */
	struct list park_node;		/* on poller->parkable: READY, and both know how */
	union net_sa peer;		/* for log lines */
	struct tcp_tx tx;
	struct tcp_rx rx;
};

/* ---- life (conn.c) ---------------------------------------------------- */

/* tcp_conn_new - a connection around a socket, in the set of no poller yet.
 * Ownership: on 0 the connection owns @fd; it is on link->conns until closed.
 * Errors: -FI_ENOMEM; the caller keeps @fd.
 */
int tcp_conn_new(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		 enum tcp_conn_state state, struct tcp_conn **conn_p);

/* tcp_conn_set_state - the only place where the state changes. */
void tcp_conn_set_state(struct tcp_conn *conn, enum tcp_conn_state state);

/* tcp_conn_fail - the connection is lost; reported by the next poll, so this may
 * be called anywhere.
 * @err: positive errno; @clean: the peer closed between two packets
 */
void tcp_conn_fail(struct tcp_conn *conn, int err, bool clean);

/* tcp_conn_close - end it without a report.  Payload that was promised to the
 * engine is reported as lost (eng_on_placed); packets in the channel's queue stay.
 * The memory stays valid until the end of the poll.
 * Threading: from poll() or close() only.
 */
void tcp_conn_close(struct tcp_conn *conn);

/* tcp_conn_free - free what tcp_conn_close() left.  The poller does it. */
void tcp_conn_free(struct tcp_conn *conn);

/* tcp_conn_detach, tcp_conn_attach - leave a link and its group, and belong to
 * another: for a HELD connection, which an endpoint elsewhere may accept.
 * Errors: -FI_ENOMEM, the connection is closed then.
 */
int tcp_conn_attach(struct tcp_conn *conn, struct tcp_link *link);
void tcp_conn_detach(struct tcp_conn *conn);

/* tcp_conn_watch - ask the set for what a READY connection waits for: input unless
 * it is paused or read directly, room for output if the socket is full.
 */
int tcp_conn_watch(struct tcp_conn *conn);

/* ---- greeting (greet.c) ------------------------------------------------ */

/* tcp_conn_dial - call @addr.
 *
 * @hello: type, kind, serial, prev; epoch, address and limits are filled in
 * @data:  private data, hello->data_len bytes
 * @conn_p: [out] connection with everything under way; conn->chan is @chan
 *
 * Errors: the negative errno of the call that failed; nothing is left then.
 */
int tcp_conn_dial(struct tcp_link *link, const struct tcp_wireup *wireup,
		  struct tcp_chan *chan, const struct sockaddr *addr,
		  const struct tcp_hello *hello, const void *data, struct tcp_conn **conn_p);

/* tcp_conn_answer - await the HELLO of an accepted socket.
 * Ownership: takes @fd, also on error.
 */
int tcp_conn_answer(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		    const struct sockaddr *from);

/* tcp_conn_welcome - send WELCOME with private data; READY on 0.
 * @features: TCP_WIRE_RESUMES or 0
 * Errors: negative errno; the state is unchanged.
 */
int tcp_conn_welcome(struct tcp_conn *conn, uint64_t serial, uint8_t features, const void *data,
		     size_t len);

/* tcp_conn_refuse - send REFUSE, then let the other side hang up.
 * @data: NULL: the library's text for @reason
 */
void tcp_conn_refuse(struct tcp_conn *conn, uint32_t reason, const void *data, size_t len);

/* tcp_conn_leave - all is said: end our stream, and wait for the other side to end
 * its own, so that no reset can overtake our last words.  The connection then
 * closes by itself.
 */
void tcp_conn_leave(struct tcp_conn *conn);

/* tcp_conn_part - the engine forgets the peer of a READY or FAILED connection: what
 * is staged leaves if it can, what was promised is reported as cancelled.
 */
void tcp_conn_part(struct tcp_conn *conn);

/* tcp_conn_ended - has the other side hung up?  What it sent before may be unread. */
bool tcp_conn_ended(const struct tcp_conn *conn);

/* tcp_conn_greet_event - a socket event before READY or while LEAVING. */
void tcp_conn_greet_event(struct tcp_conn *conn, uint32_t events);

/* tcp_conn_greet_late - conn->timer is due before READY or while LEAVING. */
void tcp_conn_greet_late(struct tcp_conn *conn);

/* ---- sending (tx.c) ---------------------------------------------------- */

/* tcp_tx_send - eng_link_ops.send for a READY connection.
 * Never calls up.  Returns as ops->send does.
 */
int tcp_tx_send(struct tcp_conn *conn, struct eng_pkt *pkt);

/* The link's slot and post.  A slot is behind what is staged, or where a packet that
 * stands alone is put together.
 */
void *tcp_tx_slot(void *chan, size_t len);
int tcp_tx_post(void *chan, size_t hdr_len, size_t len);

/* tcp_tx_queue - send() of a channel without a connection.  Returns as chan_queue() does. */
int tcp_tx_queue(struct tcp_chan *chan, struct eng_pkt *pkt);

/* tcp_tx_word - send a word to the peer's link, behind what is staged.  False: there is
 * no memory just now.
 */
bool tcp_tx_word(struct tcp_conn *conn, enum tcp_wire_word word);

/* tcp_tx_flush - send what is staged.  Never calls up. */
void tcp_tx_flush(struct tcp_conn *conn);

/* tcp_tx_pump - send what is staged and queued, as far as the socket takes it;
 * calls done().  From poll() and close() only.
 */
void tcp_tx_pump(struct tcp_conn *conn);

/* tcp_tx_idle - nothing waits in user space. */
bool tcp_tx_idle(const struct tcp_conn *conn);

/* tcp_tx_drop - forget staged bytes. */
void tcp_tx_drop(struct tcp_conn *conn);

/* ---- several connections to one peer (lane.c) ---------------------------- */

/* tcp_lane_agree - @conn, READY and with a channel, may have as many lanes as @theirs,
 * from the greeting of its peer, and FI_TCP_LANES say.
 */
void tcp_lane_agree(struct tcp_conn *conn, uint8_t theirs);

/* tcp_lane_call - there is a long packet, in whichever direction: call for the other
 * lanes if that is ours to do.  Never calls up.
 */
void tcp_lane_call(struct tcp_conn *conn);

/* tcp_lane_join - @conn, ASKED, wants to be a lane of @chan's connection: welcome or
 * refuse it.
 */
void tcp_lane_join(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello);

/* tcp_lane_all - are all lanes of @conn there, or, as far as we know, on the way?
 * @state: READY: packets may go out over them; GREETING: the peer may believe so
 */
bool tcp_lane_all(const struct tcp_conn *conn, enum tcp_conn_state state);

/* tcp_lane_event - a socket event of a READY lane beyond the first. */
void tcp_lane_event(struct tcp_conn *conn, uint32_t events);

/* tcp_lane_end - @conn is about to end: so do its lanes, by @end; or it is one, and
 * leaves the others.
 */
void tcp_lane_end(struct tcp_conn *conn, void (*end)(struct tcp_conn *));

/* ---- silence (guard.c) -------------------------------------------------- */

/* tcp_guard_add - something was sent: see whether it is acknowledged in time.  Once,
 * until tcp_guard_look() finds that it is.
 */
void tcp_guard_add(struct tcp_conn *conn);

static inline void tcp_guard_sent(struct tcp_conn *conn)
{
	if (__builtin_expect(list_empty(&conn->guard_node), 0))
		tcp_guard_add(conn);
}

/* tcp_guard_look - fail those whose other side has been mute for too long
 * (FI_TCP_USER_TIMEOUT).
 */
void tcp_guard_look(struct tcp_poller *poller, uint64_t now);

/* ---- receiving (rx.c) -------------------------------------------------- */

/* tcp_rx_read - read and hand up at most about @budget reads' worth.
 * Returns how many reads brought something; 0 when nothing was there.
 * From poll() only.
 */
int tcp_rx_read(struct tcp_conn *conn, unsigned budget);

/* tcp_rx_resume - offer a packet that the engine refused once more. */
int tcp_rx_resume(struct tcp_conn *conn);

/* tcp_rx_drop - the stream has ended in the middle: report what was promised. */
void tcp_rx_drop(struct tcp_conn *conn, int err);

/* The link's hold. */
void *tcp_rx_hold(struct tcp_poller *poller, const struct eng_rx *rx);

#endif
