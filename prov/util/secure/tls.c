/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/tls.h"

#if HAVE_OPENSSL
#include <dlfcn.h>
#include <pthread.h>

#define LIBSSL "libssl.so.3"

static struct sec_tls calls;
static const char *missing;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load_tls(void)
{
	void *lib;

	if (!sec_crypto_get(&missing))
		return;
	lib = dlopen(LIBSSL, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		missing = LIBSSL " (OpenSSL 3) cannot be loaded: is the package libssl3 installed?";
		return;
	}
#define LOAD_CALL(name) \
	calls.name = (__typeof__(calls.name)) dlsym(lib, #name); \
	if (!calls.name) \
		missing = LIBSSL " has no " #name;
	SEC_TLS_CALLS(LOAD_CALL)
#undef LOAD_CALL
}

const struct sec_tls *sec_tls_get(const char **why_p)
{
	pthread_once(&load_once, load_tls);
	if (missing)
		*why_p = missing;
	return missing ? NULL : &calls;
}

/* set_groups - whatever the system's configuration has: the share of a post-quantum group alone is longer than what
 * a datagram may carry of a handshake, and a key has no need of it.  X25519 is not there where only NIST's are.
 */
static bool set_groups(const struct sec_tls *tls, SSL_CTX *ctx)
{
	return tls->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_GROUPS_LIST, 0, "X25519:P-256:P-384") == 1 ||
	       tls->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_GROUPS_LIST, 0, "P-256:P-384") == 1;
}

/* set_context - the system's configuration is in @ctx already; nothing of it lowers what is set here. */
static bool set_context(const struct sec_tls *tls, SSL_CTX *ctx)
{
	tls->SSL_CTX_clear_options(ctx, SSL_OP_ALLOW_NO_DHE_KEX);
	tls->SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	tls->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
	return tls->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, NULL) == 1 &&
	       tls->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, NULL) == 1 &&
	       tls->SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1 &&
	       tls->SSL_CTX_set_num_tickets(ctx, 0) == 1 && set_groups(tls, ctx);
}

SSL_CTX *sec_tls_context(const struct sec_tls *tls)
{
	SSL_CTX *ctx = tls->SSL_CTX_new(tls->TLS_method());

	if (!ctx || set_context(tls, ctx))
		return ctx;
	tls->SSL_CTX_free(ctx);
	return NULL;
}
#endif
