/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * lent.h - receives that another provider lends us, for fi_peer(3).
 *
 * A shared receive context that was opened with FI_PEER has no receives: its owner
 * matches, and lends an entry for each message.  What finds none waits here, with the
 * link, until the owner says start or discard.  The owner calls under a lock of its
 * own, which we ask for under ours; so its calls go through the inbox.
 */
#ifndef ENG_LENT_H
#define ENG_LENT_H

#include <rdma/providers/fi_peer.h>

#include "engine/recv.h"

/* eng_lent_import - make @srx one whose receives are those of context->srx.
 * Errors: -FI_EINVAL, -FI_ENOMEM, -FI_EMFILE.
 */
int eng_lent_import(struct eng_ep *srx, const struct fi_peer_srx_context *context);

/* eng_lent_end - @srx closes; its endpoints are gone.  Caller holds prog->lock. */
void eng_lent_end(struct eng_ep *srx);

/* eng_lent_sources - addresses were inserted: let the owner ask for those it lacked.
 * Caller holds prog->lock.
 */
void eng_lent_sources(struct eng_ep *srx);

/* eng_lent_message - a message for an endpoint with such a context: ask the owner. */
enum eng_rx_verdict eng_lent_message(struct eng_peer *peer, struct eng_rxc *rxc,
				     const struct eng_envelope *env, struct eng_rx *rx);

/* eng_lent_forget - the message that @lent waits with is gone with its endpoint. */
void eng_lent_forget(struct eng_lent *lent);

/* eng_lent_return - a receive on a lent entry is over. */
void eng_lent_return(struct fi_peer_rx_entry *entry);

#endif
