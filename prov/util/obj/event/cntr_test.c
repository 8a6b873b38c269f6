/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"

static struct fake f;

static void test_values(void **state)
{
	struct fid_cntr *cntr;

	fake_open(&f, NULL);
	cntr = fake_cntr(&f, FI_WAIT_NONE);
	assert_int_equal(fi_cntr_read(cntr), 0);
	assert_int_equal(fi_cntr_add(cntr, 5), 0);
	assert_int_equal(fi_cntr_read(cntr), 5);
	assert_int_equal(fi_cntr_set(cntr, 100), 0);
	obj_cntr_inc(obj_cntr_of(cntr), 4096);
	assert_int_equal(fi_cntr_read(cntr), 101);
	assert_int_equal(fi_cntr_adderr(cntr, 2), 0);
	obj_cntr_inc_err(obj_cntr_of(cntr));
	assert_int_equal(fi_cntr_readerr(cntr), 3);
	assert_int_equal(fi_cntr_seterr(cntr, 0), 0);
	assert_int_equal(fi_cntr_readerr(cntr), 0);
	CLOSE(cntr);
	fake_close(&f);
}

static void *add_later(void *arg)
{
	usleep(20000);
	fi_cntr_add(arg, 2);
	return NULL;
}

/* Without a wait object the call polls: until the value, an error, or the deadline. */
static void test_wait_without_object(void **state)
{
	struct fid_cntr *cntr;
	pthread_t thread;
	uint64_t began;

	fake_open(&f, NULL);
	cntr = fake_cntr(&f, FI_WAIT_NONE);
	assert_int_equal(fi_cntr_wait(cntr, 0, -1), 0);
	assert_int_equal(fi_cntr_wait(cntr, 1, 0), -FI_ETIMEDOUT);
	began = clock_ns();
	assert_int_equal(fi_cntr_wait(cntr, 1, 30), -FI_ETIMEDOUT);
	assert_true(clock_ns() - began >= 30 * CLOCK_NS_PER_MS);
	assert_int_equal(pthread_create(&thread, NULL, add_later, cntr), 0);
	assert_int_equal(fi_cntr_wait(cntr, 2, -1), 0);
	pthread_join(thread, NULL);
	assert_int_equal(fi_cntr_adderr(cntr, 1), 0);
	assert_int_equal(fi_cntr_wait(cntr, 2, 0), 0);
	assert_int_equal(fi_cntr_wait(cntr, 3, 0), -FI_ETIMEDOUT);	/* the error is an old one */
	CLOSE(cntr);
	fake_close(&f);
}

static void test_bytes(void **state)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_BYTES };
	struct fid_cntr *cntr;

	fake_open(&f, NULL);
	assert_int_equal(fi_cntr_open(f.domain, &attr, &cntr, NULL), 0);
	obj_cntr_inc(obj_cntr_of(cntr), 4096);
	obj_cntr_inc(obj_cntr_of(cntr), 4);
	assert_int_equal(fi_cntr_read(cntr), 4100);
	CLOSE(cntr);
	fake_close(&f);
}

static void test_attr(void **state)
{
	struct fi_cntr_attr bad[] = {
		{ .flags = FI_MORE },
		{ .events = 9 },
		{ .wait_obj = 99 },
		{ .wait_obj = FI_WAIT_SET },
		{ .flags = FI_PEER },
	};
	struct fid_cntr *cntr;
	uint64_t flags = 7;
	size_t i;

	fake_open(&f, NULL);
	fake_log_start();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fi_cntr_open(f.domain, &bad[i], &cntr, NULL), -FI_EINVAL);
	assert_int_equal(fi_cntr_open(f.domain, NULL, &cntr, NULL), 0);
	assert_int_equal(fi_control(&cntr->fid, FI_SETOPSFLAG, &flags), 0);
	flags = 0;
	assert_int_equal(fi_control(&cntr->fid, FI_GETOPSFLAG, &flags), 0);
	assert_int_equal(flags, 7);
	CLOSE(cntr);
	fake_close(&f);
}

