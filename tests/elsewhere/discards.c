/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Unexpected messages of every size class are discarded, at once and after they were claimed, 10,000 times
 * each over each link: none of them leaves memory, descriptors, credits, or a part of a limit in use.
 *
 * TEST_DISCARDS: another number.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtimes/rt.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TAG 9
#define LONG (1u << 20)
#define WINDOW 64		/* messages in flight at once, afterwards */
#define FDS 4			/* descriptors that a link opens for a connection while it learns about its path */
#define SPREAD (256u << 10)	/* bytes that pools may take or give back between two counts */

static const struct link {
	const char *name, *prov, *env;	/* env: set to 0 */
} links[] = {
	{ "tcp", "tcp", "FI_TCP_LOCAL" },
	{ "tcp, shared memory", "tcp", NULL },
	{ "shm", "shm", NULL },
	{ "loop", "loop", NULL },
	{ "rxd", "udp;ofi_rxd", "FI_OFI_RXD_LOCAL" },
	{ "rxd, shared memory", "udp;ofi_rxd", NULL },
	{ "rxm", "tcp;ofi_rxm", "FI_OFI_RXM_LOCAL" },
	{ "rxm, shared memory", "tcp;ofi_rxm", NULL },
};

static const struct rt_setup plain = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED };

static const struct link *the;
static struct rt_world w;
static char *out, *in[WINDOW];	/* of LONG bytes */
static unsigned discards = 10000;

static int open_link(void **state)
{
	bool ip = strcmp(the->prov, "shm") && strcmp(the->prov, "loop");
	struct fi_info *hints = rt_hints(), *info;
	unsigned i;

	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	hints->fabric_attr->prov_name = strdup(the->prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), ip ? "127.0.0.1" : NULL, NULL, ip ? FI_SOURCE : 0, hints,
				    &info), 0);
	fi_freeinfo(hints);
	hints = fi_dupinfo(info);
	fi_freeinfo(info);
	rt_open(&w, hints, &plain);
	out = calloc(1, LONG);
	for (i = 0; i < WINDOW; i++)
		in[i] = calloc(1, LONG);
	return 0;
}

static int close_link(void **state)
{
	unsigned i;

	rt_close(&w);
	free(out);
	for (i = 0; i < WINDOW; i++)
		free(in[i]);
	return 0;
}

/* ---- discarding --------------------------------------------------------------------------- */

/* peek - FI_PEEK with @flags.  True if a message was there. */
static bool peek(struct fi_context2 *ctx, uint64_t flags)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = TAG, .context = ctx };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	rt_do(&w, fi_trecvmsg(w.ep[1], &msg, FI_PEEK | flags));
	while ((ret = fi_cq_read(w.cq[1], &entry, 1)) == -FI_EAGAIN)
		rt_push(&w);
	if (ret == 1)
		return true;
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w.cq[1], &err, 0), 1);
	assert_int_equal(err.err, FI_ENOMSG);
	return false;
}

static void discard_at_once(size_t len)
{
	struct fi_context2 sent, ctx;

	rt_do(&w, fi_tsend(w.ep[0], out, len, NULL, w.addr[1], TAG, &sent));
	while (!peek(&ctx, FI_DISCARD))
		rt_push(&w);
	assert_ptr_equal(rt_wait(&w, 0).op_context, &sent);
}

static void claim_and_discard(size_t len)
{
	struct fi_context2 sent, ctx;
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = TAG, .context = &ctx };

	rt_do(&w, fi_tsend(w.ep[0], out, len, NULL, w.addr[1], TAG, &sent));
	while (!peek(&ctx, FI_CLAIM))
		rt_push(&w);
	rt_do(&w, fi_trecvmsg(w.ep[1], &msg, FI_CLAIM | FI_DISCARD));
	assert_ptr_equal(rt_wait(&w, 1).op_context, &ctx);
	assert_ptr_equal(rt_wait(&w, 0).op_context, &sent);
}

/* ---- what is in use ------------------------------------------------------------------------- */

static size_t memory(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned cnt = 0;

	assert_non_null(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt;
}

/* all_in_flight - as many messages as there are credits, slots and buffers for, and more, all unexpected: each is
 * received, in order.
 */
static void all_in_flight(size_t len)
{
	struct fi_context2 sent[WINDOW], got[WINDOW];
	bool ended[WINDOW] = { false };
	unsigned i;
	long of;

	for (i = 0; i < WINDOW; i++) {
		snprintf(out, LONG, "%u", i);
		rt_do(&w, fi_tinject(w.ep[0], out, 8, w.addr[1], TAG));
		rt_do(&w, fi_tsend(w.ep[0], out, len, NULL, w.addr[1], TAG + 1, &sent[i]));
	}
	for (i = 0; i < 200; i++)
		rt_push(&w);
	for (i = 0; i < WINDOW; i++) {
		rt_do(&w, fi_trecv(w.ep[1], in[i], LONG, NULL, FI_ADDR_UNSPEC, TAG + 1, 0, &got[i]));
		assert_int_equal(rt_wait(&w, 1).len, len);
		rt_do(&w, fi_trecv(w.ep[1], in[i], LONG, NULL, FI_ADDR_UNSPEC, TAG, 0, &got[i]));
		assert_int_equal(rt_wait(&w, 1).len, 8);
		assert_int_equal(atoi(in[i]), i);
	}
	for (i = 0; i < WINDOW; i++) {
		of = (struct fi_context2 *) rt_wait(&w, 0).op_context - sent;
		assert_true(of >= 0 && of < WINDOW && !ended[of]);
		ended[of] = true;
	}
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void discarded_messages_leave_nothing(void (*discard)(size_t len))
{
	static const size_t lens[] = { 0, 8, 200, 4000, 20000, 70000, LONG };
	unsigned i, k, fds;
	size_t before;

	for (k = 0; k < COUNT(lens); k++) {
		for (i = 0; i < discards / 10; i++)
			discard(lens[k]);
		before = memory();
		fds = descriptors();
		for (; i < discards; i++)
			discard(lens[k]);
		if (memory() > before + SPREAD)
			fail_msg("%u messages of %zu bytes left %zu bytes in use", discards, lens[k],
				 memory() - before);
		assert_true(descriptors() <= fds + FDS);
		all_in_flight(lens[k]);
	}
}

static void at_once(void **state)
{
	discarded_messages_leave_nothing(discard_at_once);
}

static void after_a_claim(void **state)
{
	discarded_messages_leave_nothing(claim_and_discard);
}

/* ---- links ------------------------------------------------------------------------------------ */

static const char *link_name(size_t i)
{
	return i < COUNT(links) ? links[i].name : NULL;
}

static int run_link(size_t i)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(at_once, open_link, close_link),
		cmocka_unit_test_setup_teardown(after_a_claim, open_link, close_link),
	};

	the = &links[i];
	if (the->env)
		setenv(the->env, "0", 1);
	return cmocka_run_group_tests_name(the->name, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	if (getenv("TEST_DISCARDS"))
		discards = (unsigned) atoi(getenv("TEST_DISCARDS"));
	return rt_each_link(argc, argv, link_name, run_link);
}
