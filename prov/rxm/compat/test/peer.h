/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * peer.h - an endpoint of tcp;ofi_rxm, and the test as its peer: a connected endpoint of tcp that sends
 * and expects the bytes of the protocol's description.
 *
 * For the programs peer_*_test.c beside this directory.  Includes cmocka.
 */
#ifndef RXM_COMPAT_TEST_PEER_H
#define RXM_COMPAT_TEST_PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include "base/test/verify.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "foreign/test/hex.h"

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

/* ---- both ends -------------------------------------------------------------------------------- */

static inline struct fi_info *find(const char *prov, enum fi_ep_type type, uint64_t caps)
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

static inline void open_us(void)
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

static inline void open_peer(void)
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

static inline int setup(void **state)
{
	memset(&us, 0, sizeof(us));
	memset(&peer, 0, sizeof(peer));
	open_us();
	open_peer();
	return 0;
}

static inline void hang_up(void)
{
	if (peer.ep)
		OK(fi_close(&peer.ep->fid));
	peer.ep = NULL;
}

static inline int teardown(void **state)
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

static inline time_t deadline(void)
{
	return time(NULL) + PATIENCE_S;
}

static inline void progress(time_t until)
{
	fi_cq_read(us.cq, NULL, 0);
	fi_cq_read(peer.cq, NULL, 0);
	assert_true(time(NULL) < until);
}

/* ---- the endpoint's completions ------------------------------------------------------------------ */

static inline struct fi_cq_tagged_entry completion(void)
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

static inline int failed_completion(void)
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

static inline void none(void)
{
	struct fi_cq_tagged_entry entry;
	int i;

	for (i = 0; i < 200; i++) {
		assert_int_equal(fi_cq_read(us.cq, &entry, 1), -FI_EAGAIN);
		fi_cq_read(peer.cq, NULL, 0);
	}
}

static inline uint8_t byte_at(size_t i, unsigned seed)
{
	return (uint8_t) (i * 7 + i / 251 + seed);
}

static inline void fill(uint8_t *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = byte_at(i, seed);
}

static inline void check(const uint8_t *buf, size_t from, size_t len, unsigned seed)
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
static inline size_t event_of(uint32_t want, union event *ev)
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

static inline void post(unsigned i)
{
	OK(fi_recv(peer.ep, peer.in[i], ROOM, NULL, 0, &ctx[i]));
}

static inline void make_endpoint(struct fi_info *info)
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

static inline size_t request(uint8_t *out)
{
	uint16_t port = ntohs(peer.name.sin_port);
	size_t len = hex_bytes(REQUEST, out);

	memcpy(out + 4, &port, sizeof(port));
	out[21] = (uint8_t) (out[21] + peer.life);
	return len;
}

/* The peer connects with connection id 3, as a process 4242. */
static inline void they_connect(void)
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
static inline void they_accept(void)
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
static inline struct fi_cq_msg_entry their_completion(void)
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
static inline void they_send(const char *hex, const uint8_t *payload, size_t len)
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
static inline const uint8_t *they_get(const char *hex, size_t payload)
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

/* ---- packets as text ----------------------------------------------------------------------------- */

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

#define RNDV "0402000000000000" NONE FIVE NONE "0200010000000000 0000100000000000" NONE TAG
#define UNUSED NONE NONE NONE NONE NONE NONE NONE NONE NONE
#define READ_DONE "0403000000000000" NONE FIVE NONE "0200000000000000" NONE NONE NONE
#define ATOMIC_HEAD(op, len, what) "0404000000000000" NONE FIVE NONE "0200" op "0000000000" len NONE what
#define RESPONSE(op, len, what) "0405000000000000" NONE FIVE NONE "0200" op "0000000000" len NONE what
#define LEN(n) n "00000000000000"

static inline void hex_word(char *out, uint64_t word)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		sprintf(out + 2 * i, "%02x", (unsigned) (word >> 8 * i & 0xff));
}

static inline void announce(void)
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

/* A header, and a list of one entry with room for four. */
static inline char *with_list(char *text, const char *head, uint64_t addr, uint64_t len, uint64_t key)
{
	char word[3][20];

	hex_word(word[0], addr);
	hex_word(word[1], len);
	hex_word(word[2], key);
	snprintf(text, 1024, "%s%s%s%s" UNUSED, head, word[0], word[1], word[2]);
	return text;
}

/* ---- test programs ------------------------------------------------------------------------------ */

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* apart - run @tests in a child process that has the variable @name.  A variable of the environment is
 * read once in each process.  Returns 0 if all pass.
 */
static inline int apart(const char *name, const char *value, const struct CMUnitTest *tests, size_t cnt)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		setenv(name, value, 1);
		exit(_cmocka_run_group_tests(name, tests, cnt, NULL, NULL));
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

#endif
