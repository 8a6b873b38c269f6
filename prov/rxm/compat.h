/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * compat.h - a connection in the compatible format, to a peer of another implementation.
 *
 * It has what rxm_conn has, and besides it what the format needs.  The engine knows that messages go whole
 * (ENG_FORMAT_WHOLE) and nothing else of it: its packets are translated (foreign/rxmf/translate.h) when they
 * are sent, and the peer's when they are offered.
 * There are no credits: the provider below holds a sender back whose peer has no buffer posted.
 *
 *   compat/life.c  the connection; packets that wait; what the engine is told in place of the peer
 *   compat/tx.c    packets of the engine
 *   compat/rx.c    packets of the peer
 *   compat/rma.c   remote memory, and rendezvous that the sender writes
 *   compat/amo.c   atomics
 *
 * Threading: under the lock of the progress group.
 */
#ifndef RXM_COMPAT_H
#define RXM_COMPAT_H

#include "conn.h"
#include "engine/wire.h"
#include "foreign/rxmf/packet.h"

#define RXM_COMPAT_ID 1u	/* our index of a connection; each has its own receive buffers */

struct rxm_compat {
	uint32_t conn_id;		/* that the peer gave */
	size_t limit;			/* longest eager message */
	uint64_t last_id;		/* of our segmented messages */
	struct eng_pkt *cutting;	/* our segmented message that is being sent */
	size_t cut;			/* bytes of it that are sent */
	uint32_t cut_no;		/* segments of it that are sent */
	bool writing;			/* a write is posted in part: nothing may pass it */
	struct list owed;		/* struct rxm_owed: packets without payload that wait */
	struct list reports;		/* struct rxm_report: for the engine, by the next poll */
	struct list amos;		/* struct eng_pkt: atomics of ours, unanswered */
	struct list serves;		/* struct rxm_serve: atomics of the peer, unanswered */
	uint32_t last_serve;
	struct list offers;		/* struct rxm_offer: rendezvous that the peer writes */
	struct list parts;		/* struct rxm_part that are incomplete */
	size_t part_bytes;		/* of all struct rxm_part */
	uint8_t hdr[ENG_HDR_MAX];	/* of the message that is offered to the engine */
};

/* ---- compat/life.c -------------------------------------------------------------------------------------- */

/* rxm_compat_start - conn->compat, with the connection id that the peer gave.
 * Errors: -FI_ENOMEM.
 */
int rxm_compat_start(struct rxm_conn *conn, uint32_t conn_id, size_t limit);

/* rxm_compat_end - the connection ends with @err (positive): done() for packets that are held, memory is
 * freed.  After this conn->compat is NULL.  Makes upcalls.
 */
void rxm_compat_end(struct rxm_conn *conn, int err);

/* rxm_compat_idle - nothing waits to be sent or answered. */
bool rxm_compat_idle(const struct rxm_compat *compat);

/* rxm_compat_send - a packet with pkt->payload_len bytes of @iov, from @off on.
 * Errors: -FI_EAGAIN: not now; others: the connection is lost.
 */
int rxm_compat_send(struct rxm_conn *conn, struct rxmf_packet *pkt, const struct iovec *iov,
		    size_t iov_cnt, size_t off);

/* rxm_compat_owe - send a packet without payload, as soon as there is room.  Without memory for it the
 * connection fails.
 */
void rxm_compat_owe(struct rxm_conn *conn, const struct rxmf_packet *pkt);

/* rxm_compat_push - send what waits.
 * Errors: -FI_EAGAIN: the queue below is full.
 */
int rxm_compat_push(struct rxm_conn *conn);

/* rxm_compat_refuse - the operation of @pkt fails with FI_EOPNOTSUPP; @why, for the log, is what the
 * peer cannot do.
 * Returns 0: done() follows; -FI_EAGAIN.
 */
int rxm_compat_refuse(struct rxm_conn *conn, struct eng_pkt *pkt, const char *why);

/* rxm_compat_ask - a read of ours: the next poll has the engine say where to, and begins it; of 0 bytes:
 * it is complete.
 * Returns 1; -FI_EAGAIN.
 */
int rxm_compat_ask(struct rxm_conn *conn, uint32_t id, const struct wire_rma *seg, unsigned segs,
		   uint64_t len);

/* rxm_compat_report - make the upcalls that wait for a poll. */
void rxm_compat_report(struct rxm_conn *conn);

/* rxm_compat_tell - offer the engine @msg in place of the peer.  Makes upcalls.
 * @rx: payload, if @msg has any; header and length are filled in here
 */
enum eng_rx_verdict rxm_compat_tell(struct rxm_conn *conn, const struct wire_msg *msg, struct eng_rx *rx);

/* rxm_compat_ack, rxm_compat_nack - the same for the end of the operation @id.  Make upcalls. */
void rxm_compat_ack(struct rxm_conn *conn, unsigned ack, uint32_t id);
void rxm_compat_nack(struct rxm_conn *conn, int err, uint32_t id);

/* ---- compat/tx.c --------------------------------------------------------------------------------- */

