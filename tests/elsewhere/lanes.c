/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The pieces of a message travel over three connections that are late by different times: messages are
 * whole and in order, and operations keep the orders that are offered.
 *
 * The library sends by syscall(), which this program replaces: a connection that is late has no room.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/runtimes/rt.h"

#define LANES 3
#define LONG (1u << 20)
#define SHORT 1000
#define STEP_NS (100 * CLOCK_NS_PER_MS)
/* Each has a case below. */
#define ORDERS (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_RAR | FI_ORDER_RAW | \
		FI_ORDER_RAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW | \
		FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

static const struct rt_setup plain = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED };

/* ---- connections that are late ---------------------------------------------------------- */

static struct lane {
	int fd;
	int back;		/* the other end of it, 0: not looked for yet */
	uint64_t until_ns;	/* nothing is sent before */
	size_t sent;
} lane[LANES];
static unsigned lane_cnt;	/* connected by endpoint 0, in this order */

static struct lane *lane_of(int fd)
{
	unsigned i;

	for (i = 0; i < lane_cnt; i++)
		if (lane[i].fd == fd || (lane[i].back && lane[i].back == fd))
			return &lane[i];
	return NULL;
}

__attribute__((visibility("default")))
int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	int (*real)(int, const struct sockaddr *, socklen_t) =
		(int (*)(int, const struct sockaddr *, socklen_t)) dlsym(RTLD_NEXT, "connect");

	if (addr->sa_family == AF_INET && lane_cnt < LANES && !lane_of(fd))
		lane[lane_cnt++].fd = fd;
	return real(fd, addr, len);
}

__attribute__((visibility("default")))
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...)) dlsym(RTLD_NEXT, "syscall");
	struct lane *to = NULL;
	va_list args;
	long arg[6], ret;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_sendto || number == SYS_sendmsg)
		to = lane_of((int) arg[0]);
	if (to && clock_ns() < to->until_ns) {
		errno = EAGAIN;
		return -1;
	}
	ret = real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (to && ret > 0)
		to->sent += (size_t) ret;
	return ret;
}

/* other_end - the descriptor of this process at the other end of @fd. */
static int other_end(int fd)
{
	struct sockaddr_in here, peer;
	socklen_t len = sizeof(here);
	int at;

	assert_int_equal(getsockname(fd, (struct sockaddr *) &here, &len), 0);
	for (at = 3; at < 1024; at++) {
		len = sizeof(peer);
		if (!getpeername(at, (struct sockaddr *) &peer, &len) && peer.sin_port == here.sin_port)
			return at;
	}
	fail_msg("no descriptor at the other end of %d", fd);
	return -1;
}

/* delay - lane order[i] is late by @i steps, in both directions. */
static void delay(const unsigned order[LANES])
{
	uint64_t now = clock_ns();
	unsigned i;

	for (i = 0; i < LANES; i++) {
		if (!lane[i].back)
			lane[i].back = other_end(lane[i].fd);
		lane[order[i]].until_ns = now + i * STEP_NS;
	}
}

/* ---- two endpoints ------------------------------------------------------------------------ */

static char *out, *in, *mem;	/* of LONG bytes */
static struct fid_mr *mr;

static void fill(char *buf, unsigned seed)
{
	size_t i;

	for (i = 0; i < LONG; i++)
		buf[i] = (char) (i * 31 + (i >> 8) + seed);
}

static void check(const char *buf, unsigned seed)
{
	static char want[LONG];

	fill(want, seed);
	assert_memory_equal(buf, want, LONG);
}

static void open_lanes(struct rt_world *w)
{
	struct fi_info *hints = rt_hints(), *info;
	struct fi_context2 ctx[2];

	hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;	/* what is below is this thread's alone */
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup("tcp");
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), "127.0.0.1", NULL, FI_SOURCE, hints, &info), 0);
	fi_freeinfo(hints);
	assert_int_equal(info->tx_attr->msg_order, ORDERS);
	assert_true(info->ep_attr->max_order_waw_size >= LONG && info->ep_attr->max_order_raw_size >= LONG);
	hints = fi_dupinfo(info);
	fi_freeinfo(info);
	memset(lane, 0, sizeof(lane));
	lane_cnt = 0;
	rt_open(w, hints, &plain);
	out = malloc(LONG);
	in = calloc(1, LONG);
	mem = calloc(1, LONG);
	assert_int_equal(fi_mr_reg(w->domain, mem, LONG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0x44, 0, &mr, NULL),
			 0);
	/* the further lanes are made when long payload is sent */
	while (!lane[LANES - 1].sent) {
		rt_do(w, fi_recv(w->ep[1], in, LONG, NULL, FI_ADDR_UNSPEC, &ctx[1]));
		rt_do(w, fi_send(w->ep[0], out, LONG, NULL, w->addr[1], &ctx[0]));
		rt_wait(w, 1);
		rt_wait(w, 0);
	}
}

