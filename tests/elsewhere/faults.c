/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Kinds of faults that other libraries of this field had, tried over every software provider with
 * connectionless endpoints.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtimes/rt.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define GOOD 1000		/* transfers after one that failed */
#define REFUSED 10000		/* atomics that are refused */
#define DISCARDED 400		/* messages of each size */
#define LIVES 300		/* endpoints that are closed with work queued; TEST_LIVES is another number */
#define WINDOW 16
#define LONGEST 70000

static const struct rt_setup plain = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED };

static void open_world(struct rt_world *w, const char *prov, uint64_t caps)
{
	struct fi_info *hints = rt_hints(), *info;

	hints->caps = caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), "127.0.0.1", NULL, FI_SOURCE, hints, &info), 0);
	assert_int_equal(info->caps & caps, caps);
	fi_freeinfo(hints);
	hints = fi_dupinfo(info);
	fi_freeinfo(info);
	rt_open(w, hints, &plain);
}

/* next - the next completion of endpoint 0: 0, or the error of an entry. */
static int next(struct rt_world *w)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	while ((ret = fi_cq_read(w->cq[0], &entry, 1)) == -FI_EAGAIN)
		rt_push(w);
	if (ret == 1)
		return 0;
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w->cq[0], &err, 0), 1);
	return err.err;
}

/* ---- slots ------------------------------------------------------------------------ */

struct window {
	uint64_t mem[64];
	struct fid_mr *mr;
	uint64_t addr, key;
};

static void open_window(struct rt_world *w, struct window *win)
{
	memset(win->mem, 0, sizeof(win->mem));
	assert_int_equal(fi_mr_reg(w->domain, win->mem, sizeof(win->mem), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
				   0x33, 0, &win->mr, NULL), 0);
	win->key = fi_mr_key(win->mr);
	win->addr = w->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) win->mem : 0;
}

/* A read of a region that is not there fails; the thousand good ones after it do not. */
static void an_error_stays_with_its_transfer(void **state)
{
	struct fi_context2 ctx;
	struct window win;
	struct rt_world w;
	uint64_t in = 0;
	int i, j;

	open_world(&w, *state, FI_MSG | FI_RMA);
	open_window(&w, &win);
	win.mem[0] = 7;
	for (j = 0; j < 3; j++) {
		rt_do(&w, fi_read(w.ep[0], &in, 8, NULL, w.addr[1], win.addr, win.key + 999, &ctx));
		assert_int_not_equal(next(&w), 0);
		for (i = 0; i < GOOD / 3; i++) {
			in = 0;
			rt_do(&w, fi_read(w.ep[0], &in, 8, NULL, w.addr[1], win.addr, win.key, &ctx));
			assert_int_equal(next(&w), 0);
			assert_int_equal(in, 7);
		}
	}
	assert_int_equal(fi_close(&win.mr->fid), 0);
	rt_close(&w);
}

/* Atomics that are refused at the call, or by the target, leave the whole window to the next ones. */
static void refused_atomics_use_nothing_up(void **state)
{
	struct fi_context2 ctx;
	uint64_t one = 1, old;
	struct window win;
	struct rt_world w;
	int i;

	open_world(&w, *state, FI_MSG | FI_ATOMIC);
	open_window(&w, &win);
	for (i = 0; i < REFUSED; i++)
		assert_true(fi_fetch_atomic(w.ep[0], &one, 1, NULL, &old, NULL, w.addr[1], win.addr, win.key,
					    (enum fi_datatype) 99, FI_SUM, &ctx) < 0);
	for (i = 0; i < GOOD; i++) {
		rt_do(&w, fi_fetch_atomic(w.ep[0], &one, 1, NULL, &old, NULL, w.addr[1], win.addr, win.key + 999,
					  FI_UINT64, FI_SUM, &ctx));
		assert_int_not_equal(next(&w), 0);
	}
	for (i = 0; i < GOOD; i++)
		rt_do(&w, fi_fetch_atomic(w.ep[0], &one, 1, NULL, &old, NULL, w.addr[1], win.addr, win.key,
					  FI_UINT64, FI_SUM, &ctx));
	for (i = 0; i < GOOD; i++)
		assert_int_equal(next(&w), 0);
	assert_int_equal(win.mem[0], GOOD);
	assert_int_equal(fi_close(&win.mr->fid), 0);
	rt_close(&w);
}

