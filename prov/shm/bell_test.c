/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Bells: who gets which, and what is read of them. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/relax.h"
#include "conn.h"
#include "seg.h"

static struct shm_conn *conn_no(int no)
{
	static struct shm_conn conns[128];

	return &conns[no];
}

static void each_connection_has_its_own(void **state)
{
	struct shm_bell_set set = { 0 };
	int i;

	for (i = 0; i < 100; i++)
		assert_int_equal(shm_bell_give(&set, conn_no(i)), i);
	assert_int_equal(set.end, 100);
	for (i = 0; i < 100; i++)
		assert_ptr_equal(set.conns[i], conn_no(i));
	shm_bell_free(&set);
}

static void the_lowest_free_one_is_given_again(void **state)
{
	struct shm_bell_set set = { 0 };
	int i;

	for (i = 0; i < 40; i++)
		shm_bell_give(&set, conn_no(i));
	shm_bell_take(&set, 7);
	shm_bell_take(&set, 20);
	assert_int_equal(shm_bell_give(&set, conn_no(50)), 7);
	assert_int_equal(shm_bell_give(&set, conn_no(51)), 20);
	assert_int_equal(shm_bell_give(&set, conn_no(52)), 40);
	/* those behind the last one in use are not looked at */
	for (i = 10; i <= 40; i++)
		shm_bell_take(&set, i);
	assert_int_equal(set.end, 10);
	shm_bell_free(&set);
}

static void there_are_so_many(void **state)
{
	struct shm_bell_set set = { 0 };
	unsigned i;

	for (i = 0; i < SHM_BELLS; i++)
		assert_int_equal(shm_bell_give(&set, conn_no(0)), i);
	assert_int_equal(shm_bell_give(&set, conn_no(0)), -FI_ENOSPC);
	shm_bell_take(&set, 1000);
	assert_int_equal(shm_bell_give(&set, conn_no(0)), 1000);
	shm_bell_free(&set);
}

static void those_that_ring_are_seen_once(void **state)
{
	struct shm_bell_set set = { 0 };
	uint8_t rung[SHM_BELL_GROUP];
	unsigned group, i;

	for (i = 0; i < 64; i++)
		shm_bell_give(&set, conn_no(0));
	for (group = 0; group < 8; group++)
		assert_false(shm_bell_rung(&set, group, rung));
	shm_bell_ring(&set, 0);
	shm_bell_ring(&set, 7);
	shm_bell_ring(&set, 7);
	shm_bell_ring(&set, 8);
	assert_true(shm_bell_rung(&set, 0, rung));
	for (i = 0; i < SHM_BELL_GROUP; i++)
		assert_int_equal(!!rung[i], i == 0 || i == 7);
	assert_false(shm_bell_rung(&set, 0, rung));
	assert_true(shm_bell_rung(&set, 1, rung));
	assert_int_equal(rung[0], 1);
	assert_false(shm_bell_rung(&set, 1, rung));
	shm_bell_free(&set);
}

/* ---- a sender and a receiver ---------------------------------------------------------------- */

#define RINGS 200000

struct pair {
	struct shm_bell_set set;
	struct shm_seg *seg;
	struct shm_out out;
	struct shm_in in;
};

static void *send_all(void *arg)
{
	struct pair *pair = arg;
	uint64_t i;

	for (i = 0; i < RINGS; i++) {
		while (!shm_out_room(&pair->out, 1))
			sched_yield();
		memcpy(shm_out_slot(&pair->out)->body, &i, sizeof(i));
		shm_out_publish(&pair->out, SHM_SHORT, 0, sizeof(i));
		if (shm_out_asleep(&pair->out))
			abort();	/* a receiver that polls needs no wake-up */
	}
	return NULL;
}

/* No packet stays behind a bell that was cleared. */
static void what_was_published_before_the_ring_is_seen(void **state)
{
	struct pair pair = { 0 };
	uint8_t rung[SHM_BELL_GROUP], body[SHM_BODY];
	uint64_t next = 0, no;
	pthread_t thread;
	size_t hdr_len, len;
	int fd;

	assert_int_equal(shm_bell_give(&pair.set, conn_no(0)), 0);
	assert_int_equal(shm_seg_make(&pair.seg, &fd), 0);
	close(fd);
	pair.in.seg = pair.out.seg = pair.seg;
	pair.out.bell = &pair.set.mem->bell[0];
	pair.in.awake = SHM_RINGS;
	shm_in_wake(&pair.in);
	assert_int_equal(pthread_create(&thread, NULL, send_all, &pair), 0);
	while (next < RINGS) {
		if (!shm_bell_rung(&pair.set, 0, rung)) {
			sched_yield();
			continue;
		}
		while (shm_in_short(&pair.in, body, &hdr_len, &len) > 0) {
			memcpy(&no, body, sizeof(no));
			assert_int_equal(no, next++);
			pair.in.pos++;
		}
		shm_in_release(&pair.in);
	}
	pthread_join(thread, NULL);
	shm_seg_unmap(pair.seg);
	shm_bell_free(&pair.set);
}

