/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A lossy network below udp's endpoints: what arrives, and that the program gets the
 * completions of its sends and no others.
 */
#include "udp/test/world.h"

#include <poll.h>

#define SIZE 64
#define CNT 40

static char in[2 * CNT][SIZE];

static void bad_world(struct world *w, const struct conf *c, const char *fault)
{
	setenv("FI_HOOK", "fault", 1);
	setenv("FI_HOOK_FAULT", fault, 1);
	world_open(w, c);
	unsetenv("FI_HOOK");
	unsetenv("FI_HOOK_FAULT");
}

static void post_all(struct end *e)
{
	size_t i;

	for (i = 0; i < 2 * CNT; i++)
		OK(fi_recv(e->ep, in[i], SIZE, NULL, FI_ADDR_UNSPEC, in[i]));
}

static void send_one(struct world *w, size_t i, size_t len)
{
	char out[SIZE];

	pattern(out, len, (unsigned) i);
	OK(fi_send(w->end[0].ep, out, len, NULL, w->end[0].to[1], (void *) (i + 1)));
}

/* Each send completes once; in order, except where the provider's own completions are mixed in. */
static void sends_complete(struct end *e, size_t cnt, bool in_order)
{
	struct fi_cq_data_entry entry;
	bool seen[CNT + 1] = { false };
	size_t i, context;

	for (i = 0; i < cnt; i++) {
		wait_one(e->cq, &entry);
		context = (size_t) entry.op_context;
		assert_in_range(context, 1, cnt);
		assert_false(seen[context]);
		seen[context] = true;
		assert_true(!in_order || context == i + 1);
		assert_int_equal(entry.flags & (FI_SEND | FI_MSG), FI_SEND | FI_MSG);
	}
	wait_none(e->cq);
}

/* arrived - the first byte of each datagram, in order of arrival.
 * Returns how many arrived.
 */
