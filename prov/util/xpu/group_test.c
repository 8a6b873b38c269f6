/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Calls that threads of a device make together: here four threads that a barrier joins. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_xpu.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int fi_xpu_ring_enter(int scope);
static int64_t fi_xpu_ring_leave(int scope, int64_t ret);

#define FI_XPU_RING_GROUPS
#include <rdma/fi_xpu_device.h>

#include "xpu/ring.h"

#define THREADS 4
#define LEADER 2
#define RECORDS 8
#define ROUNDS 2000

static pthread_barrier_t barrier;
static _Thread_local int self;
static int64_t leaders;
static int plain[THREADS];		/* what each thread wrote before a call */

/* Ordered by the barrier alone, as memory of a work group is. */
static int fi_xpu_ring_enter(int scope)
{
	if (scope == FI_XPU_WORK_ITEM)
		return 1;
	pthread_barrier_wait(&barrier);
	return self == LEADER;
}

static int64_t fi_xpu_ring_leave(int scope, int64_t ret)
{
	if (scope == FI_XPU_WORK_ITEM)
		return ret;
	if (self == LEADER)
		leaders = ret;
	pthread_barrier_wait(&barrier);
	ret = leaders;
	pthread_barrier_wait(&barrier);
	return ret;
}

static struct fid_xpu_ep ep;
static struct fid_xpu_cq cq;
static struct fid_xpu_cntr cntr;
static struct xpu_ring ring;
static struct xpu_out out;
static uint64_t read_into[RECORDS];	/* what the leader reads, for all */

/* The records of a round are taken, and its completion given, by the thread that leads. */
static void serve(int round)
{
	struct fi_xpu_ring_record rec;
	uint64_t word = (uint64_t) round;

	assert_true(xpu_ring_take(&ring, &rec));
	assert_int_equal(rec.len, round);
	assert_false(xpu_ring_take(&ring, &rec));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(plain[i], round);
	xpu_out_put(&out, false, 0, &word, sizeof(word));
}

static void *together(void *arg)
{
	self = (int) (intptr_t) arg;
	for (int round = 1; round <= ROUNDS; round++) {
		plain[self] = round;
		assert_int_equal(fi_xpu_send(&ep, NULL, (size_t) round, NULL, 0, NULL, NULL, 0,
					     FI_XPU_WORK_GROUP), 0);
		if (self == LEADER)
			serve(round);
		assert_int_equal(fi_xpu_cq_sread(&cq, read_into, RECORDS, 1, FI_XPU_SUBGROUP), 1);
		assert_int_equal(read_into[0], round);
		assert_int_equal(fi_xpu_cntr_add(&cntr, 1, FI_XPU_WORK_GROUP), 0);
		fi_xpu_cntr_wait(&cntr, (uint64_t) round, -1, FI_XPU_WORK_GROUP);
		assert_int_equal(fi_xpu_cntr_read(&cntr, FI_XPU_WORK_GROUP), round);
	}
	assert_int_equal(fi_xpu_cq_read(&cq, read_into, 1, FI_XPU_WORK_GROUP), -FI_EAGAIN);
	return NULL;
}

static void *mem_of(size_t size)
{
	void *mem = NULL;

	assert_int_equal(posix_memalign(&mem, 64, size), 0);
	return memset(mem, 0, size);
}

static int open_all(void **state)
{
	void *records = mem_of(xpu_ring_bytes(RECORDS)), *entries = mem_of(xpu_out_bytes(RECORDS));
	struct fi_xpu_ring_cntr *count = mem_of(sizeof(*count));

	(void) state;
	xpu_ring_init(&ring, records, (uintptr_t) records, RECORDS, 0);
	xpu_out_init(&out, entries, (uintptr_t) entries, RECORDS, sizeof(uint64_t), 0);
	ep.fid = (struct fid_xpu) { FI_CLASS_EP, FI_XPU_RING_PROV, (uintptr_t) records };
	cq.fid = (struct fid_xpu) { FI_CLASS_CQ, FI_XPU_RING_PROV, (uintptr_t) entries };
	cntr.fid = (struct fid_xpu) { FI_CLASS_CNTR, FI_XPU_RING_PROV, (uintptr_t) count };
	return pthread_barrier_init(&barrier, NULL, THREADS);
}

static int close_all(void **state)
{
	(void) state;
	free((void *) (uintptr_t) ep.fid.prov_ctx);
	free((void *) (uintptr_t) cq.fid.prov_ctx);
	free((void *) (uintptr_t) cntr.fid.prov_ctx);
	return pthread_barrier_destroy(&barrier);
}

/* One record, one completion and one step of the counter for each call of the four. */
static void groups_call_once(void **state)
{
	pthread_t id[THREADS];

	(void) state;
	for (intptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&id[i], NULL, together, (void *) i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
}

/* A device as a whole has no barrier, and a scope that is none nothing. */
static void device_is_refused(void **state)
{
	uint64_t value = fi_xpu_cntr_read(&cntr, FI_XPU_WORK_ITEM), word;

	(void) state;
	for (int scope = FI_XPU_DEVICE; scope < FI_XPU_DEVICE + 2; scope++) {
		assert_int_equal(fi_xpu_send(&ep, NULL, 0, NULL, 0, NULL, NULL, 0, scope), -FI_EOPNOTSUPP);
		assert_int_equal(fi_xpu_cq_read(&cq, &word, 1, scope), -FI_EOPNOTSUPP);
		assert_int_equal(fi_xpu_cntr_add(&cntr, 1, scope), -FI_EOPNOTSUPP);
	}
	assert_int_equal(fi_xpu_send(&ep, NULL, 0, NULL, 0, NULL, NULL, 0, -1), -FI_EOPNOTSUPP);
	assert_int_equal(fi_xpu_cntr_read(&cntr, FI_XPU_DEVICE), value);
	fi_xpu_cntr_wait(&cntr, value, -1, FI_XPU_DEVICE);
	assert_false(xpu_ring_started(&ring));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_call_once),
		cmocka_unit_test(device_is_refused),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
