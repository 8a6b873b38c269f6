/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/limit.h"

static struct fake f;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_ep *ep;

static void up(void)
{
	struct fake_want want = { .progress = FI_PROGRESS_AUTO, .threading = FI_THREAD_DOMAIN };

	fake_open(&f, &want);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_UNSPEC);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
}

static void down(void)
{
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* Entries in the queue, without driving anything. */
static size_t queued(void)
{
	struct obj_cq *q = obj_cq_of(cq);

	return __atomic_load_n(&q->tail, __ATOMIC_RELAXED) -
	       __atomic_load_n(&q->head, __ATOMIC_RELAXED);
}

static bool comes(size_t cnt, unsigned ms)
{
	uint64_t end = clock_ns() + ms * CLOCK_NS_PER_MS;

	while (queued() < cnt && clock_ns() < end)
		usleep(200);
	return queued() >= cnt;
}

/* A promise of one thread does not hold against ours. */
static void test_locks(void **state)
{
	up();
	assert_int_equal(obj_domain_of(f.domain)->prog_lock_kind, LOCK_MUTEX);
	assert_non_null(obj_domain_of(f.domain)->autop);
	down();
}

/* The program does nothing and everything arrives, timers too. */
static void test_drives(void **state)
{
	size_t i;

	up();
	for (i = 1; i <= 20; i++) {
		fake_deliver(ep, 1);
		assert_true(comes(i, 10000));
	}
	fake_timer(ep, clock_ns() + 20 * CLOCK_NS_PER_MS);
	assert_true(comes(i, 10000));
	down();
}

/* Nothing to do: no CPU, no polls. */
static void test_idle(void **state)
{
	unsigned before;
	uint64_t cpu;

	up();
	fake_deliver(ep, 1);
	assert_true(comes(1, 10000));
	usleep(20000);
	before = fake_polls;
	cpu = fake_cpu_ns();
	usleep(300000);
	assert_true(fake_polls - before <= 1);
	assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 5));
	down();
}

/* While the program polls, the thread stays away; when it stops, it takes over.  On
 * a busy machine the program may be off the CPU for a while, and then it has
 * stopped: a handful of polls for each time are the thread's right.
 */
static bool gives_way(struct obj_prog *prog)
{
	uint64_t end, now, last, mine, stops = 0;
	struct fi_cq_entry e;
	unsigned before;

	usleep(10000);
	before = fake_polls;
	mine = prog->polls;
	last = clock_ns();
	end = last + 100 * CLOCK_NS_PER_MS;
	while ((now = clock_ns()) < end) {
		stops += now - last > CLOCK_NS_PER_MS / 4;
		last = now;
		fake_deliver(ep, 1);
		while (fi_cq_read(cq, &e, 1) == -FI_EAGAIN)
			;
	}
	mine = prog->polls - mine;
	/* 100 ms are 100 looks of the thread at most. */
	return fake_polls - before <= mine + 110 + 8 * stops;
}

static void test_gives_way(void **state)
{
	int tries = 20;

	up();
	/* Where others crowd the CPU a round may go to the thread: not all of them. */
	while (!gives_way(fake_ep_of(ep)->base.prog))
		assert_true(--tries);
	fake_deliver(ep, 1);
	assert_true(comes(1, 10000));
	down();
}

/* A program that polls all the time, and is away for some milliseconds now and then because
 * other processes run meanwhile, is not disturbed: what it does itself wakes no thread.
 */
static unsigned polls_beside(struct obj_prog *prog, unsigned rounds)
{
	unsigned before = fake_polls;
	uint64_t mine = prog->polls;
	struct fi_cq_entry e;

	while (rounds--) {
		fake_deliver(ep, 1);
		while (fi_cq_read(cq, &e, 1) == -FI_EAGAIN)
			;
		usleep(4000);
	}
	return fake_polls - before - (unsigned) (prog->polls - mine);
}

#ifdef PORTABLE
#define HAS_EPOLL false		/* sets look like other descriptors */
#else
#define HAS_EPOLL true
#endif

