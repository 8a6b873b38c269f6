/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * io.h - the system calls of the data path, without the C library's wrappers.
 *
 * The wrappers are cancellation points: a cancelled thread would end inside of one with the
 * group's lock held.  In a program with threads they also cost two locked instructions.
 *
 * They return what the wrappers return and set errno.
 */
#ifndef TCP_IO_H
#define TCP_IO_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* A peer that has closed is an error here (EPIPE), never a signal. */
static inline ssize_t tcp_io_send(int fd, const void *buf, size_t len)
{
	return syscall(SYS_sendto, fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

static inline ssize_t tcp_io_sendv(int fd, struct iovec *iov, size_t cnt)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = cnt };

	return syscall(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t tcp_io_recv(int fd, void *buf, size_t len)
{
	return syscall(SYS_recvfrom, fd, buf, len, MSG_DONTWAIT, NULL, NULL);
}

static inline ssize_t tcp_io_recvv(int fd, struct iovec *iov, size_t cnt)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = cnt };

	return syscall(SYS_recvmsg, fd, &msg, MSG_DONTWAIT);
}

#endif
