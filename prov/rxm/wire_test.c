/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/verify.h"

#include "base/ib_addr.h"
#include "base/test/swap.h"
#include "wire.h"

static const struct rxm_handshake good = {
	.addr_len = 28, .buf_size = 16384, .credits = 16, .rndvs = 8,
	.id = { .epoch = 0x123456789abcdef, .serial = 0x89abcdef, .prev = 0xfedcba98 },
};

static void handshake_survives(void **state)
{
	const struct sockaddr_in6 sa = {
		.sin6_family = AF_INET6, .sin6_port = 7, .sin6_addr = IN6ADDR_LOOPBACK_INIT,
		.sin6_scope_id = 0x1234567,
	};
	struct rxm_handshake in = good, out;
	uint8_t wire[RXM_HANDSHAKE_MAX];
	size_t len, i;

	memcpy(in.addr, &sa, sizeof(sa));
	len = rxm_handshake_put(wire, &in);
	assert_int_equal(len, 29 + 24);	/* provider verbs carries 55 over IP */
	assert_int_equal(rxm_handshake_parse(wire, len, &out), CHAN_OK);
	assert_int_equal(out.id.epoch, in.id.epoch);
	assert_int_equal(out.id.serial, in.id.serial);
	assert_int_equal(out.id.prev, in.id.prev);
	assert_int_equal(out.buf_size, in.buf_size);
	assert_int_equal(out.credits, in.credits);
	assert_int_equal(out.rndvs, in.rndvs);
	assert_int_equal(out.addr_len, in.addr_len);
	assert_memory_equal(out.addr, in.addr, in.addr_len);
	for (i = 0; i < len; i++)
		assert_int_equal(rxm_handshake_parse(wire, i, &out), CHAN_MALFORMED);
	/* a connection manager pads private data with zeros */
	memset(wire + len, 0, sizeof(wire) - len);
	assert_int_equal(rxm_handshake_parse(wire, sizeof(wire), &out), CHAN_OK);
	wire[0] ^= 1;
	assert_int_equal(rxm_handshake_parse(wire, len, &out), CHAN_MALFORMED);
}

/* An InfiniBand address is sent shortened, if it can be. */
static void infiniband_addresses_fit(void **state)
{
	struct ib_sa sa = {
		.family = IB_SA_FAMILY, .pkey = 0xffff, .sid = 0x1234567800010203,
		.sid_mask = UINT64_MAX,
	};
	struct rxm_handshake in = good, out;
	uint8_t wire[RXM_HANDSHAKE_MAX];
	unsigned i;

	memset(sa.gid, 0x5a, sizeof(sa.gid));
	in.addr_len = sizeof(sa);
	for (i = 0; i < 4; i++) {
		sa.flowinfo = i == 1;
		sa.scope_id = i == 2;
		sa.sid_mask = UINT64_MAX - (i == 3);
		memcpy(in.addr, &sa, sizeof(sa));
		assert_int_equal(rxm_handshake_put(wire, &in), i ? 29 + sizeof(sa) : 29 + 26);
		assert_int_equal(rxm_handshake_parse(wire, sizeof(wire), &out), CHAN_OK);
		assert_int_equal(out.addr_len, sizeof(sa));
		assert_memory_equal(out.addr, &sa, sizeof(sa));
	}
}

static void refused_handshake(const struct rxm_handshake *bad)
{
	uint8_t wire[RXM_HANDSHAKE_MAX];
	struct rxm_handshake out;
	size_t len = rxm_handshake_put(wire, bad);

	assert_int_equal(rxm_handshake_parse(wire, len, &out), CHAN_MALFORMED);
}

static void impossible_handshakes_are_refused(void **state)
{
	uint8_t wire[RXM_HANDSHAKE_MAX + 1] = { 0 };
	struct rxm_handshake bad, out;

	bad = good, bad.credits = 0;
	refused_handshake(&bad);
	bad = good, bad.rndvs = 0;
	refused_handshake(&bad);
	bad = good, bad.id.epoch = 0;
	refused_handshake(&bad);
	bad = good, bad.id.serial = 0;
	refused_handshake(&bad);
	bad = good, bad.buf_size = RXM_BUF_MIN - 1;
	refused_handshake(&bad);
	bad = good, bad.buf_size = RXM_BUF_MAX + 1;
	refused_handshake(&bad);
	rxm_handshake_put(wire, &good);
	wire[offsetof(struct rxm_wire_handshake, addr_len)] = RXM_ADDR_MAX + 1;
	assert_int_equal(rxm_handshake_parse(wire, sizeof(wire), &out), CHAN_MALFORMED);
}

