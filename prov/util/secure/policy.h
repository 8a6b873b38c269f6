/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * policy.h - what an endpoint protects its connections with: the one place where a level and keys are
 * decided, from FI_SECURITY, FI_AUTH_KEY_FILE, FI_TLS_* and the auth_key attributes.
 */
#ifndef SEC_POLICY_H
#define SEC_POLICY_H

#include <sys/stat.h>

#include "secure/cert.h"
#include "secure/key.h"
#include "secure/level.h"

#define SEC_ID_SIZE 16
#define SEC_WHY_MAX 512		/* bytes of a reason, a path among them */

/* sec_is_sealed_above - is it in place of a key (base/sealed.h)? */
bool sec_is_sealed_above(const uint8_t *key, size_t len);

/* Where the keys of an endpoint come from: the first of these that is set. */
struct sec_source {
	const uint8_t *ep_key;		/* of its endpoint attributes */
	size_t ep_key_len;
	const uint8_t *domain_key;	/* of its domain's attributes */
	size_t domain_key_len;
};

struct sec_policy {
	enum sec_level level;		/* above SEC_NONE */
	uint8_t id[SEC_ID_SIZE];	/* random, of the endpoint */
	struct sec_keys keys;		/* none with @certs */
	struct sec_certs *certs;	/* in place of keys; NULL: keys */
	char *path;			/* of the file that they come from; NULL: from an attribute */
	struct stat read;		/* the file when it was last read */
};

/* sec_policy_wish - is a level above none asked for, as far as is seen without reading a key?
 * @has_key: an auth_key attribute is set
 * @level_p: [out] where the answer is true; SEC_ENCRYPT where FI_SECURITY has no valid value
 *
 * What cannot protect refuses then.  Threading: any.
 */
bool sec_policy_wish(bool has_key, enum sec_level *level_p);

/* sec_policy_by_cert - is one of the variables of certificates set? */
bool sec_policy_by_cert(void);

/* sec_policy_open - decide for an endpoint.
 *
 * @policy_p: [out] NULL: the level is none
 *
 * Returns 0; -FI_EACCES with the reason in @why (SEC_WHY_MAX bytes): a level without a key, an unknown
 * level, a key that is refused, no libssl; -FI_ENOMEM.
 * Threading: any.
 */
int sec_policy_open(const struct sec_source *source, struct sec_policy **policy_p, char *why);

/* sec_policy_close - nothing of the keys stays in memory.  @policy may be NULL. */
void sec_policy_close(struct sec_policy *policy);

/* sec_policy_keys - a copy of the keys for one handshake, read again where the file has changed.
 *
 * @why: [out] "", or why the changed file is refused: the keys before it stay
 *
 * Ownership: the caller wipes @keys.  Threading: the endpoint's lock.
 */
void sec_policy_keys(struct sec_policy *policy, struct sec_keys *keys, char *why);

/* sec_policy_takes - is the key of that name one of this endpoint?  The file is read again where it has changed: an
 * endpoint that was opened before a rotation accepts a connection that a passive endpoint took after it.
 *
 * Threading: the endpoint's lock.
 */
bool sec_policy_takes(struct sec_policy *policy, const uint8_t name[SEC_NAME_SIZE]);

#endif
