/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - links, connections, and the poller that drives them.
 *
 * The channel layer (channel/chan.h) decides when to connect, keeps packets that wait for a
 * connection, and reports what fails.  This directory has the handshake, the stream in both
 * directions, and the recovery of what the network loses.
 *
 * The files below are in the order in which they use one another: none calls a later one.  What declares
 * a connection lost (rxd_conn_fail()) is first, what ends it (life.c) follows all that it has, and what
 * tells the engine is the channel layer, called by the poller.
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
#include "channel/chan.h"
#include "channel/hold.h"
#include "channel/path.h"
#include "channel/poller.h"
#include "engine/api.h"
#include "progress/group.h"

#include "rxd/recovery/cc.h"
#include "conf.h"
#include "cookie.h"
#include "dg.h"
#include "rxd/recovery/ecn.h"
#include "rxd/recovery/loss.h"
#include "rxd/recovery/mtu.h"
#include "rxd/recovery/ranges.h"
#include "rxd/recovery/rtt.h"
#include "secure.h"
#include "wire.h"

struct rxd_conn;
struct rxd_guard;
struct rxd_link;
struct rxd_rail_ports;

#define RXD_CHUNK 4096			/* bytes of small frames kept together */
#define RXD_COPY_MAX 2048		/* frames up to this are copied, and complete at once */
#define RXD_PAYLOAD_MAX (1 << 20)	/* of one engine packet */
#define RXD_ACK_DELAY_NS CLOCK_NS_PER_MS /* how long an ACK may wait for data to go with */
#define RXD_ACK_EVERY 8			/* packets received after which an ACK is sent alone */
#define RXD_RETRY_NS CLOCK_NS_PER_MS	/* pause after an allocation failed */
#define RXD_QUANTUM (256u << 10)	/* bytes that a connection sends before the next one does */

/* ---- the poller --------------------------------------------------------------- */

struct rxd_poller {
	struct chan_poller base;	/* first; its fd is a set of the queues below */
	struct list doms;		/* struct rxd_dom */
	uint64_t armed_seq;		/* base.seq at the last arm(): a thread slept then */
	uint64_t input_ns;		/* when the datagrams in hand were read; 0: there were none */
	uint64_t looked_ns;		/* what had arrived by then has been looked at */
	uint64_t look_ns;		/* when the look began that a timer has asked for; 0: none has */
	unsigned look_polls;		/* polls since then */
	struct list ended;		/* connections that their peers have closed, to be reported */
	unsigned ends_held;		/* polls in a row that left them to the next one */
	bool ends_asked;		/* the next poll reads all sockets */
	unsigned until_read;		/* polls until the queues are read though nothing is expected */
	/* The datagrams being sent together, all of one connection. */
	uint64_t burst_pn;		/* number of the first */
	bool burst_ect;			/* they are marked ECT(0) */
	struct pool chunks;		/* struct rxd_item with RXD_CHUNK bytes */
	struct pool items;		/* struct rxd_item */
	struct pool bodies;		/* struct rxd_body */
	/* A packet delivered on the fast path, accounted for before the next is processed. */
	struct rxd_conn *deferred;	/* its connection; NULL: there is none */
	struct rxd_pkt deferred_pkt;	/* flags, length and ACK, without further ranges */
	uint64_t deferred_ns;		/* when it arrived */
	uint64_t slot_ns;		/* when rxd_tx_slot() handed out memory */
	struct chan_hold *held;		/* what eng_on_packet() has just told us to hold */
};

/* rxd_now - the time of everything here but what goes below: see chan_poller_now(). */
static inline uint64_t rxd_now(struct rxd_poller *poller)
{
	return chan_poller_now(&poller->base);
}

/* rxd_has_looked - what had arrived by @due has been looked at.  If not, the next polls do that: a timer
 * that would end a connection fires again then.
 */
bool rxd_has_looked(struct rxd_poller *poller, uint64_t due);

/* ---- links ---------------------------------------------------------------------- */

