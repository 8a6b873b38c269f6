/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static struct fake f;

static void test_read_write(void **state)
{
	struct fi_eq_entry in = { .context = (void *) 1, .data = 2 }, out;
	struct fid_eq *eq;
	uint32_t event;
	int i;

	fake_open(&f, NULL);
	eq = fake_eq(&f, FI_WAIT_NONE);
	assert_int_equal(fi_eq_read(eq, &event, &out, sizeof(out), 0), -FI_EAGAIN);
	/* More than any size that was asked for, in order. */
	for (i = 0; i < 1000; i++) {
		in.data = (uint64_t) i;
		assert_int_equal(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	}
	for (i = 0; i < 1000; i++) {
		assert_int_equal(fi_eq_read(eq, &event, &out, sizeof(out), FI_PEEK), sizeof(out));
		assert_int_equal(fi_eq_read(eq, &event, &out, 8, 0), -FI_ETOOSMALL);
		assert_int_equal(fi_eq_read(eq, &event, &out, sizeof(out), 0), sizeof(out));
		assert_int_equal(out.data, i);
		assert_int_equal(event, FI_NOTIFY);
	}
	assert_int_equal(fi_eq_read(eq, &event, &out, sizeof(out), 0), -FI_EAGAIN);
	assert_int_equal(fi_eq_sread(eq, &event, &out, sizeof(out), 0, 0), -FI_ENOSYS);
	CLOSE(eq);
	fake_close(&f);
}

static void test_attr(void **state)
{
	struct fi_eq_attr bad[] = {
		{ .flags = FI_MORE },
		{ .wait_obj = 99 },
		{ .wait_obj = FI_WAIT_SET },
		{ .flags = FI_AFFINITY, .signaling_vector = -1 },
	};
	struct fi_eq_entry entry = { 0 };
	struct fid_eq *eq;
	size_t i;

	fake_open(&f, NULL);
	fake_log_start();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fi_eq_open(f.fabric, &bad[i], &eq, NULL), -FI_EINVAL);
	assert_int_equal(fi_eq_open(f.fabric, NULL, &eq, NULL), 0);
	assert_int_equal(fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0), -FI_EINVAL);
	CLOSE(eq);
	fake_close(&f);
}

/* An error stands in line and is read by its own call. */
static void test_errors(void **state)
{
	struct fi_eq_err_entry err = { .context = (void *) 5, .err = FI_ECONNREFUSED }, got;
	struct fi_eq_entry entry = { .data = 1 };
	struct fid_eq *fid;
	struct obj_eq *eq;
	uint32_t event;
	char room[3];

	fake_open(&f, NULL);
	fid = fake_eq(&f, FI_WAIT_NONE);
	eq = obj_eq_of(fid);
	assert_int_equal(obj_eq_write(eq, FI_AV_COMPLETE, &entry, sizeof(entry)), 0);
	assert_int_equal(obj_eq_write_err(eq, &err, "reason", 6), 0);
	assert_int_equal(obj_eq_write_err(eq, &err, "reason", 6), 0);
	assert_int_equal(obj_eq_write(eq, FI_AV_COMPLETE, &entry, sizeof(entry)), 0);

	assert_int_equal(fi_eq_readerr(fid, &got, 0), -FI_EAGAIN);
	assert_int_equal(fi_eq_read(fid, &event, &entry, sizeof(entry), 0), sizeof(entry));
	assert_int_equal(fi_eq_read(fid, &event, &entry, sizeof(entry), 0), -FI_EAVAIL);
	memset(&got, 0, sizeof(got));
	got.err_data = room;
	got.err_data_size = sizeof(room);
	assert_int_equal(fi_eq_readerr(fid, &got, FI_PEEK), sizeof(got));
	assert_int_equal(fi_eq_readerr(fid, &got, 0), sizeof(got));
	assert_int_equal(got.err, FI_ECONNREFUSED);
	assert_ptr_equal(got.context, 5);
	assert_int_equal(got.err_data_size, 3);
	assert_memory_equal(room, "rea", 3);
	memset(&got, 0, sizeof(got));
	assert_int_equal(fi_eq_readerr(fid, &got, 0), sizeof(got));
	assert_int_equal(got.err_data_size, 6);
	assert_memory_equal(got.err_data, "reason", 6);
	assert_int_equal(fi_eq_read(fid, &event, &entry, sizeof(entry), 0), sizeof(entry));
	assert_string_equal(fi_eq_strerror(fid, FI_ECONNREFUSED, NULL, NULL, 0),
			    fi_strerror(FI_ECONNREFUSED));
	CLOSE(fid);
	fake_close(&f);
}

/* Private data is cut to the buffer; the info is the reader's; what is not read is
 * freed (the leak checker sees to that).
 */
