/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream_rdm_peer_test.c - an RDM endpoint in the compatible format against sockets that say what another
 * implementation would: described and captured conversations.
 */
#include "tcp/test/rdm_peer.h"

#include "foreign/xnet/test/captured_rdm.h"

#define LONG (24 << 20)		/* more than sockets take, in more pieces than a link has at a time */

/* The conversation of the description's examples; byte 7 counts our frames. */
static void conversation(void **state)
{
	struct fi_cq_tagged_entry entry;
	fi_addr_t from;
	int fd;

	open_foreign(INADDR_LOOPBACK);
	fd = foreign_connect("00");
	CALL(fi_trecv(two.ep, two.buf, 100, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, NULL));
	CALL(fi_recv(two.ep, two.buf + 100, 100, NULL, FI_ADDR_UNSPEC, NULL));
	say(fd, "0300000000001000 1400000000000000 61626364");
	entry = done_from(&two, &from);
	assert_int_equal(from, two.peer);
	assert_true(entry.flags & FI_MSG);
	say(fd, "0301050000002000");
	say(fd, "2400000000000000 8877665544332211 bbaa0000");
	say(fd, "00000000 616263");
	say(fd, "64");
	entry = done_from(&two, &from);
	assert_int_equal(from, two.peer);
	assert_int_equal(entry.tag, 0xaabb);
	assert_true(entry.flags & FI_TAGGED && entry.data == 0x1122334455667788);
	assert_memory_equal(two.buf, "abcd", 4);
	hear(fd, "0300000002001000 1000000000000000");
	POST(fi_tinject(two.ep, "abcd", 4, two.peer, 0xaabb));
	hear(fd, "0301000000001801 1c00000000000000 bbaa000000000000 61626364");
	POST(fi_tsenddata(two.ep, "abcd", 4, NULL, 0x1122334455667788, two.peer, 0xaabb, NULL));
	hear(fd, "0301010000002002 2400000000000000 8877665544332211 bbaa000000000000 61626364");
	done(&two);
	/* an announcement is not agreed on */
	say(fd, "0305000001002000 2000000000000000 bbaa000000000000 0080000000000000");
	hear_end(fd);
	close_foreign();
}

/* Messages of other implementations without a receive do not stop what is behind them. */
static void unexpected(void **state)
{
	static uint8_t frame[24 + 300000];
	int fd, i;

	open_foreign(INADDR_LOOPBACK);
	fd = foreign_connect("01");
	for (i = 0; i < 3; i++) {
		fill(frame, sizeof(frame), (uint8_t) i);
		hex_bytes("0301040000001800 f893040000000000 0100000000000000", frame);
		frame[16] = (uint8_t) i;
		say_bytes(fd, frame, sizeof(frame));
		hear(fd, i ? i > 1 ? "0300000002001002 1000000000000000" : "0300000002001001 1000000000000000" :
			 "0300000002001000 1000000000000000");
	}
	for (i = 2; i >= 0; i--) {
		CALL(fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, (uint64_t) i, 0, NULL));
		assert_int_equal(done(&two).len, 300000);
		fill(frame, sizeof(frame), (uint8_t) i);
		assert_memory_equal(two.buf, frame + 24, 300000);
	}
	close(fd);
	close_foreign();
}