/* ---- waiting -------------------------------------------------------------- */

static void test_wait(void **state)
{
	struct fid_cntr *cntr;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	uint64_t start, cpu;

	fake_open(&f, NULL);
	cntr = fake_cntr(&f, FI_WAIT_UNSPEC);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_open(&f);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);

	assert_int_equal(fi_cntr_wait(cntr, 0, 0), 0);
	start = clock_ns();
	cpu = fake_cpu_ns();
	assert_int_equal(fi_cntr_wait(cntr, 1, 50), -FI_ETIMEDOUT);
	assert_true(clock_ns() - start >= 50 * CLOCK_NS_PER_MS);
	assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 10));
	/* The wait drives the endpoint itself. */
	fake_deliver(ep, 3);
	assert_int_equal(fi_cntr_wait(cntr, 3, 1000), 0);
	fake_timer(ep, clock_ns() + 20 * CLOCK_NS_PER_MS);
	assert_int_equal(fi_cntr_wait(cntr, 4, 5000), 0);
	assert_int_equal(fi_cntr_read(cntr), 4);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	CLOSE(cntr);
	fake_close(&f);
}

static void *fail_later(void *arg)
{
	usleep(20000);
	obj_cntr_inc_err(obj_cntr_of(arg));
	return NULL;
}

/* A change of the error value ends the wait, an old error does not. */
static void test_wait_error(void **state)
{
	struct fid_cntr *cntr;
	pthread_t thread;

	fake_open(&f, NULL);
	cntr = fake_cntr(&f, FI_WAIT_FD);
	fi_cntr_seterr(cntr, 3);
	assert_int_equal(fi_cntr_wait(cntr, 1, 20), -FI_ETIMEDOUT);
	pthread_create(&thread, NULL, fail_later, cntr);
	assert_int_equal(fi_cntr_wait(cntr, 1, 10000), -FI_EAVAIL);
	pthread_join(thread, NULL);
	CLOSE(cntr);
	fake_close(&f);
}

#define ROUNDS 20000

static void *count_up(void *arg)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		obj_cntr_inc(obj_cntr_of(arg), 1);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static void *wait_up(void *arg)
{
	uint64_t i;

	for (i = 1; i <= 2 * ROUNDS; i += 7)
		if (fi_cntr_wait(arg, i, 10000))
			return arg;
	return NULL;
}

/* Two count, two wait for every value on the way: no wake-up is lost. */
static void test_threads(void **state)
{
	struct fid_cntr *cntr;
	pthread_t thread[4];
	void *failed;
	int i;

	fake_open(&f, NULL);
	cntr = fake_cntr(&f, FI_WAIT_UNSPEC);
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, i < 2 ? wait_up : count_up, cntr);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(fi_cntr_read(cntr), 2 * ROUNDS);
	CLOSE(cntr);
	fake_close(&f);
}

/* ---- thresholds ----------------------------------------------------------- */

struct shot {
	struct obj_cntr_thr thr;
	int *order;
	int fired;
};

static void fire(struct obj_cntr_thr *thr)
{
	struct shot *shot = container_of(thr, struct shot, thr);

	shot->fired = ++*shot->order;
}

