/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * door.h - local sockets at which endpoints are called, and greetings over them.
 *
 * A door has a key, a short text.  The socket has no file, so nothing of it is
 * left when its process dies; with FI_SHM_DIR it is a file in that directory, and the
 * next one with this key takes a dead one's place.  Who is on the other side is known
 * from the kernel: another user's process is not spoken to.
 */
#ifndef SHM_DOOR_H
#define SHM_DOOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "wire.h"

#define SHM_KEY_MAX 80		/* characters */

/* Whose doors these are: those of each kind of endpoint are apart. */
struct shm_place {
	const char *prov;	/* the provider's name */
	const char *dir;	/* where the sockets have files; NULL: they have none */
};

/* shm_door_open - listen at @key.
 * Returns a non-blocking descriptor, or -FI_EADDRINUSE, -FI_EINVAL (no key, or too
 * long), -FI_EMFILE, ...  End it with shm_door_close().
 */
int shm_door_open(const struct shm_place *place, const char *key);
void shm_door_close(int fd, const struct shm_place *place, const char *key);

/* shm_door_foreign - is somebody who listens at @key another user?  Names without files are
 * anybody's.
 */
bool shm_door_foreign(const struct shm_place *place, const char *key, uid_t *uid_p);

/* shm_door_knock - connect to @key; never waits.
 * Returns a descriptor, or -FI_ECONNREFUSED: nobody is there; -FI_EAGAIN: many callers
 * wait there; -FI_EACCES: another user's; ...
 */
int shm_door_knock(const struct shm_place *place, const char *key, pid_t *pid_p);

/* shm_door_answer - take a caller.
 * Returns a descriptor, or -FI_EAGAIN: none waits; -FI_EACCES: it was another user's, and
 * is gone; -FI_EMFILE, ...
 */
int shm_door_answer(int door, pid_t *pid_p);

/* shm_hello_send - a greeting, with descriptor @seg_fd unless that is negative.
 * Errors: the negative errno of sendmsg.
 */
int shm_hello_send(int fd, const struct shm_hello *hello, int seg_fd);

/* shm_hello_recv - a whole and valid greeting.
 *
 * @seg_fd_p: [out] what came with it, the caller's; -1: nothing; -FI_EMFILE: something,
 *            but we may have no more descriptors
 *
 * Errors: -FI_EAGAIN: nothing is there yet; -FI_ECONNRESET: it hung up; -FI_EPROTO: not a
 * greeting; -FI_ENOPROTOOPT: one of another version, *hello has its first fields.
 */
int shm_hello_recv(int fd, struct shm_hello *hello, int *seg_fd_p);

/* shm_hello_confirm - say that a WELCOME was good.  Errors: the negative errno of send. */
int shm_hello_confirm(int fd);

/* shm_hello_confirmed - has the caller said so?  Errors: -FI_EAGAIN: not yet;
 * -FI_ECONNRESET: it has hung up.
 */
int shm_hello_confirmed(int fd);

/* shm_hello_check - the gate for what came; see shm_hello_recv(). */
int shm_hello_check(const struct shm_hello *hello, size_t len);

const char *shm_reason_text(uint32_t reason);
int shm_reason_errno(uint32_t reason);

#endif