static void close_lanes(struct rt_world *w)
{
	assert_int_equal(fi_close(&mr->fid), 0);
	rt_close(w);
	free(out);
	free(in);
	free(mem);
}

static uint64_t target(const struct rt_world *w)
{
	return w->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) mem : 0;
}

static void write_long(struct rt_world *w, const char *from, struct fi_context2 *ctx, uint64_t flags)
{
	struct iovec iov = { (void *) from, LONG };
	struct fi_rma_iov remote = { target(w), LONG, fi_mr_key(mr) };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = w->addr[1], .rma_iov = &remote,
				  .rma_iov_count = 1, .context = ctx };

	rt_do(w, fi_writemsg(w->ep[0], &msg, flags | FI_COMPLETION));
}

/* ---- tests ---------------------------------------------------------------------------------- */

static const unsigned orders[][LANES] = {
	{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
};
#define ORDER_CNT (sizeof(orders) / sizeof(orders[0]))

/* take_both - a long message and a short one, in the order of sending. */
static void take_both(struct rt_world *w, unsigned seed, bool posted, const unsigned order[LANES])
{
	struct fi_context2 ctx[4];
	uint64_t later;
	char word[8];
	int i;

	fill(out, seed);
	memset(in, 0, LONG);
	for (i = 0; i < 2; i++) {
		if (i != posted) {
			rt_do(w, fi_recv(w->ep[1], in, LONG, NULL, FI_ADDR_UNSPEC, &ctx[0]));
			rt_do(w, fi_recv(w->ep[1], word, sizeof(word), NULL, FI_ADDR_UNSPEC, &ctx[1]));
			continue;
		}
		delay(order);
		rt_do(w, fi_send(w->ep[0], out, LONG, NULL, w->addr[1], &ctx[2]));
		rt_do(w, fi_send(w->ep[0], "short", 6, NULL, w->addr[1], &ctx[3]));
		for (later = clock_ns() + LANES * STEP_NS; !posted && clock_ns() < later;)
			rt_push(w);
	}
	for (i = 0; i < 4; i++)
		rt_wait(w, i / 2);
	check(in, seed);
	assert_string_equal(word, "short");
}

static void pieces_in_every_order_are_one_message(void **state)
{
	struct rt_world w;
	unsigned i;

	open_lanes(&w);
	for (i = 0; i < 2 * ORDER_CNT; i++)
		take_both(&w, i + 1, i % 2, orders[i / 2]);
	close_lanes(&w);
}

/* write_late - a write of pattern @i, whose pieces come late in order @i; another operation follows at once. */
static void write_late(struct rt_world *w, unsigned i, struct fi_context2 *ctx)
{
	fill(out, i);
	delay(orders[i]);
	write_long(w, out, ctx, 0);
}

static void wait_both(struct rt_world *w)
{
	rt_wait(w, 0);
	rt_wait(w, 0);
}

/* The second of two writes to one place counts. */
static void a_write_stays_behind_a_write(void **state)
{
	struct fi_context2 ctx[2];
	struct rt_world w;
	unsigned i;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		fill(in, i + 100);
		write_late(&w, i, &ctx[0]);
		write_long(&w, in, &ctx[1], FI_DELIVERY_COMPLETE);
		wait_both(&w);
		check(mem, i + 100);
	}
	close_lanes(&w);
}

/* A read returns what was written before. */
static void a_read_stays_behind_a_write(void **state)
{
	struct fi_context2 ctx[2];
	struct rt_world w;
	unsigned i;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		memset(in, 0, LONG);
		write_late(&w, i, &ctx[0]);
		rt_do(&w, fi_read(w.ep[0], in, LONG, NULL, w.addr[1], target(&w), fi_mr_key(mr), &ctx[1]));
		wait_both(&w);
		check(in, i);
	}
	close_lanes(&w);
}

/* A message says that the write before it is in place. */
static void a_message_stays_behind_a_write(void **state)
{
	struct fi_context2 ctx[3];
	struct rt_world w;
	char word[8];
	unsigned i;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		fill(out, i);
		rt_do(&w, fi_recv(w.ep[1], word, sizeof(word), NULL, FI_ADDR_UNSPEC, &ctx[2]));
		delay(orders[i]);
		write_long(&w, out, &ctx[0], 0);
		rt_do(&w, fi_send(w.ep[0], "there", 6, NULL, w.addr[1], &ctx[1]));
		rt_wait(&w, 1);
		check(mem, i);
		rt_wait(&w, 0);
		rt_wait(&w, 0);
	}
	close_lanes(&w);
}

/* The memory changes while two reads are answered; the second sees nothing older than the first.  Only this
 * thread makes progress, so the memory changes between two steps of it.
 */
