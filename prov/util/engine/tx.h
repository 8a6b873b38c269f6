/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tx.h - one operation on its way out.
 *
 * A short message leaves as one EAGER packet.  A long one, or any while the peer
 * is short of memory, is announced (RTS) and leaves as DATA when the peer asks.
 * The request lives until its buffers are free and what its completion level
 * waits for has come: the link's done(), or an ACK.
 */
#ifndef ENG_TX_H
#define ENG_TX_H

#include "engine/ep.h"
#include "engine/peer.h"
#include "engine/wire.h"

/* Payload up to this is copied into the request. */
#define ENG_TX_INLINE 128
/* Pieces of one message that may be with the link at a time. */
#define ENG_TX_PIECES 4

enum eng_tx_state {
	ENG_TX_NEW,		/* being filled in */
	ENG_TX_FENCED,		/* waits for earlier operations to its peer */
	ENG_TX_EAGER,		/* payload went with the header */
	ENG_TX_RTS,		/* announced; waits for CTS */
	ENG_TX_DATA,		/* pieces are going out */
	ENG_TX_SENT,		/* all is out, an ACK is still to come */
	ENG_TX_FAILED,		/* waits for packets to come back from the link */
};

struct eng_tx {
	struct eng_pkt pkt;		/* first; while announced, pkt.iov is the message and iov_cnt 0 */
	struct eng_ep *ep;		/* whose completion it is */
	struct eng_name name;		/* whose peer it goes to */
	void *context;
	uint64_t cq_flags;		/* of the completion */
	size_t len;			/* of the message */
	size_t off;			/* DATA: next byte to send */
	size_t want;			/* DATA: bytes that the peer asked for */
	uint32_t rx_id;			/* DATA: what we call its request */
	uint16_t iov_cnt;		/* of the message */
	uint8_t state;			/* enum eng_tx_state */
	uint8_t cntr;			/* enum obj_ep_cntr */
	uint8_t pieces;			/* DATA packets with the link */
	bool pkt_out;			/* @pkt is with the link */
	bool want_comp;
	bool want_ack;			/* an ACK has to come first */
	bool copied;			/* injected: ours is the only copy */
	bool fence;			/* starts when all before it are complete */
	bool listed;			/* on peer->txs or peer->fenced */
	int err;			/* FAILED: negative */
	void *bounce;			/* from grp->bounces, or NULL */
	struct list node;		/* on peer->txs or peer->fenced */
	struct eng_work work;		/* pieces that wait for memory */
	uint8_t data[ENG_TX_INLINE];
};

/* eng_tx_start - send the first packet of a filled-in request.
 *
 * tx->pkt has everything but done; state NEW or FENCED.
 * Returns 0, or what the link says when the peer is out of reach; then nothing
 * has been sent and @tx is still the caller's.
 */
int eng_tx_start(struct eng_tx *tx);

/* eng_tx_done - pkt.done of every request: its own packet is back. */
void eng_tx_done(struct eng_pkt *pkt, int status);

/* eng_tx_hold - keep @tx behind the fence of its peer, to be started later. */
void eng_tx_hold(struct eng_tx *tx);

/* eng_tx_free - give back @tx and everything it holds. */
void eng_tx_free(struct eng_tx *tx);

/* eng_tx_fail_all - @peer is lost: complete all that waits for it with @err. */
void eng_tx_fail_all(struct eng_peer *peer, int err);

/* eng_tx_on_cts, eng_tx_on_ack, eng_tx_on_nack - the peer's answers.
 * Return NULL, or what is wrong with the packet.
 */
const char *eng_tx_on_cts(struct eng_peer *peer, const struct wire_msg *msg);
const char *eng_tx_on_ack(struct eng_peer *peer, const struct wire_msg *msg);
const char *eng_tx_on_nack(struct eng_peer *peer, const struct wire_msg *msg);

#endif
