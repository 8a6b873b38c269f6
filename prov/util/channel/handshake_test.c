/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Versions and reasons, whose numbers are on the wire. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <string.h>

#include "channel/handshake.h"
#include "engine/wire.h"

static void both_versions_have_to_agree(void **state)
{
	struct chan_version ours = chan_version_ours(5, 4), theirs = ours, used;

	assert_int_equal(ours.link, 5);
	assert_int_equal(ours.engine, WIRE_VERSION);
	assert_true(chan_version_agree(&ours, &theirs, NULL));
	/* a later one that still speaks ours, and an earlier one that we speak */
	theirs.link = 9;
	theirs.link_oldest = 5;
	assert_true(chan_version_agree(&ours, &theirs, &used));
	assert_int_equal(used.link, 5);
	theirs.link = theirs.link_oldest = 4;
	assert_true(chan_version_agree(&ours, &theirs, &used));
	assert_int_equal(used.link, 4);
	/* too late, too early */
	theirs.link = theirs.link_oldest = 6;
	assert_false(chan_version_agree(&ours, &theirs, NULL));
	theirs.link = theirs.link_oldest = 3;
	assert_false(chan_version_agree(&ours, &theirs, NULL));
	theirs = ours;
	theirs.engine = theirs.engine_oldest = ours.engine + 1;
	assert_false(chan_version_agree(&ours, &theirs, NULL));
	/* both sides come to one answer */
	theirs = ours;
	theirs.engine = ours.engine + 3;
	assert_true(chan_version_agree(&theirs, &ours, &used));
	assert_int_equal(used.engine, ours.engine);
}

static void a_refusal_names_both_releases(void **state)
{
	struct chan_version ours = chan_version_ours(5, 4), theirs = ours;
	char text[CHAN_VERSION_TEXT_MAX], name[RELEASE_TEXT_MAX];

	theirs.link = theirs.link_oldest = 77;
	theirs.release = (struct release) { 9, 8, 7, 0, 0x0123abcd };
	chan_version_text(&ours, &theirs, text);
	assert_non_null(strstr(text, "9.8.7 (commit 0123abcd), which speaks wire version 77."));
	assert_non_null(strstr(text, release_text(ours.release, name)));
	assert_non_null(strstr(text, "install"));
	memset(&theirs.release, 255, sizeof(theirs.release));
	assert_true(strlen(chan_version_text(&theirs, &theirs, text)) < sizeof(text) - 1);
	/* what was before the first version with a range says none */
	chan_version_first(&theirs, 78);
	assert_int_equal(theirs.link_oldest, 77);
	assert_non_null(strstr(chan_version_text(&ours, &theirs, text), "of another release"));
}

static void the_numbers_of_reasons_do_not_change(void **state)
{
	static const struct {
		enum chan_reason reason;
		unsigned number;
		int err;
	} known[] = {
		{ CHAN_OK, 0, FI_EPROTO },
		{ CHAN_REJECTED, 1, FI_ECONNREFUSED },
		{ CHAN_VERSION_BAD, 2, FI_EPROTO },
		{ CHAN_KIND_BAD, 3, FI_ECONNREFUSED },
		{ CHAN_SIMULTANEOUS, 4, FI_ECONNREFUSED },
		{ CHAN_BUSY, 5, FI_ECONNREFUSED },
		{ CHAN_MALFORMED, 6, FI_EPROTO },
		{ CHAN_ADDR_BAD, 7, FI_EADDRNOTAVAIL },
		{ CHAN_NOT_YET, 8, FI_ECONNREFUSED },
		{ CHAN_NO_USE, 9, FI_ECONNREFUSED },
		{ CHAN_NO_ENDPOINT, 10, FI_ECONNREFUSED },
		{ CHAN_HELD, 11, FI_ECONNREFUSED },
		{ CHAN_ENDED, 12, FI_ECONNRESET },
		{ CHAN_INSECURE, 13, FI_EACCES },
	};
	unsigned i, k;

	assert_int_equal(sizeof(known) / sizeof(known[0]), CHAN_REASONS);
	for (i = 0; i < CHAN_REASONS; i++) {
		assert_int_equal(known[i].reason, known[i].number);
		assert_int_equal(chan_reason_errno(known[i].number), known[i].err);
		assert_true(strlen(chan_reason_text(known[i].number)) > 10);
		for (k = 0; k < i; k++)
			assert_string_not_equal(chan_reason_text(i), chan_reason_text(k));
	}
}

static void a_reason_of_a_later_version_has_a_text_and_an_error(void **state)
{
	static const uint32_t unknown[] = { CHAN_REASONS, 255, UINT32_MAX };
	unsigned i, k;

	for (i = 0; i < 3; i++) {
		assert_int_equal(chan_reason_errno(unknown[i]), FI_ECONNREFUSED);
		for (k = 0; k < CHAN_REASONS; k++)
			assert_string_not_equal(chan_reason_text(unknown[i]), chan_reason_text(k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_versions_have_to_agree),
		cmocka_unit_test(a_refusal_names_both_releases),
		cmocka_unit_test(the_numbers_of_reasons_do_not_change),
		cmocka_unit_test(a_reason_of_a_later_version_has_a_text_and_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