static void test_connreq(void **state)
{
	union {
		struct fi_eq_cm_entry e;
		char bytes[sizeof(struct fi_eq_cm_entry) + 16];
	} out;
	static const char data[16] = "private data";
	struct fid_pep pep = { .fid.fclass = FI_CLASS_PEP };
	struct fi_info *info;
	struct fid_eq *fid;
	struct obj_eq *eq;
	uint32_t event;

	fake_open(&f, NULL);
	fid = fake_eq(&f, FI_WAIT_NONE);
	eq = obj_eq_of(fid);
	info = fi_allocinfo();
	assert_int_equal(obj_eq_write_cm(eq, FI_CONNREQ, &pep.fid, info, data, sizeof(data)), 0);
	assert_int_equal(fi_eq_read(fid, &event, &out, 8, 0), -FI_ETOOSMALL);
	assert_int_equal(fi_eq_read(fid, &event, &out, sizeof(out.e) + 4, FI_PEEK),
			 sizeof(out.e) + 4);
	assert_int_equal(fi_eq_read(fid, &event, &out, sizeof(out.e) + 4, 0), sizeof(out.e) + 4);
	assert_int_equal(event, FI_CONNREQ);
	assert_ptr_equal(out.e.fid, &pep.fid);
	assert_ptr_equal(out.e.info, info);
	assert_memory_equal(out.e.data, data, 4);
	fi_freeinfo(out.e.info);

	info = fi_allocinfo();
	assert_int_equal(obj_eq_write_cm(eq, FI_CONNREQ, &pep.fid, info, data, sizeof(data)), 0);
	assert_int_equal(obj_eq_write_cm(eq, FI_SHUTDOWN, &f.fabric->fid, NULL, NULL, 0), 0);
	obj_eq_purge(eq, &pep.fid);
	assert_int_equal(fi_eq_read(fid, &event, &out, sizeof(out), 0), sizeof(out.e));
	assert_int_equal(event, FI_SHUTDOWN);
	info = fi_allocinfo();
	assert_int_equal(obj_eq_write_cm(eq, FI_CONNREQ, &pep.fid, info, data, sizeof(data)), 0);
	CLOSE(fid);
	fake_close(&f);
}

static void test_timeout(void **state)
{
	struct fi_eq_entry out;
	struct fid_eq *eq;
	uint64_t start, cpu;
	uint32_t event;

	fake_open(&f, NULL);
	eq = fake_eq(&f, FI_WAIT_UNSPEC);
	start = clock_ns();
	cpu = fake_cpu_ns();
	assert_int_equal(fi_eq_sread(eq, &event, &out, sizeof(out), 60, 0), -FI_EAGAIN);
	assert_true(clock_ns() - start >= 60 * CLOCK_NS_PER_MS);
	assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 10));
	CLOSE(eq);
	fake_close(&f);
}

#define EACH 20000

static void *write_many(void *arg)
{
	struct fi_eq_entry in = { .data = 1 };
	int i;

	for (i = 0; i < EACH; i++)
		if (fi_eq_write(arg, FI_NOTIFY, &in, sizeof(in), 0) != sizeof(in))
			return arg;
	return NULL;
}

static void *read_many(void *arg)
{
	struct fi_eq_entry out;
	uint32_t event;
	int i;

	for (i = 0; i < EACH; i++)
		if (fi_eq_sread(arg, &event, &out, sizeof(out), 10000, 0) != sizeof(out))
			return arg;
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t thread[4];
	struct fid_eq *eq;
	void *failed;
	int i;

	fake_open(&f, NULL);
	eq = fake_eq(&f, FI_WAIT_FD);
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, i < 2 ? read_many : write_many, eq);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	CLOSE(eq);
	fake_close(&f);
}

/* Of a connected endpoint, the event queue drives the group too; it outlives the
 * domain without harm.
 */
static void test_feeds(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG };
	struct fi_eq_entry out;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	uint32_t event;
	unsigned before;

	fake_open(&f, &want);
	eq = fake_eq(&f, FI_WAIT_FD);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	ep = fake_ep_open(&f);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	before = fake_polls;
	assert_int_equal(fi_eq_read(eq, &event, &out, sizeof(out), 0), -FI_EAGAIN);
	assert_int_equal(fake_polls, before + 1);
	assert_int_equal(fi_eq_sread(eq, &event, &out, sizeof(out), 5, 0), -FI_EAGAIN);
	CLOSE(ep);
	CLOSE(cq);
	CLOSE(f.domain);
	before = fake_polls;
	assert_int_equal(fi_eq_sread(eq, &event, &out, sizeof(out), 5, 0), -FI_EAGAIN);
	assert_int_equal(fake_polls, before);
	CLOSE(eq);
	CLOSE(f.fabric);
	fi_freeinfo(f.info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_write),
		cmocka_unit_test(test_attr),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_connreq),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_feeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
