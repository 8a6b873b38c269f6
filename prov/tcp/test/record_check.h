/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * record_check.h - what must hold for any bytes on the paths of a connection that recovers.  Shared by the unit tests
 * and the fuzzer.  Needs tcp/test/fake.h.
 *
 * Input: a script of records, well formed or raw bytes, over one path whose peer is known and others that have yet to
 * prove that they belong to it.  Frames in the stream are answered by the fake engine.  The connection stands or is
 * reported as lost, once; a path without a proof changes nothing.
 */
#ifndef TCP_RECORD_CHECK_H
#define TCP_RECORD_CHECK_H

#include <sys/socket.h>
#include <unistd.h>

#include "tcp/frame.h"
#include "tcp/recover/state.h"
#include "tcp/test/fake.h"

#define RECORD_PATHS 3		/* the first, and two without a proof */
#define RECORD_FRAMES 64

struct record_script {
	const uint8_t *at, *end;
	int fd[RECORD_PATHS];
	uint8_t stream[RECORD_FRAMES * (TCP_FRAME_SIZE + sizeof(struct fake_hdr))];	/* frames without payload */
};

static inline uint8_t record_byte(struct record_script *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

static inline uint64_t record_number(struct record_script *s)
{
	uint64_t low = record_byte(s);

	/* small, beyond the window, or around the end of what can be counted */
	switch (record_byte(s) % 8) {
	case 0:
		return low << 56 | 0xffffffffffff;
	case 1:
		return TCP_WIRE_WINDOW + low - 128;
	case 2:
		return 0 - low;
	default:
		return low * 8;
	}
}

static inline void record_say(int fd, const void *buf, size_t len)
{
	if (send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;			/* it was closed, or takes no more */
}

static inline void record_raw(struct record_script *s, int fd)
{
	size_t len = record_byte(s) % 64, left = (size_t) (s->end - s->at);

	if (len > left)
		len = left;
	record_say(fd, s->at, len);
	s->at += len;
}

static inline void record_list(struct record_script *s, int fd)
{
	struct tcp_wire_record head = { .kind = htole32(TCP_RECORD_RAILS) };
	uint8_t list[sizeof(struct tcp_wire_rails) + sizeof(struct tcp_wire_addr)];
	size_t len = TCP_RAILS_KEY_SIZE + record_byte(s) % 10 * sizeof(struct tcp_wire_addr), i;

	for (i = 0; i < len; i++)
		list[i] = (i - TCP_RAILS_KEY_SIZE) % sizeof(struct tcp_wire_addr) ? record_byte(s) : record_byte(s) % 16 ? 4 : 6;
	head.len = htole32((uint32_t) len);
	record_say(fd, &head, sizeof(head));
	record_say(fd, list, len);
}

/* record_data - some of the frames, at their place in the stream or elsewhere. */
static inline void record_data(struct record_script *s, int fd)
{
	size_t at = record_byte(s) * 8u % sizeof(s->stream), len = 1 + record_byte(s) * 4u;
	struct tcp_wire_record head = { .kind = htole32(TCP_RECORD_DATA), .at = htole64(at) };

	if (record_byte(s) % 8 == 0)
		head.at = htole64(record_number(s));
	if (len > sizeof(s->stream) - at)
		len = sizeof(s->stream) - at;
	head.len = htole32((uint32_t) len);
	record_say(fd, &head, sizeof(head));
	record_say(fd, s->stream + at, len);
}

static inline void record_next(struct record_script *s)
{
	struct tcp_wire_record head = { .len = 0 };
	int fd = s->fd[record_byte(s) % 8 < 6 ? 0 : 1 + record_byte(s) % (RECORD_PATHS - 1)];
	unsigned kind = record_byte(s) % 10;

	switch (kind) {
	case 0:
		record_raw(s, fd);
		break;
	case 1:
		record_list(s, fd);
		break;
	case 2: case 3: case 4:
		record_data(s, fd);
		break;
	case 5:
		shutdown(fd, SHUT_WR);
		break;
	default:
		head.kind = htole32(kind - 4);		/* END to PROOF, and one beyond */
		head.at = htole64(record_number(s));
		head.taken = htole64(record_byte(s) % 4 ? 0 : record_number(s));
		record_say(fd, &head, sizeof(head));
	}
}

static inline struct tcp_conn *record_open(struct record_script *s, struct tcp_link *link, struct tcp_chan *chan,
					   const union net_sa *addr)
{
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO, .epoch = 1, .features = TCP_WIRE_RECOVERS | TCP_WIRE_RAILS, .lanes = 1,
	};
	struct tcp_path *path;
	struct tcp_conn *conn;
	int pair[2], i;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	CHECK(!tcp_conn_new(link, &tcp_rdm_wireup, pair[0], TCP_CONN_HALF_OPEN, &conn));
	s->fd[0] = pair[1];
	conn->src.event = tcp_event;
	conn->max_payload = 1 << 16;
	tcp_conn_set_state(conn, TCP_CONN_READY);
	conn->chan = chan;
	conn->peer = *addr;
	CHECK(!tcp_recover_begin(conn, chan, &hello) && conn->rec && conn->rec->ex.on);
	chan_up(&chan->base, conn, &(struct chan_id) { .epoch = hello.epoch }, false);
	for (i = 1; i < RECORD_PATHS; i++) {
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
		CHECK(!tcp_path_open(conn->rec, pair[0], tcp_path_event, &path));
		path->unproven = true;
		path->answer = UINT64_C(0x123456789abcdef);
		s->fd[i] = pair[1];
	}
	return conn;
}

/* check_records - @ep: an RDM endpoint with rails, of the group that fake_poll() polls. */
static inline void check_records(struct eng_ep *ep, const uint8_t *data, size_t size)
{
	struct tcp_link *link = container_of(ep->link, struct tcp_link, base.base);
	struct record_script s = { .at = data, .end = data + size };
	union net_sa addr = fake_loopback(9);
	struct eng_peer *peer = fake_peer(ep, &addr);
	struct tcp_conn *conn;
	int down = peer->down, i;

	for (i = 0; i < RECORD_FRAMES; i++) {
		uint8_t *frame = s.stream + (size_t) i * (TCP_FRAME_SIZE + sizeof(struct fake_hdr));
		struct fake_hdr hdr = { .seq = (uint64_t) i };

		tcp_frame_put(frame, sizeof(hdr), 0);
		memcpy(frame + TCP_FRAME_SIZE, &hdr, sizeof(hdr));
	}
	fake_seed = size ? data[0] * UINT64_C(0x9e3779b97f4a7c15) + 1 : 1;
	conn = record_open(&s, link, tcp_chan_of(chan_of(&link->base, peer)), &addr);
	while (s.at < s.end && peer->down == down) {
		record_next(&s);
		fake_poll();
		fake_pull_some(ep);
		CHECK(peer->down != down || tcp_recover_paths(conn) <= 1);
	}
	for (i = 0; i < RECORD_PATHS; i++)
		close(s.fd[i]);
	fake_poll();
	if (peer->down == down && conn->state == TCP_CONN_READY)
		tcp_conn_fail(conn, FI_ECONNRESET, false);
	while (peer->down == down) {
		fake_poll();
		fake_pull_some(ep);
	}
	fake_pull_some(ep);
	CHECK(!ep->placing && list_empty(&ep->held));
	CHECK(peer->rx_cnt <= RECORD_FRAMES);
	peer->rx_cnt = 0;
}

#endif
