/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What an assertion prints when it fails.  Each fails in a group of its own, in a child. */
#include <stdlib.h>
#include <sys/wait.h>

#include "base/test/verify.h"

static char said[1 << 14];

static int failing_call(void)
{
	return -FI_EAGAIN;
}

/* Not inlined, as a helper of a real test is not: its callers are what is looked for. */
__attribute__((noinline)) static void helper(int want)
{
	assert_int_equal(failing_call(), want);
}

/* run - @test fails in a child; what it prints is in said[]. */
static void run(CMUnitTestFunction test)
{
	const struct CMUnitTest one[] = { { "one", test, NULL, NULL, NULL } };
	size_t len = 0;
	int fd[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fd[1], STDERR_FILENO);
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		_exit(_cmocka_run_group_tests("one", one, 1, NULL, NULL));
	}
	close(fd[1]);
	while ((got = read(fd[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t) got;
	said[len] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
}

static void wants(const char *text)
{
	if (!strstr(said, text))
		fail_msg("wanted \"%s\" in:\n%s", text, said);
}

static void bad_return(void **state)
{
	assert_int_equal(failing_call(), 0);
}

static void test_error_name(void **state)
{
	run(bad_return);
	wants("verify_test.c:");
	wants(": failing_call() is -11 (-FI_EAGAIN), expected 0\n");
}

static void bad_error(void **state)
{
	int err = FI_ETRUNC;

	assert_int_equal(err, FI_ECANCELED);
}

/* In an error entry errors are positive. */
static void test_positive(void **state)
{
	char text[96];

	run(bad_error);
	snprintf(text, sizeof(text), ": err is %d (FI_ETRUNC), expected %d (FI_ECANCELED)\n", FI_ETRUNC,
		 FI_ECANCELED);
	wants(text);
}

static void bad_count(void **state)
{
	uint64_t big = UINT64_MAX;
	unsigned cnt = 11;

	if (verify_seed)
		assert_int_equal(big, 3);
	assert_int_equal(cnt, 3);
}

/* A number is not an error; and the seed is there when it is set. */
static void test_numbers(void **state)
{
	run(bad_count);
	wants(": cnt is 11, expected 3\n");
	verify_seed = 4711;
	run(bad_count);
	verify_seed = 0;
	wants(": big is -1 (0xffffffffffffffff), expected 3; seed 4711\n");
}

enum { LINE_OF_CALL = __LINE__ + 4 };

static void bad_helper(void **state)
{
	helper(0);
	assert_true(state);	/* else the call above is a jump, which leaves no trace */
}

/* The line of the assertion, and that of its caller. */
static void test_caller(void **state)
{
	char text[96];

	run(bad_helper);
	wants(": failing_call() is -11 (-FI_EAGAIN), expected 0\n");
	if (system("addr2line --version > /dev/null 2>&1"))
		return;
	snprintf(text, sizeof(text), "called by bad_helper at ");
	wants(text);
	snprintf(text, sizeof(text), "verify_test.c:%d\n", LINE_OF_CALL);
	wants(text);
}

static void bad_texts(void **state)
{
	const char *a = "tcp";

	assert_string_equal(a, "udp");
}

static void bad_condition(void **state)
{
	int cnt = 2;

	assert_true(cnt > 2);
}

static void bad_pointer(void **state)
{
	const char *nothing = NULL;

	assert_non_null(nothing);
}

static void test_others(void **state)
{
	run(bad_texts);
	wants(": a is \"tcp\", expected \"udp\"\n");
	run(bad_condition);
	wants(": cnt > 2 is false, expected true\n");
	run(bad_pointer);
	wants(": nothing is (nil), expected anything but (nil)\n");
}

/* What holds prints nothing. */
static void test_silent(void **state)
{
	assert_int_equal(failing_call(), -FI_EAGAIN);
	assert_int_not_equal(failing_call(), 0);
	assert_true(1);
	assert_false(0);
	assert_null(NULL);
	assert_ptr_equal(said, said);
	assert_string_equal("a", "a");
	assert_string_not_equal("a", "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_name),
		cmocka_unit_test(test_positive),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_caller),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
