/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream_rdm_test.c - RDM endpoints in the compatible format: two of this library, which are told to
 * use it; and one against sockets that say what another implementation would, or anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/test/calls.h"
#include "rxm/compat/test/hex.h"
#include "tcp/compat/test/captured_rdm.h"

#define LONG (24 << 20)		/* more than sockets take, in more pieces than a link has at a time */
#define BIG (5 << 19)		/* two pieces and a half of a long message */
#define WAIT_MS 10000
#define CNT(array) (sizeof(array) / sizeof((array)[0]))

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;

struct side {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_mr *mr;
	struct sockaddr_in name;
	fi_addr_t peer;
	uint8_t buf[2 * BIG];
};

static struct side one, two;

/* ---- endpoints ---------------------------------------------------------------------- */

static void setup_all(void)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SOURCE | FI_DIRECTED_RECV;
	hints->ep_attr->type = FI_EP_RDM;
	/* by calls of this thread alone: that remote accesses are over is not seen by a race detector */
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup("tcp");
	CALL(fi_getinfo(FI_VERSION(1, 20), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_XNET);
	assert_int_equal(info->ep_attr->protocol_version, 1);
	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
}

static void close_all(void)
{
	CALL(fi_close(&domain->fid));
	CALL(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

static void open_side(struct side *s)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .size = 1024 };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	size_t len = sizeof(s->name);

	CALL(fi_cq_open(domain, &attr, &s->cq, NULL));
	CALL(fi_av_open(domain, &av, &s->av, NULL));
	CALL(fi_endpoint(domain, info, &s->ep, NULL));
	CALL(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(s->ep, &s->av->fid, 0));
	CALL(fi_enable(s->ep));
	CALL(fi_getname(&s->ep->fid, &s->name, &len));
	CALL(fi_mr_reg(domain, s->buf, sizeof(s->buf), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       s == &one ? 1 : 2, 0, &s->mr, NULL));
}

static void close_side(struct side *s)
{
	CALL(fi_close(&s->ep->fid));
	CALL(fi_close(&s->mr->fid));
	CALL(fi_close(&s->av->fid));
	CALL(fi_close(&s->cq->fid));
	memset(s, 0, sizeof(*s));
}

static void knows(struct side *s, const struct sockaddr_in *addr)
{
	CALL(!(fi_av_insert(s->av, addr, 1, &s->peer, 0, NULL) == 1));
}

static void open_pair(void)
{
	open_side(&one);
	open_side(&two);
	knows(&one, &two.name);
	knows(&two, &one.name);
}

static void close_pair(void)
{
	close_side(&one);
	close_side(&two);
}

static void poll_both(void)
{
	if (one.cq)
		fi_cq_read(one.cq, NULL, 0);
	if (two.cq)
		fi_cq_read(two.cq, NULL, 0);
}

/* The next completion, and who sent what it is for. */
static struct fi_cq_tagged_entry done_from(struct side *s, fi_addr_t *from)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_tagged_entry entry;
	struct side *other = s == &one ? &two : &one;
	ssize_t ret;

	do {
		ret = fi_cq_readfrom(s->cq, &entry, 1, from);
		if (ret == -FI_EAGAIN && other->cq)
			fi_cq_read(other->cq, NULL, 0);
	} while (ret == -FI_EAGAIN && now_ms() < until);
	CHECK(ret == 1);
	return entry;
}

static struct fi_cq_tagged_entry done(struct side *s)
{
	fi_addr_t from;

	return done_from(s, &from);
}

static struct fi_cq_err_entry failed(struct side *s)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	while ((ret = fi_cq_read(s->cq, &entry, 1)) == -FI_EAGAIN && now_ms() < until)
		poll_both();
	CHECK(ret == -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(s->cq, &err, 0), 1);
	return err;
}

/* What returns -FI_EAGAIN is called again. */
#define POST(call) do { \
	ssize_t ret_; \
	while ((ret_ = (call)) == -FI_EAGAIN) \
		poll_both(); \
	assert_int_equal(ret_, 0); \
} while (0)

static void fill(uint8_t *buf, size_t len, uint8_t seed)
{
	while (len--)
		*buf++ = seed = (uint8_t) (seed * 5 + 17);
}

/* ---- two endpoints ------------------------------------------------------------------ */

