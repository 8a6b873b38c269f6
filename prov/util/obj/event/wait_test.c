/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"
#include "obj/test/waits.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress/fdset.h"

static struct fake f;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_ep *ep;

static void up(const struct fake_want *want, enum fi_wait_obj wait)
{
	fake_open(&f, want);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, wait);
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

static int try(struct fid *fid)
{
	return fi_trywait(f.fabric, &fid, 1);
}

/* ---- what fi_control shows ------------------------------------------------ */

static void test_getwait(void **state)
{
	struct fi_mutex_cond pair = { NULL, NULL };
	struct fi_wait_pollfd list = { .nfds = 0 };
	enum fi_wait_obj type;
	struct pollfd pfd[2];
	struct fid_cq *one;
	int fd;

	fake_open(&f, NULL);
	one = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	assert_int_equal(fi_control(&one->fid, FI_GETWAIT, &fd), -FI_ENODATA);
	assert_int_equal(fi_control(&one->fid, FI_GETWAITOBJ, &type), 0);
	assert_int_equal(type, FI_WAIT_NONE);
	assert_int_equal(fi_control(&one->fid, FI_BACKLOG, &fd), -FI_ENOSYS);
	assert_int_equal(try(&one->fid), -FI_EINVAL);
	CLOSE(one);

	one = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	fd = cq_fd(one);
	assert_int_equal(cq_fd(one), fd);
	CLOSE(one);

	one = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_MUTEX_COND);
	assert_int_equal(fi_control(&one->fid, FI_GETWAIT, &pair), 0);
	assert_non_null(pair.mutex);
	assert_non_null(pair.cond);
	CLOSE(one);

	one = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_POLLFD);
	assert_int_equal(fi_control(&one->fid, FI_GETWAIT, &list), -FI_ETOOSMALL);
	assert_int_equal(list.nfds, 1);
	list.nfds = 2;
	list.fd = pfd;
	assert_int_equal(fi_control(&one->fid, FI_GETWAIT, &list), 0);
	assert_int_equal(list.nfds, 1);
	assert_int_equal(pfd[0].events, POLLIN);
	CLOSE(one);

	one = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_YIELD);
	assert_int_equal(fi_control(&one->fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CLOSE(one);
	fake_close(&f);
}

/* ---- fi_trywait ----------------------------------------------------------- */

/* The network wakes the program, which makes the progress; after 0 the fd stays
 * quiet until something comes, and again after each message.
 */
static void test_trywait(void **state)
{
	struct fi_cq_entry e;
	int fd, i;

	up(NULL, FI_WAIT_FD);
	fd = cq_fd(cq);
	for (i = 0; i < 50; i++) {
		assert_int_equal(try(&cq->fid), 0);
		assert_int_equal(readable(fd, 0), 0);
		fake_deliver(ep, 1);
		assert_int_equal(readable(fd, 1000), 1);
		/* Something came: no sleep now, though nothing was read. */
		assert_int_equal(try(&cq->fid), -FI_EAGAIN);
		assert_int_equal(fi_cq_read(cq, &e, 1), 1);
		assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
	}
	down();
}

/* An entry that another thread's progress wrote wakes as well. */
static void test_trywait_signal(void **state)
{
	struct fid_cq *other;
	struct fid_ep *ep2;
	struct fi_cq_entry e;
	int fd;

	up(NULL, FI_WAIT_FD);
	other = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	ep2 = fake_ep_up(&f, cq, other, av);	/* home: cq's group, through tx */
	assert_ptr_equal(fake_ep_of(ep2)->base.prog, fake_ep_of(ep)->base.prog);
	fd = cq_fd(cq);
	assert_int_equal(try(&cq->fid), 0);
	fake_deliver(ep, 1);
	/* Polled through the other queue, so the socket is quiet again. */
	assert_int_equal(fi_cq_read(other, &e, 1), -FI_EAGAIN);
	assert_int_equal(readable(fd, 0), 1);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);
	assert_int_equal(try(&cq->fid), 0);
	assert_int_equal(readable(fd, 0), 0);
	CLOSE(ep2);
	CLOSE(other);
	down();
}

