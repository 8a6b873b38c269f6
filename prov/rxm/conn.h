/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conn.h - links, connections to peers, and the poller.
 *
 * The life of a connection is the channel layer's (channel/chan.h); here is what an
 * attempt, a request and an established connection are made of:
 *
 *   connect.c  handshakes, attempts, requests of peers
 *   conn.c     the end of a connection
 *   tx.c       credits, messages, rendezvous of ours
 *   rx.c       frames of received messages, in order
 *   rma.c      RDMA: rendezvous of the peer, and more in the compatible format
 *
 * A connection of which the end is known, but not reported yet, has chan.failed set and
 * chan.conn cleared: nothing more is sent or received on it.
 *
 * Threading: everything under the lock of the progress group.  Functions that make upcalls
 * to the engine say so; they are called from poll(), close() and peer_put() only.
 */
#ifndef RXM_CONN_H
#define RXM_CONN_H

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/list.h"
#include "channel/chan.h"
#include "channel/hold.h"
#include "channel/poller.h"
#include "engine/api.h"
#include "layer/getinfo.h"

#include "conf.h"
#include "dom.h"
#include "foreign/rxmf/packet.h"
#include "wire.h"

/* Bytes of a receive buffer: a message of the native format, or an eager one of the compatible. */
#define RXM_ROOM (rxm_conf.buf_size + RXMF_PACKET_HDR)

#define RXM_RNDVS 8		/* rendezvous of each side that may be open on a connection */
#define RXM_CTRL_BUFS (RXM_RNDVS + 4) /* receive buffers for control messages */

extern const struct eng_link_ops rxm_link_ops;
extern const struct chan_ops rxm_chan_ops;

/* rxm_route - chan_ops.route. */
void rxm_route(const struct chan *base, struct chan_route *path);
extern const struct layer rxm_layer;

/* ---- the poller ------------------------------------------------------------------------ */

/* chan.dirty has connections with something to send, chan.failed those whose end must be
 * reported, chan.paused those with a frame that must be offered again.  Its descriptor is
 * a set of the queues below.
 */
struct rxm_poller {
	struct chan_poller chan;	/* first */
	struct list doms;		/* struct rxm_dom */
	struct list rmas;		/* struct rxm_rma that have to be continued */
	bool posted;			/* a message may wait for the next poll of the provider below */
	bool blocked;			/* a send queue below was full at the last flush */
	struct list starved;		/* struct rxm_conn whose messages wait for credits */
	uint64_t stall_due_ns;		/* clock_coarse_ns() at which they are checked next; UINT64_MAX: none is */
};

/* rxm_poller_get - the group's poller, made on first use.  Errors: as chan_poller_get(). */
int rxm_poller_get(struct obj_prog *prog, struct rxm_poller **poller_p);

/* ---- home.c ------------------------------------------------------------------------------- */

struct obj_domain;
struct obj_mr;

/* rxm_home_get - the domain below of @domain, opened on first use.  Threading: any.
 * Errors: those of the provider below.
 */
int rxm_home_get(struct obj_domain *domain, struct layer_home **home_p);

/* rxm_mr_expose, rxm_mr_conceal, rxm_domain_fini - eng_domain_ops. */
int rxm_mr_expose(struct obj_mr *mr, uint64_t *key_p);
int rxm_mr_conceal(struct obj_mr *mr);
void rxm_domain_fini(struct obj_domain *domain);

/* ---- links ------------------------------------------------------------------------------- */

#define RXM_UNSPOKEN 10

struct rxm_link {
	struct chan_link chan;		/* first */
	struct rxm_dom *dom;
	struct list dom_node;		/* on dom->links */
	struct fi_info *info;		/* of the listener below */
	struct fid_pep *pep;		/* the listener; its address is ours */
	uint8_t addr[RXM_ADDR_MAX];	/* chan.addr points here */
	bool secured;			/* the provider below protects connections: native format alone */
	struct rxm_conn *offering;	/* whose frame the engine is looking at, for hold() */
	const struct rxm_item *offered;	/* the frame */
	const char *unspoken[RXM_UNSPOKEN];	/* what the log has named that the compatible format
						 * does not have; NULL behind the last */
};

static inline struct rxm_link *rxm_link_of(struct chan_link *link)
{
	return (struct rxm_link *) link;	/* its first member */
}

