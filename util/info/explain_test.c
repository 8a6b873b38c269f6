/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>

static struct info_explain ex;

static int release(void **state)
{
	info_explain_free(&ex);
	return 0;
}

static int ask_for_msg(void **state)
{
	strcpy(ex.ep_type, "FI_EP_MSG");
	return 0;
}

/* A line as a provider writes it, with the logger's prefix. */
static int say_hint(const char *prov, const char *domain, const char *addr, const char *hint,
		    const char *wanted)
{
	struct explain_line row = { .ep_type = "FI_EP_DGRAM", .offered = "FI_EP_DGRAM" };
	char line[EXPLAIN_LINE_MAX + 32];
	int at = snprintf(line, sizeof(line), "libfabric:1:2::udp:core: ");

	snprintf(row.provider, sizeof(row.provider), "%s", prov);
	snprintf(row.domain, sizeof(row.domain), "%s", domain);
	snprintf(row.addr, sizeof(row.addr), "%s", addr);
	snprintf(row.attr, sizeof(row.attr), "%s", hint);
	snprintf(row.wanted, sizeof(row.wanted), "%s", wanted);
	explain_format(&row, line + at, sizeof(line) - at);
	return info_explain_add(&ex, line);
}

static int say(const char *prov, const char *domain, const char *addr, const char *wanted)
{
	return say_hint(prov, domain, addr, "ep_attr->type", wanted);
}

static char *printed(void)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	info_explain_print(&ex, out);
	fclose(out);
	return text;
}

static void test_collects_each_once(void **state)
{
	assert_int_equal(say("udp", "eth0", "192.0.2.2", "FI_EP_MSG"), 0);
	assert_int_equal(say("udp", "eth0", "192.0.2.2", "FI_EP_MSG"), 0);
	assert_int_equal(say("udp", "lo", "127.0.0.1", "FI_EP_MSG"), 0);
	assert_int_equal(ex.cnt, 2);
	assert_string_equal(ex.rows[1].domain, "lo");
	assert_string_equal(ex.rows[1].wanted, "FI_EP_MSG");
}

static void test_leaves_other_lines(void **state)
{
	assert_int_equal(info_explain_add(&ex, "opened a socket"), -FI_ENOENT);
	assert_int_equal(info_explain_add(&ex, "explain: provider=udp"), -FI_EINVAL);
	assert_int_equal(ex.cnt, 0);
}

/* ofi_rxm queries FI_EP_MSG, ofi_rxd FI_EP_DGRAM, whatever the user asked for. */
static void test_leaves_types_of_layers(void **state)
{
	assert_int_equal(say("udp", "lo", "127.0.0.1", "FI_EP_RDM"), 0);
	assert_int_equal(ex.cnt, 0);
	ex.ep_type[0] = '\0';
	assert_int_equal(say("udp", "lo", "127.0.0.1", "FI_EP_MSG"), 0);
	assert_int_equal(ex.cnt, 0);
}

/* Every provider refuses because of its name. */
static void test_unknown_name(void **state)
{
	char *text;

	say_hint("tcp", "-", "-", "fabric_attr->prov_name", "nosuch");
	say_hint("udp", "-", "-", "fabric_attr->prov_name", "nosuch");
	ex.unknown = strdup("nosuch");
	text = printed();
	assert_string_equal(text, "no such provider: nosuch (fi_info -l lists them)\n");
	free(text);
}

static void test_prints_by_provider(void **state)
{
	char *text;

	say("udp", "eth0", "192.0.2.2", "FI_EP_MSG");
	say_hint("tcp", "-", "-", "domain_attr->name", "a \"quoted\" one");
	say("udp", "lo", "127.0.0.1", "FI_EP_MSG");
	text = printed();
	assert_string_equal(text,
		"not offered: udp\n"
		"    eth0, 192.0.2.2, FI_EP_DGRAM:\n"
		"        hint:    ep_attr->type\n"
		"        wanted:  FI_EP_MSG\n"
		"        offered: FI_EP_DGRAM\n"
		"    lo, 127.0.0.1, FI_EP_DGRAM:\n"
		"        hint:    ep_attr->type\n"
		"        wanted:  FI_EP_MSG\n"
		"        offered: FI_EP_DGRAM\n"
		"not offered: tcp\n"
		"    FI_EP_DGRAM:\n"
		"        hint:    domain_attr->name\n"
		"        wanted:  a \"quoted\" one\n"
		"        offered: FI_EP_DGRAM\n");
	free(text);
}

static void test_dumps(void **state)
{
	struct json j;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	say_hint("tcp", "-", "-", "domain_attr->name", "a \"quoted\" one");
	json_start(&j, out);
	json_object(&j, NULL);
	info_explain_dump(&ex, &j);
	json_end(&j);
	fclose(out);
	assert_non_null(strstr(text, "\"domain\": null"));
	assert_non_null(strstr(text, "\"wanted\": \"a \\\"quoted\\\" one\""));
	assert_non_null(strstr(text, "\"filtered\": []"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_collects_each_once, ask_for_msg, release),
		cmocka_unit_test_setup_teardown(test_leaves_other_lines, ask_for_msg, release),
		cmocka_unit_test_setup_teardown(test_leaves_types_of_layers, ask_for_msg, release),
		cmocka_unit_test_setup_teardown(test_unknown_name, ask_for_msg, release),
		cmocka_unit_test_setup_teardown(test_prints_by_provider, ask_for_msg, release),
		cmocka_unit_test_setup_teardown(test_dumps, ask_for_msg, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
