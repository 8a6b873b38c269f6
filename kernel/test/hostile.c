/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * hostile.c - a peer that breaks the tcp wire protocol in every way that its validator knows,
 * and in some thousand random ones, and with what a fuzzer has found worth keeping, against
 * "server tcp ADDRESS PORT victim" of kofi_pingpong.ko.
 *
 *   hostile [-r RECORDED]... ADDRESS PORT [ROUNDS [SEED [FILE...]]]
 *
 * RECORDED: packets by name (tests/wire/recorded/kofi-*): the request, the message, the read and the atomic are
 * answered as it was recorded.
 * FILE: bytes that are played twice, as the beginning of a connection and behind its handshake; so is
 * what was captured between other implementations (prov/util/foreign/xnet/test).
 *
 * Exit status 0: after each breach the connection was ended by the other side, or the stream
 * was harmless, and at the end a correct peer is still served.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "captured.h"

static struct sockaddr_in addr;
static int with_packets = 1;	/* requests say that their sender takes packets */

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct timeval tv = { .tv_sec = 10 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (connect(fd, (struct sockaddr *) &addr, sizeof(addr))) {
		perror("hostile: connect");
		exit(1);
	}
	return fd;
}

static void cm(uint8_t *msg, int type, int len, const void *data, int data_len)
{
	uint64_t mark = 1;

	memset(msg, 0, 32);
	msg[0] = 3;
	msg[1] = (uint8_t) type;
	msg[2] = (uint8_t) (len >> 8);
	msg[3] = (uint8_t) len;
	memcpy(msg + 24, &mark, 8);
	if (with_packets)
		memcpy(msg + 4, "\xfa" "brp\0\0\4\4\1", 9);
	memcpy(msg + 32, data, (size_t) data_len);
}

static int recv_all(int fd, void *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = recv(fd, (char *) buf + got, len - got, 0);
		if (n <= 0)
			return -1;
		got += (size_t) n;
	}
	return 0;
}

/* Reads until the other side ends the connection; -1: it does not. */
static int drain(int fd)
{
	char buf[65536];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n > 0);
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? -1 : 0;
}

/* A connection that is accepted; -1: it is not. */
static int shake(const char *data)
{
	uint8_t msg[64];
	int fd = dial();

	cm(msg, 0, (int) strlen(data), data, (int) strlen(data));
	if (send(fd, msg, 32 + strlen(data), MSG_NOSIGNAL) < 0 || recv_all(fd, msg, 32) ||
	    msg[1] != 1) {
		close(fd);
		return -1;
	}
	return fd;
}

static void put(uint8_t *frame, int op, int flags, int op_data, int ranges, int hdr_len, uint64_t len)
{
	memset(frame, 0, 16);
	frame[0] = 3;
	frame[1] = (uint8_t) op;
	frame[2] = (uint8_t) flags;
	frame[4] = (uint8_t) op_data;
	frame[5] = (uint8_t) ranges;
	frame[6] = (uint8_t) hdr_len;
	memcpy(frame + 8, &len, 8);
}

static void range(uint8_t *frame, int i, uint64_t at, uint64_t len, uint64_t key)
{
	memcpy(frame + 16 + 24 * i, &at, 8);
	memcpy(frame + 24 + 24 * i, &len, 8);
	memcpy(frame + 32 + 24 * i, &key, 8);
}

static int bad;

/* After these bytes the connection must be ended. */
static void breach(const char *what, const uint8_t *bytes, size_t len)
{
	int fd = shake("x");

	if (fd < 0) {
		fprintf(stderr, "hostile: %s: not accepted\n", what);
		exit(1);
	}
	send(fd, bytes, len, MSG_NOSIGNAL);
	if (drain(fd)) {
		fprintf(stderr, "hostile: %s: the connection goes on\n", what);
		bad++;
	}
	close(fd);
}

