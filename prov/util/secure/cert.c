/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/cert.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_OPENSSL
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#include "secure/key.h"
#include "secure/tls.h"

#define NAME_MAX_LEN 255
#define CERT_NONE "it has no certificate, or one that is damaged"

struct sec_certs {
	SSL_CTX *ctx;
	char *peers;			/* NULL: all of the CA */
};

static const struct sec_tls *tls;	/* set before the first object of this file is made */

static const char protocol[] = "libfabric-1";
#define PROTOCOL_SIZE (sizeof(protocol) - 1 + 3)	/* and level, version, oldest */

/* ---- files ------------------------------------------------------------------ */

/* A key that is encrypted by a password is refused: there is no terminal to ask at. */
static int on_password(char *buf, int size, int writes, void *arg)
{
	return 0;
}

static const char *open_pem(const char *path, bool secret, BIO **bio_p)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *reason = fd < 0 ? strerror(errno) : sec_file_reason(fd, secret);

	if (!reason) {
		*bio_p = tls->BIO_new_fd(fd, BIO_CLOSE);
		if (*bio_p)
			return NULL;
		reason = "no memory";
	}
	if (fd >= 0)
		close(fd);
	return reason;
}

/* is_at_end - the last object that could not be read was none at all. */
static bool is_at_end(void)
{
	return ERR_GET_REASON(tls->ERR_peek_error()) == PEM_R_NO_START_LINE;
}

static const char *read_own(SSL_CTX *ctx, BIO *bio)
{
	X509 *cert = tls->PEM_read_bio_X509(bio, NULL, on_password, NULL);
	bool taken = cert && tls->SSL_CTX_use_certificate(ctx, cert) == 1;

	tls->X509_free(cert);
	if (!taken)
		return CERT_NONE;
	while ((cert = tls->PEM_read_bio_X509(bio, NULL, on_password, NULL))) {
		if (tls->SSL_CTX_ctrl(ctx, SSL_CTRL_CHAIN_CERT, 0, cert) != 1) {
			tls->X509_free(cert);
			return CERT_NONE;
		}
	}
	return is_at_end() ? NULL : CERT_NONE;
}

static const char *read_key(SSL_CTX *ctx, BIO *bio)
{
	EVP_PKEY *key = tls->PEM_read_bio_PrivateKey(bio, NULL, on_password, NULL);
	bool taken = key && tls->SSL_CTX_use_PrivateKey(ctx, key) == 1;

	tls->EVP_PKEY_free(key);
	if (!key)
		return "it has no private key, or one that takes a password";
	return taken && tls->SSL_CTX_check_private_key(ctx) == 1 ? NULL :
	       "it is not the key of the certificate of FI_TLS_CERT";
}

static const char *read_cas(SSL_CTX *ctx, BIO *bio)
{
	X509 *cert;
	unsigned cnt;
	bool added;

	for (cnt = 0; (cert = tls->PEM_read_bio_X509(bio, NULL, on_password, NULL)); cnt++) {
		added = tls->X509_STORE_add_cert(tls->SSL_CTX_get_cert_store(ctx), cert) == 1;
		tls->X509_free(cert);
		if (!added)
			return CERT_NONE;
	}
	return cnt && is_at_end() ? NULL : CERT_NONE;
}

static const char *read_crls(SSL_CTX *ctx, BIO *bio)
{
	X509_STORE *store = tls->SSL_CTX_get_cert_store(ctx);
	X509_CRL *crl;
	unsigned cnt;
	bool added;

	for (cnt = 0; (crl = tls->PEM_read_bio_X509_CRL(bio, NULL, on_password, NULL)); cnt++) {
		added = tls->X509_STORE_add_crl(store, crl) == 1;
		tls->X509_CRL_free(crl);
		if (!added)
			return "it has a list that is damaged";
	}
	if (!cnt || !is_at_end())
		return "it has no list of revoked certificates, or one that is damaged";
	return tls->X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) == 1 ? NULL :
	       "libssl failed";
}

