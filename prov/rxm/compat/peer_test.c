/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peer_test.c - an endpoint of tcp;ofi_rxm, and the test as its peer: a connected endpoint of tcp that
 * sends and expects the bytes of the protocol's description.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include "base/test/verify.h"
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "rxm/compat/test/hex.h"

#define LIMIT 16384
#define ROOM (64 + LIMIT)
#define BUFS 8
#define BIG (1 << 20)
#define PATIENCE_S 20
#define CTX_BITS 4

#define OK(call)								\
	do {									\
		long ok_ret_ = (call);						\
		if (ok_ret_)							\
			fail_msg("%s: %ld (%s)", #call, ok_ret_,		\
				 fi_strerror((int) -ok_ret_));			\
	} while (0)

/* The endpoint under test, ... */
static struct {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;		/* of @memory */
	uint64_t memory[512];
	struct sockaddr_in name;
	fi_addr_t peer;
} us;

/* ... and its peer. */
static struct {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct sockaddr_in name;
	struct fid_mr *mr;		/* of @memory */
	uint8_t memory[BIG];
	uint8_t in[BUFS][ROOM];
	uint32_t index;			/* what our packets carry: the endpoint gave it */
	unsigned conn_id;		/* what we gave it */
	uint8_t life;			/* in its process id */
} peer;

static struct fi_context2 ctx[64];
static bool named_contexts;		/* the endpoint can name receive contexts of its peers */
static const char *log_file;

/* ---- both ends -------------------------------------------------------------------------------- */

static struct fi_info *find(const char *prov, enum fi_ep_type type, uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = caps;
	hints->ep_attr->type = type;
	hints->fabric_attr->prov_name = strdup(prov);
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	OK(fi_getinfo(FI_VERSION(2, 6), "127.0.0.1", NULL, FI_SOURCE | FI_NUMERICHOST, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static void open_us(void)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE, .rx_ctx_bits = named_contexts ? CTX_BITS : 0 };
	size_t len = sizeof(us.name);

	us.info = find("tcp;ofi_rxm", FI_EP_RDM, FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC |
		       (named_contexts ? FI_NAMED_RX_CTX : 0));
	OK(fi_fabric(us.info->fabric_attr, &us.fabric, NULL));
	OK(fi_domain(us.fabric, us.info, &us.domain, NULL));
	OK(fi_av_open(us.domain, &av, &us.av, NULL));
	OK(fi_cq_open(us.domain, &cq, &us.cq, NULL));
	OK(fi_endpoint(us.domain, us.info, &us.ep, NULL));
	OK(fi_ep_bind(us.ep, &us.av->fid, 0));
	OK(fi_ep_bind(us.ep, &us.cq->fid, FI_TRANSMIT | FI_RECV));
	OK(fi_enable(us.ep));
	OK(fi_getname(&us.ep->fid, &us.name, &len));
	OK(fi_mr_reg(us.domain, us.memory, sizeof(us.memory),
		     FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &us.mr, NULL));
}

static void open_peer(void)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_MSG };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_NONE };
	size_t len = sizeof(peer.name);

	peer.info = find("tcp", FI_EP_MSG, FI_MSG | FI_RMA);
	OK(fi_fabric(peer.info->fabric_attr, &peer.fabric, NULL));
	OK(fi_domain(peer.fabric, peer.info, &peer.domain, NULL));
	OK(fi_eq_open(peer.fabric, &eq, &peer.eq, NULL));
	OK(fi_cq_open(peer.domain, &cq, &peer.cq, NULL));
	OK(fi_passive_ep(peer.fabric, peer.info, &peer.pep, NULL));
	OK(fi_pep_bind(peer.pep, &peer.eq->fid, 0));
	OK(fi_listen(peer.pep));
	OK(fi_getname(&peer.pep->fid, &peer.name, &len));
	OK(fi_mr_reg(peer.domain, peer.memory, BIG, FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE,
		     0, 0x42, 0, &peer.mr, NULL));
	assert_int_equal(fi_av_insert(us.av, &peer.name, 1, &us.peer, 0, NULL), 1);
}

static int setup(void **state)
{
	memset(&us, 0, sizeof(us));
	memset(&peer, 0, sizeof(peer));
	open_us();
	open_peer();
	return 0;
}

static void hang_up(void)
{
	if (peer.ep)
		OK(fi_close(&peer.ep->fid));
	peer.ep = NULL;
}

static int teardown(void **state)
{
	hang_up();
	OK(fi_close(&peer.mr->fid));
	OK(fi_close(&peer.pep->fid));
	OK(fi_close(&peer.cq->fid));
	OK(fi_close(&peer.domain->fid));
	OK(fi_close(&peer.eq->fid));
	OK(fi_close(&peer.fabric->fid));
	fi_freeinfo(peer.info);
	OK(fi_close(&us.ep->fid));
	OK(fi_close(&us.mr->fid));
	OK(fi_close(&us.cq->fid));
	OK(fi_close(&us.av->fid));
	OK(fi_close(&us.domain->fid));
	OK(fi_close(&us.fabric->fid));
	fi_freeinfo(us.info);
	return 0;
}

static time_t deadline(void)
{
	return time(NULL) + PATIENCE_S;
}

static void progress(time_t until)
{
	fi_cq_read(us.cq, NULL, 0);
	fi_cq_read(peer.cq, NULL, 0);
	assert_true(time(NULL) < until);
}

/* ---- the endpoint's completions ------------------------------------------------------------------ */

static struct fi_cq_tagged_entry completion(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	time_t until = deadline();
	ssize_t n;

	while ((n = fi_cq_read(us.cq, &entry, 1)) == -FI_EAGAIN)
		progress(until);
	if (n == -FI_EAVAIL && fi_cq_readerr(us.cq, &err, 0) == 1)
		fail_msg("completed in error: %s", fi_strerror(err.err));
	assert_int_equal(n, 1);
	return entry;
}

static int failed_completion(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	time_t until = deadline();
	ssize_t n;

	while ((n = fi_cq_read(us.cq, &entry, 1)) == -FI_EAGAIN)
		progress(until);
	assert_int_equal(n, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(us.cq, &err, 0), 1);
	return err.err;
}

static void none(void)
{
	struct fi_cq_tagged_entry entry;
	int i;

	for (i = 0; i < 200; i++) {
		assert_int_equal(fi_cq_read(us.cq, &entry, 1), -FI_EAGAIN);
		fi_cq_read(peer.cq, NULL, 0);
	}
}

static uint8_t byte_at(size_t i, unsigned seed)
{
	return (uint8_t) (i * 7 + i / 251 + seed);
}

static void fill(uint8_t *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = byte_at(i, seed);
}

