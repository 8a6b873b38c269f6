/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * io.h - the system calls of the data path, without the C library's wrappers.
 *
 * The wrappers are cancellation points: a cancelled thread would end inside of one with the
 * group's lock held.  In a process with threads, and fi_top(1) is answered by one, they also cost
 * two locked instructions and 50 others.
 *
 * They return what the wrappers return and set errno.
 */
#ifndef NET_IO_H
#define NET_IO_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define NET_IO static inline __attribute__((always_inline))

NET_IO ssize_t net_io_send(int fd, const void *buf, size_t len, int flags,
			   const struct sockaddr *to, socklen_t to_len)
{
	return syscall(SYS_sendto, fd, buf, len, flags, to, to_len);
}

NET_IO ssize_t net_io_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return syscall(SYS_sendmsg, fd, msg, flags);
}

NET_IO ssize_t net_io_recv(int fd, void *buf, size_t len, int flags, struct sockaddr *from,
			   socklen_t *from_len)
{
	return syscall(SYS_recvfrom, fd, buf, len, flags, from, from_len);
}

NET_IO ssize_t net_io_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return syscall(SYS_recvmsg, fd, msg, flags);
}

#endif