struct file {
	const char *variable, *path;
	bool secret, optional;
	const char *(*read)(SSL_CTX *ctx, BIO *bio);
};

static const char *read_file(SSL_CTX *ctx, const struct file *file)
{
	const char *reason;
	BIO *bio;

	if (!file->path)
		return file->optional ? NULL : "it is not set, and FI_TLS_CERT, FI_TLS_KEY and FI_TLS_CA go together";
	reason = open_pem(file->path, file->secret, &bio);
	if (reason)
		return reason;
	tls->ERR_clear_error();
	reason = file->read(ctx, bio);
	tls->ERR_clear_error();
	tls->BIO_free(bio);
	return reason;
}

static bool read_files(SSL_CTX *ctx, const struct sec_cert_files *files, char *why, size_t why_len)
{
	const struct file list[] = {
		{ "FI_TLS_CERT", files->cert, .read = read_own },
		{ "FI_TLS_KEY", files->key, .secret = true, .read = read_key },
		{ "FI_TLS_CA", files->ca, .read = read_cas },
		{ "FI_TLS_CRL", files->crl, .optional = true, .read = read_crls },
	};
	const char *reason;
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		reason = read_file(ctx, &list[i]);
		if (!reason)
			continue;
		snprintf(why, why_len, "%s%s%s is refused: %s", list[i].variable, list[i].path ? "=" : "",
			 list[i].path ? list[i].path : "", reason);
		return false;
	}
	return true;
}

/* ---- names ------------------------------------------------------------------- */

/* is_let_in - does one of @patterns, with commas between, fit? */
static bool is_let_in(const char *patterns, const char *name)
{
	char pattern[NAME_MAX_LEN + 1];
	size_t len;

	for (; *patterns; patterns += len + (patterns[len] == ',')) {
		len = strcspn(patterns, ",");
		if (len > NAME_MAX_LEN)
			continue;
		memcpy(pattern, patterns, len);
		pattern[len] = '\0';
		if (!fnmatch(pattern, name, FNM_CASEFOLD | FNM_NOESCAPE))
			return true;
	}
	return false;
}

/* name_text - a name of a certificate as text; false: it is of another kind, or has a zero byte. */
static bool name_text(const GENERAL_NAME *name, char text[NAME_MAX_LEN + 1])
{
	const ASN1_STRING *string = name->d.ia5;
	const unsigned char *bytes;
	int len;

	if (name->type != GEN_DNS && name->type != GEN_URI && name->type != GEN_IPADD)
		return false;
	bytes = tls->ASN1_STRING_get0_data(string);
	len = tls->ASN1_STRING_length(string);
	if (name->type == GEN_IPADD)
		return (len == 4 || len == 16) && inet_ntop(len == 4 ? AF_INET : AF_INET6, bytes, text, NAME_MAX_LEN);
	if (len <= 0 || len > NAME_MAX_LEN || memchr(bytes, 0, (size_t) len))
		return false;
	memcpy(text, bytes, (size_t) len);
	text[len] = '\0';
	return true;
}

static bool names_fit(const char *patterns, const X509 *cert)
{
	GENERAL_NAMES *names = tls->X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	char text[NAME_MAX_LEN + 1];
	bool fit = false;
	int i;

	for (i = 0; names && !fit && i < tls->OPENSSL_sk_num((const OPENSSL_STACK *) names); i++)
		fit = name_text(tls->OPENSSL_sk_value((const OPENSSL_STACK *) names, i), text) &&
		      is_let_in(patterns, text);
	tls->GENERAL_NAMES_free(names);
	return fit;
}

/* ---- handshakes ---------------------------------------------------------------- */

static void say_why(struct sec_cert_shake *shake, const char *text, const char *more)
{
	if (!*shake->why)
		snprintf(shake->why, sizeof(shake->why), "%s%s", text, more);
}