static void check(const uint8_t *buf, size_t from, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != byte_at(from + i, seed))
			fail_msg("byte %zu is wrong", from + i);
}

/* ---- the peer's side ----------------------------------------------------------------------------- */

union event {
	struct fi_eq_cm_entry cm;
	uint8_t bytes[sizeof(struct fi_eq_cm_entry) + 256];
};

/* Returns the bytes of private data. */
static size_t event_of(uint32_t want, union event *ev)
{
	time_t until = deadline();
	uint32_t event = 0;
	ssize_t n;

	while ((n = fi_eq_read(peer.eq, &event, ev, sizeof(*ev), 0)) == -FI_EAGAIN)
		progress(until);
	assert_true(n >= (ssize_t) sizeof(ev->cm));
	assert_int_equal(event, want);
	return (size_t) n - sizeof(ev->cm);
}

static void post(unsigned i)
{
	OK(fi_recv(peer.ep, peer.in[i], ROOM, NULL, 0, &ctx[i]));
}

static void make_endpoint(struct fi_info *info)
{
	unsigned i;

	OK(fi_endpoint(peer.domain, info, &peer.ep, NULL));
	OK(fi_ep_bind(peer.ep, &peer.eq->fid, 0));
	OK(fi_ep_bind(peer.ep, &peer.cq->fid, FI_TRANSMIT | FI_RECV));
	OK(fi_enable(peer.ep));
	for (i = 0; i < BUFS; i++)
		post(i);
}

#define REQUEST "01020403 0000 0200 00400000 00100000 03000000 92100000"
#define ACCEPT "09000000 1f140000 00100000 02000000"

static size_t request(uint8_t *out)
{
	uint16_t port = ntohs(peer.name.sin_port);
	size_t len = hex_bytes(REQUEST, out);

	memcpy(out + 4, &port, sizeof(port));
	out[21] = (uint8_t) (out[21] + peer.life);
	return len;
}

/* The peer connects with connection id 3, as a process 4242. */
static void they_connect(void)
{
	uint8_t data[64];
	union event ev;

	make_endpoint(peer.info);
	peer.conn_id = 3;
	OK(fi_connect(peer.ep, &us.name, data, request(data)));
	assert_int_equal(event_of(FI_CONNECTED, &ev), 16);
	memcpy(&peer.index, ev.cm.data, sizeof(peer.index));
	memcpy(data, ev.cm.data + 4, 4);
	assert_memory_not_equal(data, "\0\0\0\0", 4);	/* process */
	assert_memory_equal(ev.cm.data + 12, "\2\0\0\0", 4);	/* no credits */
}

/* The endpoint connects; the peer accepts with connection id 9. */
static void they_accept(void)
{
	uint8_t data[64], want[24];
	uint16_t port = ntohs(us.name.sin_port);
	union event ev;
	size_t len = event_of(FI_CONNREQ, &ev);

	assert_true(len >= 24);
	hex_bytes(REQUEST, want);
	memcpy(want + 4, &port, sizeof(port));
	assert_memory_equal(ev.cm.data, want, 12);
	assert_memory_not_equal(ev.cm.data + 20, "\0\0\0\0", 4);
	memcpy(&peer.index, ev.cm.data + 16, sizeof(peer.index));
	make_endpoint(ev.cm.info);
	fi_freeinfo(ev.cm.info);
	peer.conn_id = 9;
	OK(fi_accept(peer.ep, data, hex_bytes(ACCEPT, data)));
	event_of(FI_CONNECTED, &ev);
}

/* The next completion of the peer, but for receives of an endpoint that is gone. */
static struct fi_cq_msg_entry their_completion(void)
{
	struct fi_cq_msg_entry entry;
	struct fi_cq_err_entry err = { 0 };
	time_t until = deadline();
	ssize_t n;

	while ((n = fi_cq_read(peer.cq, &entry, 1)) != 1) {
		if (n == -FI_EAVAIL)
			fi_cq_readerr(peer.cq, &err, 0);
		progress(until);
	}
	return entry;
}

/* A header as text, for the connection; then @len bytes. */
static void they_send(const char *hex, const uint8_t *payload, size_t len)
{
	static uint8_t out[ROOM];
	time_t until = deadline();
	size_t head = hex_bytes(hex, out);
	ssize_t ret;

	memcpy(out + 8, &peer.index, sizeof(peer.index));
	if (len)
		memcpy(out + head, payload, len);
	while ((ret = fi_inject(peer.ep, out, head + len, 0)) == -FI_EAGAIN)
		progress(until);
	if (ret == -FI_EMSGSIZE) {
		OK(fi_send(peer.ep, out, head + len, NULL, 0, &ctx[BUFS]));
		their_completion();
		return;
	}
	OK(ret);
}

/* The next packet for the peer: the header is @hex but for the connection id.  The bytes behind it
 * stay until the next call.
 */
static const uint8_t *they_get(const char *hex, size_t payload)
{
	static uint8_t got[ROOM];
	uint8_t want[256];
	struct fi_cq_msg_entry entry = their_completion();
	size_t head = hex_bytes(hex, want), i;

	assert_true(entry.flags & FI_RECV);
	i = (size_t) ((struct fi_context2 *) entry.op_context - ctx);
	memcpy(want + 8, &peer.conn_id, sizeof(peer.conn_id));
	assert_int_equal(entry.len, head + payload);
	memcpy(got, peer.in[i], entry.len);
	post((unsigned) i);
	assert_memory_equal(got, want, head);
	return got + head;
}

#define NONE " 0000000000000000 "
#define FIVE " 0500000000000000 "
#define ONE " 0100000000000000 "
#define TAG " bbaa000000000000 "
#define EAGER "0400000000000000" NONE NONE NONE "0200000000000000 0400000000000000" NONE NONE
#define TAGGED "0400000000000000" NONE NONE NONE "0200010000000200 0400000000000000" \
	"8877665544332211" TAG
#define SEG(head, id, place) head NONE id place "0200010000000000 409c000000000000" NONE TAG
#define FIRST(id) SEG("0401004000000000", id, ONE)
#define SECOND(id) SEG("0401004001000000", id, "0200000000000000")
#define THIRD(id) SEG("0401401c02000000", id, "0300000000000000")

/* ---- the tests ------------------------------------------------------------------------------------ */