/* Of another version only the version is read, however long the handshake is. */
static void other_versions_are_named(void **state)
{
	uint8_t wire[RXM_HANDSHAKE_MAX];
	struct rxm_handshake out;
	size_t len = rxm_handshake_put(wire, &good);
	unsigned i;

	for (i = 0; i < 2; i++) {
		rxm_handshake_put(wire, &good);
		wire[offsetof(struct rxm_wire_handshake, version) + i]++;
		wire[offsetof(struct rxm_wire_handshake, older)] = 0;
		assert_int_equal(rxm_handshake_parse(wire, len, &out), CHAN_VERSION_BAD);
		assert_int_equal(out.version.link, RXM_VERSION + !i);
		assert_int_equal(out.version.engine, chan_version_ours(0, 0).engine + i);
		assert_int_equal(rxm_handshake_parse(wire, 4, &out), CHAN_VERSION_BAD);
	}
}

/* The order of the bytes is part of the format: it is no other version. */
static void the_other_byte_order_is_refused(void **state)
{
	static const struct swap_field fields[] = {
		SWAP_FIELD(struct rxm_wire_handshake, mark), SWAP_FIELD(struct rxm_wire_handshake, version),
		SWAP_FIELD(struct rxm_wire_handshake, credits), SWAP_FIELD(struct rxm_wire_handshake, epoch),
		SWAP_FIELD(struct rxm_wire_handshake, buf_size), SWAP_FIELD(struct rxm_wire_handshake, serial),
		SWAP_FIELD(struct rxm_wire_handshake, prev),
	};
	uint8_t wire[RXM_HANDSHAKE_MAX];
	struct rxm_handshake out;
	size_t len = rxm_handshake_put(wire, &good);

	swap_bytes(wire, fields, sizeof(fields) / sizeof(fields[0]));
	assert_int_equal(rxm_handshake_parse(wire, len, &out), CHAN_MALFORMED);
}

static void refusals_survive(void **state)
{
	uint8_t wire[sizeof(struct rxm_wire_refusal)];
	struct chan_version version = { 0 };
	size_t len = rxm_refusal_put(wire, CHAN_SIMULTANEOUS);

	assert_int_equal(rxm_refusal_parse(wire, len, &version), CHAN_SIMULTANEOUS);
	assert_int_equal(version.link, RXM_VERSION);
	assert_int_equal(rxm_refusal_parse(wire, RXM_REFUSAL_STABLE - 1, &version), CHAN_OK);
	assert_int_equal(rxm_refusal_parse(NULL, 0, &version), CHAN_OK);
	rxm_refusal_put(wire, CHAN_REASONS);
	assert_int_equal(rxm_refusal_parse(wire, len, &version), CHAN_MALFORMED);
	wire[0] ^= 1;
	assert_int_equal(rxm_refusal_parse(wire, len, &version), CHAN_OK);
}

static void serials_survive_their_shortening(void **state)
{
	static const uint64_t near[] = { 1, 5, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(7) << 32) - 3 };
	uint64_t serial;
	size_t i;

	for (i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		for (serial = near[i] > 5 ? near[i] - 5 : 1; serial <= near[i] + 5; serial++)
			assert_int_equal(rxm_serial(near[i], (uint32_t) serial), serial);
	/* there was no connection yet */
	assert_int_equal(rxm_serial(0, 0x89abcdef), 0x89abcdef);
}

/* One of each kind. */
static size_t message(uint8_t *buf)
{
	static char text[] = "payload in two pieces";
	struct eng_pkt pkt = {
		.hdr_len = 24, .iov_cnt = 2, .len = sizeof(text),
		.iov = { { text, 10 }, { text + 10, sizeof(text) - 10 } },
	};
	struct wire_rma seg[2] = { { 0x1000, 10, 7 }, { 0x2000, sizeof(text) - 10, 8 } };
	size_t at = sizeof(struct rxm_head);

	memset(pkt.hdr, 0xab, pkt.hdr_len);
	rxm_put_head(buf, 0, 5);
	at = rxm_put_eager(buf, at, &pkt);
	at = rxm_put_rndv(buf, at, &pkt, 42, seg, 2);
	return rxm_put_done(buf, at, 77);
}

