/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <rdma/fi_xpu_device.h>
#include <stdlib.h>
#include <string.h>

#include "xpu/name.h"
#include "xpu/ring.h"

#define RECORDS 8
/* The lap, index / RECORDS, passes 2^32 after three laps. */
#define FAR ((UINT64_C(1) << 32) * RECORDS - 3 * RECORDS)

struct set {
	void *mem;
	struct xpu_ring ring;
	struct xpu_out out;
	struct fid_xpu_ep ep;
	struct fid_xpu_cq cq;
};

static void *zeroed(size_t size)
{
	void *mem = NULL;

	assert_int_equal(posix_memalign(&mem, 64, size), 0);
	return memset(mem, 0, size);
}

static void open_ring(struct set *s, uint64_t start)
{
	s->mem = zeroed(xpu_ring_bytes(RECORDS));
	xpu_ring_init(&s->ring, s->mem, (uintptr_t) s->mem, RECORDS, start);
	s->ep.fid = (struct fid_xpu) { FI_CLASS_EP, FI_XPU_RING_PROV, (uintptr_t) s->mem };
}

static void open_out(struct set *s, uint64_t start, size_t entry_size)
{
	s->mem = zeroed(xpu_out_bytes(RECORDS));
	xpu_out_init(&s->out, s->mem, (uintptr_t) s->mem, RECORDS, entry_size, start);
	s->cq.fid = (struct fid_xpu) { FI_CLASS_CQ, FI_XPU_RING_PROV, (uintptr_t) s->mem };
}

static int post(struct set *s, uint64_t number)
{
	return fi_xpu_write(&s->ep, NULL, number, NULL, 0, NULL, number + 1, number + 2, NULL, 0,
			    FI_XPU_WORK_ITEM);
}

static void take(struct set *s, uint64_t number)
{
	struct fi_xpu_ring_record rec;

	assert_true(xpu_ring_take(&s->ring, &rec));
	assert_int_equal(rec.call, FI_XPU_RING_WRITE);
	assert_int_equal(rec.len, number);
	assert_int_equal(rec.addr, number + 1);
	assert_int_equal(rec.key, number + 2);
}

static void run_laps(uint64_t start)
{
	struct fi_xpu_ring_record rec;
	struct set s;
	uint64_t i;

	open_ring(&s, start);
	assert_false(xpu_ring_take(&s.ring, &rec));
	for (i = 0; i < 8 * RECORDS; i++) {
		assert_int_equal(post(&s, i), 0);
		take(&s, i);
		assert_false(xpu_ring_take(&s.ring, &rec));
		assert_false(xpu_ring_started(&s.ring));
	}
	free(s.mem);
}

/* The ring is the same after its 2^32nd lap. */
static void ring_laps(void **state)
{
	(void) state;
	run_laps(0);
	run_laps(FAR);
}

/* A full ring takes nothing, and what it refused leaves no trace. */
static void run_full(uint64_t start)
{
	struct set s;
	uint64_t i, k;

	open_ring(&s, start);
	for (k = 0; k < 5; k++) {
		for (i = 0; i < RECORDS; i++)
			assert_int_equal(post(&s, i), 0);
		assert_int_equal(post(&s, 99), -FI_EAGAIN);
		assert_int_equal(post(&s, 99), -FI_EAGAIN);
		take(&s, 0);
		assert_int_equal(post(&s, RECORDS), 0);
		assert_int_equal(post(&s, 99), -FI_EAGAIN);
		for (i = 1; i <= RECORDS; i++)
			take(&s, i);
	}
	free(s.mem);
}

static void ring_full(void **state)
{
	(void) state;
	run_full(0);
	run_full(FAR);
}

/* What stands behind a record that is not complete waits; a closed ring passes over it. */
static void ring_stopped(void **state)
{
	struct fi_xpu_ring_record rec;
	struct set s;
	uint64_t at;

	(void) state;
	open_ring(&s, 0);
	assert_int_equal(fi_xpu_ring_reserve(fi_xpu_ring_of(&s.ep.fid), &at), 0);
	assert_int_equal(post(&s, 7), 0);
	assert_false(xpu_ring_take(&s.ring, &rec));
	assert_true(xpu_ring_started(&s.ring));
	xpu_ring_close(&s.ring);
	assert_int_equal(post(&s, 8), -FI_ECANCELED);
	assert_false(xpu_ring_take(&s.ring, &rec));
	assert_true(xpu_ring_started(&s.ring));
	xpu_ring_skip(&s.ring);
	take(&s, 7);
	assert_false(xpu_ring_started(&s.ring));
	free(s.mem);
}

