/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tx.h - one operation of the initiator.
 *
 * A short message leaves as one EAGER packet; a long one, or any while the peer
 * is short of memory, is announced (RTS) and pumped out when the peer asks.  A
 * write is one or more WRITE packets, handed to the link at once so that what
 * follows stays behind it; a read and a fetching atomic wait for DATA.  A long write from a
 * device to a peer of this host is announced, too, and what follows waits until it is complete.
 * The request lives until its buffers are free and what its completion level
 * waits for has come: the link's done(), an ACK, or the last byte.
 */
#ifndef ENG_TX_H
#define ENG_TX_H

#include "engine/ep.h"
#include "engine/peer.h"
#include "engine/pump.h"
#include "engine/sink.h"
#include "engine/trig.h"
#include "engine/wire.h"

/* Payload up to this is copied into the request. */
#define ENG_TX_INLINE 128

enum eng_tx_state {
	ENG_TX_NEW,		/* being filled in */
	ENG_TX_FENCED,		/* waits for earlier operations to its peer */
	ENG_TX_EAGER,		/* payload went with the header, or there is none */
	ENG_TX_RTS,		/* announced, a message or a write; waits for CTS */
	ENG_TX_SHARED,		/* the receiver copies it from its device; waits for the ACK of that */
	ENG_TX_DATA,		/* being pumped out */
	ENG_TX_ASKED,		/* waits for DATA */
	ENG_TX_SENT,		/* all is done but packets or an ACK to come */
	ENG_TX_FAILED,		/* waits for packets to come back from the link */
};

struct eng_tx {
	struct eng_pkt pkt;		/* first; while announced, pkt.iov is the message and iov_cnt 0 */
	struct eng_ep *ep;		/* whose completion it is */
	struct eng_name name;		/* whose peer it goes to */
	void *context;
	uint64_t cq_flags;		/* of the completion */
	size_t len;			/* of the message */
	uint16_t iov_cnt;		/* of the message */
	uint8_t state;			/* enum eng_tx_state */
	uint8_t first;			/* state that it starts in: EAGER, RTS or ASKED */
	uint8_t cntr;			/* enum obj_ep_cntr */
	bool pkt_out;			/* @pkt is with the link */
	bool want_comp;
	bool want_ack;			/* an ACK has to come first */
	bool copied;			/* injected: ours is the only copy */
	bool fence;			/* starts when all before it are complete */
	bool barrier;			/* all after it start when it is complete */
	bool barring;			/* it has started, and its peer is ENG_PEER_BARRED */
	bool listed;			/* on peer->txs or peer->fenced */
	bool pumping;			/* @pump runs */
	unsigned pieces;		/* further packets that are with the link */
	int err;			/* FAILED: negative */
	void *bounce;			/* from grp->bounces, or NULL */
	void *amo;			/* from grp->amos, or NULL */
	struct eng_trig *trig;		/* deferred work that ends with it, or NULL */
	struct eng_out *refusal;	/* RTS that was abandoned: the answer to a CTS */
	struct list node;		/* on peer->txs or peer->fenced */
	struct list outs;		/* struct eng_out by pkt.node, to go before @pkt */
	struct eng_pump pump;		/* DATA */
	struct eng_sink sink;		/* ASKED; its @dev also of what is sent */
	uint8_t data[ENG_TX_INLINE];
};

/* eng_tx_enter - the way into every call that sends.
 *
 * Takes the lock, finds the peer and opens its channel, and sees that there is
 * room for one more request.
 *
 * @peer_p: [out] the peer
 *
 * Returns 0 with ep->base.prog->lock held, else an error without it.
 * Errors: -FI_EINVAL no such address, -FI_ENOTCONN, -FI_EAGAIN, the link's.
 */
int eng_tx_enter(struct eng_ep *ep, fi_addr_t dest, struct eng_peer **peer_p);

/* eng_tx_find - the same with the lock held, and it stays held. */
int eng_tx_find(struct eng_ep *ep, fi_addr_t dest, struct eng_peer **peer_p);

/* eng_tx_describe - whose it is and what completes with it; the rest is 0. */
void eng_tx_describe(struct eng_tx *tx, struct eng_ep *ep, struct eng_peer *peer,
		     void *context, uint64_t cq_flags, enum obj_ep_cntr cntr, size_t len);

/* eng_tx_as_work - with ENG_OP_WORK in @flags: it is deferred work that starts.
 * want_comp is set already.
 */
void eng_tx_as_work(struct eng_tx *tx, uint64_t flags);

/* eng_tx_attach - list the payload in tx->pkt, or copy it into the request if it
 * is short or injected.
 * Errors: -FI_EAGAIN, no memory.
 */
int eng_tx_attach(struct eng_tx *tx, const struct iovec *iov, size_t cnt, size_t len,
		  bool inject);

/* eng_tx_launch - send a request that is filled in, or hold it behind a fence.
 *
 * @flags: FI_FENCE
 *
 * Ownership: @tx is used up, whatever is returned.
 * Returns 0, or what the call is to return: -FI_EAGAIN, the link's error.
 */
int eng_tx_launch(struct eng_tx *tx, uint64_t flags);

/* eng_tx_done - pkt.done of every request: its own packet is back. */
void eng_tx_done(struct eng_pkt *pkt, int status);

/* eng_tx_adopt - the link has kept tx->pkt of a request that was sent without
 * eng_tx_launch(): it counts from now on.
 */