/* A transport's timer makes the fd readable, also one that is moved forward later. */
static void test_trywait_timer(void **state)
{
	struct fi_cq_entry e;
	int fd;

	up(NULL, FI_WAIT_FD);
	fd = cq_fd(cq);
	fake_timer(ep, clock_ns() + 20 * CLOCK_NS_PER_MS);
	assert_int_equal(try(&cq->fid), 0);
	assert_int_equal(readable(fd, 5000), 1);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);

	fake_timer(ep, clock_ns() + 3600 * CLOCK_NS_PER_S);
	assert_int_equal(try(&cq->fid), 0);
	assert_int_equal(readable(fd, 10), 0);
	fake_timer(ep, clock_ns() + 10 * CLOCK_NS_PER_MS);
	assert_int_equal(readable(fd, 5000), 1);
	while (fi_cq_read(cq, &e, 1) == -FI_EAGAIN)
		assert_int_equal(try(&cq->fid) == 0 && readable(fd, 5000) != 1, 0);
	assert_int_equal(try(&cq->fid), 0);
	assert_int_equal(readable(fd, 10), 0);
	down();
}

/* An endpoint that is enabled while the program sleeps is not missed. */
static void test_trywait_late(void **state)
{
	struct fi_cq_entry e;
	int fd;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	av = fake_av(&f);
	fd = cq_fd(cq);
	assert_int_equal(try(&cq->fid), 0);
	assert_int_equal(readable(fd, 0), 0);
	ep = fake_ep_up(&f, cq, cq, av);
	assert_int_equal(readable(fd, 0), 1);
	assert_int_equal(try(&cq->fid), 0);
	assert_int_equal(readable(fd, 0), 0);
	fake_deliver(ep, 1);
	assert_int_equal(readable(fd, 0), 1);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);
	down();
}

static void test_trywait_mixed(void **state)
{
	struct fid_cntr *cntr;
	struct fid *fids[4];
	struct fid_eq *eq;
	struct fi_eq_entry entry = { 0 };
	uint32_t event;

	up(NULL, FI_WAIT_FD);
	cntr = fake_cntr(&f, FI_WAIT_FD);
	eq = fake_eq(&f, FI_WAIT_FD);
	fids[0] = &cq->fid;
	fids[1] = &cntr->fid;
	fids[2] = &eq->fid;
	fids[3] = &av->fid;
	assert_int_equal(fi_trywait(f.fabric, fids, 3), 0);
	assert_int_equal(fi_trywait(f.fabric, fids, 4), -FI_EINVAL);
	obj_cntr_inc(obj_cntr_of(cntr), 1);
	assert_int_equal(fi_trywait(f.fabric, fids, 3), -FI_EAGAIN);
	fi_cntr_read(cntr);
	assert_int_equal(fi_trywait(f.fabric, fids, 3), 0);
	fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0);
	assert_int_equal(fi_trywait(f.fabric, fids, 3), -FI_EAGAIN);
	fi_eq_read(eq, &event, &entry, sizeof(entry), 0);
	assert_int_equal(fi_trywait(f.fabric, fids, 3), 0);
	CLOSE(eq);
	CLOSE(cntr);
	down();
}

/* ---- epoll loops ---------------------------------------------------------- */

#define MESSAGES 3000

static void *deliver_many(void *arg)
{
	unsigned seed = 7;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		if (rand_r(&seed) % 8 == 0)
			usleep((unsigned) rand_r(&seed) % 300);
		fake_deliver(arg, 1);
	}
	return NULL;
}

/* The loop of fi_poll(3): all messages arrive, no thread sleeps through one, and the
 * wakes are no more than the messages and a few.
 */
