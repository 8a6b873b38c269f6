/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * handshake.h - the messages by which two endpoints connect, over a local socket.
 *
 *	connecting side		accepting side
 *	REQUEST, memory	  -->
 *			  <--	ACCEPT, memory; or REFUSE
 *	one byte: CONFIRM -->
 *
 * The accepting side sends no packet before the confirmation, so an attempt that fails on
 * either side loses nothing.  Single bytes that follow are wake-ups.
 */
#ifndef SHM_HANDSHAKE_H
#define SHM_HANDSHAKE_H

#include <stddef.h>

#include "wire.h"

/* The descriptors that come with a handshake. */
struct shm_fds {
	int seg;	/* -1: none */
	int bells;	/* -1: none; only with a segment */
};
#define SHM_NO_FDS ((struct shm_fds) { -1, -1 })

/* shm_fds_close - both; negative ones do nothing. */
void shm_fds_close(struct shm_fds *fds);

/* shm_handshake_send - send @shake, with the descriptors @fds.
 * Errors: the negative errno of sendmsg.
 */
int shm_handshake_send(int fd, const struct shm_handshake *shake, struct shm_fds fds);

/* shm_handshake_recv - receive one whole and valid message.
 *
 * @fds: [out] the descriptors that came with it, the caller's; seg is -FI_EMFILE if this process
 *       has no room for them
 *
 * Errors: -FI_EAGAIN: nothing has arrived; -FI_ECONNRESET: the peer has closed the socket;
 * -FI_EPROTO: malformed; -FI_ENOPROTOOPT: another version, of which *shake has the magic
 * number and the versions.
 */
int shm_handshake_recv(int fd, struct shm_handshake *shake, struct shm_fds *fds);

/* shm_handshake_confirm - confirm an ACCEPT.  Errors: the negative errno of send. */
int shm_handshake_confirm(int fd);

/* shm_handshake_confirmed - has the peer confirmed?
 * Errors: -FI_EAGAIN: not yet; -FI_ECONNRESET: it has closed the socket.
 */
int shm_handshake_confirmed(int fd);

/* shm_handshake_check - validate @len received bytes; see shm_handshake_recv(). */
int shm_handshake_check(const struct shm_handshake *shake, size_t len);

#endif
