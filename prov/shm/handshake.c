/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "handshake.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for more descriptors than the two that are expected, so that none is lost. */
union ctl {
	struct cmsghdr align;
	char room[CMSG_SPACE(4 * sizeof(int))];
};

void shm_fds_close(struct shm_fds *fds)
{
	if (fds->seg >= 0)
		close(fds->seg);
	if (fds->bells >= 0)
		close(fds->bells);
	*fds = SHM_NO_FDS;
}

/* Descriptors of a SOCK_SEQPACKET message travel with its bytes: both arrive, or neither. */
int shm_handshake_send(int fd, const struct shm_handshake *shake, struct shm_fds fds)
{
	struct iovec iov = { (void *) shake, sizeof(*shake) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int all[2] = { fds.seg, fds.bells };
	union ctl ctl = { 0 };
	struct cmsghdr *cmsg;
	size_t len;

	if (fds.seg >= 0) {
		len = fds.bells < 0 ? sizeof(int) : 2 * sizeof(int);
		msg.msg_control = &ctl;
		msg.msg_controllen = CMSG_SPACE(len);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(len);
		memcpy(CMSG_DATA(cmsg), all, len);
	}
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* take_fds - the descriptors that came; none if there are more than two. */
static struct shm_fds take_fds(struct msghdr *msg)
{
	int fds[4] = { -1, -1 }, cnt = 0;
	struct cmsghdr *cmsg;
	size_t i, n;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n && cnt < 4; i++)
			memcpy(&fds[cnt++], CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
	}
	if (cnt <= 2)
		return (struct shm_fds) { fds[0], fds[1] };
	while (cnt)
		close(fds[--cnt]);
	return SHM_NO_FDS;
}

/* The versions come first: nothing behind them is known of a handshake of another version. */
int shm_handshake_check(const struct shm_handshake *shake, size_t len)
{
	struct chan_version ours = chan_version_ours(SHM_VERSION, SHM_OLDEST);

	if (len < SHM_HANDSHAKE_STABLE || shake->magic != SHM_MAGIC)
		return -FI_EPROTO;
	if (!chan_version_agree(&ours, &shake->version, NULL))
		return -FI_ENOPROTOOPT;
	if (len != sizeof(*shake) || shake->type < SHM_REQUEST || shake->type > SHM_REFUSE ||
	    shake->bell > SHM_BELLS || shake->addr_len > SHM_ADDR_MAX || shake->to_len > SHM_ADDR_MAX)
		return -FI_EPROTO;
	if (shake->type == SHM_REFUSE)
		return shake->reason == CHAN_OK ? -FI_EPROTO : 0;
	if (shake->seg_size != sizeof(struct shm_seg) || !shake->addr_len)
		return -FI_EPROTO;
	return shake->type == SHM_REQUEST && !shake->to_len ? -FI_EPROTO : 0;
}

int shm_handshake_recv(int fd, struct shm_handshake *shake, struct shm_fds *fds)
{
	struct iovec iov = { shake, sizeof(*shake) };
	union ctl ctl;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl,
			      .msg_controllen = sizeof(ctl) };
	ssize_t len = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int ret;

	if (len < 0)
		return errno == EINTR ? -FI_EAGAIN : -errno;
	*fds = take_fds(&msg);
	/* the kernel leaves out what the process has no room for */
	if (fds->bells < 0 && msg.msg_flags & MSG_CTRUNC) {
		shm_fds_close(fds);
		fds->seg = -FI_EMFILE;
	}
	ret = len ? shm_handshake_check(shake, (size_t) len) : -FI_ECONNRESET;
	/* one of another version may be longer */
	if (!ret && msg.msg_flags & MSG_TRUNC)
		ret = -FI_EPROTO;
	if (!ret && fds->seg >= 0 && (fds->bells >= 0) != (shake->bell > 0))
		ret = -FI_EPROTO;
	/* the caller gets descriptors with a valid message only */
	if (ret)
		shm_fds_close(fds);
	return ret;
}

int shm_handshake_confirm(int fd)
{
	return send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int shm_handshake_confirmed(int fd)
{
	char byte;
	ssize_t ret = recv(fd, &byte, 1, MSG_DONTWAIT);

	return ret < 0 ? errno == EINTR ? -FI_EAGAIN : -errno : ret ? 0 : -FI_ECONNRESET;
}
