/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * far.h - a READY connection of an RDM endpoint whose far end is a socket of the test, which reads
 * and writes the frames as bytes.  Includes cmocka and the fake engine.
 */
#ifndef TCP_FAR_H
#define TCP_FAR_H

#include "tcp/test/script.h"
#include "tcp/test/stream_check.h"

#define FAR_HEAD (TCP_FRAME_SIZE + sizeof(struct fake_hdr))

struct far {
	struct eng_ep *ep;
	struct eng_peer *peer;
	struct tcp_link *link;
	struct tcp_chan *chan;
	struct tcp_conn *conn;		/* the first lane */
	unsigned lanes;
};

/* far_open - @lanes: at most STREAM_LANES; the far ends are stream_lane[].fd */
static inline struct far far_open(uint8_t lanes)
{
	union net_sa addr = fake_loopback(9);
	struct far far = { .ep = fake_ep(FI_EP_RDM, 0) };
	uint8_t answer[TCP_WIRE_HELLO_SIZE];
	unsigned i;

	tcp_conf.lanes = lanes;
	far.peer = fake_peer(far.ep, &addr);
	far.peer->wanted = true;
	far.link = container_of(far.ep->link, struct tcp_link, base.base);
	far.chan = tcp_chan_of(chan_of(&far.link->base, far.peer));
	far.lanes = stream_open(far.link, far.chan, &addr, lanes);
	far.conn = far.chan->base.conn;
	far.conn->max_payload = TCP_PAYLOAD_MAX;
	assert_int_equal(far.lanes, lanes);
	tcp_conf.lanes = 1;
	for (i = 1; i < far.lanes; i++)		/* each further lane is answered by a WELCOME */
		assert_int_equal(recv(stream_lane[i].fd, answer, sizeof(answer), 0), sizeof(answer));
	return far;
}

static inline void far_close(struct far *far)
{
	unsigned i;

	for (i = 0; i < far->lanes; i++)
		close(stream_lane[i].fd);
	fake_close(far->ep, 0);
}

/* far_send - one packet by eng_link_ops.send, never by the slot. */
static inline int far_send(struct far *far, size_t len, uint32_t flags)
{
	return fake_send(far->peer, len, flags | ENG_PKT_INLINE);
}

/* far_none - nothing has arrived at the far end. */
static inline void far_none(unsigned lane)
{
	uint8_t byte;

	assert_int_equal(recv(stream_lane[lane].fd, &byte, 1, MSG_PEEK), -1);
	assert_int_equal(errno, EAGAIN);
}

/* far_recv - the next @len bytes of a lane; polls while they are not here. */
static inline void far_recv(unsigned lane, uint8_t *buf, size_t len)
{
	uint64_t until = clock_deadline(10000);
	size_t have = 0;
	ssize_t ret;

	while (have < len) {
		ret = recv(stream_lane[lane].fd, buf + have, len - have, 0);
		if (ret > 0) {
			have += (size_t) ret;
			continue;
		}
		assert_true(ret < 0 && clock_ns() < until);
		fake_poll();
	}
}

static inline uint64_t far_word(unsigned lane)
{
	uint8_t buf[TCP_FRAME_SIZE];
	uint64_t word = 0;
	int i;

	far_recv(lane, buf, sizeof(buf));
	for (i = TCP_FRAME_SIZE; i-- > 0;)
		word = word << 8 | buf[i];
	return word;
}

/* far_payload - bytes @from to @to of the payload of packet @seq. */
static inline void far_payload(unsigned lane, uint64_t seq, size_t from, size_t to)
{
	uint8_t *buf = malloc(to - from + 1);
	size_t i;

	far_recv(lane, buf, to - from);
	for (i = from; i < to; i++)
		assert_int_equal(buf[i - from], fake_byte(seq, i));
	free(buf);
}

/* far_head - the frame header and the engine's header of packet @seq. */
static inline void far_head(uint64_t seq, size_t len, uint64_t striped)
{
	struct fake_hdr hdr;

	assert_int_equal(far_word(0), (uint64_t) len << 16 | striped | sizeof(hdr));
	far_recv(0, (uint8_t *) &hdr, sizeof(hdr));
	assert_int_equal(hdr.seq, seq);
	assert_int_equal(hdr.len, len);
}

/* far_expect - a whole frame. */
static inline void far_expect(uint64_t seq, size_t len)
{
	far_head(seq, len, 0);
	far_payload(0, seq, 0, len);
}

/* far_frame - write packet @seq as a frame to @out.  Returns its length. */
static inline size_t far_frame(uint8_t *out, uint64_t seq, size_t len)
{
	struct fake_hdr hdr = { .seq = seq, .len = len };
	size_t i;

	tcp_frame_put(out, sizeof(hdr), len);
	memcpy(out + TCP_FRAME_SIZE, &hdr, sizeof(hdr));
	for (i = 0; i < len; i++)
		out[FAR_HEAD + i] = fake_byte(seq, i);
	return FAR_HEAD + len;
}

/* far_say - the far end sends bytes. */
static inline void far_say(unsigned lane, const void *buf, size_t len)
{
	assert_int_equal(send(stream_lane[lane].fd, buf, len, MSG_NOSIGNAL), len);
}

/* far_say_frame - the far end sends packet @seq. */
static inline void far_say_frame(uint64_t seq, size_t len)
{
	uint8_t *buf = malloc(FAR_HEAD + len);

	far_say(0, buf, far_frame(buf, seq, len));
	free(buf);
}

#endif