static void frames_survive(void **state)
{
	uint8_t buf[1024];
	size_t len = message(buf), at = sizeof(struct rxm_head);
	struct rxm_head head;
	struct rxm_item item;

	assert_null(rxm_parse(buf, len, &head));
	assert_int_equal(head.credits, 5);
	at = rxm_next(buf, at, &item);
	assert_int_equal(item.kind, RXM_EAGER);
	assert_int_equal(item.hdr_len, 24);
	assert_string_equal((const char *) item.data, "payload in two pieces");
	at = rxm_next(buf, at, &item);
	assert_int_equal(item.kind, RXM_RNDV);
	assert_int_equal(item.id, 42);
	assert_int_equal(item.segs, 2);
	assert_int_equal(item.seg[1].addr, 0x2000);
	assert_int_equal(item.seg[1].key, 8);
	assert_int_equal(item.len, sizeof("payload in two pieces"));
	at = rxm_next(buf, at, &item);
	assert_int_equal(item.kind, RXM_RNDV_DONE);
	assert_int_equal(item.id, 77);
	assert_int_equal(at, len);
}

/* A message may be cut between frames, and nowhere else. */
static void cut_messages_are_refused(void **state)
{
	uint8_t buf[1024], *copy;
	size_t len = message(buf), at = sizeof(struct rxm_head), i;
	struct rxm_head head;
	struct rxm_item item;

	for (i = 0; i < len; i++) {
		if (i == at) {
			at = rxm_next(buf, at, &item);
			continue;
		}
		copy = malloc(i ? i : 1);	/* a sanitizer sees what is read beyond it */
		memcpy(copy, buf, i);
		assert_non_null(rxm_parse(copy, i, &head));
		free(copy);
	}
}

static void refused_with(size_t at, uint8_t value)
{
	uint8_t buf[1024];
	size_t len = message(buf);
	struct rxm_head head;

	buf[at] = value;
	assert_non_null(rxm_parse(buf, len, &head));
}

static void impossible_messages_are_refused(void **state)
{
	size_t frame = sizeof(struct rxm_head);
	size_t rndv = frame + sizeof(struct rxm_frame) + 24 + sizeof("payload in two pieces");

	refused_with(0, 0x80);			/* flags */
	refused_with(0, RXM_F_CTRL);		/* consumed no credit, but has payload */
	refused_with(4, 1);			/* zero */
	refused_with(frame, 0);			/* kind */
	refused_with(frame, RXM_KIND_CNT);
	refused_with(frame + 1, 1);		/* segments of an EAGER */
	refused_with(frame + 2, 0);		/* no header */
	refused_with(frame + 3, 1);		/* too long a header */
	refused_with(frame + 4, 1);		/* zero */
	refused_with(frame + 8 + 7, 0xff);	/* payload beyond the end */
	refused_with(rndv + 1, 0);		/* a rendezvous without segments */
	refused_with(rndv + 1, ENG_IOV_MAX + 1);
	refused_with(rndv + 8, 1);		/* segments that do not add up */
}

/* As many segments as their count says, with the sum of their lengths, be it more than a frame has. */
static void counts_of_segments(void **state)
{
	static const unsigned counts[] = { 0, 1, ENG_IOV_MAX, ENG_IOV_MAX + 1, 255 };
	uint8_t buf[RXM_RNDV_SIZE(24, 255) + sizeof(struct rxm_head)];
	struct eng_pkt pkt = { .hdr_len = 24 };
	struct wire_rma seg[255];
	struct rxm_head head;
	struct rxm_item item;
	size_t len, i;

	for (i = 0; i < 255; i++)
		seg[i] = (struct wire_rma) { 4096 * i, 1, i };
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		bool fits = counts[i] && counts[i] <= ENG_IOV_MAX;

		rxm_put_head(buf, 0, 0);
		pkt.len = counts[i];
		len = rxm_put_rndv(buf, sizeof(head), &pkt, 42, seg, counts[i]);
		assert_int_equal(!rxm_parse(buf, len, &head), fits);
		if (!fits)
			continue;
		assert_int_equal(rxm_next(buf, sizeof(head), &item), len);
		assert_int_equal(item.segs, counts[i]);
		assert_int_equal(item.seg[counts[i] - 1].key, counts[i] - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handshake_survives),
		cmocka_unit_test(infiniband_addresses_fit),
		cmocka_unit_test(impossible_handshakes_are_refused),
		cmocka_unit_test(other_versions_are_named),
		cmocka_unit_test(the_other_byte_order_is_refused),
		cmocka_unit_test(refusals_survive),
		cmocka_unit_test(serials_survive_their_shortening),
		cmocka_unit_test(frames_survive),
		cmocka_unit_test(cut_messages_are_refused),
		cmocka_unit_test(impossible_messages_are_refused),
		cmocka_unit_test(counts_of_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
