/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * key.h - the keys of a job: where they come from, what is refused, and what TLS gets of them.
 *
 * A file holds up to SEC_KEYS_MAX records of a head and 32 random bytes.  A program that uses this key
 * offers the first and accepts all, so that keys are exchanged while jobs run.  A file, or a key of an
 * auth_key attribute, without the head is one key as it is.  Text that can be typed is refused:
 * passwords can be tried, offline, against one recorded handshake.
 */
#ifndef SEC_KEY_H
#define SEC_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "secure/crypto.h"

#define SEC_KEY_HEAD "fikey-1\n"	/* of a record of a file; not terminated there */
#define SEC_KEY_HEAD_SIZE 8
#define SEC_KEY_SIZE 32			/* of the random bytes behind it */
#define SEC_KEY_RECORD_SIZE (SEC_KEY_HEAD_SIZE + SEC_KEY_SIZE)
#define SEC_KEYS_MAX 16
#define SEC_KEY_MIN 16			/* bytes of a key without a head */
#define SEC_KEY_MAX 256
#define SEC_NAME_SIZE 16

struct sec_key {
	size_t len;
	uint8_t bytes[SEC_KEY_MAX];
	uint8_t name[SEC_NAME_SIZE];	/* a hash of the key: tells keys apart, and is no secret */
};

struct sec_keys {
	unsigned cnt;
	struct sec_key key[SEC_KEYS_MAX];	/* [0] is offered, all are accepted */
};

/* sec_keys_parse - the keys of @buf.  Needs libcrypto, for the names.
 *
 * Returns NULL, or why they are refused: a text that is never freed, and has nothing of the key.
 * @keys is wiped then.
 */
const char *sec_keys_parse(struct sec_keys *keys, const uint8_t *buf, size_t len);

/* sec_keys_read - the keys of a file, which belongs to this user or to root, and has no permissions for others.
 *
 * Returns 0 or -FI_EACCES, with the reason and the file's name in @why.
 */
int sec_keys_read(struct sec_keys *keys, const char *path, char *why, size_t why_len);

/* sec_file_reason - could others have replaced the file, or, with @secret, read it?  NULL, or why it is refused: a
 * text that is never freed.
 */
const char *sec_file_reason(int fd, bool secret);

/* sec_keys_find - the key of that name, or NULL. */
const struct sec_key *sec_keys_find(const struct sec_keys *keys, const uint8_t name[SEC_NAME_SIZE]);

/* sec_keys_wipe - nothing of the keys stays in memory. */
void sec_keys_wipe(struct sec_keys *keys);

/* What TLS 1.3 gets in place of a key (RFC 9258): a key of this use alone, whose identity binds what both
 * sides must agree on.  All of it travels in the clear.
 */
#define SEC_TO_SIZE 18

struct sec_context {
	uint8_t client[16];	/* random id of the endpoint that connects */
	uint8_t role;		/* SEC_ROLE_* of the side that offers the key */
	uint8_t level;		/* enum sec_level */
	uint8_t version;	/* of the wire, that the client speaks */
	uint8_t oldest;		/* that it would speak */
	uint8_t to[SEC_TO_SIZE];/* whom it means to reach: address and port; 0: not said */
};

#define SEC_ROLE_CLIENT 1

/* sec_to_pack - an address as both sides write it: IPv4 mapped into IPv6, then the port; of what is no socket
 * address a hash.
 */
void sec_to_pack(const void *addr, size_t len, uint8_t to[SEC_TO_SIZE]);

#define SEC_IDENTITY_SIZE (2 + SEC_NAME_SIZE + 2 + 20 + SEC_TO_SIZE + 2 + 2)

/* sec_identity_pack - the ImportedIdentity of RFC 9258, for TLS 1.3 and SHA-256. */
void sec_identity_pack(const uint8_t name[SEC_NAME_SIZE], const struct sec_context *context,
		       uint8_t identity[SEC_IDENTITY_SIZE]);

/* sec_identity_parse - false where @identity is not one of ours. */
bool sec_identity_parse(const uint8_t *identity, size_t len, uint8_t name[SEC_NAME_SIZE],
			struct sec_context *context);

/* sec_key_import - the imported PSK: @psk is what TLS gets. */
bool sec_key_import(const struct sec_key *key, const uint8_t identity[SEC_IDENTITY_SIZE],
		    uint8_t psk[SEC_HASH_SIZE]);

#endif
