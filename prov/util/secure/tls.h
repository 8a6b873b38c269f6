/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tls.h - what this room takes from OpenSSL's libssl, and from the libcrypto that it brings, loaded when they are
 * asked for.
 */
#ifndef SEC_TLS_H
#define SEC_TLS_H

#include "secure/crypto.h"

#if HAVE_OPENSSL
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define SEC_TLS_CALLS(X) \
	X(ASN1_STRING_get0_data) \
	X(ASN1_STRING_length) \
	X(BIO_ctrl) \
	X(BIO_ctrl_pending) \
	X(BIO_free) \
	X(BIO_new) \
	X(BIO_new_fd) \
	X(BIO_read) \
	X(BIO_s_mem) \
	X(BIO_write) \
	X(ERR_clear_error) \
	X(ERR_peek_error) \
	X(ERR_reason_error_string) \
	X(EVP_PKEY_free) \
	X(GENERAL_NAMES_free) \
	X(OPENSSL_sk_num) \
	X(OPENSSL_sk_value) \
	X(PEM_read_bio_PrivateKey) \
	X(PEM_read_bio_X509) \
	X(PEM_read_bio_X509_CRL) \
	X(SSL_CIPHER_find) \
	X(SSL_CTX_check_private_key) \
	X(SSL_CTX_clear_options) \
	X(SSL_CTX_ctrl) \
	X(SSL_CTX_free) \
	X(SSL_CTX_get_cert_store) \
	X(SSL_CTX_new) \
	X(SSL_CTX_set_alpn_select_cb) \
	X(SSL_CTX_set_ciphersuites) \
	X(SSL_CTX_set_num_tickets) \
	X(SSL_CTX_set_options) \
	X(SSL_CTX_set_psk_find_session_callback) \
	X(SSL_CTX_set_psk_use_session_callback) \
	X(SSL_CTX_set_verify) \
	X(SSL_CTX_use_PrivateKey) \
	X(SSL_CTX_use_certificate) \
	X(SSL_SESSION_free) \
	X(SSL_SESSION_new) \
	X(SSL_SESSION_set1_master_key) \
	X(SSL_SESSION_set_cipher) \
	X(SSL_SESSION_set_protocol_version) \
	X(SSL_do_handshake) \
	X(SSL_export_keying_material) \
	X(SSL_free) \
	X(SSL_get0_alpn_selected) \
	X(SSL_get0_param) \
	X(SSL_get0_peer_certificate) \
	X(SSL_get1_peer_certificate) \
	X(SSL_get_error) \
	X(SSL_get_ex_data) \
	X(SSL_get_ex_data_X509_STORE_CTX_idx) \
	X(SSL_get_verify_result) \
	X(SSL_new) \
	X(SSL_session_reused) \
	X(SSL_set_accept_state) \
	X(SSL_set_alpn_protos) \
	X(SSL_set_bio) \
	X(SSL_set_connect_state) \
	X(SSL_set_ex_data) \
	X(SSL_set_verify) \
	X(TLS_method) \
	X(X509_CRL_free) \
	X(X509_STORE_CTX_get_current_cert) \
	X(X509_STORE_CTX_get_error) \
	X(X509_STORE_CTX_get_error_depth) \
	X(X509_STORE_CTX_get_ex_data) \
	X(X509_STORE_CTX_set_error) \
	X(X509_STORE_add_cert) \
	X(X509_STORE_add_crl) \
	X(X509_STORE_set_flags) \
	X(X509_VERIFY_PARAM_set1_ip) \
	X(X509_check_ip) \
	X(X509_free) \
	X(X509_get_ext_d2i) \
	X(X509_verify_cert_error_string)

struct sec_tls {
#define SEC_TLS_MEMBER(name) __typeof__(&(name)) name;
	SEC_TLS_CALLS(SEC_TLS_MEMBER)
#undef SEC_TLS_MEMBER
};

/* sec_tls_get - libssl's functions, or NULL.
 *
 * @why_p: [out] why there are none; a text that is never freed
 *
 * Any thread; loads the library once.  It stays loaded.
 */
const struct sec_tls *sec_tls_get(const char **why_p);

/* sec_tls_context - for TLS 1.3 alone, without tickets, renegotiation or sessions that are kept; NULL: libssl
 * failed.  Ownership: SSL_CTX_free().
 */
SSL_CTX *sec_tls_context(const struct sec_tls *tls);
#endif

#endif
