/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * The control connection: a TCP socket over which the two programs of a test exchange
 * addresses, synchronize, and report their results.  A message is a kind, a length in network
 * order, and that many bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft.h"

#define DIAL_TRIES	200	/* of 50 ms: the server may start second */
#define HELLO		"fabtests 1"

static int last_ctl = -1;	/* for ft_ctl_last_word() */

struct head {
	char kind;		/* D data, F failed, S skipped, B bye */
	char pad[3];
	uint32_t len;
};

static bool put_all(int fd, const void *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, (const char *) buf + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t) n;
	}
	return true;
}

static bool get_all(int fd, void *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = recv(fd, (char *) buf + at, len - at, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t) n;
	}
	return true;
}

void ft_ctl_last_word(char kind, const char *text)
{
	struct head head = { .kind = kind, .len = htonl((uint32_t) strlen(text)) };
	struct timeval patience = { .tv_sec = 1 };
	int fd = last_ctl;
	char sink[256];

	if (fd < 0)
		return;
	last_ctl = -1;
	if (put_all(fd, &head, sizeof(head)))
		put_all(fd, text, strlen(text));
	shutdown(fd, SHUT_WR);
	/* Closing with unread bytes would reset the connection and lose the last message. */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while (recv(fd, sink, sizeof(sink), 0) > 0)
		;
}

/* The peer has ended: this side ends with the same result. */
static __attribute__((noreturn)) void peer_ended(struct ft *ft, const struct head *head)
{
	char text[1025] = "";
	size_t len = ntohl(head->len);

	if (len > sizeof(text) - 1 || !get_all(ft->ctl, text, len))
		strcpy(text, "(no text)");
	last_ctl = -1;
	if (head->kind == 'S') {
		printf("SKIP: %s\n", text);
		exit(FT_SKIPPED);
	}
	ft_fail("the %s failed: %s", ft->server ? "client" : "server", text);
}

void ft_ctl_look(struct ft *ft)
{
	struct head head;
	ssize_t n;

	if (ft->ctl < 0)
		return;
	n = recv(ft->ctl, &head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (!n) {
		last_ctl = -1;
		ft_fail("the %s ended without a message", ft->server ? "client" : "server");
	}
	if (n == sizeof(head) && (head.kind == 'F' || head.kind == 'S')) {
		get_all(ft->ctl, &head, sizeof(head));
		peer_ended(ft, &head);
	}
}

void ft_ctl_send(struct ft *ft, const void *buf, size_t len)
{
	struct head head = { .kind = 'D', .len = htonl((uint32_t) len) };

	if (put_all(ft->ctl, &head, sizeof(head)) && put_all(ft->ctl, buf, len))
		return;
	ft_ctl_look(ft);
	ft_fail("the control connection broke: %s", strerror(errno));
}

/* The peer may need this side's progress before it reaches the same point. */
static void progress_until_readable(struct ft *ft)
{
	struct pollfd pfd = { .fd = ft->ctl, .events = POLLIN };

	while (ft->ep.txcq && !poll(&pfd, 1, 1)) {
		fi_cq_read(ft->ep.txcq, NULL, 0);
		fi_cq_read(ft->ep.rxcq, NULL, 0);
	}
}

void ft_serve(struct ft *ft)
{
	struct pollfd pfd = { .fd = ft->ctl, .events = POLLIN };

	while (!poll(&pfd, 1, 0))
		for (int i = 0; i < 64; i++) {
			fi_cq_read(ft->ep.txcq, NULL, 0);
			fi_cq_read(ft->ep.rxcq, NULL, 0);
		}
}

size_t ft_ctl_recv(struct ft *ft, void *buf, size_t len)
{
	struct head head;
	uint32_t got;

	progress_until_readable(ft);
	if (!get_all(ft->ctl, &head, sizeof(head))) {
		last_ctl = -1;
		ft_fail("the %s ended without a message", ft->server ? "client" : "server");
	}
	if (head.kind != 'D')
		peer_ended(ft, &head);
	got = ntohl(head.len);
	if (got > len)
		ft_fail("a control message of %u bytes where %zu were expected", got, len);
	if (!get_all(ft->ctl, buf, got))
		ft_fail("the control connection broke within a message");
	return got;
}

void ft_ctl_swap(struct ft *ft, const void *mine, void *theirs, size_t len)
{
	ft_ctl_send(ft, mine, len);
	if (ft_ctl_recv(ft, theirs, len) != len)
		ft_fail("the two programs do not follow the same steps");
}

size_t ft_agree(struct ft *ft, size_t mine)
{
	uint64_t here = mine, there = mine;

	if (ft->ctl >= 0)
		ft_ctl_swap(ft, &here, &there, sizeof(here));
	return there < here ? (size_t) there : mine;
}

void ft_sync(struct ft *ft)
{
	char mine = 's', theirs;

	if (ft->ctl >= 0)
		ft_ctl_swap(ft, &mine, &theirs, 1);
}

static struct addrinfo *resolve_host(struct ft *ft, const char *host, int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags }, *res;
	int rc = getaddrinfo(host, ft->opt.port, &hints, &res);

	if (rc)
		ft_fail("control address %s, port %s: %s", host ? host : "any", ft->opt.port,
			gai_strerror(rc));
	return res;
}

