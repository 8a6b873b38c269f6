/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Each order bit that is offered, over every link, with transfers of 8 bytes and of 1 MiB in all pairs.
 *
 * All progress is made by this thread, so what the target's memory and its receives look like between
 * two steps is what a program can see.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtimes/rt.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define LONG (1u << 20)
#define ROUNDS 5
#define TAG 9
/* Each has a case below. */
#define ORDERS (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_RAR | FI_ORDER_RAW | \
		FI_ORDER_RAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW | \
		FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

static const struct link {
	const char *name, *prov, *env;	/* env: set to 0 */
} links[] = {
	{ "tcp", "tcp", "FI_TCP_LOCAL" },
	{ "tcp, shared memory", "tcp", NULL },
	{ "shm", "shm", NULL },
	{ "loop", "loop", NULL },
	{ "rxd", "udp;ofi_rxd", "FI_OFI_RXD_LOCAL" },
	{ "rxd, shared memory", "udp;ofi_rxd", NULL },
	{ "rxm", "tcp;ofi_rxm", "FI_OFI_RXM_LOCAL" },
	{ "rxm, shared memory", "tcp;ofi_rxm", NULL },
};

static const struct rt_setup plain = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED };

static const struct link *the;
static struct rt_world w;
static char *out[2], *in[2], *mem;	/* of LONG bytes; mem: the region that is written and read */
static struct fid_mr *mr;
static struct fi_context2 ctx[8];
enum { FIRST, SECOND, RECV, RECV2, PEEK };	/* contexts */

static int open_link(void **state)
{
	bool ip = strcmp(the->prov, "shm") && strcmp(the->prov, "loop");
	struct fi_info *hints = rt_hints(), *info;
	int i;

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(the->prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), ip ? "127.0.0.1" : NULL, NULL, ip ? FI_SOURCE : 0, hints,
				    &info), 0);
	fi_freeinfo(hints);
	hints = fi_dupinfo(info);
	fi_freeinfo(info);
	rt_open(&w, hints, &plain);
	for (i = 0; i < 2; i++) {
		out[i] = calloc(1, LONG);
		in[i] = calloc(1, LONG);
	}
	mem = calloc(1, LONG);
	assert_int_equal(fi_mr_reg(w.domain, mem, LONG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0x44, 0, &mr, NULL),
			 0);
	return 0;
}

static int close_link(void **state)
{
	int i;

	assert_int_equal(fi_close(&mr->fid), 0);
	rt_close(&w);
	for (i = 0; i < 2; i++) {
		free(out[i]);
		free(in[i]);
	}
	free(mem);
	return 0;
}

/* ---- transfers ------------------------------------------------------------------------------ */

static uint64_t target(void)
{
	return w.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) mem : 0;
}

/* fill - pattern @seed, which no other seed below 255 has at any place. */
static void fill(char *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (char) (i * 31 + seed);
}

static void check(const char *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		assert_int_equal(buf[i], (char) (i * 31 + seed));
}

static void send_one(int at, size_t len, unsigned seed)
{
	fill(out[at], len, seed);
	rt_do(&w, fi_tsend(w.ep[0], out[at], len, NULL, w.addr[1], TAG, &ctx[at]));
}

static void receive_one(int at, void *buf, size_t len)
{
	rt_do(&w, fi_trecv(w.ep[1], buf, len, NULL, FI_ADDR_UNSPEC, TAG, 0, &ctx[at]));
}

static void write_one(int at, size_t len, unsigned seed, uint64_t flags)
{
	struct iovec iov = { out[at], len };
	struct fi_rma_iov remote = { target(), len, fi_mr_key(mr) };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = w.addr[1], .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &ctx[at] };

	fill(out[at], len, seed);
	rt_do(&w, fi_writemsg(w.ep[0], &msg, flags | FI_COMPLETION));
}

static void read_one(int at, size_t len)
{
	memset(in[at], 0, len);
	rt_do(&w, fi_read(w.ep[0], in[at], len, NULL, w.addr[1], target(), fi_mr_key(mr), &ctx[at]));
}

/* wait_for - completions of the initiator up to that of @at.  Returns how many came before it. */
static unsigned wait_for(int at)
{
	unsigned before = 0;

	while (rt_wait(&w, 0).op_context != &ctx[at])
		before++;
	return before;
}

