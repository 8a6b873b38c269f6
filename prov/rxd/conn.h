/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - links, connections, and the poller that drives them.
 *
 * Threading: everything under the lock of the progress group.
 */
#ifndef RXD_H
#define RXD_H

#include <stdbool.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/hmap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/timer.h"
#include "engine/api.h"
#include "obj/prog.h"

#include "rxd/recovery/cc.h"
#include "conf.h"
#include "cookie.h"
#include "dg.h"
#include "rxd/recovery/ecn.h"
#include "rxd/recovery/loss.h"
#include "rxd/recovery/mtu.h"
#include "rxd/recovery/ranges.h"
#include "rxd/recovery/rtt.h"
#include "wire.h"

struct rxd_conn;
struct rxd_hold;
struct rxd_link;
struct layer;

extern const struct eng_link_ops rxd_link_ops;
extern const struct layer rxd_layer;	/* how it is offered */

#define RXD_CHUNK 4096			/* bytes of small frames kept together */
#define RXD_COPY_MAX 2048		/* frames up to this are copied, and done with at once */
#define RXD_PAYLOAD_MAX (1 << 20)	/* of one engine packet */
#define RXD_ACK_DELAY_NS CLOCK_NS_PER_MS /* how long an acknowledgement may wait for company */
#define RXD_ACK_EVERY 8			/* packets that wait for one, at most */
#define RXD_RETRY_NS CLOCK_NS_PER_MS	/* for memory */
#define RXD_QUANTUM (256u << 10)	/* bytes that a connection sends before others have their turn */

/* ---- the poller --------------------------------------------------------------- */

struct rxd_poller {
	struct obj_poller base;		/* first; its fd is an epoll set of the queues below */
	struct list doms;		/* struct rxd_dom */
	struct list links;
	uint64_t seq;			/* number of this poll; sends compare it to see a burst */
	uint64_t armed_seq;		/* the last before somebody slept */
	uint64_t input_ns;		/* when the datagrams in hand were read; 0: there were none */
	uint64_t app_polls;		/* prog->polls at the last poll */
	bool app_active;		/* the last poll was the application's own */
	unsigned until_look;		/* polls until the queues are looked at though nothing is expected */
	bool polling;			/* inside poll(): what is sent leaves at its end */
	struct list dirty;		/* connections with something to send, in turn */
	struct list failed;		/* connections whose end must be reported */
	struct list paused;		/* connections with a packet that must be offered again */
	struct timers timers;
	struct pool chunks;		/* struct rxd_item with RXD_CHUNK bytes */
	struct pool items;		/* struct rxd_item */
	struct pool bodies;		/* struct rxd_body */
	/* A packet that went up at once, and is accounted for before the next is looked at. */
	struct rxd_conn *after;		/* its connection; NULL: there is none */
	struct rxd_pkt after_pkt;	/* flags, length and acknowledgement, without further ranges */
	uint64_t after_ns;		/* when it came */
	uint64_t slot_ns;		/* when memory for a short packet was handed out */
	struct rxd_conn *offering;	/* connection whose packet the engine is looking at */
	struct rxd_hold *held;		/* what it told us to keep */
};

/* rxd_poller_get - the group's, made on first use.  Errors: -FI_ENOMEM, -FI_EMFILE. */
int rxd_poller_get(struct obj_prog *prog, struct rxd_poller **poller_p);

/* rxd_poller_flush - send what waits, each connection in its turn. */
void rxd_poller_flush(struct rxd_poller *poller, uint64_t now);

/* ---- links ---------------------------------------------------------------------- */

struct rxd_link {
	struct eng_link base;		/* first */
	struct list node;		/* on poller->links */
	struct rxd_poller *poller;
	struct rxd_dg *dg;
	enum rxd_kind kind;
	bool listening;			/* a listener takes calls */
	bool closing;			/* nothing goes up any more but done() and eng_on_placed() */
	uint8_t addr[RXD_ADDR_MAX];	/* our name */
	size_t addr_len;
	uint64_t epoch;			/* random, of this endpoint's life */
	uint64_t serial;		/* of our last connection id */
	struct rxd_key key;		/* of our cookies */
	struct hmap by_cid;		/* our id -> struct rxd_conn */
	struct list conns;		/* connections that are not idle */
	struct list moves;		/* struct rxd_move: peers that seem to be elsewhere */
	size_t mean;			/* length of what arrives */
	/* who sends to us, counted by the tenth of a second */
	uint32_t tick;
	unsigned active, active_before;
	struct list asked;		/* a listener's struct rxd_asked, oldest first */
	struct hmap asked_by;		/* the same, by what names them */
	struct timer asked_timer;
};