/* ---- discarding --------------------------------------------------------------------- */

/* peek_until_there - FI_PEEK with @flags, until the next unexpected message has come. */
static void peek_until_there(struct rt_world *w, struct fi_msg_tagged *msg, uint64_t flags)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	do {
		rt_push(w);
		rt_do(w, fi_trecvmsg(w->ep[1], msg, FI_PEEK | flags));
		while ((ret = fi_cq_read(w->cq[1], &entry, 1)) == -FI_EAGAIN)
			rt_push(w);
		if (ret != 1)
			assert_int_equal(fi_cq_readerr(w->cq[1], &err, 0), 1);
	} while (ret != 1);
}

/* The next unexpected message is claimed, and discarded. */
static void claim_and_discard(struct rt_world *w)
{
	struct fi_context2 ctx;
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 9, .context = &ctx };

	peek_until_there(w, &msg, FI_CLAIM);
	rt_do(w, fi_trecvmsg(w->ep[1], &msg, FI_CLAIM | FI_DISCARD));
	rt_wait(w, 1);
}

static void discard_at_once(struct rt_world *w)
{
	struct fi_context2 ctx;
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 9, .context = &ctx };

	peek_until_there(w, &msg, FI_DISCARD);
}

/* More messages are discarded than the memory for unexpected ones would hold, were it not given back. */
static void discarded_messages_cost_nothing(void **state)
{
	static const size_t sizes[] = { 0, 8, 200, 4000, 20000, 70000, 1 << 20 };
	char *out = calloc(1, 1 << 20), in[8];
	struct fi_context2 ctx;
	struct rt_world w;
	size_t k;
	int i;

	open_world(&w, *state, FI_TAGGED);
	for (k = 0; k < COUNT(sizes); k++)
		for (i = 0; i < (sizes[k] > 100000 ? DISCARDED / 4 : DISCARDED); i++) {
			rt_do(&w, fi_tsend(w.ep[0], out, sizes[k], NULL, w.addr[1], 9, &ctx));
			if (i % 2)
				claim_and_discard(&w);
			else
				discard_at_once(&w);
			assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx);
		}
	/* the next one is received as if there had been no other */
	rt_do(&w, fi_tsend(w.ep[0], "good", 4, NULL, w.addr[1], 9, &ctx));
	rt_do(&w, fi_trecv(w.ep[1], in, sizeof(in), NULL, FI_ADDR_UNSPEC, 9, 0, &ctx));
	assert_int_equal(rt_wait(&w, 1).len, 4);
	assert_memory_equal(in, "good", 4);
	rt_wait(&w, 0);
	free(out);
	rt_close(&w);
}

/* ---- addresses ------------------------------------------------------------------------ */

/* Each entry of a vector is found under its own number after others were removed. */
static void entries_stay_where_they_are(void **state)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) }, got;
	fi_addr_t num[300];
	struct rt_world w;
	size_t len;
	int i;

	open_world(&w, *state, FI_MSG);
	if (w.info->addr_format != FI_SOCKADDR_IN) {
		rt_close(&w);
		return;
	}
	for (i = 0; i < 300; i++) {
		addr.sin_port = htons((uint16_t) (20000 + i));
		assert_int_equal(fi_av_insert(w.av, &addr, 1, &num[i], 0, NULL), 1);
	}
	for (i = 0; i < 300; i += 3)
		assert_int_equal(fi_av_remove(w.av, &num[i], 1, 0), 0);
	for (i = 0; i < 300; i += 6) {	/* half of the places are used again */
		addr.sin_port = htons((uint16_t) (30000 + i));
		assert_int_equal(fi_av_insert(w.av, &addr, 1, &num[i], 0, NULL), 1);
	}
	for (i = 0; i < 300; i++) {
		len = sizeof(got);
		if (i % 6 == 3)
			continue;	/* its place is free, or another's */
		assert_int_equal(fi_av_lookup(w.av, num[i], &got, &len), 0);
		assert_int_equal(ntohs(got.sin_port), i % 6 ? 20000 + i : 30000 + i);
	}
	rt_close(&w);
}

