/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pump.h - sends a long payload as DATA pieces to a peer's sink.
 *
 * A few pieces are with the link at a time; each that comes back makes room for
 * the next.  Used by announced sends and by the answers to reads.
 */
#ifndef ENG_PUMP_H
#define ENG_PUMP_H

#include "engine/grp.h"

struct obj_mr;

/* Pieces of one payload that may be with the link at a time. */
#define ENG_PUMP_PIECES 4

struct eng_pump {
	struct eng_peer *peer;
	struct eng_grp *grp;
	struct iovec *iov;		/* the owner's; stays until done() */
	uint16_t iov_cnt;
	uint8_t pieces;			/* with the link */
	bool stopped;			/* no more pieces: failed, or finished */
	int err;
	uint32_t rx_id;			/* the peer's sink */
	size_t base;			/* where in the sink byte 0 of @iov goes */
	size_t off;			/* next byte of @iov to send */
	size_t want;			/* bytes of @iov to send */
	struct eng_work work;		/* waits for memory, or for a copy */
	/* memory of devices (dev.h) */
	struct obj_mr *const *mrs;	/* of each entry of @iov; NULL: all is system memory */
	struct list full;		/* struct eng_chunk, in the order of the payload */
	size_t fetched;			/* bytes of @iov that a chunk has, or had */
	unsigned chunks;		/* on @full */
	/* Called once, when nothing of it is with the link any more: all is out
	 * (0), or a piece failed or the pump was stopped (negative).
	 */
	void (*done)(struct eng_pump *pump, int status);
};

/* eng_pump_start - peer, grp, iov, iov_cnt, rx_id, base, want, mrs and done are set.
 * May call done() before it returns.
 */
void eng_pump_start(struct eng_pump *pump);

/* eng_pump_stop - send no more; done(@err) follows, or is called from here. */
void eng_pump_stop(struct eng_pump *pump, int err);

/* eng_pump_header - of the DATA packet with bytes @off .. @off + @len of the payload. */
void eng_pump_header(const struct eng_pump *pump, struct eng_pkt *pkt, size_t off, size_t len);

/* eng_pump_piece_done - a piece is back from the link; it is not counted any more. */
void eng_pump_piece_done(struct eng_pump *pump, int status);

#endif
