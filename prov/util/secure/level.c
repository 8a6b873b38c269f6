/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/level.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <strings.h>

#include "secure/crypto.h"

static const char *const names[] = {
	[SEC_NONE] = "none",
	[SEC_AUTH] = "auth",
	[SEC_ENCRYPT] = "encrypt",
};

const char *sec_level_name(enum sec_level level)
{
	return names[level];
}

static bool parse_level(const char *text, enum sec_level *level_p)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(text, names[i])) {
			*level_p = (enum sec_level) i;
			return true;
		}
	return false;
}

int sec_level_get(const struct sec_wish *wish, enum sec_level *level_p, char *why, size_t why_len)
{
	const char *reason = NULL;

	*level_p = wish->has_key ? SEC_ENCRYPT : SEC_NONE;
	if (wish->level && !parse_level(wish->level, level_p))
		snprintf(why, why_len, "FI_SECURITY=%.32s is none of none, auth and encrypt", wish->level);
	else if (*level_p != SEC_NONE && !wish->has_key)
		snprintf(why, why_len, "FI_SECURITY=%s takes a key: set FI_AUTH_KEY_FILE to a file of fi_keygen, or FI_TLS_CERT",
			 names[*level_p]);
	else if (*level_p != SEC_NONE && !sec_crypto_get(&reason))
		snprintf(why, why_len, "FI_SECURITY=%s is not possible: %s", names[*level_p], reason);
	else
		return 0;
	return -FI_EACCES;
}
