/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* level.h - what of a connection is protected.  A wish that cannot be met is an error, never less. */
#ifndef SEC_LEVEL_H
#define SEC_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

enum sec_level {
	SEC_NONE,	/* nothing */
	SEC_AUTH,	/* who sent a byte, and that it is unaltered and in its place */
	SEC_ENCRYPT,	/* and no third party can read it */
};

struct sec_wish {
	const char *level;	/* FI_SECURITY; NULL: not set */
	bool has_key;		/* a key file, an auth_key, or a certificate is named */
};

/* sec_level_get - what @wish asks for: without a level, encryption where there is a key.
 *
 * FI_SECURITY=none with a key is none, as it says.
 * Returns 0, or -FI_EACCES with the reason in @why: an unknown level, one above none without a key, or no
 * libcrypto.
 */
int sec_level_get(const struct sec_wish *wish, enum sec_level *level_p, char *why, size_t why_len);

const char *sec_level_name(enum sec_level level);

#endif
