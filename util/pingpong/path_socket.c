/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

struct socket_path {
	struct pp_path path;
	int fd;
	bool datagram;
	size_t got;			/* bytes received of the current message */
};

static struct socket_path *socket_of(struct pp_path *path)
{
	return (struct socket_path *) path;
}

static int say_errno_of(struct pp_ctrl *ctrl, const char *what)
{
	int err = errno;

	pp_ctrl_fail(ctrl, "bare socket: %s: %s", what, strerror(err));
	return -err;
}

/* A stream has no empty messages: one byte represents them. */
static size_t wire_len(const struct socket_path *p, size_t len)
{
	return !len && !p->datagram ? 1 : len;
}

static int socket_send(struct pp_path *path, size_t len)
{
	struct socket_path *p = socket_of(path);
	size_t left = wire_len(p, len);
	const char *at = path->tx;
	ssize_t n;

	do {
		n = send(p->fd, at, left, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return say_errno_of(path->ctrl, "send");
		if (n > 0) {
			at += n;
			left -= n;
		}
	} while (left);
	return 0;
}

static int socket_poll(struct pp_path *path, size_t len)
{
	struct socket_path *p = socket_of(path);
	size_t want = wire_len(p, len);
	ssize_t n = recv(p->fd, path->rx + p->got, want - p->got, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : say_errno_of(path->ctrl, "recv");
	if (!n && !p->datagram) {
		pp_ctrl_fail(path->ctrl, "bare socket: connection closed");
		return -FI_ECONNRESET;
	}
	p->got += n;
	if (p->got < want && !p->datagram)
		return 0;
	p->got = 0;
	return 1;
}

/* Nothing to do: data waits in the kernel until poll reads it. */
static int socket_nothing(struct pp_path *path)
{
	return 0;
}

static void socket_close(struct pp_path *path)
{
	struct socket_path *p = socket_of(path);

	if (p->fd >= 0)
		close(p->fd);
	free(path->tx);
	free(path->rx);
	free(p);
}

static const struct pp_path_ops socket_ops = {
	.send = socket_send,
	.poll = socket_poll,
	.progress = socket_nothing,
	.rearm = socket_nothing,
	.close = socket_close,
};

/* ---- opening --------------------------------------------------------------- */

static void set_port(struct sockaddr_storage *ss, uint16_t port)
{
	if (ss->ss_family == AF_INET6)
		((struct sockaddr_in6 *) ss)->sin6_port = port;
	else
		((struct sockaddr_in *) ss)->sin_port = port;
}

static uint16_t get_port(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *) ss)->sin6_port :
					   ((const struct sockaddr_in *) ss)->sin_port;
}

/* A socket at the local address of the control connection, on any port. */
static int open_local(struct pp_ctrl *ctrl, int type, int *fd_p)
{
	struct sockaddr_storage ss = ctrl->local;

	set_port(&ss, 0);
	*fd_p = socket(ss.ss_family, type | SOCK_CLOEXEC, 0);
	if (*fd_p < 0 || bind(*fd_p, (struct sockaddr *) &ss, ctrl->addrlen))
		return say_errno_of(ctrl, "bind");
	return 0;
}

static int tell_port(struct pp_ctrl *ctrl, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	uint16_t port;

	if (getsockname(fd, (struct sockaddr *) &ss, &len))
		return say_errno_of(ctrl, "getsockname");
	port = get_port(&ss);
	return pp_ctrl_send(ctrl, PP_ADDR, &port, sizeof(port));
}

/* Connects to the port that the peer sends. */
static int connect_told(struct pp_ctrl *ctrl, int fd)
{
	struct sockaddr_storage ss = ctrl->peer;
	uint16_t port;
	size_t len = sizeof(port);
	int ret = pp_ctrl_recv(ctrl, PP_ADDR, &port, &len);

	if (ret)
		return ret;
	set_port(&ss, port);
	return connect(fd, (struct sockaddr *) &ss, ctrl->addrlen) ? say_errno_of(ctrl, "connect") : 0;
}

static int open_datagram(struct pp_ctrl *ctrl, struct socket_path *p)
{
	int ret = open_local(ctrl, SOCK_DGRAM, &p->fd);

	ret = ret ? ret : tell_port(ctrl, p->fd);
	return ret ? ret : connect_told(ctrl, p->fd);
}

static int open_stream_server(struct pp_ctrl *ctrl, struct socket_path *p)
{
	int fd, ret = open_local(ctrl, SOCK_STREAM, &fd);

	if (!ret && listen(fd, 1))
		ret = say_errno_of(ctrl, "listen");
	ret = ret ? ret : tell_port(ctrl, fd);
	if (!ret) {
		p->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		ret = p->fd < 0 ? say_errno_of(ctrl, "accept") : 0;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static int open_stream(const struct pp_options *o, struct pp_ctrl *ctrl, struct socket_path *p)
{
	int one = 1, ret;

	if (o->role == PP_SERVER) {
		ret = open_stream_server(ctrl, p);
	} else {
		ret = open_local(ctrl, SOCK_STREAM, &p->fd);
		ret = ret ? ret : connect_told(ctrl, p->fd);
	}
	if (!ret && setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		ret = say_errno_of(ctrl, "TCP_NODELAY");
	return ret;
}

int pp_path_socket(const struct pp_options *o, struct pp_ctrl *ctrl, size_t len,
		   struct pp_path **path_p)
{
	struct socket_path *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -FI_ENOMEM;
	p->path.ops = &socket_ops;
	p->path.ctrl = ctrl;
	p->path.tx = calloc(1, len + 1);
	p->path.rx = calloc(1, len + 1);
	p->fd = -1;
	p->datagram = o->ep_type == FI_EP_DGRAM;
	ret = !p->path.tx || !p->path.rx ? -FI_ENOMEM :
	      p->datagram ? open_datagram(ctrl, p) : open_stream(o, ctrl, p);
	if (!ret && fcntl(p->fd, F_SETFL, O_NONBLOCK))
		ret = say_errno_of(ctrl, "O_NONBLOCK");
	if (ret)
		socket_close(&p->path);
	else
		*path_p = &p->path;
	return ret;
}
