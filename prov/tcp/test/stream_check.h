/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream_check.h - what must hold for any bytes on a READY connection, and on
 * the lanes beside it.  Shared by the unit tests and the fuzzer.  Needs tcp/test/fake.h.
 *
 * Input: a script of frames, each either well formed (its length from the script)
 * or raw bytes, cut into pieces of any size; where there are lanes, some frames are
 * striped, and the lanes run ahead or behind as the script says.  The fake engine answers
 * each packet by its dice.  Every promise must be kept or broken once, whatever comes.
 */
#ifndef TCP_STREAM_CHECK_H
#define TCP_STREAM_CHECK_H

#include <errno.h>
#include <sys/socket.h>

#include "channel/stripe.h"
#include "tcp/frame.h"
#include "tcp/test/fake.h"

#define STREAM_LANES 4
#define STREAM_SHORT 12000		/* payloads are shorter; of striped ones, what is beyond the least */
#define STREAM_ROOM (4 * TCP_STRIPE_MIN)

/* What the other side has to say over one connection. */
struct stream_lane {
	int fd;
	size_t at, len;
	uint8_t out[STREAM_ROOM];
};

struct stream_script {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t seq;
	size_t raw;			/* bytes that were no frame of ours */
	unsigned lanes;			/* 1: the first only */
};

static struct stream_lane stream_lane[STREAM_LANES];