static size_t arrived(struct end *e, unsigned char first[2 * CNT], size_t most)
{
	struct fi_cq_data_entry entry;
	uint64_t end = ms_now() + 300;
	size_t cnt = 0;

	while (cnt < most && ms_now() < end)
		if (fi_cq_read(e->cq, &entry, 1) == 1)
			first[cnt++] = (unsigned char) *(char *) entry.op_context;
	return cnt;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void lost(void **state)
{
	struct conf c = { .counters = true };
	unsigned char first[2 * CNT];
	struct world w;
	size_t i;

	bad_world(&w, &c, "drop=100");
	post_all(&w.end[1]);
	for (i = 0; i < CNT; i++)
		send_one(&w, i, SIZE);
	sends_complete(&w.end[0], CNT, true);
	assert_int_equal(fi_cntr_read(w.end[0].sent), CNT);
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
	wait_none(w.end[0].cq);
	assert_int_equal(arrived(&w.end[1], first, 1), 0);
	world_close(&w);
}

static void doubled(void **state)
{
	struct conf c = { .counters = true };
	unsigned char first[2 * CNT];
	struct world w;
	size_t i;

	bad_world(&w, &c, "dup=100");
	post_all(&w.end[1]);
	for (i = 0; i < CNT; i++)
		send_one(&w, i, SIZE);
	sends_complete(&w.end[0], CNT, true);
	assert_int_equal(fi_cntr_read(w.end[0].sent), CNT);
	assert_int_equal(arrived(&w.end[1], first, 2 * CNT), 2 * CNT);
	for (i = 0; i < 2 * CNT; i++)
		assert_int_equal(first[i], i / 2);
	world_close(&w);
}

/* Every other datagram is held until the next has left. */
static void reordered(void **state)
{
	struct conf c = { 0 };
	unsigned char first[2 * CNT];
	struct world w;
	size_t i;

	bad_world(&w, &c, "reorder=100");
	post_all(&w.end[1]);
	for (i = 0; i < CNT; i++)
		send_one(&w, i, SIZE);
	sends_complete(&w.end[0], CNT, true);
	assert_int_equal(arrived(&w.end[1], first, CNT), CNT);
	for (i = 0; i < CNT; i++)
		assert_int_equal(first[i], i ^ 1);
	world_close(&w);
}

static void damaged(void **state)
{
	struct conf c = { .caps = FI_SOURCE, .framed = true };
	struct fi_cq_data_entry entry;
	char was[SIZE], *is;
	unsigned bits, i;
	struct world w;
	fi_addr_t src;

	bad_world(&w, &c, "corrupt=100");
	post_all(&w.end[1]);
	pattern(was, SIZE, 0);
	OK(fi_senddata(w.end[0].ep, was, SIZE, NULL, 77, w.end[0].to[1], (void *) 1));
	sends_complete(&w.end[0], 1, true);
	assert_int_equal(wait_from(w.end[1].cq, &entry, &src), 1);
	assert_int_equal(entry.data, 77);
	assert_int_equal(entry.len, SIZE);
	assert_int_equal(src, w.end[1].to[0]);
	is = entry.op_context;
	for (i = 0, bits = 0; i < SIZE; i++)
		bits += (unsigned) __builtin_popcount((unsigned char) (was[i] ^ is[i]));
	assert_int_equal(bits, 1);
	world_close(&w);
}

/* The same seed makes the same choices, another seed others; datagrams without an impairment go
 * straight to the provider.
 */
static void by_seed(void **state)
{
	static const char *const faults[] = {
		"drop=30,dup=20,reorder=10,seed=5", "drop=30,dup=20,reorder=10,seed=5",
		"drop=30,dup=20,reorder=10,seed=6",
	};
	unsigned char first[3][2 * CNT];
	struct conf c = { 0 };
	size_t i, k, cnt[3];
	struct world w;

	for (k = 0; k < 3; k++) {
		bad_world(&w, &c, faults[k]);
		post_all(&w.end[1]);
		for (i = 0; i < CNT; i++)
			send_one(&w, i, SIZE);
		sends_complete(&w.end[0], CNT, false);
		cnt[k] = arrived(&w.end[1], first[k], 2 * CNT);
		assert_in_range(cnt[k], 1, 2 * CNT - 1);
		world_close(&w);
	}
	assert_int_equal(cnt[0], cnt[1]);
	assert_memory_equal(first[0], first[1], cnt[0]);
	assert_false(cnt[0] == cnt[2] && !memcmp(first[0], first[2], cnt[0]));
}

/* A burst whose last datagram is dropped leaves without waiting for it. */
static void burst(void **state)
{
	struct conf c = { .cq_flags = FI_SELECTIVE_COMPLETION, .counters = true };
	char out[] = "0123";
	struct iovec iov = { out, 4 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct world w;
	size_t i;

	bad_world(&w, &c, "drop=50,seed=2");
	post_all(&w.end[1]);
	msg.addr = w.end[0].to[1];
	msg.context = (void *) 1;
	for (i = 0; i < CNT; i++)
		OK(fi_sendmsg(w.end[0].ep, &msg, i + 1 < CNT ? FI_MORE : FI_COMPLETION));
	sends_complete(&w.end[0], 1, true);
	wait_none(w.end[1].cq);
	assert_in_range(fi_cntr_read(w.end[1].received), CNT / 4, CNT - 1);
	world_close(&w);
}

/* ---- delay --------------------------------------------------------------------------------- */

#define LATE_MS 60

/* A blocked reader is woken for a completion of the hook, and for a copy that is due. */
static void late_while_asleep(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD };
	struct fi_cq_data_entry entry;
	uint64_t began;
	struct world w;

	bad_world(&w, &c, "delay=60");
	post_all(&w.end[1]);
	began = ms_now();
	send_one(&w, 0, SIZE);
	assert_int_equal(fi_cq_sread(w.end[0].cq, &entry, 1, NULL, 5000), 1);
	assert_in_range(ms_now() - began, 0, LATE_MS - 20);
	assert_int_equal(fi_cq_sread(w.end[1].cq, &entry, 1, NULL, 5000), 1);
	assert_in_range(ms_now() - began, LATE_MS - 1, 2000);
	check_pattern(entry.op_context, SIZE, 0);
	assert_int_equal(fi_cq_sread(w.end[0].cq, &entry, 1, NULL, 30), -FI_EAGAIN);
	world_close(&w);
}

static int waited(struct world *w, struct fid_cq *cq, int timeout)
{
	struct fid *fid = &cq->fid;
	struct pollfd fd = { .events = POLLIN };

	OK(fi_control(fid, FI_GETWAIT, &fd.fd));
	if (fi_trywait(w->fabric, &fid, 1))
		return 1;
	return poll(&fd, 1, timeout);
}

static void late_on_a_descriptor(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD };
	struct fi_cq_data_entry entry;
	uint64_t began;
	struct world w;
	int reads = 0;

	bad_world(&w, &c, "delay=60");
	post_all(&w.end[1]);
	assert_int_equal(waited(&w, w.end[1].cq, 0), 0);
	assert_int_equal(waited(&w, w.end[0].cq, 0), 0);
	began = ms_now();
	send_one(&w, 0, SIZE);
	assert_int_equal(waited(&w, w.end[0].cq, 5000), 1);
	sends_complete(&w.end[0], 1, true);
	for (; fi_cq_read(w.end[1].cq, &entry, 1) == -FI_EAGAIN; reads++)
		assert_int_equal(waited(&w, w.end[1].cq, 5000), 1);
	assert_in_range(ms_now() - began, LATE_MS - 1, 2000);
	assert_in_range(reads, 1, 20);	/* the reader sleeps meanwhile */
	assert_int_equal(waited(&w, w.end[1].cq, 0), 0);
	world_close(&w);
}

