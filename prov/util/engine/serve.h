/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * serve.h - what peers do to our memory: reads, writes, atomics.
 *
 * Every range that a packet names passes obj_mr_enter() before it is touched.  A request
 * that may not be served gets a NACK with the reason; its peer lives on.  When a region
 * closes, reads of it that have begun end with a NACK after the pieces that the link has,
 * and writes with their packet; a peer that keeps one of these from ending is cut off.
 *
 * Reads of one peer are answered in the order of their arrival: the next one begins once all of the
 * payload before it is with the link.
 */
#ifndef ENG_SERVE_H
#define ENG_SERVE_H

#include "engine/api.h"
#include "engine/ctl.h"
#include "engine/peer.h"
#include "engine/pump.h"
#include "engine/sink.h"
#include "obj/mr.h"

/* Operands and comparands of one atomic, and where its results go. */
#define ENG_AMO_RESULTS (2 * ENG_ATOMIC_MAX)
#define ENG_AMO_ROOM (ENG_AMO_RESULTS + ENG_IOV_MAX * sizeof(struct iovec))

/* Regions that a request touches. */
struct eng_uses {
	unsigned cnt;
	struct obj_mr_use use[WIRE_RMA_MAX];
};

/* A request that cannot be finished at once. */
struct eng_serve {
	struct eng_peer *peer;
	struct list node;		/* read: on peer->serves */
	struct list live;		/* with @uses: on grp->serving */
	struct eng_uses uses;
	size_t mark;			/* how far it was when a region was about to close */
	struct eng_name name;		/* read that its initiator copies: by what it answers */
	struct eng_sink sink;		/* write, atomic: payload comes in; named: an announced write */
	struct eng_pump pump;		/* read: payload goes out */
	struct eng_out *ctl;		/* ACK or DATA, kept for when it is done */
	void *amo;			/* atomic: operands, from grp->amos */
	void *bounce;			/* write to memory of a device that is not announced, or over
					 * more ranges than a list holds: malloc */
	size_t done;			/* read: bytes of the ranges that are out */
	uint16_t range;			/* read: the one that is going out */
	bool shared;			/* read: its initiator copies it from our device */
	bool going;			/* read: a range has begun, and not ended */
	bool running;			/* read: pump is being started */
	int err;
	struct wire_msg msg;		/* the request */
	struct iovec iov[OBJ_MR_IOV_MAX];
	struct obj_mr *mrs[OBJ_MR_IOV_MAX];	/* read of memory of a device: of each of @iov */
};

/* eng_serve_read, _write, _atomic - a request has passed wire_parse().
 *
 * @why_p: [out] what is wrong with it for ENG_RX_BAD, or NULL
 *
 * Return the verdict for the link.
 */
enum eng_rx_verdict eng_serve_read(struct eng_peer *peer, const struct wire_msg *msg,
				   const char **why_p);
enum eng_rx_verdict eng_serve_write(struct eng_peer *peer, struct eng_rx *rx,
				    const struct wire_msg *msg, const char **why_p);
enum eng_rx_verdict eng_serve_atomic(struct eng_peer *peer, struct eng_rx *rx,
				     const struct wire_msg *msg, const char **why_p);

/* eng_serve_fail_all - @peer is lost: stop answering it. */
void eng_serve_fail_all(struct eng_peer *peer);

/* eng_serve_revoke - obj_poller_ops.revoke: for all requests of @grp. */
void eng_serve_revoke(struct eng_grp *grp, const struct obj_mr *mr, unsigned phases,
		      enum obj_revoke how);

/* eng_serve_next - go on with the reads of @peer. */
void eng_serve_next(struct eng_peer *peer);

/* ---- copies between processes and announced writes (serve_share.c) ------------------- */

/* eng_serve_answered - a CTS, an ACK with WIRE_F_SHARE or a NACK.  False: it names no read that
 * is being copied.
 */
bool eng_serve_answered(struct eng_peer *peer, const struct wire_msg *msg);

/* eng_serve_refused - the payload of an announced write, into sink @id, will not come.  False:
 * there is no such write.
 */
bool eng_serve_refused(struct eng_peer *peer, uint32_t id, int err);

/* eng_serve_announced - ask for the payload of a write that may be done.
 *
 * @rx:   iov lists where it goes
 * @cnt:  how many pieces of memory that is
 * @uses: the region; taken over with ENG_RX_DONE
 */
enum eng_rx_verdict eng_serve_announced(struct eng_peer *peer, const struct eng_rx *rx,
					const struct wire_msg *msg, size_t cnt,
					struct eng_uses *uses);

/* eng_serve_share - let the initiator of the read @sv copy the range that is to go out.  False:
 * it cannot, pump it.
 */
bool eng_serve_share(struct eng_serve *sv);

/* eng_serve_unshare - @peer, which copies the read @sv, is lost. */
void eng_serve_unshare(struct eng_serve *sv);

/* eng_serve_fail_announced - @peer is lost: no more of the payload of its writes comes. */
void eng_serve_fail_announced(struct eng_peer *peer);

/* ---- between serve.c, serve_amo.c and serve_share.c ------------------------------------- */

/* eng_serve_touch - @sv has @uses from now on, until eng_serve_untouch(). */
void eng_serve_touch(struct eng_serve *sv, const struct eng_uses *uses);
void eng_serve_untouch(struct eng_serve *sv);

/* eng_serve_on_device - does any of the regions lie in memory of a device? */
bool eng_serve_on_device(const struct eng_uses *uses);

/* eng_serve_written - the payload of a piece is in place.  @ack: for the initiator, or NULL */
void eng_serve_written(struct eng_peer *peer, const struct wire_msg *msg, struct eng_out *ack);

/* eng_serve_range_done - a range of a read is with the peer (0), or will not be. */
void eng_serve_range_done(struct eng_serve *sv, int status);

/* eng_serve_get - a request object that holds a reference on @peer, or NULL. */
struct eng_serve *eng_serve_get(struct eng_peer *peer, const struct wire_msg *msg);
void eng_serve_put(struct eng_serve *sv);

/* eng_uses_leave - the request touches them no longer. */
static inline void eng_uses_leave(struct eng_uses *uses)
{
	while (uses->cnt)
		obj_mr_leave(&uses->use[--uses->cnt]);
}

/* eng_serve_refuse - NACK with @err (negative), and a line in the log.
 * Returns ENG_RX_DONE, or ENG_RX_LATER when there is no memory for the answer.
 */
enum eng_rx_verdict eng_serve_refuse(struct eng_peer *peer, const struct wire_msg *msg, int err);

/* eng_serve_failed - the same when the payload is here already.
 * @ctl: to write the NACK in, used up; NULL: it is got here, if there is memory
 */
void eng_serve_failed(struct eng_peer *peer, const struct wire_msg *msg, int err,
		      struct eng_out *ctl);

/* eng_serve_events - an operation on all ranges of @msg is done: counters of the
 * regions and of the endpoint, completion data.
 *
 * @access: FI_REMOTE_WRITE, FI_REMOTE_READ, or both: an atomic that fetches and changes
 */
void eng_serve_events(struct eng_peer *peer, const struct wire_msg *msg, uint64_t access,
		      uint64_t op_flag, uint64_t len);

#endif
