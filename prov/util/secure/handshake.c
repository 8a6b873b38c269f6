/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/handshake.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_OPENSSL
#include <pthread.h>

#include "secure/cert.h"
#include "secure/tls.h"

static const struct sec_tls *tls;
static const char *missing;
static SSL_CTX *ssl_ctx;		/* for keys */
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

struct sec_shake {
	struct sec_cert_shake cert;	/* first; of use with attr.certs */
	struct sec_shake_attr attr;
	SSL *ssl;
	BIO *in, *out;		/* of @ssl */
	enum sec_shake_state state;
	bool proven;		/* the key of a client was known here, or is ours */
	uint8_t key_name[SEC_NAME_SIZE];	/* of the client's key, once it is proven */
	size_t fed;
	struct sec_context context;
	uint8_t identity[SEC_IDENTITY_SIZE];
	char why[160];
};

static void say_why(struct sec_shake *shake, const char *text)
{
	if (!*shake->why)
		snprintf(shake->why, sizeof(shake->why), "%s", text);
}

/* What TLS takes for a key: a session of TLS 1.3 whose resumption secret it is. */
static SSL_SESSION *make_session(SSL *ssl, const uint8_t psk[SEC_HASH_SIZE])
{
	static const uint8_t aes_128_gcm_sha256[] = { 0x13, 0x01 };
	SSL_SESSION *session = tls->SSL_SESSION_new();

	if (session && tls->SSL_SESSION_set1_master_key(session, psk, SEC_HASH_SIZE) == 1 &&
	    tls->SSL_SESSION_set_cipher(session, tls->SSL_CIPHER_find(ssl, aes_128_gcm_sha256)) == 1 &&
	    tls->SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
		return session;
	tls->SSL_SESSION_free(session);
	return NULL;
}

static SSL_SESSION *import_session(SSL *ssl, const struct sec_key *key,
				   const uint8_t identity[SEC_IDENTITY_SIZE])
{
	uint8_t psk[SEC_HASH_SIZE];
	SSL_SESSION *session;

	session = sec_key_import(key, identity, psk) ? make_session(ssl, psk) : NULL;
	explicit_bzero(psk, sizeof(psk));
	return session;
}

/* The client's key. */
static int on_use(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len, SSL_SESSION **session_p)
{
	struct sec_shake *shake = tls->SSL_get_ex_data(ssl, 0);
	const struct sec_key *key = &shake->attr.keys->key[0];

	shake->context = (struct sec_context) {
		.role = SEC_ROLE_CLIENT,
		.level = (uint8_t) shake->attr.level,
		.version = shake->attr.version,
		.oldest = shake->attr.oldest,
	};
	memcpy(shake->context.to, shake->attr.to, sizeof(shake->context.to));
	memcpy(shake->context.client, shake->attr.id, sizeof(shake->context.client));
	sec_identity_pack(key->name, &shake->context, shake->identity);
	*session_p = import_session(ssl, key, shake->identity);
	*id = shake->identity;
	*id_len = sizeof(shake->identity);
	return *session_p != NULL;
}

/* is_other - does the client mean another endpoint?  Its connection was led here on the way. */
static bool is_other(const uint8_t client[SEC_TO_SIZE], const uint8_t server[SEC_TO_SIZE])
{
	static const uint8_t not_said[SEC_TO_SIZE];

	return memcmp(client, not_said, SEC_TO_SIZE) && memcmp(server, not_said, SEC_TO_SIZE) &&
	       memcmp(client, server, SEC_TO_SIZE);
}

static bool is_own(const struct sec_shake *shake, const struct sec_context *context)
{
	return !memcmp(context->client, shake->attr.id, sizeof(context->client));
}

/* may_be_self - the client says that it means this endpoint, by the address at which it was reached: also one that
 * connects to itself, by another address of its host perhaps.
 */
static bool may_be_self(const struct sec_shake *shake, const struct sec_context *context)
{
	static const uint8_t not_said[SEC_TO_SIZE];

	return !shake->attr.no_self && memcmp(context->to, not_said, SEC_TO_SIZE) &&
	       !memcmp(context->to, shake->attr.to, SEC_TO_SIZE);
}

/* Why a client whose key is known is not accepted, or NULL. */
static const char *context_reason(const struct sec_shake *shake, const struct sec_context *context)
{
	if (context->role != SEC_ROLE_CLIENT || (is_own(shake, context) && !may_be_self(shake, context)))
		return "it is our own message, sent back to us";
	if (is_other(context->to, shake->attr.to))
		return shake->attr.other ? shake->attr.other : "the peer means another address: its connection was led "
		       "here on the way, or addresses are translated (FI_TCP_FIREWALL_ADDR=1 permits that)";
	if (context->level != shake->attr.level)
		return "the peer has another level of FI_SECURITY: set the same on both sides";
	if (context->version < shake->attr.oldest || context->oldest > shake->attr.version)
		return "the peer's release speaks no wire version of this one";
	return NULL;
}

/* The server's key for a client's identity.  One that is unknown, or is not accepted, gets a random key:
 * it fails as a wrong key does, at the same place.
 */
static int on_find(SSL *ssl, const unsigned char *identity, size_t len, SSL_SESSION **session_p)
{
	struct sec_shake *shake = tls->SSL_get_ex_data(ssl, 0);
	const struct sec_key *key = NULL;
	uint8_t name[SEC_NAME_SIZE], dummy[SEC_HASH_SIZE];
	const char *reason;

	shake->proven = false;	/* a second ClientHello may name another one */
	if (sec_identity_parse(identity, len, name, &shake->context))
		key = sec_keys_find(shake->attr.keys, name);
	reason = key ? context_reason(shake, &shake->context) : "the peer's key is none of ours";
	if (!reason) {
		*session_p = import_session(ssl, key, identity);
		shake->proven = *session_p != NULL;
		memcpy(shake->key_name, key->name, sizeof(shake->key_name));
		return shake->proven;
	}
	say_why(shake, reason);
	*session_p = sec_random(dummy, sizeof(dummy)) ? make_session(ssl, dummy) : NULL;
	return *session_p != NULL;
}

static void make_ready(void)
{
	tls = sec_tls_get(&missing);
	if (!tls)
		return;
	ssl_ctx = sec_tls_context(tls);
	if (!ssl_ctx) {
		missing = "libssl makes no context for TLS 1.3";
		return;
	}
	tls->SSL_CTX_set_psk_use_session_callback(ssl_ctx, on_use);
	tls->SSL_CTX_set_psk_find_session_callback(ssl_ctx, on_find);
}

bool sec_shake_ready(const char **why_p)
{
	pthread_once(&load_once, make_ready);
	if (missing)
		*why_p = missing;
	return !missing;
}

static bool open_ssl(struct sec_shake *shake)
{
	const struct sec_certs *certs = shake->attr.certs;

	shake->ssl = tls->SSL_new(certs ? sec_certs_context(certs) : ssl_ctx);
	shake->in = tls->BIO_new(tls->BIO_s_mem());
	shake->out = tls->BIO_new(tls->BIO_s_mem());
	if (!shake->ssl || !shake->in || !shake->out || tls->SSL_set_ex_data(shake->ssl, 0, shake) != 1)
		return false;
	tls->SSL_set_bio(shake->ssl, shake->in, shake->out);
	if (shake->attr.server)
		tls->SSL_set_accept_state(shake->ssl);
	else
		tls->SSL_set_connect_state(shake->ssl);
	if (certs)
		return sec_cert_shake_begin(&shake->cert, shake->ssl, shake->attr.to);
	/* A server has no certificate, and a client takes none: without the key there is no handshake. */
	if (!shake->attr.server)
		tls->SSL_set_verify(shake->ssl, SSL_VERIFY_PEER, NULL);
	return true;
}

/* is_proven - the handshake is done.  One that ended without a key of ours, or a chain, proves nothing. */
static bool is_proven(struct sec_shake *shake)
{
	if (shake->attr.certs)
		return sec_cert_shake_proven(&shake->cert, shake->ssl);
	return shake->proven && tls->SSL_session_reused(shake->ssl);
}

static const char *failed_reason(const struct sec_shake *shake)
{
	if (*shake->cert.why)
		return shake->cert.why;
	if (shake->attr.certs)
		return "the peer takes no certificate of ours, has none, or bytes were altered; its log says more";
	return shake->attr.server ? "the peer does not have the key that it names, or bytes were altered" :
		"the peer does not have our key, refuses it, or bytes were altered; its log says more";
}

static void shake_step(struct sec_shake *shake)
{
	int ret, err;

	tls->ERR_clear_error();
	ret = tls->SSL_do_handshake(shake->ssl);
	err = ret == 1 ? SSL_ERROR_NONE : tls->SSL_get_error(shake->ssl, ret);
	if (err == SSL_ERROR_WANT_READ)
		return;
	if (err == SSL_ERROR_NONE && is_proven(shake)) {
		shake->state = SEC_SHAKE_DONE;
		return;
	}
	say_why(shake, failed_reason(shake));
	shake->state = SEC_SHAKE_FAILED;
	tls->ERR_clear_error();
}

int sec_shake_open(const struct sec_shake_attr *attr, struct sec_shake **shake_p)
{
	struct sec_shake *shake = calloc(1, sizeof(*shake));

	if (!shake)
		return -FI_ENOMEM;
	shake->attr = *attr;
	shake->cert = (struct sec_cert_shake) {
		.certs = attr->certs, .server = attr->server, .level = (uint8_t) attr->level,
		.version = attr->version, .oldest = attr->oldest,
	};
	shake->proven = !attr->server;
	if (!open_ssl(shake)) {
		sec_shake_close(shake);
		return -FI_ENOMEM;
	}
	if (!attr->server)
		shake_step(shake);
	*shake_p = shake;
	return 0;
}

/* The memory of the queues goes with libssl's object, whose they are from SSL_set_bio() on. */
void sec_shake_close(struct sec_shake *shake)
{
	tls->SSL_free(shake->ssl);
	explicit_bzero(shake, sizeof(*shake));
	free(shake);
}

enum sec_shake_state sec_shake_feed(struct sec_shake *shake, const uint8_t *buf, size_t len)
{
	if (shake->state != SEC_SHAKE_RUNNING)
		return shake->state;
	shake->fed += len;
	if (shake->fed > SEC_SHAKE_IN_MAX || tls->BIO_write(shake->in, buf, (int) len) != (int) len) {
		say_why(shake, "the peer sends more than a handshake");
		shake->state = SEC_SHAKE_FAILED;
		return shake->state;
	}
	shake_step(shake);
	/* What comes behind the last message of the handshake would be of TLS's own records. */
	if (shake->state == SEC_SHAKE_DONE && tls->BIO_ctrl_pending(shake->in)) {
		say_why(shake, "bytes behind the handshake");
		shake->state = SEC_SHAKE_FAILED;
	}
	return shake->state;
}

size_t sec_shake_take(struct sec_shake *shake, uint8_t *buf, size_t size)
{
	int ret = tls->BIO_read(shake->out, buf, size > INT32_MAX ? INT32_MAX : (int) size);

	return ret > 0 ? (size_t) ret : 0;
}

bool sec_shake_export(struct sec_shake *shake, uint8_t secret[SEC_HASH_SIZE])
{
	static const char label[] = "EXPORTER-libfabric-channel";

	assert(shake->state == SEC_SHAKE_DONE);
	return tls->SSL_export_keying_material(shake->ssl, secret, SEC_HASH_SIZE, label, sizeof(label) - 1, NULL, 0,
					      0) == 1;
}

enum sec_shake_state sec_shake_state(const struct sec_shake *shake)
{
	return shake->state;
}

const char *sec_shake_why(const struct sec_shake *shake)
{
	return shake->why;
}

const uint8_t *sec_shake_key_name(const struct sec_shake *shake)
{
	return shake->key_name;
}

const struct sec_context *sec_shake_context(const struct sec_shake *shake)
{
	return &shake->context;
}

struct sec_peer_cert *sec_shake_peer(const struct sec_shake *shake)
{
	return shake->attr.certs ? sec_cert_peer(shake->ssl) : NULL;
}
#else
bool sec_shake_ready(const char **why_p)
{
	return sec_crypto_get(why_p) != NULL;
}

int sec_shake_open(const struct sec_shake_attr *attr, struct sec_shake **shake_p)
{
	return -FI_ENOSYS;
}

/* There is no handshake that these could be called with. */
void sec_shake_close(struct sec_shake *shake)
{
}

enum sec_shake_state sec_shake_feed(struct sec_shake *shake, const uint8_t *buf, size_t len)
{
	return SEC_SHAKE_FAILED;
}

size_t sec_shake_take(struct sec_shake *shake, uint8_t *buf, size_t size)
{
	return 0;
}

enum sec_shake_state sec_shake_state(const struct sec_shake *shake)
{
	return SEC_SHAKE_FAILED;
}

const char *sec_shake_why(const struct sec_shake *shake)
{
	return NULL;
}

const uint8_t *sec_shake_key_name(const struct sec_shake *shake)
{
	return NULL;
}

const struct sec_context *sec_shake_context(const struct sec_shake *shake)
{
	return NULL;
}

struct sec_peer_cert *sec_shake_peer(const struct sec_shake *shake)
{
	return NULL;
}

bool sec_shake_export(struct sec_shake *shake, uint8_t secret[SEC_HASH_SIZE])
{
	return false;
}
#endif
