/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - one TCP connection: its socket, its handshake, its two byte streams.
 *
 * conn.c owns it: makes it, changes its state, ends it, frees it, and calls none of the other files here.
 * What they find wrong with it they record (tcp_conn_fail()); the poller alone acts on that, at the end
 * of a poll, by the connection's struct tcp_wireup.  That also decides what happens when the handshake
 * completes or is refused: connect.c for RDM endpoints, cm.c for MSG endpoints and passive ones, check.c,
 * lane.c for lanes.  What has a part in the connection and must know of its end is on conn->ends.
 *
 * conn->src.event, the handler of socket events, follows the state: handshake.c has that of the
 * handshake, poll.c that of a READY connection, lane.c that of a READY lane, conn.c that of CLOSING.
 *
 * States:  connect -> CONNECTING -> HELLO_SENT -> READY -> FAILED -> CLOSED
 *          accept  -> HALF_OPEN -> READY, or -> REQUESTED -> READY, or -> CLOSING -> CLOSED
 *          READY   -> CLOSING when the engine forgets the peer
 *
 * Threading: under the lock of the progress group of conn->poller.  A REQUESTED connection
 * has no poller: it belongs to the holder of the connection request.
 */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "base/net_addr.h"
#include "net/rail.h"
#include "channel/hold.h"
#include "channel/park.h"
#include "channel/path.h"
#include "foreign/xnet/rdm.h"
#include "stream.h"
#include "hello.h"
#include "poll.h"
#include "recover.h"
#include "secure.h"

struct tcp_chan;
struct tcp_link;

enum tcp_conn_state {
	TCP_CONN_CONNECTING,	/* we connect: connect() is in progress */
	TCP_CONN_HELLO_SENT,	/* we connect: HELLO is sent, no answer yet */
	TCP_CONN_HALF_OPEN,		/* accepted: the peer's HELLO is incomplete */
	TCP_CONN_REQUESTED,		/* accepted: FI_CONNREQ is reported, the program decides */
	TCP_CONN_READY,		/* frames are sent and received */
	TCP_CONN_CLOSING,	/* our stream is ended: waiting for the peer to end its own */
	TCP_CONN_FAILED,	/* lost; the next poll reports it */
	TCP_CONN_CLOSED,	/* no socket; freed once no fetched event can name it */
};

/* The outcomes of a handshake and of a connection.  Called from poll(); may close @conn. */
struct tcp_wireup {
	/* The peer's HELLO is complete: answer with tcp_conn_welcome() or tcp_conn_refuse(). */
	void (*hello)(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);
	/* The peer has answered our HELLO with WELCOME; the connection is READY: set the handler of its
	 * events.
	 */
	void (*welcome)(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);
	/* The peer has answered our HELLO with REFUSE; must close @conn. */
	void (*refused)(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data);
	/* Lost in state conn->was for the reason conn->err; must close @conn. */
	void (*lost)(struct tcp_conn *conn);
	bool impatient;		/* the answer to our packet has a timeout, too */
};

