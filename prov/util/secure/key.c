/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/key.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/net_addr.h"

#define FILE_MAX (SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE)
#define TLS_1_3 0x0304
#define KDF_HKDF_SHA256 0x0001

_Static_assert(sizeof(SEC_KEY_HEAD) - 1 == SEC_KEY_HEAD_SIZE, "the head is not terminated in a file");
_Static_assert(FILE_MAX >= SEC_KEY_MAX, "a key without a head fits where records do");

void sec_keys_wipe(struct sec_keys *keys)
{
	explicit_bzero(keys, sizeof(*keys));
}

static bool add_key(struct sec_keys *keys, const uint8_t *bytes, size_t len)
{
	static const char label[] = "libfabric key name";
	struct sec_key *key = &keys->key[keys->cnt++];
	uint8_t text[sizeof(label) + SEC_KEY_MAX], hash[SEC_HASH_SIZE];
	bool done;

	key->len = len;
	memcpy(key->bytes, bytes, len);
	memcpy(text, label, sizeof(label));
	memcpy(text + sizeof(label), bytes, len);
	done = sec_hash(text, sizeof(label) + len, hash);
	memcpy(key->name, hash, SEC_NAME_SIZE);
	explicit_bzero(text, sizeof(text));
	return done;
}

/* utf8_len - bytes of the character at @buf, which is not of ASCII; 0: it is none.  Longest forms and surrogates are not
 * looked at: what looks like text is refused.
 */
static size_t utf8_len(const uint8_t *buf, size_t len)
{
	size_t need = *buf >= 0xc2 && *buf < 0xe0 ? 2 : *buf >= 0xe0 && *buf < 0xf0 ? 3 :
		      *buf >= 0xf0 && *buf < 0xf5 ? 4 : 0, i;

	if (need > len)
		return 0;
	for (i = 1; i < need; i++)
		if ((buf[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

/* is_text - could it have been typed?  White space of an editor is a part of that, and so are letters of any script
 * (UTF-8), and zeros behind it, which a program with an array of characters has; zeros alone are no key either.
 */
static bool is_text(const uint8_t *buf, size_t len)
{
	size_t i, step;

	while (len && !buf[len - 1])
		len--;
	for (i = 0; i < len; i += step) {
		step = (buf[i] >= ' ' && buf[i] <= '~') || (buf[i] >= '\t' && buf[i] <= '\r') ? 1 :
		       utf8_len(buf + i, len - i);
		if (!step)
			return false;
	}
	return true;
}

static const char *parse_records(struct sec_keys *keys, const uint8_t *buf, size_t len)
{
	size_t at;

	if (len % SEC_KEY_RECORD_SIZE)
		return "it ends in the middle of a key";
	if (len > FILE_MAX)
		return "it has more than 16 keys";
	for (at = 0; at < len; at += SEC_KEY_RECORD_SIZE) {
		if (memcmp(buf + at, SEC_KEY_HEAD, SEC_KEY_HEAD_SIZE))
			return "what stands behind its first key is none";
		if (!add_key(keys, buf + at + SEC_KEY_HEAD_SIZE, SEC_KEY_SIZE))
			return "libcrypto failed";
	}
	return NULL;
}

static const char *parse_raw(struct sec_keys *keys, const uint8_t *buf, size_t len)
{
	if (len < SEC_KEY_MIN)
		return "it has fewer than 16 bytes";
	if (len > SEC_KEY_MAX)
		return "it has more than 256 bytes and no head of a key file";
	if (is_text(buf, len))
		return "it is text or zeros, and a password can be guessed from one recorded handshake";
	return add_key(keys, buf, len) ? NULL : "libcrypto failed";
}

const char *sec_keys_parse(struct sec_keys *keys, const uint8_t *buf, size_t len)
{
	const char *why;

	memset(keys, 0, sizeof(*keys));
	if (len >= SEC_KEY_HEAD_SIZE && !memcmp(buf, SEC_KEY_HEAD, SEC_KEY_HEAD_SIZE))
		why = parse_records(keys, buf, len);
	else
		why = parse_raw(keys, buf, len);
	if (why)
		sec_keys_wipe(keys);
	return why;
}

const struct sec_key *sec_keys_find(const struct sec_keys *keys, const uint8_t name[SEC_NAME_SIZE])
{
	unsigned i;

	for (i = 0; i < keys->cnt; i++)
		if (!memcmp(keys->key[i].name, name, SEC_NAME_SIZE))
			return &keys->key[i];
	return NULL;
}

const char *sec_file_reason(int fd, bool secret)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is no regular file";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "it belongs to another user";
	if (secret && st.st_mode & (S_IRWXG | S_IRWXO))
		return "others may read or change it: chmod 600";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "others may change it: chmod 644";
	return NULL;
}

/* One byte more than fits tells a file that is too long. */
static ssize_t read_file(int fd, uint8_t buf[FILE_MAX + 1])
{
	size_t have = 0;
	ssize_t ret;

	do {
		ret = read(fd, buf + have, FILE_MAX + 1 - have);
		if (ret > 0)
			have += (size_t) ret;
	} while (ret > 0 || (ret < 0 && errno == EINTR));
	return ret ? ret : (ssize_t) have;
}

int sec_keys_read(struct sec_keys *keys, const char *path, char *why, size_t why_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t buf[FILE_MAX + 1];
	const char *reason;
	ssize_t len;

	memset(keys, 0, sizeof(*keys));
	reason = fd < 0 ? strerror(errno) : sec_file_reason(fd, true);
	if (!reason) {
		len = read_file(fd, buf);
		reason = len < 0 ? strerror(errno) : sec_keys_parse(keys, buf, (size_t) len);
		explicit_bzero(buf, sizeof(buf));
	}
	if (fd >= 0)
		close(fd);
	if (!reason)
		return 0;
	snprintf(why, why_len, "the key file %s is refused: %s", path, reason);
	return -FI_EACCES;
}

static uint8_t *put_u16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t) (value >> 8);
	at[1] = (uint8_t) value;
	return at + 2;
}

/* pack_ip - of IPv4 and IPv6. */
static void pack_ip(const struct sockaddr *sa, uint8_t to[SEC_TO_SIZE])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint16_t port = net_addr_port(sa);

	if (sa->sa_family == AF_INET) {
		memcpy(to, mapped, sizeof(mapped));
		memcpy(to + 12, &((const struct sockaddr_in *) sa)->sin_addr, 4);
	} else {
		memcpy(to, &((const struct sockaddr_in6 *) sa)->sin6_addr, 16);
	}
	to[16] = (uint8_t) (port >> 8);
	to[17] = (uint8_t) port;
}

