/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* user.h - the user and the process at the other end of a local socket, for both ends of an inspection. */
#ifndef OBJ_INSPECT_USER_H
#define OBJ_INSPECT_USER_H

#include <rdma/fi_errno.h>
#include <sys/types.h>

#include "base/os/process.h"

/* inspect_user - who is at the other end of @fd, as the kernel says.
 * @pid_p: [out] 0: a process that this PID namespace does not show; -1: the system does not tell
 * Errors: -FI_EACCES: it is not known, or is a user that others may be taken for.
 */
static inline int inspect_user(int fd, uid_t *uid_p, pid_t *pid_p)
{
	return os_process_peer(fd, pid_p, uid_p) || os_user_unmapped(*uid_p) ? -FI_EACCES : 0;
}

#endif
