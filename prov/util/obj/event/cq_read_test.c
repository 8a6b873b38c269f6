/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Reading a completion queue: what comes while it is read, and when a read makes progress. */
#include "obj/test/fake.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static struct fake f;

static void put(struct fid_cq *cq, uint64_t n)
{
	obj_cq_write(obj_cq_of(cq), (void *) (uintptr_t) n, FI_RECV, n, NULL, 0, n, FI_ADDR_NOTAVAIL);
}

/* ---- what comes meanwhile ------------------------------------------------- */

/* An empty queue, which other threads may use or not, and messages that reading it brings in: @max at a
 * time, @bad of them an error.  They come in order, and no byte behind them is touched.
 */
static void read_coming(enum fi_threading threading, enum fi_cq_format format, size_t size, size_t max,
			uint64_t bad)
{
	struct fake_want want = { .threading = threading };
	struct fi_cq_tagged_entry model = { .flags = FI_RECV | FI_TAGGED, .len = 8 };
	unsigned char e[8 * sizeof(model)], fence[sizeof(e)];
	struct fi_cq_err_entry err = { 0 };
	fi_addr_t src[8];
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_av *av;
	uint64_t n = 0;
	ssize_t ret, i;

	fake_open(&f, &want);
	cq = fake_cq(&f, format, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	fake_ep_of(ep)->fails = bad;
	fake_deliver(ep, 7);
	memset(fence, 0xee, sizeof(fence));
	while (n < 7) {
		memset(e, 0xee, sizeof(e));
		memset(src, 0, sizeof(src));
		ret = fi_cq_readfrom(cq, e, max, src);
		if (n + 1 == bad) {
			assert_int_equal(ret, -FI_EAVAIL);
			assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
			assert_ptr_equal(err.op_context, (void *) (uintptr_t) ++n);
			continue;
		}
		assert_in_range(ret, 1, max);
		for (i = 0; i < ret; i++) {
			model.op_context = (void *) (uintptr_t) ++n;
			model.tag = n;
			assert_memory_equal(e + (size_t) i * size, &model, size);
			assert_int_equal(src[i], FI_ADDR_NOTAVAIL);
		}
		assert_memory_equal(e + (size_t) ret * size, fence, sizeof(e) - (size_t) ret * size);
	}
	assert_int_equal(n, 7);
	assert_int_equal(fi_cq_read(cq, e, max), -FI_EAGAIN);
	fake_deliver(ep, 1);
	assert_int_equal(fi_cq_read(cq, e, 1), 1);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

static void read_all_coming(enum fi_threading threading)
{
	uint64_t bad;
	size_t max;

	for (max = 1; max <= 8; max++)
		for (bad = 0; bad <= 7; bad++) {
			read_coming(threading, FI_CQ_FORMAT_CONTEXT, sizeof(struct fi_cq_entry), max, bad);
			read_coming(threading, FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry), max, bad);
			read_coming(threading, FI_CQ_FORMAT_DATA, sizeof(struct fi_cq_data_entry), max, bad);
			read_coming(threading, FI_CQ_FORMAT_TAGGED, sizeof(struct fi_cq_tagged_entry), max,
				    bad);
		}
}

static void test_coming(void **state)
{
	read_all_coming(FI_THREAD_DOMAIN);
	read_all_coming(FI_THREAD_SAFE);
}

static struct fid_cq *meant;

static void *write_one(void *arg)
{
	put(meant, 100);
	return NULL;
}

static void write_by_another_thread(void)
{
	pthread_t thread;

	fake_in_poll = NULL;
	assert_int_equal(pthread_create(&thread, NULL, write_one, NULL), 0);
	pthread_join(thread, NULL);
}

/* What another thread writes while this one polls for its reading does not go to this one's buffer
 * behind its back; it is read next.
 */
static void test_other_writer(void **state)
{
	struct fi_cq_entry e[4] = { { 0 } };
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_av *av;

	fake_open(&f, NULL);
	meant = cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	fake_deliver(ep, 2);
	fake_in_poll = write_by_another_thread;
	assert_int_equal(fi_cq_read(cq, e, 4), 2);
	assert_null(fake_in_poll);
	assert_ptr_equal(e[0].op_context, (void *) 1);
	assert_ptr_equal(e[1].op_context, (void *) 2);
	assert_null(e[2].op_context);
	assert_int_equal(fi_cq_read(cq, e, 4), 1);
	assert_ptr_equal(e[0].op_context, (void *) 100);
	/* nothing of its own: what the other one wrote is read at once */
	fake_in_poll = write_by_another_thread;
	while (fake_in_poll)
		assert_true(fi_cq_read(cq, e, 4) == (fake_in_poll ? -FI_EAGAIN : 1));
	assert_ptr_equal(e[0].op_context, (void *) 100);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* Threads that read one queue, while messages come and a thread without the group's lock, as another
 * provider has, writes as well: each entry is read once, and those of one writer are read in order.
 */
#define SHARED_CNT 60000u
#define SHARED_OWN (UINT64_C(1) << 32)		/* added to what that thread writes */

struct shared {
	struct fid_cq *cq;
	_Atomic unsigned read;
	_Atomic unsigned char seen[2][SHARED_CNT + 1];
};

static void *write_shared(void *arg)
{
	struct shared *sh = arg;
	uint64_t i;

	for (i = 1; i <= SHARED_CNT; i++)
		obj_cq_write(container_of(sh->cq, struct obj_cq, fid), (void *) (uintptr_t) (SHARED_OWN + i),
			     FI_RECV, 8, NULL, 0, i, FI_ADDR_NOTAVAIL);
	return NULL;
}

static void *read_shared(void *arg)
{
	struct shared *sh = arg;
	struct fi_cq_tagged_entry e[4];
	uint64_t n, last[2] = { 0, 0 };
	ssize_t ret, i;
	int own;

	while (sh->read < 2 * SHARED_CNT) {
		ret = fi_cq_read(sh->cq, e, 4);
		if (ret == -FI_EAGAIN)
			sched_yield();
		for (i = 0; i < ret; i++, sh->read++) {
			n = (uintptr_t) e[i].op_context;
			own = n > SHARED_OWN;
			n -= own ? SHARED_OWN : 0;
			if (n <= last[own] || n > SHARED_CNT || e[i].tag != n || e[i].len != 8 ||
			    sh->seen[own][n]++) {
				printf("entry %llu behind %llu of writer %d: tag %llu, length %zu, seen %u times\n",
				       (unsigned long long) n, (unsigned long long) last[own], own,
				       (unsigned long long) e[i].tag, e[i].len, n > SHARED_CNT ? 0 : sh->seen[own][n]);
				abort();
			}
			last[own] = n;
		}
	}
	return NULL;
}

static void test_shared(void **state)
{
	static struct shared sh;
	pthread_t thread[4];
	struct fid_ep *ep;
	struct fid_av *av;
	unsigned i;

	memset(&sh, 0, sizeof(sh));
	fake_open(&f, NULL);
	sh.cq = fake_cq(&f, FI_CQ_FORMAT_TAGGED, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_up(&f, sh.cq, sh.cq, av);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, i ? read_shared : write_shared, &sh), 0);
	for (i = 0; i < SHARED_CNT; i += 20) {
		fake_deliver(ep, 20);
		if (i % 400 == 0)
			sched_yield();
	}
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(sh.read, 2 * SHARED_CNT);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(sh.cq);
	fake_close(&f);
}

/* ---- progress ------------------------------------------------------------- */

static struct fid_ep *up_as(const struct fake_want *want, struct fid_cq **cq_p, struct fid_av **av_p)
{
	fake_open(&f, want);
	*cq_p = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	*av_p = fake_av(&f);
	return fake_ep_up(&f, *cq_p, *cq_p, *av_p);
}

static struct fid_ep *up(struct fid_cq **cq_p, struct fid_av **av_p)
{
	return up_as(NULL, cq_p, av_p);
}

static void down(struct fid_ep *ep, struct fid_av *av, struct fid_cq *cq)
{
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

static void test_count_zero(void **state)
{
	struct fi_cq_entry e;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	unsigned before;

	ep = up(&cq, &av);
	assert_int_equal(fi_cq_read(cq, NULL, 0), -FI_EAGAIN);
	fake_deliver(ep, 1);
	assert_int_equal(fi_cq_read(cq, NULL, 0), 0);
	/* It makes progress even though something lies in the queue. */
	before = fake_polls;
	fake_deliver(ep, 1);
	assert_int_equal(fi_cq_read(cq, NULL, 0), 0);
	assert_true(fake_polls > before);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
	down(ep, av, cq);
}

/* A queue that never runs dry is read one by one: the endpoint is polled, now and then. */
static void test_never_dry(void **state)
{
	struct fi_cq_entry entry;
	unsigned before, i;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;

	ep = up(&cq, &av);
	fake_deliver(ep, 200);
	assert_int_equal(fi_cq_read(cq, NULL, 0), 0);
	before = fake_polls;
	for (i = 0; i < 128; i++)
		assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	assert_true(fake_polls >= before + 4 && fake_polls < before + 32);
	down(ep, av, cq);
}

/* A read that asked for more than there was is followed by one that makes no progress, if at once:
 * a program that reads until there is nothing polls once.
 */
static void test_dry(void **state)
{
	struct fi_cq_entry entries[4];
	uint64_t begin;
	unsigned before;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	bool at_once = false;
	int i;

	ep = up(&cq, &av);
	for (i = 0; i < 1000 && !at_once; i++) {
		fake_deliver(ep, 2);
		before = fake_polls;
		begin = clock_cycles();
		assert_int_equal(fi_cq_read(cq, entries, 4), 2);
		assert_int_equal(fake_polls, before + 1);
		assert_int_equal(fi_cq_read(cq, entries, 4), -FI_EAGAIN);
		/* an interrupted test takes long between the two */
		at_once = fake_polls == before + 1 || clock_cycles() - begin < 1000;
	}
	if (!at_once) {		/* under valgrind nothing is */
		down(ep, av, cq);
		skip();
	}
	assert_int_equal(fake_polls, before + 1);
	assert_int_equal(fi_cq_read(cq, entries, 4), -FI_EAGAIN);
	assert_int_equal(fake_polls, before + 2);
	/* all that was asked for, and time between the reads */
	fake_deliver(ep, 4);
	assert_int_equal(fi_cq_read(cq, entries, 4), 4);
	before = fake_polls;
	assert_int_equal(fi_cq_read(cq, entries, 4), -FI_EAGAIN);
	assert_int_equal(fake_polls, before + 1);
	fake_deliver(ep, 1);
	assert_int_equal(fi_cq_read(cq, entries, 4), 1);
	usleep(1000);
	before = fake_polls;
	assert_int_equal(fi_cq_read(cq, entries, 4), -FI_EAGAIN);
	assert_int_equal(fake_polls, before + 1);
	down(ep, av, cq);
}

/* A read that the last poll has shown to be in vain makes none, with or without a lock. */
static void read_still(enum fi_threading threading)
{
	struct fake_want want = { .threading = threading };
	_Atomic uint64_t word = 0;
	struct fi_cq_entry entry;
	struct obj_prog *prog;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	unsigned before;

	ep = up_as(&want, &cq, &av);
	prog = obj_ep_of(ep)->prog;
	assert_int_equal(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
	before = fake_polls;
	prog->still.word = &word;
	prog->still.next = 1;
	assert_int_equal(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
	assert_int_equal(fake_polls, before);
	/* what lies in the queue is read nevertheless, and a count of 0 asks for progress */
	put(cq, 3);
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	assert_int_equal(fake_polls, before);
	assert_int_equal(fi_cq_read(cq, NULL, 0), -FI_EAGAIN);
	assert_int_equal(fake_polls, before + 1);
	atomic_store(&word, 1);
	fake_deliver(ep, 1);
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	assert_int_equal(fake_polls, before + 2);
	prog->still.word = NULL;
	down(ep, av, cq);
}

static void test_still(void **state)
{
	read_still(FI_THREAD_DOMAIN);
	read_still(FI_THREAD_SAFE);
}

/* An empty ring begins at its beginning again. */
static void test_restart(void **state)
{
	struct fi_cq_entry entries[8];
	struct fid_cq *cq;
	unsigned i;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	for (i = 0; i < 1000; i++) {
		put(cq, i);
		put(cq, i);
		assert_int_equal(fi_cq_read(cq, entries, 8), 2);
		assert_ptr_equal(entries[1].op_context, (void *) (uintptr_t) i);
		assert_int_equal(obj_cq_of(cq)->tail, 0);
	}
	CLOSE(cq);
	fake_close(&f);
}

/* What is staged leaves with the reading of the last entry, and costs nothing else. */
static void test_last_entry_drives(void **state)
{
	struct fi_cq_entry entry;
	struct obj_prog *prog;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	unsigned before;

	ep = up(&cq, &av);
	prog = obj_ep_of(ep)->prog;
	put(cq, 1);
	put(cq, 2);
	lock_get(&prog->lock);
	obj_prog_staged(prog);
	lock_put(&prog->lock);
	before = fake_polls;
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	assert_int_equal(fake_polls, before);
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	assert_int_equal(fake_polls, before + 1);
	/* it is gone: the next last entry is just read */
	put(cq, 3);
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	assert_int_equal(fake_polls, before + 1);
	down(ep, av, cq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coming),
		cmocka_unit_test(test_other_writer),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_count_zero),
		cmocka_unit_test(test_never_dry),
		cmocka_unit_test(test_dry),
		cmocka_unit_test(test_still),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_last_entry_drives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
