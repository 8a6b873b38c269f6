/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rdm_peer.h - the peer of an RDM endpoint in the compatible format: sockets of the test, which say what
 * another implementation would, or anything.
 */
#ifndef TCP_TEST_RDM_PEER_H
#define TCP_TEST_RDM_PEER_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "foreign/test/hex.h"
#include "tcp/common.h"
#include "tcp/test/rdm.h"

#define HEAD "0000 0000000000000000 0000000000000000 0100000000000000"

static int listener = -1;	/* of the other side's endpoint */
static struct sockaddr_in other;
static char port_hex[5];

static inline void say_bytes(int fd, const void *buf, size_t len)
{
	size_t sent = 0;
	ssize_t ret;

	while (sent < len) {
		ret = send(fd, (const char *) buf + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret > 0)
			sent += (size_t) ret;
		poll_both();
	}
}

static inline void say(int fd, const char *hex)
{
	uint8_t buf[1024];

	say_bytes(fd, buf, hex_bytes(hex, buf));
}

static inline size_t read_bytes(int fd, uint8_t *got, size_t len)
{
	uint64_t until = now_ms() + WAIT_MS;
	size_t have = 0;
	ssize_t ret = 1;

	while (have < len && ret && now_ms() < until) {
		ret = recv(fd, got + have, len - have, MSG_DONTWAIT);
		if (ret > 0)
			have += (size_t) ret;
		poll_both();
	}
	return have;
}

static inline void hear(int fd, const char *hex)
{
	uint8_t want[1024], got[1024];
	size_t len = hex_bytes(hex, want);

	assert_int_equal(read_bytes(fd, got, len), len);
	assert_memory_equal(got, want, len);
}

/* hear_end - the connection is closed: nothing comes but that. */
static inline void hear_end(int fd)
{
	uint64_t until = now_ms() + WAIT_MS;
	uint8_t byte;
	ssize_t ret;

	while ((ret = recv(fd, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN && now_ms() < until)
		poll_both();
	CHECK(ret == 0 || (ret < 0 && errno == ECONNRESET));
	close(fd);
}

static inline void listen_at(in_addr_t ip)
{
	socklen_t len = sizeof(other);

	other = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(ip) };
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (struct sockaddr *) &other, len), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *) &other, &len), 0);
	snprintf(port_hex, sizeof(port_hex), "%04x", ntohs(other.sin_port));
}

static inline void open_foreign(in_addr_t ip)
{
	listen_at(ip);
	open_side(&two);
	knows(&two, &other);
}

static inline void close_foreign(void)
{
	close(listener);
	close_side(&two);
}

/* A request of the other side.  @version and @process: two and eight digits */
static inline int request(const char *version, const char *process)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in from = other;
	char hex[200];

	from.sin_port = 0;
	assert_int_equal(bind(fd, (struct sockaddr *) &from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *) &two.name, sizeof(two.name)), 0);
	snprintf(hex, sizeof(hex), "03000008 0000" HEAD "%s00 %s %s", version, port_hex, process);
	say(fd, hex);
	return fd;
}

/* What the answer is: @version, the port repeated, a process that is not 0. */
static inline void hear_accept(int fd, const char *version)
{
	uint8_t got[40];
	char hex[200];
	static const uint8_t zero[4];

	snprintf(hex, sizeof(hex), "03010008 0000" HEAD "%s00 %s", version, port_hex);
	hear(fd, hex);
	assert_int_equal(read_bytes(fd, got, 4), 4);
	assert_memory_not_equal(got, zero, 4);
}

static inline int foreign_connect(const char *version)
{
	int fd = request(version, "00001092");

	hear_accept(fd, strcmp(version, "00") ? "81" : "00");
	return fd;
}

/* accepted - our request, which is answered by the caller. */
static inline int accepted(void)
{
	uint64_t until = now_ms() + WAIT_MS;
	uint8_t got[TCP_COMMON_RDM_SIZE], want[36];
	socklen_t len = sizeof(struct sockaddr_in);
	struct sockaddr_in from;
	bool marked;
	int fd;

	do {
		poll_both();
		fd = accept4(listener, (struct sockaddr *) &from, &len, SOCK_NONBLOCK);
	} while (fd < 0 && now_ms() < until);
	assert_true(fd >= 0);
	assert_int_equal(from.sin_addr.s_addr, two.name.sin_addr.s_addr);
	assert_int_equal(read_bytes(fd, got, 40), 40);
	marked = got[3] == 96;
	hex_bytes("03000008 0000" HEAD "0100", want);
	if (marked) {
		assert_memory_equal(got + 4, "\xfa" "brp", 4);	/* others ignore it */
		memset(got + 4, 0, 20);
		want[3] = 96;
		assert_int_equal(read_bytes(fd, got + 40, sizeof(got) - 40), sizeof(got) - 40);
		assert_memory_equal(got + 40, "\xfa" "bric", 5);
	}
	memcpy(want + 34, &two.name.sin_port, 2);
	assert_memory_equal(got, want, 36);
	return fd;
}

static inline void answer(int fd, const char *version)
{
	char hex[200];

	snprintf(hex, sizeof(hex), "03010008 0000" HEAD "%s00 %04x 0000141f", version,
		 ntohs(two.name.sin_port));
	say(fd, hex);
}

#endif