/* The address is removed, and its index reused, before the copy is sent. */
static void late_for_one_who_is_removed(void **state)
{
	struct conf c = { .ends = 3 };
	unsigned char first[2 * CNT];
	struct world w;
	fi_addr_t to;

	bad_world(&w, &c, "delay=60");
	post_all(&w.end[1]);
	send_one(&w, 9, SIZE);
	OK(fi_av_remove(w.end[0].av, &w.end[0].to[1], 1, 0));
	assert_int_equal(fi_av_insert(w.end[0].av, &w.end[2].name, 1, &to, 0, NULL), 1);
	assert_int_equal(arrived(&w.end[1], first, 1), 1);
	assert_int_equal(first[0], 9);
	world_close(&w);
}

static void closed_before_it_leaves(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD };
	struct world w;

	bad_world(&w, &c, "delay=10000,reorder=50");
	send_one(&w, 0, SIZE);
	send_one(&w, 1, SIZE);
	send_one(&w, 2, SIZE);
	world_close(&w);
}

/* ---- invalid parameters -------------------------------------------------------------------- */

static void errors_are_the_providers(void **state)
{
	struct conf c = { 0 };
	struct world w;
	static char big[1 << 20];

	bad_world(&w, &c, "drop=100");
	assert_int_equal(fi_send(w.end[0].ep, big, w.info->ep_attr->max_msg_size + 1, NULL,
				 w.end[0].to[1], NULL), -FI_EMSGSIZE);
	assert_true(fi_send(w.end[0].ep, big, 1, NULL, 1000, NULL) < 0);
	wait_none(w.end[0].cq);
	world_close(&w);
}

/* The fabric is then used without the hook. */
static void no_such_fault(void **state)
{
	struct conf c = { 0 };
	struct fi_cq_data_entry entry;
	struct world w;

	bad_world(&w, &c, "drop=100,lose=3");
	post_all(&w.end[1]);
	send_one(&w, 0, SIZE);
	wait_one(w.end[1].cq, &entry);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost),
		cmocka_unit_test(doubled),
		cmocka_unit_test(reordered),
		cmocka_unit_test(damaged),
		cmocka_unit_test(by_seed),
		cmocka_unit_test(burst),
		cmocka_unit_test(late_while_asleep),
		cmocka_unit_test(late_on_a_descriptor),
		cmocka_unit_test(late_for_one_who_is_removed),
		cmocka_unit_test(closed_before_it_leaves),
		cmocka_unit_test(errors_are_the_providers),
		cmocka_unit_test(no_such_fault),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