/* An index that no call has written is not believed. */
static void ring_wrong_index(void **state)
{
	struct fi_xpu_ring_record rec;
	struct set s;

	(void) state;
	open_ring(&s, 0);
	*s.ring.tail = 1 << 20;
	assert_false(xpu_ring_take(&s.ring, &rec));
	assert_false(xpu_ring_started(&s.ring));
	free(s.mem);
	open_out(&s, 0, sizeof(struct fi_cq_entry));
	*s.out.head = 1000;
	assert_int_equal(xpu_out_room(&s.out), 0);
	free(s.mem);
}

/* ---- many threads ---------------------------------------------------------- */

#define THREADS 8
#define EACH 2000

static void *post_many(void *arg)
{
	struct set *s = arg;
	uint64_t i;
	int ret;

	for (i = 0; i < EACH; i++) {
		while ((ret = post(s, i)) == -FI_EAGAIN)
			fi_xpu_ring_relax();
		if (ret)
			return s;
	}
	return NULL;
}

/* Each record that is posted is taken once and whole. */
static void ring_threads(void **state)
{
	uint64_t sum = 0, cnt = 0;
	struct fi_xpu_ring_record rec;
	pthread_t threads[THREADS];
	struct set s;
	void *failed;
	int i;

	(void) state;
	open_ring(&s, FAR);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_many, &s), 0);
	while (cnt < THREADS * EACH) {
		if (!xpu_ring_take(&s.ring, &rec)) {
			fi_xpu_ring_relax();
			continue;
		}
		assert_int_equal(rec.key, rec.len + 2);
		sum += rec.len;
		cnt++;
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(sum, (uint64_t) THREADS * EACH * (EACH - 1) / 2);
	assert_false(xpu_ring_take(&s.ring, &rec));
	free(s.mem);
}

/* ---- completions ------------------------------------------------------------ */

static void put(struct set *s, uint64_t number)
{
	struct fi_cq_data_entry entry = { .op_context = (void *) (uintptr_t) number, .data = number };

	assert_true(xpu_out_room(&s->out) > 0);
	xpu_out_put(&s->out, false, number + 1, &entry, sizeof(entry));
}

static void put_err(struct set *s, int err)
{
	struct fi_cq_err_entry entry = { .err = err };

	xpu_out_put(&s->out, true, UINT64_MAX, &entry, sizeof(entry));
}

static void run_out(uint64_t start)
{
	struct fi_cq_data_entry got[4];
	uint64_t src[4], i, k;
	struct set s;

	open_out(&s, start, sizeof(struct fi_cq_data_entry));
	assert_int_equal(fi_xpu_cq_read(&s.cq, got, 4, 0), -FI_EAGAIN);
	for (k = 0; k < 6; k++) {
		for (i = 0; i < RECORDS; i++)
			put(&s, i);
		assert_int_equal(xpu_out_room(&s.out), 0);
		for (i = 0; i < RECORDS; i += 4) {
			assert_int_equal(fi_xpu_cq_readfrom(&s.cq, got, 4, src, 0), 4);
			assert_int_equal(got[3].data, i + 3);
			assert_int_equal(src[3], i + 4);
		}
		assert_int_equal(fi_xpu_cq_read(&s.cq, got, 4, 0), -FI_EAGAIN);
	}
	free(s.mem);
}

static void out_laps(void **state)
{
	(void) state;
	run_out(0);
	run_out(FAR);
}

/* Errors are read in line, by fi_xpu_cq_readerr() alone. */
static void out_errors(void **state)
{
	struct fi_cq_data_entry got[4];
	struct fi_cq_err_entry err;
	struct set s;

	(void) state;
	open_out(&s, 0, sizeof(struct fi_cq_data_entry));
	put(&s, 1);
	put_err(&s, FI_EIO);
	put(&s, 2);
	assert_int_equal(fi_xpu_cq_readerr(&s.cq, &err, 0, 0), -FI_EAGAIN);
	assert_int_equal(fi_xpu_cq_sread(&s.cq, got, 4, 3, 0), 1);
	assert_int_equal(fi_xpu_cq_read(&s.cq, got, 4, 0), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_sread(&s.cq, got, 4, 1, 0), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_readerr(&s.cq, &err, 0, 0), 1);
	assert_int_equal(err.err, FI_EIO);
	assert_int_equal(fi_xpu_cq_sread(&s.cq, got, 4, 1, 0), 1);
	s.out.shown->closed = 1;
	assert_int_equal(fi_xpu_cq_sread(&s.cq, got, 4, 1, 0), -FI_ECANCELED);
	free(s.mem);
}

