/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream_test.c - MSG endpoints in the compatible format: two of this library, which are told to
 * use it, and one against a socket that says what another implementation would, or anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/opt.h"
#include "obj/test/calls.h"
#include "foreign/test/hex.h"

#define BIG 300000
#define RANGES 8
#define WAIT_MS 10000

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_pep *pep;
static struct sockaddr_in listener;

struct side {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_mr *mr;
	uint8_t buf[BIG];
};

static struct side one, two;

/* ---- endpoints ---------------------------------------------------------------------- */

static void setup_all(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *hints = fi_allocinfo();
	size_t len = sizeof(listener);

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->prov_name = strdup("tcp");
	CALL(fi_getinfo(FI_VERSION(1, 20), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
	CALL(fi_eq_open(fabric, &eq_attr, &eq, NULL));
	CALL(fi_passive_ep(fabric, info, &pep, NULL));
	CALL(fi_pep_bind(pep, &eq->fid, 0));
	CALL(fi_listen(pep));
	CALL(fi_getname(&pep->fid, &listener, &len));
}

static void close_all(void)
{
	CALL(fi_close(&pep->fid));
	CALL(fi_close(&eq->fid));
	CALL(fi_close(&domain->fid));
	CALL(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

static void open_side(struct side *s, struct fi_info *from)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .size = 1024 };

	CALL(fi_cq_open(domain, &attr, &s->cq, NULL));
	CALL(fi_endpoint(domain, from, &s->ep, NULL));
	CALL(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(s->ep, &eq->fid, 0));
	CALL(fi_enable(s->ep));
	CALL(fi_mr_reg(domain, s->buf, sizeof(s->buf), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       s == &one ? 1 : 2, 0, &s->mr, NULL));
}

static void close_side(struct side *s)
{
	CALL(fi_close(&s->ep->fid));
	CALL(fi_close(&s->mr->fid));
	CALL(fi_close(&s->cq->fid));
	memset(s, 0, sizeof(*s));
}

/* An event of @type, of @ep if that is not NULL.  Returns the bytes of private data at @data. */
static size_t event(uint32_t type, struct fid_ep *ep, struct fi_info **info_p, void *data)
{
	union {
		struct fi_eq_cm_entry entry;
		uint8_t bytes[sizeof(struct fi_eq_cm_entry) + 512];
	} got;
	uint32_t event;
	ssize_t ret = fi_eq_sread(eq, &event, &got, sizeof(got), WAIT_MS, 0);

	CHECK(ret >= (ssize_t) sizeof(got.entry));
	CHECK(event == type);
	CHECK(!ep || got.entry.fid == &ep->fid);
	if (info_p)
		*info_p = got.entry.info;
	else
		fi_freeinfo(got.entry.info);
	if (data)
		memcpy(data, got.bytes + sizeof(got.entry), (size_t) ret - sizeof(got.entry));
	return (size_t) ret - sizeof(got.entry);
}

static struct fi_cq_tagged_entry done(struct side *s)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_tagged_entry entry;
	struct side *other = s == &one ? &two : &one;
	ssize_t ret;

	do {
		ret = fi_cq_read(s->cq, &entry, 1);
		if (ret == -FI_EAGAIN && other->cq)
			fi_cq_read(other->cq, NULL, 0);
	} while (ret == -FI_EAGAIN && now_ms() < until);
	CHECK(ret == 1);
	return entry;
}

static struct fi_cq_err_entry failed(struct side *s)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	struct side *other = s == &one ? &two : &one;

	while (fi_cq_read(s->cq, &entry, 1) != -FI_EAVAIL && now_ms() < until)
		fi_cq_read(other->cq, NULL, 0);
	assert_int_equal(fi_cq_readerr(s->cq, &err, 0), 1);
	return err;
}

static void connect_pair(void)
{
	uint8_t data[256], got[256];
	struct fi_info *req;
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t) i;
	open_side(&one, info);
	CALL(fi_connect(one.ep, &listener, data, sizeof(data)));
	assert_int_equal(event(FI_CONNREQ, NULL, &req, got), sizeof(got));
	assert_memory_equal(got, data, sizeof(got));
	open_side(&two, req);
	fi_freeinfo(req);
	CALL(fi_accept(two.ep, data, 7));
	/* both sides, in any order */
	for (i = 0; i < 2; i++) {
		struct fi_eq_cm_entry entry[20];
		uint32_t type;
		ssize_t ret = fi_eq_sread(eq, &type, entry, sizeof(entry), WAIT_MS, 0);

		CHECK(type == FI_CONNECTED);
		if (entry->fid == &one.ep->fid)
			assert_int_equal((size_t) ret - sizeof(entry[0]), 7);
	}
}