/* The handshake packets of both directions; allocated until the connection is READY. */
struct tcp_handshake {
	struct xnet_rdm rdm;			/* of the peer, in the common form */
	size_t have;				/* bytes in @in */
	uint8_t in[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
	size_t out_len;
	uint8_t out[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
};

enum tcp_body {
	TCP_BODY_NONE,		/* between packets */
	TCP_BODY_PLACE,		/* payload goes into iov */
	TCP_BODY_SKIP,		/* the rest is read and dropped */
	TCP_BODY_OTHERS,	/* this lane's part is complete, those of other lanes are not */
};

struct tcp_rx {
	enum tcp_body body;
	uint64_t left;			/* payload bytes not received yet */
	struct iovec iov[ENG_IOV_MAX];	/* their destination: entries cur..cnt, trimmed as they fill */
	size_t iov_cur, iov_cnt;
	struct chan_sink sink;		/* what the payload is for */
	bool big;			/* the last packet was long: read little ahead */
	bool fault;			/* of the first lane: the destination cannot be written */
	bool masked;			/* input has no destination yet: TCP_CONN_IN is not asked for */
	uint64_t left_seq;		/* last poll that left the unexpected payload in the socket, */
	uint64_t left_pulled;		/* poller->base.pulled at that time, */
	unsigned left_cnt;		/* and how many polls did */
	uint8_t *kept;			/* buffer with packets that the engine answered with ENG_RX_LATER */
	size_t kept_pos, kept_end;
	size_t stash_len;
	uint8_t stash[TCP_FRAME_SIZE + ENG_HDR_MAX];	/* beginning of an incomplete header */
};

struct tcp_tx {
	struct list dirty_node;		/* on poller->base.dirty */
	uint64_t seq;			/* poller->base.seq when the last packet was sent */
	uint8_t *stage;			/* staged: small packets not sent yet; NULL: none */
	size_t stage_pos, stage_end;
	size_t stage_head;		/* bytes in front of them, for the header of a record (recover.h) */
	bool blocked;			/* the socket is full: wait for POLLOUT */
	bool indirect;			/* blocked, or sealed (secure.h) or kept (recover.h) before it is sent */
	bool shut;			/* shut the stream down after what is queued */
};

/* What else ends with a connection: it puts itself on conn->ends. */
struct tcp_conn_end {
	struct list node;
	/* end - the connection is about to close, or to end its stream.  May be called twice.
	 * @how: tcp_conn_close() or tcp_conn_close_orderly(): for connections that end with this one
	 */
	void (*end)(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *));
	void (*free)(struct tcp_conn_end *end);	/* with the connection */
};

/* The connections to one peer, where several are agreed: paths of the channel; see lane.c.  Owned by the
 * first.
 */
struct tcp_lanes {
	struct chan_paths base;		/* first; each conn is a struct tcp_conn */
	struct tcp_conn_end end;	/* of the first connection */
	struct tcp_conn_end lane_end[TCP_LANES_MAX];	/* of each further one */
	struct timer timer;		/* connect the further lanes */
	bool joined;			/* the timer has its place in the heap */
	bool tried;			/* the further lanes: connecting them was tried */
};
_Static_assert(TCP_LANES_MAX <= CHAN_PATHS_MAX, "each lane is a path");

/* The events of input, the end of which is told apart. */
#define TCP_CONN_IN (POLLIN | POLLRDHUP)

struct tcp_conn {
	struct chan_src src;		/* first */
	enum tcp_conn_state state;
	enum tcp_conn_state was;	/* FAILED: state before */
	int err;			/* FAILED: positive FI_E* */
	bool ours;			/* we connected; else the peer did */
	bool overdue;			/* HELLO_SENT: the answer is late; there is no timeout */
	bool clean_end;			/* FAILED: the peer closed between two packets */
	bool refused;			/* it is, or was, on link->listener.refused */
	bool same_host;			/* as the peer */
	uint8_t acks;			/* events of input since ACKs were last delayed */
	bool peer_ended;		/* the set has reported the end of its stream, or an error */
	bool active;			/* it is poller->active: read without asking the set */
	bool detached;			/* active for long: not in the set until a thread blocks */
	uint16_t streak;		/* active: polls since a thread last blocked */
	const struct tcp_wireup *wireup;
	struct tcp_poller *poller;
	struct tcp_link *link;		/* endpoint or listener */
	struct tcp_chan *chan;		/* NULL until the peer is known, and in further lanes */
	struct tcp_lanes *lanes;	/* of the first lane; NULL: the only connection to the peer */
	struct tcp_conn *first;		/* of a further lane, or a path being made: the first; else NULL */
	struct list node;		/* on link->conns */
	struct list state_node;		/* on poller->base.failed, paused or dead, or listener.refused */
	struct timer timer;		/* limit of the handshake, or of CLOSING */
	uint64_t since_ns;		/* when the connection was opened */
	struct tcp_handshake *handshake;
	struct tcp_stream *stream;	/* of the compatible wire format; NULL: the native one */
	struct tcp_sec *sec;		/* NULL: it is not protected */
	struct tcp_recover *rec;	/* its stream goes over paths (recover.h); NULL: over its own socket */
	struct list ends;		/* struct tcp_conn_end */
	uint64_t serial;		/* of the attempt, counted by the connecting peer */
	uint64_t max_payload;		/* largest payload that the peer may send */
	uint64_t used_seq;		/* poller->base.seq when input was last found */
	struct list unacked_node;	/* on poller->unacked, or on none */
	uint64_t silent_ns;		/* on unacked: since when no ACK has arrived; 0: they do */
	bool silence_logged;		/* with the size of the segments */
	bool stall_logged;		/* a warning was given that the peer takes nothing */
	uint64_t taken;			/* on unacked: bytes that were acknowledged at the last check, */
	uint64_t taken_ns;		/* and when that changed; 0: it was not checked yet */
	struct chan_parkable park;
	union net_sa peer;		/* for log lines */
	struct tcp_tx tx;
	struct tcp_rx rx;
};

/* ---- states (conn.c) --------------------------------------------------- */

/* tcp_conn_new - a connection for the socket @fd, not in the set yet.
 * Ownership: on 0 the connection owns @fd; it is on link->conns until closed.
 * Errors: -FI_ENOMEM; the caller keeps @fd.
 */
int tcp_conn_new(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		 enum tcp_conn_state state, struct tcp_conn **conn_p);

/* tcp_conn_set_state - the only place where the state changes. */
void tcp_conn_set_state(struct tcp_conn *conn, enum tcp_conn_state state);

/* tcp_conn_fail - declare the connection lost.  The next poll reports it, so this may be
 * called anywhere.
 * @err: positive errno; @clean: the peer closed between two packets
 */
void tcp_conn_fail(struct tcp_conn *conn, int err, bool clean);

/* tcp_conn_close - close without a report.  Payload that was promised to the
 * engine is reported as lost (eng_on_placed); packets in the channel's queue stay.
 * The memory stays valid until the end of the poll.
 * Threading: from poll() or close() only.
 */
void tcp_conn_close(struct tcp_conn *conn);

/* tcp_conn_half_close - end our stream and wait for the peer to end its own, so that no
 * reset overtakes the last bytes that were sent.  The connection then closes by itself.
 */
void tcp_conn_half_close(struct tcp_conn *conn);

/* tcp_conn_close_orderly - the engine forgets the peer of a READY or FAILED connection: promised
 * placements are reported as cancelled.  What is staged is lost: tcp_tx_flush() comes before.
 */
void tcp_conn_close_orderly(struct tcp_conn *conn);

/* tcp_conn_peer_closed - has the peer closed?  What it sent before may be unread. */
bool tcp_conn_peer_closed(const struct tcp_conn *conn);

/* tcp_conn_free - free what tcp_conn_close() left.  The poller does it. */
void tcp_conn_free(struct tcp_conn *conn);

/* tcp_conn_detach, tcp_conn_attach - move a REQUESTED connection to another link and
 * progress group: the endpoint that accepts it need not share the listener's.
 * Errors: -FI_ENOMEM, the connection is closed then.
 */
int tcp_conn_attach(struct tcp_conn *conn, struct tcp_link *link);

/* tcp_conn_note_end - note the events of a socket by which a peer ends. */
static inline void tcp_conn_note_end(struct tcp_conn *conn, uint32_t events)
{
	if (events & (POLLRDHUP | POLLHUP | POLLERR))
		conn->peer_ended = true;
}

/* tcp_conn_inactive - no more reads without asking the set; the caller sets what the set is to watch. */
void tcp_conn_inactive(struct tcp_conn *conn);

/* tcp_conn_unstage - release the staging buffer. */
void tcp_conn_unstage(struct tcp_conn *conn);

/* tcp_conn_set_class - the traffic class of the link's endpoint, on a socket of its own. */
void tcp_conn_set_class(const struct tcp_link *link, int fd);
void tcp_conn_detach(struct tcp_conn *conn);

/* tcp_conn_ack_every_ns - time between two checks that what was sent is acknowledged; 0: there are none. */
uint64_t tcp_conn_ack_every_ns(const struct tcp_conf *conf);

/* tcp_conn_sent - bytes were sent: tcp_unacked_check() finds out whether they are acknowledged. */
void tcp_conn_await_ack(struct tcp_conn *conn);

static inline void tcp_conn_sent(struct tcp_conn *conn)
{
	if (__builtin_expect(list_empty(&conn->unacked_node), 0))
		tcp_conn_await_ack(conn);
}

/* tcp_conn_watch - ask the set for what a READY connection waits for: input unless
 * it is paused, masked or detached; room for output if the socket is full.
 */
int tcp_conn_watch(struct tcp_conn *conn);

/* ---- several connections to one peer ----------------------------------------- */

/* tcp_conn_first - the first lane of @conn, which may be that itself. */
static inline struct tcp_conn *tcp_conn_first(struct tcp_conn *conn)
{
	return conn->first ? conn->first : conn;
}

/* tcp_lanes_want - a long payload is sent or received: the next poll connects the further lanes of @conn,
 * if this side made the first connection.
 */
static inline void tcp_lanes_want(struct tcp_conn *conn)
{
	struct tcp_lanes *lanes = conn->lanes;

	if (conn->ours && !lanes->tried && !lanes->timer.at)
		chan_poller_timer(&conn->poller->base, &lanes->timer, 0);
}

/* tcp_lane - the connection of lane @i; NULL: none. */
static inline struct tcp_conn *tcp_lane(const struct tcp_lanes *lanes, unsigned i)
{
	return lanes->base.path[i].conn;
}

/* tcp_lanes_are - are all lanes of @conn READY, or at least in @state?
 * @state: READY: packets may be striped over them; HELLO_SENT: the peer may regard them as
 *         READY already, since its WELCOME may be in flight
 */
bool tcp_lanes_are(const struct tcp_conn *conn, enum tcp_conn_state state);

/* ---- handshake (handshake.c) ------------------------------------------- */

/* tcp_conn_connect - connect to @addr and send HELLO.
 *
 * @from:  the interface; NULL: by the endpoint's address
 * @hello: type, kind, serial, prev; epoch, address and limits are filled in
 * @data:  private data, hello->data_len bytes
 * @conn_p: [out] connection in CONNECTING; conn->chan is @chan
 *
 * Errors: the negative errno of the system call that failed; nothing is left then.
 */
int tcp_conn_connect(struct tcp_link *link, const struct tcp_wireup *wireup,
		  struct tcp_chan *chan, const struct net_rail *from, const struct sockaddr *addr,
		  const struct tcp_hello *hello, const void *data, struct tcp_conn **conn_p);

/* tcp_conn_accept - wait for the HELLO on an accepted socket.
 * Ownership: takes @fd, also on error.
 */
int tcp_conn_accept(struct tcp_link *link, const struct tcp_wireup *wireup, int fd,
		    const struct sockaddr *from);

/* tcp_conn_welcome - send WELCOME with private data; READY on 0.
 * @features: TCP_WIRE_RESUMES or 0
 * Errors: negative errno; the state is unchanged.
 */
int tcp_conn_welcome(struct tcp_conn *conn, uint64_t serial, uint8_t features, const void *data,
		     size_t len);

/* tcp_conn_refuse - send REFUSE, then wait for the peer to close.
 * @data: private data of a program; NULL: the library's text for @reason
 */
void tcp_conn_refuse(struct tcp_conn *conn, uint32_t reason, const void *data, size_t len);

/* tcp_conn_data_fits - may an answer on @conn have @len bytes of private data?  Logged where that is
 * less than FI_OPT_CM_DATA_SIZE says.
 */
bool tcp_conn_data_fits(const struct tcp_conn *conn, size_t len);

/* ---- socket events of a READY connection (poll.c) --------------------------- */

/* tcp_event - conn->src.event of a connection that carries a channel. */
void tcp_event(struct chan_src *src, uint32_t events);

/* ---- sending (tx.c) ---------------------------------------------------- */

/* tcp_tx_check - before a packet is sent: is the connection READY, and has the peer not closed?
 * Returns 0, or what ops->send returns instead of sending.
 */
int tcp_tx_check(struct tcp_conn *conn);

/* tcp_tx_send - eng_link_ops.send for a READY connection in the native format.
 * Never calls up.  Returns as ops->send does.
 */
int tcp_tx_send(struct tcp_conn *conn, struct eng_pkt *pkt);

/* tcp_tx_framed - the same for a packet of which hdr_len bytes of frame header lie from
 * link_priv + TCP_FRAME_SIZE on, and TCP_FRAME_SIZE before them.
 */
int tcp_tx_framed(struct tcp_conn *conn, struct eng_pkt *pkt);

/* tcp_tx_slot, tcp_tx_post - the slot and post of eng_link_ops.  A slot lies behind what is
 * staged, or in the buffer of a packet that is sent at once.
 */
void *tcp_tx_slot(void *chan, size_t len);
int tcp_tx_post(void *chan, size_t hdr_len, size_t len);

/* tcp_tx_queue - send() of a channel without a connection.  Returns as chan_queue() does. */
int tcp_tx_queue(struct tcp_chan *chan, struct eng_pkt *pkt);

/* tcp_tx_ctl - send a control frame to the peer's link, behind what is staged.
 * Returns false when there is no memory.
 */
bool tcp_tx_ctl(struct tcp_conn *conn, enum tcp_wire_ctl ctl);

/* tcp_tx_flush - send what is staged.  Never calls up. */
void tcp_tx_flush(struct tcp_conn *conn);

/* tcp_tx_pump - send what is staged and queued, as far as the socket takes it;
 * calls done().  From poll() and close() only.
 */
void tcp_tx_pump(struct tcp_conn *conn);

/* tcp_tx_pump_lane - the socket of a further lane takes bytes: those that were sealed and are kept. */
void tcp_tx_pump_lane(struct tcp_conn *lane);

/* tcp_tx_idle - nothing waits in user space. */
bool tcp_tx_idle(const struct tcp_conn *conn);

/* ---- several connections to one peer (lane.c) ---------------------------- */

/* tcp_lane_agree - @conn, READY and with a channel, may have as many lanes as the lower of
 * @theirs, from the peer's handshake, and FI_TCP_LANES.
 */
void tcp_lane_agree(struct tcp_conn *conn, uint8_t theirs);

/* tcp_lane_join - @conn, HALF_OPEN, requests to be a further lane of @chan's connection:
 * accept or refuse it.
 */
void tcp_lane_join(struct tcp_conn *conn, struct tcp_chan *chan, const struct tcp_hello *hello);

/* ---- peers that do not acknowledge (unacked.c) ---------------------------- */

/* tcp_unacked_check - declare those lost whose peer has acknowledged nothing for
 * FI_TCP_USER_TIMEOUT.
 */
void tcp_unacked_check(struct tcp_poller *poller, uint64_t now);

/* ---- reading (read.c) --------------------------------------------------- */

/* tcp_rx_read - make at most @budget reads and hand their packets to the engine.
 * Returns the number of reads that brought input.
 * From poll() only.
 */
int tcp_rx_read(struct tcp_conn *conn, unsigned budget);

/* tcp_rx_packets - of a connection that recovers, between two packets: the next bytes of its stream are in poller->rx, from
 * @pos to @end.  What the engine does not take stays in that buffer, and is poller->rest or conn->rx.kept.
 */
void tcp_rx_packets(struct tcp_conn *conn, size_t pos, size_t end);

/* tcp_rx_place - of a connection that recovers, in a payload: where its next bytes go.  Returns the number of entries; 0:
 * it is between two packets, or the bytes have no destination, or others are to be handed on before.
 * tcp_rx_placed - the next @len bytes of the stream have arrived there.
 */
size_t tcp_rx_place(struct tcp_conn *conn, struct iovec iov[ENG_IOV_MAX]);
void tcp_rx_placed(struct tcp_conn *conn, size_t len);

/* tcp_rx_resume - offer a packet that the engine answered with ENG_RX_LATER again. */
int tcp_rx_resume(struct tcp_conn *conn);

/* tcp_rx_rest - continue with poller->rest, which may become it again. */
void tcp_rx_rest(struct tcp_poller *poller);

/* tcp_conn_pause - tcp_rx_resume() goes on with it.  It may be paused already: what is sealed is read meanwhile. */
static inline void tcp_conn_pause(struct tcp_conn *conn)
{
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &conn->poller->base.paused);
}

