/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Several threads that wait for one object at once, each for something of its own: none sleeps for ever.  A
 * thread that does keeps this program from ending.  wake_test.c goes through all orders of the same steps.
 */
#include "obj/test/fake.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "obj/cntr.h"

#define WAITERS 4
#define ROUNDS 30
#define SEVERAL (WAITERS / 2)	/* entries that a thread takes */

static struct fake f;
static struct fid_av *av;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_cntr *cntr;
static struct fid_wait *set;

static const enum fi_wait_obj kinds[] = { FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD };

static void open_all(enum fi_wait_obj kind, bool member)
{
	struct fi_cntr_attr cntr_attr = { .wait_obj = member ? FI_WAIT_SET : kind };
	struct fi_cq_attr cq_attr = { .wait_obj = member ? FI_WAIT_SET : kind };
	struct fi_wait_attr attr = { .wait_obj = kind };

	fake_open(&f, NULL);
	av = fake_av(&f);
	if (member)
		assert_int_equal(fi_wait_open(f.fabric, &attr, &set), 0);
	cq_attr.wait_set = cntr_attr.wait_set = member ? set : NULL;
	assert_int_equal(fi_cq_open(f.domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_cntr_open(f.domain, &cntr_attr, &cntr, NULL), 0);
	ep = fake_ep_open(&f);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
}

static void close_all(bool member)
{
	CLOSE(ep);
	CLOSE(cntr);
	CLOSE(cq);
	if (member)
		CLOSE(set);
	CLOSE(av);
	fake_close(&f);
}

static void start(pthread_t *threads, void *(*run)(void *))
{
	uintptr_t i;

	for (i = 0; i < WAITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, (void *) (i + 1)), 0);
}

static void join(pthread_t *threads)
{
	unsigned i;

	for (i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
}

/* let_sleep - in most rounds they are asleep afterwards, in some just about to be. */
static void let_sleep(unsigned round)
{
	if (round % 3 == 0)
		usleep(500);
	else if (round % 3 == 1)
		sched_yield();
}

/* ---- a counter ------------------------------------------------------------------------------ */

static void *wait_for_value(void *arg)
{
	int ret = fi_cntr_wait(cntr, (uintptr_t) arg, -1);

	if (ret)
		abort();
	return NULL;
}

/* change - by a transfer, an addition, or a new value. */
static void change(unsigned round, unsigned value)
{
	switch (round % 4) {
	case 0:
		obj_cntr_inc(obj_cntr_of(cntr), 1);
		break;
	case 1:
		fi_cntr_add(cntr, 1);
		break;
	case 2:
		fi_cntr_set(cntr, value);
		break;
	default:
		obj_cntr_inc(obj_cntr_of(cntr), 1);
		fi_cq_signal(cq);	/* for the threads of another object */
		break;
	}
}

static void test_values(void **state)
{
	pthread_t threads[WAITERS];
	unsigned k, round, value;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		open_all(kinds[k], false);
		for (round = 0; round < ROUNDS; round++) {
			fi_cntr_set(cntr, 0);
			start(threads, wait_for_value);
			for (value = 1; value <= WAITERS; value++) {
				let_sleep(round);
				change(round, value);
				/* the one that waited for it comes back before the next change */
				if (round % 2)
					pthread_join(threads[value - 1], NULL);
			}
			if (round % 2 == 0)
				join(threads);
		}
		close_all(false);
	}
}

static atomic_uint ended;	/* threads */

static void *wait_for_failure(void *arg)
{
	if (fi_cntr_wait(cntr, 1000, -1) != -FI_EAVAIL)
		abort();
	atomic_fetch_add(&ended, 1);
	return NULL;
}

/* A failure is for all of them; one that came before a thread waited is not. */
static void test_failures(void **state)
{
	pthread_t threads[WAITERS];
	unsigned k, round;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		open_all(kinds[k], false);
		for (round = 0; round < ROUNDS / 4; round++) {
			atomic_store(&ended, 0);
			start(threads, wait_for_failure);
			do {
				usleep(200);
				if (round % 2)
					fi_cntr_adderr(cntr, 1);
				else
					obj_cntr_inc_err(obj_cntr_of(cntr));
			} while (atomic_load(&ended) < WAITERS);
			join(threads);
		}
		close_all(false);
	}
}

/* ---- a queue ---------------------------------------------------------------------------------- */

static atomic_uint taken;

static void *read_blocking(void *arg)
{
	struct fi_cq_entry e;
	unsigned got = 0;

	while (got < SEVERAL)
		if (fi_cq_sread(cq, &e, 1, NULL, -1) == 1)
			got++;
	atomic_fetch_add(&taken, got);
	return NULL;
}

static void *read_after_trywait(void *arg)
{
	struct pollfd pfd = { .events = POLLIN };
	struct fid *fid = &cq->fid;
	struct fi_cq_entry e;
	unsigned got = 0;

	if (fi_control(fid, FI_GETWAIT, &pfd.fd))
		abort();
	while (got < SEVERAL) {
		if (fi_cq_read(cq, &e, 1) == 1)
			got++;
		else if (!fi_trywait(f.fabric, &fid, 1))
			poll(&pfd, 1, -1);
	}
	atomic_fetch_add(&taken, got);
	return NULL;
}

