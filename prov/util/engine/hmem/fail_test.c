/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Operations with memory of a device while endpoints and regions close, and while calls of the device fail. */
#include "engine/hmem/test/dev.h"

/* ---- ends ------------------------------------------------------------------------------------ */

/* An endpoint closes while copies are in flight; the other one learns it. */
static void test_close_in_the_middle(void **state)
{
	int k, turns;

	for (k = 0; k < 3; k++)
		for (turns = 0; turns < 12; turns++) {
			int i;

			open_kind(k, turns % 2 ? &near : &conf);
			assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC,
						 &ctx[1]), 0);
			assert_int_equal(fi_send(a->ep, from, LEN, fi_mr_desc(mr_from), 1, &ctx[0]), 0);
			assert_int_equal(fi_read(a->ep, from, LEN / 2, fi_mr_desc(mr_from), 1, 0, KEY,
						 &ctx[2]), 0);
			assert_int_equal(fi_write(a->ep, from, LEN, fi_mr_desc(mr_from), 1, 0, KEY,
						  &ctx[3]), 0);
			assert_int_equal(fi_write(a->ep, from, 8, fi_mr_desc(mr_from), 1, 0, KEY,
						  &ctx[4]), 0);
			for (i = 0; i < turns * 5; i++)
				world_poll(&w);
			node_close(&w, turns / 2 % 2);
			node_open(&w, turns / 2 % 2);
			world_settle(&w);
			close_kind();
		}
}

/* A region may close while a peer reads or writes it: @turns after that has begun. */
static void region_closes(const struct sim_conf *how, bool write, int turns)
{
	void *desc;
	struct comp c;

	open_kind(0, how);
	desc = fi_mr_desc(mr_from);
	put(from, LEN);
	assert_int_equal(write ? fi_write(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[0]) :
			 fi_read(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[0]), 0);
	while (turns--)
		world_poll(&w);
	assert_int_equal(fi_close(&mr_to->fid), 0);
	wait_comp(a, &c);
	assert_ptr_equal(c.e.op_context, &ctx[0]);
	mr_to = reg(to, KEY);
	message(LEN, false, 0);
	rma(LEN);
	close_kind();
}

static void test_region_closes(void **state)
{
	int turns;

	for (turns = 0; turns < 8; turns++) {
		region_closes(&conf, false, turns);
		region_closes(&conf, true, turns);
		region_closes(&near, false, turns);
		region_closes(&near, true, turns);
	}
}

/* ---- failing calls ------------------------------------------------------------------------------ */

/* expect_end - one completion of @context: a success, or FI_EIO.  Returns true for a success. */
static bool expect_end(struct node *n, const void *context)
{
	struct comp c;

	wait_comp(n, &c);
	assert_ptr_equal(c.err ? c.e.op_context : c.e.op_context, context);
	assert_true(!c.err || c.err == FI_EIO);
	return !c.err;
}

static void failing_message(size_t len, bool unexpected)
{
	int ret;

	if (!unexpected)
		assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	ret = (int) fi_send(a->ep, from, len, fi_mr_desc(mr_from), 1, &ctx[0]);
	assert_true(!ret || ret == -FI_EIO);
	if (ret) {
		if (!unexpected) {
			assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), 0);
			node_expect_err(&w, b, &ctx[1], FI_ECANCELED);
		}
		return;
	}
	if (unexpected) {
		world_settle(&w);
		assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	}
	expect_end(b, &ctx[1]);
	expect_end(a, &ctx[0]);
}

static void failing_rma(size_t len)
{
	void *desc = fi_mr_desc(mr_from);
	int ret;

	ret = (int) fi_write(a->ep, from, len, desc, 1, 0, KEY, &ctx[0]);
	assert_true(!ret || ret == -FI_EIO);
	if (!ret)
		expect_end(a, &ctx[0]);
	assert_int_equal(fi_read(a->ep, from, len, desc, 1, 0, KEY, &ctx[0]), 0);
	expect_end(a, &ctx[0]);
	ret = (int) fi_fetch_atomic(a->ep, from, 4, desc, from + 4096, desc, 1, 0, KEY, FI_UINT64,
				    FI_SUM, &ctx[0]);
	assert_true(!ret || ret == -FI_EIO);
	if (!ret)
		expect_end(a, &ctx[0]);
}

/* Each n-th call fails.  Every operation ends once, and afterwards all is as before. */
static void failing_calls(const struct sim_conf *how)
{
	unsigned long n;
	int k;

	for (k = 0; k < 3; k++) {
		open_kind(k, how);
		message(100, false, 0);
		for (n = 1; n < 24; n++) {
			fakegpu_plan(libs[k], "*", n);
			failing_message(50, false);
			failing_message(5000, true);
			failing_message(60000, false);
			failing_message(LEN, false);
			failing_message(LEN, true);
			failing_rma(5000);
			failing_rma(LEN);
			fakegpu_plan(libs[k], "", 0);
			world_settle(&w);
			message(LEN, false, 0);
			rma(60000);
			rma(LEN);
		}
		close_kind();
	}
}

static void test_failing_calls(void **state)
{
	failing_calls(&conf);
	failing_calls(&near);
	failing_calls(&whole);
}

/* The error entry's text names the call and the device. */
static void test_error_names_call(void **state)
{
	struct fi_cq_err_entry e = { 0 };
	struct comp c;
	char text[200];

	open_kind(0, &conf);
	assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	pattern_fill(host, LEN, ++seed);
	fakegpu_plan(libs[0], "cuMemcpyHtoDAsync", 1);
	assert_int_equal(fi_send(a->ep, host, LEN, NULL, 1, &ctx[0]), 0);
	while (fi_cq_read(b->cq, &c.e, 1) != -FI_EAVAIL)
		world_poll(&w);
	assert_int_equal(fi_cq_readerr(b->cq, &e, 0), 1);
	assert_int_equal(e.err, FI_EIO);
	assert_non_null(fi_cq_strerror(b->cq, e.prov_errno, e.err_data, text, sizeof(text)));
	assert_non_null(strstr(text, "cuMemcpyHtoDAsync"));
	assert_non_null(strstr(text, "device 1"));
	done(a, &ctx[0]);
	fakegpu_plan(libs[0], "", 0);
	message(LEN, false, 0);
	close_kind();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_in_the_middle),
		cmocka_unit_test(test_region_closes),
		cmocka_unit_test(test_failing_calls),
		cmocka_unit_test(test_error_names_call),
	};

	setenv("FAKEGPU_DELAY_US", "20", 0);
	fakegpu_use(argv);
	hmem_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