static void one_message(size_t len, bool late, bool tagged, uint64_t flags)
{
	struct iovec iov[2] = { { one.buf, len / 3 }, { one.buf + len / 3, len - len / 3 } };
	struct fi_msg_tagged msg = { .msg_iov = iov, .iov_count = 2, .addr = one.peer, .tag = 7, .data = 77 };
	struct fi_msg untagged = { .msg_iov = iov, .iov_count = 2, .addr = one.peer, .data = 77 };
	struct fi_cq_tagged_entry entry;
	fi_addr_t from;

	fill(one.buf, len, (uint8_t) len);
	memset(two.buf, 0, len);
	if (!late)
		CALL(tagged ? fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, 7, 0, NULL) :
			      fi_recv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, NULL));
	if (tagged)
		POST(fi_tsendmsg(one.ep, &msg, flags | FI_COMPLETION));
	else
		POST(fi_sendmsg(one.ep, &untagged, flags | FI_COMPLETION));
	if (late) {
		usleep(1000);
		poll_both();
		poll_both();
		CALL(tagged ? fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, 7, 0, NULL) :
			      fi_recv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, NULL));
	}
	entry = done_from(&two, &from);
	assert_int_equal(entry.len, len);
	assert_int_equal(from, two.peer);
	assert_int_equal(entry.tag, tagged ? 7 : 0);
	assert_int_equal(!!(entry.flags & FI_REMOTE_CQ_DATA), !!(flags & FI_REMOTE_CQ_DATA));
	if (flags & FI_REMOTE_CQ_DATA)
		assert_int_equal(entry.data, 77);
	assert_memory_equal(one.buf, two.buf, len);
	assert_true(done(&one).flags & FI_SEND);
}

static void messages(void **state)
{
	static const size_t lens[] = { 0, 1, 129, 4096, 65536, 65537, 1 << 20, BIG };
	size_t i;
	int kind;

	/* each is the first over a new connection once: it waits there in no format */
	for (i = 0; i < CNT(lens); i++) {
		open_pair();
		for (kind = 0; kind < 16; kind++)
			one_message(lens[i], kind & 1, kind & 2, (kind & 4 ? FI_DELIVERY_COMPLETE : 0) |
				    (kind & 8 ? FI_REMOTE_CQ_DATA : 0));
		close_pair();
	}
}

/* Many at once, in both directions, long ones among them: order is kept, and nothing is mixed up. */
static void many(void **state)
{
	static const size_t lens[] = { 8, 100000, 0, 3000, BIG, 16, 70000, 8 };
	struct side *side[] = { &one, &two };
	struct fi_cq_tagged_entry entry;
	unsigned got[2] = { 0 }, sent[2] = { 0 }, k;
	size_t i;

	open_pair();
	fill(one.buf, BIG, 3);
	fill(two.buf, BIG, 4);
	for (i = 0; i < CNT(lens); i++)
		for (k = 0; k < 2; k++)
			POST(fi_tsend(side[k]->ep, side[k]->buf, lens[i], NULL, side[k]->peer, i, NULL));
	for (i = 0; i < CNT(lens); i++)
		for (k = 0; k < 2; k++)
			CALL(fi_trecv(side[k]->ep, side[k]->buf + BIG, BIG, NULL, FI_ADDR_UNSPEC, 0,
				      ~UINT64_C(0), NULL));
	while (got[0] + got[1] + sent[0] + sent[1] < 4 * CNT(lens))
		for (k = 0; k < 2; k++) {
			if (got[k] + sent[k] == 2 * CNT(lens))
				continue;
			entry = done(side[k]);
			if (entry.flags & FI_SEND) {
				sent[k]++;
				continue;
			}
			assert_int_equal(entry.tag, got[k]);
			assert_int_equal(entry.len, lens[got[k]++]);
			assert_memory_equal(side[k]->buf + BIG, side[!k]->buf, entry.len);
		}
	close_pair();
}

static uint64_t base_of(const struct side *s)
{
	return info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) s->buf : 0;
}