/* rxd_link_make - for an endpoint or a listener, with its datagram endpoint.
 * Errors: those of rxd_dg_open().
 */
int rxd_link_make(struct obj_prog *prog, const struct fi_info *info, enum rxd_kind kind,
		  struct rxd_link **link_p);

/* rxd_link_free - all connections are closed. */
void rxd_link_free(struct rxd_link *link);

/* rxd_link_input - a datagram is here: the rxd_dg_fn of all links. */
void rxd_link_input(void *link, const uint8_t *buf, size_t len, struct rxd_came came);

/* rxd_link_answer - send a packet without state to an address. */
void rxd_link_answer(struct rxd_link *link, const void *addr, uint8_t *buf, size_t len);

/* ---- connections ------------------------------------------------------------------- */

enum rxd_state {
	RXD_IDLE,		/* none, and none wanted */
	RXD_CALLING,		/* HELLO sent */
	RXD_READY,		/* streams flow */
	RXD_FAILED,		/* lost; the next poll reports it */
};

/* A piece of the stream that we send; kept until it is acknowledged. */
struct rxd_item {
	struct list node;	/* on conn->items, in order */
	uint64_t start;		/* in the stream */
	size_t len;
	struct eng_pkt *pkt;	/* a packet that lies with the engine; NULL: @data */
	uint8_t data[];		/* small frames, copied */
};

/* Payload of an unexpected packet, kept for the engine. */
struct rxd_hold {
	struct rxd_conn *conn;	/* still arriving there; NULL: complete or lost */
	int err;		/* positive: lost */
	size_t len;
	uint8_t data[];
};

/* The engine packet that is arriving. */
struct rxd_body {
	uint64_t start, end;	/* of its payload in the stream */
	struct iovec iov[ENG_IOV_MAX];
	size_t iov_cnt;		/* 0: nobody wants it */
	void *cookie;		/* for eng_on_placed() */
	struct rxd_hold *hold;	/* where it goes, with iov[0] */
	struct rxd_ranges got;	/* pieces beyond conn->rcv_nxt that are in place */
};

/* A piece of the stream that came too early. */
struct rxd_early {
	struct list node;	/* on conn->early, by off */
	uint64_t off;
	size_t len;
	uint8_t data[];
};

/* A call of ours under way. */
struct rxd_call {
	uint64_t since_ns;
	uint64_t sent_ns;	/* the last HELLO */
	unsigned tries;		/* of them in a row without an answer */
	bool unclear;		/* which of them an answer answers */
	struct rxd_cookie cookie;
	uint16_t data_len;
	uint8_t data[RXD_DATA_MAX];
};

/* Is a peer at another address now? */
struct rxd_move {
	struct list node;	/* on link->moves */
	struct rxd_conn *conn;
	uint64_t source;
	uint64_t nonce;		/* who answers with it gets what is sent there */
	uint64_t asked_ns;
};

/* What a link keeps for each peer; zeroed by the engine. */
struct rxd_conn {
	enum rxd_state state : 8;
	bool clean_end : 1;		/* FAILED: the peer closed in good order */
	bool was_call : 1;		/* FAILED while it was CALLING */
	bool confirmed : 1;		/* the peer has our id */
	bool want_shut : 1;		/* the end of our stream comes behind what is queued */
	bool shut : 1;			/* it has its place */
	bool ended : 1;			/* the end of theirs is here */
	bool announce : 1;		/* READY, and the engine is still to be told */
	bool burst_ect : 1;		/* sending: the burst in the making is marked */
	bool is_paused : 1;		/* the engine has no memory for the next packet */
	bool ack_now : 1;		/* an acknowledgement should leave */
	bool was_ce : 1;		/* the last packet came through a long queue */
	int16_t err;			/* FAILED: positive FI_E* */
	uint16_t stash_len;
	uint32_t rcv_renew;		/* until @rcv_nxt, modulo 2^32, is there, no more is to be allowed */
	unsigned burst_cnt;		/* packets sent since the poll before @burst_seq */
	struct rxd_link *link;		/* NULL: never used yet */
	uint64_t cid, peer_cid;
	uint64_t serial;		/* of @cid */
	uint64_t peer_epoch, peer_serial; /* of @peer_cid */
	uint64_t gone_epoch;		/* of an earlier life of the peer */
	fi_addr_t to;			/* where the peer is, below; FI_ADDR_UNSPEC: not known there */
	uint64_t source;		/* what it sends comes from there (rxd_dg_source()); 0: not known yet */
	struct list node;		/* on link->conns */
	struct list dirty_node;		/* on poller->dirty */
	struct list state_node;		/* on poller->failed or paused */
	struct timer timer;
	uint64_t heard_ns;		/* last word of the peer */
	uint64_t owed_ns;		/* since when it owes us one; 0: it does not */
	uint64_t asked_ns;		/* last WELCOME or PROBE */
	uint64_t later_ns;		/* there was no memory to send: try again; 0: there was */
	struct rxd_call *call;		/* CALLING; WELCOME's private data until it is confirmed */