/* ---- handles ------------------------------------------------------------------ */

/* A handle of another library, or of another version of the rings, is left alone. */
static void other_provider(void **state)
{
	struct fid_xpu_ep ep = { { FI_CLASS_EP, FI_XPU_RING_PROV + 1, 8 } };
	struct fid_xpu_cq cq = { { FI_CLASS_CQ, FI_XPU_PROV_EFA, 8 } };
	struct fid_xpu_cntr cntr = { { FI_CLASS_CNTR, FI_XPU_RING_PROV - 1, 8 } };
	char buf[128];

	(void) state;
	assert_int_equal(fi_xpu_send(&ep, buf, 1, NULL, 0, NULL, NULL, 0, 0), -FI_ENOSYS);
	assert_int_equal(fi_xpu_recv(&ep, buf, 1, NULL, NULL, NULL, 0, 0), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_read(&cq, buf, 1, 0), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cq_readerr(&cq, buf, 0, 0), -FI_ENOSYS);
	assert_int_equal(fi_xpu_cntr_read(&cntr, 0), 0);
	assert_int_equal(fi_xpu_cntr_add(&cntr, 1, 0), -FI_ENOSYS);
	fi_xpu_cntr_wait(&cntr, 1, -1, 0);
}

/* ---- names -------------------------------------------------------------------- */

/* A name is one object's, until that is gone; its place then has another name. */
static void names(void **state)
{
	uint64_t a, b, again, other;
	struct xpu_names names;
	int one, two;

	(void) state;
	xpu_names_init(&names);
	assert_null(xpu_name_find(&names, 0));
	assert_null(xpu_name_find(&names, UINT64_MAX));
	assert_int_equal(xpu_name_get(&names, &one, 5, 5, &a), 0);
	assert_int_equal(xpu_name_get(&names, &one, 5, 5, &again), 0);
	assert_int_equal(a, again);
	assert_int_equal(xpu_name_get(&names, &two, 5, 5, &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(xpu_name_get(&names, &one, 5, 5 | UINT64_C(1) << 60, &other), 0);
	assert_int_not_equal(a, other);
	assert_ptr_equal(xpu_name_find(&names, a)->obj, &one);
	assert_null(xpu_name_find(&names, 0));
	xpu_name_drop(&names, &one, 5);
	assert_null(xpu_name_find(&names, a));
	assert_null(xpu_name_find(&names, other));
	assert_non_null(xpu_name_find(&names, b));
	assert_int_equal(xpu_name_get(&names, &one, 6, 6, &again), 0);
	assert_null(xpu_name_find(&names, a));
	xpu_name_drop_all(&names, &one);
	assert_null(xpu_name_find(&names, again));
	xpu_names_fini(&names);
}

static void names_many(void **state)
{
	struct xpu_names names;
	uint64_t i, raw[1000];
	int obj;

	(void) state;
	xpu_names_init(&names);
	for (i = 0; i < 1000; i++)
		assert_int_equal(xpu_name_get(&names, &obj, i, i, &raw[i]), 0);
	for (i = 0; i < 1000; i += 2)
		xpu_name_drop(&names, &obj, i);
	for (i = 0; i < 1000; i++)
		assert_int_equal(xpu_name_find(&names, raw[i]) != NULL, i % 2);
	xpu_name_drop_all(&names, &obj);
	for (i = 0; i < 1000; i++)
		assert_null(xpu_name_find(&names, raw[i]));
	xpu_names_fini(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_laps),
		cmocka_unit_test(ring_full),
		cmocka_unit_test(ring_stopped),
		cmocka_unit_test(ring_wrong_index),
		cmocka_unit_test(ring_threads),
		cmocka_unit_test(out_laps),
		cmocka_unit_test(out_errors),
		cmocka_unit_test(other_provider),
		cmocka_unit_test(names),
		cmocka_unit_test(names_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
