/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * replay.c - packets that were recorded when a version was made are read by the decoders of
 * today, with the same result: each line is "name hex-digits".
 *
 *   replay [DIR]            read all files of DIR (tests/wire/recorded)
 *   replay --record DIR     write those of this version
 */
#include <dirent.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wire.h"
#include "foreign/xnet/cm.h"
#include "foreign/xnet/frame.h"
#include "rxd/addresses/list.h"
#include "rxd/sealed.h"
#include "rxd/wire.h"
#include "rxm/wire.h"
#include "shm/handshake.h"
#include "tcp/hello.h"

#define LINE_MAX_BYTES 2048
#define EPOCH UINT64_C(0x1112131415161718)

struct packet {
	char name[24];
	size_t len;
	_Alignas(8) uint8_t byte[LINE_MAX_BYTES];
};

/* ---- this version's packets ------------------------------------------------------------- */

/* The release is not part of a format: a fixed one is recorded. */
static const uint8_t release[8] = { 2, 6, 0, 0, 0, 0, 0, 0 };

static void put(FILE *f, const char *name, const uint8_t *buf, size_t len)
{
	size_t i;

	fprintf(f, "%s ", name);
	for (i = 0; i < len; i++)
		fprintf(f, "%02x", buf[i]);
	fprintf(f, "\n");
}

