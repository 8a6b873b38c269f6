/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * aside.h - messages between endpoints that no program sees.
 *
 * What the library itself says to its peers in the course of an operation of many
 * (collectives) travels like any message, with eager packets, announcements and flow
 * control, but to a receive context of its own: it meets no receive of the program,
 * whatever tags and masks that uses, and completes into no queue.
 *
 * A message is named by two words, space and key, and is received by exactly that
 * name; messages of one name from one peer are received in the order of sending.
 *
 * The context exists from its first use on.  An endpoint whose user is NULL has none,
 * and refuses such messages.
 */
#ifndef ENG_ASIDE_H
#define ENG_ASIDE_H

#include "engine/ep.h"
#include "engine/wire.h"

struct eng_aside;
struct eng_recv;
struct eng_tx;

/* Of one send or receive; embedded in the user's. */
struct eng_aside_req {
	/* Once, when it is over, with the group locked, perhaps before the call that
	 * began it returns.  @status: 0 or negative; @len: bytes of the message,
	 * which may be less than there was room for.
	 */
	void (*done)(struct eng_aside_req *req, int status, size_t len);
	struct eng_tx *tx;	/* while under way, one of them */
	struct eng_recv *recv;
};

/* What becomes of a message that no receive waits for. */
enum eng_aside_fate {
	ENG_ASIDE_KEEP,		/* until it is received */
	ENG_ASIDE_DROP,		/* its sender completes as if it had been received */
	ENG_ASIDE_LATER,	/* no memory just now: ask again */
};

/* Who sends and receives; all called with the group locked. */
struct eng_aside_user {
	/* open - make the user's part of @ep, which begins with struct eng_aside.
	 * Returns NULL without memory.
	 */
	struct eng_aside *(*open)(struct eng_ep *ep);
	/* close - the endpoint goes; nothing is under way. */
	void (*close)(struct eng_aside *aside);

	/* arrived - a message that no receive waits for is here, without a payload if
	 * @bare.  May be asked more than once about one that is kept.
	 */
	enum eng_aside_fate (*arrived)(struct eng_aside *aside, struct eng_peer *peer,
				       uint64_t space, uint64_t key, bool bare);
	/* lost - @peer is gone, for the reason @err (positive); sends to it and receives
	 * that it was filling have been told.
	 */
	void (*lost)(struct eng_aside *aside, struct eng_peer *peer, int err);
	/* stop - fi_close() of the endpoint: begin nothing any more, cancel what can be. */
	void (*stop)(struct eng_aside *aside);
};

struct eng_aside {
	struct eng_ep *ep;
	struct eng_rxc rxc;		/* its tagged matcher, by space and key */
};

/* eng_aside_get - @ep's context, made if it is the first time.
 * Errors: NULL, no memory.
 */
struct eng_aside *eng_aside_get(struct eng_ep *ep);

/* eng_aside_free - the endpoint goes. */
void eng_aside_free(struct eng_ep *ep);

/* eng_aside_send - send a message.
 *
 * Ownership: on 0 the payload is the engine's until req->done().
 * Errors:    -FI_EAGAIN no memory just now; those of link->send.
 */
int eng_aside_send(struct eng_aside *aside, struct eng_peer *peer, struct eng_aside_req *req,
		   uint64_t space, uint64_t key, const void *buf, size_t len);

/* eng_aside_note - send a message without a payload, and never hear of it again.
 * Errors: -FI_EAGAIN no memory just now.
 */
int eng_aside_note(struct eng_peer *peer, uint64_t space, uint64_t key);

/* eng_aside_recv - receive the message of that name, from whomever it comes.
 *
 * Errors: -FI_EAGAIN no memory just now; -FI_ECONNRESET it was here, but its payload
 *         has gone with its sender.
 */
int eng_aside_recv(struct eng_aside *aside, struct eng_aside_req *req, uint64_t space,
		   uint64_t key, void *buf, size_t len);

/* eng_aside_cancel - nobody is interested in @req any more.
 *
 * Returns true: the buffer is free and done() will not be called.  False: the buffer
 * is in use; done() follows as soon as the link has let go of it.
 */
bool eng_aside_cancel(struct eng_aside_req *req);

/* eng_aside_waits - is it a receive that has not met its message? */
bool eng_aside_waits(const struct eng_aside_req *req);

/* eng_aside_each - call @fn for every message that is kept; it may drop that one. */
void eng_aside_each(struct eng_aside *aside,
		    void (*fn)(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
			       uint64_t key, void *msg, void *arg), void *arg);

/* eng_aside_drop - throw a kept message away, from within eng_aside_each().
 * Returns false without the memory that its sender's answer needs.
 */
bool eng_aside_drop(void *msg);

/* ---- for the engine ------------------------------------------------------------- */

/* eng_aside_unasked - a message for the context has met no receive. */
enum eng_rx_verdict eng_aside_unasked(struct eng_peer *peer, const struct wire_msg *msg,
				      struct eng_rx *rx);

/* eng_aside_sent, eng_aside_got - a request with FI_COLLECTIVE among its cq_flags is over. */
void eng_aside_sent(struct eng_tx *tx);
void eng_aside_got(struct eng_recv *recv, int status);

#endif
