/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * listen.h - the local sockets over which endpoints connect.
 *
 * Each endpoint listens on a socket that is bound to a key, a short text made of its
 * address.  The socket has no file, so nothing of it is left when its process dies; with
 * FI_SHM_DIR it is a file in that directory, and the next endpoint with the key replaces
 * the file of a dead process.  The kernel tells which user the peer's process belongs to:
 * another user's process is refused.
 */
#ifndef SHM_LISTEN_H
#define SHM_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#define SHM_KEY_MAX 240		/* characters */

/* Where keys are unique: each kind of endpoint has keys of its own. */
struct shm_scope {
	const char *prov;	/* the provider's name */
	const char *dir;	/* directory of the sockets' files; NULL: no files */
};

/* shm_listen_open - listen on a socket bound to @key.
 * Returns a non-blocking descriptor, ended by shm_listen_close(); or -FI_EADDRINUSE,
 * -FI_EINVAL (no key, or too long for the directory), -FI_EMFILE, ...
 */
int shm_listen_open(const struct shm_scope *scope, const char *key);
void shm_listen_close(int fd, const struct shm_scope *scope, const char *key);

/* shm_listen_user - is the socket bound to @key that of another user's process?
 * @uid_p: [out] that user.  Names without files are open to all users.
 */
bool shm_listen_user(const struct shm_scope *scope, const char *key, uid_t *uid_p);

/* shm_listen_connect - connect to the socket bound to @key; never blocks.
 * @pid_p: [out] the peer's process
 * Returns a descriptor, or -FI_ECONNREFUSED: no socket has the key; -FI_EBUSY: the
 * backlog there is full; -FI_EACCES: it is another user's; ...
 */
int shm_listen_connect(const struct shm_scope *scope, const char *key, pid_t *pid_p);

/* shm_listen_accept - the next connection of a listening socket.
 * Returns a descriptor, or -FI_EAGAIN: there is none; -FI_EACCES: it was another user's,
 * and is closed; -FI_EMFILE, ...
 */
int shm_listen_accept(int listener, pid_t *pid_p);

#endif
