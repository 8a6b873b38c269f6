/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * bbr_test.c - senders with unlimited data at one bottleneck: a queue of bytes that is served
 * at a rate, and a delay.  ACKs arrive in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "cc.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define SEG 1400
#define RING (1u << 16)
#define FLOWS 4

static struct {
	uint64_t rate, delay, queue;	/* bytes a second; a round trip without a queue; bytes */
	unsigned loss;			/* of 1000 packets */
	uint64_t mark;			/* queue length above which packets are marked; 0: never */
} net;

static struct packet {
	uint64_t sent, back;
	unsigned flow;
	bool lost, mark;
} ring[RING];

static struct flow {
	struct rxd_cc cc;
	struct rxd_rtt rtt;
	uint64_t out, got, lost;
	bool on;
} flows[FLOWS];

static uint64_t now, busy, waited, last_back, seed;
static unsigned head, tail;

static unsigned chance(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned) (seed >> 40) % 1000;
}

static void start(unsigned cnt, enum rxd_cc_kind kind)
{
	unsigned i;

	now = S;
	busy = last_back = waited = 0;
	head = tail = 0;
	seed = 1;
	for (i = 0; i < FLOWS; i++) {
		flows[i] = (struct flow) { .on = i < cnt };
		rxd_cc_init(&flows[i].cc, kind, SEG, 3);
		rxd_rtt_init(&flows[i].rtt);
	}
}

static void send(unsigned no)
{
	struct flow *f = &flows[no];
	struct packet *p = &ring[head++ % RING];
	uint64_t begin = busy > now ? busy : now, wait = begin - now;

	assert_true(head - tail <= RING);
	*p = (struct packet) { .sent = now, .flow = no };
	p->lost = wait * net.rate / S > net.queue || chance() < net.loss;
	p->mark = net.mark && wait * net.rate / S > net.mark;
	if (!p->lost) {
		busy = begin + SEG * S / net.rate;
		waited = wait > waited ? wait : waited;
		last_back = busy + net.delay;
	}
	p->back = last_back > now + net.delay ? last_back : now + net.delay;
	f->out += SEG;
	rxd_cc_paced(&f->cc, now, SEG, f->rtt.smooth);
}

static void back(const struct packet *p)
{
	struct flow *f = &flows[p->flow];

	f->out -= SEG;
	if (p->lost) {
		f->lost++;
		rxd_cc_on_loss(&f->cc, now, p->sent, &f->rtt);
		return;
	}
	f->got += SEG;
	rxd_cc_on_rtt(&f->cc, now, now - p->sent);
	rxd_rtt_sample(&f->rtt, now - p->sent, 0);
	rxd_cc_on_ack(&f->cc, now, p->sent, SEG, f->rtt.smooth, true);
	if (p->mark)
		rxd_cc_on_mark(&f->cc, now, p->sent);
}

/* The time of the next event. */
static uint64_t turn(void)
{
	uint64_t next = UINT64_MAX, when = 0;
	unsigned i;

	while (tail != head && ring[tail % RING].back <= now)
		back(&ring[tail++ % RING]);
	for (i = 0; i < FLOWS; i++) {
		if (!flows[i].on)
			continue;
		while (flows[i].out + SEG <= flows[i].cc.window &&
		       (when = rxd_cc_pace(&flows[i].cc, now, flows[i].rtt.smooth)) <= now)
			send(i);
		if (flows[i].out + SEG <= flows[i].cc.window && when < next)
			next = when;
	}
	if (tail != head && ring[tail % RING].back < next)
		next = ring[tail % RING].back;
	return next;
}

/* Returns the share of the bottleneck that was used by flow @no. */
static double run(uint64_t ns, unsigned no)
{
	uint64_t end = now + ns, got = flows[no].got, next;

	waited = 0;
	while (now < end) {
		next = turn();
		assert_true(next != UINT64_MAX);
		now = next > now ? next : now + 1;
	}
	return (double) (flows[no].got - got) * S / (double) ns / (double) net.rate;
}

#define PATH (net.rate * net.delay / S)		/* bytes that it holds */

