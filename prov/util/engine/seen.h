/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * seen.h - an endpoint as a program that inspects this one sees it (obj/inspect/shown.h): its peers, the
 * sends that wait for them, the posted receives, the unexpected messages.
 *
 * What calls count anyway is read; nothing is counted for it.
 */
#ifndef ENG_SEEN_H
#define ENG_SEEN_H

#include "engine/peer.h"

/* Lists are cut: so many are told, of the oldest for messages and sends; the counts are of all. */
#define ENG_SEEN_RECVS 256
#define ENG_SEEN_MSGS 64
#define ENG_SEEN_SENDS 4	/* of a peer */
#define ENG_SEEN_PEERS 1024	/* where few are wanted (INSPECT_FEW) */

/* What an endpoint waits for. */
struct eng_wait {
	struct eng_peer *peer;	/* NULL: any */
	uint64_t tag, len, id;
	uint8_t kind;		/* enum wire_wait_kind (wire.h) */
};

#define ENG_WAITS_MAX 16

/* eng_seen_waits - sends that wait for a receive, and posted receives, those with a source first; of long lists
 * not all are looked at.
 * eng_seen_name - the endpoint's own address; "": it has none
 * Caller holds prog->lock.   Cost: some microseconds.
 */
size_t eng_seen_waits(struct eng_ep *ep, struct eng_wait *waits, size_t max);
void eng_seen_name(struct eng_ep *ep, char text[INSPECT_TEXT]);

/* eng_seen_add - @ep, which is enabled, can be looked at until obj_shown_remove(&ep->shown). */
void eng_seen_add(struct eng_ep *ep);

/* eng_seen_peer - fill in the numbers of @rec, zeroed before.
 * @want: enum inspect_want; with INSPECT_PATHS @path, INSPECT_PATH bytes, "" at first, gets a text
 * Caller holds prog->lock.
 */
void eng_seen_peer(struct eng_peer *peer, struct inspect_peer *rec, uint32_t want, char *path);

/* eng_profile_open - ops_open of an endpoint: fi_profile(3). */
int eng_profile_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);

/* eng_seen_forget - @peer goes: a look in progress continues with the next one. */
static inline void eng_seen_forget(struct eng_peer *peer)
{
	if (peer->ep->shown.next == peer)
		peer->ep->shown.next = peer->node.next == &peer->ep->peers ? NULL :
				       container_of(peer->node.next, struct eng_peer, node);
}

#endif