/* on_verify - libssl has checked signatures, dates, the purpose, what was revoked, and a server's address. */
static int on_verify(int verified, X509_STORE_CTX *store)
{
	SSL *ssl = tls->X509_STORE_CTX_get_ex_data(store, tls->SSL_get_ex_data_X509_STORE_CTX_idx());
	struct sec_cert_shake *shake = tls->SSL_get_ex_data(ssl, 0);
	const char *peers = shake->certs->peers;

	if (!verified) {
		say_why(shake, "the peer's certificate is refused: ",
			tls->X509_verify_cert_error_string(tls->X509_STORE_CTX_get_error(store)));
		return 0;
	}
	if (!shake->server || !peers || tls->X509_STORE_CTX_get_error_depth(store) ||
	    names_fit(peers, tls->X509_STORE_CTX_get_current_cert(store)))
		return 1;
	say_why(shake, "the peer's certificate has no name that FI_TLS_PEERS lets in", "");
	tls->X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
	return 0;
}

static void put_protocol(const struct sec_cert_shake *shake, uint8_t out[PROTOCOL_SIZE])
{
	memcpy(out, protocol, sizeof(protocol) - 1);
	out[PROTOCOL_SIZE - 3] = shake->level;
	out[PROTOCOL_SIZE - 2] = shake->version;
	out[PROTOCOL_SIZE - 1] = shake->oldest;
}

/* protocol_reason - why the protocol that a client offers is not spoken here, or NULL. */
static const char *protocol_reason(const struct sec_cert_shake *shake, const uint8_t *in, size_t len)
{
	if (len != 1 + PROTOCOL_SIZE || in[0] != PROTOCOL_SIZE || memcmp(in + 1, protocol, sizeof(protocol) - 1))
		return "the peer is a client of TLS, but not of this library";
	if (in[1 + PROTOCOL_SIZE - 3] != shake->level)
		return "the peer has another level of FI_SECURITY: set the same on both sides";
	if (in[1 + PROTOCOL_SIZE - 2] < shake->oldest || in[1 + PROTOCOL_SIZE - 1] > shake->version)
		return "the peer's release speaks no wire version of this one";
	return NULL;
}

static int on_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
		       unsigned int len, void *arg)
{
	struct sec_cert_shake *shake = tls->SSL_get_ex_data(ssl, 0);
	const char *reason = protocol_reason(shake, in, len);

	if (reason) {
		say_why(shake, reason, "");
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	}
	*out = in + 1;
	*out_len = PROTOCOL_SIZE;
	return SSL_TLSEXT_ERR_OK;
}

void *sec_certs_context(const struct sec_certs *certs)
{
	return certs->ctx;
}

bool sec_cert_shake_begin(struct sec_cert_shake *shake, void *ssl, const uint8_t address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool is_v4 = !memcmp(address, mapped, sizeof(mapped));
	uint8_t offer[1 + PROTOCOL_SIZE] = { PROTOCOL_SIZE };

	if (shake->server)
		return true;
	put_protocol(shake, offer + 1);
	return tls->SSL_set_alpn_protos(ssl, offer, sizeof(offer)) == 0 &&
	       tls->X509_VERIFY_PARAM_set1_ip(tls->SSL_get0_param(ssl), address + (is_v4 ? 12 : 0),
					      is_v4 ? 4 : 16) == 1;
}

/* A server has compared the protocol, if there was one; a client gets back what it has offered. */
bool sec_cert_shake_proven(struct sec_cert_shake *shake, void *ssl)
{
	uint8_t want[PROTOCOL_SIZE];
	const unsigned char *got;
	unsigned int len;

	put_protocol(shake, want);
	tls->SSL_get0_alpn_selected(ssl, &got, &len);
	if (len != PROTOCOL_SIZE || (!shake->server && memcmp(got, want, PROTOCOL_SIZE)))
		say_why(shake, "the peer speaks TLS, but not the protocol of this library", "");
	else if (!tls->SSL_get0_peer_certificate(ssl) || tls->SSL_get_verify_result(ssl) != X509_V_OK)
		say_why(shake, "the peer has no certificate that was verified", "");
	else
		return true;
	return false;
}

