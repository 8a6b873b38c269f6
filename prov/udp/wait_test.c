/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wait_test.c - blocking, automatic progress, and threads.
 */

#include "udp/test/world.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t cpu_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t) (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
	       (uint64_t) (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}

static int cq_fd(struct fid_cq *cq)
{
	int fd = -1;

	OK(fi_control(&cq->fid, FI_GETWAIT, &fd));
	assert_true(fd >= 0);
	return fd;
}

/* A descriptor must not stay readable when there is nothing to do. */
static void epoll_on_fd(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD };
	struct epoll_event ev = { .events = EPOLLIN };
	struct fi_cq_data_entry e;
	struct fid *fid;
	struct world w;
	int epfd, i;
	char in[8];

	world_open(&w, &c);
	fid = &w.end[1].cq->fid;
	epfd = epoll_create1(0);
	assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, cq_fd(w.end[1].cq), &ev), 0);
	for (i = 0; i < 20; i++) {
		OK(fi_recv(w.end[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
		OK(fi_trywait(w.fabric, &fid, 1));
		assert_int_equal(epoll_wait(epfd, &ev, 1, 0), 0);
		OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
		assert_int_equal(epoll_wait(epfd, &ev, 1, 5000), 1);
		wait_one(w.end[1].cq, &e);
	}
	/* without a posted receive, a datagram must not wake */
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
	OK(fi_trywait(w.fabric, &fid, 1));
	assert_int_equal(epoll_wait(epfd, &ev, 1, 20), 0);
	/* posting a receive makes it readable */
	OK(fi_recv(w.end[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	assert_int_equal(epoll_wait(epfd, &ev, 1, 5000), 1);
	wait_one(w.end[1].cq, &e);
	close(epfd);
	world_close(&w);
}

static void sread_timeout(enum fi_wait_obj wait)
{
	struct conf c = { .wait = wait };
	struct fi_cq_data_entry e;
	uint64_t start, cpu;
	struct world w;
	char in[8];

	world_open(&w, &c);
	OK(fi_recv(w.end[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	start = ms_now();
	cpu = cpu_us();
	assert_int_equal(fi_cq_sread(w.end[1].cq, &e, 1, NULL, 200), -FI_EAGAIN);
	assert_in_range(ms_now() - start, 200, 400);
	assert_in_range(cpu_us() - cpu, 0, 60000);	/* the thread slept */
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
	assert_int_equal(fi_cq_sread(w.end[1].cq, &e, 1, NULL, 5000), 1);
	world_close(&w);
}

static void sread_times_out(void **state)
{
	sread_timeout(FI_WAIT_FD);
	sread_timeout(FI_WAIT_UNSPEC);
	sread_timeout(FI_WAIT_MUTEX_COND);
}

struct later {
	struct world *w;
	char *in;	/* post this receive; NULL: send instead */
};

static void *do_later(void *arg)
{
	struct later *l = arg;

	usleep(50000);
	if (l->in)
		OK(fi_recv(l->w->end[1].ep, l->in, 8, NULL, FI_ADDR_UNSPEC, l->in));
	else
		OK(fi_inject(l->w->end[0].ep, "x", 1, l->w->end[0].to[1]));
	return NULL;
}

/* A blocked read is woken by a message, and by a receive for a message that has arrived already. */
static void sread_wakes(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD, .threading = FI_THREAD_SAFE };
	struct fi_cq_data_entry e;
	struct later later;
	pthread_t thread;
	struct world w;
	char in[8];
	int i;

	for (i = 0; i < 2; i++) {
		world_open(&w, &c);
		later.w = &w;
		later.in = i ? in : NULL;
		if (i)
			OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
		else
			OK(fi_recv(w.end[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
		assert_int_equal(pthread_create(&thread, NULL, do_later, &later), 0);
		assert_int_equal(fi_cq_sread(w.end[1].cq, &e, 1, NULL, 5000), 1);
		assert_ptr_equal(e.op_context, in);
		pthread_join(thread, NULL);
		world_close(&w);
	}
}

/* A burst that the program has not ended must leave before the program blocks. */
static void sread_ends_a_burst(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD };
	struct iovec iov = { (void *) "x", 1 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &msg };
	struct fi_cq_data_entry e;
	struct fid *fid;
	struct world w;

	world_open(&w, &c);
	msg.addr = w.end[0].to[1];
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_MORE));
	fid = &w.end[0].cq->fid;
	assert_int_equal(fi_trywait(w.fabric, &fid, 1), -FI_EAGAIN);
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_MORE));
	assert_int_equal(fi_cq_sread(w.end[0].cq, &e, 1, NULL, 5000), 1);
	assert_ptr_equal(e.op_context, &msg);
	world_close(&w);
}

/* Reads memory that another thread writes; intended, so hidden from the sanitizer. */
__attribute__((no_sanitize("thread"))) static char glance(volatile char *at)
{
	return *at;
}

/* With automatic progress a message arrives without calls of the program. */
static void automatic(void **state)
{
	struct conf c = { .progress = FI_PROGRESS_AUTO, .threading = FI_THREAD_SAFE };
	uint64_t end = ms_now() + 5000;
	struct fi_cq_data_entry e;
	struct world w;
	char in[8] = "";

	world_open(&w, &c);
	OK(fi_recv(w.end[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, NULL));
	OK(fi_inject(w.end[0].ep, "arrived", 8, w.end[0].to[1]));
	while (glance(&in[6]) != 'd' && ms_now() < end)
		usleep(1000);
	assert_int_equal(glance(&in[6]), 'd');
	wait_one(w.end[1].cq, &e);
	world_close(&w);
}

/* ---- threads --------------------------------------------------------------- */

#define SENDERS 2
#define EACH 3000
#define WINDOW 64

struct crowd {
	struct world w;
	_Atomic unsigned taken;		/* messages that the reader has received */
	_Atomic unsigned started;
};

static void *send_many(void *arg)
{
	struct crowd *c = arg;
	struct end *e = &c->w.end[0];
	unsigned i;
	ssize_t ret;

	for (i = 0; i < EACH; i++) {
		/* at most as many in flight as the socket can hold */
		while (atomic_fetch_add(&c->started, 1) >= atomic_load(&c->taken) + WINDOW) {
			atomic_fetch_sub(&c->started, 1);
			sched_yield();
		}
		do {
			ret = fi_inject(e->ep, &i, sizeof(i), e->to[1]);
		} while (ret == -FI_EAGAIN);
		OK(ret);
	}
	return NULL;
}

static void crowd(enum fi_progress progress)
{
	struct conf conf = { .threading = FI_THREAD_SAFE, .progress = progress, .counters = true };
	static struct crowd c;
	struct fi_cq_data_entry e;
	pthread_t thread[SENDERS];
	unsigned i, in[2 * WINDOW];
	uint64_t sum = 0;

	memset(&c, 0, sizeof(c));
	world_open(&c.w, &conf);
	for (i = 0; i < 2 * WINDOW; i++)
		OK(fi_recv(c.w.end[1].ep, &in[i], sizeof(i), NULL, FI_ADDR_UNSPEC, &in[i]));
	for (i = 0; i < SENDERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, send_many, &c), 0);
	for (i = 0; i < SENDERS * EACH; i++) {
		wait_one(c.w.end[1].cq, &e);
		sum += *(unsigned *) e.op_context;
		OK(fi_recv(c.w.end[1].ep, e.op_context, sizeof(i), NULL, FI_ADDR_UNSPEC,
			   e.op_context));
		atomic_fetch_add(&c.taken, 1);
	}
	for (i = 0; i < SENDERS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(sum, (uint64_t) SENDERS * EACH * (EACH - 1) / 2);
	assert_int_equal(fi_cntr_read(c.w.end[0].sent), SENDERS * EACH);
	assert_int_equal(fi_cntr_read(c.w.end[1].received), SENDERS * EACH);
	world_close(&c.w);
}

static void crowd_manual(void **state)
{
	crowd(FI_PROGRESS_MANUAL);
}

static void crowd_auto(void **state)
{
	crowd(FI_PROGRESS_AUTO);
}

/* Every threading level transfers messages; no lock is used where the level allows it. */
static void every_model(void **state)
{
	enum fi_threading t;
	struct fi_cq_data_entry e;
	struct world w;
	char in[8];

	for (t = FI_THREAD_UNSPEC; t <= FI_THREAD_ENDPOINT; t++) {
		struct conf c = { .threading = t };

		world_open(&w, &c);
		OK(fi_recv(w.end[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
		OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
		wait_one(w.end[1].cq, &e);
		world_close(&w);
	}
}

/* keep_busy - datagrams for endpoint 1 alone, until the others are idle. */
static void keep_busy(struct world *w, char *in)
{
	struct fi_cq_data_entry e;
	int i;

	for (i = 0; i < 200; i++) {
		OK(fi_recv(w->end[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
		OK(fi_inject(w->end[0].ep, "x", 1, w->end[0].to[1]));
		wait_one(w->end[1].cq, &e);
	}
}

/* open_beside - an endpoint that has the queue of endpoint 1.  Returns its address there. */
static fi_addr_t open_beside(struct world *w, struct fid_ep **ep)
{
	struct sockaddr_in6 name;
	size_t len = sizeof(name);
	fi_addr_t to;

	OK(fi_endpoint(w->domain, w->info, ep, NULL));
	OK(fi_ep_bind(*ep, &w->end[1].cq->fid, FI_SEND | FI_RECV));
	OK(fi_ep_bind(*ep, &w->end[1].av->fid, 0));
	OK(fi_enable(*ep));
	OK(fi_getname(&(*ep)->fid, &name, &len));
	assert_int_equal(fi_av_insert(w->end[0].av, &name, 1, &to, 0, NULL), 1);
	return to;
}

/* The first poll after a thread was about to sleep reads every socket, whichever has something. */
static void all_are_read_after_arming(void **state)
{
	struct conf c = { .wait = FI_WAIT_FD };
	struct fi_cq_data_entry e[2];
	char in[8], other[8];
	struct fid_ep *beside;
	struct world w;
	struct fid *fid;
	fi_addr_t to;
	int i;

	world_open(&w, &c);
	to = open_beside(&w, &beside);
	fid = &w.end[1].cq->fid;
	for (i = 0; i < 20; i++) {
		OK(fi_recv(beside, other, sizeof(other), NULL, FI_ADDR_UNSPEC, other));
		keep_busy(&w, in);
		OK(fi_recv(w.end[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
		OK(fi_trywait(w.fabric, &fid, 1));
		OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
		OK(fi_inject(w.end[0].ep, "y", 1, to));
		assert_int_equal(fi_cq_read(w.end[1].cq, e, 2), 2);
	}
	OK(fi_close(&beside->fid));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(epoll_on_fd),
		cmocka_unit_test(all_are_read_after_arming),
		cmocka_unit_test(sread_times_out),
		cmocka_unit_test(sread_wakes),
		cmocka_unit_test(sread_ends_a_burst),
		cmocka_unit_test(automatic),
		cmocka_unit_test(crowd_manual),
		cmocka_unit_test(crowd_auto),
		cmocka_unit_test(every_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