/* ---- connections --------------------------------------------------------------------------- */

/* A rendezvous of ours: a packet whose payload the peer reads from our memory. */
struct rxm_rndv {
	struct list node;	/* on conn->rndvs */
	uint64_t id;		/* not 0 */
	struct eng_pkt *pkt;
	bool written;		/* compatible format: the peer has it written, instead of reading it */
	unsigned ack;		/* compatible format: the end is also this WIRE_ACK of @ack_id, or 0 */
	uint32_t ack_id;	/* a request of the engine */
	struct fid_mr *mr[ENG_IOV_MAX];
};

struct rxm_rma;

/* Payload that the engine keeps.  That of a rendezvous stays with the peer: its source is
 * the connection, and it is on conn->holds.
 */
struct rxm_hold {
	struct chan_hold hold;	/* first */
	uint64_t id;		/* of the rendezvous */
	struct rxm_rma *fetch;	/* it is being read into memory of ours; or NULL */
	struct eng_peer *payer;	/* whom that memory is charged to; or NULL */
	unsigned segs;
	struct wire_rma seg[ENG_IOV_MAX];
};

/* What a link keeps for each peer. */
struct rxm_conn {
	struct chan chan;		/* first; chan.conn is @ep, once it is connected */
	struct rxm_ep *ep;		/* of the attempt, the accepted request or the connection */
	struct rxm_compat *compat;	/* the connection is in the compatible format; else NULL */
	struct rxm_ep *self;		/* the accepting end, if the peer is this endpoint itself */
	bool peer_closed;		/* the peer has sent RXM_F_CLOSE */
	bool close_sent;		/* so have we */
	bool ended;			/* the endpoint below has ended; what arrived is still offered */
	bool paused;			/* the next frame waits for another poll */
	bool reading;			/* the next frame waits for a read */
	struct list work_node;		/* on poller->chan.failed or paused */
	struct list dirty_node;		/* on poller->chan.dirty */

	/* sending */
	struct rxm_tx_buf *out;		/* being filled; its credit is not consumed yet */
	struct rxm_tx_buf *ctrl;	/* control message that waits for room in the queue below */
	unsigned credits;		/* receive buffers of the peer that are free */
	struct list starved_node;	/* on poller->starved, or on none */
	uint64_t starved_ns;		/* since when, by chan_now() */
	bool stall_logged;		/* a warning was given about it */
	unsigned returns;		/* buffers posted again that the peer does not know of */
	unsigned buf_size;		/* bytes of a message, at most */
	unsigned rndv_max;		/* rendezvous that the peer accepts at a time */
	unsigned rndv_cnt;		/* of ours that are open */
	uint64_t burst_seq;		/* poll in which the last message was sent */
	uint64_t probe_ns;		/* when the next probe may be sent */
	uint64_t last_id;		/* of our last rendezvous */
	struct list rndvs;		/* struct rxm_rndv */
	struct hmap rndv_ids;		/* the same by their id */
	unsigned done_cnt;
	uint64_t done[RXM_RNDVS];	/* rendezvous of the peer of which it has to be told the end */

	/* receiving */
	unsigned peer_rndvs;		/* rendezvous of the peer that are open */
	struct list early;		/* struct rxm_rx_buf that cannot be processed yet: the format is not
					 * known, or the memory for segments is used up */
	struct list rxq;		/* struct rxm_rx_buf, full, in order */
	struct list holds;		/* struct chan_hold: rendezvous that nothing has read */
};

static inline struct rxm_conn *rxm_conn_of(struct chan *chan)
{
	return (struct rxm_conn *) chan;	/* its first member */
}

static inline struct rxm_link *rxm_conn_link(const struct rxm_conn *conn)
{
	return rxm_link_of(conn->chan.link);
}

static inline struct rxm_poller *rxm_conn_poller(const struct rxm_conn *conn)
{
	return container_of(conn->chan.link->poller, struct rxm_poller, chan);
}

/* ---- conn.c ---------------------------------------------------------------------------------- */

/* rxm_conn_fail - the connection has failed with @err (positive): the next poll reports it.
 * Nothing if there is none, or if it has failed before.
 */
void rxm_conn_fail(struct rxm_conn *conn, int err);

/* rxm_conn_report - report what rxm_conn_fail() noted.  Makes upcalls. */
void rxm_conn_report(struct rxm_conn *conn);

