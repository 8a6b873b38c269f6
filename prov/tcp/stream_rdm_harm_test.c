/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream_rdm_harm_test.c - an RDM endpoint in the compatible format against sockets that say anything, and
 * end anywhere.
 */
#include "tcp/test/rdm_peer.h"

/* Any bytes end the connection that they came over at most. */
static void hostile(void **state)
{
	static const char *const bad[] = {
		"0306000001001000 1000000000000000",	/* asked for what was not announced */
		"0307000001001000 1400000000000000 61626364",
		"0305000000002000 2000000000000000 0100000000000000 0400000000000000",
		"03050000ff002000 2000000000000000 0100000000000000 0400000000000000",
		"0305000001002000 2000000000000000 0100000000000000 ffffffffffffffff",
		/* before it was asked for */
		"0305000001002000 2000000000000000 0100000000000000 0400000000000000 0307000001001000 1400000000000000 61",
		"03ff000000001000 1000000000000000",
		"0308000000001000 1000000000000000",
		"0300800000001800 1c00000000000000 bbaa000000000000 61626364",	/* of ofi_rxm */
		"0300000002001000 1000000000000000",	/* an acknowledgement of nothing */
		"0303000000011000 1400000000000000 61626364",
		"0300000000001000 0f00000000000000",
		"0302000000012800 2800000000000000 0010000000000000 0400000000000000 ffffffffffffffff",
		"0304000000012800 2c00000000000000 ffffffffffffffff 0400000000000000 0200000000000000 61626364",
	};
	int good, fd;
	size_t i;

	open_foreign(INADDR_LOOPBACK + 1);
	good = foreign_connect("01");
	other.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 2);
	for (i = 0; i < CNT(bad); i++) {
		fd = foreign_connect("01");
		say(fd, bad[i]);
		hear_end(fd);
	}
	CALL(fi_recv(two.ep, two.buf, 100, NULL, FI_ADDR_UNSPEC, NULL));
	say(good, "0300040000001000 1400000000000000 61626364");
	done(&two);
	hear(good, "0300000002001000 1000000000000000");
	close(good);
	close_foreign();
}

static uint32_t dice = 20261125;

static uint32_t roll(uint32_t sides)
{
	dice = dice * 1664525 + 1013904223;
	return (dice >> 8) % sides;
}

/* What a peer of version 1 would say: @len is the room. */
static size_t frames(uint8_t *out, size_t len)
{
	size_t at = 0, size, head;
	uint32_t op;

	while (at + 200 < len) {
		size = roll(100);
		op = roll(3);
		head = op ? 24 : 16;
		memcpy(out + at, (uint8_t[]) { 3, op ? 1 : 0, op == 2 ? 4 : 0, 0, 0, 0, (uint8_t) head, 0,
		       (uint8_t) (head + size), 0, 0, 0, 0, 0, 0, 0 }, 16);
		memset(out + at + 16, 0, head - 16 + size);
		out[at + 16] = (uint8_t) roll(8);
		at += head + size;
	}
	return at;
}

/* The other side ends at 100 random points: of its request, of its frames, of what it reads.  Every
 * operation ends once.
 */
static void killed(void **state)
{
	static uint8_t bytes[8192];
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	uint64_t until;
	size_t len, stop, most;
	int round, posted, ended, fd;
	ssize_t ret;

	open_foreign(INADDR_LOOPBACK);
	for (round = 0; round < 100; round++) {
		fd = roll(10) ? request("01", "00001092") : -1;
		if (fd >= 0 && roll(10))
			hear_accept(fd, "81");
		for (posted = 0; posted < 6; posted++) {
			size_t size = roll(2) ? roll(200) : roll(BIG);

			/* the last one needs a connection, so that the loss of the peer is noticed */
			switch (posted == 5 ? 0 : roll(4)) {
			case 0:
				POST(fi_tsend(two.ep, two.buf, size, NULL, two.peer, 1, NULL));
				break;
			case 1:
				POST(fi_write(two.ep, two.buf, size, NULL, two.peer, 0, 1, NULL));
				break;
			case 2:
				POST(fi_read(two.ep, two.buf + BIG, size, NULL, two.peer, 0, 1, NULL));
				break;
			default:
				POST(fi_trecv(two.ep, two.buf + BIG, size, NULL, two.peer, roll(8), 0, NULL));
				break;
			}
		}
		if (fd < 0) {
			fd = accepted();
			if (roll(2))
				answer(fd, roll(2) ? "81" : "00");
		}
		len = frames(bytes, sizeof(bytes));
		stop = roll((uint32_t) len);
		ret = send(fd, bytes, stop, MSG_NOSIGNAL | MSG_DONTWAIT);
		for (most = roll(30); most; most--) {
			recv(fd, bytes, roll(sizeof(bytes)), MSG_DONTWAIT);
			poll_both();
		}
		if (roll(2))
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger) { 1, 0 }, sizeof(struct linger));
		close(fd);
		/* attempts to connect again are refused like this */
		close(listener);
		for (ended = 0, until = now_ms() + WAIT_MS; ended < posted && now_ms() < until;) {
			ret = fi_cq_read(two.cq, &entry, 1);
			if (ret == -FI_EAVAIL)
				ret = fi_cq_readerr(two.cq, &err, 0);
			ended += ret == 1;
		}
		assert_int_equal(ended, posted);
		for (most = 0; most < 20; most++)
			assert_int_equal(fi_cq_read(two.cq, &entry, 1), -FI_EAGAIN);
		close_side(&two);
		open_foreign(INADDR_LOOPBACK);
	}
	close_foreign();
}

/* Random frames, from a fixed seed, cut anywhere. */
static void noise(void **state)
{
	static uint8_t bytes[4096];
	size_t i, len, part;
	int round, fd, posted;

	open_foreign(INADDR_LOOPBACK);
	for (round = 0; round < 60; round++) {
		fd = request("01", "00001092");
		for (posted = 0; posted < 4; posted++) {
			CALL(fi_recv(two.ep, two.buf, 500, NULL, FI_ADDR_UNSPEC, NULL));
			CALL(fi_trecv(two.ep, two.buf, 500, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), NULL));
		}
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t) roll(256);
		for (i = 0; i + 64 < sizeof(bytes); i += 16 + len) {
			len = roll(48);
			memcpy(bytes + i, (uint8_t[]) { 3, (uint8_t) roll(9), (uint8_t) roll(8), 0,
			       (uint8_t) roll(3), (uint8_t) roll(5),
			       (uint8_t) (roll(3) ? 16 : 16 + 8 * roll(12)), 0,
			       (uint8_t) (16 + len), 0, 0, 0, 0, 0, 0, 0 }, 16);
		}
		for (i = 0; i < sizeof(bytes); i += part) {
			part = 1 + roll(700);
			if (part > sizeof(bytes) - i)
				part = sizeof(bytes) - i;
			if (send(fd, bytes + i, part, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
				break;
			poll_both();
		}
		close(fd);
		for (i = 0; i < 100; i++)
			poll_both();
		close_side(&two);
		close(listener);
		open_foreign(INADDR_LOOPBACK);
	}
	close_foreign();
}

int main(void)
{
	static const struct CMUnitTest harm[] = {
		cmocka_unit_test(hostile),
		cmocka_unit_test(killed),
		cmocka_unit_test(noise),
	};

	return run("auto", harm, CNT(harm));
}
