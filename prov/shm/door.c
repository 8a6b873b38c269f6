/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/wire.h"
#include "net/inherit.h"

#define BACKLOG 4096

/* ---- keys --------------------------------------------------------------------------- */

static int make_name(const struct shm_place *place, const char *key, struct sockaddr_un *sun,
		     socklen_t *len_p)
{
	size_t len = strlen(key);
	char *slash;
	int cnt;

	if (!len || len > SHM_KEY_MAX)
		return -FI_EINVAL;
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	if (!place->dir) {
		cnt = snprintf(sun->sun_path + 1, sizeof(sun->sun_path) - 1, "ofi-%s/%s",
			       place->prov, key);
		if (cnt >= (int) sizeof(sun->sun_path) - 1)
			return -FI_EINVAL;
		*len_p = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) cnt);
		return 0;
	}
	cnt = snprintf(sun->sun_path, sizeof(sun->sun_path), "%s/ofi-%s.%s", place->dir,
		       place->prov, key);
	if (cnt >= (int) sizeof(sun->sun_path))
		return -FI_EINVAL;
	for (slash = sun->sun_path + cnt - len; (slash = strchr(slash, '/')); )
		*slash = '|';
	*len_p = sizeof(*sun);
	return 0;
}

static int make_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	net_inherit_not(fd);
	return fd;
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

/* lock_dir - for who removes a file and makes another: not two at once.  Returns a
 * descriptor that holds the lock, or -1 where files cannot be locked.
 */
static int lock_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

static int give_name(const struct shm_place *place, const char *file,
		     const struct sockaddr_un *sun, socklen_t len)
{
	int lock = lock_dir(place->dir), ret = link(file, sun->sun_path) ? -errno : 0;

	if (ret == -EEXIST && is_stale(sun, len) && !unlink(sun->sun_path))
		ret = link(file, sun->sun_path) ? -errno : 0;
	if (lock >= 0)
		close(lock);
	return ret == -EEXIST ? -FI_EADDRINUSE : ret;
}

/* open_file - listen at a name of ours alone, then at that of the door. */
static int open_file(int fd, const struct shm_place *place, const struct sockaddr_un *sun,
		     socklen_t len)
{
	static _Atomic unsigned number;
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int cnt = snprintf(own.sun_path, sizeof(own.sun_path), "%s/.ofi-%d.%u", place->dir,
			   (int) getpid(), atomic_fetch_add(&number, 1)), ret;

	if (cnt >= (int) sizeof(own.sun_path))
		return -FI_EINVAL;
	unlink(own.sun_path);	/* of a dead process with our number */
	if (bind(fd, (void *) &own, sizeof(own)))
		return -errno;
	ret = listen(fd, BACKLOG) ? -errno : give_name(place, own.sun_path, sun, len);
	unlink(own.sun_path);
	return ret;
}

int shm_door_open(const struct shm_place *place, const char *key)
{
	struct sockaddr_un sun;
	socklen_t len;
	int fd, ret = make_name(place, key, &sun, &len);

	if (ret)
		return ret;
	fd = make_socket();
	if (fd < 0)
		return fd;
	if (place->dir)
		ret = open_file(fd, place, &sun, len);
	else
		ret = bind(fd, (void *) &sun, len) || listen(fd, BACKLOG) ? -errno : 0;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

void shm_door_close(int fd, const struct shm_place *place, const char *key)
{
	struct sockaddr_un sun;
	socklen_t len;

	if (place->dir && !make_name(place, key, &sun, &len))
		unlink(sun.sun_path);
	close(fd);
}

bool shm_door_foreign(const struct shm_place *place, const char *key, uid_t *uid_p)
{
	struct ucred cred = { .uid = geteuid() };
	socklen_t len, cred_len = sizeof(cred);
	struct sockaddr_un sun;
	int fd;

	if (make_name(place, key, &sun, &len))
		return false;
	fd = make_socket();
	if (fd < 0)
		return false;
	if (!connect(fd, (void *) &sun, len))
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len);
	close(fd);
	*uid_p = cred.uid;
	return cred.uid != geteuid();
}

/* ---- callers -------------------------------------------------------------------------- */

static int check_user(int fd, pid_t *pid_p)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (cred.uid != geteuid())
		return -FI_EACCES;
	*pid_p = cred.pid;
	return 0;
}