static void eager_in(void **state)
{
	struct fi_cq_tagged_entry entry;
	char in[2][8] = { "" };

	they_connect();
	OK(fi_recv(us.ep, in[0], 8, NULL, FI_ADDR_UNSPEC, in[0]));
	OK(fi_trecv(us.ep, in[1], 8, NULL, us.peer, 0xaabb, 0, in[1]));
	they_send(TAGGED, (const uint8_t *) "efgh", 4);
	entry = completion();
	assert_ptr_equal(entry.op_context, in[1]);
	assert_int_equal(entry.flags & (FI_TAGGED | FI_REMOTE_CQ_DATA), FI_TAGGED | FI_REMOTE_CQ_DATA);
	assert_int_equal(entry.tag, 0xaabb);
	assert_int_equal(entry.data, 0x1122334455667788);
	they_send(EAGER, (const uint8_t *) "abcd", 4);
	entry = completion();
	assert_ptr_equal(entry.op_context, in[0]);
	assert_int_equal(entry.flags & (FI_MSG | FI_REMOTE_CQ_DATA), FI_MSG);
	assert_memory_equal(in[0], "abcd", 4);
	assert_memory_equal(in[1], "efgh", 4);
}

/* Pieces of two messages and a whole one between them: received in the order in which they began,
 * expected or not.
 */
static void segments_in(void **state)
{
	uint8_t *a = malloc(40000), *b = malloc(40000), in[8];
	struct fi_cq_tagged_entry entry;
	struct fi_context2 c[3];

	they_connect();
	fill(peer.memory, 80000, 0);
	OK(fi_trecv(us.ep, a, 40000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, &c[0]));
	they_send(FIRST(FIVE), peer.memory, 16384);
	they_send(FIRST(ONE), peer.memory + 40000, 16384);
	they_send(TAGGED, (const uint8_t *) "late", 4);
	they_send(SECOND(ONE), peer.memory + 56384, 16384);
	they_send(SECOND(FIVE), peer.memory + 16384, 16384);
	they_send(THIRD(ONE), peer.memory + 72768, 7232);
	none();
	they_send(THIRD(FIVE), peer.memory + 32768, 7232);
	entry = completion();
	assert_ptr_equal(entry.op_context, &c[0]);
	assert_int_equal(entry.len, 40000);
	check(a, 0, 40000, 0);
	OK(fi_trecv(us.ep, b, 40000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, &c[1]));
	entry = completion();
	assert_ptr_equal(entry.op_context, &c[1]);
	check(b, 40000, 40000, 0);
	OK(fi_trecv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, &c[2]));
	entry = completion();
	assert_memory_equal(in, "late", 4);
	free(a);
	free(b);
}

#define RNDV "0402000000000000" NONE FIVE NONE "0200010000000000 0000100000000000" NONE TAG
#define UNUSED NONE NONE NONE NONE NONE NONE NONE NONE NONE
#define READ_DONE "0403000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE

static void hex_word(char *out, uint64_t word)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		sprintf(out + 2 * i, "%02x", (unsigned) (word >> 8 * i & 0xff));
}

static void announce(void)
{
	char text[1024] = RNDV, word[20];

	hex_word(word, peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
		 (uintptr_t) peer.memory : 0);
	strcat(text, word);
	hex_word(word, BIG);
	strcat(text, word);
	hex_word(word, fi_mr_key(peer.mr));
	strcat(text, word);
	they_send(strcat(text, UNUSED "0100000000000000"), NULL, 0);
}

/* Read from the peer's memory when it is wanted; the peer is told once. */
static void rendezvous_in(void **state)
{
	struct fi_cq_tagged_entry entry;
	uint8_t *in = malloc(BIG);
	unsigned expected;

	they_connect();
	fill(peer.memory, BIG, 1);
	for (expected = 0; expected < 2; expected++) {
		memset(in, 0, BIG);
		if (expected)
			OK(fi_trecv(us.ep, in, BIG, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		announce();
		if (!expected) {
			none();
			OK(fi_trecv(us.ep, in, BIG, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		}
		they_get(READ_DONE, 0);
		entry = completion();
		assert_int_equal(entry.len, BIG);
		check(in, 0, BIG, 1);
	}
	/* too long for the receive: cut, reported, and the peer is told all the same */
	OK(fi_trecv(us.ep, in, 1000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
	announce();
	they_get(READ_DONE, 0);
	assert_int_equal(failed_completion(), FI_ETRUNC);
	free(in);
}

static void eager_out(void **state)
{
	const uint8_t *got;

	they_connect();
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	got = they_get(EAGER, 4);
	assert_memory_equal(got, "abcd", 4);
	completion();
	OK(fi_tsenddata(us.ep, "efgh", 4, NULL, 0x1122334455667788, us.peer, 0xaabb, NULL));
	got = they_get(TAGGED, 4);
	assert_memory_equal(got, "efgh", 4);
	completion();
	OK(fi_inject(us.ep, "ijkl", 4, us.peer));
	got = they_get(EAGER, 4);
	assert_memory_equal(got, "ijkl", 4);
}

/* What a rendezvous could not list; all else that is long is one, over tcp. */
static void segments_out(void **state)
{
	uint8_t *out = malloc(40000);
	struct iovec iov[5];
	int i;

	they_connect();
	fill(out, 40000, 2);
	for (i = 0; i < 5; i++)
		iov[i] = (struct iovec) { out + i * 8000, 8000 };
	OK(fi_tsendv(us.ep, iov, NULL, 5, us.peer, 0xaabb, NULL));
	check(they_get(FIRST(ONE), 16384), 0, 16384, 2);
	check(they_get(SECOND(ONE), 16384), 16384, 16384, 2);
	check(they_get(THIRD(ONE), 7232), 32768, 7232, 2);
	completion();
	free(out);
}

/* The peer reads @len bytes as the announcement says, and says that it has. */
static void they_read(const uint8_t *list, size_t len, unsigned seed)
{
	uint64_t addr, size, key;

	memcpy(&addr, list, 8);
	memcpy(&size, list + 8, 8);
	memcpy(&key, list + 16, 8);
	assert_int_equal(size, len);
	assert_int_equal(list[96], 1);
	memset(peer.memory, 0, len);
	OK(fi_read(peer.ep, peer.memory, len, fi_mr_desc(peer.mr), 0, addr, key, &ctx[BUFS]));
	their_completion();
	check(peer.memory, 0, len, seed);
}

static void rendezvous_out(void **state)
{
	uint8_t *out = malloc(BIG);
	struct iovec iov = { out, 100 };
	struct fi_msg_tagged msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = us.peer, .tag = 0xaabb,
	};

	they_connect();
	fill(out, BIG, 3);
	OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, NULL));
	they_read(they_get("0402000000000000" NONE ONE NONE "0200010000000000"
			   "0000100000000000" NONE TAG, 104), BIG, 3);
	none();
	they_send("0403000000000000" NONE ONE NONE NONE NONE NONE NONE, NULL, 0);
	completion();
	/* a short one whose end has to be known */
	OK(fi_tsendmsg(us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	they_read(they_get("0402000000000000" NONE "0200000000000000" NONE "0200010000000000"
			   "6400000000000000" NONE TAG, 104), 100, 3);
	none();
	they_send("0403000000000000" NONE "0200000000000000" NONE NONE NONE NONE NONE, NULL, 0);
	completion();
	/* nothing tells that it was matched */
	OK(fi_tsendmsg(us.ep, &msg, FI_COMPLETION | FI_MATCH_COMPLETE));
	assert_int_equal(failed_completion(), FI_EOPNOTSUPP);
	/* and the connection lives on */
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	completion();
	free(out);
}

/* Any number of rendezvous that the peer has no use for yet; what follows them passes. */
static void many_rendezvous_out(void **state)
{
	static struct fi_context2 c[40];
	char head[512], id[20];
	uint64_t i;
	uint8_t *out = malloc(BIG);

	they_connect();
	for (i = 0; i < 40; i++)
		OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, &c[i]));
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, &c[0]));
	for (i = 0; i < 40; i++) {
		hex_word(id, i + 1);
		snprintf(head, sizeof(head), "0402000000000000" NONE "%s" NONE
			 "0200010000000000 0000100000000000" NONE TAG, id);
		they_get(head, 104);
	}
	they_get(EAGER, 4);
	completion();
	for (i = 40; i > 0; i--) {
		hex_word(id, i);
		snprintf(head, sizeof(head), "0403000000000000" NONE "%s" NONE NONE NONE NONE NONE, id);
		they_send(head, NULL, 0);
		assert_ptr_equal(completion().op_context, &c[i - 1]);
	}
	free(out);
}

/* A header, and a list of one entry with room for four. */
static char *with_list(char *text, const char *head, uint64_t addr, uint64_t len, uint64_t key)
{
	char word[3][20];

	hex_word(word[0], addr);
	hex_word(word[1], len);
	hex_word(word[2], key);
	snprintf(text, 1024, "%s%s%s%s" UNUSED, head, word[0], word[1], word[2]);
	return text;
}

#define MEMORY_END "0100000000000000"

/* A peer that is set to write its rendezvous asks for ours to be written, too. */
static void rendezvous_out_written(void **state)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	static const char *const done = "0408000000000000" NONE ONE NONE "0200000000000000" NONE NONE NONE;
	uint8_t *out = malloc(BIG);
	char text[1024];

	they_connect();
	fill(out, BIG, 6);
	memset(peer.memory, 0, BIG);
	OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, NULL));
	they_get("0402000000000000" NONE ONE NONE "0200010000000000 0000100000000000" NONE TAG, 104);
	with_list(text, "0407000000000000" NONE ONE NONE "0200000000000000" NONE NONE NONE, addr, 100000,
		  fi_mr_key(peer.mr));
	they_send(strcat(text, MEMORY_END), NULL, 0);
	they_get(done, 0);
	check(peer.memory, 0, 100000, 6);
	assert_int_equal(peer.memory[100000] | peer.memory[100001], 0);
	completion();
	free(out);
}

