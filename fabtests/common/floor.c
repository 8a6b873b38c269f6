/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * The floor: what the same two programs reach over bare sockets in the same run, with the same
 * sizes and the same kind of waiting (polling a non-blocking socket with -c spin, otherwise
 * blocked in the kernel).
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
#define PAGE		4096

static int sock = -1;
static bool udp;
static bool spins;

const char *ft_floor_name(void)
{
	return udp ? "UDP socket" : "TCP socket";
}

/* ---- sockets between the two programs ---- */

static socklen_t addr_len(const struct sockaddr_storage *sa)
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

static void must_hold(bool ok, const char *what)
{
	if (!ok)
		ft_fail("bare socket: %s: %s", what, strerror(errno));
}

static int new_socket(const struct ft *ft)
{
	int fd = socket(ft->here.ss_family, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);

	must_hold(fd >= 0, "socket");
	return fd;
}

/* A socket bound to a free address, returned in @sa. */
static int bound_socket(struct ft *ft, struct sockaddr_storage *sa)
{
	socklen_t len = sizeof(*sa);
	int fd = new_socket(ft);

	*sa = ft->here;
	set_port(sa, 0);
	must_hold(!bind(fd, (struct sockaddr *) sa, addr_len(sa)), "bind");
	getsockname(fd, (struct sockaddr *) sa, &len);
	return fd;
}

/* Server: returns a socket that listens.  Client: -1, and the address in @sa. */
static int meet_peer(struct ft *ft, struct sockaddr_storage *sa)
{
	int fd = -1;

	if (!ft->server) {
		ft_ctl_recv(ft, sa, sizeof(*sa));
		return fd;
	}
	fd = bound_socket(ft, sa);
	must_hold(!listen(fd, 64), "listen");
	ft_ctl_send(ft, sa, sizeof(*sa));
	return fd;
}

/* One connection over @listener, or to @sa. */
static int join_peer(struct ft *ft, int listener, const struct sockaddr_storage *sa)
{
	int fd, one = 1;

	if (ft->server) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		must_hold(fd >= 0, "accept");
	} else {
		fd = new_socket(ft);
		must_hold(!connect(fd, (const struct sockaddr *) sa, addr_len(sa)), "connect");
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void close_listener(int listener)
{
	if (listener >= 0)
		close(listener);
}

/* One after the other, so that the server's backlog never overflows. */
static int *join_many(struct ft *ft, int cnt)
{
	int *fds = calloc((size_t) cnt, sizeof(*fds));
	struct sockaddr_storage sa;
	int listener = meet_peer(ft, &sa);

	must_hold(fds, "calloc");
	for (int i = 0; i < cnt; i++) {
		fds[i] = join_peer(ft, listener, &sa);
		if (i % 32 == 31)
			ft_sync(ft);
	}
	close_listener(listener);
	return fds;
}

static void part_many(int *fds, int cnt)
{
	for (int i = 0; i < cnt; i++)
		close(fds[i]);
	free(fds);
}

static void choose_kind(struct ft *ft, bool stream)
{
	udp = ft->info->ep_attr->type == FI_EP_DGRAM && !stream;
	spins = ft->opt.comp == FT_SPIN;
}

void ft_floor_open(struct ft *ft, bool stream)
{
	struct sockaddr_storage mine, theirs;
	int listener;

	choose_kind(ft, stream);
	if (udp) {
		sock = bound_socket(ft, &mine);
		ft_ctl_swap(ft, &mine, &theirs, sizeof(mine));
		must_hold(!connect(sock, (struct sockaddr *) &theirs, addr_len(&theirs)), "connect");
	} else {
		listener = meet_peer(ft, &theirs);
		sock = join_peer(ft, listener, &theirs);
		close_listener(listener);
	}
	ft_sync(ft);
}

void ft_floor_close(void)
{
	if (sock >= 0)
		close(sock);
	sock = -1;
}

/* ---- bytes ---- */

static void give_bytes(int fd, const char *p, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, p + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		must_hold(n > 0, "send");
		at += (size_t) n;
	}
}