struct rxd_link {
	struct chan_link base;		/* first */
	struct rxd_dg *dg;
	bool listening;			/* a listener accepts connection requests */
	uint8_t addr[RXD_ADDR_MAX];	/* our name, base.addr */
	uint16_t listener_port;		/* of the listener whose request this endpoint accepts; 0: none */
	struct siphash_key key;		/* of our cookies */
	struct hmap by_cid;		/* our id -> struct rxd_conn */
	struct list migrations;		/* struct rxd_migration: path validations in progress */
	size_t mean;			/* length of the datagrams that arrive */
	/* peers that send to us, counted by the tenth of a second */
	uint32_t tick;
	unsigned active, active_before;
	/* a listener's struct rxd_request */
	struct list requests;		/* oldest first */
	struct hmap request_by;		/* the same by the ids of the peer */
	struct rxd_guard *guard;	/* of a protected endpoint (secure.h); NULL: nothing is protected */
	struct rxd_rail_ports *rails;	/* further interfaces (rails/state.h); NULL: the endpoint uses one */
};

static inline struct rxd_link *rxd_link_of(struct chan_link *base)
{
	return (struct rxd_link *) base;	/* its first member */
}

static inline enum rxd_kind rxd_link_kind(const struct rxd_link *link)
{
	return link->base.msg ? RXD_KIND_MSG : RXD_KIND_RDM;
}

static inline struct rxd_poller *rxd_link_poller(const struct rxd_link *link)
{
	return (struct rxd_poller *) link->base.poller;	/* its first member */
}

/* ---- connections ------------------------------------------------------------------- */

/* A piece of the stream that we send; kept until it is acknowledged. */
struct rxd_item {
	struct list node;	/* on conn->items, in order */
	uint64_t start;		/* in the stream */
	size_t len;
	struct eng_pkt *pkt;	/* a packet that stays with the engine; NULL: @data */
	uint8_t data[];		/* small frames, copied */
};

/* The engine packet that is arriving. */
struct rxd_body {
	uint64_t start, end;	/* of its payload in the stream */
	struct iovec iov[ENG_IOV_MAX];
	size_t iov_cnt;		/* 0: the payload is dropped */
	void *cookie;		/* for eng_on_placed() */
	struct chan_hold *hold;	/* where it is kept, at iov[0]; its source is the connection */
	struct rxd_ranges got;	/* pieces beyond conn->rcv_nxt that are in place */
};

/* A piece of the stream that arrived before the bytes in front of it. */
struct rxd_reordered {
	struct list node;	/* on conn->reordered, by off */
	uint64_t off;
	size_t len;
	uint8_t data[];
};

/* A handshake in progress: our attempt to connect, or an accepted one until it is confirmed. */
struct rxd_handshake {
	uint64_t sent_ns;	/* the last HELLO or WELCOME */
	unsigned tries;		/* of them in a row without an answer */
	bool answered;		/* by RETRY: the peer's host is reached, and its program makes progress */
	bool silence_logged;	/* that nothing answers */
	bool ambiguous;		/* which HELLO an answer belongs to is not known: no RTT sample */
	struct rxd_cookie cookie;
	uint16_t data_len;	/* private data */
	uint8_t data[RXD_DATA_MAX];
};

/* Path validation: is a peer at another address now? */
struct rxd_migration {
	struct list node;	/* on link->migrations */
	struct rxd_conn *conn;
	uint64_t source;	/* the address */
	uint64_t challenge;	/* random; a peer that returns it receives what is sent there */
	uint64_t sent_ns;
};

