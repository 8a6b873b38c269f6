/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * state.h - what the files of this folder share: the keys of a protected connection, and what a protected link has.
 */
#ifndef RXD_SECURE_STATE_H
#define RXD_SECURE_STATE_H

#include "base/hmap.h"
#include "base/list.h"
#include "rxd/conn.h"
#include "rxd/sealed.h"
#include "secure/handshake.h"
#include "secure/policy.h"
#include "secure/record.h"

struct rxd_guard {
	struct sec_policy *policy;
	struct hmap by_cid;		/* our id -> struct rxd_sec */
	struct list guests;		/* oldest first */
	unsigned guest_cnt;
	uint64_t forged_max;		/* datagrams that do not open; SEC_FORGED_MAX but in tests */
	uint64_t key_bytes;		/* after which a key is exchanged; SEC_KEY_BYTES_MAX but in tests */
	uint8_t *out;			/* sealed datagrams of the burst in hand */
	size_t out_len;
	uint8_t *plain;			/* the datagram that was opened last */
	size_t room;			/* bytes of it */
};

struct rxd_sec {
	struct list node;		/* on guard->guests; of others empty */
	struct rxd_link *link;		/* NULL: of a request */
	struct rxd_conn *conn;		/* NULL: a guest, or of a request */
	struct rxd_sec *other;		/* of an endpoint that is connected to itself: the other end */
	struct rxd_request *request;	/* what stands for a guest that has left has this alone, and no keys */
	uint64_t cid, peer_cid;		/* the peer's is 0: not known yet */
	bool server;
	enum sec_level level;
	uint8_t key_name[SEC_NAME_SIZE];	/* of the key that a client has proven */
	uint8_t addr[RXD_ADDR_MAX];	/* of the peer: of a guest proven by its cookie */
	uint8_t name[RXD_ADDR_MAX];	/* where the peer is, as it has said sealed; with @named */
	bool named;

	/* the handshake; NULL: it is done */
	struct sec_shake *shake;
	struct sec_keys *keys;
	uint8_t *said;			/* bytes for the peer */
	uint32_t said_len;
	uint32_t said_acked;		/* of them the peer has so many */
	uint32_t heard;			/* bytes of the peer's, without a gap */
	uint64_t hello_epoch;		/* of a guest, as the HELLO in the clear said */

	/* sealed datagrams */
	bool open;			/* the peer has proven the key: what follows is keyed */
	struct sec_dir tx;
	uint64_t tx_no;
	bool tx_phase;
	uint64_t tx_phase_pn;		/* a packet from here on that is acknowledged shows that the peer has the key */
	struct sec_dir rx;
	struct sec_dir rx_next;		/* ctx NULL: not derived yet */
	struct sec_dir rx_old;		/* the key before, until @old_until_ns; ctx NULL: there is none */
	uint64_t old_until_ns;
	uint64_t rx_first;		/* the datagram that came first under @rx */
	bool rx_phase;
	struct sec_window window;
};

/* rxd_sec_key - the handshake has exported @exported: key both directions.  False: libcrypto failed. */
bool rxd_sec_key(struct rxd_sec *sec, const uint8_t exported[SEC_HASH_SIZE]);

/* rxd_guard_free - of a link without guests. */
void rxd_guard_free(struct rxd_link *link);

/* rxd_sec_unkey - nothing of the keys stays in memory. */
void rxd_sec_unkey(struct rxd_sec *sec);

#endif
