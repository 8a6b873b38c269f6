/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * recv.h - a receive, and a message that found none.
 *
 * A receive is posted, meets one message (a multi-receive buffer: many, each as
 * a part of its own), takes in its payload and completes.  The payload comes
 * with the message, out of the link's hold, or as DATA that a CTS asked for.
 */
#ifndef ENG_RECV_H
#define ENG_RECV_H

#include <assert.h>
#include <rdma/fi_tagged.h>

#include "engine/ep.h"
#include "engine/ctl.h"
#include "engine/peer.h"
#include "engine/sink.h"
#include "engine/wire.h"

enum eng_recv_state {
	ENG_RECV_NEW,		/* being filled in */
	ENG_RECV_POSTED,	/* in a matcher */
	ENG_RECV_MATCHED,	/* has its message */
	ENG_RECV_PLACING,	/* eager payload is being moved to the buffer */
	ENG_RECV_PULL,		/* CTS is sent; DATA comes */
	ENG_RECV_SKIP,		/* reported as cancelled; the rest of its message is skipped */
	ENG_RECV_CLOSING,	/* multi-receive: takes no more, parts are not complete */
};

/* What is known of a message, whether it came just now or a while ago. */
struct eng_envelope {
	uint64_t tag;
	uint64_t data;
	uint64_t len;
	uint32_t tx_id;		/* sender's name for it, where an answer is wanted */
	uint8_t flags;		/* WIRE_F_* */
	bool rts;		/* announced only */
};

/* An unexpected message. */
struct eng_msg {
	struct match_msg m;		/* first; claimed: m.all is on rxc->claimed */
	struct list peer_node;		/* on peer->msgs */
	struct eng_peer *peer;
	struct eng_rxc *rxc;
	struct eng_envelope env;
	struct eng_link *link;		/* that has @token */
	void *token;			/* the link's hold; NULL: RTS, or no payload */
	uint64_t held;			/* bytes of payload in our memory, see flow.h */
	void *claimer;			/* context of the peek that claimed it */
	bool claimed;
	bool lost;			/* claimed, and its sender is gone */
	struct eng_imported *imported;	/* waits at another provider's, as if claimed; or NULL */
};

struct eng_imported;
struct eng_watch;
struct fi_peer_rx_entry;

/* What a short message needs is two lines. */
struct eng_recv {
	struct match_recv m;		/* first */
	void *context;
	uint16_t iov_cnt;
	uint8_t state;			/* enum eng_recv_state */
	bool want_comp;
	bool asked;			/* FI_COMPLETION was given; says what an SRX cannot know yet */
	bool multi;
	bool slow;			/* not for the fast path: @multi, @trig, @entry or sink.dev */
	bool quiet;			/* deferred work that reports to its counter only */
	struct eng_ep *ep;		/* whose completion it is */
	struct eng_rxc *rxc;
	uint64_t cq_flags;		/* of the completion */
	size_t room;			/* bytes in iov */
	struct iovec iov[ENG_IOV_MAX];
	struct eng_sink sink;		/* name.peer: the source it is directed at, then the sender */
	struct eng_envelope env;	/* once matched */
	/* NULL and 0 in most: they lie together, to be cleared together */
	struct eng_out *ack;		/* kept for when all is in place */
	struct eng_recv *buffer;	/* part: the multi-receive it lies in */
	struct eng_trig *trig;		/* deferred work that ends with it, or NULL */
	struct fi_peer_rx_entry *entry;	/* another provider lends it, or NULL */
	struct eng_watch *watch;	/* it was to be cancelled, see cancel.c; or NULL */
	unsigned parts;			/* multi-receive: not complete */
	int abort;			/* multi-receive: why it was taken back; 0: it was not */
	size_t min;			/* multi-receive: release when less room is left */
	struct list node;		/* PLACING, PULL, SKIP: on peer->rxs */
};

/* ---- data calls (recv.c), for the tables in send.c ------------------------ */

ssize_t eng_recv_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
		      void *context);
ssize_t eng_recv_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
		       fi_addr_t src, void *context);
ssize_t eng_recv_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags);
ssize_t eng_recv_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
		       uint64_t tag, uint64_t ignore, void *context);
ssize_t eng_recv_trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t cnt,
			fi_addr_t src, uint64_t tag, uint64_t ignore, void *context);
ssize_t eng_recv_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags);

/* eng_recv_cancel - fi_cancel() (cancel.c).  -FI_ENOENT: no posted receive has @context. */
ssize_t eng_recv_cancel(fid_t fid, void *context);