/* What a link keeps for each peer; zeroed by the engine. */
struct rxd_conn {
	struct chan chan;		/* first; chan.conn is this structure while streams flow */
	bool clean_end : 1;		/* chan.failed: the peer closed in good order */
	bool confirmed : 1;		/* the peer has our id */
	bool want_shut : 1;		/* the end of our stream follows what is queued */
	bool shut : 1;			/* it has its place in the stream */
	bool mute : 1;			/* a path that is silent while another one answers: nothing is sent over it but probes */
	bool ended : 1;			/* the end of the peer's stream has arrived */
	bool report_up : 1;		/* accepted: the engine is to be told by the next poll */
	bool no_memory : 1;		/* there was none to send: try again after RXD_RETRY_NS */
	bool is_paused : 1;		/* the engine has no memory for a packet; on poller->paused */
	uint8_t refusals : 2;		/* how many there were since the peer was silent */
	bool stall_logged : 1;		/* a warning was given about the silence that lasts */
	bool ack_now : 1;		/* an ACK should be sent without delay */
	bool was_ce : 1;		/* the last packet was marked CE */
	bool burst : 1;			/* in poll @burst_seq more than one packet was sent */
	bool sealed : 1;		/* of a protected endpoint: each packet is sealed */
	bool guarded : 1;		/* sealed, or a checksum covers all of a packet, not only its head */
	uint16_t partial_len : 14;
	bool asked : 1;			/* rxd_ask() waits for an answer */
	uint32_t rcv_renew;		/* until @rcv_nxt, modulo 2^32, is there, the limit stays */
	uint32_t burst_seq;		/* poll in which the last packet was sent, modulo 2^32 */
	uint32_t reordered_bytes;
	uint64_t cid, peer_cid;		/* 0: none */
	uint64_t gone_epoch;		/* of an earlier life of the peer */
	fi_addr_t to;			/* where the peer is, below; FI_ADDR_UNSPEC: not known there */
	uint64_t source;		/* where it sends from (rxd_dg_source()); 0: not known yet */
	struct list dirty_node;		/* on poller->dirty */
	uint64_t received_ns;		/* the last packet of the peer */
	uint64_t unanswered_ns;		/* since when an answer of the peer is due; 0: none is */
	struct rxd_handshake *handshake; /* CONNECTING; of an accepted one until it is confirmed */

	/* sending; packets without a place in the stream are in chan.pending */
	struct list items;
	uint64_t una;			/* all before is acknowledged */
	uint64_t nxt;			/* first byte that was never sent */
	uint64_t end;			/* of what has a place in the stream */
	uint64_t limit;			/* end of what the peer accepts: flow control */
	struct rxd_ranges acked;	/* beyond una */
	struct rxd_ranges retransmit;	/* bytes declared lost */
	struct rxd_loss loss;
	struct rxd_rtt rtt;
	struct rxd_cc cc;
	struct rxd_mtu mtu;
	struct rxd_ecn ecn;

	/* receiving */
	uint64_t rcv_nxt;		/* all before is placed, held or dropped */
	uint64_t rcv_limit;		/* end of what we allowed */
	struct rxd_ranges pns;		/* packet numbers that arrived */
	uint64_t pn_floor;		/* those below are no longer distinguished */
	uint64_t largest_ns;		/* when the highest arrived */
	uint64_t ack_since_ns;		/* when the first of @ack_cnt arrived */
	uint16_t tick;			/* when it was last counted as active, modulo 2^16 */
	uint16_t ack_cnt;		/* packets received since our last ACK; UINT16_MAX: or more */
	uint16_t ect_cnt, ce_cnt;	/* packets by codepoint, as struct rxd_ack has them */
	struct list reordered;
	uint8_t *partial;		/* the head of a frame that arrived in part; NULL: none */
	struct rxd_body *body;		/* NULL: between packets */
};

static inline struct rxd_conn *rxd_conn_of_chan(struct chan *chan)
{
	return (struct rxd_conn *) chan;	/* its first member */
}

static inline struct rxd_link *rxd_conn_link(const struct rxd_conn *conn)
{
	return rxd_link_of(conn->chan.link);
}

static inline struct rxd_poller *rxd_conn_poller(const struct rxd_conn *conn)
{
	return (struct rxd_poller *) conn->chan.link->poller;	/* its first member */
}

/* rxd_conn_alive - streams flow in both directions. */
static inline bool rxd_conn_alive(const struct rxd_conn *conn)
{
	return conn->chan.conn != NULL;
}

/* rxd_main_of - the connection whose stream goes over @path, which is alive: itself, unless it is a rail.
 * rxd_is_rail - is it one?   rxd_conn_dg - the datagram endpoint that it uses.
 */