static void test_thresholds(void **state)
{
	struct shot shots[5];
	struct fid_cntr *fid;
	struct obj_cntr *cntr;
	int order = 0, i;
	static const uint64_t at[] = { 10, 3, 10, 1, 50 };

	fake_open(&f, NULL);
	fid = fake_cntr(&f, FI_WAIT_NONE);
	cntr = obj_cntr_of(fid);
	obj_cntr_inc(cntr, 1);
	for (i = 0; i < 5; i++) {
		shots[i] = (struct shot) { { .value = at[i], .fire = fire }, &order, 0 };
		obj_cntr_on_threshold(cntr, &shots[i].thr);
	}
	assert_int_equal(shots[3].fired, 1);	/* passed already */
	obj_cntr_inc(cntr, 1);
	assert_int_equal(order, 1);
	obj_cntr_inc(cntr, 1);
	assert_int_equal(shots[1].fired, 2);
	fi_cntr_set(fid, 12);
	assert_int_equal(shots[0].fired, 3);	/* in the order they came */
	assert_int_equal(shots[2].fired, 4);
	assert_true(obj_cntr_forget(cntr, &shots[4].thr));
	assert_false(obj_cntr_forget(cntr, &shots[4].thr));
	assert_false(obj_cntr_forget(cntr, &shots[0].thr));
	fi_cntr_add(fid, 1000);
	assert_int_equal(order, 4);
	/* by one step of the program, over the threshold and exactly to it */
	for (i = 0; i < 2; i++) {
		shots[i] = (struct shot) { { .value = fi_cntr_read(fid) + 5, .fire = fire }, &order, 0 };
		obj_cntr_on_threshold(cntr, &shots[i].thr);
		fi_cntr_add(fid, i ? 5 : 7);
		assert_int_equal(shots[i].fired, 5 + i);
	}
	CLOSE(fid);
	fake_close(&f);
}

/* Some thresholds count what failed, too; others wait for successes alone. */
static void test_thresholds_with_errors(void **state)
{
	struct shot shots[3];
	struct fid_cntr *fid;
	struct obj_cntr *cntr;
	int order = 0, i;

	fake_open(&f, NULL);
	fid = fake_cntr(&f, FI_WAIT_NONE);
	cntr = obj_cntr_of(fid);
	obj_cntr_inc_err(cntr);
	for (i = 0; i < 3; i++) {
		shots[i] = (struct shot) { { .value = 3, .fire = fire, .with_err = i != 1 },
					   &order, 0 };
		shots[i].thr.value += i == 2;
		obj_cntr_on_threshold(cntr, &shots[i].thr);
	}
	obj_cntr_inc(cntr, 1);
	assert_int_equal(order, 0);
	obj_cntr_inc_err(cntr);			/* 1 + 2 */
	assert_int_equal(order, 1);
	assert_int_equal(shots[0].fired, 1);
	fi_cntr_adderr(fid, 1);			/* 1 + 3 */
	assert_int_equal(shots[2].fired, 2);
	obj_cntr_inc(cntr, 1);
	assert_int_equal(order, 2);
	obj_cntr_inc(cntr, 1);
	assert_int_equal(shots[1].fired, 3);
	CLOSE(fid);
	fake_close(&f);
}

/* ---- peers ---------------------------------------------------------------- */

static int peer_ok, peer_bad;

static void peer_inc(struct fid_peer_cntr *cntr)
{
	peer_ok++;
}

static void peer_incerr(struct fid_peer_cntr *cntr)
{
	peer_bad++;
}

static void test_peer(void **state)
{
	struct fi_ops_cntr_owner ops = { sizeof(ops), peer_inc, peer_incerr };
	struct fid_peer_cntr owner = { .owner_ops = &ops };
	struct fi_peer_cntr_context context = { sizeof(context), &owner };
	struct fi_cntr_attr attr = { .flags = FI_PEER };
	struct fid_cntr *cntr;

	fake_open(&f, NULL);
	assert_int_equal(fi_cntr_open(f.domain, &attr, &cntr, &context), 0);
	obj_cntr_inc(obj_cntr_of(cntr), 1);
	obj_cntr_inc_err(obj_cntr_of(cntr));
	assert_int_equal(peer_ok, 1);
	assert_int_equal(peer_bad, 1);
	assert_int_equal(fi_cntr_set(cntr, 1), -FI_ENOSYS);
	CLOSE(cntr);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_wait_without_object),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_attr),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_wait_error),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_thresholds_with_errors),
		cmocka_unit_test(test_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
