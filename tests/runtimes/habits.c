/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * habits - patterns of use that have hung programs over other libraries.  Two sides with a
 * fabric, a domain and a thread each, on tcp; each side has a queue for sends and another for
 * receives.
 */

#include "rt.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../limit.h"

#define BIG (1 << 20)
#define PATIENCE_NS 20000000000ULL

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *tx, *rx;
	struct fid_ep *ep;
	char *out, *in;
	bool ok;			/* result of its thread */
};

struct setup {
	enum fi_progress progress;
	enum fi_wait_obj wait_obj;
	size_t cq_size;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}

static bool side_open(struct side *s, const struct setup *set)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = set->wait_obj,
				 .size = set->cq_size };
	struct fi_av_attr av = { 0 };

	hints->caps = FI_TAGGED | FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = set->progress;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->domain_attr->mr_mode = 0;
	hints->fabric_attr->prov_name = strdup("tcp");
	memset(s, 0, sizeof(*s));
	if (fi_getinfo(FI_VERSION(1, 18), "127.0.0.1", NULL, FI_SOURCE, hints, &s->info) ||
	    fi_fabric(s->info->fabric_attr, &s->fabric, NULL) ||
	    fi_domain(s->fabric, s->info, &s->domain, NULL) ||
	    fi_av_open(s->domain, &av, &s->av, NULL) ||
	    fi_cq_open(s->domain, &cq, &s->tx, NULL) || fi_cq_open(s->domain, &cq, &s->rx, NULL) ||
	    fi_endpoint(s->domain, s->info, &s->ep, NULL) ||
	    fi_ep_bind(s->ep, &s->av->fid, 0) || fi_ep_bind(s->ep, &s->tx->fid, FI_TRANSMIT) ||
	    fi_ep_bind(s->ep, &s->rx->fid, FI_RECV) || fi_enable(s->ep))
		return false;
	fi_freeinfo(hints);
	s->out = calloc(1, BIG);
	s->in = calloc(1, BIG);
	return s->out && s->in;
}

static bool side_close(struct side *s)
{
	bool ok = !fi_close(&s->ep->fid) && !fi_close(&s->tx->fid) && !fi_close(&s->rx->fid) &&
		  !fi_close(&s->av->fid) && !fi_close(&s->domain->fid) && !fi_close(&s->fabric->fid);

	fi_freeinfo(s->info);
	free(s->out);
	free(s->in);
	return ok;
}

/* Inserts @to as address 0 of @s. */
static bool know(struct side *s, struct side *to)
{
	char name[128];
	size_t len = sizeof(name);
	fi_addr_t addr = 1;

	return !fi_getname(&to->ep->fid, name, &len) &&
	       fi_av_insert(s->av, name, 1, &addr, 0, NULL) == 1 && !addr;
}

static void open_both(struct side s[2], const struct setup *set)
{
	for (int i = 0; i < 2; i++)
		assert_true(side_open(&s[i], set));
	for (int i = 0; i < 2; i++)
		assert_true(know(&s[i], &s[!i]));
}

/* Waits for a completion of one queue, and reads no other. */
static bool await(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry entry;
	uint64_t end = now_ns() + PATIENCE_NS;
	ssize_t ret;

	while ((ret = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN && now_ns() < end)
		sched_yield();
	return ret == 1;
}

static void run_both(struct side s[2], void *(*fn)(void *))
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, fn, &s[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 2; i++) {
		assert_true(s[i].ok);
		assert_true(side_close(&s[i]));
	}
}

static const struct setup manual = { FI_PROGRESS_MANUAL, FI_WAIT_NONE, 0 };

/* ---- each side waits for the other --------------------------------------------- */

static void *send_then_receive(void *arg)
{
	struct side *s = arg;

	s->ok = !fi_trecv(s->ep, s->in, BIG, NULL, FI_ADDR_UNSPEC, 1, 0, s);
	for (int i = 0; s->ok && i < 20; i++) {
		s->ok = !fi_tsend(s->ep, s->out, BIG, NULL, 0, 1, s) && await(s->tx) && await(s->rx);
		if (s->ok && i < 19)
			s->ok = !fi_trecv(s->ep, s->in, BIG, NULL, FI_ADDR_UNSPEC, 1, 0, s);
	}
	return NULL;
}