static inline struct rxd_conn *rxd_main_of(struct rxd_conn *path)
{
	struct chan_paths *paths = path->chan.paths;

	return __builtin_expect(paths != NULL, 0) ? rxd_conn_of_chan(paths->chan) : path;
}

static inline bool rxd_is_rail(const struct rxd_conn *conn)
{
	return conn->chan.state == CHAN_READY && conn->chan.paths && conn->chan.paths->chan != &conn->chan;
}

struct rxd_dg *rxd_rails_dg(const struct rxd_conn *conn);

static inline struct rxd_dg *rxd_conn_dg(const struct rxd_conn *conn)
{
	return __builtin_expect(conn->chan.paths != NULL, 0) ? rxd_rails_dg(conn) : rxd_conn_link(conn)->dg;
}

/* conn.c ------------------------------------------------------------------------------ */

/* rxd_conn_schedule - it has something to send: before the poll ends, or in the next. */
void rxd_conn_schedule(struct rxd_conn *conn);

/* rxd_conn_fail - an established connection is lost; reported by the next poll, so that this may be called
 * anywhere.   @err: positive
 * @clean: the peer closed it in good order
 */
void rxd_conn_fail(struct rxd_conn *conn, int err, bool clean);

/* rxd_conn_lost - report what rxd_conn_fail() recorded.  From poll() only. */
void rxd_conn_lost(struct rxd_conn *conn);

/* rxd_conn_control - send a packet without a number to the peer; its checksum or tag is made here. */
void rxd_conn_control(struct rxd_conn *conn, uint8_t *buf, size_t len);

/* rxd_link_reply - the same to an address, of which nothing is kept; never sealed. */
void rxd_link_reply(struct rxd_link *link, const void *addr, uint8_t *buf, size_t len);

/* timer.c ----------------------------------------------------------------------------- */

/* What the peer says a packet's delay may be, and what timers here are late by. */
#define RXD_PEER_DELAY_NS (RXD_ACK_DELAY_NS + RXD_RTT_GRAIN_NS)

/* rxd_hello_due - when a HELLO is retransmitted, or the attempt given up. */
uint64_t rxd_hello_due(const struct rxd_conn *conn);

/* rxd_give_up_due - when an attempt to connect fails for want of an answer. */
uint64_t rxd_give_up_due(const struct rxd_conn *conn);

/* rxd_welcome_due - when WELCOME is retransmitted to a peer that has not confirmed it. */
uint64_t rxd_welcome_due(const struct rxd_conn *conn);

/* rxd_keepalive_due - when an idle peer is probed. */
uint64_t rxd_keepalive_due(const struct rxd_conn *conn);

/* rxd_dead_due - when a peer that has not answered is declared lost. */
uint64_t rxd_dead_due(const struct rxd_conn *conn);

/* rxd_tx_is_blocked - flow control stops us, and nothing is in flight whose ACK could raise the limit. */
bool rxd_tx_is_blocked(const struct rxd_conn *conn);

/* rxd_tx_due - when the loss detection timer expires, or pacing allows more; UINT64_MAX: neither. */
uint64_t rxd_tx_due(struct rxd_conn *conn, uint64_t now);

/* rxd_conn_rearm - set the timer to the earliest event that the connection waits for. */
void rxd_conn_rearm(struct rxd_conn *conn, uint64_t now);

/* stream.c ---------------------------------------------------------------------------- */

/* rxd_stream_copy - copy a small packet to the end of the stream, if windows and pacing admit that it
 * leaves with the next poll.   Returns false, and nothing has changed, when it stays with the engine.
 */
bool rxd_stream_copy(struct rxd_conn *conn, const struct eng_pkt *pkt);

/* rxd_stream_room - make room for a short packet of @size bytes.  Nothing has changed if it
 * is not used.   Errors: -FI_ENOMEM.
 */
int rxd_stream_room(struct rxd_conn *conn, size_t size);

/* rxd_stream_add - put @size bytes into that room. */
void rxd_stream_add(struct rxd_conn *conn, const uint8_t *from, size_t size);

