/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * compat.h - a connection in the compatible format, to a peer of another implementation.
 *
 * It has what rxm_conn has, and besides it what the format needs.  The engine knows nothing of it:
 * its packets are translated (compat/translate.h) when they are sent, and the peer's when they are offered.
 * There are no credits: the provider below holds a sender back whose peer has no buffer posted.
 *
 * Threading: under the lock of the progress group.
 */
#ifndef RXM_COMPAT_H
#define RXM_COMPAT_H

#include "conn.h"
#include "rxm/compat/packet.h"

#define RXM_COMPAT_ID 1u	/* our index of a connection; each has its own receive buffers */

/* A message that arrives in segments: a buffer on conn->rxq, in its place among the others. */
struct rxm_part;

struct rxm_compat {
	uint32_t conn_id;		/* that the peer gave */
	uint32_t process;		/* the peer's life */
	size_t limit;			/* longest eager message */
	uint64_t last_id;		/* of our segmented messages */
	struct eng_pkt *cutting;	/* our segmented message that is being sent, ... */
	size_t cut;			/* ... so many bytes of it are sent, ... */
	uint32_t cut_no;		/* ... in so many segments */
	struct list dones;		/* struct rxm_owed: rendezvous that the peer has to be told the
					 * end of */
	struct list refused;		/* struct eng_pkt: not possible here; done() by the next poll */
	struct list parts;		/* struct rxm_part that are incomplete */
	size_t part_bytes;		/* of all struct rxm_part */
	bool logged;			/* the log says what the peer cannot do */
	uint8_t hdr[ENG_HDR_MAX];	/* of the message that is offered to the engine */
};

/* rxm_compat_start - conn->compat, with the connection id that the peer gave.
 * Errors: -FI_ENOMEM.
 */
int rxm_compat_start(struct rxm_conn *conn, uint32_t conn_id, uint32_t process, size_t limit);

/* rxm_compat_end - the connection ends with @err (positive): done() for what was refused, memory is
 * freed.  After this conn->compat is NULL.  Makes upcalls.
 */
void rxm_compat_end(struct rxm_conn *conn, int err);

/* ---- compat_tx.c --------------------------------------------------------------------------------- */

/* rxm_compat_put - send a packet of the engine.
 * Returns 1: sent or copied; 0: done() follows; -FI_EAGAIN: not now; other errors: the connection is
 * lost.
 */
int rxm_compat_put(struct rxm_conn *conn, struct eng_pkt *pkt);

/* rxm_compat_rndv - announce a message whose memory is in @seg.
 * Errors: -FI_EAGAIN.
 */
int rxm_compat_rndv(struct rxm_conn *conn, const struct rxm_packet *head, uint64_t id,
		    const struct rxm_seg *seg, unsigned segs);

/* rxm_compat_done - rendezvous @id of the peer is read, or not wanted: tell it. */
void rxm_compat_done(struct rxm_conn *conn, uint64_t id);

/* rxm_compat_push - send what waits; report what was refused, in poll() only.
 * Errors: -FI_EAGAIN: the queue below is full.
 */
int rxm_compat_push(struct rxm_conn *conn);

/* ---- compat_rx.c ------------------------------------------------------------------------------ */

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

#define RXM_PARTS_MAX (UINT64_C(64) << 20)	/* bytes of messages in segments, or one message */

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
