/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/test/verify.h"

#include "base/explain.h"
#include "obj/test/log_catch.h"

static struct fi_provider prov = { .name = "test" };

static const struct explain_line sample = {
	.provider = "tcp", .domain = "eth0", .addr = "fi_sockaddr_in://192.0.2.2:0",
	.ep_type = "FI_EP_RDM", .attr = "domain_attr->threading",
	.wanted = "FI_THREAD_SAFE", .offered = "[ FI_MSG, FI_RMA ]",
};

static void test_format(void **state)
{
	char line[EXPLAIN_LINE_MAX];
	size_t len;

	len = explain_format(&sample, line, sizeof(line));
	assert_int_equal(len, strlen(line));
	assert_string_equal(line, "explain: provider=tcp domain=eth0 "
		"addr=fi_sockaddr_in://192.0.2.2:0 ep_type=FI_EP_RDM "
		"attr=domain_attr->threading wanted=FI_THREAD_SAFE "
		"offered=\"[ FI_MSG, FI_RMA ]\"");
}

static void assert_same(const struct explain_line *a, const struct explain_line *b)
{
	assert_string_equal(a->provider, b->provider);
	assert_string_equal(a->domain, b->domain);
	assert_string_equal(a->addr, b->addr);
	assert_string_equal(a->ep_type, b->ep_type);
	assert_string_equal(a->attr, b->attr);
	assert_string_equal(a->wanted, b->wanted);
	assert_string_equal(a->offered, b->offered);
}

static void test_parse_in_a_log_line(void **state)
{
	char line[EXPLAIN_LINE_MAX] = "libfabric:123:tcp:core:explain_refusal():99<info> ";
	struct explain_line ex;
	size_t n = strlen(line);

	n += explain_format(&sample, line + n, sizeof(line) - n);
	strcpy(line + n, " and more\n");
	assert_int_equal(explain_parse(line, &ex), 0);
	assert_same(&ex, &sample);
}

static void test_format_cuts_as_snprintf_does(void **state)
{
	char full[EXPLAIN_LINE_MAX], cut[40];
	size_t len = explain_format(&sample, full, sizeof(full));

	assert_int_equal(explain_format(&sample, cut, sizeof(cut)), len);
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, full, sizeof(cut) - 1);
	assert_int_equal(explain_format(&sample, NULL, 0), len);
}

static void test_parse_refuses(void **state)
{
	static const char *const no[] = { "", "explain", "explain:", "no such line" };
	static const char *const bad[] = {
		"explain: ",
		"explain: provider=tcp",
		"explain: domain=lo provider=tcp addr=- ep_type=- attr=a wanted=w offered=o",
		"explain: provider=tcp domain=lo addr=- ep_type=- attr=a wanted=w",
		"explain: provider= domain=lo addr=- ep_type=- attr=a wanted=w offered=o",
		"explain: provider=\"tcp domain=lo addr=- ep_type=- attr=a wanted=w offered=o",
		"explain: provider=\"t\\p\" domain=lo addr=- ep_type=- attr=a wanted=w offered=o",
		"explain: provider=tcp  domain=lo addr=- ep_type=- attr=a wanted=w offered=o",
		"explain: provider=tcp domain=lo addr=- ep_type=- attr=a wanted=w offered=\"",
	};
	struct explain_line ex = sample;
	size_t i;

	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_int_equal(explain_parse(no[i], &ex), -FI_ENOENT);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(explain_parse(bad[i], &ex), -FI_EINVAL);
	assert_same(&ex, &sample);	/* untouched */
}

static void test_too_long_a_value_is_refused(void **state)
{
	char line[EXPLAIN_LINE_MAX];
	struct explain_line ex;
	char name[sizeof(ex.domain) + 1];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(line, sizeof(line), "explain: provider=p domain=%s addr=- ep_type=- "
		 "attr=a wanted=w offered=o", name);
	assert_int_equal(explain_parse(line, &ex), -FI_EINVAL);
	snprintf(line, sizeof(line), "explain: provider=p domain=%s addr=- ep_type=- "
		 "attr=a wanted=w offered=o", name + 1);
	assert_int_equal(explain_parse(line, &ex), 0);
}

/* A small generator: a failure can be reproduced from its seed. */
static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void fill(uint32_t *seed, char *dst, size_t size)
{
	/* characters that need quoting are more frequent than in practice */
	static const char set[] = "abcFI_->:[]{}=0189 \"\\\n,\xc3\xa4";
	size_t i, len = next(seed) % size;

	for (i = 0; i < len; i++)
		dst[i] = set[next(seed) % (sizeof(set) - 1)];
	dst[len] = '\0';
}

static void test_round_trip(void **state)
{
	char line[8 * EXPLAIN_VALUE_MAX];
	struct explain_line ex, back;
	uint32_t seed = 2026;
	int i;

	for (i = 0; i < 20000; i++) {
		fill(&seed, ex.provider, sizeof(ex.provider));
		fill(&seed, ex.domain, sizeof(ex.domain));
		fill(&seed, ex.addr, sizeof(ex.addr));
		fill(&seed, ex.ep_type, sizeof(ex.ep_type));
		fill(&seed, ex.attr, sizeof(ex.attr));
		fill(&seed, ex.wanted, sizeof(ex.wanted));
		fill(&seed, ex.offered, sizeof(ex.offered));
		assert_true(explain_format(&ex, line, sizeof(line)) < sizeof(line));
		assert_null(strchr(line, '\n'));
		assert_int_equal(explain_parse(line, &back), 0);
		assert_same(&ex, &back);
	}
}

