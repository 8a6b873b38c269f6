/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tcp_stream_check.h - what must hold for any bytes on a connection that stands.
 * Shared by the unit test and the fuzzer.  Needs fake_engine.h.
 *
 * Input: a script of frames, each either well formed (its length from the script)
 * or raw bytes, cut into pieces of any size.  The fake engine answers each
 * packet by its dice.  Every promise must be kept or broken once, whatever comes.
 */
#ifndef TCP_STREAM_CHECK_H
#define TCP_STREAM_CHECK_H

#include <sys/socket.h>

#include "fake_engine.h"
#include "tcp_frame.h"

struct stream_script {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t seq;
	size_t raw;			/* bytes that were no frame of ours */
	uint8_t out[16384];
	size_t len;
};

static inline uint8_t script_byte(struct stream_script *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

/* next_frame - one more piece of stream; false at the end of the script. */
static inline bool next_frame(struct stream_script *s)
{
	uint8_t kind = script_byte(s);
	struct fake_hdr hdr;
	size_t i, len;

	if (s->at == s->end)
		return false;
	if (kind & 0x80) {
		s->len = kind & 0x3f;
		s->raw += s->len;
		for (i = 0; i < s->len; i++)
			s->out[i] = script_byte(s);
		return true;
	}
	len = ((size_t) script_byte(s) << 6 | script_byte(s)) % 12000;
	hdr = (struct fake_hdr) { .seq = s->seq, .len = len };
	tcp_frame_put(s->out, sizeof(hdr), len);
	memcpy(s->out + TCP_FRAME_SIZE, &hdr, sizeof(hdr));
	s->len = TCP_FRAME_SIZE + sizeof(hdr);
	for (i = 0; i < len; i++)
		s->out[s->len++] = fake_byte(s->seq, i);
	s->seq++;
	return true;
}

static inline void feed(struct eng_peer *peer, struct stream_script *s, int fd, int down)
{
	size_t at = 0, piece;

	while (at < s->len && peer->down == down) {
		piece = 1 + script_byte(s) * 64;
		if (piece > s->len - at)
			piece = s->len - at;
		CHECK(send(fd, s->out + at, piece, MSG_NOSIGNAL) == (ssize_t) piece);
		at += piece;
		fake_poll();
		fake_pull_some(peer->ep);
	}
}

/* check_stream - @ep: an RDM endpoint of the group that fake_poll() polls. */
static inline void check_stream(struct eng_ep *ep, const uint8_t *data, size_t size)
{
	struct tcp_link *link = container_of(ep->link, struct tcp_link, base);
	struct stream_script script = { .at = data, .end = data + size };
	union net_sa addr = fake_loopback(9);
	struct eng_peer *peer = fake_peer(ep, &addr);
	int pair[2], down = peer->down;
	struct tcp_conn *conn;

	fake_seed = size ? data[0] * UINT64_C(0x9e3779b97f4a7c15) + 1 : 1;
	ep->later = script_byte(&script) % 40;
	ep->quiet = script_byte(&script) % 2;
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	CHECK(!tcp_conn_new(link, &tcp_rdm_wireup, pair[0], TCP_CONN_ASKED, &conn));
	conn->max_payload = 12000;
	tcp_conn_set_state(conn, TCP_CONN_READY);
	CHECK(!tcp_src_want(conn->poller, &conn->src, EPOLLIN));
	tcp_chan_up(tcp_chan_of(link, peer), conn, 1);
	conn->peer = addr;
	while (peer->down == down && next_frame(&script))
		feed(peer, &script, pair[1], down);
	close(pair[1]);
	ep->later = 0;
	while (peer->down == down) {
		fake_poll();
		fake_pull_some(ep);
	}
	ep->quiet = false;
	fake_pull_some(ep);
	CHECK(!ep->placing && list_empty(&ep->held));
	/* raw bytes may happen to be a frame */
	CHECK(peer->rx_cnt <= script.seq + script.raw / (TCP_FRAME_SIZE + sizeof(struct fake_hdr)));
	peer->rx_cnt = 0;
}

#endif