/* Version 1: the peer announces, in any order, up to 254 messages. */
static void announcements(void **state)
{
	static uint8_t data[16 + 32768];
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	char hex[200];
	int fd, i;

	open_foreign(INADDR_LOOPBACK);
	fd = foreign_connect("01");
	for (i = 1; i <= 254; i++) {
		snprintf(hex, sizeof(hex), "0305 0500 %02x002800 2800000000000000 %02x77665544332211 "
			 "%02xaa000000000000 0080000000000000", i, i, i);
		say(fd, hex);
	}
	/* the last first, with its acknowledgement behind one that came earlier */
	CALL(fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, 0xaafe, 0, NULL));
	hear(fd, "03060000fe001000 1000000000000000");
	CALL(fi_trecv(two.ep, two.buf + BIG, 1000, NULL, FI_ADDR_UNSPEC, 0xaa01, 0, NULL));
	hear(fd, "0306000001001001 1000000000000000");
	fill(data, sizeof(data), 9);
	hex_bytes("03070500fe001000 1080000000000000", data);
	say_bytes(fd, data, 1000);
	poll_both();
	say_bytes(fd, data + 1000, sizeof(data) - 1000);
	entry = done(&two);
	assert_int_equal(entry.len, 32768);
	assert_int_equal(entry.tag, 0xaafe);
	assert_true(entry.data == 0x11223344556677fe);
	assert_memory_equal(two.buf, data + 16, 32768);
	hear(fd, "0300000002001002 1000000000000000");
	/* one that is longer than its receive is read to its end */
	hex_bytes("0307050001001000 1080000000000000", data);
	say_bytes(fd, data, sizeof(data));
	err = failed(&two);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.olen, 32768 - 1000);
	hear(fd, "0300000002001003 1000000000000000");
	/* a number can be used again */
	say(fd, "0305000001002000 2000000000000000 0100000000000000 0400000000000000");
	CALL(fi_trecv(two.ep, two.buf, 100, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
	hear(fd, "0306000001001004 1000000000000000");
	say(fd, "0307000001001000 1400000000000000 61626364");
	assert_int_equal(done(&two).len, 4);
	/* we announce nothing, whatever the version */
	POST(fi_tsend(two.ep, two.buf, 300000, NULL, two.peer, 1, NULL));
	hear(fd, "0301000000001805 f893040000000000 0100000000000000");
	assert_int_equal(read_bytes(fd, two.buf + BIG, 300000), 300000);
	assert_memory_equal(two.buf, two.buf + BIG, 300000);
	done(&two);
	/* twice the same number */
	say(fd, "0305000002002000 2000000000000000 0100000000000000 0400000000000000");
	hear_end(fd);
	close_foreign();
}

/* Our request, with every answer of theirs; then the peer is restarted. */
static void we_connect(void **state)
{
	static const char *const versions[] = { "00", "01", "81" };
	size_t i;
	int fd, next;

	open_foreign(INADDR_LOOPBACK);
	for (i = 0; i < CNT(versions); i++) {
		POST(fi_tsend(two.ep, "abcd", 4, NULL, two.peer, i, NULL));
		fd = accepted();
		answer(fd, versions[i]);
		/* a frame may be right behind the answer */
		say(fd, "0301000000001800 1c00000000000000 bb00000000000000 61626364");
		hear(fd, i ? i > 1 ? "0301000000001800 1c00000000000000 0200000000000000 61626364" :
			 "0301000000001800 1c00000000000000 0100000000000000 61626364" :
			 "0301000000001800 1c00000000000000 0000000000000000 61626364");
		done(&two);
		CALL(fi_trecv(two.ep, two.buf, 100, NULL, two.peer, 0xbb, 0, NULL));
		assert_int_equal(done(&two).len, 4);
		/* further requests are refused while the connection stands, also that of another process,
		 * which any user of the host can make; once its end is known another one counts
		 */
		next = request("01", "0000141f");
		hear(next, "03060008 0000 0000 0000000000000000 0000000000000000 0000000000000000");
		close(next);
		next = request("01", "00001420");
		hear(next, "03060008 0000 0000 0000000000000000 0000000000000000 0000000000000000");
		close(next);
		close(fd);
		next = request("01", "00001420");
		hear_accept(next, "81");
		close(next);
		usleep(1000);
		poll_both();
		poll_both();
	}
	close_foreign();
}

/* A long message of ours, and two long reads of the peer meanwhile: each comes whole, one behind the
 * other, whatever pieces the engine cuts them into.
 */
static void long_answers(void **state)
{
	static uint8_t memory[2 * LONG], got[LONG];
	static const char *const reads[] = {
		"0302000000012800 2800000000000000 0000000000000000 0000800100000000 0500000000000000",
		"0302000000012801 2800000000000000 0000800100000000 0000800100000000 0500000000000000",
	};
	static const char *const heads[] = {
		"0303000000011001 1000800100000000", "0303000000011002 1000800100000000",
	};
	struct fid_mr *mr;
	size_t i;
	int fd;

	open_foreign(INADDR_LOOPBACK);
	fill(memory, sizeof(memory), 9);
	CALL(fi_mr_reg(domain, memory, sizeof(memory), FI_REMOTE_READ, 0, 5, 0, &mr, NULL));
	fd = foreign_connect("00");
	POST(fi_tsend(two.ep, memory, LONG, NULL, two.peer, 1, NULL));
	for (i = 0; i < CNT(reads); i++)
		say(fd, reads[i]);
	for (i = 0; i < 100; i++)	/* what the socket takes is sent, the rest waits */
		poll_both();
	hear(fd, "0301000000001800 1800800100000000 0100000000000000");
	assert_int_equal(read_bytes(fd, got, LONG), LONG);
	assert_memory_equal(got, memory, LONG);
	for (i = 0; i < CNT(reads); i++) {
		hear(fd, heads[i]);
		assert_int_equal(read_bytes(fd, got, LONG), LONG);
		assert_memory_equal(got, memory + i * LONG, LONG);
	}
	done(&two);
	close(fd);
	CALL(fi_close(&mr->fid));
	close_foreign();
}

/* Two simultaneous requests: that of the higher address counts.  The other side is at a lower one, then at
 * a higher one.
 */
static void crossing(void **state)
{
	struct sockaddr_in at;
	int fd, theirs;

	open_foreign(INADDR_LOOPBACK);
	at = other;
	while (ntohs(at.sin_port) > ntohs(two.name.sin_port)) {		/* the host is the same: the port decides */
		close_foreign();
		open_foreign(INADDR_LOOPBACK);
		at = other;
	}
	POST(fi_tsend(two.ep, "abcd", 4, NULL, two.peer, 1, NULL));
	fd = accepted();
	theirs = request("01", "00001092");
	hear(theirs, "03060008 0000 0000 0000000000000000 0000000000000000 0000000000000000");
	close(theirs);
	answer(fd, "81");
	hear(fd, "0301000000001800 1c00000000000000 0100000000000000 61626364");
	done(&two);
	close(fd);
	close_foreign();

	open_foreign(INADDR_LOOPBACK + 1);	/* 127.0.0.2 */
	POST(fi_tsend(two.ep, "abcd", 4, NULL, two.peer, 1, NULL));
	fd = accepted();
	theirs = request("01", "00001092");
	hear_accept(theirs, "81");
	hear(theirs, "0301000000001800 1c00000000000000 0100000000000000 61626364");
	done(&two);
	hear_end(fd);
	close(theirs);
	close_foreign();

	/* a refusal, and the request that it was for */
	open_foreign(INADDR_LOOPBACK + 1);
	POST(fi_tsend(two.ep, "abcd", 4, NULL, two.peer, 1, NULL));
	fd = accepted();
	say(fd, "03060008 00000000 0000000000000000 0000000000000000 0000000000000000 0100 0000 00000001");
	hear_end(fd);
	theirs = request("01", "00001092");
	hear_accept(theirs, "81");
	hear(theirs, "0301000000001800 1c00000000000000 0100000000000000 61626364");
	done(&two);
	close(theirs);
	close_foreign();
}

/* Atomics with a peer that takes packets of the engine: each side's number comes back, and what was not
 * asked for ends the connection.
 */
static void atomics(void **state)
{
	static const char *const bad[] = {
		"0308000000002800 3000000000000000 0400000005000000 0800000000000000 0000000000000000 0700000000000000",
		"0308000000002000 2000000000000000 0508000005000000 0000000000000000",
		"0308000000002000 2000000000000000 0100000000000000 0000000000000000",
		"0308000000001f00 1f00000000000000 0500080005000000 00000000000000",
	};
	uint64_t memory, add = 1, old = 0;
	uint8_t id[4], got[64];
	struct fid_mr *mr;
	char hex[300];
	size_t i;
	int fd;

	for (i = 0; i < CNT(bad); i++) {
		memory = 5;
		open_foreign(INADDR_LOOPBACK);
		POST(fi_fetch_atomic(two.ep, &add, 1, NULL, &old, NULL, two.peer, 0x1000, 7, FI_UINT64, FI_SUM, NULL));
		fd = accepted();
		snprintf(hex, sizeof(hex), "03010008 fa627270 0000 0404 01000000 0000000000000000 0100000000000000"
			 "8100 %04x 0000141f", ntohs(two.name.sin_port));
		say(fd, hex);
		hear(fd, "0308000000004000 4800000000000000 0b000000");
		assert_int_equal(read_bytes(fd, id, 4), 4);
		hear(fd, "0800000000000000 0102070000000000 0010000000000000 0100000000000000 0700000000000000"
		     "0100000000000000");
		snprintf(hex, sizeof(hex), "0308000000002800 3000000000000000 04000000 %02x%02x%02x%02x"
			 "0800000000000000 0000000000000000 2a00000000000000", id[0], id[1], id[2], id[3]);
		say(fd, hex);
		done(&two);
		assert_int_equal(old, 0x2a);
		/* one of the peer */
		CALL(fi_mr_reg(domain, &memory, sizeof(memory), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 9, 0, &mr, NULL));
		say(fd, "0308000000004000 4800000000000000 0b00000078563412 0800000000000000 0102070000000000"
		    "0000000000000000 0100000000000000 0900000000000000 0300000000000000");
		hear(fd, "0308000000002801 3000000000000000 0400000078563412 0800000000000000 0000000000000000"
		     "0500000000000000");
		assert_int_equal(memory, 8);
		/* by a key of nothing */
		say(fd, "0308000000004000 4800000000000000 0b08000078563412 0800000000000000 0002070000000000"
		    "0000000000000000 0100000000000000 0a00000000000000 0300000000000000");
		hear(fd, "0308000000002802 2800000000000000 0600000078563412 0000000000000000");
		assert_int_equal(read_bytes(fd, got, 8), 8);
		say(fd, bad[i]);
		hear_end(fd);
		CALL(fi_close(&mr->fid));
		close_foreign();
	}
}

/* A peer that the program does not know can send; it is FI_ADDR_NOTAVAIL. */
static void stranger(void **state)
{
	struct fi_cq_tagged_entry entry;
	fi_addr_t from = 0;
	int fd;

	listen_at(INADDR_LOOPBACK);
	open_side(&two);
	fd = foreign_connect("01");
	CALL(fi_recv(two.ep, two.buf, 100, NULL, FI_ADDR_UNSPEC, NULL));
	say(fd, "0300000000001000 1400000000000000 61626364");
	entry = done_from(&two, &from);
	assert_int_equal(entry.len, 4);
	assert_true(from == FI_ADDR_NOTAVAIL);
	close(fd);
	close_foreign();
}

/* A request that is not of an RDM endpoint is refused in the form that its sender understands. */
static void other_requests(void **state)
{
	static const char *const bad[] = {
		"03000000 0000" HEAD,
		"03000004 0000" HEAD "70696e67",
		"03000018 0000" HEAD "0101040300000010 0000000000000000 0000000000000000",
		"03000008 0000" HEAD "0100c00100000000",	/* process 0 */
		"03000008 0000" HEAD "0100000000001092",	/* port 0 */
	};
	char own[200];
	size_t i;
	int fd;

	open_foreign(INADDR_LOOPBACK);
	snprintf(own, sizeof(own), "03000008 0000" HEAD "0100 %04x 00001092", ntohs(two.name.sin_port));
	for (i = 0; i <= CNT(bad); i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd, (struct sockaddr *) &two.name, sizeof(two.name)), 0);
		say(fd, i < CNT(bad) ? bad[i] : own);
		hear(fd, "03060008 0000 0000 0000000000000000 0000000000000000 0000000000000000");
		close(fd);
	}
	for (i = 0; i < 3; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd, (struct sockaddr *) &two.name, sizeof(two.name)), 0);
		say(fd, (const char *[]) { "02000000 0000" HEAD, "03050000 0000" HEAD, "03000101 0000" HEAD }[i]);
		shutdown(fd, SHUT_WR);
		while (read_bytes(fd, two.buf, 1))
			;
		close(fd);
	}
	fd = foreign_connect("00");	/* others are not affected */
	close(fd);
	close_foreign();
}

