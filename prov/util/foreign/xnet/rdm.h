/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rdm.h - the private data that RDM endpoints have in their connection messages, in the compatible
 * wire format.
 *
 *   0   version          1   features
 *   2   port at which the connecting endpoint listens, big-endian
 *   4   process of the sender, big-endian; never 0
 *   8   in a request of this library a native HELLO, which other implementations ignore
 *
 * A request says the version that its sender has.  The answer repeats the port, and 0 if that was
 * the version; else 1 with XNET_RDM_LOOKED.  Releases that do not look at versions repeat the number.
 *
 * Pure.
 */
#ifndef FOREIGN_XNET_RDM_H
#define FOREIGN_XNET_RDM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XNET_RDM_SIZE 8
#define XNET_RDM_VERSION 1	/* ours; from 1 on tagged messages may be announced */
#define XNET_RDM_LOOKED 0x80	/* answer: its sender looks at versions */

struct xnet_rdm {
	uint8_t version;
	uint8_t features;	/* not used; an answer repeats them */
	uint16_t port;
	uint32_t process;
};

/* xnet_rdm_put - write the private data. */
void xnet_rdm_put(const struct xnet_rdm *rdm, uint8_t out[XNET_RDM_SIZE]);

/* xnet_rdm_get - validate private data of @len bytes.
 * @rdm_p: [out] where this returns true; false: they are not of an RDM endpoint
 */
bool xnet_rdm_get(const uint8_t *buf, size_t len, struct xnet_rdm *rdm_p);

/* xnet_rdm_answer - what the answer to @request says; @process is that of its sender. */
struct xnet_rdm xnet_rdm_answer(const struct xnet_rdm *request, uint32_t process);

/* xnet_rdm_agrees - may tagged messages be announced, after @answer? */
static inline bool xnet_rdm_agrees(const struct xnet_rdm *answer)
{
	return answer->version == (XNET_RDM_LOOKED | XNET_RDM_VERSION);
}

#endif