/* ---- life of a receive (recv_life.c) --------------------------------------- */

/* eng_recv_set_state - the only way to change recv->state. */
bool eng_recv_may_become(enum eng_recv_state from, enum eng_recv_state to);

static inline void eng_recv_set_state(struct eng_recv *recv, enum eng_recv_state state)
{
	assert(eng_recv_may_become(recv->state, state) && "a receive goes forward only");
	recv->state = (uint8_t) state;
}

/* eng_recv_clear - all that a call need not say: one buffer, any source, nothing special. */
static inline void eng_recv_clear(struct eng_recv *recv)
{
	recv->m.src = MATCH_ANY;
	recv->sink.name = (struct eng_name) { .kind = ENG_NAME_SINK };
	recv->sink.dev = NULL;
	recv->ack = NULL;
	recv->buffer = NULL;
	recv->parts = 0;
	recv->state = ENG_RECV_NEW;
	recv->abort = 0;
	recv->multi = false;
	recv->slow = false;
	recv->quiet = false;
	recv->trig = NULL;
	recv->entry = NULL;
	recv->watch = NULL;
	recv->iov_cnt = 1;
}

/* eng_recv_fast_get - a cleared one, or NULL: no memory.  eng_recv_fast_put - give back
 * one that was cleared, posted and matched, and is otherwise as it was: it is not cleared
 * again when it is used again, at once in most programs.
 */
static inline struct eng_recv *eng_recv_fast_get(struct eng_grp *grp)
{
	struct pool_item *item = grp->fast;
	struct eng_recv *recv = (struct eng_recv *) item;

	if (__builtin_expect(item != NULL, 1)) {
		grp->fast = item->next;
		return recv;
	}
	recv = pool_get(&grp->recvs);
	if (recv)
		eng_recv_clear(recv);
	return recv;
}

static inline void eng_recv_fast_put(struct eng_grp *grp, struct eng_recv *recv)
{
	struct pool_item *item = (struct pool_item *) recv;

	recv->state = ENG_RECV_NEW;
	item->next = grp->fast;
	grp->fast = item;
}

/* eng_recv_get - one with undefined content, or NULL: no memory.  Those that the fast path has
 * given back come first: it cannot give them to the pool, which does not know them as cleared,
 * and what is posted by the slow path may end in the fast one.
 */
static inline struct eng_recv *eng_recv_get(struct eng_grp *grp)
{
	struct pool_item *item = grp->fast;

	if (!item)
		return pool_get(&grp->recvs);
	grp->fast = item->next;
	return (struct eng_recv *) item;
}

/* eng_recv_ctl_get - take the control packets that answering @env will need.
 * Returns false, with none taken, when memory is short.
 */
bool eng_recv_ctl_get(struct eng_grp *grp, const struct eng_envelope *env,
		      struct eng_out *ctls[3]);
void eng_recv_ctl_put(struct eng_out *ctls[3]);

/* eng_recv_begin - @recv, no longer posted, has met the message @env of @peer.
 * Uses @ctls: acknowledges the match, asks for what was announced.
 */
void eng_recv_begin(struct eng_recv *recv, struct eng_peer *peer,
		    const struct eng_envelope *env, struct eng_out *ctls[3]);

/* eng_recv_placing - the link is about to place an eager payload; cookie is
 * &recv->sink.
 */
void eng_recv_placing(struct eng_recv *recv);

/* eng_recv_finish - payload is in place (@status 0), or will never be; @recv is
 * completed and gone.
 */
void eng_recv_finish(struct eng_recv *recv, int status);

/* eng_recv_refused - @peer takes back what it announced and was asked for with @id,
 * for the reason @err: FI_EIO, its device has failed; else a receive of oob.h only.
 * Returns false if there is no such receive.
 */
bool eng_recv_refused(struct eng_peer *peer, uint32_t id, int err);

/* eng_recv_abort - take back a posted receive and report @err (positive). */
void eng_recv_abort(struct eng_recv *recv, int err);

/* eng_recv_skip - end @recv, whose message has stopped arriving, with @err (positive).
 *
 * The rest of the message is skipped when it comes; the connection lives on.
 *
 * Ownership: on success the receive is reported, its buffers are the program's; @recv stays on
 *            peer->rxs until the message is here or its sender is lost.
 * Threading: caller holds prog->lock; in a poll.
 * Errors:    false, and nothing has changed: the buffers cannot be taken back.
 */