static void loopback(union net_sa *sa)
{
	memset(sa, 0, sizeof(*sa));
	sa->in.sin_family = AF_INET;
	sa->in.sin_port = htons(4242);
	sa->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void record_tcp(FILE *f)
{
	static const char *const names[] = { "hello", "welcome", "refuse", "check" };
	struct tcp_hello hello = { .kind = TCP_WIRE_RDM, .epoch = EPOCH, .serial = 7, .prev = 3,
				   .max_payload = TCP_PAYLOAD_MAX, .lanes = 2,
				   .features = TCP_WIRE_CAN_PARK };
	uint8_t buf[TCP_WIRE_HELLO_SIZE];
	unsigned i;

	loopback(&hello.addr);
	for (i = 0; i < 4; i++) {
		hello.type = TCP_WIRE_HELLO + i;
		hello.reason = hello.type == TCP_WIRE_REFUSE ? CHAN_BUSY : CHAN_OK;
		tcp_hello_pack(&hello, buf);
		memcpy(buf + offsetof(struct tcp_wire_hello, release), release, 7);
		put(f, names[i], buf, sizeof(buf));
	}
}

static void rxd_packet(FILE *f, const char *name, uint8_t *buf, size_t len)
{
	rxd_seal(buf, len, NULL, 0);
	put(f, name, buf, len);
}

/* What the handshakes of links say whose version a release has: the engine's version of that release. */
#define RELEASED_ENGINE 4
#define RXM_ENGINE_AT 3		/* the high byte of the version; behind it, how many older ones are spoken */

static void record_rxd(FILE *f)
{
	struct rxd_hello hello = { .cid = 5, .epoch = EPOCH, .serial = 9, .window = 65536,
				   .dgram_max = 1456, .engine = RELEASED_ENGINE,
				   .engine_oldest = WIRE_OLDEST, .oldest = RXD_OLDEST,
				   .kind = RXD_KIND_RDM, .addr_len = sizeof(struct sockaddr_in),
				   .release.number = { 2, 6, 0 } };
	struct rxd_ack ack = { .largest = 40, .limit = 70000, .delay_us = 12, .first = 3, .cnt = 1 };
	uint8_t buf[RXD_DGRAM_MIN];
	union net_sa sa;
	size_t len;

	loopback(&sa);
	memcpy(hello.addr, &sa, sizeof(sa.in));
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	rxd_packet(f, "hello", buf, rxd_put_hello(buf, len, &hello, NULL));
	hello.peer_cid = 6;
	hello.data_len = 4;
	len = rxd_put_hdr(buf, RXD_WELCOME, RXD_F_SUM, 6, 0);
	rxd_packet(f, "welcome", buf, rxd_put_hello(buf, len, &hello, "data"));
	len = rxd_put_hdr(buf, RXD_REFUSE, RXD_F_SUM, 6, 0);
	len = rxd_put_refuse(buf, len, CHAN_VERSION_BAD, NULL, 0);
	memcpy(buf + len - sizeof(release), release, sizeof(release));
	buf[sizeof(struct rxd_hdr) + offsetof(struct rxd_refuse, engine)] = RELEASED_ENGINE;
	rxd_packet(f, "refuse", buf, len);
	len = rxd_put_hdr(buf, RXD_RETRY, RXD_F_SUM, 6, 0);
	len = rxd_put_u64(buf, len, 77);
	rxd_packet(f, "retry", buf, rxd_put_u64(buf, len, 78));
	len = rxd_put_hdr(buf, RXD_RESET, RXD_F_SUM, 6, 0);
	rxd_packet(f, "reset", buf, rxd_put_u64(buf, len, 5));
	len = rxd_put_hdr(buf, RXD_DATA, RXD_F_PN | RXD_F_ACK | RXD_F_SUM, 6, 41);
	len = rxd_put_ack(buf, len, &ack);
	len = rxd_put_range(buf, len, 2, 5);
	len = rxd_put_u64(buf, len, 1000);
	memcpy(buf + len, "stream", 6);
	rxd_packet(f, "data", buf, len + 6);
}

/* What a sealed datagram has in it is as in record_rxd(); these are of the handshake, in the clear. */
static void record_sealed(FILE *f)
{
	struct rxd_shake shake = { .cid = htole64(5), .off = htole32(512), .ack = htole32(7) };
	uint8_t buf[RXD_DGRAM_MIN];
	size_t len = rxd_put_hdr(buf, (enum rxd_type) RXD_SHAKE, RXD_F_SUM, 6, 0);

	buf[0] = RXD_MARK | RXD_SEALED_VERSION;
	memcpy(buf + len, &shake, sizeof(shake));
	memcpy(buf + len + sizeof(shake), "bytes", 5);
	rxd_packet(f, "shake", buf, len + sizeof(shake) + 5);
	len = rxd_put_hdr(buf, RXD_RETRY, RXD_F_SUM, 6, 0);
	buf[0] = RXD_MARK | RXD_SEALED_VERSION;
	len = rxd_put_u64(buf, len, 77);
	rxd_packet(f, "retry", buf, rxd_put_u64(buf, len, 78));
}

/* The list is private data of HELLO and WELCOME. */
static void record_rails(FILE *f)
{
	struct siphash_key key = { { 0x1234, 0x5678 } };
	struct rxd_wire_rail rail = { .cid = 5, .nonce = 0x99, .from = 1, .to = 2 };
	uint8_t buf[RXD_DGRAM_MIN];
	union net_sa at[2];
	size_t len;

	memset(at, 0, sizeof(at));
	net_addr_parse("fi_sockaddr_in://10.0.1.2:4242", &at[0]);
	net_addr_parse("fi_sockaddr_in6://[2001:db8::1]:4243", &at[1]);
	put(f, "list", buf, rxd_list_put(&key, at, 2, buf));
	len = rxd_put_hdr(buf, (enum rxd_type) RXD_RAIL_ASK, RXD_F_SUM, 6, 0);
	rxd_packet(f, "ask", buf, rxd_rail_put(buf, len, &rail));
	rail.hash = 0x77;
	len = rxd_put_hdr(buf, (enum rxd_type) RXD_RAIL_ANSWER, RXD_F_SUM, 6, 0);
	rxd_packet(f, "answer", buf, rxd_rail_put(buf, len, &rail));
	rail.nonce = 0;
	len = rxd_put_hdr(buf, (enum rxd_type) RXD_RAIL_PROOF, RXD_F_SUM, 6, 0);
	rxd_packet(f, "proof", buf, rxd_rail_put(buf, len, &rail));
}

static void record_rxm(FILE *f)
{
	struct rxm_handshake hs = { .id = { EPOCH, 7, 3 }, .buf_size = 16384, .credits = 64,
				    .rndvs = 8, .addr_len = sizeof(struct sockaddr_in) };
	uint8_t buf[RXM_HANDSHAKE_MAX + 64];
	union net_sa sa;
	size_t len;

	loopback(&sa);
	memcpy(hs.addr, &sa, sizeof(sa.in));
	len = rxm_handshake_put(buf, &hs);
	buf[RXM_ENGINE_AT] = RELEASED_ENGINE;
	buf[RXM_ENGINE_AT + 1] = 0;
	put(f, "handshake", buf, len);
	len = rxm_refusal_put(buf, CHAN_VERSION_BAD);
	buf[RXM_ENGINE_AT] = RELEASED_ENGINE;
	buf[offsetof(struct rxm_wire_refusal, older)] = 0;
	memcpy(buf + offsetof(struct rxm_wire_refusal, release), release, 3);
	memset(buf + offsetof(struct rxm_wire_refusal, commit), 0, 4);
	put(f, "refusal", buf, len);
	rxm_put_head(buf, RXM_F_CTRL, 5);
	put(f, "message", buf, rxm_put_done(buf, sizeof(struct rxm_head), 99));
}

static void record_shm(FILE *f)
{
	struct shm_handshake shake = { .magic = SHM_MAGIC, .type = SHM_REFUSE, .reason = CHAN_BUSY,
				       .version = chan_version_ours(SHM_VERSION, SHM_OLDEST) };

	memset(&shake.version.release, 0, sizeof(shake.version.release));
	put(f, "refuse", (const uint8_t *) &shake, sizeof(shake));
}

static void record_engine(FILE *f)
{
	uint8_t buf[ENG_HDR_MAX];
	size_t len;

	len = wire_put_base(buf, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, 0, 0, 0);
	len = wire_put_word(buf, len, 0x1234);
	put(f, "eager", buf, wire_put_word(buf, len, 0x5678));
	len = wire_put_base(buf, WIRE_RTS, WIRE_F_TAG, 1, 17, 1 << 20);
	put(f, "rts", buf, wire_put_word(buf, len, 0x1234));
	len = wire_put_base(buf, WIRE_CTS, 0, 0, 17, 1 << 20);
	put(f, "cts", buf, wire_put_pair(buf, len, 18));
	put(f, "ack", buf, wire_put_base(buf, WIRE_ACK, WIRE_F_DELIVERED, 0, 17, 0));
	len = wire_put_base(buf, WIRE_NACK, 0, 0, 17, 0);
	put(f, "nack", buf, wire_put_pair(buf, len, 5));
	len = wire_put_base(buf, WIRE_READ, 0, 0, 19, 64);
	put(f, "read", buf, wire_put_rma(buf, len, 0x1000, 64, 0x99));
	put(f, "xoff", buf, wire_put_base(buf, WIRE_XOFF, 0, 0, 0, 0));
	len = wire_put_base(buf, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB, 0, 0);
	len = wire_put_word(buf, len, 0x1234);
	put(f, "ask", buf, wire_put_word(buf, len, WIRE_Q_ASK | 8));
}

static void record_frame(FILE *f, const char *name, const struct xnet_frame *frame, const uint8_t *packet)
{
	uint8_t buf[XNET_FRAME_MAX];
	size_t len = xnet_frame_put(frame, false, buf);

	if (packet)
		memcpy(buf + XNET_FRAME_MIN, packet, frame->packet);
	put(f, name, buf, len);
}

/* The kernel modules speak the compatible format of tcp, and packets of the engine in it. */
static void record_kofi(FILE *f)
{
	struct xnet_cm_msg msg = { .type = XNET_CM_REQUEST, .packets = true,
				  .version = { .engine = 4, .engine_oldest = 4 } };
	const struct wire_atomic amo = { .kind = WIRE_AMO_FETCH, .op = 2, .type = 7 };
	uint8_t buf[XNET_FRAME_MAX];
	size_t len;

	xnet_cm_put(&msg, buf);
	put(f, "request", buf, XNET_CM_SIZE);
	msg.type = XNET_CM_RESPONSE;
	xnet_cm_put(&msg, buf);
	put(f, "response", buf, XNET_CM_SIZE);
	record_frame(f, "message", &(struct xnet_frame) { .op = XNET_FRAME_MSG, .flags = XNET_FRAME_F_ACK }, NULL);
	record_frame(f, "ack", &(struct xnet_frame) { .op = XNET_FRAME_ACK }, NULL);
	record_frame(f, "tagged", &(struct xnet_frame) { .op = XNET_FRAME_TAGGED, .tag = 0x1234,
		     .flags = XNET_FRAME_F_DATA, .data = 0x5678 }, NULL);
	record_frame(f, "read", &(struct xnet_frame) { .op = XNET_FRAME_READ, .ranges = 1,
		     .range = { { 0x1000, 64, 0x99 } } }, NULL);
	record_frame(f, "readdata", &(struct xnet_frame) { .op = XNET_FRAME_READ_DATA, .ranges = 1, .len = 64 }, NULL);
	record_frame(f, "write", &(struct xnet_frame) { .op = XNET_FRAME_WRITE, .ranges = 1,
		     .range = { { 0x1000, 0, 0x99 } } }, NULL);
	len = wire_put_base(buf, WIRE_ATOMIC, 0, 0, 17, 8);
	memcpy(buf + len, &amo, sizeof(amo));
	len = wire_put_rma(buf, len + sizeof(amo), 0x1000, 1, 0x99);
	record_frame(f, "atomic", &(struct xnet_frame) { .op = XNET_FRAME_PACKET, .len = 8,
		     .packet = (uint8_t) len }, buf);
	len = wire_put_word(buf, wire_put_base(buf, WIRE_DATA, 0, 0, 17, 8), 0);
	record_frame(f, "old", &(struct xnet_frame) { .op = XNET_FRAME_PACKET, .len = 8,
		     .packet = (uint8_t) len }, buf);
}

/* ---- today's decoders --------------------------------------------------------------------- */

static bool read_tcp(const struct packet *p)
{
	struct tcp_hello hello;

	return tcp_hello_parse(p->byte, p->len, &hello) == TCP_HELLO_OK && hello.epoch == EPOCH &&
	       hello.serial == 7 && hello.prev == 3 && hello.lanes == 2 &&
	       net_addr_port(&hello.addr.sa) == 4242;
}

static bool read_sealed(const struct packet *p)
{
	struct rxd_pkt pkt;
	const char *why = rxd_parse_protected(p->byte, p->len, false, &pkt);

	if (why) {
		printf("%s: %s\n", p->name, why);
		return false;
	}
	if (!strcmp(p->name, "shake"))
		return pkt.cid == 5 && pkt.off == 512 && pkt.shake_ack == 7 && pkt.len == 5 &&
		       !memcmp(pkt.data, "bytes", 5);
	return pkt.cookie.mac == 77 && pkt.cookie.stamp == 78;
}

static bool read_list(const struct packet *p)
{
	union net_sa at[RXD_RAILS_LIST];
	struct siphash_key key;

	return rxd_list_take(p->byte, p->len, &key, at) == 2 && key.k[0] == 0x1234 && key.k[1] == 0x5678 &&
	       at[0].sa.sa_family == AF_INET && net_addr_port(&at[0].sa) == 4242 &&
	       at[1].sa.sa_family == AF_INET6 && net_addr_port(&at[1].sa) == 4243;
}

static bool read_rails(const struct packet *p)
{
	bool ask = !strcmp(p->name, "ask"), proof = !strcmp(p->name, "proof");
	struct rxd_wire_rail rail;
	struct rxd_pkt pkt;
	const char *why;

	if (!strcmp(p->name, "list"))
		return read_list(p);
	why = rxd_parse(p->byte, p->len, &pkt);
	if (why || rxd_rail_take(pkt.data, pkt.len, &rail)) {
		printf("%s: %s\n", p->name, why ? why : "not of rails");
		return false;
	}
	return rail.cid == 5 && rail.from == 1 && rail.to == 2 && rail.nonce == (proof ? 0 : 0x99) &&
	       rail.hash == (ask ? 0 : 0x77);
}

static bool read_rxd(const struct packet *p)
{
	struct rxd_pkt pkt;
	const char *why = rxd_parse(p->byte, p->len, &pkt);

	if (why) {
		printf("%s: %s\n", p->name, why);
		return false;
	}
	if (pkt.type == RXD_HELLO || pkt.type == RXD_WELCOME)
		return pkt.hello.cid == 5 && pkt.hello.epoch == EPOCH && pkt.hello.window == 65536;
	if (pkt.type == RXD_DATA)
		return pkt.pn == 41 && pkt.ack.largest == 40 && pkt.off == 1000 && pkt.len == 6;
	return pkt.conn == 6;
}

static bool read_rxm(const struct packet *p)
{
	struct rxm_handshake hs;
	struct chan_version version;
	struct rxm_head head;

	if (!strcmp(p->name, "handshake"))
		return rxm_handshake_parse(p->byte, p->len, &hs) == CHAN_OK &&
		       hs.id.epoch == EPOCH && hs.credits == 64 && hs.buf_size == 16384;
	if (!strcmp(p->name, "refusal"))
		return rxm_refusal_parse(p->byte, p->len, &version) == CHAN_VERSION_BAD &&
		       version.release.major == 2;
	return !rxm_parse(p->byte, p->len, &head) && head.credits == 5;
}

/* Those of other versions are refused: their numbers are read.  So are those of the other byte order. */
static bool read_shm(const struct packet *p)
{
	struct shm_handshake shake = { 0 };
	int ret;

	memcpy(&shake, p->byte, p->len < sizeof(shake) ? p->len : sizeof(shake));
	ret = shm_handshake_check(&shake, p->len);
	if (shake.magic == __builtin_bswap32(SHM_MAGIC))
		return ret == -FI_EPROTO;
	return shake.version.link == SHM_VERSION ? !ret : ret == -FI_ENOPROTOOPT;
}

static bool read_engine(const struct packet *p)
{
	struct wire_msg msg;
	const char *why = wire_parse(p->byte, p->len, 0, &msg);

	if (why)
		printf("%s: %s\n", p->name, why);
	return !why;
}

static bool read_kofi(const struct packet *p)
{
	struct xnet_frame frame;
	struct xnet_cm_msg msg;
	struct wire_msg packet;
	const char *why;

	if (!strcmp(p->name, "request") || !strcmp(p->name, "response"))
		return xnet_cm_get(p->byte, p->len, &msg) == XNET_CM_OK && msg.packets && !msg.marked &&
		       msg.version.engine == 4;
	if (xnet_frame_get(p->byte, p->len, false, &frame, &why) != p->len)
		return false;
	if (frame.op == XNET_FRAME_READ_DATA)
		return frame.len == 64;
	if (frame.op != XNET_FRAME_PACKET)
		return !frame.len && (!frame.ranges || frame.range[0].key == 0x99);
	return !wire_parse(p->byte + XNET_FRAME_MIN, frame.packet, frame.len, &packet) && packet.id == 17;
}

static const struct format {
	const char *name;
	unsigned version;
	void (*record)(FILE *f);
	bool (*read)(const struct packet *p);
} formats[] = {
	{ "tcp", TCP_WIRE_VERSION, record_tcp, read_tcp },
	{ "shm", SHM_VERSION, record_shm, read_shm },
	{ "rxd", RXD_VERSION, record_rxd, read_rxd },
	{ "rxds", RXD_SEALED_VERSION, record_sealed, read_sealed },
	{ "rxdr", RXD_RAILS_VERSION, record_rails, read_rails },
	{ "rxm", RXM_VERSION, record_rxm, read_rxm },
	{ "engine", WIRE_VERSION, record_engine, read_engine },
	{ "kofi", XNET_CM_VERSION, record_kofi, read_kofi },
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static int record(const char *dir)
{
	char path[512];
	size_t i;
	FILE *f;

	for (i = 0; i < FORMATS; i++) {
		snprintf(path, sizeof(path), "%s/%s-%u", dir, formats[i].name, formats[i].version);
		f = fopen(path, "w");
		if (!f) {
			perror(path);
			return 1;
		}
		formats[i].record(f);
		fclose(f);
	}
	return 0;
}

static bool take_line(char *line, struct packet *p)
{
	char *digits = strchr(line, ' ');
	unsigned byte;

	if (!digits)
		return false;
	snprintf(p->name, sizeof(p->name), "%.*s", (int) (digits - line), line);
	for (digits++, p->len = 0; sscanf(digits, "%2x", &byte) == 1; digits += 2)
		p->byte[p->len++] = (uint8_t) byte;
	return p->len > 0;
}

static unsigned replay_file(const char *path, const struct format *format)
{
	char line[2 * LINE_MAX_BYTES];
	struct packet p;
	unsigned bad = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return 1;
	while (fgets(line, sizeof(line), f)) {
		if (take_line(line, &p) && format->read(&p))
			continue;
		printf("%s: %s is not read as it was\n", path, p.name);
		bad++;
	}
	fclose(f);
	return bad;
}

static const struct format *format_of(const char *file)
{
	size_t i, len = strcspn(file, "-");

	for (i = 0; i < FORMATS; i++)
		if (strlen(formats[i].name) == len && !strncmp(formats[i].name, file, len))
			return &formats[i];
	return NULL;
}

/* replay - @least: files that there are, at least */
static int replay(const char *dir_name, unsigned least)
{
	const struct format *format;
	unsigned bad = 0, files = 0;
	struct dirent *entry;
	char path[1024];
	DIR *dir = opendir(dir_name);

	if (!dir) {
		perror(dir_name);
		return 1;
	}
	while ((entry = readdir(dir))) {
		format = format_of(entry->d_name);
		if (!format)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir_name, entry->d_name);
		bad += replay_file(path, format);
		files++;
	}
	closedir(dir);
	printf("%u files, %u packets that are not read as they were\n", files, bad);
	return bad || files < least;
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	char dir[512];

	if (argc == 3 && !strcmp(argv[1], "--record"))
		return record(argv[2]);
	snprintf(dir, sizeof(dir), "%s/tests/wire/recorded", top ? top : ".");
	return argc > 1 ? replay(argv[1], 1) : replay(dir, FORMATS);
}