/* The other byte order. */
static void unlike_hosts(void **state)
{
	char hex[200];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	open_foreign(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *) &two.name, sizeof(two.name)), 0);
	snprintf(hex, sizeof(hex), "03000008 00000000 0000000000000000 0000000000000000 0000000000000001 "
		 "0000 %s 00001092", port_hex);
	say(fd, hex);
	hear_accept(fd, "00");
	CALL(fi_trecv(two.ep, two.buf, 100, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, NULL));
	say(fd, "0301000000001800 000000000000001c 000000000000aabb 61626364");
	assert_int_equal(done(&two).len, 4);
	POST(fi_tinject(two.ep, "abcd", 4, two.peer, 0xaabb));
	hear(fd, "0301000000001800 000000000000001c 000000000000aabb 61626364");
	close(fd);
	close_foreign();
}

/* FI_TCP_WIRE=native: other implementations are refused. */
static void native_only(void **state)
{
	int fd;

	open_foreign(INADDR_LOOPBACK);
	fd = request("01", "00001092");
	hear_end(fd);
	POST(fi_tsend(two.ep, "abcd", 4, NULL, two.peer, 1, NULL));
	while ((fd = accept(listener, NULL, NULL)) < 0)
		poll_both();
	hear(fd, "fa627269 63000d0a");
	close(fd);
	close(listener);
	assert_int_not_equal(failed(&two).err, 0);
	close_side(&two);
}

