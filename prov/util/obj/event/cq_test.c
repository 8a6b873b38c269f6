/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static struct fake f;

static void put(struct fid_cq *cq, uint64_t n)
{
	obj_cq_write(obj_cq_of(cq), (void *) (uintptr_t) n, FI_RECV, n + 1, (void *) (uintptr_t) (n + 2),
		     n + 3, n + 4, n + 5);
}

static void put_err(struct fid_cq *cq, uint64_t n, const void *data, size_t size)
{
	struct fi_cq_err_entry e = {
		.op_context = (void *) (uintptr_t) n, .flags = FI_RECV, .err = FI_ETRUNC, .olen = n,
		.src_addr = n,
	};

	obj_cq_write_err(obj_cq_of(cq), &e, data, size);
}

/* ---- the ring ------------------------------------------------------------- */

static void test_formats(void **state)
{
	struct fi_cq_tagged_entry e[2];
	fi_addr_t src[2];
	struct {
		enum fi_cq_format format;
		size_t size;
	} formats[] = {
		{ FI_CQ_FORMAT_UNSPEC, sizeof(struct fi_cq_entry) },
		{ FI_CQ_FORMAT_CONTEXT, sizeof(struct fi_cq_entry) },
		{ FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry) },
		{ FI_CQ_FORMAT_DATA, sizeof(struct fi_cq_data_entry) },
		{ FI_CQ_FORMAT_TAGGED, sizeof(struct fi_cq_tagged_entry) },
	};
	struct fi_cq_tagged_entry want = {
		(void *) 2, FI_RECV, 3, (void *) 4, 5, 6,
	};
	unsigned char fence[sizeof(e)];
	struct fid_cq *cq;
	size_t i, size;

	fake_open(&f, NULL);
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		size = formats[i].size;
		cq = fake_cq(&f, formats[i].format, FI_WAIT_NONE);
		assert_int_equal(fi_cq_read(cq, e, 2), -FI_EAGAIN);
		put(cq, 1);
		put(cq, 2);
		memset(e, 0xee, sizeof(e));
		memset(fence, 0xee, sizeof(fence));
		assert_int_equal(fi_cq_readfrom(cq, e, 2, src), 2);
		assert_memory_equal((char *) e + size, &want, size);
		assert_memory_equal((char *) e + 2 * size, fence, sizeof(e) - 2 * size);
		assert_int_equal(src[0], 6);
		assert_int_equal(src[1], 7);
		assert_int_equal(fi_cq_read(cq, e, 1), -FI_EAGAIN);
		CLOSE(cq);
	}
	fake_close(&f);
}

/* Against an array: what goes in comes out, in order, errors in their place. */
static void test_model(void **state)
{
	static struct { uint64_t n; bool err; } model[200000];
	struct fi_cq_err_entry err;
	struct fi_cq_entry e[64];
	size_t head = 0, tail = 0, steps, burst;
	unsigned seed = 12345;
	struct fid_cq *cq;
	ssize_t ret, i;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	for (steps = 0; steps < 6000; steps++) {
		burst = (size_t) rand_r(&seed) % (steps % 1000 < 30 ? 600 : 20);
		while (burst-- && tail < 200000) {
			model[tail].n = tail;
			model[tail].err = rand_r(&seed) % 17 == 0;
			if (model[tail].err)
				put_err(cq, tail, NULL, 0);
			else
				put(cq, tail);
			tail++;
		}
		ret = fi_cq_read(cq, e, 1 + (size_t) rand_r(&seed) % 64);
		if (ret == -FI_EAGAIN) {
			assert_int_equal(head, tail);
			assert_int_equal(fi_cq_readerr(cq, &err, 0), -FI_EAGAIN);
		} else if (ret == -FI_EAVAIL) {
			assert_true(model[head].err);
			memset(&err, 0, sizeof(err));
			assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
			assert_ptr_equal(err.op_context, model[head].n);
			assert_int_equal(err.err, FI_ETRUNC);
			head++;
		} else {
			assert_true(ret > 0);
			for (i = 0; i < ret; i++, head++) {
				assert_false(model[head].err);
				assert_ptr_equal(e[i].op_context, model[head].n);
			}
			/* An error that is not in front is not to be had. */
			if (head < tail && !model[head].err)
				assert_int_equal(fi_cq_readerr(cq, &err, 0), -FI_EAGAIN);
		}
	}
	assert_true(tail > 50000);
	CLOSE(cq);		/* with entries and errors in it */
	fake_close(&f);
}