bool eng_recv_skip(struct eng_recv *recv, int err);

/* eng_recv_unwatch - @recv, which is watched, ends. */
void eng_recv_unwatch(struct eng_recv *recv);

/* eng_recv_free - give back the memory and the reference to the peer. */
void eng_recv_free(struct eng_recv *recv);

/* eng_recv_adopt - a receive of a shared context has met a message of @ep, whose it is
 * from now on.
 */
void eng_recv_adopt(struct eng_recv *recv, struct eng_ep *ep);

/* eng_recv_flush - abort everything posted in @rxc. */
void eng_recv_flush(struct eng_rxc *rxc, int err);

/* eng_recv_fail_all - @peer is lost: abort what is directed at it, fail what it
 * was sending, forget what it announced.  A receive that the link still fills, when the
 * program itself ended the connection, fails when the link is done with it.
 */
void eng_recv_fail_all(struct eng_peer *peer, int err);

/* ---- multi-receive (multi_recv.c) ------------------------------------------------ */

/* eng_mrecv_part - cut room for a message of @len out of a posted buffer.
 *
 * The buffer leaves the matcher when too little is left.  Returns NULL, with
 * nothing changed, when memory is short.
 */
struct eng_recv *eng_mrecv_part(struct eng_recv *buffer, size_t len);

/* eng_mrecv_part_done - a part is about to be completed.
 * Returns FI_MULTI_RECV if its completion releases the buffer, which is then
 * gone, else 0.
 */
uint64_t eng_mrecv_part_done(struct eng_recv *buffer);

/* eng_mrecv_close - an unposted buffer takes no more: released now, or with its
 * last part.
 */
void eng_mrecv_close(struct eng_recv *buffer);

/* eng_mrecv_abort - an unposted buffer is cancelled or fails with @err: released
 * now, or after its last part.
 */
void eng_mrecv_abort(struct eng_recv *buffer, int err);

/* ---- unexpected messages (unexp.c) ------------------------------------------ */

/* eng_unexp_keep - store a message; for an eager one with payload hold it.
 * Returns the verdict for the link.
 */
enum eng_rx_verdict eng_unexp_keep(struct eng_peer *peer, struct eng_rxc *rxc,
				   const struct eng_envelope *env, struct eng_rx *rx);

/* eng_unexp_keep_imported - the same for a message that another provider matches. */
enum eng_rx_verdict eng_unexp_keep_imported(struct eng_peer *peer, struct eng_rxc *rxc,
					    const struct eng_envelope *env, struct eng_rx *rx,
					    struct eng_imported *imp, struct eng_msg **msg_p);

/* eng_unexp_drop - throw @msg away; its sender gets no answer. */
void eng_unexp_drop(struct eng_msg *msg);

/* eng_unexp_take - receive @msg, which is gone afterwards, with @recv.
 *
 * @ctls: what eng_recv_ctl_get() gave for it; used up
 * Returns 0, and @recv is complete or in progress; -FI_ENOMSG: the payload was lost
 * with its sender and @recv is as before (never for a claimed message or a part).
 */
int eng_unexp_take(struct eng_recv *recv, struct eng_msg *msg, struct eng_out *ctls[3]);

/* eng_unexp_discard - drop @msg; its sender completes as if it were received.
 * Returns 0 or -FI_EAGAIN, nothing has changed.
 */
int eng_unexp_discard(struct eng_msg *msg);

/* eng_unexp_claim - only a receive with this @context may have @msg. */
void eng_unexp_claim(struct eng_msg *msg, void *context);
struct eng_msg *eng_unexp_claimed(struct eng_rxc *rxc, void *context);

/* eng_unexp_peer_lost - forget what @peer announced; payload that is here stays. */
void eng_unexp_peer_lost(struct eng_peer *peer);

/* eng_unexp_drop_peer - the endpoint closes: drop all that @peer sent. */
void eng_unexp_drop_peer(struct eng_peer *peer);

/* ---- peek, claim, discard (peek.c) ------------------------------------------ */

/* eng_peek - a receive call with FI_PEEK, or with FI_CLAIM and FI_DISCARD.
 *
 * @model: filled-in receive, on the caller's stack
 * Returns 0: its completion is written; -FI_EAGAIN.
 */
int eng_peek(struct eng_recv *model, struct match *m, uint64_t flags);

static inline struct match *eng_rxc_match(struct eng_rxc *rxc, bool tagged)
{
	return tagged ? &rxc->tagged : &rxc->msgs;
}

#endif
