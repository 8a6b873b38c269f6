/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * receive_test.c - what a DGRAM endpoint tells of what it has received: source addresses, multi-receive
 * buffers, and which completions are written.
 */

#include "udp/test/world.h"

#include <unistd.h>

/* ---- source addresses ------------------------------------------------------ */

static void source(int family, uint64_t caps, bool strangers, bool framed)
{
	struct conf c = {
		.family = family, .caps = caps, .strangers = strangers, .ends = 3, .framed = framed,
	};
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	fi_addr_t to[3], src;
	struct world w;
	char in[16];
	unsigned i;

	world_open(&w, &c);
	for (i = 1; i < 3; i++) {
		if (strangers)
			assert_int_equal(fi_av_insert(w.end[i].av, &w.end[0].name, 1,
						      &w.end[i].to[0], 0, NULL), 1);
		OK(fi_recv(w.end[0].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
		if (framed)
			OK(fi_injectdata(w.end[i].ep, "hello", 6, i, w.end[i].to[0]));
		else
			OK(fi_inject(w.end[i].ep, "hello", 6, w.end[i].to[0]));
		src = 12345;
		if (caps & FI_SOURCE_ERR && strangers) {
			wait_err(w.end[0].cq, &err);
			assert_int_equal(err.err, FI_EADDRNOTAVAIL);
			assert_int_equal(err.err_data_size, w.end[i].name_len);
			assert_memory_equal(err.err_data, &w.end[i].name, w.end[i].name_len);
			assert_int_equal(err.len, 6);
			assert_int_equal(err.data, framed ? i : 0);
			assert_ptr_equal(err.op_context, in);
			assert_int_equal(err.flags,
					 FI_RECV | FI_MSG | (framed ? FI_REMOTE_CQ_DATA : 0));
			/* the address in the error entry can be inserted, and the source is
			 * known then
			 */
			assert_int_equal(fi_av_insert(w.end[0].av, err.err_data, 1, &to[i], 0,
						      NULL), 1);
			OK(fi_recv(w.end[0].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
			OK(fi_inject(w.end[i].ep, "hello", 6, w.end[i].to[0]));
			assert_int_equal(wait_from(w.end[0].cq, &e, &src), 1);
			assert_int_equal(src, to[i]);
			continue;
		}
		assert_int_equal(wait_from(w.end[0].cq, &e, &src), 1);
		assert_int_equal(src, strangers ? FI_ADDR_NOTAVAIL : w.end[0].to[i]);
		assert_string_equal(in, "hello");
	}
	world_close(&w);
}

static void sources(void **state)
{
	int family, i;

	for (i = 0; i < 4; i++)
		for (family = AF_INET; family; family = family == AF_INET ? AF_INET6 : 0) {
			source(family, FI_SOURCE, i & 1, i & 2);
			source(family, FI_SOURCE | FI_SOURCE_ERR, i & 1, i & 2);
		}
}

/* An unknown source is an error only with FI_SOURCE_ERR. */
static void source_err_is_asked_for(void **state)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->fabric_attr->prov_name = strdup("udp");
	hints->ep_attr->type = FI_EP_DGRAM;
	OK(fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info));
	assert_false(info->caps & FI_SOURCE_ERR);
	fi_freeinfo(info);
	hints->caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR;
	OK(fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info));
	assert_true(info->caps & FI_SOURCE_ERR);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* ---- multi-receive buffers ------------------------------------------------- */

static void multi_recv(void **state)
{
	struct conf c = { .caps = FI_MULTI_RECV };
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &iov };
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	size_t min = 64, size = sizeof(min);
	char buf[1000], single[100], *at = buf;
	struct world w;
	int i;

	world_open(&w, &c);
	OK(fi_setopt(&w.end[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, size));
	iov = (struct iovec) { buf, 1000 };
	OK(fi_recvmsg(w.end[1].ep, &msg, FI_MULTI_RECV));
	OK(fi_recv(w.end[1].ep, single, sizeof(single), NULL, FI_ADDR_UNSPEC, single));
	for (i = 0; i < 11; i++) {
		char out[90];

		pattern(out, 85 + i % 3, i);
		OK(fi_inject(w.end[0].ep, out, 85 + i % 3, w.end[0].to[1]));
	}
	for (i = 0; i < 11; i++) {
		wait_one(w.end[1].cq, &e);
		assert_ptr_equal(e.op_context, &iov);
		assert_ptr_equal(e.buf, at);
		check_pattern(at, e.len, i);
		at += e.len;
		assert_int_equal(e.flags, FI_RECV | FI_MSG | (i == 10 ? FI_MULTI_RECV : 0));
	}
	assert_in_range(buf + sizeof(buf) - at, 0, min - 1);
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
	wait_one(w.end[1].cq, &e);
	assert_ptr_equal(e.op_context, single);

	/* too long for the rest of the buffer: the error releases it */
	OK(fi_recvmsg(w.end[1].ep, &msg, FI_MULTI_RECV));
	OK(fi_inject(w.end[0].ep, buf, 900, w.end[0].to[1]));
	OK(fi_inject(w.end[0].ep, buf, 200, w.end[0].to[1]));
	wait_one(w.end[1].cq, &e);
	wait_err(w.end[1].cq, &err);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.len, 100);
	assert_int_equal(err.olen, 100);
	assert_true(err.flags & FI_MULTI_RECV);

	/* cancelled before use */
	OK(fi_recvmsg(w.end[1].ep, &msg, FI_MULTI_RECV));
	OK(fi_cancel(&w.end[1].ep->fid, &iov));
	wait_err(w.end[1].cq, &err);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_true(err.flags & FI_MULTI_RECV);
	world_close(&w);
}

/* ---- which completions are written ----------------------------------------- */

static void selective(void **state)
{
	struct conf c = { .cq_flags = FI_SELECTIVE_COMPLETION, .counters = true };
	struct iovec iov = { (void *) "12345678", 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	struct fid_ep *alias;
	struct world w;
	char in[8];

	world_open(&w, &c);
	msg.addr = w.end[0].to[1];
	OK(fi_recv(w.end[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, in));
	OK(fi_send(w.end[0].ep, "12345678", 8, NULL, w.end[0].to[1], NULL));
	OK(fi_cntr_wait(w.end[1].received, 1, 5000));
	wait_none(w.end[0].cq);
	wait_none(w.end[1].cq);
	iov.iov_base = in;
	OK(fi_recvmsg(w.end[1].ep, &msg, FI_COMPLETION));
	iov.iov_base = (void *) "12345678";
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_COMPLETION));
	wait_one(w.end[0].cq, &e);
	wait_one(w.end[1].cq, &e);
	assert_int_equal(fi_cntr_read(w.end[0].sent), 2);
	assert_int_equal(fi_cntr_read(w.end[1].received), 2);

	/* an alias has separate flags */
	OK(fi_ep_alias(w.end[0].ep, &alias, FI_TRANSMIT | FI_COMPLETION));
	OK(fi_send(alias, "1", 1, NULL, w.end[0].to[1], &alias));
	wait_one(w.end[0].cq, &e);
	assert_ptr_equal(e.op_context, &alias);
	OK(fi_close(&alias->fid));

	/* an error is reported in any case, and counted as an error */
	OK(fi_recv(w.end[1].ep, in, 0, NULL, FI_ADDR_UNSPEC, in));
	wait_err(w.end[1].cq, &err);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(fi_cntr_read(w.end[1].received), 2);
	assert_int_equal(fi_cntr_readerr(w.end[1].received), 1);
	world_close(&w);
}

static void close_with_posted(void **state)
{
	struct conf c = { .ends = 1 };
	struct iovec iov = { (void *) "abc", 3 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct world w;
	char in[100];
	int i;

	world_open(&w, &c);
	for (i = 0; i < 100; i++)
		OK(fi_recv(w.end[0].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_MORE));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources),
		cmocka_unit_test(source_err_is_asked_for),
		cmocka_unit_test(multi_recv),
		cmocka_unit_test(selective),
		cmocka_unit_test(close_with_posted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