static void epoll_loop(const struct fake_want *want)
{
	struct epoll_event ev = { .events = EPOLLIN };
	unsigned got = 0, wakes = 0;
	struct fi_cq_entry e[8];
	pthread_t thread;
	int epfd, n;
	ssize_t ret;

	up(want, FI_WAIT_FD);
	epfd = epoll_create1(0);
	assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, cq_fd(cq), &ev), 0);
	pthread_create(&thread, NULL, deliver_many, ep);
	while (got < MESSAGES) {
		if (try(&cq->fid) == 0) {
			n = epoll_wait(epfd, &ev, 1, 5000);
			assert_int_equal(n, 1);
			wakes++;
		}
		while ((ret = fi_cq_read(cq, e, 8)) > 0)
			got += (unsigned) ret;
		assert_int_equal(ret, -FI_EAGAIN);
	}
	pthread_join(thread, NULL);
	assert_int_equal(got, MESSAGES);
	/* With a progress thread, it and the program may both be woken by one. */
	assert_true(wakes <= (want ? 2 : 1) * MESSAGES + 50);
	close(epfd);
	down();
}

static void test_epoll_manual(void **state)
{
	epoll_loop(NULL);
}

static void test_epoll_auto(void **state)
{
	struct fake_want want = { .progress = FI_PROGRESS_AUTO };

	epoll_loop(&want);
}

/* Blocked in poll() on the fd for a while: no CPU. */
static void test_idle(void **state)
{
	uint64_t cpu;
	int i;

	up(NULL, FI_WAIT_FD);
	fake_deliver(ep, 1);
	cpu = fake_cpu_ns();
	for (i = 0; i < 3; i++) {
		struct fi_cq_entry e;

		while (try(&cq->fid))
			fi_cq_read(cq, &e, 1);
		assert_int_equal(readable(cq_fd(cq), 100), 0);
	}
	assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 15));
	down();
}

static struct fid_ep *served;
static unsigned polls_left;

/* The last of a few polls finds a message. */
static void deliver_soon(void)
{
	if (polls_left && !--polls_left)
		fake_deliver(served, 1);
}

static bool never(struct obj_wait *wait, const void *arg)
{
	return false;
}

/* Each wait on a queue that stays empty is cut short by what comes to another one: the time for
 * which its thread polled was not in vain.
 */
static void test_polls_for_another(void **state)
{
	struct obj_wait *wait;
	struct fid_cq *other;
	int i;

	up(NULL, FI_WAIT_FD);
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1) {
		down();
		skip();
	}
	other = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	served = fake_ep_up(&f, cq, other, av);
	wait = &obj_cq_of(cq)->wait;
	fake_in_poll = deliver_soon;
	for (i = 0; i < 20; i++) {
		uint64_t deadline = clock_ns() + 60 * CLOCK_NS_PER_S;
		struct fi_cq_entry e;

		polls_left = 3;
		assert_int_equal(obj_wait_sleep(wait, deadline, never, NULL), 0);
		assert_true(clock_ns() < deadline);
		assert_int_equal(fi_cq_read(other, &e, 1), 1);
	}
	fake_in_poll = NULL;
	CLOSE(served);
	CLOSE(other);
	down();
}

/* ---- many threads of one group ------------------------------------------------------------ */

#define BLOCKED 8
#define ROUNDS 200

/* One thread, that blocks on a queue of its own; all queues belong to one group. */
struct blocked {
	struct fid_cq *cq;
	struct fid_ep *ep;
	pthread_t thread;
	unsigned seed;			/* of its timeouts; 0: it waits for ever */
	unsigned want;			/* messages after which it ends */
	atomic_uint got;
	long switches;			/* of the processor, by its own will */
};

static void *block(void *arg)
{
	struct blocked *b = arg;
	struct fi_cq_entry e;
	struct rusage use;
	ssize_t ret;

	while (atomic_load(&b->got) < b->want) {
		ret = fi_cq_sread(b->cq, &e, 1, NULL, b->seed ? rand_r(&b->seed) % 4 : -1);
		if (ret == 1)
			atomic_fetch_add(&b->got, 1);
		else if (ret != -FI_EAGAIN)
			abort();
	}
	getrusage(RUSAGE_THREAD, &use);
	b->switches = use.ru_nvcsw;
	return NULL;
}