/* A small queue takes any number with resource management on. */
static void test_grows(void **state)
{
	struct fi_cq_attr attr = { .size = 1 };
	struct fi_cq_entry e;
	struct fid_cq *cq;
	uint64_t i;

	fake_open(&f, NULL);
	assert_int_equal(fi_cq_open(f.domain, &attr, &cq, NULL), 0);
	for (i = 0; i < 100000; i++)
		put(cq, i);
	for (i = 0; i < 100000; i++) {
		assert_int_equal(fi_cq_read(cq, &e, 1), 1);
		assert_ptr_equal(e.op_context, i);
	}
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
	CLOSE(cq);
	fake_close(&f);
}

/* Without, it takes what was asked for and then says so for ever. */
static void test_overrun(void **state)
{
	struct fake_want want = { .rm = FI_RM_DISABLED };
	struct fi_cq_attr attr = { .size = 20 };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry e[32];
	struct fid_cq *cq;
	uint64_t i;

	fake_open(&f, &want);
	fake_log_start();
	assert_int_equal(fi_cq_open(f.domain, &attr, &cq, NULL), 0);
	for (i = 0; i < 25; i++)
		put(cq, i);
	assert_non_null(strstr(fake_log_last(), "lost a completion"));
	assert_int_equal(fi_cq_read(cq, e, 32), 20);
	assert_ptr_equal(e[19].op_context, 19);
	put(cq, 99);
	for (i = 0; i < 3; i++) {
		assert_int_equal(fi_cq_read(cq, e, 32), -FI_EAVAIL);
		assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
		assert_int_equal(err.err, FI_EOVERRUN);
	}
	CLOSE(cq);
	fake_close(&f);
}

/* ---- error data ----------------------------------------------------------- */

static void test_err_data(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	char room[4];
	struct fid_cq *cq;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_TAGGED, FI_WAIT_NONE);
	put_err(cq, 1, "abcdef", 6);
	put_err(cq, 2, "abcdef", 6);
	put_err(cq, 3, NULL, 0);
	/* Into our buffer, cut. */
	err.err_data = room;
	err.err_data_size = sizeof(room);
	assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
	assert_ptr_equal(err.err_data, room);
	assert_int_equal(err.err_data_size, 4);
	assert_memory_equal(room, "abcd", 4);
	assert_int_equal(err.src_addr, 1);
	/* No buffer: the queue's, until the next call. */
	err.err_data = NULL;
	err.err_data_size = 0;
	assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
	assert_int_equal(err.err_data_size, 6);
	assert_memory_equal(err.err_data, "abcdef", 6);
	assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
	assert_int_equal(err.err_data_size, 0);
	assert_string_equal(fi_cq_strerror(cq, FI_ETRUNC, NULL, NULL, 0), fi_strerror(FI_ETRUNC));
	CLOSE(cq);
	fake_close(&f);
}

/* A program of an older interface has a shorter struct. */
static void test_err_old_size(void **state)
{
	struct {
		uint32_t api;
		size_t size;
	} cases[] = {
		{ FI_VERSION(1, 4), offsetof(struct fi_cq_err_entry, err_data_size) },
		{ FI_VERSION(1, 17), offsetof(struct fi_cq_err_entry, src_addr) },
		{ FI_VERSION(1, 20), sizeof(struct fi_cq_err_entry) },
	};
	unsigned char fence[sizeof(struct fi_cq_err_entry)];
	struct fi_cq_err_entry err;
	struct fid_cq *cq;
	size_t i;

	memset(fence, 0xee, sizeof(fence));
	for (i = 0; i < 3; i++) {
		struct fake_want want = { .api = cases[i].api };

		fake_open(&f, &want);
		cq = fake_cq(&f, FI_CQ_FORMAT_TAGGED, FI_WAIT_NONE);
		put_err(cq, 7, "abcdef", 6);
		memset(&err, 0xee, sizeof(err));
		if (i)
			err.err_data_size = 0;
		assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
		assert_int_equal(err.err, FI_ETRUNC);
		assert_memory_equal(err.err_data, "abcdef", 6);
		assert_memory_equal((char *) &err + cases[i].size, fence,
				    sizeof(err) - cases[i].size);
		CLOSE(cq);
		fake_close(&f);
	}
}

/* ---- progress and blocking ------------------------------------------------ */