static void handshakes(void)
{
	static const struct { int version, type, len, sent; const char *what; } cases[] = {
		{ 2, 0, 0, 32, "version 2" }, { 255, 0, 0, 32, "version 255" },
		{ 3, 1, 0, 32, "a response instead of a request" }, { 3, 6, 0, 32, "a refusal" },
		{ 3, 77, 0, 32, "type 77" }, { 3, 0, 257, 32, "257 bytes" },
		{ 3, 0, 65535, 32, "65535 bytes" },
	};
	uint8_t msg[4096];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fd = dial();
		cm(msg, cases[i].type, cases[i].len, "", 0);
		msg[0] = (uint8_t) cases[i].version;
		send(fd, msg, (size_t) cases[i].sent, MSG_NOSIGNAL);
		if (drain(fd)) {
			fprintf(stderr, "hostile: request with %s: not ended\n", cases[i].what);
			bad++;
		}
		close(fd);
	}
	/* cut anywhere, and left */
	for (i = 0; i < 36; i++) {
		fd = dial();
		cm(msg, 0, 4, "ping", 4);
		send(fd, msg, i, MSG_NOSIGNAL);
		close(fd);
	}
}

static void frames(void)
{
	uint8_t f[8192] = { 0 };
	int i;

	for (i = 5; i < 256; i += i < 10 ? 1 : 41) {
		put(f, i, 0, 0, 0, 16, 16);
		breach("unknown op", f, 16);
	}
	for (i = 0; i < 16; i += 5) {
		put(f, 0, 0, 0, 0, i, 20);
		breach("header that is too short", f, 20);
	}
	put(f, 0, 0, 0, 0, 121, 121);
	breach("header of 121", f, 121);
	put(f, 0, 0, 0, 0, 255, 255);
	breach("header of 255", f, 255);
	put(f, 0, 0, 0, 0, 24, 28);
	breach("header with a word too many", f, 28);
	put(f, 0, 1, 0, 0, 16, 20);
	breach("header with a word too few", f, 20);
	put(f, 0, 0x80, 0, 0, 24, 28);
	breach("a tag of rxm", f, 28);
	put(f, 0, 0, 0, 0, 16, 15);
	breach("length below the header's", f, 16);
	put(f, 0, 0, 0, 0, 16, 1ULL << 63);
	breach("length 2^63", f, 16);
	put(f, 0, 0, 0, 0, 16, ~0ULL);
	breach("length 2^64 - 1", f, 16);
	put(f, 1, 0, 0, 0, 24, 28);
	breach("tagged message", f, 28);
	put(f, 0, 0, 2, 0, 16, 16);
	breach("acknowledgement of nothing", f, 16);
	put(f, 0, 0, 2, 0, 16, 20);
	breach("acknowledgement with payload", f, 20);
	put(f, 3, 0, 0, 1, 16, 20);
	breach("read response without a request", f, 20);
	for (i = 0; i < 256; i += i < 6 ? 5 : 83) {
		put(f, 2, 0, 0, i, 16 + 24 * (i & 7), 16 + 24 * (i & 7));
		breach("read of 0 or too many ranges", f, 200);
	}
	put(f, 2, 0, 0, 1, 40, 40);
	range(f, 0, 0, 16, 99);
	breach("read by a key of nothing", f, 40);
	range(f, 0, 1 << 20, 1, 1);
	breach("read behind the end", f, 40);
	range(f, 0, ~0ULL, 2, 1);
	breach("read that wraps", f, 40);
	range(f, 0, 0, ~0ULL, 1);
	breach("read of 2^64 - 1", f, 40);
	put(f, 2, 0, 0, 4, 112, 112);
	for (i = 0; i < 4; i++)
		range(f, i, 0, 1ULL << 62, 1);
	breach("read whose sum wraps", f, 112);
	put(f, 4, 0, 0, 1, 40, 44);
	range(f, 0, 0, 5, 1);
	breach("write of another length than its payload", f, 44);
	range(f, 0, 0, 4, 99);
	breach("write by a key of nothing", f, 44);
	range(f, 0, (1 << 20) - 1, 4, 1);
	breach("write over the end", f, 44);
	put(f, 4, 0, 0, 4, 112, 112);
	for (i = 0; i < 4; i++)
		range(f, i, 0, 1ULL << 62, 1);
	breach("write whose sum wraps", f, 112);
}

/* ---- atomics: packets of the engine ---- */

