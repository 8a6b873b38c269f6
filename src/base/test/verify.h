/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * verify.h - the assertions of all unit suites: cmocka's, with what a reader of a log needs.
 *
 * An assertion that fails prints the expression and its value, errors by name, what was
 * expected, the seed of the run where there is one, and, for an assertion in a function of the
 * test, the lines that called that function:
 *
 *	x_test.c:40: fi_send(ep, ...) is -11 (-FI_EAGAIN), expected 0; seed 7
 *	    called by send_one at x_test.c:52
 *
 * Tests include this in place of <cmocka.h>.
 */
#ifndef BASE_TEST_VERIFY_H
#define BASE_TEST_VERIFY_H

#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/test/value.h"

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define VERIFY_FRAMES 24
#endif
#endif

/* A test with random choices sets it; weak, so that all sources of a program share one. */
__attribute__((weak)) uint64_t verify_seed;

#ifdef VERIFY_FRAMES
extern const char __executable_start[];

/* verify_print_callers - the lines of this program that led to the call of the caller, which is in
 * @file, as far as the tool addr2line knows them.
 */
static inline void verify_print_callers(const char *file, int line)
{
	const ElfW(Ehdr) *head = (const void *) __executable_start;
	uintptr_t base = head->e_type == ET_DYN ? (uintptr_t) __executable_start : 0;
	char command[VERIFY_FRAMES * 20 + 128], text[512], here[300];
	void *frames[VERIFY_FRAMES];
	int cnt = backtrace(frames, VERIFY_FRAMES), i, at;
	FILE *out;

	at = snprintf(command, sizeof(command), "exec 2>/dev/null addr2line -ifpe /proc/%d/exe",
		      (int) getpid());
	for (i = 0; i < cnt; i++)
		at += snprintf(command + at, sizeof(command) - (size_t) at, " %" PRIxPTR,
			       (uintptr_t) frames[i] - 1 - base);
	snprintf(here, sizeof(here), "%s:%d", strrchr(file, '/') ? strrchr(file, '/') : file, line);
	fflush(NULL);
	out = popen(command, "r");
	while (out && fgets(text, sizeof(text), out)) {
		const char *by = text + strspn(text, " ");

		text[strcspn(text, "\n")] = '\0';
		if (!strncmp(by, "(inlined by) ", 13))
			by += 13;
		/* not this header, not the assertion itself, and nothing without debug information */
		if (strncmp(by, "verify_", 7) && !strstr(by, "??") && !strstr(by, here) &&
		    strncmp(by, "main ", 5) && strncmp(by, "_start ", 7))
			print_error("    called by %s\n", by);
	}
	if (out)
		pclose(out);
}
#else
static inline void verify_print_callers(const char *file, int line)
{
}
#endif

/* verify_failed - the text is printed; what follows it is the same for all. */
static inline void verify_failed(const char *file, int line)
{
	if (verify_seed)
		print_error("; seed %" PRIu64, verify_seed);
	print_error("\n");
	verify_print_callers(file, line);
	_fail(file, line);
}

static inline void verify_equal(uintmax_t have, uintmax_t want, bool equal, const char *expr,
				const char *want_expr, const char *file, int line)
{
	bool errors = strstr(want_expr, "FI_E") != NULL;
	char a[64], b[64];

	if ((have == want) == equal)
		return;
	print_error("%s:%d: %s is %s, expected %s%s", file, line, expr,
		    verify_value_text(have, errors, a, sizeof(a)), equal ? "" : "anything but ",
		    verify_value_text(want, errors, b, sizeof(b)));
	verify_failed(file, line);
}

static inline void verify_condition(bool holds, bool want, const char *expr, const char *file,
				    int line)
{
	if (holds == want)
		return;
	print_error("%s:%d: %s is %s, expected %s", file, line, expr, holds ? "true" : "false",
		    want ? "true" : "false");
	verify_failed(file, line);
}

static inline void verify_pointer(const void *have, const void *want, bool equal, const char *expr,
				  const char *file, int line)
{
	if ((have == want) == equal)
		return;
	print_error("%s:%d: %s is %p, expected %s%p", file, line, expr, have,
		    equal ? "" : "anything but ", want);
	verify_failed(file, line);
}

static inline void verify_string(const char *have, const char *want, bool equal, const char *expr,
				 const char *file, int line)
{
	if (have && want && !strcmp(have, want) == equal)
		return;
	print_error("%s:%d: %s is \"%s\", expected %s\"%s\"", file, line, expr,
		    have ? have : "(null)", equal ? "" : "anything but ", want ? want : "(null)");
	verify_failed(file, line);
}

#undef assert_int_equal
#undef assert_int_not_equal
#undef assert_true
#undef assert_false
#undef assert_null
#undef assert_non_null
#undef assert_ptr_equal
#undef assert_ptr_not_equal
#undef assert_string_equal
#undef assert_string_not_equal

#define assert_int_equal(have, want) \
	verify_equal((uintmax_t) (have), (uintmax_t) (want), true, #have, #want, __FILE__, __LINE__)
#define assert_int_not_equal(have, want) \
	verify_equal((uintmax_t) (have), (uintmax_t) (want), false, #have, #want, __FILE__, __LINE__)
#define assert_true(cond) verify_condition(!!(cond), true, #cond, __FILE__, __LINE__)
#define assert_false(cond) verify_condition(!!(cond), false, #cond, __FILE__, __LINE__)
/* A pointer, or a number that stands for one. */
#define VERIFY_PTR(ptr) ((const void *) (uintptr_t) (ptr))

#define assert_null(ptr) verify_pointer(VERIFY_PTR(ptr), NULL, true, #ptr, __FILE__, __LINE__)
#define assert_non_null(ptr) verify_pointer(VERIFY_PTR(ptr), NULL, false, #ptr, __FILE__, __LINE__)
#define assert_ptr_equal(have, want) \
	verify_pointer(VERIFY_PTR(have), VERIFY_PTR(want), true, #have, __FILE__, __LINE__)
#define assert_ptr_not_equal(have, want) \
	verify_pointer(VERIFY_PTR(have), VERIFY_PTR(want), false, #have, __FILE__, __LINE__)
#define assert_string_equal(have, want) \
	verify_string(have, want, true, #have, __FILE__, __LINE__)
#define assert_string_not_equal(have, want) \
	verify_string(have, want, false, #have, __FILE__, __LINE__)

#endif
