/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cert.h - certificates: both sides of a handshake have one of a CA that both trust, in place of a key that they
 * share.  The certificate of a server names the address that was meant; that of a client has a name that FI_TLS_PEERS
 * lets in, and the address that its endpoint claims, which its user compares when it knows it.
 */
#ifndef SEC_CERT_H
#define SEC_CERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "secure/level.h"

#define SEC_CERT_WHY_MAX 160

/* File names, of PEM; NULL: not set. */
struct sec_cert_files {
	const char *cert;		/* ours, and those of CAs between it and the one that peers trust */
	const char *key;		/* of it: only its owner may read the file */
	const char *ca;			/* of those that peers' certificates come from */
	const char *crl;		/* what they have taken back, of each CA; optional */
	const char *peers;		/* no file: names of clients, or patterns with * and ?, with commas between;
					 * optional: all of the CA */
};

struct sec_certs;			/* what was read of them */

/* sec_certs_open - read them.
 *
 * Returns 0; -FI_EACCES with the reason in @why (@why_len bytes); -FI_ENOMEM.  Threading: any.
 */
int sec_certs_open(const struct sec_cert_files *files, struct sec_certs **certs_p, char *why, size_t why_len);

/* sec_certs_close - no handshake with them runs any more.  @certs may be NULL. */
void sec_certs_close(struct sec_certs *certs);

/* One handshake, for handshake.c alone: libssl's object, of sec_certs_context(), has it as its data 0. */
struct sec_cert_shake {
	const struct sec_certs *certs;	/* while sec_cert_shake_begin() and the handshake run; NULL: it takes keys */
	bool server;
	uint8_t level, version, oldest;	/* both sides agree on them, in the application protocol (RFC 7301) */
	char why[SEC_CERT_WHY_MAX];	/* "", or why the peer is not accepted */
};

/* sec_certs_context - for SSL_new(). */
void *sec_certs_context(const struct sec_certs *certs);

/* sec_cert_shake_begin - @shake is filled in.
 * @address: that the certificate of a server must name: IPv6, or IPv4 mapped into it
 * False: libssl failed.
 */
bool sec_cert_shake_begin(struct sec_cert_shake *shake, void *ssl, const uint8_t address[16]);

/* sec_cert_shake_proven - the handshake is done: was the peer's chain verified, and does it speak what we do? */
bool sec_cert_shake_proven(struct sec_cert_shake *shake, void *ssl);

/* ---- the certificate of a peer, after the handshake ---------------------------- */

struct sec_peer_cert;			/* one that was verified */

/* sec_cert_peer - that of the peer of @ssl; NULL: it has none.  Ownership: sec_peer_cert_free(), which takes NULL. */
struct sec_peer_cert *sec_cert_peer(void *ssl);
void sec_peer_cert_free(struct sec_peer_cert *cert);

/* sec_peer_cert_is_at - has it @address (IPv6, or IPv4 mapped into it) as an iPAddress? */
bool sec_peer_cert_is_at(struct sec_peer_cert *cert, const uint8_t address[16]);

/* sec_peer_cert_text - its names, with commas between, as many as there is room for; what is not printable is a "?". */
void sec_peer_cert_text(const struct sec_peer_cert *cert, char *text, size_t size);

#endif