	/* sending */
	struct list pending;		/* struct eng_pkt that have no place in the stream yet */
	struct list items;
	uint64_t una;			/* all before is acknowledged */
	uint64_t nxt;			/* first byte that never left */
	uint64_t end;			/* of what has a place in the stream */
	uint64_t limit;			/* end of what the peer takes */
	struct rxd_ranges acked;	/* beyond una */
	struct rxd_ranges lost;		/* to be sent again */
	struct rxd_loss loss;
	struct rxd_rtt rtt;
	struct rxd_cc cc;
	struct rxd_mtu mtu;
	struct rxd_ecn ecn;
	uint64_t burst_pn;		/* first number of the burst in the making */
	uint64_t burst_seq;		/* poll in which the last packet was sent */

	/* receiving */
	uint64_t rcv_nxt;		/* all before is placed, held or thrown away */
	uint64_t rcv_limit;		/* what we allowed */
	struct rxd_ranges pns;		/* numbers that arrived */
	uint64_t pn_floor;		/* those below are not told apart any more */
	uint64_t largest_ns;		/* when the highest arrived */
	uint64_t ack_since_ns;		/* when the first of @ack_cnt arrived */
	uint32_t tick;			/* when it was last counted as active */
	uint32_t ack_cnt;		/* packets that wait for an acknowledgement */
	uint16_t ect_cnt, ce_cnt;	/* packets by codepoint, as struct rxd_ack has them */
	uint32_t early_bytes;
	uint8_t *stash;			/* beginning of a frame; NULL: none */
	struct rxd_body *body;		/* NULL: between packets */
	struct list early;
};

/* conn.c ---------------------------------------------------------------------------- */

/* rxd_conn_of - the connection behind @peer, prepared on first use. */
struct rxd_conn *rxd_conn_of(struct rxd_link *link, struct eng_peer *peer);

static inline struct eng_peer *rxd_conn_peer(struct rxd_conn *conn)
{
	return eng_peer_of(conn);
}

/* rxd_conn_open - take an id and be CALLING, or READY if the peer's id is known.
 * Errors: -FI_ENOMEM, -FI_EINVAL (address).
 */
int rxd_conn_open(struct rxd_conn *conn, const void *addr);

/* rxd_conn_ready - the peer is known: @hello is its HELLO or WELCOME. */
void rxd_conn_ready(struct rxd_conn *conn, const struct rxd_hello *hello, uint64_t now);

/* rxd_conn_fail - it is lost; reported by the next poll, so that this may be called
 * anywhere.   @err: positive
 */
void rxd_conn_fail(struct rxd_conn *conn, int err, bool clean);

/* rxd_conn_lost - report what rxd_conn_fail() noted.  From poll() only. */
void rxd_conn_lost(struct rxd_conn *conn);

/* rxd_conn_put - the end without a report: everything that waits gets @err.
 * From poll(), close() and peer_put() only.
 */
void rxd_conn_put(struct rxd_conn *conn, int err);

/* rxd_conn_rearm - the timer follows what the connection waits for. */
void rxd_conn_rearm(struct rxd_conn *conn, uint64_t now);

/* rxd_conn_touch - it has something to send: before the poll ends, or at the next. */
void rxd_conn_touch(struct rxd_conn *conn);

