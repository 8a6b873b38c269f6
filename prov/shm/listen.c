/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hmap.h"
#include "base/os/process.h"
#include "net/inherit.h"

#define BACKLOG 4096

/* ---- keys --------------------------------------------------------------------------- */

/* put_name - the socket's address: abstract, or a file in scope->dir.  False: it does not fit. */
static bool put_name(const struct shm_scope *scope, const char *key, struct sockaddr_un *sun,
		     socklen_t *len_p)
{
	size_t len = strlen(key);
	char *slash;
	int cnt;

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	if (!scope->dir) {
		cnt = snprintf(sun->sun_path + 1, sizeof(sun->sun_path) - 1, "ofi-%s/%s",
			       scope->prov, key);
		*len_p = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) cnt);
		return cnt < (int) sizeof(sun->sun_path) - 1;
	}
	cnt = snprintf(sun->sun_path, sizeof(sun->sun_path), "%s/ofi-%s.%s", scope->dir,
		       scope->prov, key);
	if (cnt >= (int) sizeof(sun->sun_path))
		return false;
	for (slash = sun->sun_path + cnt - len; (slash = strchr(slash, '/')); )
		*slash = '|';
	*len_p = sizeof(*sun);
	return true;
}

static uint64_t text_digest(const char *text)
{
	uint64_t sum = 0;

	for (; *text; text++)
		sum = hmap_hash(sum ^ (uint8_t) *text);
	return sum;
}

/* make_socket_name - a key that is longer than the name of a socket may be is shortened.  Two that get one name are
 * told apart by the handshake, which has the whole address.
 */
static int make_socket_name(const struct shm_scope *scope, const char *key, struct sockaddr_un *sun,
			    socklen_t *len_p)
{
	char shorter[64];

	if (!*key || strlen(key) > SHM_KEY_MAX)
		return -FI_EINVAL;
	if (put_name(scope, key, sun, len_p))
		return 0;
	snprintf(shorter, sizeof(shorter), "%.32s~%016" PRIx64, key, text_digest(key));
	return put_name(scope, shorter, sun, len_p) ? 0 : -FI_EINVAL;
}

static int make_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	net_inherit_not(fd);
	return fd;
}

/* open_key - a socket, and in @sun the address that belongs to @key.  Returns the descriptor. */
static int open_key(const struct shm_scope *scope, const char *key, struct sockaddr_un *sun,
		    socklen_t *len_p)
{
	int ret = make_socket_name(scope, key, sun, len_p);

	return ret ? ret : make_socket();
}

/* is_stale - has a dead process left the file behind?  One that lives listens before the
 * file has its name.
 */
static bool is_stale(const struct sockaddr_un *sun, socklen_t len)
{
	int fd = make_socket(), ret;

	if (fd < 0)
		return false;
	ret = connect(fd, (const void *) sun, len) ? errno : 0;
	close(fd);
	return ret == ECONNREFUSED;
}

/* lock_dir - for replacing a file, which one process at a time may do.  Returns a descriptor
 * that holds the lock, or -1 where files cannot be locked.
 */
static int lock_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

/* give_name - let @file have the socket's name, too.  Errors: -FI_EADDRINUSE. */
static int give_name(const struct shm_scope *scope, const char *file,
		     const struct sockaddr_un *sun, socklen_t len)
{
	int lock = lock_dir(scope->dir), ret = link(file, sun->sun_path) ? -errno : 0;

	if (ret == -EEXIST && is_stale(sun, len) && !unlink(sun->sun_path))
		ret = link(file, sun->sun_path) ? -errno : 0;
	if (lock >= 0)
		close(lock);
	return ret == -EEXIST ? -FI_EADDRINUSE : ret;
}

/* open_file - listen under a name that only this call uses, then give it that of the key:
 * a socket that is bound and does not listen yet would look stale.
 */
static int open_file(int fd, const struct shm_scope *scope, const struct sockaddr_un *sun,
		     socklen_t len)
{
	static _Atomic unsigned number;
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int cnt = snprintf(own.sun_path, sizeof(own.sun_path), "%s/.ofi-%d.%u", scope->dir,
			   (int) getpid(), atomic_fetch_add(&number, 1)), ret;

	if (cnt >= (int) sizeof(own.sun_path))
		return -FI_EINVAL;
	unlink(own.sun_path);	/* left by a dead process with this id */
	if (bind(fd, (void *) &own, sizeof(own)))
		return -errno;
	ret = listen(fd, BACKLOG) ? -errno : give_name(scope, own.sun_path, sun, len);
	unlink(own.sun_path);
	return ret;
}

int shm_listen_open(const struct shm_scope *scope, const char *key)
{
	struct sockaddr_un sun;
	socklen_t len;
	int fd = open_key(scope, key, &sun, &len), ret;

	if (fd < 0)
		return fd;
	if (scope->dir)
		ret = open_file(fd, scope, &sun, len);
	else
		ret = bind(fd, (void *) &sun, len) || listen(fd, BACKLOG) ? -errno : 0;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

void shm_listen_close(int fd, const struct shm_scope *scope, const char *key)
{
	struct sockaddr_un sun;
	socklen_t len;

	if (scope->dir && !make_socket_name(scope, key, &sun, &len))
		unlink(sun.sun_path);
	close(fd);
}

bool shm_listen_user(const struct shm_scope *scope, const char *key, uid_t *uid_p)
{
	struct sockaddr_un sun;
	socklen_t len;
	pid_t pid;
	int fd = open_key(scope, key, &sun, &len);

	if (fd < 0)
		return false;
	*uid_p = geteuid();
	if (!connect(fd, (void *) &sun, len))
		(void) os_process_peer(fd, &pid, uid_p);
	close(fd);
	return *uid_p != geteuid();
}

/* ---- connections -------------------------------------------------------------------------- */

/* admit_peer - Returns @fd if the process at its other end is of our user; else closes it. */
static int admit_peer(int fd, pid_t *pid_p)
{
	pid_t pid;
	uid_t uid;
	int ret = os_process_peer(fd, &pid, &uid);

	if (!ret)
		ret = uid != geteuid() ? -FI_EACCES : fd;
	if (ret < 0)
		close(fd);
	else
		*pid_p = pid;
	return ret;
}

int shm_listen_connect(const struct shm_scope *scope, const char *key, pid_t *pid_p)
{
	struct sockaddr_un sun;
	socklen_t len;
	int fd = open_key(scope, key, &sun, &len), ret;

	if (fd < 0)
		return fd;
	if (!connect(fd, (void *) &sun, len))
		return admit_peer(fd, pid_p);
	ret = errno == ENOENT ? -FI_ECONNREFUSED : errno == EAGAIN ? -FI_EBUSY : -errno;
	close(fd);
	return ret;
}

int shm_listen_accept(int listener, pid_t *pid_p)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -errno;
	net_inherit_not(fd);
	return admit_peer(fd, pid_p);
}
