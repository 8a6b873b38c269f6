/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The configuration file as a source of values; a child process makes the file. */

static char conf_path[] = "/tmp/fi_env_test_XXXXXX";
#define CONF_FILE conf_path

#include "core/settings/env.c"

#include "core/test/child_test.h"

static void conf_write(const char *text)
{
	FILE *file = fdopen(mkstemp(conf_path), "w");

	CHILD_CHECK(file);
	fputs(text, file);
	fclose(file);
}

static void env_first(void)
{
	conf_write("# a comment = 1\n\n  FI_ENVT_A =  from the file \n"
		   "FI_ENVT_B=file\nno equals sign\n=x\n#FI_ENVT_C=3\n");
	setenv("FI_ENVT_B", "environment", 1);
	CHILD_CHECK(!strcmp(core_env_get("FI_ENVT_A"), "from the file"));
	unlink(conf_path);
	CHILD_CHECK(!strcmp(core_env_get("FI_ENVT_B"), "environment"));
	CHILD_CHECK(!core_env_get("FI_ENVT_C"));
	CHILD_CHECK(!core_env_get("FI_ENVT_NOSUCH"));
}

static void file_first(void)
{
	conf_write("FI_PREFER_SYSCONFIG=yes\nFI_ENVT_B=file\n");
	setenv("FI_ENVT_B", "environment", 1);
	setenv("FI_ENVT_C", "environment", 1);
	CHILD_CHECK(!strcmp(core_env_get("FI_ENVT_B"), "file"));
	unlink(conf_path);
	CHILD_CHECK(!strcmp(core_env_get("FI_ENVT_C"), "environment"));
}

static void no_file(void)
{
	setenv("FI_ENVT_B", "environment", 1);
	CHILD_CHECK(!strcmp(core_env_get("FI_ENVT_B"), "environment"));
	CHILD_CHECK(!core_env_get("FI_ENVT_NOSUCH"));
}

static void test_in_children(void **state)
{
	char out[512];

	assert_int_equal(child_run(env_first, out, sizeof(out)), 0);
	assert_int_equal(child_run(file_first, out, sizeof(out)), 0);
	assert_int_equal(child_run(no_file, out, sizeof(out)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
