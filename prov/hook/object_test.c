/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Objects of a provider without functions, hooked and closed in difficult orders. */
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "base/test/verify.h"

#include "watch.h"

/* ---- a fabric, always at one address -------------------------------------------------- */

static int close_ret;

static int fabric_close(struct fid *fid)
{
	return close_ret;
}

static struct fi_ops fid_ops = { .size = sizeof(fid_ops), .close = fabric_close };
static struct fi_ops_fabric fabric_ops = { .size = sizeof(fabric_ops) };
static struct fid_fabric fabric;

static void fabric_make(void)
{
	fabric = (struct fid_fabric) {
		.fid = { .fclass = FI_CLASS_FABRIC, .ops = &fid_ops }, .ops = &fabric_ops,
	};
}

/* ---- a watcher -------------------------------------------------------------------------- */

static struct fi_provider prov = { .name = "ofi_hook_test" };
static int state_cnt, close_cnt, call_cnt;	/* states: those to which a call was reported */
static bool reopen;	/* reopen when the close is reported */

static void watch(void);

struct state {
	struct hook_state base;
	bool seen;
};

static void state_close(void *state)
{
	close_cnt++;
}

static void enter(void *state, struct hook_call *call, uint64_t *mark)
{
	struct state *mine = state;

	assert_string_equal(mine->base.fabric, "test");
	state_cnt += !mine->seen;
	mine->seen = true;
	call_cnt++;
}

static void leave(void *state, struct hook_call *call, uint64_t mark)
{
	if (!reopen)
		return;
	reopen = false;
	fabric_make();
	watch();
}

static const struct hook_watcher watcher = {
	.prov = &prov, .state_size = sizeof(struct state), .close = state_close, .enter = enter,
	.leave = leave,
};

static void watch(void)
{
	struct fi_fabric_attr attr = { .fabric = &fabric, .prov_name = (char *) "test" };
	struct fid_fabric *hooked = NULL;

	assert_int_equal(hook_fabric(&watcher, &attr, &hooked), 0);
	assert_ptr_equal(hooked, &fabric);
}

static int set_up(void **state)
{
	close_ret = state_cnt = close_cnt = call_cnt = 0;
	fabric_make();
	return 0;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void watched_until_closed(void **state)
{
	watch();
	watch();	/* a provider may return one fabric twice */
	close_ret = -FI_EBUSY;
	assert_int_equal(fi_close(&fabric.fid), -FI_EBUSY);
	assert_int_equal(close_cnt, 0);
	watch();
	close_ret = 0;
	assert_int_equal(fi_close(&fabric.fid), 0);
	assert_int_equal(state_cnt, 1);
	assert_int_equal(call_cnt, 2);
	assert_int_equal(close_cnt, 1);
}

/* Another fabric is opened at the address of a closed one whose record still exists. */
static void another_at_the_same_address(void **state)
{
	watch();
	reopen = true;
	assert_int_equal(fi_close(&fabric.fid), 0);
	assert_int_equal(state_cnt, 1);
	assert_int_equal(close_cnt, 1);
	assert_int_equal(fi_close(&fabric.fid), 0);
	assert_int_equal(state_cnt, 2);
	assert_int_equal(call_cnt, 2);
	assert_int_equal(close_cnt, 2);
}

static void a_hook_has_no_fabric(void **state)
{
	struct fi_fabric_attr attr = { .prov_name = (char *) "ofi_hook_test" };
	struct fid_fabric *hooked = NULL;

	assert_int_equal(hook_fabric(&watcher, &attr, &hooked), -FI_EINVAL);
	assert_null(hooked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(watched_until_closed, set_up),
		cmocka_unit_test_setup(another_at_the_same_address, set_up),
		cmocka_unit_test_setup(a_hook_has_no_fabric, set_up),
	};

	return cmocka_run_group_tests_name("hook objects", tests, NULL, NULL);
}