/* is_there - the target has the message, without any further progress. */
static bool is_there(void)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = TAG, .context = &ctx[PEEK] };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	assert_int_equal(fi_trecvmsg(w.ep[1], &msg, FI_PEEK), 0);
	while ((ret = fi_cq_read(w.cq[1], &entry, 1)) == -FI_EAGAIN)
		;
	if (ret == 1)
		return true;
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w.cq[1], &err, 0), 1);
	assert_int_equal(err.err, FI_ENOMSG);
	return false;
}

/* await_written - the last byte of a write of @len bytes has come. */
static void await_written(size_t len, unsigned seed)
{
	volatile char *last = mem + len - 1;

	while (*last != (char) ((len - 1) * 31 + seed))
		rt_push(&w);
}

/* in_all_pairs - a case for each pair of lengths. */
static void in_all_pairs(void (*pair)(size_t first, size_t second, unsigned seed))
{
	static const size_t lens[] = { 8, LONG };
	unsigned i, round;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < 4; i++)
			pair(lens[i / 2], lens[i % 2], 1 + 40 * round + 4 * i);
}

/* ---- orders ----------------------------------------------------------------------------------- */

static void every_order_that_is_offered_is_tested(void **state)
{
	assert_int_equal(w.info->tx_attr->msg_order, ORDERS);
	assert_int_equal(w.info->rx_attr->msg_order, ORDERS);
	assert_true(w.info->ep_attr->max_order_raw_size >= LONG && w.info->ep_attr->max_order_waw_size >= LONG);
}

static void sas(size_t first, size_t second, unsigned seed)
{
	bool posted = seed % 8 == 1;
	int i;

	if (posted) {
		receive_one(RECV, in[0], LONG);
		receive_one(RECV2, in[1], LONG);
	}
	send_one(FIRST, first, seed);
	send_one(SECOND, second, seed + 1);
	for (i = 0; i < 100; i++)
		rt_push(&w);
	if (!posted) {
		receive_one(RECV, in[0], LONG);
		receive_one(RECV2, in[1], LONG);
	}
	for (i = 0; i < 4; i++)
		rt_wait(&w, i % 2);
	check(in[0], first, seed);
	check(in[1], second, seed + 1);
}

static void a_message_after_a_message(void **state)
{
	in_all_pairs(sas);
}

static void saw(size_t first, size_t second, unsigned seed)
{
	receive_one(RECV, in[0], LONG);
	write_one(FIRST, first, seed, 0);
	send_one(SECOND, second, seed + 1);
	rt_wait(&w, 1);
	check(mem, first, seed);
	rt_wait(&w, 0);
	rt_wait(&w, 0);
}

/* A message that was received says that the write before it is in place. */
static void a_message_after_a_write(void **state)
{
	in_all_pairs(saw);
}

static void waw(size_t first, size_t second, unsigned seed)
{
	size_t less = first < second ? first : second;

	write_one(FIRST, first, seed, 0);
	write_one(SECOND, second, seed + 1, FI_DELIVERY_COMPLETE);
	if (!wait_for(SECOND))
		wait_for(FIRST);
	check(mem, less, seed + 1);
}

static void a_write_after_a_write(void **state)
{
	in_all_pairs(waw);
}

static void was_unexpected(size_t first, size_t second, unsigned seed)
{
	send_one(FIRST, first, seed);
	write_one(SECOND, second, seed + 1, 0);
	await_written(second, seed + 1);
	assert_true(is_there());
	receive_one(RECV, in[0], LONG);
	rt_wait(&w, 1);
	check(in[0], first, seed);
	rt_wait(&w, 0);
	rt_wait(&w, 0);
}

/* The payload of a short message is in its buffer; with a long one, the receive that it matches has it. */
static void was_posted(size_t first, size_t second, unsigned seed)
{
	memset(in[0], 0, LONG);
	receive_one(RECV, in[0], LONG);
	send_one(FIRST, first, seed);
	write_one(SECOND, second, seed + 1, 0);
	await_written(second, seed + 1);
	if (first == 8)
		check(in[0], first, seed);
	rt_wait(&w, 1);
	check(in[0], first, seed);
	rt_wait(&w, 0);
	rt_wait(&w, 0);
}

static void a_write_after_a_message(void **state)
{
	in_all_pairs(was_unexpected);
	in_all_pairs(was_posted);
}

static void ras_unexpected(size_t first, size_t second, unsigned seed)
{
	unsigned before;

	send_one(FIRST, first, seed);
	read_one(SECOND, second);
	before = wait_for(SECOND);
	assert_true(is_there());
	receive_one(RECV, in[0], LONG);
	rt_wait(&w, 1);
	check(in[0], first, seed);
	if (!before)
		wait_for(FIRST);
}