/* rxm_compat_put - send a packet of the engine.
 * Returns 1: sent or copied; 0: done() follows; -FI_EAGAIN: not now; other errors: the connection is
 * lost.
 */
int rxm_compat_put(struct rxm_conn *conn, struct eng_pkt *pkt);

/* rxm_compat_rndv - announce a message whose memory is in @seg.
 * Errors: -FI_EAGAIN.
 */
int rxm_compat_rndv(struct rxm_conn *conn, const struct rxmf_packet *head, uint64_t id,
		    const struct wire_rma *seg, unsigned segs);

/* ---- compat/rma.c ----------------------------------------------------------------------------------- */

/* rxm_compat_read, rxm_compat_write - packets READ and WRITE of the engine.  Return as rxm_compat_put(). */
int rxm_compat_read(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg);
int rxm_compat_write(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg);

/* rxm_compat_posted - the write that was posted in part is posted: what is behind it may be sent. */
void rxm_compat_posted(struct rxm_conn *conn);

/* rxm_compat_done - rendezvous @id of the peer is read, or not wanted: tell it. */
void rxm_compat_done(struct rxm_conn *conn, uint64_t id);

/* rxm_compat_take - have the payload of rendezvous @id of the peer placed in @iov: read, or written by
 * the peer (FI_OFI_RXM_USE_RNDV_WRITE).  Otherwise as rxm_read_start().
 */
int rxm_compat_take(struct rxm_conn *conn, uint64_t id, const struct wire_rma *seg, unsigned segs,
		    const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order);

/* rxm_compat_on_offer, rxm_compat_on_written - packets WRITE_OFFER and WRITE_DONE.  Make upcalls.
 * Return NULL, or what is wrong.
 */
const char *rxm_compat_on_offer(struct rxm_conn *conn, const struct rxmf_packet *pkt);
const char *rxm_compat_on_written(struct rxm_conn *conn, const struct rxmf_packet *pkt);

/* rxm_compat_written - our rendezvous @id is written.  Makes upcalls. */
void rxm_compat_written(struct rxm_conn *conn, uint64_t id);

/* rxm_compat_drop_offers - the connection ends with @err.  Makes upcalls. */
void rxm_compat_drop_offers(struct rxm_conn *conn, struct rxm_compat *compat, int err);

/* ---- compat/amo.c ----------------------------------------------------------------------------------- */

/* rxm_compat_atomic - a packet ATOMIC of the engine.  Returns as rxm_compat_put(). */
int rxm_compat_atomic(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg);

/* rxm_compat_answer - the engine's answer, DATA, ACK or NACK, to an atomic of the peer.  Returns as
 * rxm_compat_put().
 */
int rxm_compat_answer(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg);

/* rxm_compat_on_atomic - a packet ATOMIC of the peer.
 * @id_p: [out] its name for the engine, which is to have it; 0: it is answered
 * Returns NULL, or what is wrong.
 */
const char *rxm_compat_on_atomic(struct rxm_conn *conn, const struct rxmf_packet *pkt, uint32_t *id_p);

/* rxm_compat_on_response - a packet ATOMIC_RESPONSE.  Makes upcalls.  Returns NULL, or what is wrong. */
const char *rxm_compat_on_response(struct rxm_conn *conn, const struct rxmf_packet *pkt);

/* rxm_compat_drop_serves - the connection has ended. */
void rxm_compat_drop_serves(struct rxm_compat *compat);

/* ---- compat/rx.c ------------------------------------------------------------------------------ */

/* A message that arrives in segments: a buffer on conn->rxq, in its place among the others. */
struct rxm_part;

#define RXM_PARTS_MAX (UINT64_C(64) << 20)	/* bytes of messages in segments, or one message */

/* rxm_compat_arrived - the packet in @buf has arrived.  Makes upcalls.
 * Returns 1: it belongs on conn->rxq; 0: it is processed, post the buffer again; -FI_EPROTO, logged.
 */
int rxm_compat_arrived(struct rxm_conn *conn, struct rxm_rx_buf *buf);

/* rxm_compat_item - what is in @buf, of conn->rxq, for the engine.
 * Returns the offset behind it; 0: segments are missing.
 */
size_t rxm_compat_item(struct rxm_conn *conn, struct rxm_rx_buf *buf, struct rxm_item *item_p);

/* rxm_compat_is_part - is @buf a segmented message, and not a receive buffer?  Then
 * rxm_compat_free_part() frees it.
 */
static inline bool rxm_compat_is_part(const struct rxm_rx_buf *buf)
{
	return !buf->op.ep;
}

void rxm_compat_free_part(struct rxm_conn *conn, struct rxm_rx_buf *buf);

/* rxm_compat_is_full - messages in segments have used up their memory, and it will be free again: the
 * engine has no memory for a frame, or a read is in flight.
 */
static inline bool rxm_compat_is_full(const struct rxm_conn *conn)
{
	return conn->compat->part_bytes >= RXM_PARTS_MAX && (conn->paused || conn->reading);
}

/* rxm_compat_is_end - does the packet in @buf end something, and begin nothing? */
bool rxm_compat_is_end(const struct rxm_rx_buf *buf);

#endif
