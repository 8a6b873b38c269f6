/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fuzz_handshake - libFuzzer target: a message of a local socket, with and without descriptors, until it is a handshake. */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../handshake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send_message(int fd, const uint8_t *data, size_t size, unsigned fd_cnt)
{
	union { char room[CMSG_SPACE(3 * sizeof(int))]; struct cmsghdr align; } ctl = { { 0 } };
	struct iovec iov = { (void *) data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[3] = { fd, fd, fd };

	if (fd_cnt) {
		msg.msg_control = &ctl;
		msg.msg_controllen = CMSG_SPACE(fd_cnt * sizeof(int));
		CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(fd_cnt * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, fd_cnt * sizeof(int));
	}
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
		abort();
}

static int count_fds(int from)
{
	int fd, cnt = 0;

	for (fd = from; fd < from + 8; fd++)
		cnt += dup2(fd, fd) == fd;
	return cnt;
}

/* The descriptors of what is refused are closed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shm_handshake shake;
	struct shm_fds fds = SHM_NO_FDS;
	int pair[2], before, ret;

	if (size < 2 || size > 4096)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		abort();
	before = count_fds(pair[0]);
	send_message(pair[1], data + 1, size - 1, data[0] % 4);
	ret = shm_handshake_recv(pair[0], &shake, &fds);
	if (!ret && (shake.addr_len > SHM_ADDR_MAX || shake.to_len > SHM_ADDR_MAX || shake.bell > SHM_BELLS))
		abort();
	if (!ret)
		shm_fds_close(&fds);
	if (count_fds(pair[0]) != before)
		abort();
	close(pair[0]);
	close(pair[1]);
	return 0;
}
