/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * proof.h - each process proves the job's key to the other one, before any descriptor is passed.
 *
 * A protected connection begins with a handshake of secure/handshake.h, whose bytes travel as messages of the local
 * socket; REQUEST follows it.  It names both processes by the numbers that the kernel tells of the ends of the
 * socket, so that a third process that hands the bytes on, and would get the descriptors, is refused.  What follows
 * needs no record layer: no other process has the socket or the memory (fi_security(7)).
 *
 * Threading: as conn.h.
 */
#ifndef SHM_PROOF_H
#define SHM_PROOF_H

#include <stdbool.h>

struct shm_conn;
struct shm_link;
struct shm_proof;

enum shm_proof_step {
	SHM_PROOF_MORE,		/* input of the peer is waited for */
	SHM_PROOF_DONE,		/* the peer has the key */
	SHM_PROOF_REFUSED,	/* it does not, or refuses ours; logged */
	SHM_PROOF_PLAIN,	/* it does not protect connections; logged */
	SHM_PROOF_ENDED,	/* it has closed the socket */
};

/* shm_proof_new - @conn, which has a socket, is proven as its link asks; nothing where that does not.  A connecting side
 * has begun then.
 * Errors: -FI_ENOMEM; negative errno of send().
 */
int shm_proof_new(struct shm_conn *conn, bool server);
void shm_proof_free(struct shm_proof *proof);

/* shm_proof_event - there is input. */
enum shm_proof_step shm_proof_event(struct shm_conn *conn);

/* shm_proof_is_waited_for - is there no limit of time for the peer's next step?  It has begun with a key of ours. */
bool shm_proof_is_waited_for(const struct shm_conn *conn);

/* shm_proof_make_room - one more process connects: of those that have sent nothing, the oldest is closed where they
 * are too many.
 */
void shm_proof_make_room(struct shm_link *link);

/* shm_proof_is_tls - does @msg, which is no handshake of ours, begin one of a protected peer? */
bool shm_proof_is_tls(const void *msg);

#endif