/* Thread number @i gets @want + @i * @more messages; with @hurry, the waits of all end by timeouts. */
static void up_blocked(struct blocked *all, unsigned want, unsigned more, bool hurry)
{
	unsigned i;

	up(NULL, FI_WAIT_FD);
	memset(all, 0, BLOCKED * sizeof(*all));
	for (i = 0; i < BLOCKED; i++) {
		all[i].cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, i % 2 ? FI_WAIT_FD : FI_WAIT_UNSPEC);
		all[i].ep = fake_ep_open(&f);
		assert_int_equal(fi_ep_bind(all[i].ep, &cq->fid, FI_TRANSMIT), 0);
		assert_int_equal(fi_ep_bind(all[i].ep, &all[i].cq->fid, FI_RECV), 0);
		assert_int_equal(fi_ep_bind(all[i].ep, &av->fid, 0), 0);
		assert_int_equal(fi_enable(all[i].ep), 0);
		all[i].want = want + i * more;
		all[i].seed = hurry ? i + 1 : 0;
		pthread_create(&all[i].thread, NULL, block, &all[i]);
	}
}

static void down_blocked(struct blocked *all)
{
	unsigned i;

	for (i = 0; i < BLOCKED; i++) {
		CLOSE(all[i].ep);
		CLOSE(all[i].cq);
	}
	down();
}

static bool has_got(struct blocked *b, unsigned cnt)
{
	uint64_t until = clock_ns() + 5 * CLOCK_NS_PER_S;

	while (atomic_load(&b->got) < cnt && clock_ns() < until)
		usleep(20);
	return atomic_load(&b->got) >= cnt;
}

/* What arrives wakes the thread that it is for and one that leads, not all. */
static void test_one_of_many_leads(void **state)
{
	struct blocked all[BLOCKED];
	long switches = 0;
	unsigned i;

	up_blocked(all, ROUNDS, 0, false);
	for (i = 0; i < BLOCKED * ROUNDS; i++) {
		/* they are asleep again, mostly */
		usleep(150);
		fake_deliver(all[i % BLOCKED].ep, 1);
		assert_true(has_got(&all[i % BLOCKED], i / BLOCKED + 1));
	}
	for (i = 0; i < BLOCKED; i++) {
		pthread_join(all[i].thread, NULL);
		switches += all[i].switches;
	}
	/* two or three a message, up to four with the thread sanitizer's own locks; a herd makes eight and more */
	print_message("%ld switches for %u messages\n", switches, BLOCKED * ROUNDS);
	assert_true(fake_slow() || switches < 6 * BLOCKED * ROUNDS);
	down_blocked(all);
}

/* Threads that lead end, or their time does: another one leads, and no message is left. */
static void test_who_leads_may_leave(void **state)
{
	struct blocked all[BLOCKED];
	unsigned round, i;

	for (round = 0; round < 2; round++) {
		up_blocked(all, 5, 20, round);
		for (i = 0; i < BLOCKED; i++)
			fake_deliver(all[i].ep, 2);
		for (i = 0; i < BLOCKED; i++)
			assert_true(has_got(&all[i], 2));
		for (i = 2; i < 5 + 20 * BLOCKED; i++) {
			unsigned to = (i * 5) % BLOCKED, cnt = atomic_load(&all[to].got);

			if (i % 3)
				usleep(200);
			if (cnt == all[to].want)
				continue;
			fake_deliver(all[to].ep, 1);
			assert_true(has_got(&all[to], cnt + 1));
		}
		for (i = 0; i < BLOCKED; i++) {
			unsigned cnt = atomic_load(&all[i].got);

			if (cnt < all[i].want)
				fake_deliver(all[i].ep, all[i].want - cnt);
			pthread_join(all[i].thread, NULL);
		}
		down_blocked(all);
	}
}

/* ---- other kinds ---------------------------------------------------------- */

static void test_yield(void **state)
{
	struct fi_cq_entry e;
	pthread_t thread;
	uint64_t start;

	up(NULL, FI_WAIT_YIELD);
	pthread_create(&thread, NULL, deliver_later, ep);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 5000), 1);
	pthread_join(thread, NULL);
	start = clock_ns();
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 20), -FI_EAGAIN);
	assert_true(clock_ns() - start >= 20 * CLOCK_NS_PER_MS);
	down();
}