static inline uint8_t script_byte(struct stream_script *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

static inline void say_byte(unsigned lane, uint8_t byte)
{
	stream_lane[lane].out[stream_lane[lane].len++] = byte;
}

static inline void say_raw(struct stream_script *s, unsigned lane, size_t len)
{
	s->raw += len;
	while (len--)
		say_byte(lane, script_byte(s));
}

static inline void say_frame(struct stream_script *s, size_t len, bool striped)
{
	struct fake_hdr hdr = { .seq = s->seq, .len = len };
	struct stream_lane *first = &stream_lane[0];
	unsigned lane = 0;
	size_t i;

	tcp_frame_put(first->out + first->len, sizeof(hdr) | (striped ? TCP_FRAME_STRIPED : 0), len);
	first->len += TCP_FRAME_SIZE;
	memcpy(first->out + first->len, &hdr, sizeof(hdr));
	first->len += sizeof(hdr);
	for (i = 0; i < len; i++) {
		while (striped && s->lanes > 1 && i == chan_stripe_at(len, s->lanes, lane + 1))
			lane++;
		say_byte(lane, fake_byte(s->seq, i));
	}
	s->seq++;
}

/* next_frame - one more piece of stream; false at the end of the script. */
static inline bool next_frame(struct stream_script *s)
{
	uint8_t kind = script_byte(s);
	unsigned lane = (kind >> 4) % s->lanes;
	size_t len;

	if (s->at == s->end)
		return false;
	if (kind & 0x80) {
		say_raw(s, lane, kind & 0xf);
		return true;
	}
	len = ((size_t) script_byte(s) << 6 | script_byte(s)) % STREAM_SHORT;
	if ((kind & 0xf) == 0xf)
		shutdown(stream_lane[lane].fd, SHUT_WR);
	else if ((kind & 0x7) == 0x7)
		say_frame(s, TCP_STRIPE_MIN + len, true);
	else
		say_frame(s, len, false);
	return true;
}

/* say_some - what one lane still has to say, a piece of it or, at the end of the script,
 * all.  False: nothing goes out just now.
 */
static inline bool say_some(struct stream_script *s, struct stream_lane *lane)
{
	size_t left = lane->len - lane->at, piece = script_byte(s) * 64u;
	ssize_t ret;

	if (!piece || piece > left)
		piece = left;
	if (!piece)
		return false;
	ret = send(lane->fd, lane->out + lane->at, piece, MSG_NOSIGNAL);
	CHECK(ret > 0 || errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
	if (ret < 0 && errno == EAGAIN)
		return false;
	lane->at = ret > 0 ? lane->at + (size_t) ret : lane->len;
	return true;
}

/* feed - until no more than @leave bytes are unsaid. */
static inline void feed(struct eng_peer *peer, struct stream_script *s, int down, size_t leave)
{
	struct stream_lane *l;
	unsigned lane, i;
	size_t left;

	do {
		lane = script_byte(s);
		for (i = 0; i < s->lanes && !say_some(s, &stream_lane[(lane + i) % s->lanes]); i++)
			;
		fake_poll();
		fake_pull_some(peer->ep);
		for (left = 0, i = 0; i < s->lanes; i++)
			left += stream_lane[i].len - stream_lane[i].at;
	} while (left > leave && peer->down == down);
	for (i = 0; i < s->lanes; i++) {
		l = &stream_lane[i];
		l->len -= l->at;
		memmove(l->out, l->out + l->at, l->len);
		l->at = 0;
	}
}

static inline struct tcp_conn *stream_conn(struct tcp_link *link, struct stream_lane *lane)
{
	struct tcp_conn *conn;
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	CHECK(!tcp_conn_new(link, &tcp_rdm_wireup, pair[0], TCP_CONN_HALF_OPEN, &conn));
	conn->src.event = tcp_event;
	lane->fd = pair[1];
	lane->at = lane->len = 0;
	return conn;
}

/* stream_open - the connection, and as many lanes as tcp_conf.lanes and @lanes allow. */
static inline unsigned stream_open(struct tcp_link *link, struct tcp_chan *chan,
				   const union net_sa *addr, uint8_t lanes)
{
	struct tcp_conn *conn = stream_conn(link, &stream_lane[0]), *lane;
	struct tcp_hello hello = { .type = TCP_WIRE_HELLO, .epoch = 1 };

	conn->max_payload = STREAM_SHORT;
	tcp_conn_set_state(conn, TCP_CONN_READY);
	CHECK(!chan_src_want(&conn->poller->base, &conn->src, TCP_CONN_IN));
	conn->chan = chan;
	chan_up(&chan->base, conn, &(struct chan_id) { .epoch = hello.epoch }, false);
	conn->peer = *addr;
	tcp_lane_agree(conn, lanes);
	if (!conn->lanes)
		return 1;
	conn->max_payload += TCP_STRIPE_MIN;
	for (hello.lane = 1; hello.lane < conn->lanes->base.cnt; hello.lane++) {
		lane = stream_conn(link, &stream_lane[hello.lane]);
		CHECK(!chan_src_want(&lane->poller->base, &lane->src, TCP_CONN_IN));
		tcp_lane_join(lane, chan, &hello);
		CHECK(lane->state == TCP_CONN_READY);
	}
	return conn->lanes->base.cnt;
}

/* check_stream - @ep: an RDM endpoint of the group that fake_poll() polls. */
static inline void check_stream(struct eng_ep *ep, const uint8_t *data, size_t size)
{
	struct tcp_link *link = container_of(ep->link, struct tcp_link, base.base);
	struct stream_script script = { .at = data, .end = data + size };
	union net_sa addr = fake_loopback(9);
	struct eng_peer *peer = fake_peer(ep, &addr);
	int down = peer->down;
	unsigned i;

	fake_seed = size ? data[0] * UINT64_C(0x9e3779b97f4a7c15) + 1 : 1;
	ep->later = script_byte(&script) % 40;
	ep->quiet = script_byte(&script) % 2;
	script.lanes = stream_open(link, tcp_chan_of(chan_of(&link->base, peer)), &addr,
				   1 + script_byte(&script) % STREAM_LANES);
	while (peer->down == down && next_frame(&script)) {
		/* a part of a payload cannot be told from anything else */
		ep->blind = script.raw && script.lanes > 1;
		feed(peer, &script, down, script.lanes > 1 ? script_byte(&script) * 512u : 0);
	}
	feed(peer, &script, down, 0);
	for (i = script.lanes; i-- > 0;)
		close(stream_lane[i].fd);
	ep->later = 0;
	while (peer->down == down) {
		fake_poll();
		fake_pull_some(ep);
	}
	ep->quiet = false;
	fake_pull_some(ep);
	ep->blind = false;
	CHECK(!ep->placing && list_empty(&ep->held));
	/* raw bytes may happen to be a frame */
	CHECK(peer->rx_cnt <= script.seq + script.raw / (TCP_FRAME_SIZE + sizeof(struct fake_hdr)));
	peer->rx_cnt = 0;
}

#endif
