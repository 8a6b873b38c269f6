/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* release.h - which release of this library, and which commit of its sources, this is. */
#ifndef BASE_RELEASE_H
#define BASE_RELEASE_H

#include <stddef.h>
#include <stdint.h>

/* As handshakes carry it. */
struct release {
	uint8_t major, minor, micro, zero;
	uint32_t commit;	/* its first 8 digits; 0: unknown */
};

#define RELEASE_TEXT_MAX 40

/* release_ours - of the library that this code is linked into.  Threading: any. */
struct release release_ours(void);

/* release_text - "2.6.0 (commit 78579b7a)"; @buf: RELEASE_TEXT_MAX bytes.  Returns @buf. */
char *release_text(struct release release, char *buf);

/* release_long - "2.6.0 (commit 78579b7a12c4-dirty)" of the library; static. */
const char *release_long(void);

#endif
