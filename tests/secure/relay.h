/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * relay.h - an attacker on the path of several connections and of long messages: peers are told the relay's address, and
 * it connects to the member.  Everything that passes is kept; of each connection and direction the sealed records are
 * numbered from 0, and a function of the test hands each one on, or what it puts in its place.
 */
#ifndef TESTS_SECURE_RELAY_H
#define TESTS_SECURE_RELAY_H

#include "tests/secure/side.h"

#include <fcntl.h>

#define RELAY_CONNS 64
#define RELAY_RECORDS 1024
#define TLS_HEAD 5

struct bytes {
	uint8_t *at;
	size_t len, room;
};

struct flow {
	struct bytes came, out;		/* @out: what is still to be sent, from out_pos on */
	size_t parsed, out_pos;
	bool sealed, ended, shut;
	unsigned cnt;
	size_t at[RELAY_RECORDS], size[RELAY_RECORDS];	/* of sealed records, in @came */
};

static struct relay {
	int listener;
	struct sockaddr_in name, to;
	unsigned cnt;			/* connections since relay_reset() */
	struct {
		int fd[2];		/* the connecting peer, the member; -1: ended */
		struct flow flow[2];	/* 0: what the connecting peer sends */
	} conns[RELAY_CONNS];
	/* a sealed record: hand it on by relay_put(); NULL: all pass */
	void (*tamper)(unsigned conn, int dir, unsigned no, const uint8_t *record, size_t len);
	/* bytes of the handshake; NULL: they pass */
	void (*shaking)(unsigned conn, int dir, const uint8_t *bytes, size_t len);
} relay = { .listener = -1 };

static inline void bytes_add(struct bytes *b, const uint8_t *add, size_t len)
{
	if (b->len + len > b->room) {
		b->room = 2 * (b->len + len);
		b->at = realloc(b->at, b->room);
		CHECK(b->at);
	}
	memcpy(b->at + b->len, add, len);
	b->len += len;
}

static inline void relay_put(unsigned conn, int dir, const uint8_t *bytes, size_t len)
{
	bytes_add(&relay.conns[conn].flow[dir].out, bytes, len);
}

static inline void relay_end(unsigned conn)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (relay.conns[conn].fd[i] >= 0)
			close(relay.conns[conn].fd[i]);
		relay.conns[conn].fd[i] = -1;
	}
}

/* relay_cut - what was handed on is still delivered, then the stream ends in good order. */
static inline void relay_cut(unsigned conn, int dir)
{
	relay.conns[conn].flow[dir].ended = true;
}

/* relay_reset - all connections end, and nothing is kept. */
static inline void relay_reset(void)
{
	struct flow *flow;
	unsigned i;

	for (i = 0; i < 2 * relay.cnt; i++) {
		flow = &relay.conns[i / 2].flow[i % 2];
		relay_end(i / 2);
		free(flow->came.at);
		free(flow->out.at);
		memset(flow, 0, sizeof(*flow));
	}
	relay.cnt = 0;
	relay.tamper = NULL;
	relay.shaking = NULL;
}

static inline void relay_open(void)
{
	socklen_t len = sizeof(relay.name);

	relay.name = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	relay.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(relay.listener >= 0);
	CALL(bind(relay.listener, (struct sockaddr *) &relay.name, sizeof(relay.name)));
	CALL(listen(relay.listener, 64));
	CALL(getsockname(relay.listener, (struct sockaddr *) &relay.name, &len));
}

static inline void relay_close(void)
{
	relay_reset();
	close(relay.listener);
}

static inline void relay_accept(void)
{
	int fd = accept4(relay.listener, NULL, NULL, SOCK_NONBLOCK), i;

	if (fd < 0)
		return;
	CHECK(relay.cnt < RELAY_CONNS);
	relay.conns[relay.cnt].fd[0] = fd;
	relay.conns[relay.cnt].fd[1] = fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *) &relay.to, sizeof(relay.to)))
		relay_end(relay.cnt);		/* the member is not there */
	for (i = 0; i < 2; i++)
		setsockopt(relay.conns[relay.cnt].fd[i], IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
	relay.cnt++;
}

/* flow_parse - hand on what is whole: bytes of TLS, then sealed records. */
static inline void flow_parse(unsigned conn, int dir)
{
	struct flow *flow = &relay.conns[conn].flow[dir];
	const uint8_t *head;
	size_t left, need;

	while ((left = flow->came.len - flow->parsed) >= TLS_HEAD) {
		head = flow->came.at + flow->parsed;
		flow->sealed |= !(head[0] >= 20 && head[0] <= 23 && head[1] == 3);
		need = flow->sealed ? sec_channel_need(head, left) : TLS_HEAD + (size_t) (head[3] << 8 | head[4]);
		CHECK(need && flow->cnt < RELAY_RECORDS);
		if (left < need)
			return;
		flow->parsed += need;
		if (!flow->sealed) {
			if (relay.shaking)
				relay.shaking(conn, dir, head, need);
			else
				relay_put(conn, dir, head, need);
			continue;
		}
		flow->at[flow->cnt] = flow->parsed - need;
		flow->size[flow->cnt++] = need;
		if (relay.tamper)
			relay.tamper(conn, dir, flow->cnt - 1, head, need);
		else
			relay_put(conn, dir, head, need);
	}
}

static inline void flow_send(unsigned conn, int dir)
{
	struct flow *flow = &relay.conns[conn].flow[dir];
	size_t left = flow->out.len - flow->out_pos;
	ssize_t ret = left ? send(relay.conns[conn].fd[!dir], flow->out.at + flow->out_pos, left,
				  MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

	if (ret < 0)			/* who has closed gets no more; what it said before is still handed on */
		ret = errno == EAGAIN ? 0 : (ssize_t) left;
	flow->out_pos += (size_t) ret;
	if (flow->out_pos < flow->out.len)
		return;
	flow->out_pos = flow->out.len = 0;
	if (flow->ended && !flow->shut && relay.conns[conn].fd[!dir] >= 0) {
		shutdown(relay.conns[conn].fd[!dir], SHUT_WR);
		flow->shut = true;
	}
}

static inline void flow_read(unsigned conn, int dir)
{
	static uint8_t buf[1 << 18];
	struct flow *flow = &relay.conns[conn].flow[dir];
	ssize_t ret = recv(relay.conns[conn].fd[dir], buf, sizeof(buf), MSG_DONTWAIT);

	if (ret > 0 && !flow->ended) {
		bytes_add(&flow->came, buf, (size_t) ret);
		flow_parse(conn, dir);
	} else if (!ret || (ret < 0 && errno != EAGAIN)) {
		flow->ended = true;
	}
}

static inline void relay_poll(void)
{
	unsigned i;
	int dir;

	relay_accept();
	for (i = 0; i < relay.cnt; i++) {
		for (dir = 0; dir < 2 && relay.conns[i].fd[0] >= 0; dir++) {
			flow_read(i, dir);
			if (relay.conns[i].fd[0] >= 0)
				flow_send(i, dir);
		}
		if (relay.conns[i].flow[0].shut && relay.conns[i].flow[1].shut)
			relay_end(i);
	}
}

#endif