static void *write_entries(void *arg)
{
	unsigned seed = 3;
	int i;

	for (i = 0; i < 500; i++) {
		if (rand_r(&seed) % 4 == 0)
			usleep((unsigned) rand_r(&seed) % 200);
		obj_cq_write(obj_cq_of(arg), NULL, 0, 0, NULL, 0, 0, 0);
	}
	return NULL;
}

/* The program sleeps on our condition with our mutex held around fi_trywait(). */
static void test_mutex_cond(void **state)
{
	struct fi_mutex_cond pair;
	struct timespec until;
	struct fi_cq_entry e;
	pthread_t thread;
	int got = 0;

	up(NULL, FI_WAIT_MUTEX_COND);
	assert_int_equal(fi_control(&cq->fid, FI_GETWAIT, &pair), 0);
	pthread_create(&thread, NULL, write_entries, cq);
	while (got < 500) {
		pthread_mutex_lock(pair.mutex);
		if (try(&cq->fid) == 0) {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_sec += 5;
			assert_int_equal(pthread_cond_timedwait(pair.cond, pair.mutex, &until), 0);
		}
		pthread_mutex_unlock(pair.mutex);
		while (fi_cq_read(cq, &e, 1) == 1)
			got++;
	}
	pthread_join(thread, NULL);
	down();
}

/*
 * The library naps while it waits for the mutex of a condition: with the lock of the queue held.
 * The eleventh nap of reads_after_all() lasts until the program is about to read; others are naps.
 */
static atomic_uint naps;
static atomic_bool will_read = true;

int nanosleep(const struct timespec *ns, struct timespec *rest)
{
	if (atomic_fetch_add(&naps, 1) == 10)
		while (!atomic_load(&will_read))
			sched_yield();
	return (int) syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, ns, rest);
}

static void *write_entry(void *arg)
{
	obj_cq_write(obj_cq_of(arg), NULL, 0, 0, NULL, 0, 0, 0);
	return NULL;
}

/* A program that has passed fi_trywait() with the mutex held, and reads instead of waiting. */
static void reads_after_all(struct fid *fid, pthread_mutex_t *mutex)
{
	struct fi_cq_entry e;
	pthread_t thread;

	atomic_store(&naps, 0);
	atomic_store(&will_read, false);
	pthread_mutex_lock(mutex);
	assert_int_equal(try(fid), 0);
	pthread_create(&thread, NULL, write_entry, cq);
	while (atomic_load(&naps) < 11)
		sched_yield();
	atomic_store(&will_read, true);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);
	assert_in_range(atomic_load(&naps), 11, 5000);
	pthread_mutex_unlock(mutex);
	pthread_join(thread, NULL);
}

static void test_cond_without_wait(void **state)
{
	struct fi_wait_attr attr = { .wait_obj = FI_WAIT_MUTEX_COND };
	struct fi_cq_attr cq_attr = { .wait_obj = FI_WAIT_SET };
	struct fi_mutex_cond pair;
	struct fid_wait *set;

	up(NULL, FI_WAIT_MUTEX_COND);
	assert_int_equal(fi_control(&cq->fid, FI_GETWAIT, &pair), 0);
	reads_after_all(&cq->fid, pair.mutex);
	down();

	fake_open(&f, NULL);
	assert_int_equal(fi_wait_open(f.fabric, &attr, &set), 0);
	cq_attr.wait_set = set;
	assert_int_equal(fi_cq_open(f.domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_control(&set->fid, FI_GETWAIT, &pair), 0);
	reads_after_all(&set->fid, pair.mutex);
	CLOSE(cq);
	CLOSE(set);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_getwait),
		cmocka_unit_test(test_trywait),
		cmocka_unit_test(test_trywait_signal),
		cmocka_unit_test(test_trywait_timer),
		cmocka_unit_test(test_trywait_late),
		cmocka_unit_test(test_trywait_mixed),
		cmocka_unit_test(test_epoll_manual),
		cmocka_unit_test(test_epoll_auto),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_polls_for_another),
		cmocka_unit_test(test_one_of_many_leads),
		cmocka_unit_test(test_who_leads_may_leave),
		cmocka_unit_test(test_yield),
		cmocka_unit_test(test_mutex_cond),
		cmocka_unit_test(test_cond_without_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