void eng_tx_adopt(struct eng_tx *tx);

/* eng_tx_announce - turn the packet of @tx, which is filled in and has a name, into
 * the announcement of a message, which stays listed in pkt.iov.  The header of a write is
 * filled in afterwards.
 */
void eng_tx_announce(struct eng_tx *tx);

/* eng_tx_announce_late - the same for a packet that the link holds and has sent nothing of, if it is that
 * of a message whose payload is not short.
 * Returns true: @pkt has no payload now, and is the announcement.  False: nothing has changed.
 */
bool eng_tx_announce_late(struct eng_pkt *pkt);

/* eng_tx_announce_not - an announcement that the link holds, on a list, and has sent nothing of, becomes the
 * message.  If it is none nothing changes.  A payload of a device that cannot be copied ends the operation, and
 * @pkt has left the list.
 */
void eng_tx_announce_not(struct eng_pkt *pkt);

/* eng_tx_abandon - the result of @tx, a request of oob.h, is no longer wanted.
 *
 * Returns true: its payload will not be touched again and its end is not reported.  If
 * the peer asks for it, it is refused.  False, and nothing has changed: the payload
 * is with the link, or memory is short.
 */
bool eng_tx_abandon(struct eng_tx *tx);

/* eng_tx_free - give back @tx and everything it holds. */
void eng_tx_free(struct eng_tx *tx);

/* eng_tx_piece - one more packet that goes before tx->pkt; its header and payload
 * are the caller's to fill in.  NULL: no memory.
 */
struct eng_pkt *eng_tx_piece(struct eng_tx *tx);

/* eng_tx_ask - @tx will be complete when @len bytes of DATA are in @iov.
 * Errors: -FI_ENOMEM.
 */
int eng_tx_ask(struct eng_tx *tx, struct iovec *iov, size_t cnt, size_t len);

/* eng_tx_leave - @ctx, a context of a scalable endpoint, closes: what it has sent, and only learns from the
 * answer that it has come, becomes the endpoint's, which reports nothing of it.
 */
void eng_tx_leave(struct eng_ep *ctx);

/* eng_tx_fail_all - @peer is lost: complete all that waits for it with @err. */
void eng_tx_fail_all(struct eng_peer *peer, int err);

/* eng_tx_on_cts, eng_tx_on_ack - the peer's answers.
 * Return NULL, or what is wrong with the packet.
 */
const char *eng_tx_on_cts(struct eng_peer *peer, const struct wire_msg *msg);
const char *eng_tx_on_ack(struct eng_peer *peer, const struct wire_msg *msg);

/* eng_tx_on_nack - the peer refuses: an operation that is not complete ends with the error.  A short write or
 * an atomic may be complete, as its level has it: that is logged.
 */
void eng_tx_on_nack(struct eng_peer *peer, const struct wire_msg *msg);

/* ---- flags of the calls ------------------------------------------------------- */

#define ENG_TX_ACK_FLAGS (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_COMMIT_COMPLETE)
#define ENG_TX_CALL_FLAGS (FI_REMOTE_CQ_DATA | FI_COMPLETION | FI_MORE | FI_INJECT | FI_FENCE | \
			   FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | ENG_TX_ACK_FLAGS)

/* Flags with which an operation needs a request. */
#define ENG_TX_LONG_WAY (ENG_TX_ACK_FLAGS | FI_FENCE | FI_MORE | ENG_OP_WORK | ENG_TX_ANSWERED)

/* A call without a completion, and so without a context: fi_inject() and its kin. */
#define ENG_TX_QUIET (1ULL << 63)

/* A write that is complete when its target has answered, whatever its level is: one of ENG_RMA_LONG bytes and more. */
#define ENG_TX_ANSWERED (1ULL << 61)

/* eng_tx_not_sent - what the call returns when the link says @ret: the channel is gone, and a
 * connectionless endpoint may have another one after the next poll.
 */
static inline int eng_tx_not_sent(const struct eng_ep *ep, int ret)
{
	return ep->hub->only ? ret : -FI_EAGAIN;
}

/* eng_tx_may_refuse - may a call with payload of @len bytes return -FI_EAGAIN where the link would keep
 * a copy?  Only an inject of a program that polls.  The first time is beyond the guaranteed size of the
 * queue, or when ENG_KEPT bytes are kept: after that the program is known to call again.
 */
static inline bool eng_tx_may_refuse(const struct eng_ep *ep, const struct eng_peer *peer,
				     uint64_t flags, size_t len)
{
	return (flags & ENG_TX_QUIET) && !(flags & ENG_TX_LONG_WAY) && ep->spins && !peer->slow &&
	       peer->link->attr.once_max &&
	       (ep->retries || ep->beyond || len > ENG_KEPT / (peer->tx_cnt + 1));
}

/* eng_tx_refuse - the link has no room but will have some soon, where eng_tx_may_refuse().  A program that
 * polls calls again within microseconds, and has posted receives by then; a copy costs more.  Polls, after
 * which the peer may be gone.  Returns -FI_EAGAIN, as the call does.
 */
int eng_tx_refuse(struct eng_ep *ep);

/* eng_tx_wants_comp - is a success reported? */
static inline bool eng_tx_wants_comp(const struct eng_ep *ep, uint64_t flags)
{
	return !(flags & ENG_TX_QUIET) && obj_ep_want_tx_comp(&ep->base, flags);
}

#endif
