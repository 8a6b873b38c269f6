/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * source_test.c - NET_OPT_SOURCE: completions have a constant number per source address, and
 * NET_OPT_SOURCE_ADDR returns the address; any number of unknown sources only evicts older
 * addresses from the cache.
 */

#include "udp/test/world.h"

#include <unistd.h>

#include "ep.h"
#include "wire.h"

#define ROOM (4 * NET_TRAIN_MAX)
#define LEN 1000
#define STRANGERS 300

static char room[ROOM], out[LEN];

static void open_three(struct world *w, int family, bool no_ecn)
{
	struct conf c = { .family = family, .trains = true, .sources = true, .ends = 3,
			  .no_ecn = no_ecn };
	struct iovec iov = { room, ROOM };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC };

	world_open(w, &c);
	OK(fi_recvmsg(w->end[0].ep, &msg, FI_COMPLETION | FI_MULTI_RECV));
}

/* The source number of the next message; now and then a buffer is used up. */
static uint64_t from(struct world *w)
{
	struct iovec iov = { room, ROOM };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	struct fi_cq_data_entry e;

	wait_one(w->end[0].cq, &e);
	if (e.flags & FI_MULTI_RECV)
		OK(fi_recvmsg(w->end[0].ep, &msg, FI_COMPLETION | FI_MULTI_RECV));
	assert_int_equal(e.data & NET_ECN_MASK, NET_ECN_NOT);
	assert_true(e.data >> NET_SOURCE_SHIFT);
	return e.data >> NET_SOURCE_SHIFT;
}

static int look_up(struct world *w, uint64_t number, struct net_source *source)
{
	size_t len = sizeof(*source);

	*source = (struct net_source) { .number = number };
	return fi_getopt(&w->end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE_ADDR, source, &len);
}

static void expect_at(struct world *w, uint64_t number, const struct end *sender)
{
	struct net_source source;

	OK(look_up(w, number, &source));
	assert_int_equal(source.len, sender->name_len);
	assert_memory_equal(source.addr, &sender->name, source.len);
}

/* Two numbers may share a cache entry; then the later address is found. */
static void expect_both(struct world *w, uint64_t first, uint64_t second)
{
	struct net_source source;
	bool one = look_up(w, first, &source) != 0, other = look_up(w, second, &source) != 0;

	assert_int_equal(one + other, first % UDP_SOURCES == second % UDP_SOURCES);
	if (!one)
		expect_at(w, first, &w->end[1]);
	if (!other)
		expect_at(w, second, &w->end[2]);
}

static void check_family(int family, bool no_ecn)
{
	struct iovec iov = { out, LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	uint64_t first, second;
	struct net_source source;
	struct world w;
	unsigned i;

	open_three(&w, family, no_ecn);
	OK(fi_inject(w.end[1].ep, out, LEN, w.end[1].to[0]));
	first = from(&w);
	OK(fi_inject(w.end[2].ep, out, LEN, w.end[2].to[0]));
	second = from(&w);
	assert_true(first != second);
	expect_both(&w, first, second);
	assert_int_equal(look_up(&w, first + second, &source), -FI_ENOENT);
	assert_int_equal(look_up(&w, 0, &source), -FI_ENOENT);
	/* enough sends for a connected socket */
	for (i = 0; i < 100; i++) {
		OK(fi_inject(w.end[1].ep, out, LEN, w.end[1].to[0]));
		assert_true(from(&w) == first);
	}
	msg.addr = w.end[2].to[0];
	for (i = 0; i < 8; i++)
		OK(fi_sendmsg(w.end[2].ep, &msg, i < 7 ? FI_MORE : 0));
	for (i = 0; i < 8; i++)
		assert_true(from(&w) == second);
	world_close(&w);
}

/* Enough sends for a connected socket to this peer. */
static void make_connected(struct world *w, fi_addr_t to)
{
	unsigned i;

	for (i = 0; i < 100; i++)
		OK(fi_inject(w->end[0].ep, out, LEN, to));
}

/* The connected socket changes peers while it holds a datagram of the previous peer. */
static void test_hot(void **state)
{
	uint64_t first, second;
	struct world w;
	unsigned i;

	open_three(&w, AF_INET, true);
	OK(fi_inject(w.end[1].ep, out, LEN, w.end[1].to[0]));
	first = from(&w);
	OK(fi_inject(w.end[2].ep, out, LEN, w.end[2].to[0]));
	second = from(&w);
	for (i = 0; i < 4; i++) {
		make_connected(&w, w.end[0].to[1 + i % 2]);
		wait_none(w.end[0].cq);
		OK(fi_inject(w.end[1 + i % 2].ep, out, LEN, w.end[1 + i % 2].to[0]));
		make_connected(&w, w.end[0].to[2 - i % 2]);
		assert_true(from(&w) == (i % 2 ? second : first));
		OK(fi_inject(w.end[2 - i % 2].ep, out, LEN, w.end[2 - i % 2].to[0]));
		assert_true(from(&w) == (i % 2 ? first : second));
	}
	expect_both(&w, first, second);
	world_close(&w);
}

static void test_ipv4(void **state)
{
	check_family(AF_INET, false);
	check_family(AF_INET, true);
}

static void test_ipv6(void **state)
{
	check_family(AF_INET6, false);
	check_family(AF_INET6, true);
}

static void send_strange(const struct end *to)
{
	struct { struct udp_hdr hdr; char text[8]; } pkt = { .text = "strange" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	udp_wire_fill(&pkt.hdr, sizeof(pkt.text), 0, 0);
	assert_int_equal(sendto(fd, &pkt, sizeof(pkt), 0, (const struct sockaddr *) &to->name,
				(socklen_t) to->name_len), sizeof(pkt));
	close(fd);
}

/* Ports of strangers may repeat, so that it takes more of them to fill the table. */
static void test_strangers(void **state)
{
	struct net_source source;
	uint64_t first, last = 0;
	struct world w;
	unsigned i;

	open_three(&w, AF_INET, false);
	OK(fi_inject(w.end[1].ep, out, LEN, w.end[1].to[0]));
	first = from(&w);
	for (i = 0; i < STRANGERS || (i < 4 * STRANGERS && !look_up(&w, first, &source)); i++) {
		send_strange(&w.end[0]);
		last = from(&w);
	}
	OK(look_up(&w, last, &source));
	assert_int_equal(look_up(&w, first, &source), -FI_ENOENT);
	OK(fi_inject(w.end[1].ep, out, LEN, w.end[1].to[0]));
	assert_true(from(&w) == first);
	expect_at(&w, first, &w.end[1]);
	world_close(&w);
}

static void test_refused(void **state)
{
	struct conf c = { .ends = 1 };
	struct net_source source;
	int on = 1, off = 0;
	struct world w;
	size_t len = 8;

	world_open(&w, &c);
	assert_int_equal(fi_setopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE, &on,
				   sizeof(on)), -FI_EOPBADSTATE);
	assert_int_equal(look_up(&w, 1, &source), -FI_EOPBADSTATE);
	assert_int_equal(fi_getopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE_ADDR, &source,
				   &len), -FI_EINVAL);
	world_close(&w);
	c.trains = true;
	world_open(&w, &c);
	assert_int_equal(fi_setopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE, &off,
				   sizeof(off)), -FI_EOPBADSTATE);
	assert_int_equal(fi_setopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_SOURCE, &on, 1),
			 -FI_EINVAL);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_hot),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