/* A datagram that is lost ends the measurement, not the program. */
static bool take_bytes(int fd, char *p, size_t len)
{
	uint64_t end = ft_now_ns() + 2000000000ull;
	unsigned int spun = 0;

	for (size_t at = 0; at < len;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (!spins && udp && poll(&pfd, 1, 2000) <= 0)
			return false;
		n = recv(fd, p + at, len - at, spins ? MSG_DONTWAIT : 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
			if (udp && ft_now_ns() > end)
				return false;
			if (++spun % 256 == 0)	/* the peer may need this processor */
				sched_yield();
			continue;
		}
		must_hold(n > 0, "recv");
		at += (size_t) n;
	}
	return true;
}

double ft_floor_pingpong(struct ft *ft, size_t len, int iters)
{
	char *out = ft_host(ft->tx.p, len), *in = ft_host(ft->rx.p, len);
	uint32_t *ns = calloc((size_t) iters, sizeof(*ns));
	double us;
	int i;

	if (udp && len > UDP_MOST)
		len = UDP_MOST;
	ft_at("in the bare-socket ping-pong");
	ft_sync(ft);
	for (i = 0; i < iters; i++) {
		uint64_t start = ft_now_ns();

		if (!ft->server)
			give_bytes(sock, out, len);
		if (!take_bytes(sock, in, len))
			break;
		if (ft->server)
			give_bytes(sock, in, len);
		ns[i] = (uint32_t) (ft_now_ns() - start);
	}
	us = ft_spread(ns, i).p50_us / 2;
	free(ns);
	ft_sync(ft);
	return us;
}

/* @iters messages one way over @cnt sockets in turn, and a reply; returns microseconds. */
static double one_way(struct ft *ft, const int *fds, int cnt, size_t len, int iters)
{
	char *out = ft_host(ft->tx.p, len), *in = ft_host(ft->rx.p, len), ack = 0;
	uint64_t start;

	ft_at("in the bare-socket stream");
	ft_sync(ft);
	start = ft_now_ns();
	for (int i = 0; i < iters; i++) {
		if (ft->server)
			take_bytes(fds[i % cnt], in, len);
		else
			give_bytes(fds[i % cnt], out, len);
	}
	if (ft->server)
		give_bytes(fds[0], &ack, 1);
	else
		take_bytes(fds[0], &ack, 1);
	return (double) (ft_now_ns() - start) / 1000.0;
}

double ft_floor_bw(struct ft *ft, size_t len, int iters)
{
	return (double) len * iters / one_way(ft, &sock, 1, len, iters);
}

double ft_floor_many(struct ft *ft, int cnt, size_t len, int iters)
{
	double us;
	int *fds;

	choose_kind(ft, true);
	fds = join_many(ft, cnt);
	us = one_way(ft, fds, cnt, len, iters);
	part_many(fds, cnt);
	ft_sync(ft);
	return iters * 1e6 / us;
}

void ft_floor_connect(struct ft *ft, int cnt, uint32_t *ns)
{
	struct sockaddr_storage sa;
	int listener;
	char c = 0;

	choose_kind(ft, true);
	listener = meet_peer(ft, &sa);
	ft_at("in the bare-socket connects");
	for (int i = 0; i < cnt; i++) {
		uint64_t start = ft_now_ns();
		int fd = join_peer(ft, listener, &sa);

		if (!ft->server)
			give_bytes(fd, &c, 1);
		take_bytes(fd, &c, 1);
		if (ft->server)
			give_bytes(fd, &c, 1);
		ns[i] = (uint32_t) (ft_now_ns() - start);
		close(fd);
	}
	close_listener(listener);
	ft_sync(ft);
}

void ft_floor_hold(struct ft *ft, int cnt, void (*look)(void *arg), void *arg)
{
	char *pages = malloc((size_t) cnt * PAGE);
	int *fds;

	must_hold(pages, "malloc");
	choose_kind(ft, true);
	look(arg);
	fds = join_many(ft, cnt);
	for (int i = 0; i < cnt; i++) {
		if (!ft->server)
			give_bytes(fds[i], pages, 8);
		take_bytes(fds[i], memset(pages + (size_t) i * PAGE, 1, PAGE), 8);
		if (ft->server)
			give_bytes(fds[i], pages, 8);
	}
	look(arg);
	part_many(fds, cnt);
	free(pages);
	ft_sync(ft);
}
