/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* read_text - a small file, with a NUL at its end.  Returns its length, or -1. */
static ssize_t read_text(const char *name, char *buf, size_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = read(fd, buf, size - 1);
	close(fd);
	buf[len < 0 ? 0 : len] = '\0';
	return len;
}

/* ---- memory ------------------------------------------------------------------------- */

ssize_t os_process_read(pid_t pid, const struct iovec *here, size_t here_cnt,
			const struct iovec *there, size_t there_cnt)
{
	ssize_t ret = process_vm_readv(pid, here, here_cnt, there, there_cnt, 0);

	return ret < 0 ? -errno : ret;
}

ssize_t os_process_write(pid_t pid, const struct iovec *here, size_t here_cnt,
			 const struct iovec *there, size_t there_cnt)
{
	ssize_t ret = process_vm_writev(pid, here, here_cnt, there, there_cnt, 0);

	return ret < 0 ? -errno : ret;
}

/* own_is_forbidden - nothing is at the address that this asks for: where it is allowed, that is -EFAULT. */
static bool own_is_forbidden(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { NULL, 1 };
	ssize_t ret = os_process_read(getpid(), &here, 1, &there, 1);

	return ret == -EPERM || ret == -ENOSYS || ret == -EACCES;
}

/* other_user_ns - the maps of user ids differ: another user namespace. */
static bool other_user_ns(pid_t pid)
{
	char name[64], ours[256], theirs[256];

	snprintf(name, sizeof(name), "/proc/%ld/uid_map", (long) pid);
	return read_text("/proc/self/uid_map", ours, sizeof(ours)) >= 0 &&
	       read_text(name, theirs, sizeof(theirs)) >= 0 && strcmp(ours, theirs);
}

/* is_undumpable - the kernel gives the files of such a process to root, and the directory of them to its user. */
static bool is_undumpable(pid_t pid)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%ld/status", (long) pid);
	return !stat(name, &st) && st.st_uid != geteuid();
}

static int ptrace_scope(void)
{
	char text[16];

	return read_text("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) < 0 ? 0 : atoi(text);
}

const char *os_process_forbidden(pid_t pid)
{
	if (own_is_forbidden())
		return "a filter of system calls (seccomp) forbids process_vm_readv";
	if (other_user_ns(pid))
		return "it is in another user namespace";
	if (is_undumpable(pid))
		return "it is not dumpable (PR_SET_DUMPABLE, or it has changed its user)";
	if (ptrace_scope())
		return "the kernel forbids it (kernel.yama.ptrace_scope is not 0)";
	return "this process has no permission to trace it (ptrace(2); CAP_SYS_PTRACE)";
}

/* ---- processes ---------------------------------------------------------------------- */

int os_process_open(pid_t pid)
{
	int fd = (int) syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

bool os_process_lives(pid_t pid)
{
	char name[32], exe[1];

	snprintf(name, sizeof(name), "/proc/%ld/exe", (long) pid);
	return readlink(name, exe, sizeof(exe)) >= 0;
}

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

bool os_user_unmapped(uid_t uid)
{
	unsigned overflow = 65534, first, outside, cnt;
	bool all = false;
	char text[16];
	FILE *map;

	if (read_text("/proc/sys/kernel/overflowuid", text, sizeof(text)) > 0)
		overflow = (unsigned) strtoul(text, NULL, 10);
	if (uid != overflow)
		return false;
	map = fopen("/proc/self/uid_map", "re");
	while (map && !all && fscanf(map, "%u %u %u", &first, &outside, &cnt) == 3)
		all = cnt == UINT32_MAX;
	if (map)
		fclose(map);
	return !all;
}

void os_process_command(char *buf, size_t size)
{
	if (read_text("/proc/self/comm", buf, size) < 0)
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

size_t os_boot_id(char *buf, size_t size)
{
	ssize_t len = read_text("/proc/sys/kernel/random/boot_id", buf, size);

	return len < 0 ? 0 : (size_t) len;
}

uint64_t os_namespace(const char *kind)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/self/ns/%s", kind);
	return stat(name, &st) ? 0 : (uint64_t) st.st_ino;
}
