/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * proxy.h - the attacker on the path: a connecting peer that is told the proxy's address reaches the member through
 * it.  It has every byte, and alters, leaves out, repeats or redirects what it wants.
 */
#ifndef TESTS_SECURE_PROXY_H
#define TESTS_SECURE_PROXY_H

#include "tests/secure/side.h"

#define FLIGHT 8192		/* bytes of a connection in one direction */
#define QUIET_MS 60		/* after an attack nothing comes any more */
#define TLS_HEAD 5

static struct side member;

/* ---- the proxy --------------------------------------------------------------------- */

enum way {
	PASS,
	FLIP,		/* the bit @bit of the byte @at of direction @dir */
	CUT,		/* end both streams in good order after @at bytes of @dir */
	DROP,		/* the record @at of @dir, counted from the end of the handshake */
	TWICE,		/* it again */
	SWAP,		/* it behind the next one */
	REFLECT,	/* what comes in @dir goes back */
	SPLICE,		/* in its place the record @at of the connection before */
};

struct attack {
	enum way way;
	int dir;		/* 0: what the connecting peer sends; 1: what it gets */
	size_t at;
	int bit;
};

static struct {
	int listener, fd[2];		/* the connecting peer, the member; -1: none */
	struct sockaddr_in name;
	struct attack attack;		/* of the next connection; then PASS */
	struct attack now;		/* of this one */
	bool broken;			/* the attack was made */
	uint64_t broken_ms;
	unsigned conns;
	size_t len[2], sent[2];		/* bytes that came, and of them those handed on */
	size_t records[2];		/* sealed ones that were handed on */
	uint8_t bytes[2][FLIGHT];
	size_t last_len[2];		/* of the connection before */
	uint8_t last[2][FLIGHT];
	uint8_t held[FLIGHT];		/* SWAP */
	size_t held_len;
} proxy = { .fd = { -1, -1 } };

static inline int listen_at(struct sockaddr_in *name)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*name);

	*name = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	CHECK(fd >= 0);
	CALL(bind(fd, (struct sockaddr *) name, sizeof(*name)));
	CALL(listen(fd, 16));
	CALL(getsockname(fd, (struct sockaddr *) name, &len));
	return fd;
}

static inline int connect_to(const struct sockaddr_in *name)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	CALL(connect(fd, (const struct sockaddr *) name, sizeof(*name)));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
	return fd;
}

static inline void proxy_end(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (proxy.fd[i] >= 0)
			close(proxy.fd[i]);
		proxy.fd[i] = -1;
	}
}

static inline void proxy_accept(void)
{
	struct pollfd pfd = { proxy.listener, POLLIN, 0 };

	if (proxy.fd[0] >= 0 || poll(&pfd, 1, 0) <= 0)
		return;
	memcpy(proxy.last, proxy.bytes, sizeof(proxy.last));
	memcpy(proxy.last_len, proxy.len, sizeof(proxy.len));
	memset(proxy.len, 0, sizeof(proxy.len));
	memset(proxy.sent, 0, sizeof(proxy.sent));
	memset(proxy.records, 0, sizeof(proxy.records));
	proxy.held_len = 0;
	proxy.fd[0] = accept(proxy.listener, NULL, NULL);
	CHECK(proxy.fd[0] >= 0);
	proxy.fd[1] = connect_to(&member.name);
	proxy.now = proxy.attack;
	proxy.attack = (struct attack) { PASS, 0, 0, 0 };
	proxy.conns++;
}

static inline void proxy_broke(void)
{
	proxy.broken = true;
	proxy.broken_ms = now_ms();
}

static inline void forward(int to, const uint8_t *buf, size_t len)
{
	if (proxy.fd[to] >= 0 && send(proxy.fd[to], buf, len, MSG_NOSIGNAL) < 0)
		proxy_end();
}

/* record_at - length of the record that begins at @at of what came in @dir; 0: it is not whole.
 * @sealed_p: [out] it is not one of TLS
 */