static void say_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	getsockname(fd, (struct sockaddr *) &sa, &len);
	printf("port %u\n", ntohs(sa.ss_family == AF_INET ?
				  ((struct sockaddr_in *) &sa)->sin_port :
				  ((struct sockaddr_in6 *) &sa)->sin6_port));
	fflush(stdout);
}

static int ctl_serve(struct ft *ft)
{
	struct addrinfo *ai = resolve_host(ft, ft->opt.src_addr, AI_PASSIVE);
	int one = 1, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), conn;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 8))
		ft_fail("cannot serve on control port %s: %s; choose another with -B",
			ft->opt.port, strerror(errno));
	freeaddrinfo(ai);
	if (!strcmp(ft->opt.port, "0"))
		say_port(fd);
	do
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (conn < 0 && errno == EINTR);
	close(fd);
	return conn;
}

static int ctl_dial(struct ft *ft)
{
	struct addrinfo *ai = resolve_host(ft, ft->opt.peer, 0);
	int fd = -1;

	for (int i = 0; i < DIAL_TRIES && fd < 0; i++) {
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		close(fd);
		fd = -1;
		nanosleep(&(struct timespec) { .tv_nsec = 50000000 }, NULL);
	}
	freeaddrinfo(ai);
	return fd;
}

/* Both programs must be the same test with the same parameters. */
static void ctl_hello(struct ft *ft)
{
	char mine[256] = "", theirs[256] = "";
	size_t same = sizeof(mine);

	snprintf(mine, sizeof(mine), "%s %s iters=%d warmup=%d size=%zu..%zu window=%d type=%d%s%s",
		 HELLO, ft->name, ft->opt.iters, ft->opt.warmup, ft->opt.sizes[0],
		 ft->opt.sizes[ft->opt.size_cnt - 1], ft->opt.window, ft->opt.ep_type,
		 ft->opt.tagged ? " tagged" : "", ft->opt.verify ? " verify" : "");
	ft_ctl_swap(ft, mine, theirs, sizeof(mine));
	theirs[sizeof(theirs) - 1] = 0;
	if (ft->test->client_rules)
		same = strlen(HELLO) + 1 + strlen(ft->name);
	if (strncmp(mine, theirs, same))
		ft_fail("the two programs were started differently: here '%s', there '%s'",
			mine, theirs);
}

void ft_ctl_open(struct ft *ft)
{
	socklen_t len = sizeof(ft->here);
	int one = 1;

	ft_at(ft->server ? "waiting for the client's control connection" :
	      "connecting to the server's control port");
	ft->ctl = ft->server ? ctl_serve(ft) : ctl_dial(ft);
	if (ft->ctl < 0)
		ft_fail("no control connection to %s, port %s: is the server running?",
			ft->opt.peer ? ft->opt.peer : "the client", ft->opt.port);
	last_ctl = ft->ctl;
	setsockopt(ft->ctl, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	getsockname(ft->ctl, (struct sockaddr *) &ft->here, &len);
	len = sizeof(ft->there);
	getpeername(ft->ctl, (struct sockaddr *) &ft->there, &len);
	ctl_hello(ft);
}

void ft_ctl_close(struct ft *ft)
{
	if (ft->ctl < 0)
		return;
	last_ctl = -1;
	close(ft->ctl);
	ft->ctl = -1;
}

void ft_ctl_numeric(const struct sockaddr_storage *sa, char *host, size_t len)
{
	socklen_t salen = sa->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
			  sizeof(struct sockaddr_in6);

	if (getnameinfo((const struct sockaddr *) sa, salen, host, (socklen_t) len, NULL, 0,
			NI_NUMERICHOST))
		*host = 0;
}
