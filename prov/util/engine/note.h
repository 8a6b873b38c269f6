/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * note.h - packets that carry no payload: CTS, ACK, NACK, XOFF, XON.
 *
 * A receive that will have to answer takes its notes before it is matched, so
 * that a shortage of memory is met while the message can still be refused.
 */
#ifndef ENG_NOTE_H
#define ENG_NOTE_H

#include "engine/grp.h"
#include "engine/peer.h"
#include "engine/wire.h"

/* eng_note_get - a packet to write later, or NULL. */
static inline struct eng_out *eng_note_get(struct eng_grp *grp)
{
	struct eng_out *note = pool_get(&grp->outs);

	if (note)
		note->grp = grp;
	return note;
}

static inline void eng_note_put(struct eng_out *note)
{
	pool_put(&note->grp->outs, note);
}

/* eng_note_send - write @note and send it; it is used up.
 *
 * @op, @flags, @id, @len: of the header
 * @word: what follows it for CTS (rx_id) and NACK (err)
 *
 * A peer whose channel is down is not called up for a note: what the note was
 * about has died with the channel.
 */
void eng_note_send(struct eng_out *note, struct eng_peer *peer, enum wire_op op,
		   uint8_t flags, uint32_t id, uint64_t len, uint32_t word);

#endif