int shm_door_knock(const struct shm_place *place, const char *key, pid_t *pid_p)
{
	struct sockaddr_un sun;
	socklen_t len;
	int fd, ret = make_name(place, key, &sun, &len);

	if (ret)
		return ret;
	fd = make_socket();
	if (fd < 0)
		return fd;
	ret = connect(fd, (void *) &sun, len) ? -errno : check_user(fd, pid_p);
	if (!ret)
		return fd;
	close(fd);
	return ret == -ENOENT ? -FI_ECONNREFUSED : ret;
}

int shm_door_answer(int door, pid_t *pid_p)
{
	int fd = accept4(door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	net_inherit_not(fd);
	ret = check_user(fd, pid_p);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* ---- greetings ------------------------------------------------------------------------- */

union ctl {
	struct cmsghdr align;
	char room[CMSG_SPACE(4 * sizeof(int))];
};

int shm_hello_send(int fd, const struct shm_hello *hello, int seg_fd)
{
	struct iovec iov = { (void *) hello, sizeof(*hello) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union ctl ctl = { 0 };
	struct cmsghdr *cmsg;

	if (seg_fd >= 0) {
		msg.msg_control = &ctl;
		msg.msg_controllen = CMSG_SPACE(sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &seg_fd, sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* take_fds - the only descriptor that came; a sender of several gets none in. */
static int take_fds(struct msghdr *msg)
{
	int fds[4], fd = -1, cnt = 0;
	struct cmsghdr *cmsg;
	size_t i, n;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n && cnt < 4; i++)
			memcpy(&fds[cnt++], CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
	}
	if (cnt == 1)
		fd = fds[0];
	else
		while (cnt)
			close(fds[--cnt]);
	return fd;
}

int shm_hello_check(const struct shm_hello *hello, size_t len)
{
	if (len < offsetof(struct shm_hello, type) || hello->magic != SHM_MAGIC)
		return -FI_EPROTO;
	if (hello->version != SHM_VERSION || hello->engine != WIRE_VERSION)
		return -FI_ENOPROTOOPT;
	if (len != sizeof(*hello) || hello->type < SHM_HELLO || hello->type > SHM_REFUSE ||
	    hello->zero || hello->addr_len > SHM_ADDR_MAX || hello->to_len > SHM_ADDR_MAX)
		return -FI_EPROTO;
	if (hello->type == SHM_REFUSE)
		return hello->reason == SHM_OK || hello->reason >= SHM_REASONS ? -FI_EPROTO : 0;
	if (hello->seg_size != sizeof(struct shm_seg))
		return -FI_ENOPROTOOPT;
	return hello->addr_len && (hello->type == SHM_WELCOME || hello->to_len) ? 0 : -FI_EPROTO;
}

int shm_hello_recv(int fd, struct shm_hello *hello, int *seg_fd_p)
{
	struct iovec iov = { hello, sizeof(*hello) };
	union ctl ctl;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl,
			      .msg_controllen = sizeof(ctl) };
	ssize_t len = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int ret;

	if (len < 0)
		return errno == EINTR ? -FI_EAGAIN : -errno;
	*seg_fd_p = take_fds(&msg);
	/* what there is no room for the kernel leaves out */
	if (*seg_fd_p < 0 && msg.msg_flags & MSG_CTRUNC)
		*seg_fd_p = -FI_EMFILE;
	ret = !len ? -FI_ECONNRESET : msg.msg_flags & MSG_TRUNC ? -FI_EPROTO :
	      shm_hello_check(hello, (size_t) len);
	if (ret && *seg_fd_p >= 0) {
		close(*seg_fd_p);
		*seg_fd_p = -1;
	}
	return ret;
}

int shm_hello_confirm(int fd)
{
	return send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int shm_hello_confirmed(int fd)
{
	char byte;
	ssize_t ret = recv(fd, &byte, 1, MSG_DONTWAIT);

	return ret < 0 ? errno == EINTR ? -FI_EAGAIN : -errno : ret ? 0 : -FI_ECONNRESET;
}

const char *shm_reason_text(uint32_t reason)
{
	switch (reason) {
	case SHM_BUSY:
		return "it is out of memory or file descriptors";
	case SHM_BAD_VERSION:
		return "it speaks another version; both processes need the same library";
	case SHM_BAD_NAME:
		return "the endpoint there has another name";
	case SHM_BAD_SEGMENT:
		return "it could not map our memory; is there a limit on its address space?";
	default:
		return "it is being called by us the other way round";
	}
}

int shm_reason_errno(uint32_t reason)
{
	switch (reason) {
	case SHM_BUSY:
		return FI_EAGAIN;
	case SHM_BAD_VERSION:
		return FI_EPROTO;
	case SHM_BAD_SEGMENT:
		return FI_ENOMEM;
	default:
		return FI_ECONNREFUSED;
	}
}