void sec_to_pack(const void *addr, size_t len, uint8_t to[SEC_TO_SIZE])
{
	uint8_t hash[SEC_HASH_SIZE] = { 0 };
	union net_sa sa;

	memset(to, 0, SEC_TO_SIZE);
	if (!net_addr_copy(addr, len, &sa))
		pack_ip(&sa.sa, to);
	else if (sec_hash(addr, len, hash))
		memcpy(to, hash, SEC_TO_SIZE);
}

#define CONTEXT_SIZE (20 + SEC_TO_SIZE)

void sec_identity_pack(const uint8_t name[SEC_NAME_SIZE], const struct sec_context *context,
		       uint8_t identity[SEC_IDENTITY_SIZE])
{
	uint8_t *at = put_u16(identity, SEC_NAME_SIZE);

	memcpy(at, name, SEC_NAME_SIZE);
	at = put_u16(at + SEC_NAME_SIZE, CONTEXT_SIZE);
	memcpy(at, context->client, sizeof(context->client));
	at += sizeof(context->client);
	*at++ = context->role;
	*at++ = context->level;
	*at++ = context->version;
	*at++ = context->oldest;
	memcpy(at, context->to, sizeof(context->to));
	at += sizeof(context->to);
	put_u16(put_u16(at, TLS_1_3), KDF_HKDF_SHA256);
}

bool sec_identity_parse(const uint8_t *identity, size_t len, uint8_t name[SEC_NAME_SIZE],
			struct sec_context *context)
{
	const uint8_t *at = identity + 2 + SEC_NAME_SIZE + 2;
	uint8_t again[SEC_IDENTITY_SIZE];

	if (len != SEC_IDENTITY_SIZE)
		return false;
	memcpy(name, identity + 2, SEC_NAME_SIZE);
	memcpy(context->client, at, sizeof(context->client));
	at += sizeof(context->client);
	context->role = at[0];
	context->level = at[1];
	context->version = at[2];
	context->oldest = at[3];
	memcpy(context->to, at + 4, sizeof(context->to));
	sec_identity_pack(name, context, again);
	return !memcmp(again, identity, sizeof(again));
}

bool sec_key_import(const struct sec_key *key, const uint8_t identity[SEC_IDENTITY_SIZE],
		    uint8_t psk[SEC_HASH_SIZE])
{
	uint8_t extracted[SEC_HASH_SIZE], hash[SEC_HASH_SIZE];
	bool done;

	done = sec_hkdf_extract(NULL, 0, key->bytes, key->len, extracted) &&
	       sec_hash(identity, SEC_IDENTITY_SIZE, hash) &&
	       sec_expand_label(extracted, "derived psk", hash, sizeof(hash), psk, SEC_HASH_SIZE);
	explicit_bzero(extracted, sizeof(extracted));
	return done;
}