/* Reads and writes of any length, in up to 8 ranges; with completion data in up to 4. */
static void remote_memory(void **state)
{
	static const size_t eachs[] = { 0, 1000, BIG / 40 };
	struct fi_rma_iov rma[8];
	struct iovec iov = { one.buf, 0 };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = rma, .data = 99 };
	struct fi_cq_tagged_entry entry;
	size_t cnt, e, i, len;

	open_pair();
	msg.addr = one.peer;
	for (e = 0; e < CNT(eachs); e++)
		for (cnt = 1; cnt <= 8; cnt++) {
			for (i = 0, len = 0; i < cnt; len += rma[i++].len)
				rma[i] = (struct fi_rma_iov) { base_of(&two) + i * BIG / 4,
							       eachs[e] * (i + 1), fi_mr_key(two.mr) };
			iov.iov_len = len;
			msg.rma_iov_count = cnt;
			fill(one.buf, len, (uint8_t) cnt);
			POST(fi_writemsg(one.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE |
					 (cnt <= 4 ? FI_REMOTE_CQ_DATA : 0)));
			assert_true(done(&one).flags & FI_WRITE);
			if (cnt <= 4) {
				entry = done(&two);
				assert_int_equal(entry.data, 99);
				assert_int_equal(entry.len, len);
			}
			for (i = 0, len = 0; i < cnt; len += rma[i++].len)
				assert_memory_equal(one.buf + len, two.buf + i * BIG / 4, rma[i].len);
			memset(one.buf, 0, len);
			POST(fi_readmsg(one.ep, &msg, FI_COMPLETION));
			assert_true(done(&one).flags & FI_READ);
			for (i = 0, len = 0; i < cnt; len += rma[i++].len)
				assert_memory_equal(one.buf + len, two.buf + i * BIG / 4, rma[i].len);
		}
	close_pair();
}

/* A write that the engine cuts is one frame if the peer reports it, and one report. */
static void long_writes(void **state)
{
	struct fi_cq_tagged_entry entry;
	int data;

	open_pair();
	for (data = 0; data < 2; data++) {
		fill(one.buf, BIG, (uint8_t) data);
		memset(two.buf, 0, BIG);
		POST(data ? fi_writedata(one.ep, one.buf, BIG, NULL, 5, one.peer, base_of(&two), 2, NULL) :
			    fi_write(one.ep, one.buf, BIG, NULL, one.peer, base_of(&two), 2, NULL));
		assert_true(done(&one).flags & FI_WRITE);
		if (data) {
			entry = done(&two);
			assert_int_equal(entry.len, BIG);
			assert_int_equal(entry.data, 5);
		}
		POST(fi_read(one.ep, one.buf + BIG, BIG, NULL, one.peer, base_of(&two), 2, NULL));
		assert_true(done(&one).flags & FI_READ);
		assert_memory_equal(one.buf, two.buf, BIG);
		assert_memory_equal(one.buf, one.buf + BIG, BIG);
	}
	/* two reads at once: their answers come in order, in pieces that are not mixed */
	POST(fi_read(one.ep, one.buf + BIG, BIG, NULL, one.peer, base_of(&two), 2, &one));
	POST(fi_read(one.ep, one.buf, BIG / 2, NULL, one.peer, base_of(&two), 2, &two));
	assert_ptr_equal(done(&one).op_context, &one);
	assert_ptr_equal(done(&one).op_context, &two);
	assert_memory_equal(one.buf + BIG, two.buf, BIG);
	assert_memory_equal(one.buf, two.buf, BIG / 2);
	close_pair();
}

/* What the protocol does not have is an error of the operation; the connection stays. */
static void refused(void **state)
{
	struct iovec iov = { one.buf, 8 };
	struct fi_rma_iov rma[5] = { { 0 } };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_msg_rma write = { .msg_iov = &iov, .iov_count = 1, .rma_iov = rma, .rma_iov_count = 5 };
	uint64_t operand = 1;
	size_t i;

	open_pair();
	msg.addr = write.addr = one.peer;
	for (i = 0; i < 5; i++)		/* nothing that could be merged */
		rma[i] = (struct fi_rma_iov) { base_of(&two) + 100 * i, i < 3 ? 2 : 1, 2 };
	for (i = 0; i < 2; i++) {	/* before and after there is a connection */
		POST(fi_tsendmsg(one.ep, &msg, FI_MATCH_COMPLETE));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		POST(fi_writemsg(one.ep, &write, FI_REMOTE_CQ_DATA));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		POST(fi_atomic(one.ep, &operand, 1, NULL, one.peer, 0, 2, FI_UINT64, FI_SUM, NULL));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		POST(fi_fetch_atomic(one.ep, &operand, 1, NULL, one.buf, NULL, one.peer, 0, 2, FI_UINT64,
				     FI_SUM, NULL));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		one_message(100, false, true, FI_DELIVERY_COMPLETE);
	}
	close_pair();
}