/* ---- what release 2.6 has sent ----------------------------------------------------------- */

/* The connecting side of a capture is played; what it waited for is what it must get.  Messages of
 * the accepting program are those that the capture has.
 */
static void captured(void **state)
{
	static uint8_t bytes[110000], got[100];
	struct fid_mr *mr;
	size_t i, k, len;
	int fd;

	open_foreign(INADDR_LOOPBACK);
	CALL(fi_mr_reg(domain, two.buf + BIG, 4096, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, CAPTURED_KEY, 0, &mr,
		       NULL));
	memset(two.buf + BIG + 0x444, 0x5a, 16);
	for (i = 0; i < CNT(captured_rdm); i++) {
		const struct captured_rdm *talk = &captured_rdm[i];

		fd = foreign_connect("01");
		for (k = 0; talk->turn[k].hex; k++) {
			const struct captured_turn *turn = &talk->turn[k];

			if (turn->receive)
				CALL(turn->tagged ?
				     fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), NULL) :
				     fi_recv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, NULL));
			memset(bytes, 0, sizeof(bytes));
			hex_bytes(turn->hex, bytes);
			say_bytes(fd, bytes, turn->size);
			if (turn->receive || turn->event)
				assert_int_equal(done(&two).len, turn->len);
			len = hex_bytes(turn->answer, bytes);
			assert_int_equal(read_bytes(fd, got, len), len);
			if (len)
				got[7] = bytes[7];	/* counts frames; release builds leave it undefined */
			assert_memory_equal(got, bytes, len);
		}
		close(fd);
		usleep(1000);
		poll_both();
		poll_both();
	}
	CALL(fi_close(&mr->fid));
	close_foreign();
}

int main(void)
{
	static const struct CMUnitTest foreign[] = {
		cmocka_unit_test(conversation),
		cmocka_unit_test(unexpected),
		cmocka_unit_test(announcements),
		cmocka_unit_test(we_connect),
		cmocka_unit_test(long_answers),
		cmocka_unit_test(crossing),
		cmocka_unit_test(atomics),
		cmocka_unit_test(stranger),
		cmocka_unit_test(other_requests),
		cmocka_unit_test(unlike_hosts),
		cmocka_unit_test(captured),
	};
	static const struct CMUnitTest native[] = { cmocka_unit_test(native_only) };
	int failed = run("auto", foreign, CNT(foreign));

	return run("native", native, CNT(native)) | failed;
}
