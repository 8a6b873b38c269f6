/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * handshake.h - who is there: TLS 1.3 (RFC 8446) by OpenSSL's libssl, as a machine of bytes.
 *
 * The caller carries the bytes: what sec_shake_take() gives goes to the peer, what comes from it goes to
 * sec_shake_feed().  Nothing blocks, nothing has a socket or a clock.  A handshake takes the keys of key.h,
 * always with a fresh Diffie-Hellman exchange (psk_dhe_ke), without tickets, early data or resumption.
 * What both sides share afterwards is exported; the records of TLS carry nothing else.
 */
#ifndef SEC_HANDSHAKE_H
#define SEC_HANDSHAKE_H

#include "secure/key.h"
#include "secure/level.h"

/* Bytes that a peer may send before the handshake has ended; ours are below 1 KiB in each direction. */
#define SEC_SHAKE_IN_MAX 16384

enum sec_shake_state {
	SEC_SHAKE_RUNNING,
	SEC_SHAKE_DONE,		/* both Finished were verified: the peer has the key */
	SEC_SHAKE_FAILED,	/* sec_shake_why() says why; what there is to take is an alert for the peer */
};

struct sec_certs;

struct sec_shake_attr {
	bool server;
	const struct sec_keys *keys;	/* lives as long as the handshake */
	const struct sec_certs *certs;	/* in place of keys; lives as long, too; NULL: keys */
	uint8_t id[16];			/* random, of this endpoint: the client's in a context, and what
					 * a server does not accept from a client */
	enum sec_level level;
	uint8_t version, oldest;	/* of the wire */
	uint8_t to[SEC_TO_SIZE];	/* client: whom it means; server: what it was reached by.  A client that
					 * means another one is not accepted.  0: not compared.  With @certs: that
					 * the server's certificate must name */
	bool no_self;		/* no endpoint connects to itself by a handshake: our own id is never accepted */
	const char *other;	/* server: what the log says of a client that means another one; NULL: an address */
};

struct sec_peer_cert;
struct sec_shake;

/* sec_shake_ready - can handshakes be made here?  Loads libssl.
 * @why_p: [out] why not; a text that is never freed
 */
bool sec_shake_ready(const char **why_p);

/* sec_shake_open - begin.  A client has bytes to take at once.  Needs sec_shake_ready().
 * Returns 0 or -FI_ENOMEM.
 */
int sec_shake_open(const struct sec_shake_attr *attr, struct sec_shake **shake_p);

void sec_shake_close(struct sec_shake *shake);

/* sec_shake_feed - bytes of the peer, as many as there are, split anywhere. */
enum sec_shake_state sec_shake_feed(struct sec_shake *shake, const uint8_t *buf, size_t len);

/* sec_shake_take - bytes for the peer: how many, at most @size; 0: none at present. */
size_t sec_shake_take(struct sec_shake *shake, uint8_t *buf, size_t size);

enum sec_shake_state sec_shake_state(const struct sec_shake *shake);

/* sec_shake_begins - does a record of TLS begin with @first: change_cipher_spec, alert, handshake, application_data
 * (RFC 8446, section 5.1)?
 */
static inline bool sec_shake_begins(uint8_t first)
{
	return first >= 20 && first <= 23;
}

/* sec_shake_why - of one that failed: a text for the log, with nothing of a key. */
const char *sec_shake_why(const struct sec_shake *shake);

/* sec_shake_key_name - which key the client has proven (SEC_NAME_SIZE bytes): for the server, when it is done. */
const uint8_t *sec_shake_key_name(const struct sec_shake *shake);

/* sec_shake_context - what the client said of itself: for the server, when it is done. */
const struct sec_context *sec_shake_context(const struct sec_shake *shake);

/* sec_shake_peer - the certificate of the peer, when it is done; NULL with keys.  Ownership: sec_peer_cert_free(). */
struct sec_peer_cert *sec_shake_peer(const struct sec_shake *shake);

/* sec_shake_export - the secret of this handshake, equal at both ends, when it is done. */
bool sec_shake_export(struct sec_shake *shake, uint8_t secret[SEC_HASH_SIZE]);

#endif