/* ---- the certificate of a peer ------------------------------------------------------ */

struct sec_peer_cert *sec_cert_peer(void *ssl)
{
	return (struct sec_peer_cert *) tls->SSL_get1_peer_certificate(ssl);
}

void sec_peer_cert_free(struct sec_peer_cert *cert)
{
	if (cert)
		tls->X509_free((X509 *) cert);
}

static const uint8_t *net_bytes(const uint8_t address[16], size_t *len_p)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool is_v4 = !memcmp(address, mapped, sizeof(mapped));

	*len_p = is_v4 ? 4 : 16;
	return address + (is_v4 ? 12 : 0);
}

bool sec_peer_cert_is_at(struct sec_peer_cert *cert, const uint8_t address[16])
{
	size_t len;
	const uint8_t *bytes = net_bytes(address, &len);

	return tls->X509_check_ip((X509 *) cert, bytes, len, 0) == 1;
}

/* make_plain - names are the peer's words: whoever reads the log gets text, and no control characters. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void sec_peer_cert_text(const struct sec_peer_cert *cert, char *text, size_t size)
{
	GENERAL_NAMES *names = tls->X509_get_ext_d2i((const X509 *) cert, NID_subject_alt_name, NULL, NULL);
	char name[NAME_MAX_LEN + 1];
	size_t used = 0;
	int i;

	snprintf(text, size, "no name");
	for (i = 0; names && i < tls->OPENSSL_sk_num((const OPENSSL_STACK *) names) && used < size; i++)
		if (name_text(tls->OPENSSL_sk_value((const OPENSSL_STACK *) names, i), name))
			used += (size_t) snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
	tls->GENERAL_NAMES_free(names);
	make_plain(text);
}

/* ---- a set of files ----------------------------------------------------------------- */

static int fill_certs(struct sec_certs *certs, const struct sec_cert_files *files, char *why, size_t why_len)
{
	certs->ctx = sec_tls_context(tls);
	certs->peers = files->peers ? strdup(files->peers) : NULL;
	if (!certs->ctx || (files->peers && !certs->peers))
		return -FI_ENOMEM;
	tls->SSL_CTX_set_verify(certs->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, on_verify);
	tls->SSL_CTX_set_alpn_select_cb(certs->ctx, on_protocol, NULL);
	return read_files(certs->ctx, files, why, why_len) ? 0 : -FI_EACCES;
}

int sec_certs_open(const struct sec_cert_files *files, struct sec_certs **certs_p, char *why, size_t why_len)
{
	struct sec_certs *certs;
	const char *reason;
	int ret;

	tls = sec_tls_get(&reason);
	if (!tls) {
		snprintf(why, why_len, "certificates are not possible: %s", reason);
		return -FI_EACCES;
	}
	certs = calloc(1, sizeof(*certs));
	if (!certs)
		return -FI_ENOMEM;
	ret = fill_certs(certs, files, why, why_len);
	if (ret)
		sec_certs_close(certs);
	else
		*certs_p = certs;
	return ret;
}

void sec_certs_close(struct sec_certs *certs)
{
	if (!certs)
		return;
	tls->SSL_CTX_free(certs->ctx);
	free(certs->peers);
	free(certs);
}
#else
int sec_certs_open(const struct sec_cert_files *files, struct sec_certs **certs_p, char *why, size_t why_len)
{
	snprintf(why, why_len, "certificates are not possible: this library was built without OpenSSL");
	return -FI_EACCES;
}

void sec_certs_close(struct sec_certs *certs)
{
}

/* There is no certificate that these could be called with. */
void sec_peer_cert_free(struct sec_peer_cert *cert)
{
}

bool sec_peer_cert_is_at(struct sec_peer_cert *cert, const uint8_t address[16])
{
	return false;
}

void sec_peer_cert_text(const struct sec_peer_cert *cert, char *text, size_t size)
{
}
#endif