/* Both send, and both read only the queue of their sends. */
static void test_both_wait_for_their_send(void **state)
{
	struct side s[2];

	open_both(s, &manual);
	run_both(s, send_then_receive);
}

static void *never_look_at_sends(void *arg)
{
	struct side *s = arg;

	s->ok = true;
	for (int i = 0; s->ok && i < 20; i++)
		s->ok = !fi_trecv(s->ep, s->in, BIG, NULL, FI_ADDR_UNSPEC, 1, 0, s) &&
			!fi_tsend(s->ep, s->out, BIG, NULL, 0, 1, s) && await(s->rx);
	/* Before it closes it makes sure that the peer has received everything. */
	for (int i = 0; s->ok && i < 20; i++)
		s->ok = await(s->tx);
	return NULL;
}

static void test_only_the_receive_queue_is_read(void **state)
{
	struct side s[2];

	open_both(s, &manual);
	run_both(s, never_look_at_sends);
}

/* ---- a queue with unread entries ------------------------------------------------- */

enum { MANY = 20000 };

/* Sends as fast as possible, and makes progress by reading 0 entries while its queue holds
 * completions that it does not read.
 */
static void *zero_reads(void *arg)
{
	struct side *s = arg;
	uint64_t end = now_ns() + PATIENCE_NS;
	ssize_t ret = 0;

	for (int i = 0; i < MANY && now_ns() < end; i++)
		while ((ret = fi_tsend(s->ep, s->out, 8, NULL, 0, 1, s)) == -FI_EAGAIN &&
		       now_ns() < end)
			fi_cq_read(s->tx, NULL, 0);
	s->ok = !ret;
	for (int i = 0; s->ok && i < MANY; i++)
		s->ok = await(s->tx);
	return NULL;
}

static void *take_all(void *arg)
{
	struct side *s = arg;

	s->ok = true;
	for (int i = 0; s->ok && i < MANY; i++)
		s->ok = !fi_trecv(s->ep, s->in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, s) && await(s->rx);
	return NULL;
}