/* sets - of descriptors (epoll) that the process has. */
static int sets(void)
{
	char path[300], to[64];
	struct dirent *fd;
	DIR *dir = opendir("/proc/self/fd");
	ssize_t len;
	int cnt = 0;

	assert_non_null(dir);
	while ((fd = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", fd->d_name);
		len = readlink(path, to, sizeof(to) - 1);
		to[len < 0 ? 0 : len] = '\0';
		cnt += !strcmp(to, "anon_inode:[eventpoll]");
	}
	closedir(dir);
	return cnt;
}

static void test_patience(void **state)
{
	int tries = 5, before;

	up();
	before = sets();
	polls_beside(fake_ep_of(ep)->base.prog, 20);	/* the thread has looked */
	while (polls_beside(fake_ep_of(ep)->base.prog, 50) > 8)
		assert_true(--tries);
	/* the thread gives up the group's set, which each arrival would pass */
	for (tries = 20; HAS_EPOLL && sets() != before - 1; polls_beside(fake_ep_of(ep)->base.prog, 20))
		assert_true(--tries);
	/* one that stays away is replaced all the same */
	fake_deliver(ep, 1);
	assert_true(comes(1, 10000));
	fake_deliver(ep, 1);
	assert_true(comes(2, 10000));
	down();
}

/* taken_beside - the program polls each 4 ms, and a group that it leaves to the thread is busy: after how many naps
 * has the thread taken the program's place?  Naps of twice that do not count: other processes had the processor.
 */
static unsigned taken_beside(struct fid_ep *busy_ep, unsigned rounds)
{
	struct obj_prog *prog = fake_ep_of(ep)->base.prog;
	unsigned taken = 0, i;
	struct fi_cq_entry e;
	uint64_t begin;

	while (rounds--) {
		fi_cq_read(cq, &e, 1);
		begin = clock_ns();
		for (i = 0; i < 4; i++) {
			fake_deliver(busy_ep, 1);
			usleep(1000);
		}
		if (atomic_load(&prog->driver) != OBJ_DRIVER_THREAD)
			continue;
		taken += clock_ns() - begin < 8 * CLOCK_NS_PER_MS;
		fake_deliver(ep, 1);	/* the thread gives the place back */
	}
	return taken;
}

/* What wakes the thread for one group is no look at another. */
static void test_patience_beside_a_busy_group(void **state)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT, .size = 1 << 16 };
	struct fid_cq *busy_cq;
	struct fid_ep *busy_ep;
	struct fi_cq_entry e;
	int tries = 5;

	up();
	assert_int_equal(fi_cq_open(f.domain, &attr, &busy_cq, NULL), 0);
	busy_ep = fake_ep_up(&f, busy_cq, busy_cq, av);
	assert_ptr_not_equal(fake_ep_of(ep)->base.prog, fake_ep_of(busy_ep)->base.prog);
	taken_beside(busy_ep, 20);	/* the thread has looked */
	while (taken_beside(busy_ep, 50) > 4)
		assert_true(--tries);
	/* a program that stays away is replaced all the same */
	while (fi_cq_read(cq, &e, 1) == 1)
		;
	usleep(200000);
	fake_deliver(ep, 1);
	assert_true(comes(1, 10000));
	CLOSE(busy_ep);
	CLOSE(busy_cq);
	down();
}

/* A blocked read drives by itself; the thread sleeps without a timer meanwhile, and
 * comes back when the program has gone.
 */
static void test_sleeper(void **state)
{
	struct fi_cq_entry e;
	unsigned before;
	uint64_t cpu;

	up();
	cpu = fake_cpu_ns();
	before = fake_polls;
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 200), -FI_EAGAIN);
	assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 10));
	assert_true(fake_polls - before < 5000);	/* for FI_SPIN_US, before it sleeps */
	fake_deliver(ep, 1);
	assert_true(comes(1, 10000));
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 200), 1);
	down();
}

static void *busy(void *arg)
{
	int i;

	for (i = 0; i < 3000; i++) {
		fake_deliver(arg, 1);
		if (i % 50 == 0)
			usleep(500);
	}
	return NULL;
}

/* Thread, program and network at once: nothing is lost or stuck. */
static void test_race(void **state)
{
	struct fi_cq_entry e[8];
	unsigned got = 0, seed = 1;
	pthread_t thread;
	ssize_t ret;

	up();
	pthread_create(&thread, NULL, busy, ep);
	while (got < 3000) {
		switch (rand_r(&seed) % 3) {
		case 0:
			usleep((unsigned) rand_r(&seed) % 1500);
			/* fall through */
		case 1:
			ret = fi_cq_read(cq, e, 8);
			break;
		default:
			ret = fi_cq_sread(cq, e, 8, NULL, 5000);
			assert_true(ret > 0);
		}
		if (ret > 0)
			got += (unsigned) ret;
	}
	pthread_join(thread, NULL);
	assert_int_equal(got, 3000);
	down();
}

/* The domain starts and ends many times, busy or not. */
static void test_restart(void **state)
{
	int i;

	for (i = 0; i < 100; i++) {
		up();
		if (i % 2)
			fake_deliver(ep, 1);
		down();
	}
}

/* A forked child has no thread of ours: it may close what it inherited, and opens
 * its own from scratch.
 */
static void test_fork(void **state)
{
	int status;
	pid_t pid;

#if defined(__SANITIZE_THREAD__)
	skip();			/* its runtime refuses to start threads in a forked child */
#endif
	up();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		limit_time(20, NULL);
		down();
		up();
		fake_deliver(ep, 1);
		if (!comes(1, 5000))
			_exit(2);
		down();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	fake_deliver(ep, 1);
	assert_true(comes(1, 10000));
	down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_drives),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_gives_way),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_patience_beside_a_busy_group),
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