/* rxm_conn_close_eps - close the endpoints of an attempt or of a request that is not
 * confirmed, and forget what arrived on them; the channel's state stays.
 */
void rxm_conn_close_eps(struct rxm_conn *conn);

/* rxm_conn_close, rxm_conn_finish - chan_ops.close and finish.  Make upcalls. */
void rxm_conn_close(struct chan *chan, int err, bool orderly);
bool rxm_conn_finish(struct chan *chan);

/* rxm_conn_dirty - there is something to send: before the poll ends, or in the next one. */
void rxm_conn_dirty(struct rxm_conn *conn);

/* ---- connect.c ------------------------------------------------------------------------------- */

/* rxm_attempt_failed - our attempt has failed with @err (positive).
 * @final: it would fail again
 */
void rxm_attempt_failed(struct rxm_conn *conn, int err, bool final);

/* Events of the event queue below.  All make upcalls. */

/* rxm_on_connreq - a peer connects.
 * @info: stays the caller's; its handle is used up
 */
void rxm_on_connreq(struct rxm_link *link, struct fi_info *info, const void *data, size_t len);

/* rxm_on_connected - FI_CONNECTED of @ep, with the private data of the acceptance. */
void rxm_on_connected(struct rxm_ep *ep, const void *data, size_t len);

/* rxm_on_refused - an error event of @ep, with the private data of a rejection. */
void rxm_on_refused(struct rxm_ep *ep, int err, const void *data, size_t len);

/* rxm_on_ended - FI_SHUTDOWN of @ep.  All that it has received has been read by now. */
void rxm_on_ended(struct rxm_ep *ep);

/* ---- tx.c --------------------------------------------------------------------------------------- */

/* rxm_tx_probe - see to it that something is in flight to the peer: if its end of the connection is
 * gone, the provider below will report that.  At most one empty message a second; none in the
 * compatible format, which has no such message.
 */
void rxm_tx_probe(struct rxm_conn *conn);

/* rxm_tx_stalls - name peers in the log that have returned no credits for long, while messages wait. */
void rxm_tx_stalls(struct rxm_poller *poller);

/* rxm_tx_credits - the peer has returned @cnt credits. */
void rxm_tx_credits(struct rxm_conn *conn, unsigned cnt);

/* rxm_tx_send - eng_link_ops.send. */
int rxm_tx_send(struct rxm_conn *conn, struct eng_pkt *pkt);

/* rxm_tx_post - post a message below.
 * Returns 1: copied, the buffer is the caller's; 0: in flight; < 0: not sent, -FI_EAGAIN: now.
 */
int rxm_tx_post(struct rxm_conn *conn, struct rxm_tx_buf *msg);

/* rxm_tx_rndv - announce @pkt in the compatible format: its memory is registered, and done() follows
 * when the peer has read it, and for @ack the WIRE_ACK of @id.
 * Returns 0; -FI_EAGAIN: not now.
 */
int rxm_tx_rndv(struct rxm_conn *conn, struct eng_pkt *pkt, const struct rxmf_packet *head,
		unsigned ack, uint32_t id);

/* rxm_tx_push - send what may leave; packets that wait only in poll(), where it makes
 * upcalls.  Returns true if a queue below is full.
 */
bool rxm_tx_push(struct rxm_conn *conn);

/* rxm_tx_waits - is there something that poll() alone may do? */
bool rxm_tx_waits(const struct rxm_conn *conn);

/* rxm_tx_returned - the peer has done with our rendezvous @id.  Makes an upcall.
 * Errors: -FI_EPROTO, there is none.
 */
int rxm_tx_returned(struct rxm_conn *conn, uint64_t id);

/* rxm_tx_done - rendezvous @id of the peer is read, or not wanted: tell it. */
void rxm_tx_done(struct rxm_conn *conn, uint64_t id);

/* rxm_tx_close - send the message that announces the end, if there is room. */
void rxm_tx_close(struct rxm_conn *conn);

/* rxm_tx_idle - has all that was given to the connection been sent, and read by the peer? */
bool rxm_tx_idle(const struct rxm_conn *conn);

/* rxm_tx_reset - the connection ends with @err (positive).  Makes upcalls for rendezvous. */
void rxm_tx_reset(struct rxm_conn *conn, int err);