/* tcp_rx_rest_end - poller->rest has no packets left. */
static inline void tcp_rx_rest_end(struct tcp_poller *poller)
{
	poller->rest = NULL;
	poller->rx_slow = poller->protects;
}

/* tcp_rx_alloc - memory for poller->rx. */
uint8_t *tcp_rx_alloc(const struct tcp_poller *poller);

/* ---- receiving, in either format (rx.c) --------------------------------- */

#define TCP_RX_LONG 16384	/* payload above: little is read ahead, because it would be copied */

/* tcp_rx_striped - does @conn, whichever lane, read a part of a striped payload? */
static inline bool tcp_rx_striped(struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = tcp_conn_first(conn)->lanes;

	return __builtin_expect(lanes != NULL, 0) && lanes->base.rx_parts;
}

/* tcp_rx_offer - offer @rx to the engine, and begin with its payload, of which rx->avail bytes are
 * here.
 * @mine: bytes of the payload that arrive over this connection: all, unless it is striped
 * False: conn->state is READY and it is to be offered again, or the connection is lost.
 */
bool tcp_rx_offer(struct tcp_conn *conn, struct eng_rx *rx, size_t mine);

/* tcp_rx_keep - offer what lies in @buf from @pos to @end again in a later poll: the engine has no memory
 * for it.  Nothing is read meanwhile, which closes the sender's window.  Or the packet before is striped
 * and incomplete.
 */
void tcp_rx_keep(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end);

/* tcp_rx_wait - read nothing, and keep what is in @buf, until tcp_rx_go_on(). */
void tcp_rx_wait(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end);
void tcp_rx_go_on(struct tcp_conn *conn);

/* tcp_rx_advance - @len further bytes of payload are in place.
 * tcp_rx_part_end - the part of the payload that arrives over @conn is complete.
 */
void tcp_rx_advance(struct tcp_rx *rx, size_t len);
void tcp_rx_part_end(struct tcp_conn *conn);

/* tcp_rx_skip - the next @len bytes are dropped.
 * tcp_rx_skipped - as many of them as are among the next @have bytes.
 */
void tcp_rx_skip(struct tcp_conn *conn, uint64_t len);
size_t tcp_rx_skipped(struct tcp_conn *conn, size_t have);

/* tcp_rx_refuse - the peer has sent @what: the connection is lost. */
void tcp_rx_refuse(struct tcp_conn *conn, const char *what);

/* tcp_rx_unplace - eng_link_held.unplace. */
bool tcp_rx_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie);

/* tcp_rx_hold - eng_link_held.hold. */
void *tcp_rx_hold(struct tcp_poller *poller, const struct eng_rx *rx);

#endif
