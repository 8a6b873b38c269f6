/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The configuration file as a source of values; a child process makes the file. */

static char conf_path[] = "/tmp/fi_env_test_XXXXXX";
#define CONF_FILE conf_path

#include "core/settings/env.c"

#include <rdma/fabric.h>

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

static unsigned seen_cnt;

static void see_line(const char *file, unsigned line, const char *name)
{
	static const struct {
		unsigned line;
		const char *name;
	} want[] = {	/* the last one first */
		{ 9, NULL }, { 8, NULL }, { 7, NULL }, { 6, NULL }, { 5, "FI_ENVT_A" }, { 3, NULL },
	};

	CHILD_CHECK(!strcmp(file, conf_path));
	CHILD_CHECK(seen_cnt < 6 && want[seen_cnt].line == line);
	CHILD_CHECK(!name == !want[seen_cnt].name && (!name || !strcmp(name, want[seen_cnt].name)));
	seen_cnt++;
}

static void lines_without_effect(void)
{
	conf_write("# a comment\n   \nno equals sign\n  #FI_ENVT_C=3\nFI_ENVT_A=x=y\n=x\nTCP_IFACE=lo\n"
		   "export FI_TCP_IFACE=lo\nFI_TCP IFACE=lo\n");
	core_env_each_line(see_line);
	unlink(conf_path);
	CHILD_CHECK(seen_cnt == 6);
	CHILD_CHECK(!strcmp(core_env_get("FI_ENVT_A"), "x=y"));
	CHILD_CHECK(!core_env_get("TCP_IFACE"));
}

/* A program that asks for providers is told, by a warning for each line. */
static void misspelt(void)
{
	struct fi_info *info;

	conf_write("FI_LOG_LEVEL = warn\n\nFI_TCP_IFAC = lo\nFI_TCP_IFACE\nFI_OTHERS_VARIABLE=1\n"
		   "FI_SHM_PULL_SIZE=64k\n");
	setenv("FI_TCP_KEEPALIVE_TIME", "1", 1);
	setenv("FI_LNX_PROV_LINKS", "shm+tcp", 1);
	fi_freeinfo(fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, NULL, &info) ? NULL : info);
	unlink(conf_path);
}

static void test_misspelt(void **state)
{
	char out[4096];

	unsetenv("FI_LOG_LEVEL");
	assert_int_equal(child_run(misspelt, out, sizeof(out)), 0);
	assert_non_null(strstr(out, ":3: FI_TCP_IFAC is not a variable of this library"));
	assert_non_null(strstr(out, "did you mean FI_TCP_IFACE?"));
	assert_non_null(strstr(out, ":4: the line has no effect"));
	assert_non_null(strstr(out, ":6: FI_SHM_PULL_SIZE is not a variable of this library, or no longer"));
	assert_non_null(strstr(out, "FI_SHM_DISABLE_CMA=1"));
	assert_non_null(strstr(out, "FI_TCP_KEEPALIVE_TIME is not a variable of this library, or no longer, and "
			       "has no effect: probes follow FI_TCP_USER_TIMEOUT"));
	assert_non_null(strstr(out, "FI_LNX_PROV_LINKS is not a variable"));
	assert_null(strstr(out, "OTHERS"));
	assert_null(strstr(out, ":1: "));
}

static void test_in_children(void **state)
{
	char out[512];

	assert_int_equal(child_run(env_first, out, sizeof(out)), 0);
	assert_int_equal(child_run(file_first, out, sizeof(out)), 0);
	assert_int_equal(child_run(no_file, out, sizeof(out)), 0);
	assert_int_equal(child_run(lines_without_effect, out, sizeof(out)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_children),
		cmocka_unit_test(test_misspelt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