/* -FI_EAGAIN never before the time is up, and no CPU burnt until then. */
static void test_sread_timeout(void **state)
{
	uint64_t start, cpu;
	struct fi_cq_entry e;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	int ms;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_UNSPEC);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	for (ms = 0; ms <= 200; ms = ms ? ms * 10 : 2) {
		start = clock_ns();
		cpu = fake_cpu_ns();
		assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, ms), -FI_EAGAIN);
		assert_true(clock_ns() - start >= (uint64_t) ms * CLOCK_NS_PER_MS);
		assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 20));
	}
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 0), -FI_ENOSYS);
	assert_int_equal(fi_cq_signal(cq), -FI_ENOSYS);
	CLOSE(cq);
	fake_close(&f);
}

/* A timer of the transport's wakes a blocked read, also one that is set while it
 * sleeps.
 */
static void *set_timer(void *arg)
{
	usleep(20000);
	fake_timer(arg, clock_ns() + 20 * CLOCK_NS_PER_MS);
	return NULL;
}

static void test_sread_timer(void **state)
{
	struct fi_cq_entry e;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	pthread_t thread;
	uint64_t start;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	start = clock_ns();
	fake_timer(ep, start + 30 * CLOCK_NS_PER_MS);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 5000), 1);
	assert_true(clock_ns() - start >= 30 * CLOCK_NS_PER_MS);
	assert_true(clock_ns() - start < 2000 * CLOCK_NS_PER_MS);

	assert_int_equal(pthread_create(&thread, NULL, set_timer, ep), 0);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 5000), 1);
	pthread_join(thread, NULL);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

static void *signal_later(void *arg)
{
	usleep(30000);
	fi_cq_signal(arg);
	return NULL;
}

static void test_signal(void **state)
{
	struct fi_cq_entry e;
	struct fid_cq *cq;
	pthread_t thread;
	uint64_t start;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_UNSPEC);
	assert_int_equal(pthread_create(&thread, NULL, signal_later, cq), 0);
	start = clock_ns();
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, -1), -FI_EAGAIN);
	assert_true(clock_ns() - start < 5 * CLOCK_NS_PER_S);
	pthread_join(thread, NULL);
	/* One that comes just before the read is not lost, and counts once. */
	assert_int_equal(fi_cq_signal(cq), 0);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, -1), -FI_EAGAIN);
	start = clock_ns();
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 30), -FI_EAGAIN);
	assert_true(clock_ns() - start >= 30 * CLOCK_NS_PER_MS);
	CLOSE(cq);
	fake_close(&f);
}

static void on_signal(int sig)
{
}

static void *kill_later(void *arg)
{
	usleep(30000);
	pthread_kill(*(pthread_t *) arg, SIGUSR1);
	return NULL;
}

/* fi_cq(3): a signalled thread returns with -FI_EAGAIN. */
static void test_interrupted(void **state)
{
	struct sigaction act = { .sa_handler = on_signal };
	pthread_t self = pthread_self(), thread;
	struct fi_cq_entry e;
	struct fid_cq *cq;
	uint64_t start;

	sigaction(SIGUSR1, &act, NULL);
	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	assert_int_equal(pthread_create(&thread, NULL, kill_later, &self), 0);
	start = clock_ns();
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 20000), -FI_EAGAIN);
	assert_true(clock_ns() - start < 10 * CLOCK_NS_PER_S);
	pthread_join(thread, NULL);
	CLOSE(cq);
	fake_close(&f);
}

struct feeder {
	struct fid_ep *ep;
	unsigned cnt;
};

static void *deliver_slowly(void *arg)
{
	struct feeder *feeder = arg;
	unsigned i;

	for (i = 0; i < feeder->cnt; i++) {
		usleep(3000);
		fake_deliver(feeder->ep, 1);
	}
	return NULL;
}

