/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t os_process_read(pid_t pid, const struct iovec *here, size_t here_cnt,
			const struct iovec *there, size_t there_cnt)
{
	return -ENOSYS;
}

ssize_t os_process_write(pid_t pid, const struct iovec *here, size_t here_cnt,
			 const struct iovec *there, size_t there_cnt)
{
	return -ENOSYS;
}

const char *os_process_forbidden(pid_t pid)
{
	return "the system has no call for it";
}

int os_process_open(pid_t pid)
{
	return -ENOSYS;
}

bool os_process_lives(pid_t pid)
{
	return !kill(pid, 0);
}

#ifdef SO_PEERCRED
int os_process_peer(int fd, pid_t *pid_p, uid_t *uid_p)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	*pid_p = cred.pid;
	*uid_p = cred.uid;
	return 0;
}
#else
int os_process_peer(int fd, pid_t *pid_p, uid_t *uid_p)
{
	gid_t gid;

	*pid_p = -1;
	return getpeereid(fd, uid_p, &gid) ? -errno : 0;
}
#endif

bool os_user_unmapped(uid_t uid)
{
	return false;
}

void os_process_command(char *buf, size_t size)
{
	*buf = '\0';
}

size_t os_boot_id(char *buf, size_t size)
{
	return 0;
}

uint64_t os_namespace(const char *kind)
{
	return 0;
}
