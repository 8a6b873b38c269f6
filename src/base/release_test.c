/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fabric.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/test/verify.h"

#include "base/release.h"

static void test_text(void **state)
{
	char buf[RELEASE_TEXT_MAX];

	assert_string_equal(release_text((struct release) { 2, 6, 0, 0, 0x00b7a12c }, buf),
			    "2.6.0 (commit 00b7a12c)");
	assert_string_equal(release_text((struct release) { 255, 255, 255, 0, UINT32_MAX }, buf),
			    "255.255.255 (commit ffffffff)");
	assert_string_equal(release_text((struct release) { 2, 7, 1, 0, 0 }, buf), "2.7.1");
}

/* Both forms name the same sources. */
static void test_ours(void **state)
{
	char buf[RELEASE_TEXT_MAX], start[16];
	struct release ours = release_ours();

	snprintf(start, sizeof(start), "%u.%u.%u (commit ", FI_MAJOR_VERSION, FI_MINOR_VERSION,
		 FI_REVISION_VERSION);
	assert_int_equal(strncmp(release_long(), start, strlen(start)), 0);
	if (!ours.commit)
		return;		/* neither git nor a tarball of make dist */
	release_text(ours, buf);
	buf[strlen(buf) - 1] = '\0';
	assert_int_equal(strncmp(release_long(), buf, strlen(buf)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