static void test_threshold(void **state)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD, .wait_cond = FI_CQ_COND_THRESHOLD };
	struct fi_cq_entry e[16];
	struct feeder feeder;
	struct fid_cq *cq;
	struct fid_av *av;
	pthread_t thread;

	fake_open(&f, NULL);
	assert_int_equal(fi_cq_open(f.domain, &attr, &cq, NULL), 0);
	av = fake_av(&f);
	feeder.ep = fake_ep_up(&f, cq, cq, av);
	feeder.cnt = 8;
	assert_int_equal(pthread_create(&thread, NULL, deliver_slowly, &feeder), 0);
	assert_int_equal(fi_cq_sread(cq, e, 16, (void *) 8, 5000), 8);
	pthread_join(thread, NULL);
	/* Time is up: what there is. */
	fake_deliver(feeder.ep, 3);
	assert_int_equal(fi_cq_sread(cq, e, 16, (void *) 8, 50), 3);
	/* An error does not wait for company. */
	put_err(cq, 1, NULL, 0);
	assert_int_equal(fi_cq_sread(cq, e, 16, (void *) 8, 5000), -FI_EAVAIL);
	CLOSE(feeder.ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* ---- attributes and peers ------------------------------------------------- */

static void test_attr(void **state)
{
	struct fi_cq_attr bad[] = {
		{ .flags = FI_MORE },
		{ .format = 17 },
		{ .wait_obj = 99 },
		{ .wait_obj = FI_WAIT_SET },
		{ .wait_obj = FI_WAIT_FD, .wait_cond = 7 },
		{ .flags = FI_AFFINITY, .signaling_vector = -1 },
		{ .flags = FI_PEER },
	};
	struct fi_cq_attr good = { .flags = FI_AFFINITY, .signaling_vector = 1, .wait_cond = 7 };
	struct fid_cq *cq;
	size_t i;

	fake_open(&f, NULL);
	fake_log_start();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fi_cq_open(f.domain, &bad[i], &cq, NULL), -FI_EINVAL);
	/* as for counters, event queues and vectors: the defaults */
	assert_int_equal(fi_cq_open(f.domain, NULL, &cq, NULL), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_cq_open(f.domain, &good, &cq, NULL), 0);
	CLOSE(cq);
	fake_close(&f);
}

static struct fi_cq_tagged_entry peer_got;
static struct fi_cq_err_entry peer_err;

static ssize_t peer_write(struct fid_peer_cq *cq, void *context, uint64_t flags, size_t len,
			  void *buf, uint64_t data, uint64_t tag, fi_addr_t src)
{
	peer_got = (struct fi_cq_tagged_entry) { context, flags, len, buf, data, tag };
	return 0;
}

static ssize_t peer_writeerr(struct fid_peer_cq *cq, const struct fi_cq_err_entry *err)
{
	peer_err = *err;
	return 0;
}

static void test_peer(void **state)
{
	struct fi_ops_cq_owner ops = { sizeof(ops), peer_write, peer_writeerr };
	struct fid_peer_cq owner = { .owner_ops = &ops };
	struct fi_peer_cq_context context = { sizeof(context), &owner };
	struct fi_cq_attr attr = { .flags = FI_PEER, .format = FI_CQ_FORMAT_TAGGED };
	struct fi_cq_tagged_entry e;
	struct fid_cq *cq;

	fake_open(&f, NULL);
	assert_int_equal(fi_cq_open(f.domain, &attr, &cq, &context), 0);
	put(cq, 10);
	assert_ptr_equal(peer_got.op_context, 10);
	assert_int_equal(peer_got.tag, 14);
	put_err(cq, 5, "x", 1);
	assert_int_equal(peer_err.err, FI_ETRUNC);
	assert_int_equal(peer_err.err_data_size, 1);
	assert_int_equal(fi_cq_read(cq, NULL, 0), 0);
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_ENOSYS);
	CLOSE(cq);
	fake_close(&f);
}

/* ---- threads -------------------------------------------------------------- */

#define WRITERS 2
#define EACH 60000

static void *writer(void *arg)
{
	uint64_t i;

	for (i = 0; i < EACH; i++)
		put(arg, i);
	return NULL;
}

struct reader {
	struct fid_cq *cq;
	_Atomic unsigned *left;
	unsigned got;
};

static void *reader(void *arg)
{
	struct reader *r = arg;
	struct fi_cq_entry e[7];
	ssize_t ret;

	while (*r->left) {
		ret = fi_cq_sread(r->cq, e, 7, NULL, 10000);
		if (ret == -FI_EAGAIN)
			break;
		assert_true(ret > 0);
		r->got += (unsigned) ret;
		if (atomic_fetch_sub(r->left, (unsigned) ret) == (unsigned) ret) {
			fi_cq_signal(r->cq);
			break;
		}
	}
	return NULL;
}

/* Two blocking readers, two writers: every entry is read once, no reader sleeps on. */
static void test_threads(void **state)
{
	_Atomic unsigned left = WRITERS * EACH;
	struct reader readers[2];
	pthread_t thread[4];
	struct fid_cq *cq;
	uint64_t start = clock_ns();
	int i;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	for (i = 0; i < 2; i++) {
		readers[i] = (struct reader) { cq, &left, 0 };
		pthread_create(&thread[i], NULL, reader, &readers[i]);
		pthread_create(&thread[2 + i], NULL, writer, cq);
	}
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(readers[0].got + readers[1].got, WRITERS * EACH);
	assert_int_equal(left, 0);
	assert_true(clock_ns() - start < 9 * CLOCK_NS_PER_S);
	CLOSE(cq);
	fake_close(&f);
}

