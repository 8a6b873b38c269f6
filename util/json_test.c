/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include "base/test/verify.h"

struct doc {
	struct json j;
	FILE *out;
	char *text;
	size_t len;
};

static int doc_open(void **state)
{
	struct doc *d = calloc(1, sizeof(*d));

	d->out = open_memstream(&d->text, &d->len);
	json_start(&d->j, d->out);
	*state = d;
	return 0;
}

static int doc_close(void **state)
{
	struct doc *d = *state;

	fclose(d->out);
	free(d->text);
	free(d);
	return 0;
}

static const char *doc_text(struct doc *d)
{
	fflush(d->out);
	return d->text;
}

static void test_nesting(void **state)
{
	struct doc *d = *state;

	json_object(&d->j, NULL);
	json_u64(&d->j, "max", UINT64_MAX);
	json_array(&d->j, "list");
	json_i64(&d->j, NULL, -5);
	json_bool(&d->j, NULL, true);
	json_null(&d->j, NULL);
	json_end(&d->j);
	json_object(&d->j, "empty");
	json_end(&d->j);
	json_end(&d->j);
	assert_string_equal(doc_text(d),
		"{\n  \"max\": 18446744073709551615,\n  \"list\": [\n    -5,\n    true,\n"
		"    null\n  ],\n  \"empty\": {}\n}\n");
}

static void test_reals(void **state)
{
	struct doc *d = *state;

	json_array(&d->j, NULL);
	json_real(&d->j, NULL, 1.0 / 3, 3);
	json_real(&d->j, NULL, NAN, 3);
	json_real(&d->j, NULL, INFINITY, 3);
	json_end(&d->j);
	assert_string_equal(doc_text(d), "[\n  0.333,\n  null,\n  null\n]\n");
}

static void test_escapes(void **state)
{
	static const struct { const char *in, *out; } row[] = {
		{ "plain", "plain" },
		{ "say \"hi\" \\", "say \\\"hi\\\" \\\\" },
		{ "a\nb\tc\x7f", "a\\nb\\u0009c\\u007f" },
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xff", "\\ufffd" },				/* never a lead byte */
		{ "\xc3", "\\ufffd" },				/* cut short */
		{ "\xc0\xaf", "\\ufffd\\ufffd" },		/* overlong */
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },	/* surrogate */
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },	/* past U+10FFFF */
	};
	struct doc *d = *state;
	char want[128];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		rewind(d->out);
		json_start(&d->j, d->out);
		json_array(&d->j, NULL);
		json_str(&d->j, NULL, row[i].in);
		json_end(&d->j);
		putc(0, d->out);
		snprintf(want, sizeof(want), "[\n  \"%s\"\n]\n", row[i].out);
		assert_string_equal(doc_text(d), want);
	}
}

static void test_null_string(void **state)
{
	struct doc *d = *state;

	json_object(&d->j, NULL);
	json_str(&d->j, "name", NULL);
	json_end(&d->j);
	assert_string_equal(doc_text(d), "{\n  \"name\": null\n}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nesting, doc_open, doc_close),
		cmocka_unit_test_setup_teardown(test_reals, doc_open, doc_close),
		cmocka_unit_test_setup_teardown(test_escapes, doc_open, doc_close),
		cmocka_unit_test_setup_teardown(test_null_string, doc_open, doc_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