#define AMO_HDR	(16 + 16 + 8 + 24)
#define AMO_LEN	(AMO_HDR + 8)

/* A fetching sum of one number of 64 bits, or what @kind and @op make of it. */
static void amo(uint8_t *f, int kind, int op, uint32_t id)
{
	const uint64_t rma[3] = { 64, 1, 1 }, len = kind == 2 ? 16 : 8, total = AMO_HDR + len;

	memset(f, 0, AMO_LEN + 8);
	put(f, 8, 0, 0, 0, AMO_HDR, total);
	f[16] = 11;
	f[17] = kind ? 0 : 8;
	memcpy(f + 20, &id, 4);
	memcpy(f + 24, &len, 8);
	f[32] = (uint8_t) kind;
	f[33] = (uint8_t) op;
	f[34] = 7;
	memcpy(f + 40, rma, sizeof(rma));
}

/* Bytes whose change makes the frame another one, or none. */
static int must_end(int at)
{
	return (at >= 1 && at <= 6) || (at >= 8 && at < 16) || at == 16 || at == 18 || at == 19 ||
	       (at >= 24 && at < 32);
}

/* What comes back by a connection that has got @f and no more: nothing, or the answer to its number. */
static void amo_changed(const uint8_t *f, size_t len, int at, unsigned change)
{
	uint8_t got[64];
	int fd = shake("x");

	if (fd < 0) {
		fprintf(stderr, "hostile: not accepted any more\n");
		exit(1);
	}
	send(fd, f, len, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	if (!recv_all(fd, got, 32) &&
	    (must_end(at) || got[1] != 8 || memcmp(got + 20, f + 20, 4))) {
		fprintf(stderr, "hostile: atomic with byte %d changed by %x: answered\n", at, change);
		bad++;
	}
	if (drain(fd)) {
		fprintf(stderr, "hostile: atomic with byte %d changed by %x: goes on\n", at, change);
		bad++;
	}
	close(fd);
}

static void atomics(void)
{
	static const struct { int at, value; const char *what; } cases[] = {
		{ 16, 4, "old values of nothing" }, { 16, 5, "an acknowledgement of no atomic" },
		{ 16, 6, "a refusal of nothing" }, { 16, 1, "a message in a packet" },
		{ 20, 0, "an atomic without a number" }, { 32, 3, "a kind of atomic that is none" },
	};
	static const uint8_t bits[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255 };
	uint8_t f[AMO_LEN + 8], got[64];
	size_t i;
	int at, fd, kind;

	with_packets = 0;
	amo(f, 1, 2, 7);
	breach("an atomic that was not agreed on", f, AMO_LEN);
	with_packets = 1;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		amo(f, 1, 2, 7);
		f[cases[i].at] = (uint8_t) cases[i].value;
		breach(cases[i].what, f, AMO_LEN);
	}
	for (kind = 0; kind < 3; kind++) {
		for (at = 0; at < AMO_HDR; at++) {
			for (i = 0; i < sizeof(bits); i++) {
				amo(f, kind, kind == 2 ? 12 : 2, 7);
				f[at] ^= bits[i];
				amo_changed(f, AMO_LEN + 8 * (kind == 2), at, bits[i]);
			}
		}
	}
	/* served: the second one sees the first */
	fd = shake("x");
	for (i = 0; i < 2; i++) {
		amo(f, 1, 11, 0x01020304);
		f[AMO_HDR] = (uint8_t) (40 + i);
		if (send(fd, f, AMO_LEN, MSG_NOSIGNAL) < 0 || recv_all(fd, got, 48) || got[16] != 4 ||
		    memcmp(got + 20, f + 20, 4) || (i && got[40] != 40)) {
			fprintf(stderr, "hostile: an atomic is not served\n");
			bad++;
		}
	}
	close(fd);
}