static int far(void **state)
{
	net = (typeof(net)) { .rate = 10000000, .delay = 20 * MS };
	net.queue = 4 * PATH;
	return 0;
}

static void test_alone(void **state)
{
	start(1, RXD_CC_BBR);
	run(S, 0);
	/* all of the path, for a long time, with a short queue, and nothing is dropped */
	flows[0].lost = 0;
	assert_true(run(12 * S, 0) > 0.9);
	assert_true(waited < 2 * net.delay);
	assert_int_equal(flows[0].lost, 0);
}

static void test_starts_fast(void **state)
{
	start(1, RXD_CC_BBR);
	run(S / 2, 0);
	assert_true(run(S / 2, 0) > 0.85);
}

/* Random loss does not reduce its rate; that of CUBIC it does. */
static void test_lossy(void **state)
{
	double bbr, cubic;

	net.loss = 20;
	start(1, RXD_CC_BBR);
	run(S, 0);
	bbr = run(10 * S, 0);
	assert_true(bbr > 0.65);
	start(1, RXD_CC_CUBIC);
	flows[0].cc.tolerance = 0;
	run(S, 0);
	cubic = run(10 * S, 0);
	assert_true(bbr > 3 * cubic);
}

/* A short queue: the share of lost packets stays small. */
static void test_short_queue(void **state)
{
	net.queue = PATH / 5;
	start(1, RXD_CC_BBR);
	run(S, 0);
	flows[0].lost = 0;
	assert_true(run(10 * S, 0) > 0.8);
	assert_true(flows[0].lost * SEG * S / net.rate < 10 * S / 20);
}

static void test_marks(void **state)
{
	net.mark = PATH / 10;
	net.queue = PATH;
	start(1, RXD_CC_BBR);
	run(S, 0);
	flows[0].lost = 0;
	assert_true(run(10 * S, 0) > 0.7);
	assert_int_equal(flows[0].lost, 0);
	assert_true(waited < net.delay / 2);
}

static void test_path_changes(void **state)
{
	start(1, RXD_CC_BBR);
	run(3 * S, 0);
	net.rate /= 4;
	run(4 * S, 0);
	assert_true(run(5 * S, 0) > 0.85);
	assert_true(waited < 8 * net.delay);
	net.rate *= 4;
	run(4 * S, 0);
	assert_true(run(5 * S, 0) > 0.8);
}

/* A flow that starts later gets a share, too. */
static void test_fair(void **state)
{
	uint64_t before[FLOWS];
	double share, all = 0;
	unsigned i;

	start(1, RXD_CC_BBR);
	run(3 * S, 0);
	for (i = 1; i < FLOWS; i++) {
		flows[i].on = true;
		run(S, 0);
	}
	run(20 * S, 0);
	for (i = 0; i < FLOWS; i++)
		before[i] = flows[i].got;
	run(20 * S, 0);
	for (i = 0; i < FLOWS; i++) {
		share = (double) (flows[i].got - before[i]) / 20 / (double) net.rate;
		all += share;
		print_message("flow %u: %.2f\n", i, share);
		assert_true(share > 1.0 / FLOWS / 3);
	}
	assert_true(all > 0.9);
}

/* Persistent congestion: the model of the path begins again. */
static void test_silence(void **state)
{
	start(1, RXD_CC_BBR);
	run(3 * S, 0);
	rxd_cc_on_persistent(&flows[0].cc, now);
	assert_int_equal(flows[0].cc.window, RXD_CC_LEAST * SEG);
	tail = head;
	flows[0].out = 0;
	run(S, 0);
	assert_true(run(2 * S, 0) > 0.85);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_alone, far),
		cmocka_unit_test_setup(test_starts_fast, far),
		cmocka_unit_test_setup(test_lossy, far),
		cmocka_unit_test_setup(test_short_queue, far),
		cmocka_unit_test_setup(test_marks, far),
		cmocka_unit_test_setup(test_path_changes, far),
		cmocka_unit_test_setup(test_fair, far),
		cmocka_unit_test_setup(test_silence, far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