static void *one_of_each(void *arg)
{
	static struct side *first;
	struct side *was = NULL;

	if (__atomic_compare_exchange_n(&first, &was, arg, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return zero_reads(arg);
	return take_all(arg);
}

static void test_reads_of_nothing_move_sends(void **state)
{
	struct side s[2];

	open_both(s, &manual);
	run_both(s, one_of_each);
}

/* A queue of one entry: FI_RM_ENABLED requires that further completions are kept. */
static void test_no_completion_is_lost(void **state)
{
	struct setup set = { FI_PROGRESS_AUTO, FI_WAIT_UNSPEC, 1 };
	struct side s[2];
	int sent = 0, got = 0;
	uint64_t end = now_ns() + PATIENCE_NS;

	open_both(s, &set);
	for (int i = 0; i < 200; i++)
		assert_int_equal(fi_trecv(s[1].ep, s[1].in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, s), 0);
	while (sent < 200 && now_ns() < end)
		if (!fi_tsend(s[0].ep, s[0].out, 8, NULL, 0, 1, s))
			sent++;
		else if (await(s[0].tx))
			got++;
	assert_int_equal(sent, 200);
	usleep(50000);			/* everything has arrived, nothing was read */
	for (int i = 0; i < 200; i++)
		assert_true(await(s[1].rx));
	for (; got < 200; got++)
		assert_true(await(s[0].tx));
	for (int i = 0; i < 2; i++)
		assert_true(side_close(&s[i]));
}

/* ---- blocking ---------------------------------------------------------------------- */

static void one_message(struct side s[2])
{
	assert_int_equal(fi_trecv(s[1].ep, s[1].in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, s), 0);
	assert_int_equal(fi_tsend(s[0].ep, s[0].out, 8, NULL, 0, 1, s), 0);
	for (int i = 0, got = 0; got < 2 && i < 10000000; i++) {
		struct fi_cq_tagged_entry entry;

		got += fi_cq_read(s[0].tx, &entry, 1) == 1;
		got += fi_cq_read(s[1].rx, &entry, 1) == 1;
	}
}

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* fi_cq_sread() neither returns early nor uses processor time. */
static void test_sread_sleeps_its_time(void **state)
{
	struct setup set = { FI_PROGRESS_AUTO, FI_WAIT_UNSPEC, 0 };
	struct fi_cq_tagged_entry entry;
	struct side s[2];

	for (int mode = 0; mode < 2; mode++) {
		set.progress = mode ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
		open_both(s, &set);
		one_message(s);
		for (int i = 0; i < 3; i++) {
			uint64_t start = now_ns();
			double cpu = cpu_s();

			assert_int_equal(fi_cq_sread(s[1].rx, &entry, 1, NULL, 200), -FI_EAGAIN);
			assert_true(now_ns() - start >= 199000000);
			assert_true(cpu_s() - cpu < 0.1);
		}
		for (int i = 0; i < 2; i++)
			assert_true(side_close(&s[i]));
	}
}

/* After traffic, a descriptor for which fi_trywait() returned 0 stays unreadable. */
static void test_fd_is_quiet_after_traffic(void **state)
{
	struct setup set = { FI_PROGRESS_MANUAL, FI_WAIT_FD, 0 };
	struct side s[2];

	for (int mode = 0; mode < 2; mode++) {
		set.progress = mode ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
		open_both(s, &set);
		for (int n = 0; n < 5; n++) {
			struct fid *fid = &s[1].rx->fid;
			struct pollfd pfd = { .events = POLLIN };
			uint64_t end = now_ns() + PATIENCE_NS;
			int quiet = 0;

			one_message(s);
			assert_int_equal(fi_control(fid, FI_GETWAIT, &pfd.fd), 0);
			/* The peer may still send acknowledgements. */
			while (!quiet && now_ns() < end) {
				struct fi_cq_tagged_entry entry;

				if (fi_trywait(s[1].fabric, &fid, 1))
					assert_int_equal(fi_cq_read(s[1].rx, &entry, 1), -FI_EAGAIN);
				else
					quiet = !poll(&pfd, 1, 100);
			}
			assert_true(quiet);
		}
		for (int i = 0; i < 2; i++)
			assert_true(side_close(&s[i]));
	}
}

/* ---- fork -------------------------------------------------------------------------- */

static int child(const struct setup *set)
{
	struct side s;

	limit_time(20, NULL);
	if (!side_open(&s, set) || !know(&s, &s) ||
	    fi_trecv(s.ep, s.in, BIG, NULL, FI_ADDR_UNSPEC, 1, 0, &s))
		return 1;
	if (fi_tsend(s.ep, s.out, BIG, NULL, 0, 1, &s))
		return 2;
	if (!await(s.tx) || !await(s.rx))
		return 3;
	return side_close(&s) ? 0 : 4;
}

/* The parent's progress thread may hold any lock at the moment of the fork. */
static void test_child_starts_afresh(void **state)
{
	struct setup set = { FI_PROGRESS_AUTO, FI_WAIT_UNSPEC, 0 };
	struct side s[2];
	int status;
	pid_t pid;

	open_both(s, &set);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(fi_trecv(s[1].ep, s[1].in, BIG, NULL, FI_ADDR_UNSPEC, 1, 0, s), 0);
		assert_int_equal(fi_tsend(s[0].ep, s[0].out, BIG, NULL, 0, 1, s), 0);
		pid = fork();
		if (!pid)
			_exit(child(&set));
		assert_true(await(s[0].tx));
		assert_true(await(s[1].rx));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < 2; i++)
		assert_true(side_close(&s[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_wait_for_their_send),
		cmocka_unit_test(test_only_the_receive_queue_is_read),
		cmocka_unit_test(test_reads_of_nothing_move_sends),
		cmocka_unit_test(test_no_completion_is_lost),
		cmocka_unit_test(test_sread_sleeps_its_time),
		cmocka_unit_test(test_fd_is_quiet_after_traffic),
		cmocka_unit_test(test_child_starts_afresh),
	};

	return cmocka_run_group_tests_name("habits", tests, NULL, NULL);
}