/* What is correct, but for its abundance or its end. */
static void excess(void)
{
	uint8_t f[65536];
	int fd, i;

	/* reads whose answers are not taken */
	fd = shake("x");
	put(f, 2, 0, 0, 1, 40, 40);
	range(f, 0, 0, 1 << 20, 1);
	for (i = 0; i < 6000; i++)
		if (send(fd, f, 40, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
	close(fd);
	/* a message cut in its payload */
	fd = shake("x");
	put(f, 0, 0, 0, 0, 16, 1 << 20);
	send(fd, f, 3000, MSG_NOSIGNAL);
	close(fd);
	/* a write cut in its payload */
	fd = shake("x");
	put(f, 4, 0, 0, 1, 40, 40 + (1 << 20));
	range(f, 0, 0, 1 << 20, 1);
	send(fd, f, 30000, MSG_NOSIGNAL);
	close(fd);
	/* messages byte by byte */
	fd = shake("x");
	put(f, 0, 0, 0, 0, 16, 40);
	for (i = 0; i < 80; i++)
		send(fd, f + i % 40, 1, MSG_NOSIGNAL);
	close(fd);
}

static uint32_t state;

static uint32_t rnd(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

/* Frames that are nearly good. */
static void mutations(int rounds)
{
	uint8_t f[4096];
	size_t len, at;
	int fd, n;

	while (rounds--) {
		fd = rnd() % 16 ? shake("x") : dial();
		if (fd < 0) {
			fprintf(stderr, "hostile: not accepted any more\n");
			exit(1);
		}
		for (len = 0, n = 1 + (int) (rnd() % 6); n && len < 3000; n--) {
			int op = (int) (rnd() % 5), ranges = op == 2 || op == 4 ? 1 + (int) (rnd() % 4) : 0;
			int hdr = 16 + 24 * ranges + (op == 1 ? 8 : 0), pay = op == 2 ? 0 : (int) (rnd() % 300);
			int i;

			if (rnd() % 5 == 0) {
				amo(f + len, (int) (rnd() % 3), (int) (rnd() % 20), rnd());
				len += AMO_LEN;
				continue;
			}
			put(f + len, op, rnd() % 4 ? 0 : 4, rnd() % 4 ? 0 : 2, ranges, hdr,
			    (uint64_t) (hdr + pay));
			for (i = 0; i < ranges; i++)
				range(f + len, i, rnd() % 4096, (uint64_t) (pay / ranges), rnd() % 2);
			len += (size_t) (hdr + pay);
		}
		for (n = (int) (rnd() % 4); n; n--) {
			at = rnd() % len;
			f[at] = (uint8_t) (rnd() % 3 ? f[at] ^ (1U << (rnd() % 8)) : rnd());
		}
		send(fd, f, len, MSG_NOSIGNAL);
		if (rnd() % 2)
			shutdown(fd, SHUT_WR);
		close(fd);
	}
}

/* ---- what is kept ---- */

static unsigned played;

/* Whether it is a breach is not known here: the other side must live. */
static void play(const uint8_t *bytes, size_t len)
{
	int fd, behind;

	for (behind = 0; behind < 2; behind++) {
		fd = behind ? shake("x") : dial();
		if (fd < 0) {
			fprintf(stderr, "hostile: not accepted any more\n");
			exit(1);
		}
		send(fd, bytes, len, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		if (drain(fd)) {
			fprintf(stderr, "hostile: kept bytes: the connection goes on\n");
			bad++;
		}
		close(fd);
		played++;
	}
}

/* Payload that was not kept is 0. */
static void play_hex(const char *hex, size_t size)
{
	static uint8_t bytes[1 << 20];
	unsigned byte;
	size_t i;

	memset(bytes, 0, sizeof(bytes));
	for (i = 0; hex[2 * i] && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
		bytes[i] = (uint8_t) byte;
	play(bytes, size ? size : i);
}

static void play_file(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *f = fopen(path, "r");
	size_t len;

	if (!f) {
		perror(path);
		exit(1);
	}
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	play(bytes, len);
}

static void play_captured(void)
{
	size_t i;

	for (i = 0; i < sizeof(captured_cm) / sizeof(captured_cm[0]); i++)
		play_hex(captured_cm[i], 0);
	for (i = 0; i < sizeof(captured_frames) / sizeof(captured_frames[0]); i++)
		play_hex(captured_frames[i].hex, captured_frames[i].size);
}

/* ---- what was recorded, with its answers ---- */

struct packet {
	uint8_t byte[256];
	size_t len;
};

/* The packet of this name in @path. */
static struct packet packet_load(const char *path, const char *name)
{
	struct packet p = { .len = 0 };
	char line[1024], word[32];
	FILE *f = fopen(path, "r");
	unsigned byte;
	int at;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31s %n", word, &at) != 1 || strcmp(word, name))
			continue;
		for (; p.len < sizeof(p.byte) && sscanf(line + at, "%2x", &byte) == 1; at += 2)
			p.byte[p.len++] = (uint8_t) byte;
	}
	if (f)
		fclose(f);
	if (!p.len) {
		fprintf(stderr, "hostile: %s has no %s\n", path, name);
		exit(1);
	}
	return p;
}

/* Sends @p and reads what answers it, a packet of this name and @len bytes behind its header. */
static void expect_answer(int fd, const char *path, struct packet p, const char *answer, size_t len)
{
	struct packet want = packet_load(path, answer);
	uint8_t got[sizeof(want.byte)];

	want.byte[7] = 0;	/* counts the frames */
	if (send(fd, p.byte, p.len, MSG_NOSIGNAL) != (ssize_t) p.len || recv_all(fd, got, want.len + len)) {
		fprintf(stderr, "hostile: %s: no %s comes\n", path, answer);
		bad++;
		return;
	}
	got[7] = 0;
	if (memcmp(got, want.byte, want.len)) {
		fprintf(stderr, "hostile: %s: another %s comes than the one that was recorded\n", path, answer);
		bad++;
	}
}

/* A request of this name for the victim's region: its header ends with address, length and key. */
static struct packet request_load(const char *path, const char *name)
{
	static const uint64_t at, key = 1;
	struct packet p = packet_load(path, name);

	memcpy(p.byte + p.len - 24, &at, sizeof(at));
	memcpy(p.byte + p.len - 8, &key, sizeof(key));
	return p;
}

static void play_recorded(const char *path)
{
	struct packet atomic = request_load(path, "atomic");
	int fd = dial();

	atomic.len += 8;	/* its operand, 0 */
	expect_answer(fd, path, packet_load(path, "request"), "response", 0);
	expect_answer(fd, path, packet_load(path, "message"), "ack", 0);
	expect_answer(fd, path, request_load(path, "read"), "readdata", 64);
	expect_answer(fd, path, atomic, "old", 8);
	close(fd);
	played++;
}

int main(int argc, char **argv)
{
	const char *replays[8];
	uint8_t msg[64], f[64];
	int i, fd, opt, replay_cnt = 0;

	while ((opt = getopt(argc, argv, "r:")) == 'r' && replay_cnt < 8)
		replays[replay_cnt++] = optarg;
	argc -= optind - 1;
	argv += optind - 1;
	if (argc < 3)
		return 2;
	state = argc > 4 ? (uint32_t) atoi(argv[4]) : 1;
	addr.sin_family = AF_INET;
	addr.sin_port = htons((uint16_t) atoi(argv[2]));
	inet_pton(AF_INET, argv[1], &addr.sin_addr);
	handshakes();
	frames();
	atomics();
	excess();
	mutations(argc > 3 ? atoi(argv[3]) : 300);
	play_captured();
	for (i = 0; i < replay_cnt; i++)
		play_recorded(replays[i]);
	for (i = 5; i < argc; i++)
		play_file(argv[i]);
	/* a correct peer: a message that is acknowledged */
	fd = shake("x");
	put(f, 0, 4, 0, 0, 16, 20);
	if (fd < 0 || send(fd, f, 20, MSG_NOSIGNAL) != 20 || recv_all(fd, msg, 16) || msg[4] != 2) {
		fprintf(stderr, "hostile: a correct peer is not served\n");
		bad++;
	}
	close(fd);
	fd = dial();
	cm(msg, 0, 4, "quit", 4);
	send(fd, msg, 36, MSG_NOSIGNAL);
	drain(fd);
	close(fd);
	printf("%d breaches went unnoticed; %u streams played\n", bad, played);
	return bad > 0;
}