static inline size_t record_at(const uint8_t *bytes, size_t have, size_t at, bool *sealed_p)
{
	const uint8_t *head = bytes + at;
	size_t left = have - at, need;

	*sealed_p = left >= TLS_HEAD && !(head[0] >= 20 && head[0] <= 23 && head[1] == 3);
	if (left < TLS_HEAD)
		return 0;
	need = *sealed_p ? sec_channel_need(head, left) : TLS_HEAD + (size_t) (head[3] << 8 | head[4]);
	return need <= left ? need : 0;
}

/* last_record - the sealed record @no of the connection before. */
static const uint8_t *last_record(int dir, size_t no, size_t *len_p)
{
	size_t at, len;
	bool sealed;

	for (at = 0; (len = record_at(proxy.last[dir], proxy.last_len[dir], at, &sealed)); at += len) {
		if (!sealed || no--)
			continue;
		*len_p = len;
		return proxy.last[dir] + at;
	}
	return NULL;
}

/* on_record - hand on a sealed record, in the attacker's way. */
static inline void on_record(int dir, const uint8_t *record, size_t len)
{
	bool chosen = dir == proxy.now.dir && proxy.records[dir]++ == proxy.now.at && proxy.now.way >= DROP;
	size_t other_len = 0;
	const uint8_t *other;

	if (chosen)
		proxy_broke();
	if (chosen && proxy.now.way == SPLICE) {
		other = last_record(dir, proxy.now.at, &other_len);
		CHECK(other);
		forward(!dir, other, other_len);
		return;
	}
	if (chosen && proxy.now.way == SWAP) {
		memcpy(proxy.held, record, len);
		proxy.held_len = len;
		return;
	}
	if (!chosen || proxy.now.way != DROP)
		forward(!dir, record, len);
	if (chosen && proxy.now.way == TWICE)
		forward(!dir, record, len);
	if (proxy.held_len && dir == proxy.now.dir && !chosen) {
		forward(!dir, proxy.held, proxy.held_len);
		proxy.held_len = 0;
	}
}

static inline void by_records(int dir)
{
	uint8_t *bytes = proxy.bytes[dir];
	size_t len;
	bool sealed;

	while ((len = record_at(bytes, proxy.len[dir], proxy.sent[dir], &sealed))) {
		if (sealed)
			on_record(dir, bytes + proxy.sent[dir], len);
		else
			forward(!dir, bytes + proxy.sent[dir], len);
		proxy.sent[dir] += len;
	}
}

static inline void by_bytes(int dir)
{
	size_t from = proxy.sent[dir], len = proxy.len[dir] - from, at = proxy.now.at;
	bool hit = proxy.now.dir == dir && proxy.now.way != PASS && at >= from && at < from + len;
	uint8_t copy[FLIGHT];

	memcpy(copy, proxy.bytes[dir] + from, len);
	proxy.sent[dir] += len;
	if (hit)
		proxy_broke();
	if (hit && proxy.now.way == FLIP)
		copy[at - from] ^= (uint8_t) (1 << proxy.now.bit);
	if (proxy.now.way == REFLECT && dir == proxy.now.dir) {
		forward(dir, copy, len);
		return;
	}
	forward(!dir, copy, hit && proxy.now.way == CUT ? at - from : len);
	if (hit && proxy.now.way == CUT)
		proxy_end();
}

static inline void proxy_read(int dir)
{
	uint8_t *room = proxy.bytes[dir] + proxy.len[dir];
	ssize_t ret = recv(proxy.fd[dir], room, FLIGHT - proxy.len[dir], MSG_DONTWAIT);

	if (ret < 0 && errno == EAGAIN)
		return;
	if (ret <= 0) {
		proxy_end();
		return;
	}
	proxy.len[dir] += (size_t) ret;
	if (proxy.now.way >= DROP && proxy.now.way != REFLECT)
		by_records(dir);
	else
		by_bytes(dir);
}

/* proxy_poll - an attack that only delays ends with the connection. */
static inline void proxy_poll(void)
{
	int dir;

	proxy_accept();
	for (dir = 0; dir < 2; dir++)
		if (proxy.fd[dir] >= 0)
			proxy_read(dir);
	if (proxy.broken && proxy.fd[0] >= 0 && proxy.now.way != PASS && now_ms() > proxy.broken_ms + QUIET_MS / 2)
		proxy_end();
}

#endif
