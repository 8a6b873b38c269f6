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

/* Who sends a handshake. */
struct chan_id {
	uint64_t epoch;		/* random, of the endpoint's life: a restarted one has another */
	uint64_t serial;	/* of this attempt among all of its sender, whose earlier lives had
				 * lower ones; an answer echoes it */
	uint64_t prev;		/* request: newest serial of ours that its sender has accepted, 0:
				 * none; answer: of its sender's own newest attempt */
};

/* Two versions have to agree: that of the link's bytes, and that of the engine's packets
 * (engine/wire.h), which the link carries without looking at them.
 */
struct chan_version {
	uint16_t link;
	uint16_t engine;
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
	CHAN_REASONS
};

/* chan_version_ours - with the engine's, which this library is built with. */
struct chan_version chan_version_ours(uint16_t link);

/* chan_version_same - may endpoints of the two versions talk? */
static inline bool chan_version_same(struct chan_version a, struct chan_version b)
{
	return a.link == b.link && a.engine == b.engine;
}

/* chan_reason_text - for the log, as a clause: "it is out of descriptors ...".
 * A number that is not known here has a text, too.
 */
const char *chan_reason_text(uint32_t reason);

/* chan_reason_errno - the error of the operations that waited; positive. */
int chan_reason_errno(uint32_t reason);

#endif
