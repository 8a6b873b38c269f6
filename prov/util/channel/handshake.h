/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * handshake.h - what the handshakes of all links have in common: who connects, in which
 * versions, and why a request is refused.  Each link has a layout of its own for it.
 */
#ifndef CHAN_HANDSHAKE_H
#define CHAN_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/release.h"

/* Who sends a handshake. */
struct chan_id {
	uint64_t epoch;		/* random, of the endpoint's life: a restarted one has another */
	uint64_t serial;	/* of this attempt among all of its sender, whose earlier lives had
				 * lower ones; an answer echoes it */
	uint64_t prev;		/* request: newest serial of ours that its sender has accepted, 0:
				 * none; answer: of its sender's own newest attempt */
};

/* Two versions have to agree: that of the link's bytes, and that of the engine's packets
 * (engine/wire.h), which the link carries without looking at them.  Each peer says the newest and
 * the oldest that it speaks, and both use the newest that both speak.
 */
struct chan_version {
	uint16_t link;
	uint16_t engine;
	uint16_t link_oldest;
	uint16_t engine_oldest;
	struct release release;	/* for texts; all 0: the handshake has none */
};

/* Why a request is refused.  The numbers are on the wire of every link. */
enum chan_reason {
	CHAN_OK = 0,
	CHAN_REJECTED = 1,	/* the program refused it; its private data follows */
	CHAN_VERSION_BAD = 2,	/* another version of the link's protocol, or of the engine's */
	CHAN_KIND_BAD = 3,	/* an RDM endpoint connects to a MSG one, or the reverse */
	CHAN_SIMULTANEOUS = 4,	/* a connect in the other direction counts instead */
	CHAN_BUSY = 5,		/* out of descriptors or memory: try again later */
	CHAN_MALFORMED = 6,	/* no handshake, or one with impossible fields */
	CHAN_ADDR_BAD = 7,	/* the sender claims an address that is not its own */
	CHAN_NOT_YET = 8,	/* the connection before has not ended here: try again */
	CHAN_NO_USE = 9,	/* this would be a further connection, which is not wanted */
	CHAN_NO_ENDPOINT = 10,	/* no endpoint here has the address that was connected to */
	CHAN_HELD = 11,		/* answer to a check: the connection stands here, too */
	CHAN_ENDED = 12,	/* answer to a check: it does not */
	CHAN_INSECURE = 13,	/* connections are protected there, and the request was not */
	CHAN_REASONS
};

/* chan_version_ours - of a link, with the engine's, which this library is built with, and its
 * release.
 */
struct chan_version chan_version_ours(uint16_t link, uint16_t link_oldest);

/* chan_version_agree - the newest versions that endpoints of the two have in common.
 *
 * @used_p: [out] link and engine; NULL: not wanted
 * Returns false: none, the connection is refused with CHAN_VERSION_BAD.
 */
bool chan_version_agree(const struct chan_version *ours, const struct chan_version *theirs,
			struct chan_version *used_p);

/* chan_version_first - @theirs as it was read from a handshake of a link whose versions say the oldest
 * only from @first on: one before that speaks no other than its own, and says no release.
 */
static inline void chan_version_first(struct chan_version *theirs, uint16_t first)
{
	if (theirs->link >= first)
		return;
	theirs->link_oldest = theirs->link;
	theirs->engine_oldest = theirs->engine;
	theirs->release = (struct release) { 0 };
}

/* chan_version_text - for the log: both releases, what each speaks, and the cure.
 * @buf: CHAN_VERSION_TEXT_MAX bytes.   Returns @buf.
 */
#define CHAN_VERSION_TEXT_MAX 400
const char *chan_version_text(const struct chan_version *ours, const struct chan_version *theirs,
			      char *buf);

/* chan_reason_text - for the log, as a clause: "it is out of descriptors ...".
 * A number that is not known here has a text, too.
 */
const char *chan_reason_text(uint32_t reason);

/* chan_reason_errno - the error of the operations that waited; positive. */
int chan_reason_errno(uint32_t reason);

#endif