/* The rendezvous of the peer that it writes: into the receive, cut or not, expected or not. */
static void rendezvous_in_written(void **state)
{
	struct fi_cq_tagged_entry entry;
	uint8_t *in = malloc(BIG);
	const uint8_t *list;
	uint64_t word[3];
	unsigned i;

	they_connect();
	fill(peer.memory, BIG, 7);
	for (i = 0; i < 3; i++) {
		size_t len = i == 2 ? 1000 : BIG;

		memset(in, 0, BIG);
		if (i)
			OK(fi_trecv(us.ep, in, len, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		announce();
		if (!i) {
			none();
			OK(fi_trecv(us.ep, in, len, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		}
		list = they_get("0407000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, 104);
		memcpy(word, list, sizeof(word));
		assert_int_equal(word[1], len);
		assert_int_equal(list[96], 1);
		none();
		OK(fi_write(peer.ep, peer.memory, len, fi_mr_desc(peer.mr), 0, word[0], word[2], &ctx[BUFS]));
		their_completion();
		they_send("0408000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, NULL, 0);
		if (i == 2) {
			assert_int_equal(failed_completion(), FI_ETRUNC);
		} else {
			entry = completion();
			assert_int_equal(entry.len, BIG);
		}
		check(in, 0, len, 7);
	}
	free(in);
}

/* One that fills a list of six buffers. */
static void rendezvous_in_pieces(void **state)
{
	uint8_t *in = malloc(BIG);
	struct iovec iov[6];
	const uint8_t *list;
	uint64_t word[3];
	size_t i, step = BIG / 8;

	they_connect();
	fill(peer.memory, BIG, 8);
	for (i = 0; i < 6; i++)
		iov[i] = (struct iovec) { in + i * step, i == 5 ? 3 * step : step };
	OK(fi_trecvv(us.ep, iov, NULL, 6, FI_ADDR_UNSPEC, 0xaabb, 0, in));
	announce();
	list = they_get("0407000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, 104);
	memcpy(word, list, sizeof(word));
	assert_int_equal(word[1], BIG);
	OK(fi_write(peer.ep, peer.memory, BIG, fi_mr_desc(peer.mr), 0, word[0], word[2], &ctx[BUFS]));
	their_completion();
	they_send("0408000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE, NULL, 0);
	assert_int_equal(completion().len, BIG);
	check(in, 0, BIG, 8);
	free(in);
}

/* Reads and writes of the program are those of the endpoints below. */
static void rma_out(void **state)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	uint64_t key = fi_mr_key(peer.mr);
	uint8_t *buf = malloc(BIG);
	struct iovec iov[2] = { { buf, 1000 }, { buf + 5000, 50000 } };
	struct fi_rma_iov rma[2] = { { addr + 10, 30000, key }, { addr + 100000, 21000, key } };
	struct fi_msg_rma msg = {
		.msg_iov = iov, .iov_count = 2, .addr = us.peer, .rma_iov = rma, .rma_iov_count = 2,
	};
	struct fi_cq_tagged_entry entry;

	they_connect();
	fill(buf, BIG, 9);
	memset(peer.memory, 0, BIG);
	OK(fi_write(us.ep, buf, 5000, NULL, us.peer, addr + 50, key, NULL));
	entry = completion();
	assert_int_equal(entry.flags & (FI_RMA | FI_WRITE), FI_RMA | FI_WRITE);
	none();		/* it is complete before it is there */
	check(peer.memory + 50, 0, 5000, 9);
	OK(fi_writemsg(us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	completion();
	check(peer.memory + 10, 0, 1000, 9);
	check(peer.memory + 1010, 5000, 29000, 9);
	check(peer.memory + 100000, 34000, 21000, 9);
	OK(fi_inject_write(us.ep, "inject", 6, us.peer, addr + 7, key));
	/* in order with what follows */
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	assert_memory_equal(peer.memory + 7, "inject", 6);
	completion();
	fill(peer.memory, BIG, 10);
	memset(buf, 0, BIG);
	OK(fi_read(us.ep, buf, BIG, NULL, us.peer, addr, key, NULL));
	entry = completion();
	assert_int_equal(entry.flags & (FI_RMA | FI_READ), FI_RMA | FI_READ);
	check(buf, 0, BIG, 10);
	OK(fi_read(us.ep, buf, 0, NULL, us.peer, addr, key, NULL));
	completion();
	free(buf);
}

/* A write with data: the peer's endpoint reports it. */
static void write_with_data_out(void **state)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	struct fi_cq_msg_entry entry;
	unsigned len;

	they_connect();
	for (len = 0; len < 2; len++) {
		OK(fi_writedata(us.ep, "x", len, NULL, 0x11223344, us.peer, addr, fi_mr_key(peer.mr), NULL));
		entry = their_completion();
		assert_int_equal(entry.flags & (FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE),
				 FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE);
		completion();
	}
	assert_int_equal(peer.memory[0], 'x');
}

/* The peer reads and writes our memory by the key that the program has, without the engine. */
static void rma_in(void **state)
{
	uint64_t at = us.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) us.memory : 0;
	struct fi_cq_tagged_entry entry;

	they_connect();
	assert_int_equal(fi_mr_key(us.mr), 7);
	fill(peer.memory, sizeof(us.memory), 11);
	OK(fi_write(peer.ep, peer.memory, sizeof(us.memory), fi_mr_desc(peer.mr), 0, at, 7, &ctx[BUFS]));
	their_completion();
	OK(fi_read(peer.ep, peer.memory + 8192, sizeof(us.memory), fi_mr_desc(peer.mr), 0, at, 7,
		   &ctx[BUFS]));
	their_completion();
	check((uint8_t *) us.memory, 0, sizeof(us.memory), 11);
	check(peer.memory + 8192, 0, sizeof(us.memory), 11);
	OK(fi_writedata(peer.ep, peer.memory + 1, 100, fi_mr_desc(peer.mr), 0x11223344, 0, at, 7,
			&ctx[BUFS]));
	entry = completion();
	assert_int_equal(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	assert_int_equal(entry.data, 0x11223344);
	assert_int_equal(entry.len, 100);
	check((uint8_t *) us.memory, 1, 100, 11);
	their_completion();
}

#define ATOMIC_HEAD(op, len, what) "0404000000000000" NONE FIVE NONE "0200" op "0000000000" len NONE what
#define RESPONSE(op, len, what) "0405000000000000" NONE FIVE NONE "0200" op "0000000000" len NONE what
#define LEN(n) n "00000000000000"

/* Each is done by the engine and answered once, also one that fails. */
static void atomics_in(void **state)
{
	uint64_t operand[2] = { 5, 42 };
	const uint8_t *got;
	char text[1024];

	they_connect();
	us.memory[3] = 40;
	with_list(text, ATOMIC_HEAD("06", LEN("68"), "0702010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("06", LEN("08"), "0702000000000000") NONE, 0);
	assert_int_equal(us.memory[3], 45);
	with_list(text, ATOMIC_HEAD("07", LEN("68"), "0702010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	got = they_get(RESPONSE("07", LEN("10"), "0702000000000000") "0000000000000008", 8);
	assert_memory_equal(got, "\55\0\0\0\0\0\0\0", 8);
	assert_int_equal(us.memory[3], 50);
	/* FI_ATOMIC_READ */
	with_list(text, ATOMIC_HEAD("07", LEN("60"), "070a010000000000"), 24, 1, 7);
	they_send(text, NULL, 0);
	got = they_get(RESPONSE("07", LEN("10"), "070a000000000000") "0000000000000008", 8);
	assert_memory_equal(got, "\62\0\0\0\0\0\0\0", 8);
	/* FI_CSWAP: 42 for 50 */
	operand[0] = 42;
	operand[1] = 50;
	with_list(text, ATOMIC_HEAD("08", LEN("70"), "070c010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 16);
	got = they_get(RESPONSE("08", LEN("10"), "070c000000000000") "0000000000000008", 8);
	assert_memory_equal(got, "\62\0\0\0\0\0\0\0", 8);
	assert_int_equal(us.memory[3], 42);
	/* no such operation */
	with_list(text, ATOMIC_HEAD("07", LEN("68"), "0777010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("07", LEN("08"), "0777000000000000") "ffffffa100000000", 0);
	/* no such memory; the connection lives on */
	with_list(text, ATOMIC_HEAD("07", LEN("68"), "0702010000000000"), 24, 1, 99);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("07", LEN("08"), "0702000000000000") "fffffff300000000", 0);
	assert_int_equal(us.memory[3], 42);
	with_list(text, ATOMIC_HEAD("06", LEN("68"), "0702010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("06", LEN("08"), "0702000000000000") NONE, 0);
	assert_int_equal(us.memory[3], 84);
}

/* they_answer - the request @hex, but for its number, whose list names key 7 at 0x1000; the response is
 * @status and @result.
 */
static void they_answer(const char *op, size_t operands, uint8_t amo, const char *status, uint64_t result)
{
	static uint8_t got[ROOM];
	struct fi_cq_msg_entry entry = their_completion();
	char text[1024], id[20], bytes[20] = "";
	uint64_t word[3], number, kind = 7 | (uint64_t) amo << 8;
	bool has = status[7] == '0' && op[1] != '6';
	size_t i = (size_t) ((struct fi_context2 *) entry.op_context - ctx);

	memcpy(got, peer.in[i], entry.len);
	post((unsigned) i);
	assert_int_equal(entry.len, 160 + operands);
	assert_int_equal(got[1], 4);
	assert_int_equal(got[34], strtol(op, NULL, 16));
	assert_int_equal(got[40], 96 + operands);
	assert_memory_equal(got + 56, &kind, 2);
	assert_int_equal(got[58], 1);
	memcpy(word, got + 64, sizeof(word));
	assert_int_equal(word[0], 0x1000);
	assert_int_equal(word[1], 1);
	assert_int_equal(word[2], 7);
	memcpy(&number, got + 16, sizeof(number));
	hex_word(id, number);
	if (has)
		hex_word(bytes, result);
	snprintf(text, sizeof(text), "0405000000000000" NONE "%s" NONE "0200%s0000000000%s00000000000000" NONE
		 "07%02x000000000000%s%s%s", id, op, has ? "10" : "08", amo, status,
		 has ? "00000008" : "00000000", bytes);
	they_send(text, NULL, 0);
}

static void atomics_out(void **state)
{
	uint64_t operand = 1, compare = 2, old = 0;

	they_connect();
	OK(fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM,
			   NULL));
	they_answer("07", 8, FI_SUM, "00000000", 42);
	assert_int_equal(completion().flags & (FI_ATOMIC | FI_READ), FI_ATOMIC | FI_READ);
	assert_int_equal(old, 42);
	OK(fi_compare_atomic(us.ep, &operand, 1, NULL, &compare, NULL, &old, NULL, us.peer, 0x1000, 7,
			     FI_UINT64, FI_CSWAP, NULL));
	they_answer("08", 16, FI_CSWAP, "00000000", 43);
	completion();
	assert_int_equal(old, 43);
	OK(fi_fetch_atomic(us.ep, NULL, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_ATOMIC_READ,
			   NULL));
	they_answer("07", 0, FI_ATOMIC_READ, "00000000", 44);
	completion();
	assert_int_equal(old, 44);
	OK(fi_atomic(us.ep, &operand, 1, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_MAX, NULL));
	none();		/* complete when it is answered */
	they_answer("06", 8, FI_MAX, "00000000", 0);
	assert_int_equal(completion().flags & (FI_ATOMIC | FI_WRITE), FI_ATOMIC | FI_WRITE);
	/* refused: either kind, and the connection lives on */
	OK(fi_atomic(us.ep, &operand, 1, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM, NULL));
	they_answer("06", 8, FI_SUM, "fffffff3", 0);
	assert_int_equal(failed_completion(), FI_EACCES);
	OK(fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM,
			   NULL));
	they_answer("07", 8, FI_SUM, "fffffff3", 0);
	assert_int_equal(failed_completion(), FI_EACCES);
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	completion();
}

/* The endpoint connects, with a request that another implementation understands. */
static void we_connect(void **state)
{
	char in[8];

	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_accept();
	they_get(EAGER, 4);
	completion();
	OK(fi_recv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
	they_send(EAGER, (const uint8_t *) "efgh", 4);
	completion();
	assert_memory_equal(in, "efgh", 4);
}

/* A peer that connects itself rejects ours with the reason 2; what waits goes the other way. */
static void both_connect(void **state)
{
	union event ev;

	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	event_of(FI_CONNREQ, &ev);
	OK(fi_reject(peer.pep, ev.cm.info->handle, "\1\2", 2));
	fi_freeinfo(ev.cm.info);
	they_connect();
	they_get(EAGER, 4);
	completion();
}

/* refused - the request of peer.ep is, with @reason behind the format's version; closes it. */
static void refused(char reason)
{
	struct fi_eq_err_entry err = { 0 };
	time_t until = deadline();
	union event ev;
	uint32_t event;
	char why[8];

	while (fi_eq_read(peer.eq, &event, &ev, sizeof(ev), 0) != -FI_EAVAIL)
		progress(until);
	err.err_data = why;
	err.err_data_size = sizeof(why);
	assert_true(fi_eq_readerr(peer.eq, &err, 0) > 0);
	assert_int_equal(err.err_data_size, 2);
	assert_int_equal(why[0], 1);
	assert_int_equal(why[1], reason);
	OK(fi_close(&peer.ep->fid));
}

/* A second request of the same process is refused, with the reason 2; one of another process replaces
 * the connection once that has ended, and not before: any process of that host could send it.
 */
static void second_request(void **state)
{
	struct fid_ep *first;
	uint8_t data[64];
	union event ev;

	they_connect();
	first = peer.ep;
	make_endpoint(peer.info);
	OK(fi_connect(peer.ep, &us.name, data, request(data)));
	refused(2);

	make_endpoint(peer.info);
	request(data);
	data[20]++;
	OK(fi_connect(peer.ep, &us.name, data, 24));
	refused(1);

	OK(fi_close(&first->fid));
	none();
	make_endpoint(peer.info);
	OK(fi_connect(peer.ep, &us.name, data, 24));
	event_of(FI_CONNECTED, &ev);
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	completion();
}

/* What no peer may send ends its connection alone; the next one works. */
static void bad_packets(void **state)
{
	static const char *const bad[] = {
		"05",								/* no header */
		"0500000000000000" NONE NONE NONE "0200000000000000" NONE NONE NONE,	/* version */
		"0409000000000000" NONE NONE NONE "0200000000000000" NONE NONE NONE,	/* type */
		EAGER,								/* without its payload */
		READ_DONE,							/* of nothing */
		SECOND(FIVE),							/* of nothing */
		"0408000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE,	/* write done */
		"0405000000000000" NONE FIVE NONE "0200060000000000 0800000000000000" NONE
		"0702000000000000 0000000000000000",				/* response to nothing */
	};
	union event ev;
	char in[8];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		they_connect();
		they_send(bad[i], NULL, 0);
		event_of(FI_SHUTDOWN, &ev);
		hang_up();
	}
	they_connect();
	OK(fi_recv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
	they_send(EAGER, (const uint8_t *) "efgh", 4);
	completion();
}

/* The peer ends in the middle of everything: each operation ends once. */
static void peer_gone(void **state)
{
	uint8_t *in = malloc(BIG), *out = malloc(BIG);

	they_connect();
	fill(out, BIG, 4);
	OK(fi_trecv(us.ep, in, 40000, NULL, us.peer, 0xaabb, 0, in));
	OK(fi_tsend(us.ep, out, BIG, NULL, us.peer, 0xaabb, NULL));
	they_get("0402000000000000" NONE ONE NONE "0200010000000000 0000100000000000" NONE TAG, 104);
	they_send(FIRST(FIVE), out, 16384);
	announce();
	hang_up();
	assert_int_equal(failed_completion(), FI_ECONNRESET);	/* the send */
	none();
	/* a message that did not arrive in whole is none */
	OK(fi_cancel(&us.ep->fid, in));
	assert_int_equal(failed_completion(), FI_ECANCELED);
	free(in);
	free(out);
}

static void forget_events(void)
{
	struct fi_eq_err_entry err;
	union event ev;
	uint32_t event;
	ssize_t n;

	do {
		n = fi_eq_read(peer.eq, &event, &ev, sizeof(ev), 0);
		if (n == -FI_EAVAIL) {
			memset(&err, 0, sizeof(err));
			fi_eq_readerr(peer.eq, &err, 0);
		}
	} while (n != -FI_EAGAIN);
}

/* Any bytes end at most their own connection. */
static void any_bytes(void **state)
{
	static const char *const base[] = {
		EAGER "61626364", TAGGED "61626364", FIRST(FIVE), SECOND(FIVE),
		RNDV UNUSED NONE NONE NONE ONE, READ_DONE, RESPONSE("07", LEN("08"), "0702000000000000") NONE,
		ATOMIC_HEAD("07", LEN("68"), "0702010000000000") ONE ONE FIVE UNUSED ONE,
		"0406000000000000" NONE NONE ONE NONE NONE NONE NONE,
		"0407000000000000" NONE FIVE NONE NONE NONE NONE NONE ONE ONE ONE UNUSED ONE,
		"0408000000000000" NONE FIVE NONE NONE NONE NONE NONE,
	};
	static uint8_t out[ROOM];
	unsigned seed = 18, round, i, flips, ended = 0;
	uint32_t event;
	union event ev;
	char in[8];
	time_t until = time(NULL) + 2 * PATIENCE_S;

	they_connect();
	for (round = 0; round < 120; round++) {
		size_t len = hex_bytes(base[rand_r(&seed) % (sizeof(base) / sizeof(base[0]))], out);

		memcpy(out + 8, &peer.index, sizeof(peer.index));
		flips = rand_r(&seed) % 4;
		for (i = 0; i < flips; i++)
			out[rand_r(&seed) % len] = (uint8_t) (rand_r(&seed) >> 8);
		if (!(rand_r(&seed) % 8))
			len = rand_r(&seed) % (len + 1);
		while (fi_inject(peer.ep, out, len, 0) == -FI_EAGAIN)
			progress(until);
		for (i = 0; i < 5; i++)
			progress(until);
		if (fi_eq_read(peer.eq, &event, &ev, sizeof(ev), 0) != -FI_EAGAIN) {
			hang_up();
			forget_events();
			they_connect();
			ended++;
		}
	}
	assert_in_range(ended, 20, 115);
	hang_up();
	for (i = 0; i < 20; i++) {	/* until it is known */
		usleep(1000);
		progress(until);
	}
	they_connect();
	OK(fi_trecv(us.ep, in, 8, NULL, FI_ADDR_UNSPEC, 0x77, 0, in));
	they_send("0400000000000000" NONE NONE NONE "0200010000000000 0400000000000000" NONE
		  "7700000000000000", (const uint8_t *) "efgh", 4);
	completion();
	assert_memory_equal(in, "efgh", 4);
}

static void idle(unsigned ms)
{
	time_t until = deadline();

	while (ms--) {
		usleep(1000);
		progress(until);
	}
}

/* Operations of every kind, of which two are receives with @c[0] and @c[1].  Returns how many. */
static int start_operations(uint8_t *out, uint8_t *in, struct fi_context2 *c)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	static uint64_t operand = 1, old;
	uint64_t key = fi_mr_key(peer.mr);

	OK(fi_trecv(us.ep, in, BIG, NULL, us.peer, 0xaabb, 0, &c[0]));
	OK(fi_trecv(us.ep, in, 40000, NULL, us.peer, 0xaabb, 0, &c[1]));
	OK(fi_send(us.ep, out, 4, NULL, us.peer, &c[2]));
	OK(fi_send(us.ep, out, 40000, NULL, us.peer, &c[3]));
	OK(fi_send(us.ep, out, BIG, NULL, us.peer, &c[4]));
	OK(fi_write(us.ep, out, 5000, NULL, us.peer, addr, key, &c[5]));
	OK(fi_write(us.ep, out, BIG, NULL, us.peer, addr, key, &c[6]));
	OK(fi_read(us.ep, in, BIG, NULL, us.peer, addr, key, &c[7]));
	OK(fi_atomic(us.ep, &operand, 1, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM, &c[8]));
	OK(fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM,
			   &c[9]));
	return 10;
}

static void step(unsigned what)
{
	char text[1024];

	switch (what) {
	case 0:
		announce();
		break;
	case 1:
		they_send(FIRST(FIVE), peer.memory, 16384);
		break;
	case 2:
		they_send(SECOND(FIVE), peer.memory + 16384, 16384);
		break;
	case 3:
		they_send(EAGER, (const uint8_t *) "abcd", 4);
		break;
	case 4:
		with_list(text, ATOMIC_HEAD("06", LEN("68"), "0702010000000000"), 24, 1, 7);
		they_send(text, (const uint8_t *) "abcdefgh", 8);
		break;
	default:
		idle(what / 5);
	}
}

/* The peer is killed anywhere in the middle of everything: each operation ends once.  PEER_KILLS is how
 * often; a kill takes long, since the close of its endpoint waits for this thread.
 */
static void killed_anywhere(void **state)
{
	uint8_t *out = calloc(1, BIG), *in = malloc(BIG);
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	struct fi_context2 c[10];
	const char *kills = getenv("PEER_KILLS");
	unsigned seed = 7, round, rounds = kills ? (unsigned) atoi(kills) : 15, steps, segments;
	time_t until;
	ssize_t n;
	int left;

	for (round = 0; round < rounds; round++) {
		peer.life++;
		they_connect();
		idle(2);
		left = start_operations(out, in, c);
		segments = 1;
		for (steps = (unsigned) rand_r(&seed) % 8; steps; steps--) {
			unsigned what = (unsigned) rand_r(&seed) % 20;

			/* the pieces of a message in their order */
			step(what == 1 || what == 2 ? (segments < 3 ? segments++ : 3) : what);
		}
		hang_up();
		idle(5);
		/* those that met no message */
		fi_cancel(&us.ep->fid, &c[0]);
		fi_cancel(&us.ep->fid, &c[1]);
		for (until = deadline(); left > 0; progress(until)) {
			memset(&err, 0, sizeof(err));
			n = fi_cq_read(us.cq, &entry, 1);
			if (n == -FI_EAVAIL && fi_cq_readerr(us.cq, &err, 0) == 1)
				n = 1;
			left -= n == 1;
		}
		none();
		forget_events();
	}
	free(out);
	free(in);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#define FLOOD 2200			/* messages, of three segments: more than the connection keeps */

/* The peer posts a piece, if there is one that may go.  @sent_p: how many the socket took. */
static void flood(unsigned *piece_p, unsigned *sent_p)
{
	static const char *const head[] = { FIRST(FIVE), SECOND(FIVE), THIRD(FIVE) };
	static const size_t len[] = { 16384, 16384, 7232 };
	static uint8_t out[3][ROOM];
	struct fi_cq_msg_entry entry;
	unsigned i = *piece_p % 3;

	while (fi_cq_read(peer.cq, &entry, 1) == 1)
		*sent_p += !!(entry.flags & FI_SEND);
	if (*piece_p < 3)
		fill(out[i] + hex_bytes(head[i], out[i]), len[i], 20 + i);
	memcpy(out[i] + 8, &peer.index, sizeof(peer.index));
	if (*piece_p < 3 * FLOOD && !fi_send(peer.ep, out[i], 64 + len[i], NULL, 0, &ctx[BUFS]))
		++*piece_p;
}

/* Segments wait with the peer when the memory for them is used up, and nothing is lost. */
static void segments_wait(void **state)
{
	uint8_t *in = calloc(1, 40000);
	unsigned piece = 0, sent = 0, i, stuck;
	time_t until;

	they_connect();
	for (i = 0; i < 40000; i++) {
		flood(&piece, &sent);
		fi_cq_read(us.cq, NULL, 0);
	}
	/* all of them would be there by now */
	for (stuck = sent, i = 0; i < 2000; i++) {
		flood(&piece, &sent);
		fi_cq_read(us.cq, NULL, 0);
	}
	assert_in_range(stuck, 1000, 3 * FLOOD - 1);
	assert_int_equal(sent, stuck);
	for (i = 0; i < FLOOD; i++) {
		memset(in, 0, 40000);
		OK(fi_trecv(us.ep, in, 40000, NULL, FI_ADDR_UNSPEC, 0xaabb, 0, in));
		for (until = deadline(); fi_cq_read(us.cq, &(struct fi_cq_tagged_entry) { 0 }, 1) != 1;) {
			flood(&piece, &sent);
			assert_true(time(NULL) < until);
		}
		check(in, 0, 16384, 20);
		check(in + 16384, 0, 16384, 21);
		check(in + 32768, 0, 7232, 22);
	}
	free(in);
}

static int crowded(void)
{
	const struct CMUnitTest tests[] = { T(segments_wait) };

	setenv("FI_UNEXP_PEER_MAX", "1048576", 1);	/* and announcements of all pieces */
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- what the format does not have -------------------------------------------------------------------- */

/* The log has got a line with @text; from then on it is another's. */
static void logged(const char *text)
{
	static long seen;
	char line[1000];
	FILE *file = fopen(log_file, "r");
	bool found = false;

	assert_non_null(file);
	fseek(file, seen, SEEK_SET);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, "which does not have ") && strstr(line, text);
	seen = ftell(file);
	fclose(file);
	if (!found)
		fail_msg("the log does not name %s", text);
}

static long send_msg(void *buf, size_t len, uint64_t flags)
{
	struct iovec iov = { buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = us.peer };

	return (long) fi_sendmsg(us.ep, &msg, FI_COMPLETION | flags);
}

static long matched(void)
{
	return send_msg("abcd", 4, FI_MATCH_COMPLETE);
}

static long empty_delivered(void)
{
	return send_msg("", 0, FI_DELIVERY_COMPLETE);
}

static long too_long(void)
{
	static void *much;
	size_t len = ((size_t) 1 << 30) + 1;

	if (!much)
		much = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(much, MAP_FAILED);
	return send_msg(much, len, 0);
}

static fi_addr_t context_of_peer(void)
{
	return fi_rx_addr(us.peer, 1, CTX_BITS);
}

static long context_send(void)
{
	return (long) fi_tsend(us.ep, "abcd", 4, NULL, context_of_peer(), 0xaabb, NULL);
}

static long context_read(void)
{
	return (long) fi_read(us.ep, us.memory, 8, NULL, context_of_peer(), 0, 7, NULL);
}

static long context_write(void)
{
	return (long) fi_write(us.ep, us.memory, 8, NULL, context_of_peer(), 0, 7, NULL);
}

static long context_atomic(void)
{
	static uint64_t operand = 1, old;

	return (long) fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, context_of_peer(), 0x1000, 7,
				      FI_UINT64, FI_SUM, NULL);
}

/* What the peer cannot do ends with an error and a line in the log, at once, and what follows passes. */
static void unspoken(void **state)
{
	static const struct {
		long (*begin)(void);
		const char *what;	/* in the log; NULL: it is there already */
		bool ends;		/* the engine expects no answer: the connection with it */
	} cannot[] = {
		{ matched, "FI_MATCH_COMPLETE", false },
		{ empty_delivered, "FI_DELIVERY_COMPLETE of empty messages", false },
		{ too_long, "messages of more than a gigabyte", false },
		{ context_read, "named receive contexts", false },
		{ context_write, NULL, false },
		{ context_atomic, NULL, false },
		{ context_send, NULL, true },
	};
	time_t until;
	size_t i;
	long ret;

	for (i = 0; i < sizeof(cannot) / sizeof(cannot[0]); i++) {
		they_connect();
		for (until = deadline(); (ret = cannot[i].begin()) == -FI_EAGAIN;)
			progress(until);
		OK(ret);
		assert_int_equal(failed_completion(), FI_EOPNOTSUPP);
		if (cannot[i].what)
			logged(cannot[i].what);
		if (cannot[i].ends) {
			hang_up();
			they_connect();
		}
		OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
		they_get(EAGER, 4);
		completion();
		none();
		hang_up();
		peer.life++;
	}
}

static int limited(void)
{
	const struct CMUnitTest tests[] = { T(unspoken) };
	char dir[] = "/tmp/peer_test.XXXXXX", file[100];
	int ret;

	if (!mkdtemp(dir))
		return 1;
	snprintf(file, sizeof(file), "%s/log", dir);
	log_file = file;
	setenv("FI_LOG_LOCATION", file, 1);
	setenv("FI_LOG_LEVEL", "warn", 1);
	named_contexts = true;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	remove(file);
	rmdir(dir);
	return ret;
}

static int written(void)
{
	const struct CMUnitTest tests[] = {
		T(rendezvous_in_written), T(rendezvous_in_pieces), T(rendezvous_out),
		T(rendezvous_out_written), T(eager_in), T(segments_in), T(any_bytes),
	};

	setenv("FI_OFI_RXM_USE_RNDV_WRITE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* apart - in a process of its own: the environment is read once in each. */
static int apart(int (*run)(void))
{
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		exit(run());
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(eager_in), T(segments_in), T(rendezvous_in), T(eager_out), T(segments_out),
		T(rendezvous_out), T(many_rendezvous_out), T(rendezvous_out_written), T(rma_out),
		T(write_with_data_out), T(rma_in), T(atomics_in), T(atomics_out), T(we_connect),
		T(both_connect), T(second_request), T(bad_packets), T(any_bytes), T(peer_gone),
		T(killed_anywhere),
	};
	int failed = apart(written) + apart(crowded) + apart(limited);

	return cmocka_run_group_tests(tests, NULL, NULL) + failed != 0;
}