/* Times are those of the entries, wherever these lie: while the ring grows, behind errors, by
 * either clock; and other calls go on as they do without.
 */
static void test_times(void **state)
{
	struct fake_want want = { .threading = FI_THREAD_DOMAIN };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e[5];
	struct fi_ops_cq_time *ops, *same;
	struct fi_cq_time t[5];
	uint64_t before = clock_ns(), put_cnt = 0, got = 0;
	unsigned seed = 1, i, n;
	struct fid_cq *cq;
	ssize_t ret;

	fake_open(&f, &want);
	cq = fake_cq(&f, FI_CQ_FORMAT_TAGGED, FI_WAIT_NONE);
	put(cq, ++put_cnt);
	assert_int_equal(fi_open_ops(&cq->fid, "cq_times", 0, (void **) &ops, NULL), -FI_ENOSYS);
	assert_int_equal(fi_open_ops(&cq->fid, FI_CQ_TIME_OPS, 1, (void **) &ops, NULL),
			 -FI_EBADFLAGS);
	assert_int_equal(fi_cq_open_time(cq, &ops), 0);
	assert_int_equal(fi_cq_open_time(cq, &same), 0);
	assert_int_equal(fi_cq_readtime(ops, cq, e, 0, t), 0);
	while (got < 20000) {
		for (n = (unsigned) rand_r(&seed) % 7, i = 0; i < n; i++) {
			obj_cq_time = ++put_cnt % 3 ? put_cnt : 0;
			if (put_cnt % 5)
				put(cq, put_cnt);
			else
				put_err(cq, put_cnt, NULL, 0);
			obj_cq_time = 0;
		}
		ret = fi_cq_readtime(ops, cq, e, 1 + (unsigned) rand_r(&seed) % 5, t);
		for (i = 0; ret > 0 && i < (unsigned) ret; i++) {
			assert_ptr_equal(e[i].op_context, (void *) (uintptr_t) ++got);
			if (t[i].clock == FI_CQ_CLOCK_DEVICE)
				assert_int_equal(t[i].ns, got);
			else
				assert_in_range(t[i].ns, before, clock_ns());
			assert_int_equal(t[i].clock == FI_CQ_CLOCK_DEVICE, got % 3 && got > 1);
		}
		if (ret == -FI_EAVAIL) {
			assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
			assert_ptr_equal(err.op_context, (void *) (uintptr_t) ++got);
		} else if (ret < 0) {
			assert_int_equal(ret, -FI_EAGAIN);
			assert_int_equal(got, put_cnt);
		}
		if (got % 1000 == 1 && fi_cq_read(cq, e, 1) == 1)
			assert_ptr_equal(e[0].op_context, (void *) (uintptr_t) ++got);
	}
	assert_in_range(obj_cq_of(cq)->mask + 1, 2048, 1 << 20);
	CLOSE(cq);
	fake_close(&f);
}

/* Where no entry is lost without them, none is with them; and where one is, it is said. */
static void test_times_overrun(void **state)
{
	struct fake_want want = { .rm = FI_RM_DISABLED };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e[32];
	struct fi_ops_cq_time *ops;
	struct fi_cq_time t[32];
	struct fid_cq *cq;
	unsigned i, room;

	fake_open(&f, &want);
	cq = fake_cq(&f, FI_CQ_FORMAT_TAGGED, FI_WAIT_NONE);
	room = (unsigned) obj_cq_of(cq)->room;
	assert_int_equal(fi_cq_open_time(cq, &ops), 0);
	for (i = 0; i <= room; i++)
		put(cq, i);
	for (i = 0; i < room; i += (unsigned) fi_cq_readtime(ops, cq, e, 1, t))
		;
	assert_int_equal(i, room);
	assert_int_equal(fi_cq_readtime(ops, cq, e, 32, t), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
	assert_int_equal(err.err, FI_EOVERRUN);
	CLOSE(cq);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_times_overrun),
		cmocka_unit_test(test_err_data),
		cmocka_unit_test(test_err_old_size),
		cmocka_unit_test(test_sread_timeout),
		cmocka_unit_test(test_sread_timer),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_attr),
		cmocka_unit_test(test_peer),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