/* rxd_stream_fill - give packets that wait a place in the stream, a little ahead of what
 * is sent.   Returns false when memory is short.
 */
bool rxd_stream_fill(struct rxd_conn *conn);

/* rxd_stream_end - the end follows all packets.  Returns false when memory is short. */
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

/* rxd_stream_release - give back what the peer has acknowledged.  Calls done(), which may
 * send more on this connection.
 */
void rxd_stream_release(struct rxd_conn *conn);

/* rxd_stream_drop - all that has a place in the stream ends with @err. */
void rxd_stream_drop(struct rxd_conn *conn, int err);

/* rxd_stream_retransmit - those of the bytes from @lo up to @hi that have not been acknowledged
 * in another packet are to be sent again.
 */
void rxd_stream_retransmit(struct rxd_conn *conn, uint64_t lo, uint64_t hi);

/* rx_ack.c ---------------------------------------------------------------------------- */

/* rxd_rx_count - a datagram with @len bytes of the stream has arrived: a sender is active. */
void rxd_rx_count(struct rxd_conn *conn, size_t len, uint64_t now);

/* rxd_rx_window - how many bytes the peer may send now. */
uint64_t rxd_rx_window(struct rxd_conn *conn);

/* rxd_rx_open_window - the peer is told of a higher limit when half of its window is used. */
void rxd_rx_open_window(struct rxd_conn *conn);

/* rxd_rx_limit - end of the stream that the peer may send, raised now and then. */
uint64_t rxd_rx_limit(struct rxd_conn *conn);

/* rxd_rx_put_ack - write an ACK of what has arrived at @out.
 * Returns the length so far, @at itself when nothing has arrived yet.
 */
size_t rxd_rx_put_ack(struct rxd_conn *conn, uint8_t *out, size_t at, uint64_t now);

/* rxd_rx_ack_due - must an ACK be sent even alone? */
static inline bool rxd_rx_ack_due(const struct rxd_conn *conn, uint64_t now)
{
	return conn->ack_now || conn->ack_cnt >= RXD_ACK_EVERY ||
	       (conn->ack_cnt && now >= conn->ack_since_ns + RXD_ACK_DELAY_NS);
}

/* rails/share.c ------------------------------------------------------------------------- */

/* Of a connection with rails, and of its rails: @path->chan.paths is set.
 *
 * rxd_rails_takes - may @path take the next bytes of the stream?
 * rxd_rails_offer - the paths that may take some of what waits send in this poll, or the next.
 * rxd_rails_limit - before an ACK of @path: it has the limit of the connection.
 * rxd_rails_carried - @len bytes were sent over it.
 * rxd_rails_paths - how many stand: each has a socket buffer of its own.
 */
bool rxd_rails_takes(struct rxd_conn *path);
void rxd_rails_offer(struct rxd_conn *path);
void rxd_rails_limit(struct rxd_conn *path);
void rxd_rails_carried(struct rxd_conn *path, size_t len);
unsigned rxd_rails_paths(const struct rxd_conn *path);

/* rxd_rails_silent - a probe timeout of @path.  True: another one answers, so that it is mute from now on.
 * rxd_rails_heard - has a mute one been answered?  Then it is one like the others, and may send.
 * rxd_rails_live - the peer has been heard on any of the paths since @conn's own is silent: then it is not dead.
 */
bool rxd_rails_silent(struct rxd_conn *path, uint64_t now);
bool rxd_rails_heard(struct rxd_conn *path, uint64_t now);
bool rxd_rails_live(struct rxd_conn *conn, uint64_t now);

/* rxd_rails_want - long payload is sent, or comes: the side that makes rails makes them. */
void rxd_rails_want(struct rxd_conn *path);

/* rxd_rails_say_all - the peer is to know what has arrived by rails, too.  True: it does. */
bool rxd_rails_say_all(struct rxd_conn *conn);

/* rxd_rails_end - @conn ends, and its rails.   rxd_rails_free - what has ended so, where no rail is in use. */
void rxd_rails_end(struct rxd_conn *conn);
void rxd_rails_free(struct rxd_rail_ports *ports);