static void itself(void **state)
{
	size_t len;

	open_side(&one);
	knows(&one, &one.name);
	for (len = 8; len <= 200000; len += 199992) {
		fill(one.buf, len, 1);
		CALL(fi_trecv(one.ep, one.buf + BIG, BIG, NULL, one.peer, 1, 0, NULL));
		POST(fi_tsend(one.ep, one.buf, len, NULL, one.peer, 1, NULL));
		done(&one);
		done(&one);
		assert_memory_equal(one.buf, one.buf + BIG, len);
	}
	close_side(&one);
}

/* Both connect at once: one connection stands, and every message arrives. */
static void simultaneous(void **state)
{
	int round, i, got;

	for (round = 0; round < 20; round++) {
		open_pair();
		for (i = 0; i < 2; i++) {
			CALL(fi_recv(one.ep, one.buf, 8, NULL, FI_ADDR_UNSPEC, NULL));
			CALL(fi_recv(two.ep, two.buf, 8, NULL, FI_ADDR_UNSPEC, NULL));
		}
		for (i = 0; i < 2; i++) {
			POST(fi_inject(one.ep, one.buf, 8, one.peer));
			POST(fi_inject(two.ep, two.buf, 8, two.peer));
		}
		for (got = 0; got < 2; got++) {
			assert_true(done(&one).flags & FI_RECV);
			assert_true(done(&two).flags & FI_RECV);
		}
		close_pair();
	}
}

/* An access that is refused ends the connection; the next operation makes another. */
static void wrong_key(void **state)
{
	open_pair();
	POST(fi_read(one.ep, one.buf, 8, NULL, one.peer, 0, 12345, NULL));
	assert_int_not_equal(failed(&one).err, 0);
	one_message(100, false, true, FI_DELIVERY_COMPLETE);
	close_pair();
}

/* ---- sockets as the other side --------------------------------------------------------- */

#define HEAD "0000 0000000000000000 0000000000000000 0100000000000000"

static int listener = -1;	/* of the other side's endpoint */
static struct sockaddr_in other;
static char port_hex[5];

static void say_bytes(int fd, const void *buf, size_t len)
{
	size_t sent = 0;
	ssize_t ret;

	while (sent < len) {
		ret = send(fd, (const char *) buf + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret > 0)
			sent += (size_t) ret;
		poll_both();
	}
}

static void say(int fd, const char *hex)
{
	uint8_t buf[1024];

	say_bytes(fd, buf, hex_bytes(hex, buf));
}

static size_t read_bytes(int fd, uint8_t *got, size_t len)
{
	uint64_t until = now_ms() + WAIT_MS;
	size_t have = 0;
	ssize_t ret = 1;

	while (have < len && ret && now_ms() < until) {
		ret = recv(fd, got + have, len - have, MSG_DONTWAIT);
		if (ret > 0)
			have += (size_t) ret;
		poll_both();
	}
	return have;
}

static void hear(int fd, const char *hex)
{
	uint8_t want[1024], got[1024];
	size_t len = hex_bytes(hex, want);

	assert_int_equal(read_bytes(fd, got, len), len);
	assert_memory_equal(got, want, len);
}

/* hear_end - the connection is closed: nothing comes but that. */
static void hear_end(int fd)
{
	uint64_t until = now_ms() + WAIT_MS;
	uint8_t byte;
	ssize_t ret;

	while ((ret = recv(fd, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN && now_ms() < until)
		poll_both();
	CHECK(ret == 0 || (ret < 0 && errno == ECONNRESET));
	close(fd);
}

static void listen_at(in_addr_t ip)
{
	socklen_t len = sizeof(other);

	other = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(ip) };
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (struct sockaddr *) &other, len), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *) &other, &len), 0);
	snprintf(port_hex, sizeof(port_hex), "%04x", ntohs(other.sin_port));
}

static void open_foreign(in_addr_t ip)
{
	listen_at(ip);
	open_side(&two);
	knows(&two, &other);
}

static void close_foreign(void)
{
	close(listener);
	close_side(&two);
}