static void a_read_stays_behind_a_read(void **state)
{
	uint64_t last = LONG - 8, second, version = 1, a, b;
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[2];
	struct rt_world w;
	unsigned i, done;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		delay(orders[i]);
		rt_do(&w, fi_read(w.ep[0], in, LONG, NULL, w.addr[1], target(&w), fi_mr_key(mr), &ctx[0]));
		rt_do(&w, fi_read(w.ep[0], &second, 8, NULL, w.addr[1], target(&w) + last, fi_mr_key(mr), &ctx[1]));
		for (done = 0; done < 2;) {
			memcpy(mem + last, &version, 8);
			version++;
			rt_push(&w);
			done += fi_cq_read(w.cq[0], &entry, 1) == 1;
		}
		memcpy(&a, in + last, 8);
		b = second;
		assert_true(a <= b);
	}
	close_lanes(&w);
}

/* short_behind_write - a message of SHORT bytes to the beginning of @mem, behind a write that is late. */
static void short_behind_write(struct rt_world *w, unsigned i, char *text, struct fi_context2 ctx[3])
{
	memset(text, (char) ('a' + i), SHORT);
	rt_do(w, fi_recv(w->ep[1], mem, SHORT, NULL, FI_ADDR_UNSPEC, &ctx[0]));
	write_late(w, i, &ctx[1]);
	rt_do(w, fi_send(w->ep[0], text, SHORT, NULL, w->addr[1], &ctx[2]));
}

/* What a short message brings is in the memory that it was received in before a read of that memory. */
static void a_read_stays_behind_a_message(void **state)
{
	struct fi_context2 ctx[4];
	char text[SHORT];
	struct rt_world w;
	unsigned i;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		short_behind_write(&w, i, text, ctx);
		rt_do(&w, fi_read(w.ep[0], in, SHORT, NULL, w.addr[1], target(&w), fi_mr_key(mr), &ctx[3]));
		rt_wait(&w, 1);
		wait_both(&w);
		rt_wait(&w, 0);
		assert_memory_equal(in, text, SHORT);
	}
	close_lanes(&w);
}

/* .. and before a write to it. */
static void a_write_stays_behind_a_message(void **state)
{
	struct fi_context2 ctx[4];
	char text[SHORT];
	struct rt_world w;
	unsigned i;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		fill(in, i + 100);
		short_behind_write(&w, i, text, ctx);
		write_long(&w, in, &ctx[3], FI_DELIVERY_COMPLETE);
		rt_wait(&w, 1);
		wait_both(&w);
		rt_wait(&w, 0);
		check(mem, i + 100);
	}
	close_lanes(&w);
}

/* Atomics behind a late write: what they return, and leave, is that of their order. */
static void atomics_keep_their_order(void **state)
{
	uint64_t put[4] = { 11, 22, 33, 44 }, got[4], left;
	struct fi_context2 ctx[8];
	struct rt_world w;
	unsigned i, k;

	open_lanes(&w);
	for (i = 0; i < ORDER_CNT; i++) {
		write_late(&w, i, &ctx[7]);
		for (k = 0; k < 4; k++) {
			rt_do(&w, fi_fetch_atomic(w.ep[0], NULL, 1, NULL, &got[k], NULL, w.addr[1], target(&w) + LONG - 8,
						  fi_mr_key(mr), FI_UINT64, FI_ATOMIC_READ, &ctx[k]));
			rt_do(&w, fi_atomic(w.ep[0], &put[k], 1, NULL, w.addr[1], target(&w) + LONG - 8,
					    fi_mr_key(mr), FI_UINT64, k % 2 ? FI_SUM : FI_ATOMIC_WRITE, &ctx[4 + k % 2]));
		}
		for (k = 0; k < 9; k++)
			rt_wait(&w, 0);
		rt_do(&w, fi_read(w.ep[0], &left, 8, NULL, w.addr[1], target(&w) + LONG - 8, fi_mr_key(mr), &ctx[6]));
		rt_wait(&w, 0);
		assert_memory_equal(&got[0], out + LONG - 8, 8);
		assert_int_equal(got[1], 11);
		assert_int_equal(got[2], 33);
		assert_int_equal(got[3], 33);
		assert_int_equal(left, 77);
	}
	close_lanes(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_in_every_order_are_one_message),
		cmocka_unit_test(a_write_stays_behind_a_write),
		cmocka_unit_test(a_read_stays_behind_a_write),
		cmocka_unit_test(a_message_stays_behind_a_write),
		cmocka_unit_test(a_read_stays_behind_a_read),
		cmocka_unit_test(a_read_stays_behind_a_message),
		cmocka_unit_test(a_write_stays_behind_a_message),
		cmocka_unit_test(atomics_keep_their_order),
	};

	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_TCP_LANES", "3", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