/* ---- rx.c ----------------------------------------------------------------------------------------- */

/* rxm_on_message - a message of @len bytes has arrived in @buf.  Makes upcalls. */
void rxm_on_message(struct rxm_rx_buf *buf, size_t len);

/* rxm_on_written - the peer has written @len bytes with @data, which took @buf.  Makes upcalls. */
void rxm_on_written(struct rxm_rx_buf *buf, size_t len, uint64_t data);

/* rxm_rx_run - process what is here: frames are offered to the engine.  Makes upcalls. */
void rxm_rx_run(struct rxm_conn *conn);

/* rxm_rx_hold - eng_link_held.hold. */
void *rxm_rx_hold(struct rxm_link *link, const struct eng_rx *rx);

/* rxm_rx_pull - eng_link_held.pull. */
int rxm_rx_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t iov_cnt, void *cookie);

/* rxm_rx_reset - the connection has ended with @err (positive), and with it what was not
 * received.  @eps: its endpoints, closed by now; NULL if there is none.  Makes upcalls.
 */
void rxm_rx_reset(struct rxm_conn *conn, struct rxm_ep *const eps[2], int err);

/* ---- rma.c -------------------------------------------------------------------------------------- */

/* rxm_read_start - read the payload of rendezvous @id of the peer from @seg into @iov.
 * The end is reported by eng_on_placed(@cookie), from poll().
 * @in_order: the frames behind it wait until it is complete
 * Errors: -FI_ENOMEM.
 */
int rxm_read_start(struct rxm_conn *conn, uint64_t id, const struct wire_rma *seg, unsigned segs,
		   const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order);

/* rxm_read_memory - read @seg, of memory that the peer has registered, into rx->iov.
 * The end is reported by eng_on_placed(rx->cookie), from poll().
 * Errors: -FI_ENOMEM.
 */
int rxm_read_memory(struct rxm_conn *conn, const struct wire_rma *seg, unsigned segs,
		    const struct eng_rx *rx);

/* rxm_fetch_start - read the payload of @hold into memory of our own: the peer's rendezvous ends.
 * hold->fetch is set, unless there is no memory for it.
 */
void rxm_fetch_start(struct rxm_conn *conn, struct rxm_hold *hold);

/* rxm_fetch_take - it goes to @iov instead, and eng_on_placed(@cookie) follows.
 * rxm_fetch_drop - it goes nowhere.  Both: the hold is the caller's.
 */
void rxm_fetch_take(struct rxm_rma *rma, const struct iovec *iov, size_t iov_cnt, void *cookie);
void rxm_fetch_drop(struct rxm_rma *rma);

/* What a write of the program is, besides its memory. */
struct rxm_write {
	bool has_data;		/* the peer gets @data with the last piece */
	uint64_t data;
	unsigned ack;		/* WIRE_ACK that the engine waits for, of @ack_id; or 0 */
	uint32_t ack_id;	/* the request */
};

/* rxm_write_start - write the payload of @pkt to @seg, which has the same length.  Compatible format
 * only.  done(), and what @write says, follow when it is complete.
 * Returns 0; -FI_EAGAIN: no memory.
 */
int rxm_write_start(struct rxm_conn *conn, struct eng_pkt *pkt, const struct rxm_write *write,
		    const struct wire_rma *seg, unsigned segs);

/* rxm_write_rndv - write the payload of our rendezvous @id to @seg, as far as there is room.
 * rxm_compat_written() follows.
 * Errors: -FI_ENOMEM.
 */
int rxm_write_rndv(struct rxm_conn *conn, uint64_t id, const struct eng_pkt *pkt,
		   const struct wire_rma *seg, unsigned segs);

/* rxm_on_rma - an operation below is complete, or has failed with @err.  Makes upcalls. */
void rxm_on_rma(struct rxm_op *op, int err);

/* rxm_rma_continue - for chan_poller_drain() on poller->rmas.  Makes upcalls. */
int rxm_rma_continue(struct list *node);

/* rxm_rma_lost - the transfers of @ep, which is closed, end with @err.  Makes upcalls. */
void rxm_rma_lost(struct rxm_conn *conn, struct rxm_ep *ep, int err);

/* rxm_rma_free - free what a closed endpoint left on ep->rmas. */
void rxm_rma_free(struct rxm_ep *ep);

#endif
