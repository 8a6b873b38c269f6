/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * process.h - other processes, and what identifies them.
 *
 * Linux: process_vm_readv(2), pidfd_open(2), /proc. POSIX: none of it but the user of a peer, and no
 * namespaces of users; callers do without: copies go through shared memory, and a host has no mark, so that tcp does not leave its sockets.
 */
#ifndef OS_PROCESS_H
#define OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* os_process_read - from the memory of @pid.  Returns the bytes, which may be fewer, or a negative errno.
 * os_process_write - to it.
 */
ssize_t os_process_read(pid_t pid, const struct iovec *here, size_t here_cnt,
			const struct iovec *there, size_t there_cnt);
ssize_t os_process_write(pid_t pid, const struct iovec *here, size_t here_cnt,
			 const struct iovec *there, size_t there_cnt);

/* os_process_forbidden - why the memory of @pid cannot be read though it is there: a text. */
const char *os_process_forbidden(pid_t pid);

/* os_process_open - a descriptor that is readable once the process has ended, or a negative errno. */
int os_process_open(pid_t pid);

/* os_process_lives - does @pid run a program?  One that has ended, and was not waited for, does not on Linux, and
 * does by POSIX; on Linux, one of another user that cannot be looked at does not.
 */
bool os_process_lives(pid_t pid);

/* os_process_peer - of a connected local socket: its process, -1 where the system does not tell, and its user.
 * Returns 0, or a negative errno.
 */
int os_process_peer(int fd, pid_t *pid_p, uid_t *uid_p);

/* os_user_unmapped - may @uid stand for any user that this user namespace does not map?  All of these have one
 * number, the overflow user, which a user of the namespace may have as well, so that two processes with it
 * need not have the same user.
 */
bool os_user_unmapped(uid_t uid);

/* os_process_command - the name of this process, or "". */
void os_process_command(char *buf, size_t size);

/* os_boot_id - a text that no other host and no other boot of this one has.  Returns its length; 0: not known. */
size_t os_boot_id(char *buf, size_t size);

/* os_namespace - a number of the one that this process is in; 0: not known. */
uint64_t os_namespace(const char *kind);

#endif
