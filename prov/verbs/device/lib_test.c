/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Opening libibverbs: protection of registered memory at fork().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/test/log_catch.h"
#include "verbs/provider.h"

struct fi_provider *fi_verbs_ini(void);

static int status, asked, result;

static int is_initialized(void)
{
	return status;
}

static int init(void)
{
	asked++;
	return result;
}

/* Returns whether forking is safe, with so many calls of ibv_fork_init(). */
static bool safe(int (*is)(void), int status_, int result_, int calls)
{
	bool ret;

	vrb_ibv.is_fork_initialized = is;
	vrb_ibv.fork_init = init;
	status = status_;
	result = result_;
	asked = 0;
	ret = vrb_lib_fork_safe();
	assert_int_equal(asked, calls);
	return ret;
}

/* FI_FORK_UNSAFE, and kernels that copy such memory themselves, which have priority. */
static void asked_for(void **state)
{
	vrb_conf.fork_unsafe = 0;
	assert_true(safe(is_initialized, 0, 0, 1));	/* disabled */
	assert_true(safe(is_initialized, 1, 0, 1));	/* by the environment: once more is allowed */
	assert_true(safe(is_initialized, 2, 0, 0));	/* unneeded */
	assert_true(safe(NULL, 2, 0, 1));		/* an older library cannot say */
	vrb_conf.fork_unsafe = 1;
	assert_false(safe(is_initialized, 0, 0, 0));
	assert_false(safe(NULL, 0, 0, 0));
	assert_true(safe(is_initialized, 2, 0, 0));
}

static void failing(void **state)
{
	vrb_conf.fork_unsafe = 0;
	assert_int_equal(catch_start(), 0);
	assert_false(safe(is_initialized, 0, EINVAL, 1));
	assert_non_null(catch_find("not safe from fork()"));
	assert_non_null(catch_find("RDMAV_FORK_SAFE"));
	catch_clear();
	vrb_conf.fork_unsafe = 1;
	assert_false(safe(is_initialized, 0, EINVAL, 0));
	assert_int_equal(caught.cnt, 0);
	catch_stop();
}

static void the_variable(void **state)
{
	struct fi_param *params;
	int i, cnt, seen = 0;

	setenv("FI_FORK_UNSAFE", "yes", 1);
	vrb_conf.fork_unsafe = 0;
	fi_verbs_ini();
	assert_true(vrb_conf.fork_unsafe);
	setenv("FI_FORK_UNSAFE", "0", 1);
	fi_verbs_ini();
	assert_false(vrb_conf.fork_unsafe);
	unsetenv("FI_FORK_UNSAFE");
	assert_int_equal(fi_getparams(&params, &cnt), 0);
	for (i = 0; i < cnt; i++)
		seen += !strcmp(params[i].name, "FI_FORK_UNSAFE");
	fi_freeparams(params);
	assert_int_equal(seen, 1);
}

/* The real library, opened as for a device. */
static void opened(void **state)
{
	vrb_conf.fork_unsafe = 0;
	if (vrb_lib_open())
		skip();
	if (!vrb_ibv.is_fork_initialized)
		skip();
	assert_int_not_equal(vrb_ibv.is_fork_initialized(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opened),	/* before the others put theirs in its place */
		cmocka_unit_test(asked_for),
		cmocka_unit_test(failing),
		cmocka_unit_test(the_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
