/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ecn_test.c - NET_OPT_ECN: datagrams are sent with the codepoint set last, and completions
 * report the codepoint received; single, in trains, over the connected socket.
 */

#include "udp/test/world.h"

#define ROOM (4 * NET_TRAIN_MAX)
#define LEN 1000

static char room[ROOM], out[LEN];

static void open_both(struct world *w, int family)
{
	struct conf c = { .family = family, .trains = true };
	struct iovec iov = { room, ROOM };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC };

	world_open(w, &c);
	OK(fi_recvmsg(w->end[1].ep, &msg, FI_COMPLETION | FI_MULTI_RECV));
}

static void set(struct world *w, int codepoint)
{
	OK(fi_setopt(&w->end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_ECN, &codepoint,
		     sizeof(codepoint)));
}

static void expect(struct world *w, uint64_t codepoint)
{
	struct fi_cq_data_entry e;

	wait_one(w->end[1].cq, &e);
	assert_int_equal(e.len, LEN);
	assert_int_equal(e.flags & FI_REMOTE_CQ_DATA, 0);
	assert_int_equal(e.data, codepoint);
}

static void check_family(int family)
{
	static const int codepoints[] = { 0, NET_ECN_ECT0, NET_ECN_CE, 1, 0 };
	struct iovec iov = { out, LEN };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_cq_data_entry e;
	struct world w;
	unsigned i;

	open_both(&w, family);
	msg.addr = w.end[0].to[1];
	for (i = 0; i < sizeof(codepoints) / sizeof(*codepoints); i++) {
		set(&w, codepoints[i]);
		OK(fi_inject(w.end[0].ep, out, LEN, msg.addr));
		expect(&w, (uint64_t) codepoints[i]);
	}
	/* a train */
	set(&w, NET_ECN_ECT0);
	for (i = 0; i < 8; i++)
		OK(fi_sendmsg(w.end[0].ep, &msg, i < 7 ? FI_MORE : FI_COMPLETION));
	wait_one(w.end[0].cq, &e);
	for (i = 0; i < 8; i++)
		expect(&w, NET_ECN_ECT0);
	/* enough sends for a connected socket */
	for (i = 0; i < 100; i++) {
		OK(fi_inject(w.end[0].ep, out, LEN, msg.addr));
		expect(&w, NET_ECN_ECT0);
	}
	set(&w, NET_ECN_CE);
	OK(fi_inject(w.end[0].ep, out, LEN, msg.addr));
	expect(&w, NET_ECN_CE);
	/* the sender's data is not changed */
	OK(fi_injectdata(w.end[0].ep, out, LEN, 77, msg.addr));
	wait_one(w.end[1].cq, &e);
	assert_int_equal(e.data, 77);
	world_close(&w);
}

static void test_ipv4(void **state)
{
	check_family(AF_INET);
}

static void test_ipv6(void **state)
{
	check_family(AF_INET6);
}

static void test_refused(void **state)
{
	struct conf c = { .ends = 1 };
	struct world w;
	int ecn = NET_ECN_ECT0;

	world_open(&w, &c);
	assert_int_equal(fi_setopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_ECN, &ecn,
				   sizeof(ecn)), -FI_EOPBADSTATE);
	world_close(&w);
	c.trains = true;
	world_open(&w, &c);
	ecn = 4;
	assert_int_equal(fi_setopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_ECN, &ecn,
				   sizeof(ecn)), -FI_EINVAL);
	assert_int_equal(fi_setopt(&w.end[0].ep->fid, FI_OPT_ENDPOINT, NET_OPT_ECN, &ecn, 1),
			 -FI_EINVAL);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