static void test_damaged_lines(void **state)
{
	char line[EXPLAIN_LINE_MAX];
	struct explain_line ex;
	uint32_t seed = 7;
	int i, ret;

	for (i = 0; i < 50000; i++) {
		size_t len = explain_format(&sample, line, sizeof(line));

		line[next(&seed) % len] = (char) next(&seed);
		if (next(&seed) % 4 == 0)
			line[next(&seed) % len] = '\0';
		ret = explain_parse(line, &ex);
		assert_true(ret == 0 || ret == -FI_EINVAL || ret == -FI_ENOENT);
	}
}

static void test_the_line_is_logged(void **state)
{
	const struct explain_label label = { .domain = "lo", .addr = "fi_sockaddr_in://127.0.0.1:0" };
	struct explain_line ex;
	char wide[2 * EXPLAIN_VALUE_MAX];

	assert_int_equal(catch_start(), 0);
	memset(wide, 'w', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	explain_refusal(&prov, &label, "FI_EP_RDM", "caps", wide, NULL);
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(caught.level[0], FI_LOG_INFO);
	assert_int_equal(explain_parse(caught.line[0], &ex), 0);
	assert_string_equal(ex.provider, "test");
	assert_string_equal(ex.domain, "lo");
	assert_string_equal(ex.attr, "caps");
	assert_string_equal(ex.offered, "-");
	/* cut, and marked as cut */
	assert_int_equal(strlen(ex.wanted), EXPLAIN_VALUE_MAX - 1);
	assert_string_equal(ex.wanted + EXPLAIN_VALUE_MAX - 4, "...");

	catch_clear();
	explain_refusal(&prov, NULL, NULL, "dest_addr", "a b", "");
	assert_int_equal(explain_parse(caught.line[0], &ex), 0);
	assert_string_equal(ex.domain, "-");
	assert_string_equal(ex.ep_type, "-");
	assert_string_equal(ex.wanted, "a b");

	/* logging disabled: no line, and explain_on() says so */
	catch_clear();
	caught.quiet_from = FI_LOG_INFO;
	assert_false(explain_on(&prov));
	explain_refusal(&prov, &label, "FI_EP_RDM", "caps", "w", "o");
	assert_int_equal(caught.cnt, 0);
	catch_stop();
}

/* ---- structures ----------------------------------------------------------------- */

static struct explain_refusal taken;
static bool wanted, logged;

static bool taker_wants(void)
{
	return wanted;
}

static void taker_take(const struct explain_refusal *refusal)
{
	taken = *refusal;
}

static bool taker_is_logged(const struct fi_provider *prov_)
{
	return logged;
}

/* Text is made where the line is logged, of the same values. */
static void test_the_taker_gets_the_structure(void **state)
{
	static const struct explain_taker taker = { taker_wants, taker_take, taker_is_logged };
	const struct explain_refusal refusal = {
		.prov = &prov, .attr = "caps",
		.ep_type = EXPLAIN_VALUE_NAMES(FI_TYPE_EP_TYPE, FI_EP_MSG),
		.wanted = EXPLAIN_VALUE_NAMES(FI_TYPE_CAPS, FI_ATOMIC),
		.offered = EXPLAIN_VALUE_NUMBER(7),
	};

	assert_int_equal(catch_start(), 0);
	explain_set_taker(&taker);
	assert_false(explain_on(&prov));
	explain_refuse(&refusal);
	assert_null(taken.attr);
	wanted = true;
	assert_true(explain_on(&prov));
	assert_false(explain_logged(&prov));
	explain_refuse(&refusal);
	assert_string_equal(taken.attr, "caps");
	assert_int_equal(caught.cnt, 0);
	logged = true;
	explain_refuse(&refusal);
	assert_int_equal(caught.cnt, 1);
	assert_non_null(strstr(caught.line[0], "ep_type=FI_EP_MSG attr=caps wanted=FI_ATOMIC offered=7"));
	explain_set_taker(NULL);
	catch_stop();
}

static void test_values(void **state)
{
	static const struct {
		struct explain_value value;
		const char *text;
	} row[] = {
		{ { .kind = EXPLAIN_TEXT, .text = "eth0" }, "eth0" },
		{ { .kind = EXPLAIN_NUMBER, .number = 18446744073709551615u }, "18446744073709551615" },
		{ { .kind = EXPLAIN_NAMES, .type = FI_TYPE_CAPS, .number = 0 }, "none" },
		{ { .kind = EXPLAIN_NAMES, .type = FI_TYPE_MR_MODE, .number = FI_MR_LOCAL }, "FI_MR_LOCAL" },
		{ { .kind = EXPLAIN_NAMES, .type = FI_TYPE_THREADING, .number = FI_THREAD_DOMAIN }, "FI_THREAD_DOMAIN" },
	};
	char buf[EXPLAIN_VALUE_MAX];
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(explain_value_text(&row[i].value, buf, sizeof(buf)), row[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_parse_in_a_log_line),
		cmocka_unit_test(test_format_cuts_as_snprintf_does),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_too_long_a_value_is_refused),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_the_line_is_logged),
		cmocka_unit_test(test_the_taker_gets_the_structure),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
