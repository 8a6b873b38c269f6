/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* user.h - the user and the process at the other end of a local socket, for both ends of an inspection. */
#ifndef OBJ_INSPECT_USER_H
#define OBJ_INSPECT_USER_H

#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

/* inspect_user_unmapped - may @uid stand for any user that this user namespace does not map?  All of these have
 * one number, the overflow user, which a user of the namespace may have as well, so that two processes with it
 * need not have the same user.
 */
static inline bool inspect_user_unmapped(uid_t uid)
{
	unsigned overflow = 65534, first, outside, cnt;
	bool all = false;
	FILE *file;

	file = fopen("/proc/sys/kernel/overflowuid", "re");
	if (file && fscanf(file, "%u", &overflow) != 1)
		overflow = 65534;
	if (file)
		fclose(file);
	if (uid != overflow)
		return false;
	file = fopen("/proc/self/uid_map", "re");
	while (file && !all && fscanf(file, "%u %u %u", &first, &outside, &cnt) == 3)
		all = cnt == UINT32_MAX;
	if (file)
		fclose(file);
	return !all;
}

/* inspect_user - who is at the other end of @fd, as the kernel says.
 * @pid_p: [out] 0: a process that this PID namespace does not show
 * Errors: -FI_EACCES: it is not known, or is a user that others may be taken for.
 */
static inline int inspect_user(int fd, uid_t *uid_p, pid_t *pid_p)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || inspect_user_unmapped(cred.uid))
		return -FI_EACCES;
	*uid_p = cred.uid;
	*pid_p = cred.pid;
	return 0;
}

#endif
