/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* replay - the fi_getinfo() calls of real programs, and checks of the results that they need. */

#include "../runtimes/rt.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define CASES_MAX 64

struct file_case {
	char *path;			/* shared by the cases of a file, never freed */
	char name[64];
	int index;			/* of the call in the file */
};

static struct file_case cases[CASES_MAX];
static int case_cnt;

static void load(const struct file_case *c, struct hints_call *call)
{
	FILE *f = fopen(c->path, "r");
	int line = 0;

	assert_non_null(f);
	for (int i = 0; i <= c->index; i++) {
		if (i)
			hints_free(call);
		assert_int_equal(hints_next(f, call, &line), 1);
	}
	fclose(f);
}

/* Every entry has what was requested, so that a program may take the first. */
static void check_entry(const struct fi_info *info, const struct hints_call *call)
{
	const struct fi_info *h = call->hints;

	assert_non_null(info->fabric_attr->prov_name);
	assert_non_null(info->fabric_attr->name);
	assert_non_null(info->domain_attr->name);
	if (!h)
		return;
	assert_int_equal(info->mode & ~h->mode, 0);
	if (h->ep_attr && h->ep_attr->type)
		assert_int_equal(info->ep_attr->type, h->ep_attr->type);
	if (h->tx_attr && h->tx_attr->inject_size)
		assert_true(info->tx_attr->inject_size >= h->tx_attr->inject_size);
	if (!h->domain_attr)
		return;
	if (FI_VERSION_GE(call->version, FI_VERSION(1, 5)))
		assert_int_equal(info->domain_attr->mr_mode & ~h->domain_attr->mr_mode, 0);
	if (h->domain_attr->threading)
		assert_int_equal(info->domain_attr->threading, h->domain_attr->threading);
	if (h->domain_attr->av_type)
		assert_int_equal(info->domain_attr->av_type, h->domain_attr->av_type);
	if (h->domain_attr->data_progress)
		assert_int_equal(info->domain_attr->data_progress, h->domain_attr->data_progress);
	if (h->domain_attr->data_progress && !h->domain_attr->control_progress)
		assert_int_equal(info->domain_attr->control_progress, h->domain_attr->data_progress);
	assert_true(info->domain_attr->cq_data_size >= h->domain_attr->cq_data_size);
}

static void check(struct fi_info *info, const struct hints_call *call)
{
	for (const struct fi_info *i = info; i; i = i->next)
		check_entry(i, call);
	fi_freeinfo(info);
}

/* The call as the program made it. */
static void test_whole(void **state)
{
	struct hints_call call = { 0 };
	struct rt_query q;

	load(*state, &call);
	q = (struct rt_query) { .version = call.version, .flags = call.flags, .hints = call.hints };
	check(rt_all(&q), &call);
	hints_free(&call);
}

/* The call, with tcp in place of a provider whose device is missing. */
static void test_now(void **state)
{
	struct hints_call call = { 0 };
	struct rt_query q;

	load(*state, &call);
	q = (struct rt_query) { .version = call.version, .flags = call.flags, .hints = call.hints };
	check(rt_now(&q), &call);
	hints_free(&call);
}

/* One case for each call of a file. */
static void add_file(const char *dir, const char *file)
{
	struct hints_call call = { 0 };
	struct file_case *c;
	int line = 0, ret;
	char *path;
	FILE *f;

	if (asprintf(&path, "%s/%s", dir, file) < 0)
		exit(1);
	f = fopen(path, "r");
	if (!f)
		return;
	for (int i = 0; (ret = hints_next(f, &call, &line)) > 0 && case_cnt < CASES_MAX; i++) {
		c = &cases[case_cnt++];
		c->path = path;
		snprintf(c->name, sizeof(c->name), "%.*s call %d", (int) strcspn(file, "."), file, i + 1);
		c->index = i;
		hints_free(&call);
	}
	fclose(f);
	if (ret < 0) {
		fprintf(stderr, "replay: %s:%d makes no sense\n", path, line);
		exit(1);
	}
}

static void find_files(const char *dir)
{
	struct dirent **entries;
	int cnt = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < cnt; i++) {
		size_t len = strlen(entries[i]->d_name);

		if (len > 4 && !strcmp(entries[i]->d_name + len - 4, ".txt"))
			add_file(dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(cnt < 0 ? NULL : entries);
}

int main(void)
{
	static char names[2 * CASES_MAX][96];
	static struct CMUnitTest tests[2 * CASES_MAX];
	const char *src = getenv("top_srcdir");
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/tests/hints", src ? src : ".");
	find_files(dir);
	if (!case_cnt) {
		fprintf(stderr, "replay: no files in %s\n", dir);
		return 1;
	}
	for (int i = 0; i < case_cnt; i++) {
		snprintf(names[2 * i], sizeof(names[0]), "%s", cases[i].name);
		snprintf(names[2 * i + 1], sizeof(names[0]), "%s, what there is", cases[i].name);
		tests[2 * i] = (struct CMUnitTest) { .name = names[2 * i], .test_func = test_whole,
						     .initial_state = &cases[i] };
		tests[2 * i + 1] = (struct CMUnitTest) { .name = names[2 * i + 1],
							 .test_func = test_now,
							 .initial_state = &cases[i] };
	}
	return _cmocka_run_group_tests("hints", tests, (size_t) (2 * case_cnt), NULL, NULL);
}
