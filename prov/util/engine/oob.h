/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * oob.h - out-of-band messages: between endpoints, invisible to the program.
 *
 * The messages of collectives travel like any message, with eager packets, RTS and
 * flow control, but to a separate receive context: they match no receive of the
 * program, whatever tags and masks that uses, and write no completion.
 *
 * A message is named by two words, space and key, and is received by exactly that
 * name; messages of one name from one peer are received in the order of sending.
 *
 * The context exists from its first use on.  The user of an endpoint without collectives is
 * eng_query_oob, and it refuses their messages; questions (query.h) are any endpoint's.
 */
#ifndef ENG_OOB_H
#define ENG_OOB_H

#include "engine/ep.h"
#include "engine/wire.h"

struct eng_envelope;
struct eng_oob;
struct eng_recv;
struct eng_tx;

/* Of one send or receive; embedded in the user's. */
struct eng_oob_req {
	/* Once, when it is over, with the group locked, perhaps before the call that
	 * began it returns.  @status: 0 or negative; @len: bytes of the message,
	 * which may be less than there was room for.
	 */
	void (*done)(struct eng_oob_req *req, int status, size_t len);
	struct eng_tx *tx;	/* while it is in progress, one of the two */
	struct eng_recv *recv;
};

/* What to do with an unexpected message. */
enum eng_oob_action {
	ENG_OOB_KEEP,		/* until it is received */
	ENG_OOB_DROP,		/* its sender completes as if it had been received */
	ENG_OOB_LATER,	/* no memory just now: ask again */
};

/* Who sends and receives; all called with the group locked. */
struct eng_oob_user {
	/* open - make the user's part of @ep, which begins with struct eng_oob.
	 * Returns NULL without memory.
	 */
	struct eng_oob *(*open)(struct eng_ep *ep);
	/* close - the endpoint closes; nothing is in flight. */
	void (*close)(struct eng_oob *oob);

	/* arrived - a message that no receive waits for is here, without a payload if
	 * @bare.  May be asked more than once about one that is kept.
	 */
	enum eng_oob_action (*arrived)(struct eng_oob *oob, struct eng_peer *peer,
				       uint64_t space, uint64_t key, bool bare);
	/* lost - @peer is lost, for the reason @err (positive); done() of sends to it and
	 * of receives that it was filling has been called.
	 */
	void (*lost)(struct eng_oob *oob, struct eng_peer *peer, int err);
	/* stop - fi_close() of the endpoint: begin nothing any more, cancel what can be. */
	void (*stop)(struct eng_oob *oob);
};

struct eng_oob {
	struct eng_ep *ep;
	struct eng_rxc rxc;		/* its tagged matcher, by space and key */
};

/* eng_oob_get - @ep's context, made if it is the first time.
 * Errors: NULL, no memory.
 */
struct eng_oob *eng_oob_get(struct eng_ep *ep);

/* eng_oob_free - the endpoint goes. */
void eng_oob_free(struct eng_ep *ep);

/* eng_oob_send - send a message.
 *
 * Ownership: on 0 the payload is the engine's until req->done().
 * Errors:    -FI_EAGAIN no memory just now; those of link->send.
 */
int eng_oob_send(struct eng_oob *oob, struct eng_peer *peer, struct eng_oob_req *req,
		 uint64_t space, uint64_t key, const void *buf, size_t len);

/* eng_oob_notify - send a message without a payload; its outcome is not reported.
 * Errors: -FI_EAGAIN no memory just now.
 */
int eng_oob_notify(struct eng_peer *peer, uint64_t space, uint64_t key);

/* eng_oob_recv - receive the message of that name, from any peer.
 *
 * Errors: -FI_EAGAIN no memory just now; -FI_ECONNRESET it was here, but its payload
 *         has gone with its sender.
 */
int eng_oob_recv(struct eng_oob *oob, struct eng_oob_req *req, uint64_t space,
		 uint64_t key, void *buf, size_t len);

/* eng_oob_cancel - the result of @req is no longer wanted.
 *
 * Returns true: the buffer is free and done() will not be called.  False: the buffer
 * is in use; done() follows as soon as the link has let go of it.
 */
bool eng_oob_cancel(struct eng_oob_req *req);

/* eng_oob_posted - is it a receive that has not met its message? */
bool eng_oob_posted(const struct eng_oob_req *req);

/* eng_oob_each - call @fn for every message that is kept; it may drop that one. */
void eng_oob_each(struct eng_oob *oob,
		  void (*fn)(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
			     uint64_t key, void *msg, void *arg), void *arg);

/* eng_oob_drop - throw a kept message away, from within eng_oob_each().
 * Returns false without the memory that its sender's answer needs.
 */
bool eng_oob_drop(void *msg);

/* ---- for the engine ------------------------------------------------------------- */

/* eng_oob_unexpected - a message for the context matches no receive. */
enum eng_rx_verdict eng_oob_unexpected(struct eng_peer *peer, const struct eng_envelope *env,
				       struct eng_rx *rx);

/* eng_oob_send_done, eng_oob_recv_done - a request with FI_COLLECTIVE among its cq_flags is over. */
void eng_oob_send_done(struct eng_tx *tx);
void eng_oob_recv_done(struct eng_recv *recv, int status);

#endif