/* rxd_conn_text - the peer's address for the log, in @buf of RXD_TEXT bytes. */
#define RXD_TEXT 128
const char *rxd_conn_text(struct rxd_conn *conn, char *buf);
const char *rxd_addr_text(const void *addr, size_t len, char *buf);

/* call.c ------------------------------------------------------------------------------ */

/* rxd_call_start - HELLO to the peer at @addr, with private data. */
int rxd_call_start(struct rxd_conn *conn, const void *addr, const void *data, size_t len);

/* rxd_call_again - time has passed without an answer. */
void rxd_call_again(struct rxd_conn *conn, uint64_t now);
uint64_t rxd_call_due(const struct rxd_conn *conn);

/* rxd_call_welcome - send WELCOME (again). */
void rxd_call_welcome(struct rxd_conn *conn, uint64_t now);

/* rxd_call_probe - ask whether the peer still knows us. */
void rxd_call_probe(struct rxd_conn *conn, uint64_t now);

void rxd_on_hello(struct rxd_link *link, const struct rxd_pkt *pkt, size_t size);
void rxd_on_retry(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_welcome(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_refuse(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_probe(struct rxd_link *link, const struct rxd_pkt *pkt);
void rxd_on_reset(struct rxd_conn *conn, const struct rxd_pkt *pkt);

/* move.c ------------------------------------------------------------------------------ */

/* rxd_on_elsewhere - the newest packet so far came from @source, which is not where the
 * peer is known to be.
 */
void rxd_on_elsewhere(struct rxd_conn *conn, uint64_t source, uint64_t now);

/* rxd_move_of - the question whether the peer has moved; NULL: there is none. */
struct rxd_move *rxd_move_of(const struct rxd_conn *conn);

/* rxd_move_forget - drop that question, if there is one. */
void rxd_move_forget(struct rxd_conn *conn);

void rxd_on_where(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_here(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t source);

/* cm.c ---------------------------------------------------------------------------------- */

/* rxd_cm_hello - a listener is called; the cookie is good. */
void rxd_cm_hello(struct rxd_link *link, const struct rxd_pkt *pkt);

/* rxd_cm_forget - the listener closes: drop what it remembers. */
void rxd_cm_forget(struct rxd_link *link);

int rxd_cm_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen);
int rxd_cm_accept(struct eng_link *link, struct eng_peer *peer, void *req,
		  const void *param, size_t paramlen);
int rxd_cm_reject(struct eng_link *pep_link, void *req, const void *param, size_t paramlen);
void rxd_cm_req_drop(void *req);
int rxd_cm_shutdown(struct eng_link *link, struct eng_peer *peer);
int rxd_cm_getpeer(struct eng_link *link, struct eng_peer *peer, void *addr, size_t *len);

/* stream.c --------------------------------------------------------------------------------- */

/* rxd_stream_copy - put a small packet at the end of the stream, if it may leave before
 * long.   Returns false, and nothing has changed, when it waits where it lies.
 */
bool rxd_stream_copy(struct rxd_conn *conn, const struct eng_pkt *pkt);

/* rxd_stream_room - make room for a short packet of @size bytes.  Nothing has changed if it
 * is not used.   Errors: -FI_ENOMEM.
 */
int rxd_stream_room(struct rxd_conn *conn, size_t size);

/* rxd_stream_add - put @size bytes into that room. */
void rxd_stream_add(struct rxd_conn *conn, const uint8_t *from, size_t size);

/* rxd_stream_fill - give packets that wait a place in the stream, a little ahead of what
 * leaves.   Returns false when memory is short.
 */
bool rxd_stream_fill(struct rxd_conn *conn);

/* rxd_stream_end - the end comes behind all packets.  Returns false when memory is short. */
bool rxd_stream_end(struct rxd_conn *conn);

/* rxd_stream_slice - bytes from @off on, as many of @len as fit into @room pieces.
 * Returns how many pieces they are.
 */
size_t rxd_stream_slice(struct rxd_conn *conn, uint64_t off, size_t len, struct iovec *iov,
			size_t room);

/* rxd_stream_last - the newest piece; there is one. */
static inline const struct rxd_item *rxd_stream_last(const struct rxd_conn *conn)
{
	return container_of(conn->items.prev, struct rxd_item, node);
}

/* rxd_stream_release - give back what the peer has.  Calls done(), which may send more
 * on this connection.
 */
void rxd_stream_release(struct rxd_conn *conn);

/* rxd_stream_drop - all that is queued ends with @err. */
void rxd_stream_drop(struct rxd_conn *conn, int err);

/* tx.c ------------------------------------------------------------------------------------ */

/* rxd_tx_send - eng_link_ops.send for a connection that is READY. */
int rxd_tx_send(struct rxd_conn *conn, struct eng_pkt *pkt);

/* rxd_tx_slot, rxd_tx_post - eng_link_ops.slot and post: the short way of a connection for
 * which all is well.  What there is to note is noted when the packet has left.
 */
void *rxd_tx_slot(void *chan, size_t len);
int rxd_tx_post(void *chan, size_t hdr_len, size_t len);

/* rxd_tx_queue - keep a packet until it may leave. */
void rxd_tx_queue(struct rxd_conn *conn, struct eng_pkt *pkt);

/* rxd_tx_shut - queue the end of the stream. */
void rxd_tx_shut(struct rxd_conn *conn);

/* rxd_tx_push - send what may leave now, at most about a quantum.
 * Returns true when there is more that may.
 */
bool rxd_tx_push(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_ping - a numbered packet without bytes: the peer must answer. */
void rxd_tx_ping(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_idle - everything is acknowledged. */
bool rxd_tx_idle(const struct rxd_conn *conn);

/* rxd_tx_probe - a packet past all windows, so that the peer answers. */
void rxd_tx_probe(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_new_path - the peer is reached another way: nothing that was learned of the old
 * one counts, and what is out goes again.
 */
void rxd_tx_new_path(struct rxd_conn *conn);

/* rxd_tx_drop - all that is queued or under way ends with @err. */
void rxd_tx_drop(struct rxd_conn *conn, int err);

/* ack.c -------------------------------------------------------------------------------------- */

/* What the peer says a packet's delay may be, and what timers here are late by. */
#define RXD_PEER_DELAY_NS (RXD_ACK_DELAY_NS + RXD_RTT_GRAIN_NS)

/* rxd_tx_on_ack - the acknowledgement in @pkt.  Calls done(). */
void rxd_tx_on_ack(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now);

/* rxd_tx_again - those of the bytes from @lo up to @hi that have not arrived by another
 * packet are to be sent again.
 */
void rxd_tx_again(struct rxd_conn *conn, uint64_t lo, uint64_t hi);

/* rxd_tx_timeout - the loss timer is due. */
void rxd_tx_timeout(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_due - when it is, or the pace allows more; UINT64_MAX: neither. */
uint64_t rxd_tx_due(struct rxd_conn *conn, uint64_t now);

/* rx.c -------------------------------------------------------------------------------------- */

/* rxd_on_data - a packet of a connection that is READY. */
void rxd_on_data(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct rxd_came came,
		 uint64_t now);

/* rxd_rx_after - account for the packet that went up at once.  From poll(); calls done(). */
void rxd_rx_after(struct rxd_poller *poller);

/* rxd_rx_resume - offer once more what the engine refused.  Returns how much got on. */
int rxd_rx_resume(struct rxd_conn *conn, uint64_t now);

/* rxd_rx_window - how far the peer may send now. */
uint64_t rxd_rx_window(struct rxd_conn *conn);

/* rxd_rx_put_ack - write an acknowledgement of what arrived at @out.
 * Returns the length so far, @at itself when nothing has arrived yet.
 */
size_t rxd_rx_put_ack(struct rxd_conn *conn, uint8_t *out, size_t at, uint64_t now);

/* rxd_rx_ack_due - must an acknowledgement leave even alone? */
static inline bool rxd_rx_ack_due(const struct rxd_conn *conn, uint64_t now)
{
	return conn->ack_now || conn->ack_cnt >= RXD_ACK_EVERY ||
	       (conn->ack_cnt && now >= conn->ack_since_ns + RXD_ACK_DELAY_NS);
}

/* rxd_rx_drop - the stream has ended: report what was promised. */
void rxd_rx_drop(struct rxd_conn *conn, int err);

void *rxd_rx_hold(struct rxd_poller *poller, const struct eng_rx *rx);
int rxd_rx_pull(struct rxd_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie);
void rxd_rx_release(struct rxd_hold *hold);

#endif
