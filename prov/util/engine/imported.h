/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * imported.h - a shared receive context of another provider, for fi_peer(3).
 *
 * A shared receive context that was opened with FI_PEER has no receives: its owner
 * matches, and gives an entry for each message.  An unexpected message waits here, its
 * payload with the link, until the owner calls start or discard.  The owner calls under
 * a lock of its own, which we take under ours; so its calls go through the inbox.
 */
#ifndef ENG_IMPORTED_H
#define ENG_IMPORTED_H

#include <rdma/providers/fi_peer.h>

#include "engine/recv.h"

/* eng_imported_open - make @srx one whose receives are those of context->srx.
 * Errors: -FI_EINVAL, -FI_ENOMEM, -FI_EMFILE.
 */
int eng_imported_open(struct eng_ep *srx, const struct fi_peer_srx_context *context);

/* eng_imported_close - @srx closes; its endpoints are gone.  Caller holds prog->lock. */
void eng_imported_close(struct eng_ep *srx);

/* eng_imported_sources - addresses were inserted: let the owner ask for those it lacked.
 * Caller holds prog->lock.
 */
void eng_imported_sources(struct eng_ep *srx);

/* eng_imported_message - a message for an endpoint with such a context: ask the owner. */
enum eng_rx_verdict eng_imported_message(struct eng_peer *peer, struct eng_rxc *rxc,
					 const struct eng_envelope *env, struct eng_rx *rx);

/* eng_imported_forget - the message that @imp waits for is gone with its endpoint. */
void eng_imported_forget(struct eng_imported *imp);

/* eng_imported_free_entry - a receive into an entry of the owner is over. */
void eng_imported_free_entry(struct fi_peer_rx_entry *entry);

#endif
