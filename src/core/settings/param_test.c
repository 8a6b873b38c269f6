/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <limits.h>

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#include "core/test/child_test.h"

static struct fi_provider prov = { .name = "ofi_pt" };

static int setup(void **state)
{
	setenv("FI_LOG_LEVEL", "none", 1);
	fi_param_define(&prov, "text", FI_PARAM_STRING, "A text, %s", "any");
	fi_param_define(&prov, "num", FI_PARAM_INT, "A number");
	fi_param_define(&prov, "flag", FI_PARAM_BOOL, "Yes or no");
	fi_param_define(&prov, "bytes", FI_PARAM_SIZE_T, "A size");
	return 0;
}

static void test_define(void **state)
{
	assert_int_equal(fi_param_define(&prov, NULL, FI_PARAM_INT, "x"), -FI_EINVAL);
	assert_int_equal(fi_param_define(&prov, "", FI_PARAM_INT, "x"), -FI_EINVAL);
	assert_int_equal(fi_param_define(&prov, "x", FI_PARAM_INT, NULL), -FI_EINVAL);
	assert_int_equal(fi_param_define(&prov, "x", 77, "x"), -FI_EINVAL);
}

static void test_unset(void **state)
{
	int n = 77;

	unsetenv("FI_OFI_PT_NUM");
	assert_int_equal(fi_param_get_int(&prov, "num", &n), -FI_ENODATA);
	assert_int_equal(fi_param_get_int(&prov, "nosuch", &n), -FI_ENOENT);
	assert_int_equal(n, 77);
}

static void test_string(void **state)
{
	char *text = NULL;

	setenv("FI_OFI_PT_TEXT", "some text", 1);
	assert_int_equal(fi_param_get_str(&prov, "text", &text), 0);
	assert_string_equal(text, "some text");
	setenv("FI_OFI_PT_TEXT", "", 1);
	assert_int_equal(fi_param_get_str(&prov, "TEXT", &text), 0);
	assert_string_equal(text, "");
}

static void int_is(const char *text, int want_ret, int want)
{
	int n = -4711;

	setenv("FI_OFI_PT_NUM", text, 1);
	assert_int_equal(fi_param_get_int(&prov, "num", &n), want_ret);
	assert_int_equal(n, want_ret ? -4711 : want);
}

static void test_int(void **state)
{
	int_is("0", 0, 0);
	int_is("-17", 0, -17);
	int_is("0x10", 0, 16);
	int_is("0600", 0, 0600);
	int_is("2147483647", 0, INT_MAX);
	int_is("2147483648", -FI_EINVAL, 0);
	int_is("99999999999999999999", -FI_EINVAL, 0);
	int_is("", -FI_EINVAL, 0);
	int_is("12x", -FI_EINVAL, 0);
	int_is("many", -FI_EINVAL, 0);
}

static void bool_is(const char *text, int want_ret, int want)
{
	int n = -4711;

	setenv("FI_OFI_PT_FLAG", text, 1);
	assert_int_equal(fi_param_get_bool(&prov, "flag", &n), want_ret);
	assert_int_equal(n, want_ret ? -4711 : want);
}

static void test_bool(void **state)
{
	static const char *const yes[] = { "1", "yes", "YES", "true", "True", "on" };
	static const char *const no[] = { "0", "no", "No", "false", "FALSE", "off" };
	int i;

	for (i = 0; i < 6; i++) {
		bool_is(yes[i], 0, 1);
		bool_is(no[i], 0, 0);
	}
	bool_is("2", -FI_EINVAL, 0);
	bool_is("", -FI_EINVAL, 0);
	bool_is("perhaps", -FI_EINVAL, 0);
}

static void size_is(const char *text, int want_ret, size_t want)
{
	size_t n = 4711;

	setenv("FI_OFI_PT_BYTES", text, 1);
	assert_int_equal(fi_param_get_size_t(&prov, "bytes", &n), want_ret);
	assert_true(n == (want_ret ? 4711 : want));
}

static void test_size(void **state)
{
	size_is("0", 0, 0);
	size_is("18446744073709551615", 0, SIZE_MAX);
	size_is("18446744073709551616", -FI_EINVAL, 0);
	size_is("-1", 0, SIZE_MAX);
	size_is("-2", -FI_EINVAL, 0);
	size_is("64k", 0, 65536);
	size_is("1M", 0, 1 << 20);
	size_is("17179869184g", -FI_EINVAL, 0);
	size_is("k", -FI_EINVAL, 0);
	size_is("1kk", -FI_EINVAL, 0);
	size_is("1x", -FI_EINVAL, 0);
}

static const struct fi_param *find(const struct fi_param *vec, int cnt,
				   const char *name)
{
	int i;

	for (i = 0; i < cnt; i++)
		if (!strcmp(vec[i].name, name))
			return &vec[i];
	return NULL;
}

static void test_list(void **state)
{
	const struct fi_param *param;
	struct fi_param *vec;
	int cnt = 0, again = 0;

	setenv("FI_OFI_PT_TEXT", "here", 1);
	unsetenv("FI_OFI_PT_NUM");
	assert_int_equal(fi_getparams(&vec, &cnt), 0);
	param = find(vec, cnt, "FI_OFI_PT_TEXT");
	assert_non_null(param);
	assert_int_equal(param->type, FI_PARAM_STRING);
	assert_string_equal(param->help_string, "A text, any");
	assert_string_equal(param->value, "here");
	param = find(vec, cnt, "FI_OFI_PT_NUM");
	assert_non_null(param);
	assert_null(param->value);
	assert_non_null(find(vec, cnt, "FI_LOG_LEVEL"));
	assert_non_null(find(vec, cnt, "FI_PROVIDER_PATH"));
	fi_freeparams(vec);

	/* A module that is loaded again defines its parameters again: no second entry. */
	assert_int_equal(fi_param_define(&prov, "num", FI_PARAM_INT, "New words"), 0);
	assert_int_equal(fi_getparams(&vec, &again), 0);
	assert_int_equal(again, cnt);
	assert_string_equal(find(vec, cnt, "FI_OFI_PT_NUM")->help_string, "New words");
	fi_freeparams(vec);
	fi_freeparams(NULL);
	assert_int_equal(fi_getparams(NULL, &cnt), -FI_EINVAL);
}

/* ---- log lines for invalid values ---------------------------------------------- */

static void bad_value(void)
{
	int n;

	setenv("FI_LOG_LEVEL", "warn", 1);
	setenv("FI_OFI_PT_FLAG", "perhaps", 1);
	setup(NULL);
	setenv("FI_LOG_LEVEL", "warn", 1);
	CHILD_CHECK(fi_param_get_bool(&prov, "flag", &n) == -FI_EINVAL);
}

static void test_bad_value_says_so(void **state)
{
	char out[1024];

	assert_int_equal(child_run(bad_value, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "FI_OFI_PT_FLAG=\"perhaps\""));
	assert_non_null(strstr(out, "yes"));
	assert_non_null(strstr(out, "default is used"));
	assert_non_null(strstr(out, "<warn>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: its child needs a library that has not been used yet */
		cmocka_unit_test(test_bad_value_says_so),
		cmocka_unit_test_setup(test_define, setup),
		cmocka_unit_test(test_unset),
		cmocka_unit_test(test_string),
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_bool),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
