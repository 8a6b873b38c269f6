/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Wait sets, and sets of descriptors around many queues. */

#include "obj/test/fake.h"
#include "obj/test/waits.h"

#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"

static struct fake f;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_ep *ep;

static int try(struct fid *fid)
{
	return fi_trywait(f.fabric, &fid, 1);
}

static struct fid_wait *open_set(enum fi_wait_obj type)
{
	struct fi_wait_attr attr = { .wait_obj = type };
	struct fid_wait *set;

	assert_int_equal(fi_wait_open(f.fabric, &attr, &set), 0);
	return set;
}

static void wait_on_set(enum fi_wait_obj type)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_SET };
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_SET };
	struct fid_cq *set_cq;
	struct fid_cntr *cntr;
	struct fid_wait *set;
	struct fi_cq_entry e;
	pthread_t thread;
	uint64_t start, cpu;
	int fd;

	fake_open(&f, NULL);
	fake_log_start();
	av = fake_av(&f);
	set = open_set(type);
	attr.wait_set = set;
	cntr_attr.wait_set = set;
	assert_int_equal(fi_cq_open(f.domain, &attr, &set_cq, NULL), 0);
	assert_int_equal(fi_cntr_open(f.domain, &cntr_attr, &cntr, NULL), 0);
	ep = fake_ep_up(&f, set_cq, set_cq, av);
	assert_int_equal(fi_cq_sread(set_cq, &e, 1, NULL, 0), -FI_ENOSYS);
	assert_non_null(strstr(fake_log_last(), "fi_cq_sread: cannot block, since the queue was opened with FI_WAIT_SET"));

	start = clock_ns();
	cpu = fake_cpu_ns();
	assert_int_equal(fi_wait(set, 40), -FI_ETIMEDOUT);
	assert_true(clock_ns() - start >= 40 * CLOCK_NS_PER_MS);
	if (type != FI_WAIT_YIELD)
		assert_true(fake_cpu_little(fake_cpu_ns() - cpu, 10));
	pthread_create(&thread, NULL, deliver_later, ep);
	assert_int_equal(fi_wait(set, 5000), 0);
	pthread_join(thread, NULL);
	assert_int_equal(fi_cq_read(set_cq, &e, 1), 1);
	obj_cntr_inc(obj_cntr_of(cntr), 1);
	assert_int_equal(fi_wait(set, 5000), 0);
	assert_int_equal(fi_cntr_read(cntr), 1);
	fake_timer(ep, clock_ns() + 20 * CLOCK_NS_PER_MS);
	assert_int_equal(fi_wait(set, 5000), 0);
	assert_int_equal(fi_cq_read(set_cq, &e, 1), 1);
	assert_int_equal(fi_wait(set, 1), -FI_ETIMEDOUT);

	if (type == FI_WAIT_FD) {
		assert_int_equal(fi_control(&set->fid, FI_GETWAIT, &fd), 0);
		assert_int_equal(try(&set->fid), 0);
		assert_int_equal(readable(fd, 0), 0);
		fake_deliver(ep, 1);
		assert_int_equal(readable(fd, 100), 1);
		assert_int_equal(try(&set->fid), -FI_EAGAIN);
		assert_int_equal(fi_cq_read(set_cq, &e, 1), 1);
		assert_int_equal(try(&set->fid), 0);
		assert_int_equal(readable(fd, 0), 0);
	}
	assert_int_equal(fi_close(&set->fid), -FI_EBUSY);
	assert_non_null(strstr(fake_log_last(), "wait set"));
	CLOSE(ep);
	CLOSE(set_cq);
	CLOSE(cntr);
	CLOSE(set);
	CLOSE(av);
	fake_close(&f);
}

static void test_set_fd(void **state)
{
	wait_on_set(FI_WAIT_FD);
}

static void test_set_unspec(void **state)
{
	wait_on_set(FI_WAIT_UNSPEC);
}

static void test_set_cond(void **state)
{
	wait_on_set(FI_WAIT_MUTEX_COND);
}

static void test_set_yield(void **state)
{
	wait_on_set(FI_WAIT_YIELD);
}

static void test_set_attr(void **state)
{
	struct fi_wait_attr none = { .wait_obj = FI_WAIT_NONE };
	struct fi_wait_attr flags = { .wait_obj = FI_WAIT_FD, .flags = 1 };
	struct fid_wait *set;

	fake_open(&f, NULL);
	fake_log_start();
	assert_int_equal(fi_wait_open(f.fabric, &none, &set), -FI_EINVAL);
	assert_int_equal(fi_wait_open(f.fabric, &flags, &set), -FI_EINVAL);
	fake_close(&f);
}

/* Sets, and an epoll set of the program's around many queues of one group: not too
 * deep nor too many for the kernel.
 */
static void test_nesting(void **state)
{
	enum { CNT = 64 };
	struct epoll_event ev = { .events = EPOLLIN };
	struct fid_cq *many[CNT];
	struct fid_ep *eps[CNT];
	struct fid_wait *set;
	int epfd, outer, fd, i;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	epfd = epoll_create1(0);
	outer = epoll_create1(0);
	assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, cq_fd(cq), &ev), 0);
	for (i = 0; i < CNT; i++) {
		struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };

		assert_int_equal(fi_cq_open(f.domain, &attr, &many[i], NULL), 0);
		eps[i] = fake_ep_up(&f, cq, many[i], av);
		assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, cq_fd(many[i]), &ev), 0);
	}
	set = open_set(FI_WAIT_FD);
	{
		struct fi_cq_attr attr = { .wait_obj = FI_WAIT_SET, .wait_set = set };
		struct fid_cq *member;
		struct fid_ep *member_ep;

		assert_int_equal(fi_cq_open(f.domain, &attr, &member, NULL), 0);
		member_ep = fake_ep_up(&f, cq, member, av);
		assert_int_equal(fi_control(&set->fid, FI_GETWAIT, &fd), 0);
		assert_int_equal(try(&set->fid), 0);
		assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, fd, &ev), 0);
		fake_deliver(member_ep, 1);
		assert_int_equal(epoll_wait(outer, &ev, 1, 1000), 1);
		assert_int_equal(try(&set->fid), -FI_EAGAIN);
		CLOSE(member_ep);
		CLOSE(member);
	}
	CLOSE(set);
	for (i = 0; i < CNT; i++) {
		CLOSE(eps[i]);
		CLOSE(many[i]);
	}
	close(epfd);
	close(outer);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_fd),
		cmocka_unit_test(test_set_unspec),
		cmocka_unit_test(test_set_cond),
		cmocka_unit_test(test_set_yield),
		cmocka_unit_test(test_set_attr),
		cmocka_unit_test(test_nesting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
