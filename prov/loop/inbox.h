/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * inbox.h - what is shared between endpoints: the messages that others have sent to one.
 *
 * This is the wire of the provider.  Everything else of a link is used by its own progress
 * group alone; an inbox is used by the groups of all endpoints that send to it, so it has a
 * lock of its own, which is held for a few instructions and under which no other is taken.
 * No progress group ever takes the lock of another one.
 *
 * An endpoint's inbox lives until the last reference to it is dropped, and is closed with the
 * endpoint: from then on nothing can be posted.  Messages of one sender keep their order.
 */
#ifndef LOOP_INBOX_H
#define LOOP_INBOX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/os/event.h"
#include "channel/handshake.h"

#define LOOP_NAME_MAX 64	/* of an endpoint, NUL included */

struct loop_inbox {
	struct list node;		/* on the list of all; guarded by its lock */
	char name[LOOP_NAME_MAX];	/* the endpoint's address; constant */
	_Atomic unsigned refs;
	struct os_event event;		/* signalled while there are messages */
	pthread_mutex_t lock;		/* guards what follows */
	bool open;
	struct list msgs;		/* struct loop_msg, the oldest first */
};

enum loop_kind {
	LOOP_REQUEST,	/* connect; @id says who */
	LOOP_ACCEPT,	/* the answer: the request is accepted; @id */
	LOOP_REFUSE,	/* the answer: it is not; @reason */
	LOOP_PACKET,	/* a packet of the engine */
	LOOP_CREDIT,	/* the receiver has taken LOOP_CREDITS packets */
	LOOP_CLOSE,	/* the connection or attempt has ended; nothing follows in it */
};

/* A message names its connection by the attempt that made it. */
struct loop_msg {
	struct list node;
	struct loop_inbox *from;	/* a reference to the sender's */
	enum loop_kind kind;
	bool ours;			/* the attempt was the sender's; else the receiver's */
	uint64_t serial;		/* of the attempt, in the count of who made it */
	struct chan_id id;		/* REQUEST, ACCEPT */
	enum chan_reason reason;	/* REFUSE */
	size_t hdr_len;			/* PACKET: header, then @len bytes of payload */
	size_t len;
	uint8_t bytes[];
};

/* loop_inbox_new - the inbox of an endpoint called @name, with one reference.
 * Errors: -FI_EADDRNOTAVAIL: not a name of this process; -FI_EADDRINUSE; -FI_ENOMEM;
 * -FI_EMFILE.
 */
int loop_inbox_new(const char *name, struct loop_inbox **inbox_p);

/* loop_inbox_find - a reference to the open inbox called @name.
 * Errors: -FI_EHOSTUNREACH: an endpoint of another process; -FI_ECONNREFUSED: there is none.
 */
int loop_inbox_find(const char *name, struct loop_inbox **inbox_p);

struct loop_inbox *loop_inbox_get(struct loop_inbox *inbox);
void loop_inbox_put(struct loop_inbox *inbox);

/* loop_inbox_post - add @msg, and wake the endpoint that sleeps.
 * Ownership: @msg is the inbox's.   Errors: -FI_ECONNRESET: closed, and @msg is freed.
 */
int loop_inbox_post(struct loop_inbox *inbox, struct loop_msg *msg);

/* loop_inbox_take - move all messages behind those of @msgs. */
void loop_inbox_take(struct loop_inbox *inbox, struct list *msgs);

/* loop_inbox_close - nothing can be posted, and the name is free; what was there is moved
 * behind @msgs.
 */
void loop_inbox_close(struct loop_inbox *inbox, struct list *msgs);

/* loop_msg_new - a message from @from with room for @len bytes; the rest is zero.
 * Errors: NULL, no memory.
 */
struct loop_msg *loop_msg_new(struct loop_inbox *from, enum loop_kind kind, size_t len);
void loop_msg_free(struct loop_msg *msg);

#endif
