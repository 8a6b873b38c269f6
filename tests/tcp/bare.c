/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * bare - what sockets alone move between two hosts: the baseline of rails_test's figures.
 *
 *   bare server PORT N                 takes N connections, reads until all have ended
 *   bare client PORT MB ADDR...        a connection to each address; each takes the next 256 KiB when it has room
 *   bare mptcp-server PORT, bare mptcp-client PORT MB ADDR      the same over one connection of multipath TCP
 *
 * The client prints MB/s.  Without arguments both are this process and a child, for a moment.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node.h"

#define MOST 8
#define PIECE (256 << 10)
#define ROOM (8 << 20)		/* that messages lie in, as in rails.c */

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static char *room;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

static int listen_at(int port, int proto)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
	int fd = socket(AF_INET, SOCK_STREAM, proto), one = 1;

	CHECK(fd >= 0, "%s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	CHECK(!bind(fd, (struct sockaddr *) &at, sizeof(at)) && !listen(fd, MOST), "%s", strerror(errno));
	return fd;
}

static void take(int listener, int cnt)
{
	struct pollfd set[MOST];
	int i, left = cnt;
	size_t off = 0;
	ssize_t ret;

	for (i = 0; i < cnt; i++) {
		set[i] = (struct pollfd) { .fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), .events = POLLIN };
		CHECK(set[i].fd >= 0);
	}
	while (left) {
		CHECK(poll(set, (nfds_t) cnt, 100000) > 0);
		for (i = 0; i < cnt; i++) {
			if (!set[i].revents)
				continue;
			ret = read(set[i].fd, room + off, PIECE);
			CHECK(ret >= 0 || errno == EAGAIN, "%s", strerror(errno));
			off = (off + PIECE) % ROOM;
			if (ret)
				continue;
			close(set[i].fd);	/* its last byte tells the client that all was read */
			set[i].fd = -1;
			left--;
		}
	}
}

static int connect_to(const char *addr, int port, int proto)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
	int fd = -1, i, low = 128 << 10;

	CHECK(inet_pton(AF_INET, addr, &to.sin_addr) == 1);
	for (i = 0; i < 200; i++, usleep(20000)) {
		fd = socket(AF_INET, SOCK_STREAM, proto);
		CHECK(fd >= 0, "%s", strerror(errno));
		if (!connect(fd, (struct sockaddr *) &to, sizeof(to)))
			break;
		close(fd);
	}
	CHECK(i < 200, "cannot connect to %s", addr);
	if (!proto)
		setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof(low));
	return fd;
}

static void give(char **addr, int cnt, int port, size_t left, int proto)
{
	struct pollfd set[MOST];
	size_t all = left, off = 0;
	double begin;
	ssize_t ret;
	char byte;
	int i;

	for (i = 0; i < cnt; i++)
		set[i] = (struct pollfd) { .fd = connect_to(addr[i], port, proto), .events = POLLOUT };
	usleep(300000);			/* further paths of multipath TCP are made */
	begin = now_s();
	while (left) {
		CHECK(poll(set, (nfds_t) cnt, 100000) > 0);
		for (i = 0; i < cnt && left; i++) {
			if (!set[i].revents)
				continue;
			ret = send(set[i].fd, room + off, left < PIECE ? left : PIECE, MSG_DONTWAIT | MSG_NOSIGNAL);
			CHECK(ret >= 0 || errno == EAGAIN, "%s", strerror(errno));
			left -= ret > 0 ? (size_t) ret : 0;
			off = (off + PIECE) % ROOM;
		}
	}
	for (i = 0; i < cnt; i++)
		shutdown(set[i].fd, SHUT_WR);
	for (i = 0; i < cnt; i++)
		CHECK(recv(set[i].fd, &byte, 1, 0) == 0);
	printf("client: %.0f MB/s\n", (double) all / (now_s() - begin) / 1e6);
}

static int run_both(void)
{
	static char host[] = "127.0.0.1";
	char *addr[] = { host, host };
	struct sockaddr_in at;
	socklen_t len = sizeof(at);
	int listener = listen_at(0, 0), status;
	pid_t pid = fork();

	if (!pid) {
		take(listener, 2);
		_exit(0);
	}
	CHECK(!getsockname(listener, (struct sockaddr *) &at, &len));
	give(addr, 2, ntohs(at.sin_port), 16 << 20, 0);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return 0;
}

int main(int argc, char **argv)
{
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(room != MAP_FAILED);
	if (argc == 1)
		return run_both();
	if (argc == 4 && !strcmp(argv[1], "server"))
		take(listen_at(atoi(argv[2]), 0), atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "mptcp-server"))
		take(listen_at(atoi(argv[2]), IPPROTO_MPTCP), 1);
	else if (argc >= 5 && argc <= 4 + MOST && !strcmp(argv[1], "client"))
		give(argv + 4, argc - 4, atoi(argv[2]), (size_t) atoi(argv[3]) * 1000000, 0);
	else if (argc == 5 && !strcmp(argv[1], "mptcp-client"))
		give(argv + 4, 1, atoi(argv[2]), (size_t) atoi(argv[3]) * 1000000, IPPROTO_MPTCP);
	else
		return 2;
	return 0;
}