static void close_pair(void)
{
	CALL(fi_shutdown(one.ep, 0));
	event(FI_SHUTDOWN, NULL, NULL, NULL);
	event(FI_SHUTDOWN, NULL, NULL, NULL);
	close_side(&one);
	close_side(&two);
}

static void fill(uint8_t *buf, size_t len, uint8_t seed)
{
	while (len--)
		*buf++ = seed = (uint8_t) (seed * 5 + 17);
}

/* ---- operations ------------------------------------------------------------------------ */

/* Every length, received before and after it arrives, with and without acknowledgement and data. */
static void messages(void **state)
{
	static const size_t lens[] = { 0, 1, 128, 129, 4096, 65536, 65537, BIG };
	struct fi_cq_tagged_entry entry;
	size_t i, len;
	int late, kind;

	connect_pair();
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		for (late = 0; late < 2; late++)
			for (kind = 0; kind < 4; kind++) {
				struct iovec iov = { one.buf, lens[i] };
				struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .data = 77 };
				uint64_t flags = FI_COMPLETION;

				len = lens[i];
				fill(one.buf, len, (uint8_t) (i + 1));
				memset(two.buf, 0, len);
				flags |= kind & 1 ? FI_DELIVERY_COMPLETE : 0;
				flags |= kind & 2 ? FI_REMOTE_CQ_DATA : 0;
				if (!late)
					CALL(fi_recv(two.ep, two.buf, BIG, NULL, 0, NULL));
				CALL(fi_sendmsg(one.ep, &msg, flags));
				if (late) {
					fi_cq_read(two.cq, NULL, 0);
					usleep(1000);
					fi_cq_read(two.cq, NULL, 0);
					CALL(fi_recv(two.ep, two.buf, BIG, NULL, 0, NULL));
				}
				entry = done(&two);
				assert_int_equal(entry.len, len);
				assert_int_equal(!!(entry.flags & FI_REMOTE_CQ_DATA), !!(kind & 2));
				if (kind & 2)
					assert_int_equal(entry.data, 77);
				assert_memory_equal(one.buf, two.buf, len);
				assert_true(done(&one).flags & FI_SEND);
			}
	close_pair();
}

/* What is behind a message that is longer than its receive is not lost. */
static void truncated(void **state)
{
	struct fi_cq_err_entry err;
	size_t len;

	connect_pair();
	for (len = 3000; len <= BIG; len += BIG - 3000) {
		fill(one.buf, len, 9);
		CALL(fi_recv(two.ep, two.buf, 1000, NULL, 0, NULL));
		CALL(fi_recv(two.ep, two.buf + 1000, 100, NULL, 0, NULL));
		CALL(fi_send(one.ep, one.buf, len, NULL, 0, NULL));
		CALL(fi_send(one.ep, one.buf, 100, NULL, 0, NULL));
		done(&one);
		done(&one);
		err = failed(&two);
		assert_int_equal(err.err, FI_ETRUNC);
		assert_int_equal(err.olen, len - 1000);
		assert_int_equal(done(&two).len, 100);
		assert_memory_equal(two.buf, one.buf, 1000);
		assert_memory_equal(two.buf + 1000, one.buf, 100);
	}
	close_pair();
}

static void spread(struct fi_rma_iov *ranges, size_t cnt, size_t each)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		ranges[i] = (struct fi_rma_iov) {
			.addr = (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
				 (uintptr_t) two.buf : 0) + i * 30000,
			.len = each * (i + 1), .key = fi_mr_key(two.mr),
		};
}