/* A sender rings whether the receiver polls or sleeps, and wakes it once for each sleep. */
static void a_sleeping_receiver_is_rung_and_woken(void **state)
{
	struct shm_bell_set set = { 0 };
	struct shm_out out = { 0 };
	struct shm_in in = { 0 };
	uint8_t rung[SHM_BELL_GROUP];
	int fd;

	shm_bell_give(&set, conn_no(0));
	assert_int_equal(shm_seg_make(&in.seg, &fd), 0);
	close(fd);
	out.seg = in.seg;
	out.bell = &set.mem->bell[0];
	assert_false(shm_out_asleep(&out));
	assert_false(shm_bell_rung(&set, 0, rung));
	in.awake = SHM_RINGS;
	shm_in_wake(&in);
	assert_false(shm_out_asleep(&out) || shm_out_sleeps(&out));
	assert_true(shm_bell_rung(&set, 0, rung));
	shm_in_sleep(&in);
	assert_true(shm_out_sleeps(&out) && shm_out_asleep(&out));
	assert_true(shm_bell_rung(&set, 0, rung));
	assert_false(shm_out_asleep(&out));
	assert_true(shm_bell_rung(&set, 0, rung));
	/* one that leaves barriers to the sender is awake, too, and its bell rings only if it says so */
	in.awake = SHM_FENCES;
	shm_in_wake(&in);
	assert_false(shm_out_asleep(&out) || shm_out_sleeps(&out));
	assert_false(shm_bell_rung(&set, 0, rung));
	in.awake = SHM_RINGS | SHM_FENCES;
	shm_in_wake(&in);
	assert_false(shm_out_asleep(&out) || shm_out_sleeps(&out));
	assert_true(shm_bell_rung(&set, 0, rung));
	out.woken = 0;
	in.sleep_seq = SHM_CLOSED - 1;	/* no sleep is taken for one of the values with a meaning */
	shm_in_sleep(&in);
	assert_true(shm_out_sleeps(&out) && !shm_out_closed(&out) && shm_out_asleep(&out));
	shm_seg_unmap(in.seg);
	shm_bell_free(&set);
}

#define SLEEPS 100000
#define SPINS 2000		/* before the other thread may have the processor */

static void pause_some(unsigned *spins)
{
	if (++*spins % SPINS == 0)
		sched_yield();
}

struct sleeper {
	struct shm_out out;
	atomic_uint wakes;	/* that the sender has made */
	atomic_uint taken;	/* packets */
};

static void *send_one_by_one(void *arg)
{
	struct sleeper *s = arg;
	unsigned i, spins = 0;

	for (i = 1; i <= SLEEPS; i++) {
		shm_out_publish(&s->out, SHM_SHORT, 0, 0);
		if (shm_out_asleep(&s->out))
			atomic_fetch_add(&s->wakes, 1);
		while (atomic_load(&s->taken) < i)
			pause_some(&spins);
		shm_out_room(&s->out, 1);
	}
	return NULL;
}

/* wait_wake - sleep until the sender wakes us.  False: it does not. */
static bool wait_wake(struct sleeper *s, unsigned seen)
{
	uint64_t until = clock_ns() + 5 * CLOCK_NS_PER_S;
	unsigned spins = 0;

	while (atomic_load(&s->wakes) == seen && clock_ns() < until)
		pause_some(&spins);
	return atomic_load(&s->wakes) != seen;
}

/* sleep_once - until the sender has woken @s more than @seen times, unless there is a packet.  Returns
 * true if there is one then.
 */
static bool sleep_once(struct sleeper *s, struct shm_in *in, unsigned seen)
{
	shm_in_sleep(in);
	atomic_thread_fence(memory_order_seq_cst);
	if (!shm_in_ready(in))
		assert_true(wait_wake(s, seen));
	shm_in_wake(in);
	return shm_in_ready(in);
}

/* A receiver that has left barriers to the sender since its last sleep misses no packet without one of
 * the kernel.
 */
static void a_sender_that_fences_wakes_each_sleeper(void **state)
{
	struct sleeper s = { 0 };
	struct shm_in in = { 0 };
	uint8_t body[SHM_BODY];
	unsigned i, j, seen;
	pthread_t thread;
	size_t hdr_len, len;
	int fd;

	assert_int_equal(shm_seg_make(&in.seg, &fd), 0);
	close(fd);
	s.out.seg = in.seg;
	in.awake = SHM_FENCES;
	shm_in_wake(&in);
	assert_int_equal(pthread_create(&thread, NULL, send_one_by_one, &s), 0);
	for (i = 1; i <= SLEEPS; i++) {
		seen = atomic_load(&s.wakes);
		/* about as long as the sender takes to send the next one */
		for (j = i % 64; j > 0; j--)
			cpu_relax();
		/* a wake-up for the packet before may come late: then it sleeps once more */
		while (!sleep_once(&s, &in, seen))
			seen = atomic_load(&s.wakes);
		assert_int_equal(shm_in_short(&in, body, &hdr_len, &len), 1);
		in.pos++;
		shm_in_release(&in);
		atomic_store(&s.taken, i);
	}
	pthread_join(thread, NULL);
	shm_seg_unmap(in.seg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_connection_has_its_own),
		cmocka_unit_test(the_lowest_free_one_is_given_again),
		cmocka_unit_test(there_are_so_many),
		cmocka_unit_test(those_that_ring_are_seen_once),
		cmocka_unit_test(what_was_published_before_the_ring_is_seen),
		cmocka_unit_test(a_sleeping_receiver_is_rung_and_woken),
		cmocka_unit_test(a_sender_that_fences_wakes_each_sleeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