static void *read_after_condition(void *arg)
{
	struct fid *fid = &cq->fid;
	struct fi_mutex_cond pair;
	struct fi_cq_entry e;
	unsigned got = 0;

	if (fi_control(fid, FI_GETWAIT, &pair))
		abort();
	while (got < SEVERAL) {
		if (fi_cq_read(cq, &e, 1) == 1) {
			got++;
			continue;
		}
		pthread_mutex_lock(pair.mutex);
		if (!fi_trywait(f.fabric, &fid, 1))
			pthread_cond_wait(pair.cond, pair.mutex);
		pthread_mutex_unlock(pair.mutex);
	}
	atomic_fetch_add(&taken, got);
	return NULL;
}

static void *read_each_way(void *arg)
{
	return (uintptr_t) arg % 2 ? read_blocking(arg) : read_after_trywait(arg);
}

static void *read_of_set(void *arg)
{
	struct fi_cq_entry e;
	unsigned got = 0;

	while (got < SEVERAL) {
		if (fi_cq_read(cq, &e, 1) == 1)
			got++;
		else if (fi_wait(set, -1))
			abort();
	}
	atomic_fetch_add(&taken, got);
	return NULL;
}

/* read_set_outside - the set's own descriptor; every other thread asks of the member, which is the same. */
static void *read_set_outside(void *arg)
{
	struct fid *fid = (uintptr_t) arg % 2 ? &set->fid : &cq->fid;
	struct pollfd pfd = { .events = POLLIN };
	struct fi_cq_entry e;
	unsigned got = 0;

	if (fi_control(&set->fid, FI_GETWAIT, &pfd.fd))
		abort();
	while (got < SEVERAL) {
		if (fi_cq_read(cq, &e, 1) == 1)
			got++;
		else if (!fi_trywait(f.fabric, &fid, 1))
			poll(&pfd, 1, -1);
	}
	atomic_fetch_add(&taken, got);
	return NULL;
}

/* fill - as many entries as all threads take; from the network, or, where no sleeper is woken by that, @written. */
static void fill(unsigned round, bool written)
{
	unsigned i;

	for (i = 0; i < WAITERS * SEVERAL; i++) {
		let_sleep(round + i);
		if (written || (round + i) % 2)
			obj_cq_write(obj_cq_of(cq), NULL, 0, 0, NULL, 0, 0, 0);
		else
			fake_deliver(ep, 1);
	}
}

static void read_all(enum fi_wait_obj kind, bool member, void *(*run)(void *))
{
	bool written = kind == FI_WAIT_MUTEX_COND && !member;
	pthread_t threads[WAITERS];
	struct fi_cq_entry e;
	unsigned round;

	open_all(kind, member);
	for (round = 0; round < ROUNDS; round++) {
		atomic_store(&taken, 0);
		start(threads, run);
		fill(round, written);
		join(threads);
		assert_int_equal(atomic_load(&taken), WAITERS * SEVERAL);
		assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
	}
	close_all(member);
}

static void test_entries(void **state)
{
	unsigned k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		read_all(kinds[k], false, read_blocking);
}

static void test_entries_outside(void **state)
{
	read_all(FI_WAIT_FD, false, read_after_trywait);
	read_all(FI_WAIT_FD, false, read_each_way);
	read_all(FI_WAIT_MUTEX_COND, false, read_after_condition);
}

static void test_entries_of_set(void **state)
{
	unsigned k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		read_all(kinds[k], true, read_of_set);
	read_all(FI_WAIT_FD, true, read_set_outside);
}

static void *read_signalled(void *arg)
{
	struct fi_cq_entry e;

	if (fi_cq_sread(cq, &e, 1, NULL, -1) != -FI_EAGAIN)
		abort();
	atomic_fetch_add(&ended, 1);
	return NULL;
}

/* A signal is for each thread that is blocked. */
static void test_signal(void **state)
{
	pthread_t threads[WAITERS];
	unsigned round;

	open_all(FI_WAIT_FD, false);
	for (round = 0; round < ROUNDS; round++) {
		atomic_store(&ended, 0);
		start(threads, read_signalled);
		do {
			let_sleep(round);
			fi_cq_signal(cq);
		} while (atomic_load(&ended) < WAITERS);
		join(threads);
	}
	close_all(false);
}

/* ---- a counter in a set ------------------------------------------------------------------------- */

static void *wait_for_set(void *arg)
{
	if (fi_wait(set, -1))
		abort();
	return NULL;
}

/* What the program does to a counter is seen at once, and by each thread that waits. */
static void test_counter_of_set(void **state)
{
	pthread_t threads[WAITERS];
	unsigned k, round;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		open_all(kinds[k], true);
		for (round = 0; round < ROUNDS / 2; round++) {
			assert_int_equal(fi_wait(set, 0), -FI_ETIMEDOUT);
			start(threads, wait_for_set);
			let_sleep(round);
			if (round % 3 == 0)
				fi_cntr_add(cntr, 1);
			else if (round % 3 == 1)
				fi_cntr_set(cntr, 1000 + round);
			else
				fi_cntr_adderr(cntr, 1);
			join(threads);
			fi_cntr_read(cntr);
			fi_cntr_readerr(cntr);
		}
		close_all(true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_entries_outside),
		cmocka_unit_test(test_entries_of_set),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_counter_of_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