/* The message is received in the region that is read. */
static void ras_posted(size_t first, size_t second, unsigned seed)
{
	unsigned before;

	memset(mem, 0, LONG);
	receive_one(RECV, mem, LONG);
	send_one(FIRST, first, seed);
	read_one(SECOND, second);
	before = wait_for(SECOND);
	if (first == 8)
		check(in[SECOND], first, seed);
	rt_wait(&w, 1);
	check(mem, first, seed);
	if (!before)
		wait_for(FIRST);
}

static void a_read_after_a_message(void **state)
{
	in_all_pairs(ras_unexpected);
	in_all_pairs(ras_posted);
}

static void raw(size_t first, size_t second, unsigned seed)
{
	fill(mem, LONG, seed + 2);
	write_one(FIRST, first, seed, 0);
	memset(in[SECOND], 0, LONG);
	read_one(SECOND, second);
	if (!wait_for(SECOND))
		wait_for(FIRST);
	check(in[SECOND], first < second ? first : second, seed);
}

static void a_read_after_a_write(void **state)
{
	in_all_pairs(raw);
}

/* The memory changes between two steps; the second read sees nothing older than the first. */
static void rar(size_t first, size_t second, unsigned seed)
{
	size_t less = first < second ? first : second;
	uint64_t version = seed, a, b, *word = (uint64_t *) (mem + less - 8);
	struct fi_cq_tagged_entry entry;
	unsigned done = 0;

	read_one(FIRST, first);
	read_one(SECOND, second);
	while (done < 2) {
		*word = version++;
		rt_push(&w);
		done += fi_cq_read(w.cq[0], &entry, 1) == 1;
	}
	memcpy(&a, in[FIRST] + less - 8, 8);
	memcpy(&b, in[SECOND] + less - 8, 8);
	if (a > b)
		fail_msg("a read of %zu bytes sees version %llu, one of %zu behind it %llu", first,
			 (unsigned long long) a, second, (unsigned long long) b);
}

static void a_read_after_a_read(void **state)
{
	unsigned i;

	in_all_pairs(rar);
	for (i = 0; i < 50; i++)	/* a link may copy the short payload before it takes the long one */
		rar(LONG, 8, 1);
}

/* Behind a long write that covers the eight bytes at the end of the region, too. */
static void atomics_after_atomics(void **state)
{
	uint64_t put[4] = { 11, 22, 33, 44 }, got[4], left, at = target() + LONG - 8;
	unsigned round, k;

	for (round = 0; round < ROUNDS; round++) {
		write_one(FIRST, LONG, round, 0);
		for (k = 0; k < 4; k++) {
			rt_do(&w, fi_fetch_atomic(w.ep[0], NULL, 1, NULL, &got[k], NULL, w.addr[1], at, fi_mr_key(mr),
						  FI_UINT64, FI_ATOMIC_READ, &ctx[k]));
			rt_do(&w, fi_atomic(w.ep[0], &put[k], 1, NULL, w.addr[1], at, fi_mr_key(mr), FI_UINT64,
					    k % 2 ? FI_SUM : FI_ATOMIC_WRITE, &ctx[4 + k % 2]));
		}
		for (k = 0; k < 9; k++)
			rt_wait(&w, 0);
		rt_do(&w, fi_read(w.ep[0], &left, 8, NULL, w.addr[1], at, fi_mr_key(mr), &ctx[6]));
		rt_wait(&w, 0);
		assert_memory_equal(&got[0], out[FIRST] + LONG - 8, 8);
		assert_int_equal(got[1], 11);
		assert_int_equal(got[2], 33);
		assert_int_equal(got[3], 33);
		assert_int_equal(left, 77);
	}
}

/* ---- links ------------------------------------------------------------------------------------ */

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_link, close_link)

static const char *link_name(size_t i)
{
	return i < COUNT(links) ? links[i].name : NULL;
}

static int run_link(size_t i)
{
	const struct CMUnitTest tests[] = {
		CASE(every_order_that_is_offered_is_tested),
		CASE(a_message_after_a_message),
		CASE(a_message_after_a_write),
		CASE(a_write_after_a_write),
		CASE(a_write_after_a_message),
		CASE(a_read_after_a_message),
		CASE(a_read_after_a_write),
		CASE(a_read_after_a_read),
		CASE(atomics_after_atomics),
	};

	the = &links[i];
	if (the->env)
		setenv(the->env, "0", 1);
	return cmocka_run_group_tests_name(the->name, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return rt_each_link(argc, argv, link_name, run_link);
}