/* The capability, and what it is for: a completion names the sender by the program's number. */
static void a_sender_has_the_number_of_the_program(void **state)
{
	struct fi_cq_tagged_entry entry;
	fi_addr_t from = FI_ADDR_UNSPEC;
	struct fi_context2 ctx;
	char in[8], name[256];
	size_t len = sizeof(name);
	fi_addr_t num = 4711;
	struct rt_world w;
	ssize_t ret;

	open_world(&w, *state, FI_MSG | FI_SOURCE | FI_AV_USER_ID);
	assert_int_equal(fi_getname(&w.ep[0]->fid, name, &len), 0);
	assert_int_equal(fi_av_remove(w.av, &w.addr[0], 1, 0), 0);
	assert_int_equal(fi_av_insert(w.av, name, 1, &num, FI_AV_USER_ID, NULL), 1);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx));
	rt_do(&w, fi_inject(w.ep[0], "who", 3, w.addr[1]));
	while ((ret = fi_cq_readfrom(w.cq[1], &entry, 1, &from)) == -FI_EAGAIN)
		rt_push(&w);
	assert_int_equal(ret, 1);
	assert_int_equal(from, 4711);
	rt_close(&w);
}

/* ---- texts in short buffers -------------------------------------------------------------- */

/* Nothing is written behind a buffer of any length: the page behind it cannot be. */
static void texts_end_where_their_buffers_do(void **state)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE), len, need;
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fid_eq *eq;
	struct rt_world w;
	char name[256];
	size_t name_len = sizeof(name);

	assert_true(map != MAP_FAILED && !mprotect(map + page, page, PROT_NONE));
	open_world(&w, *state, FI_MSG);
	assert_int_equal(fi_eq_open(w.fabric, &eq_attr, &eq, NULL), 0);
	assert_int_equal(fi_getname(&w.ep[0]->fid, name, &name_len), 0);
	for (len = 0; len <= 64; len++) {
		char *buf = map + page - len;

		fi_cq_strerror(w.cq[0], FI_ETRUNC, NULL, buf, len);
		assert_true(!len || memchr(buf, 0, len));
		fi_eq_strerror(eq, FI_ECONNREFUSED, NULL, buf, len);
		assert_true(!len || memchr(buf, 0, len));
		need = len;
		fi_av_straddr(w.av, name, buf, &need);
		assert_true(need > 1);
		assert_true(!len || memchr(buf, 0, len));
		fi_tostr_r(buf, len, &w.info->caps, FI_TYPE_CAPS);
		assert_true(!len || memchr(buf, 0, len));
	}
	assert_int_equal(fi_close(&eq->fid), 0);
	rt_close(&w);
	munmap(map, 2 * page);
}

/* ---- the end ------------------------------------------------------------------------------ */

/* What receives whatever comes, in a thread, while endpoints that send to it come and go. */
static struct survivor {
	struct rt_world w;		/* its endpoint is number 1 */
	_Atomic bool stop;
	char in[WINDOW][LONGEST];
	struct fi_context2 ctx[WINDOW], sent;
} b;

static void receive_into(size_t i)
{
	rt_do(&b.w, fi_recv(b.w.ep[1], b.in[i], LONGEST, NULL, FI_ADDR_UNSPEC, &b.ctx[i]));
}

static void *survive(void *arg)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;
	size_t i;

	for (i = 0; i < WINDOW; i++)
		receive_into(i);
	while (!atomic_load(&b.stop)) {
		ret = fi_cq_read(b.w.cq[1], &entry, 1);
		if (ret == -FI_EAVAIL)
			fi_cq_readerr(b.w.cq[1], &err, 0);
		else if (ret == 1 && entry.flags & FI_RECV)
			receive_into((size_t) ((struct fi_context2 *) entry.op_context - b.ctx));
		else
			sched_yield();
	}
	return NULL;
}

/* open_mortal - an endpoint that sends to the survivor, with a queue of its own. */
static struct fid_ep *open_mortal(struct fid_cq **cq_p, fi_addr_t *addr_p)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE };
	struct fid_ep *ep;
	char name[256];
	size_t len = sizeof(name);

	assert_int_equal(fi_cq_open(b.w.domain, &attr, cq_p, NULL), 0);
	assert_int_equal(fi_endpoint(b.w.domain, b.w.info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &(*cq_p)->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &b.w.av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_getname(&ep->fid, name, &len), 0);
	assert_int_equal(fi_av_insert(b.w.av, name, 1, addr_p, 0, NULL), 1);
	return ep;
}