/* rxd_rails_text - for the line of the route: each interface, and which share of the long payload it has carried, or
 * that it is not in use.  "" for a connection without rails.
 */
void rxd_rails_text(const struct rxd_conn *conn, char *buf, size_t size);

/* tx.c -------------------------------------------------------------------------------- */

/* rxd_tx_send - eng_link_ops.send for a connection that is alive. */
int rxd_tx_send(struct rxd_conn *conn, struct eng_pkt *pkt);

/* rxd_tx_slot, rxd_tx_post - eng_link_ops.slot and post: the fast path of a connection for
 * which nothing waits and no window is exhausted.  The bookkeeping follows the system call.
 */
void *rxd_tx_slot(void *chan, size_t len);
int rxd_tx_post(void *chan, size_t hdr_len, size_t len);

/* rxd_tx_shut - queue the end of the stream. */
void rxd_tx_shut(struct rxd_conn *conn);

/* rxd_tx_push - send what the windows admit now, at most about a quantum.
 * Returns true when there is more that may be sent.
 */
bool rxd_tx_push(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_ping - a numbered packet without bytes: the peer must acknowledge it. */
void rxd_tx_ping(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_idle - everything is acknowledged. */
bool rxd_tx_idle(const struct rxd_conn *conn);

/* rxd_tx_probe - a packet in spite of all windows, so that the peer answers. */
void rxd_tx_probe(struct rxd_conn *conn, uint64_t now);

/* rxd_tx_drop - all that is queued or in flight ends with @err. */
void rxd_tx_drop(struct rxd_conn *conn, int err);

/* probe.c ----------------------------------------------------------------------------- */

/* rxd_probe_send - ask whether the peer still has this connection. */
void rxd_probe_send(struct rxd_conn *conn);

/* rxd_ask - a probe has timed out: ask the peer's system whether it still has the peer's socket, and
 * take the answers to earlier questions.  A peer whose socket is gone is lost after three of them.
 */
void rxd_ask(struct rxd_conn *conn);

/* rxd_ask_connecting - the same while we connect: a peer that has answered our handshake and says nothing more.  One
 * whose socket is gone has not answered, so that the attempt ends after FI_OFI_RXD_CONN_TIMEOUT.
 */
void rxd_ask_connecting(struct rxd_conn *conn);

void rxd_on_probe(struct rxd_link *link, const struct rxd_pkt *pkt);

/* rxd_probe_answer - the peer of @conn, which is alive, asks whether it is here. */
void rxd_probe_answer(struct rxd_conn *conn);
void rxd_on_reset(struct rxd_conn *conn, const struct rxd_pkt *pkt);

/* rxd_on_clear_reset - the same for a protected connection, whose peer has lost its keys. */
void rxd_on_clear_reset(struct rxd_conn *conn, const struct rxd_pkt *pkt);

/* retransmit.c ------------------------------------------------------------------------ */

/* rxd_tx_on_ack - process the ACK in @pkt.  Calls done(). */
void rxd_tx_on_ack(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now);

/* rxd_tx_on_rail_ack - the same, of a rail: @conn is the connection whose stream it carries. */
void rxd_tx_on_rail_ack(struct rxd_conn *rail, struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now);

/* rxd_tx_on_taken - the peer, which ends its stream, has taken our bytes before @taken, modulo RXD_TAKEN_MOD: the ACKs of a
 * path that is lost since then may be lost, too.  Calls done().
 */
#define RXD_TAKEN_MOD (UINT64_C(1) << 48)
void rxd_tx_on_taken(struct rxd_conn *conn, uint64_t taken);

/* rxd_tx_new_path - the peer is reached on another path: nothing that was measured on the old
 * one counts, and what is in flight is retransmitted.
 */
void rxd_tx_new_path(struct rxd_conn *conn);

/* rxd_tx_timeout - the loss detection timer has expired. */
void rxd_tx_timeout(struct rxd_conn *conn, uint64_t now);

/* migration.c ------------------------------------------------------------------------- */

/* rxd_on_new_source - the packet with the highest number so far came from @source, which is
 * not the peer's address.
 */
void rxd_on_new_source(struct rxd_conn *conn, uint64_t source, uint64_t now);

/* rxd_migration_of - the path validation in progress; NULL: there is none. */
struct rxd_migration *rxd_migration_of(const struct rxd_conn *conn);

/* rxd_migration_drop - end it, if there is one. */
void rxd_migration_drop(struct rxd_conn *conn);

void rxd_on_path_challenge(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_path_response(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t source);

/* rx.c -------------------------------------------------------------------------------- */

/* rxd_on_data - a packet of a connection that is alive. */
void rxd_on_data(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct rxd_meta meta,
		 uint64_t now);

/* rxd_rx_deferred - account for the packet that was delivered on the fast path.  From poll();
 * calls done().
 */
void rxd_rx_deferred(struct rxd_poller *poller);

/* rxd_rx_resume - offer again what the engine had no memory for.  Returns how much advanced. */
int rxd_rx_resume(struct rxd_conn *conn, uint64_t now);

/* rxd_rx_drop - the stream has ended: report what was promised. */
void rxd_rx_drop(struct rxd_conn *conn, int err);

/* rxd_rx_unplace - eng_link_held.unplace. */
bool rxd_rx_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie);

/* rxd_rx_hold - eng_link_held.hold. */
void *rxd_rx_hold(struct eng_link *link, struct eng_peer *peer, const struct eng_rx *rx);

/* route.c ----------------------------------------------------------------------------- */

/* rxd_route_said - what @hello, the peer's, says for the texts of channel/route.h.
 * rxd_route - chan_ops.route.
 */
void rxd_route_said(struct rxd_conn *conn, const struct rxd_hello *hello);
void rxd_route(const struct chan *base, struct chan_route *path);

/* life.c ------------------------------------------------------------------------------ */

/* rxd_conn_init - chan_ops.init. */
void rxd_conn_init(struct chan *chan);

/* rxd_conn_take_id - a random id, by which packets find it.  rxd_conn_reset - its streams and numbers begin.
 * rxd_conn_least - bytes of a packet that fits any path.
 */
int rxd_conn_take_id(struct rxd_conn *conn);
void rxd_conn_reset(struct rxd_conn *conn);
uint32_t rxd_conn_least(const struct rxd_conn *conn);

/* rxd_conn_open - take an id, and make @addr known below.
 * Errors: -FI_ENOMEM, -FI_EINVAL (address); nothing is left then.
 */
int rxd_conn_open(struct rxd_conn *conn, const void *addr);

/* rxd_conn_accept - the same for a request of the peer at @addr, unless our own attempt is in
 * flight.  Errors: as rxd_conn_open().
 */
int rxd_conn_accept(struct rxd_conn *conn, const void *addr);

/* rxd_conn_adopt - the same for a request that has proven the key: @sec is the connection's.  Our own attempt ends.
 * Errors: as rxd_conn_open(); @sec is the caller's then.
 */
int rxd_conn_adopt(struct rxd_conn *conn, struct rxd_sec *sec, const void *addr);

/* rxd_conn_again - begin the attempt of a protected connection from its first byte.  Errors: -FI_ENOMEM. */
int rxd_conn_again(struct rxd_conn *conn);

/* rxd_conn_ready - the peer is known: @hello is its HELLO or WELCOME.  Tells the engine of an
 * RDM endpoint (chan_up()).
 */
void rxd_conn_ready(struct rxd_conn *conn, const struct rxd_hello *hello, uint64_t now);

/* rxd_conn_release - give back what the connection, or the attempt, has.  @err: positive, of all that waits
 * for it
 */
void rxd_conn_release(struct rxd_conn *conn, int err);

/* rxd_attempt_fail - our attempt to connect has failed.  @err: positive */
void rxd_attempt_fail(struct rxd_conn *conn, int err);

/* rxd_conn_finish - chan_ops.finish: may it be closed? */
bool rxd_conn_finish(struct chan *chan);

/* rails/join.c -------------------------------------------------------------------------- */

/* rxd_rails_list - private data of a handshake of @conn: our further addresses.  @out: RXD_DATA_MAX bytes
 * Returns its length; 0: there are none.
 */
size_t rxd_rails_list(const struct rxd_conn *conn, uint8_t *out);

/* rxd_rails_begin - @conn, READY, has rails if the handshake of its peer has such a list in its private data. */
void rxd_rails_begin(struct rxd_conn *conn, const uint8_t *data, size_t len);

/* Packets of rails.  @conn: the one that the id in the packet is of */
void rxd_on_rail_ask(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_rail_answer(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_rail_proof(struct rxd_conn *conn, const struct rxd_pkt *pkt);

/* handshake.c ------------------------------------------------------------------------- */

/* rxd_handshake_data - private data for the next rxd_hello_start().  Errors: -FI_ENOMEM. */
int rxd_handshake_data(struct rxd_conn *conn, const void *data, size_t len);

/* rxd_hello_start - chan_ops.connect: the first HELLO to eng_peer_addr(). */
int rxd_hello_start(struct chan *chan);

/* rxd_hello_timeout - rxd_hello_due() has passed without an answer. */
void rxd_hello_timeout(struct rxd_conn *conn, uint64_t now);

/* rxd_welcome_send - (re)transmit WELCOME. */
void rxd_welcome_send(struct rxd_conn *conn, uint64_t now);

/* rxd_refuse_send - refuse the request @hello, with private data. */
void rxd_refuse_send(struct rxd_link *link, const struct rxd_hello *hello,
		     enum chan_reason reason, const void *data, size_t len);

/* rxd_on_hello - Returns true when the listener has to decide: rxd_cm_hello(). */
bool rxd_on_hello(struct rxd_link *link, const struct rxd_pkt *pkt);
void rxd_on_retry(struct rxd_conn *conn, const struct rxd_pkt *pkt);

/* rxd_on_shake - of an attempt of ours.  rxd_on_sealed_hello - of a guest, which has proven the key.  Returns true when
 * the listener has to decide, as rxd_on_hello().
 */
void rxd_on_shake(struct rxd_conn *conn, const struct rxd_pkt *pkt);
bool rxd_on_sealed_hello(struct rxd_link *link, struct rxd_sec *guest, const struct rxd_pkt *pkt);
void rxd_on_welcome(struct rxd_conn *conn, const struct rxd_pkt *pkt);
void rxd_on_refuse(struct rxd_conn *conn, const struct rxd_pkt *pkt);

/* cm.c -------------------------------------------------------------------------------- */

/* rxd_cm_hello - a request to a listener; its cookie is good.
 * @guest: it is protected, and has proven the key; NULL: it is not
 */
void rxd_cm_hello(struct rxd_link *link, const struct rxd_pkt *pkt, struct rxd_sec *guest);

/* rxd_cm_repeated - a protected request that was announced is repeated: if it was rejected, it is again. */
struct rxd_request;
void rxd_cm_repeated(struct rxd_link *link, const struct rxd_request *request);

/* rxd_cm_forget - the listener closes: drop the requests that it remembers. */
void rxd_cm_forget(struct rxd_link *link);

int rxd_cm_connect(struct eng_link *link, struct eng_peer *peer, const void *addr,
		   size_t addrlen, const void *param, size_t paramlen);
int rxd_cm_answer(struct eng_link *link, struct eng_peer *peer, void *req,
		  const void *param, size_t paramlen);
int rxd_cm_shutdown(struct eng_link *link, struct eng_peer *peer);

/* rails/open.c -------------------------------------------------------------------------- */

/* rxd_rails_open - an RDM endpoint is reached at its further interfaces, where FI_RAILS says so and there are such.
 * What cannot be had is logged.   rxd_rails_close - all connections are closed.
 */
void rxd_rails_open(struct rxd_link *link, const struct fi_info *info);
void rxd_rails_close(struct rxd_link *link);

/* poll.c ------------------------------------------------------------------------------ */

/* rxd_poller_get - the group's, made on first use.  Errors: -FI_ENOMEM, -FI_EMFILE. */
int rxd_poller_get(struct obj_prog *prog, struct rxd_poller **poller_p);

#endif
