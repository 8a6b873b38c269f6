/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The table of parameters: every type, the limits, the words, and what is logged. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <limits.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdlib.h>
#include <string.h>

#include "info/params.h"
#include "obj/test/log_catch.h"

struct conf {
	int number, large, flag, mode;
	size_t size, huge;
	const char *dir;
};

static const char *const words[] = { "none", "some", "all", NULL };
static struct fi_provider prov = { .name = "ptest" };

#define AT(field) offsetof(struct conf, field)

static const struct info_param params[] = {
	{ "NUMBER", FI_PARAM_INT, AT(number), 2, 9, NULL, "a number (default: 5)" },
	{ NULL, FI_PARAM_INT, AT(large), 0, 1, NULL, "a parameter that this provider lacks" },
	{ "LARGE", FI_PARAM_INT, AT(large), 1, INFO_PARAM_MAX, NULL, "an int (default: 6)" },
	{ "FLAG", FI_PARAM_BOOL, AT(flag), 0, 1, NULL, "a switch (default: off)" },
	{ "SIZE", FI_PARAM_SIZE_T, AT(size), 10, 20, NULL, "a size (default: 11)" },
	{ "HUGE", FI_PARAM_SIZE_T, AT(huge), 3, INFO_PARAM_MAX, NULL, "a size (default: 12)" },
	{ "MODE", FI_PARAM_STRING, AT(mode), 0, 0, words, "a word (default: some)" },
	{ "DIR", FI_PARAM_STRING, AT(dir), 0, 0, NULL, "a directory (default: none)" },
};

static struct conf read_with(const char *name, const char *value)
{
	struct conf conf = { .number = 5, .large = 6, .mode = 1, .size = 11, .huge = 12, .dir = "d" };
	char env[64] = "FI_PTEST_";

	strcat(env, name);
	if (value)
		setenv(env, value, 1);
	catch_clear();
	info_params_read(&prov, params, sizeof(params) / sizeof(params[0]), &conf);
	unsetenv(env);
	return conf;
}

/* Everything but the field at @at is the default. */
static void others_are_default(const struct conf *conf, size_t at)
{
	assert_true(at == AT(number) || conf->number == 5);
	assert_true(at == AT(large) || conf->large == 6);
	assert_true(at == AT(flag) || conf->flag == 0);
	assert_true(at == AT(mode) || conf->mode == 1);
	assert_true(at == AT(size) || conf->size == 11);
	assert_true(at == AT(huge) || conf->huge == 12);
	assert_true(at == AT(dir) || !strcmp(conf->dir, "d"));
}

static struct conf good(const char *name, const char *value, size_t at)
{
	struct conf conf = read_with(name, value);

	others_are_default(&conf, at);
	assert_null(catch_find("is ignored"));
	return conf;
}

static void bad(const char *name, const char *value, const char *says)
{
	struct conf conf = read_with(name, value);
	const char *line = catch_find("is ignored");
	char env[64] = "FI_PTEST_";

	others_are_default(&conf, SIZE_MAX);
	assert_non_null(line);
	assert_non_null(strstr(line, strcat(env, name)));
	assert_non_null(strstr(line, says));
	assert_int_equal(caught.level[(size_t) (line - caught.line[0]) / sizeof(caught.line[0])],
			 FI_LOG_WARN);
}

static void what_is_not_set_keeps_the_default(void **state)
{
	good("NUMBER", NULL, SIZE_MAX);
	good("NUMBERS", "7", SIZE_MAX);
	good("DIR", "", SIZE_MAX);
}

static void numbers_are_read_within_their_limits(void **state)
{
	assert_int_equal(good("NUMBER", "2", AT(number)).number, 2);
	assert_int_equal(good("NUMBER", "9", AT(number)).number, 9);
	assert_int_equal(good("LARGE", "2147483647", AT(large)).large, INT_MAX);
	assert_int_equal(good("SIZE", "20", AT(size)).size, 20);
	assert_int_equal(good("HUGE", "99999999999", AT(huge)).huge, 99999999999);
	assert_int_equal(good("FLAG", "1", AT(flag)).flag, 1);
	assert_int_equal(good("FLAG", "yes", AT(flag)).flag, 1);
	assert_int_equal(good("FLAG", "off", AT(flag)).flag, 0);
}

static void words_are_read_as_their_index(void **state)
{
	const char *text;

	assert_int_equal(good("MODE", "none", AT(mode)).mode, 0);
	assert_int_equal(good("MODE", "All", AT(mode)).mode, 2);
	text = good("DIR", "/tmp", AT(dir)).dir;
	assert_string_equal(text, "/tmp");
	free((char *) text);
}

static void what_is_impossible_is_logged_with_what_would_be(void **state)
{
	bad("NUMBER", "1", "from 2 to 9");
	bad("NUMBER", "10", "from 2 to 9");
	bad("NUMBER", "-3", "from 2 to 9");
	bad("NUMBER", "many", "from 2 to 9");
	bad("LARGE", "0", "at least 1");
	bad("LARGE", "-1", "at least 1");
	bad("SIZE", "21", "from 10 to 20");
	bad("HUGE", "2", "at least 3");
	bad("MODE", "few", "none, some, all");
	bad("FLAG", "perhaps", "FI_PTEST_FLAG");
}

/* fi_getparams() tells of all of them, for fi_info -e. */
static void all_are_defined(void **state)
{
	struct fi_param *list = NULL;
	unsigned found = 0, i, k;
	int cnt = 0;

	read_with("NUMBER", NULL);
	assert_int_equal(fi_getparams(&list, &cnt), 0);
	for (i = 0; i < (unsigned) cnt; i++)
		for (k = 0; k < sizeof(params) / sizeof(params[0]); k++)
			if (params[k].name && !strncmp(list[i].name, "FI_PTEST_", 9) &&
			    !strcmp(list[i].name + 9, params[k].name)) {
				assert_string_equal(list[i].help_string, params[k].help);
				assert_int_equal(list[i].type, params[k].type);
				found++;
			}
	assert_int_equal(found, sizeof(params) / sizeof(params[0]) - 1);
	fi_freeparams(list);
}

static int start(void **state)
{
	return catch_start();
}

static int stop(void **state)
{
	catch_stop();
	return 0;
}

static void variables_are_named_in_full(void **state)
{
	char text[128];

	assert_string_equal(info_params_ports_advice(&prov, FI_EADDRINUSE, text, sizeof(text)),
			    "; FI_PTEST_PORT_LOW_RANGE and FI_PTEST_PORT_HIGH_RANGE are the range of ports");
	assert_string_equal(info_params_ports_advice(&prov, FI_EACCES, text, sizeof(text)), "");
	info_params_iface_var(&prov, text, sizeof(text));
	assert_string_equal(text, "FI_PTEST_IFACE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_set_keeps_the_default),
		cmocka_unit_test(numbers_are_read_within_their_limits),
		cmocka_unit_test(words_are_read_as_their_index),
		cmocka_unit_test(what_is_impossible_is_logged_with_what_would_be),
		cmocka_unit_test(all_are_defined),
		cmocka_unit_test(variables_are_named_in_full),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