/* A frame has four ranges: the second half of an operation with more is in a second one. */
static void ranges(void **state)
{
	struct fi_rma_iov rma[RANGES];
	struct iovec iov[2];
	struct fi_msg_rma msg = { .msg_iov = iov, .iov_count = 2, .rma_iov = rma };
	size_t cnt, each, i, off, len;

	connect_pair();
	for (each = 0; each <= 2000; each += 1000)
		for (cnt = 1; cnt <= RANGES; cnt++) {
			spread(rma, cnt, each);
			len = each * cnt * (cnt + 1) / 2;
			iov[0] = (struct iovec) { one.buf, len / 3 };
			iov[1] = (struct iovec) { one.buf + len / 3, len - len / 3 };
			msg.rma_iov_count = cnt;
			fill(one.buf, len, (uint8_t) cnt);
			CALL(fi_writemsg(one.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
			assert_true(done(&one).flags & FI_WRITE);
			for (i = 0, off = 0; i < cnt; off += rma[i++].len)
				assert_memory_equal(one.buf + off, two.buf + i * 30000, rma[i].len);
			memset(one.buf, 0, len);
			CALL(fi_readmsg(one.ep, &msg, FI_COMPLETION));
			assert_true(done(&one).flags & FI_READ);
			for (i = 0, off = 0; i < cnt; off += rma[i++].len)
				assert_memory_equal(one.buf + off, two.buf + i * 30000, rma[i].len);
		}
	close_pair();
}

/* Answers have no numbers: an acknowledgement that is ready early waits for those before it. */
static void order(void **state)
{
	uint64_t base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) two.buf : 0;
	struct iovec iov = { one.buf, 8 };
	struct fi_rma_iov rma = { .addr = base, .len = 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &iov };
	struct fi_msg_rma write = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &rma,
				    .rma_iov_count = 1, .context = &rma };
	uint64_t until;

	connect_pair();
	rma.key = fi_mr_key(two.mr);
	memset(one.buf, 5, 8);
	CALL(fi_sendmsg(one.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	CALL(fi_writemsg(one.ep, &write, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	for (until = now_ms() + 50; now_ms() < until; fi_cq_read(two.cq, NULL, 0))
		assert_int_equal(fi_cq_read(one.cq, NULL, 0), -FI_EAGAIN);
	assert_int_equal(two.buf[7], 5);	/* written, but the message is not received */
	CALL(fi_recv(two.ep, two.buf + 100, 8, NULL, 0, NULL));
	assert_ptr_equal(done(&one).op_context, &iov);
	assert_ptr_equal(done(&one).op_context, &rma);
	close_pair();
}

/* What the protocol does not have is an error of the operation; the connection stays. */
static void refused(void **state)
{
	struct iovec iov = { one.buf, 8 };
	struct fi_rma_iov rma[5] = { { 0 } };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_msg_rma write = { .msg_iov = &iov, .iov_count = 1, .rma_iov = rma, .rma_iov_count = 5 };
	uint64_t operand = 1;

	connect_pair();
	rma[0].len = 8;
	assert_int_equal(fi_tsend(one.ep, one.buf, 8, NULL, 0, 1, NULL), -FI_EOPNOTSUPP);
	assert_int_equal(fi_tinject(one.ep, one.buf, 8, 0, 1), -FI_EOPNOTSUPP);
	assert_int_equal(fi_sendmsg(one.ep, &msg, FI_MATCH_COMPLETE), -FI_EOPNOTSUPP);
	assert_int_equal(fi_writemsg(one.ep, &write, FI_REMOTE_CQ_DATA), -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(one.ep, &operand, 1, NULL, 0, 0, 2, FI_UINT64, FI_SUM, NULL),
			 -FI_EOPNOTSUPP);
	CALL(fi_recv(two.ep, two.buf, 8, NULL, 0, NULL));
	CALL(fi_send(one.ep, one.buf, 8, NULL, 0, NULL));
	done(&one);
	assert_int_equal(done(&two).len, 8);
	close_pair();
}

/* A wrong key: the protocol has no answer but the end of the connection. */
static void wrong_key(void **state)
{
	connect_pair();
	CALL(fi_read(one.ep, one.buf, 8, NULL, 0, 0, 12345, NULL));
	assert_int_not_equal(failed(&one).err, 0);
	event(FI_SHUTDOWN, NULL, NULL, NULL);
	event(FI_SHUTDOWN, NULL, NULL, NULL);
	close_side(&one);
	close_side(&two);
}

static void rejected(void **state)
{
	struct {
		struct fi_eq_err_entry entry;
	} err = { { 0 } };
	struct fi_eq_cm_entry entry;
	uint8_t why[256];
	struct fi_info *req;
	uint32_t type;

	open_side(&one, info);
	CALL(fi_connect(one.ep, &listener, "x", 1));
	assert_int_equal(event(FI_CONNREQ, NULL, &req, why), 1);
	CALL(fi_reject(pep, req->handle, "no", 2));
	fi_freeinfo(req);
	assert_int_equal(fi_eq_sread(eq, &type, &entry, sizeof(entry), WAIT_MS, 0), -FI_EAVAIL);
	err.entry.err_data = why;
	err.entry.err_data_size = sizeof(why);
	assert_true(fi_eq_readerr(eq, &err.entry, 0) > 0);
	assert_int_equal(err.entry.err, FI_ECONNREFUSED);
	assert_int_equal(err.entry.err_data_size, 2);
	assert_memory_equal(why, "no", 2);
	close_side(&one);
}

/* More private data than the protocol has: a request is native then, and an answer is refused. */
static void long_data(void **state)
{
	uint8_t data[512] = { 0 }, got[512];
	struct fi_eq_cm_entry entry;
	struct fi_eq_err_entry err = { 0 };
	struct fi_info *req;
	uint32_t type;

	memset(data, 3, sizeof(data));
	open_side(&one, info);
	CALL(fi_connect(one.ep, &listener, data, sizeof(data)));
	assert_int_equal(event(FI_CONNREQ, NULL, &req, got), sizeof(got));
	assert_memory_equal(got, data, sizeof(got));
	CALL(fi_reject(pep, req->handle, NULL, 0));
	fi_freeinfo(req);
	assert_int_equal(fi_eq_sread(eq, &type, &entry, sizeof(entry), WAIT_MS, 0), -FI_EAVAIL);
	assert_true(fi_eq_readerr(eq, &err, 0) > 0);
	close_side(&one);

	open_side(&one, info);
	CALL(fi_connect(one.ep, &listener, NULL, 0));
	event(FI_CONNREQ, NULL, &req, NULL);
	open_side(&two, req);
	fi_freeinfo(req);
	assert_int_equal(fi_accept(two.ep, data, 257), -FI_EINVAL);
	assert_int_equal(fi_eq_sread(eq, &type, &entry, sizeof(entry), WAIT_MS, 0), -FI_EAVAIL);
	assert_true(fi_eq_readerr(eq, &err, 0) > 0);
	close_side(&two);
	close_side(&one);
}

/* ---- a socket as the other side ------------------------------------------------------- */

#define REQUEST "03000000 00000000 0000000000000000 0000000000000000 0100000000000000"

static void say(int fd, const char *hex)
{
	uint8_t buf[512] = { 0 };
	size_t len = hex_bytes(hex, buf);

	assert_int_equal(send(fd, buf, len, MSG_NOSIGNAL), len);
}

static void hear(int fd, const char *hex)
{
	uint8_t want[512], got[512];
	size_t len = hex_bytes(hex, want), have = 0;
	uint64_t until = now_ms() + WAIT_MS;

	while (have < len && now_ms() < until) {
		ssize_t ret = recv(fd, got + have, len - have, MSG_DONTWAIT);

		if (ret > 0)
			have += (size_t) ret;
		fi_cq_read(two.cq, NULL, 0);
	}
	assert_int_equal(have, len);
	assert_memory_equal(got, want, len);
}

static int foreign_connect(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct fi_info *req;

	assert_int_equal(connect(fd, (struct sockaddr *) &listener, sizeof(listener)), 0);
	say(fd, REQUEST);
	event(FI_CONNREQ, NULL, &req, NULL);
	req->ep_attr->protocol = info->ep_attr->protocol;
	open_side(&two, req);
	fi_freeinfo(req);
	CALL(fi_accept(two.ep, "pong", 4));
	event(FI_CONNECTED, two.ep, NULL, NULL);
	hear(fd, "03010004 00000000 0000000000000000 0000000000000000 0100000000000000 706f6e67");
	return fd;
}

/* The conversation of tcp.md's examples, byte by byte; byte 7 counts our frames. */
static void conversation(void **state)
{
	struct fi_cq_tagged_entry entry;
	int fd = foreign_connect();

	CALL(fi_recv(two.ep, two.buf, 100, NULL, 0, NULL));
	say(fd, "0300050000001000");	/* in pieces, with data and an acknowledgement */
	fi_cq_read(two.cq, NULL, 0);
	say(fd, "1c000000");
	CALL(fi_recv(two.ep, two.buf + 100, 100, NULL, 0, NULL));
	fi_cq_read(two.cq, NULL, 0);
	close(fd);
	event(FI_SHUTDOWN, two.ep, NULL, NULL);
	close_side(&two);

	fd = foreign_connect();
	CALL(fi_recv(two.ep, two.buf, 100, NULL, 0, NULL));
	say(fd, "0300050000001800 1c00000000000000");
	fi_cq_read(two.cq, NULL, 0);
	say(fd, "8877665544332211 6162");
	fi_cq_read(two.cq, NULL, 0);
	say(fd, "6364");
	entry = done(&two);
	assert_int_equal(entry.len, 4);
	assert_true(entry.data == 0x1122334455667788);
	assert_memory_equal(two.buf, "abcd", 4);
	hear(fd, "0300000002001000 1000000000000000");
	CALL(fi_inject(two.ep, "abcd", 4, 0));
	hear(fd, "0300000000001001 1400000000000000 61626364");
	CALL(fi_senddata(two.ep, "abcd", 4, NULL, 0x1122334455667788, 0, NULL));
	hear(fd, "0300010000001802 1c00000000000000 8877665544332211 61626364");
	done(&two);
	/* a read of two ranges is one response, which repeats their number */
	memcpy(two.buf, "abcdefgh", 8);
	assert_false(info->domain_attr->mr_mode & FI_MR_VIRT_ADDR);
	assert_int_equal(fi_mr_key(two.mr), 2);
	say(fd, "0302000000024000 4000000000000000"
		"0000000000000000 0200000000000000 0200000000000000"
		"0400000000000000 0300000000000000 0200000000000000");
	hear(fd, "0303000000021003 1500000000000000 6162656667");
	close(fd);
	event(FI_SHUTDOWN, two.ep, NULL, NULL);
	close_side(&two);
}

/* What other implementations of ofi_rxm send without its header: with struct net_tagged in front, whole
 * or in pieces, announced (the second is longer than FI_TCP_MAX_RX_SIZE), matched late.
 */
static void tags_for_rxm(void **state)
{
	static uint8_t frame[24 + 100000];
	struct net_tagged front;
	int fd, late;

	info->ep_attr->protocol = NET_PROTO_TCP_TAGS;
	for (late = 0; late < 2; late++) {
		fd = foreign_connect();
		if (!late)
			CALL(fi_recv(two.ep, two.buf, 100, NULL, 0, NULL));
		say(fd, "0300810000002000 2400000000000000 8877665544332211 bbaa00");
		fi_cq_read(two.cq, NULL, 0);
		say(fd, "0000000000 6162");
		fi_cq_read(two.cq, NULL, 0);
		say(fd, "6364");
		if (late) {
			usleep(1000);
			fi_cq_read(two.cq, NULL, 0);
			CALL(fi_recv(two.ep, two.buf, 100, NULL, 0, NULL));
		}
		assert_int_equal(done(&two).len, sizeof(front) + 4);
		memcpy(&front, two.buf, sizeof(front));
		assert_true(!front.zero && front.has_data == 1 && front.data == 0x1122334455667788 &&
			    front.tag == 0xaabb);
		assert_memory_equal(two.buf + sizeof(front), "abcd", 4);

		fill(frame, sizeof(frame), 9);
		hex_bytes("0300800000001800 b886010000000000 cc00000000000000", frame);
		if (!late)
			CALL(fi_recv(two.ep, two.buf, BIG, NULL, 0, NULL));
		assert_int_equal(send(fd, frame, sizeof(frame), MSG_NOSIGNAL), sizeof(frame));
		if (late) {
			fi_cq_read(two.cq, NULL, 0);
			fi_cq_read(two.cq, NULL, 0);
			CALL(fi_recv(two.ep, two.buf, BIG, NULL, 0, NULL));
		}
		assert_int_equal(done(&two).len, sizeof(front) + 100000);
		memcpy(&front, two.buf, sizeof(front));
		assert_true(!front.zero && !front.has_data && !front.data && front.tag == 0xcc);
		assert_memory_equal(two.buf + sizeof(front), frame + 24, 100000);
		close(fd);
		event(FI_SHUTDOWN, two.ep, NULL, NULL);
		close_side(&two);
	}
	info->ep_attr->protocol = FI_PROTO_SOCK_TCP;
}

/* The other byte order: frames are big-endian. */
static void unlike_hosts(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct fi_info *req;

	assert_int_equal(connect(fd, (struct sockaddr *) &listener, sizeof(listener)), 0);
	say(fd, "03000000 00000000 0000000000000000 0000000000000000 0000000000000001");
	event(FI_CONNREQ, NULL, &req, NULL);
	open_side(&two, req);
	fi_freeinfo(req);
	CALL(fi_accept(two.ep, NULL, 0));
	event(FI_CONNECTED, two.ep, NULL, NULL);
	hear(fd, "03010000 00000000 0000000000000000 0000000000000000 0100000000000000");
	CALL(fi_recv(two.ep, two.buf, 100, NULL, 0, NULL));
	say(fd, "0300000000001000 0000000000000014 61626364");
	assert_int_equal(done(&two).len, 4);
	CALL(fi_inject(two.ep, "abcd", 4, 0));
	hear(fd, "0300000000001000 0000000000000014 61626364");
	close(fd);
	event(FI_SHUTDOWN, two.ep, NULL, NULL);
	close_side(&two);
}

/* Any bytes end the connection that they came over at most. */
static void hostile(void **state)
{
	static const char *const bad[] = {
		"0305000001002000 2000000000000000 bbaa000000000000 0080000000000000",
		"03ff000000001000 1000000000000000",
		"0301000000001800 1c00000000000000 bbaa000000000000 61626364",	/* tagged */
		"0300800000001800 1c00000000000000 bbaa000000000000 61626364",	/* of ofi_rxm */
		"0300000002001000 1000000000000000",	/* an acknowledgement of nothing */
		"0303000000011000 1400000000000000 61626364",	/* a response to nothing */
		"0300000000001000 0f00000000000000",
		"0302000000012800 2800000000000000 0010000000000000 0400000000000000 ffffffffffffffff",
		"0304000000012800 2c00000000000000 ffffffffffffffff 0400000000000000 0200000000000000 61626364",
	};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fd = foreign_connect();
		say(fd, bad[i]);
		event(FI_SHUTDOWN, two.ep, NULL, NULL);
		close_side(&two);
		close(fd);
	}
}

/* Random frames, from a fixed seed, cut anywhere; connections after them work. */
static void noise(void **state)
{
	static uint8_t bytes[4096];
	unsigned seed = 20261124;
	size_t i, len, part;
	int round, fd, posted;

	for (round = 0; round < 60; round++) {
		fd = foreign_connect();
		for (posted = 0; posted < 8; posted++)
			CALL(fi_recv(two.ep, two.buf, 500, NULL, 0, NULL));
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t) (rand_r(&seed) >> 7);
		for (i = 0; i + 64 < sizeof(bytes); i += 16 + len) {
			len = (size_t) rand_r(&seed) % 48;
			memcpy(bytes + i, (uint8_t[]) { 3, (uint8_t) (rand_r(&seed) % 6),
			       (uint8_t) (rand_r(&seed) % 8), 0, (uint8_t) (rand_r(&seed) % 3),
			       (uint8_t) (rand_r(&seed) % 5),
			       (uint8_t) (rand_r(&seed) % 3 ? 16 : 16 + 8 * (rand_r(&seed) % 12)), 0,
			       (uint8_t) (16 + len), 0, 0, 0, 0, 0, 0, 0 }, 16);
		}
		for (i = 0; i < sizeof(bytes); i += part) {
			part = 1 + (size_t) rand_r(&seed) % 700;
			if (part > sizeof(bytes) - i)
				part = sizeof(bytes) - i;
			if (send(fd, bytes + i, part, MSG_NOSIGNAL) < 0)
				break;
			fi_cq_read(two.cq, NULL, 0);
		}
		close(fd);
		for (i = 0; i < 100; i++)
			fi_cq_read(two.cq, NULL, 0);
		event(FI_SHUTDOWN, two.ep, NULL, NULL);
		close_side(&two);
	}
	messages(state);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(truncated),
		cmocka_unit_test(ranges),
		cmocka_unit_test(order),
		cmocka_unit_test(refused),
		cmocka_unit_test(wrong_key),
		cmocka_unit_test(rejected),
		cmocka_unit_test(long_data),
		cmocka_unit_test(conversation),
		cmocka_unit_test(tags_for_rxm),
		cmocka_unit_test(unlike_hosts),
		cmocka_unit_test(hostile),
		cmocka_unit_test(noise),
	};
	int ret;

	setenv("FI_TCP_WIRE", "compatible", 1);
	setup_all();
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	if (!ret)
		close_all();
	return ret;
}