/* live_once - messages in both directions, some of which nothing waits for, and the end in the middle of it. */
static void live_once(unsigned i)
{
	static char out[LONGEST], in[LONGEST];
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[WINDOW];
	struct fi_cq_err_entry err = { 0 };
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t addr;
	unsigned j;

	ep = open_mortal(&cq, &addr);
	fi_recv(ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &ctx[0]);
	for (j = 1; j < 2 + i % (WINDOW - 2); j++)
		fi_send(ep, out, (i + j) % 7 ? 100 : LONGEST, NULL, b.w.addr[1], &ctx[j]);
	for (j = 0; j < i % 5; j++) {
		fi_send(b.w.ep[1], out, (i + j) % 3 ? 100 : LONGEST, NULL, addr, &b.sent);
		fi_cq_read(cq, NULL, 0);
	}
	if (i % 3 == 0)
		assert_int_equal(fi_av_remove(b.w.av, &addr, 1, 0), 0);
	assert_int_equal(fi_close(&ep->fid), 0);
	/* its queue outlives it, and what is in there may be read */
	for (j = 0; j < i % 3; j++)
		if (fi_cq_read(cq, &entry, 1) == -FI_EAVAIL)
			fi_cq_readerr(cq, &err, 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	if (i % 3)
		assert_int_equal(fi_av_remove(b.w.av, &addr, 1, 0), 0);
}

/* An endpoint is closed with transfers in flight and completions unread; its peer lives on. */
static void teardown_with_work_queued(void **state)
{
	const char *lives = getenv("TEST_LIVES");
	unsigned i, cnt = lives ? (unsigned) atoi(lives) : LIVES;
	struct fi_context2 ctx;
	pthread_t thread;

	memset(&b, 0, sizeof(b));
	open_world(&b.w, *state, FI_MSG);
	assert_int_equal(pthread_create(&thread, NULL, survive, NULL), 0);
	for (i = 0; i < cnt; i++)
		live_once(i);
	rt_do(&b.w, fi_send(b.w.ep[0], "last", 5, NULL, b.w.addr[1], &ctx));
	rt_wait(&b.w, 0);
	atomic_store(&b.stop, true);
	pthread_join(thread, NULL);
	rt_close(&b.w);
}

/* A fabric's name may be missing. */
static void a_fabric_without_a_name(void **state)
{
	struct fi_info *hints = rt_hints(), *info;
	struct fi_fabric_attr attr;
	struct fid_fabric *fabric;
	int ret;

	hints->fabric_attr->prov_name = strdup(*state);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info), 0);
	attr = *info->fabric_attr;
	attr.name = NULL;
	ret = fi_fabric(&attr, &fabric, NULL);
	assert_true(!ret || ret == -FI_EINVAL);
	if (!ret)
		assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

int main(void)
{
	static const char *const provs[] = { "tcp", "shm", "loop", "udp;ofi_rxd", "tcp;ofi_rxm" };
#define CASE(f) { #f, f }
	static const struct {
		const char *name;
		CMUnitTestFunction f;
	} cases[] = {
		CASE(an_error_stays_with_its_transfer), CASE(refused_atomics_use_nothing_up),
		CASE(discarded_messages_cost_nothing), CASE(entries_stay_where_they_are),
		CASE(a_sender_has_the_number_of_the_program), CASE(texts_end_where_their_buffers_do),
		CASE(teardown_with_work_queued), CASE(a_fabric_without_a_name),
	};
	struct CMUnitTest tests[COUNT(provs) * COUNT(cases)];
	char names[COUNT(tests)][96];
	size_t i, j, n = 0;

	for (i = 0; i < COUNT(provs); i++)
		for (j = 0; j < COUNT(cases); j++, n++) {
			snprintf(names[n], sizeof(names[n]), "%s: %s", provs[i], cases[j].name);
			tests[n] = (struct CMUnitTest) {
				.name = names[n], .test_func = cases[j].f, .initial_state = (void *) provs[i],
			};
		}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
