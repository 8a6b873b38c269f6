/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * query.h - what processes on other hosts wait for, asked over the connections that the program has made.
 *
 * fi_top asks a process, and that process the peers that it waits for.  Each answers what it waits for itself
 * (struct wire_answer), and passes the question on to those, as often as the question says; their answers come
 * back the same way.  A question has a random number: a process takes it once, so that a cycle ends.
 *
 * A process answers peers that have proven a key or a certificate, and others only with FI_INSPECT=all.  How many
 * questions it takes in a second, and how many it waits for, is limited.  Nothing is connected, kept or waited for
 * on account of a question, and a channel whose version of the packets has none is not asked.
 *
 * Messages of the context WIRE_CTX_OOB carry it (oob.h).  All functions are called with the group locked.
 */
#ifndef ENG_QUERY_H
#define ENG_QUERY_H

#include "engine/ep.h"
#include "engine/seen.h"
#include "engine/wire.h"

struct eng_query;

/* eng_query_ask - ask the peers that @ep waits for, unless it was done a moment ago. */
void eng_query_ask(struct eng_ep *ep);

/* eng_query_look - append what has been answered.  Returns false: the step ends before the last one. */
bool eng_query_look(struct eng_ep *ep, struct obj_look *look);

/* eng_query_of - is the message of the library's context with the data word @key part of a question? */
static inline bool eng_query_of(uint64_t key)
{
	return (key & ~UINT64_C(0xff)) == WIRE_Q_ASK || key == WIRE_Q_ANSWER;
}

/* eng_query_on_ask - @peer has asked question @num, which may be passed on by @hops peers. */
void eng_query_on_ask(struct eng_peer *peer, uint64_t num, unsigned hops);

/* eng_query_posted - how many receives for answers are posted: nothing that the program waits for. */
size_t eng_query_posted(const struct eng_ep *ep);

/* eng_query_lost - @peer is lost; the requests that were in progress with it are over.
 * eng_query_stop - the endpoint closes: nothing is received any more.
 * eng_query_free - its link is closed.
 */
void eng_query_lost(struct eng_ep *ep, struct eng_peer *peer);
void eng_query_stop(struct eng_ep *ep);
void eng_query_free(struct eng_ep *ep);

/* eng_query_oob - of an endpoint without collectives: it takes no other messages of that context. */
extern const struct eng_oob_user eng_query_oob;

#endif