/* A request of the other side.  @version and @process: two and eight digits */
static int request(const char *version, const char *process)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in from = other;
	char hex[200];

	from.sin_port = 0;
	assert_int_equal(bind(fd, (struct sockaddr *) &from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *) &two.name, sizeof(two.name)), 0);
	snprintf(hex, sizeof(hex), "03000008 0000" HEAD "%s00 %s %s", version, port_hex, process);
	say(fd, hex);
	return fd;
}

/* What the answer is: @version, the port repeated, a process that is not 0. */
static void hear_accept(int fd, const char *version)
{
	uint8_t got[40];
	char hex[200];
	static const uint8_t zero[4];

	snprintf(hex, sizeof(hex), "03010008 0000" HEAD "%s00 %s", version, port_hex);
	hear(fd, hex);
	assert_int_equal(read_bytes(fd, got, 4), 4);
	assert_memory_not_equal(got, zero, 4);
}

static int foreign_connect(const char *version)
{
	int fd = request(version, "00001092");

	hear_accept(fd, strcmp(version, "00") ? "81" : "00");
	return fd;
}

/* accepted - our request, which is answered by the caller. */
static int accepted(void)
{
	uint64_t until = now_ms() + WAIT_MS;
	uint8_t got[40 + 80], want[36];
	socklen_t len = sizeof(struct sockaddr_in);
	struct sockaddr_in from;
	bool marked;
	int fd;

	do {
		poll_both();
		fd = accept4(listener, (struct sockaddr *) &from, &len, SOCK_NONBLOCK);
	} while (fd < 0 && now_ms() < until);
	assert_true(fd >= 0);
	assert_int_equal(from.sin_addr.s_addr, two.name.sin_addr.s_addr);
	assert_int_equal(read_bytes(fd, got, 40), 40);
	marked = got[3] == 88;
	hex_bytes("03000008 0000" HEAD "0100", want);
	if (marked) {
		want[3] = 88;
		assert_int_equal(read_bytes(fd, got + 40, 80), 80);
		assert_memory_equal(got + 40, "\xfa" "bric", 5);
	}
	memcpy(want + 34, &two.name.sin_port, 2);
	assert_memory_equal(got, want, 36);
	return fd;
}

static void answer(int fd, const char *version)
{
	char hex[200];

	snprintf(hex, sizeof(hex), "03010008 0000" HEAD "%s00 %04x 0000141f", version,
		 ntohs(two.name.sin_port));
	say(fd, hex);
}

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
	hear(fd, "fa627269 63000d0a");
	close(fd);
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

/* ---- harm ------------------------------------------------------------------------------ */

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

/* ---- two of this library that have not been told anything ------------------------------------- */

static int run(const char *wire, const struct CMUnitTest *tests, size_t cnt)
{
	pid_t pid = fork();
	int status;

	if (pid) {
		CHECK(waitpid(pid, &status, 0) == pid);
		return !WIFEXITED(status) || WEXITSTATUS(status);
	}
	setenv("FI_TCP_WIRE", wire, 1);
	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_TCP_CONN_RETRY", "50", 1);
	setup_all();
	status = _cmocka_run_group_tests(wire, tests, cnt, NULL, NULL);
	if (!status)
		close_all();
	exit(status != 0);
}

int main(void)
{
	static const struct CMUnitTest compatible[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(many),
		cmocka_unit_test(remote_memory),
		cmocka_unit_test(long_writes),
		cmocka_unit_test(refused),
		cmocka_unit_test(itself),
		cmocka_unit_test(simultaneous),
		cmocka_unit_test(wrong_key),
	};
	static const struct CMUnitTest foreign[] = {
		cmocka_unit_test(conversation),
		cmocka_unit_test(unexpected),
		cmocka_unit_test(announcements),
		cmocka_unit_test(we_connect),
		cmocka_unit_test(long_answers),
		cmocka_unit_test(crossing),
		cmocka_unit_test(stranger),
		cmocka_unit_test(other_requests),
		cmocka_unit_test(unlike_hosts),
		cmocka_unit_test(captured),
		cmocka_unit_test(hostile),
		cmocka_unit_test(killed),
		cmocka_unit_test(noise),
	};
	static const struct CMUnitTest native[] = { cmocka_unit_test(native_only) };
	int ret;

	ret = run("compatible", compatible, CNT(compatible));
	ret |= run("auto", foreign, CNT(foreign));
	ret |= run("native", native, CNT(native));
	return ret;
}
