/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * The yardstick: what the same two programs reach over a bare socket in the
 * same run, with the same sizes and the same way of waiting (spinning on a
 * non-blocking socket with -c spin, else asleep in the kernel).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft.h"

#define UDP_MOST	65000

static int sock = -1;
static bool udp;
static bool spins;

const char *ft_floor_name(void)
{
	return udp ? "UDP socket" : "TCP socket";
}

static socklen_t salen(const struct sockaddr_storage *sa)
{
	return sa->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static void set_port(struct sockaddr_storage *sa, in_port_t port)
{
	if (sa->ss_family == AF_INET)
		((struct sockaddr_in *) sa)->sin_port = port;
	else
		((struct sockaddr_in6 *) sa)->sin6_port = port;
}

static void must(bool ok, const char *what)
{
	if (!ok)
		ft_fail("bare socket: %s: %s", what, strerror(errno));
}

static int bound(struct ft *ft, struct sockaddr_storage *sa)
{
	socklen_t len = sizeof(*sa);
	int fd;

	*sa = ft->here;
	set_port(sa, 0);
	fd = socket(sa->ss_family, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
	must(fd >= 0 && !bind(fd, (struct sockaddr *) sa, salen(sa)), "bind");
	getsockname(fd, (struct sockaddr *) sa, &len);
	return fd;
}

void ft_floor_open(struct ft *ft, bool bandwidth)
{
	struct sockaddr_storage mine, theirs;
	int fd, one = 1;

	udp = ft->info->ep_attr->type == FI_EP_DGRAM && !bandwidth;
	spins = ft->opt.comp == FT_SPIN;
	fd = bound(ft, &mine);
	if (!udp && ft->server)
		must(!listen(fd, 1), "listen");
	ft_ctl_swap(ft, &mine, &theirs, sizeof(mine));
	if (udp || !ft->server) {
		must(!connect(fd, (struct sockaddr *) &theirs, salen(&theirs)), "connect");
		sock = fd;
	} else {
		sock = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		must(sock >= 0, "accept");
		close(fd);
	}
	if (!udp)
		setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	ft_sync(ft);
}

void ft_floor_close(void)
{
	if (sock >= 0)
		close(sock);
	sock = -1;
}

static void give(const char *p, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(sock, p + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		must(n > 0, "send");
		at += (size_t) n;
	}
}

/* A datagram that is lost ends the figure, not the program. */
static bool take(char *p, size_t len)
{
	uint64_t end = ft_now_ns() + 2000000000ull;
	unsigned int spun = 0;

	for (size_t at = 0; at < len;) {
		struct pollfd pfd = { .fd = sock, .events = POLLIN };
		ssize_t n;

		if (!spins && udp && poll(&pfd, 1, 2000) <= 0)
			return false;
		n = recv(sock, p + at, len - at, spins ? MSG_DONTWAIT : 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
			if (udp && ft_now_ns() > end)
				return false;
			if (++spun % 256 == 0)	/* the peer may want this processor */
				sched_yield();
			continue;
		}
		must(n > 0, "recv");
		at += (size_t) n;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

double ft_floor_pingpong(struct ft *ft, size_t len, int iters)
{
	uint32_t *ns = calloc((size_t) iters, sizeof(*ns));
	double us = 0;
	int i;

	if (udp && len > UDP_MOST)
		len = UDP_MOST;
	ft_at("in the bare-socket ping-pong");
	ft_sync(ft);
	for (i = 0; i < iters; i++) {
		uint64_t start = ft_now_ns();

		if (!ft->server)
			give(ft->tx.p, len);
		if (!take(ft->rx.p, len))
			break;
		if (ft->server)
			give(ft->rx.p, len);
		ns[i] = (uint32_t) (ft_now_ns() - start);
	}
	if (i) {
		qsort(ns, (size_t) i, sizeof(*ns), compare);
		us = ns[i / 2] / 2000.0;
	}
	free(ns);
	ft_sync(ft);
	return us;
}

double ft_floor_bw(struct ft *ft, size_t len, int iters, int window)
{
	uint64_t start;
	char ack = 0;

	(void) window;
	ft_at("in the bare-socket stream");
	ft_sync(ft);
	start = ft_now_ns();
	for (int i = 0; i < iters; i++) {
		if (ft->server)
			take(ft->rx.p, len);
		else
			give(ft->tx.p, len);
	}
	if (ft->server)
		give(&ack, 1);
	else
		take(&ack, 1);
	return (double) len * iters / ((double) (ft_now_ns() - start) / 1000.0);
}
