/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <limits.h>

#include <rdma/fi_errno.h>

#include "core/test/child_test.h"

static const int codes[] = {
	FI_EPERM, FI_ENOENT, FI_EINTR, FI_EIO, FI_E2BIG, FI_EBADF, FI_EAGAIN,
	FI_ENOMEM, FI_EACCES, FI_EFAULT, FI_EBUSY, FI_ENODEV, FI_EINVAL, FI_EMFILE,
	FI_ENOSPC, FI_ENOSYS, FI_ENOMSG, FI_ENODATA, FI_EPROTO, FI_EOVERFLOW,
	FI_EMSGSIZE, FI_ENOPROTOOPT, FI_EOPNOTSUPP, FI_EADDRINUSE,
	FI_EADDRNOTAVAIL, FI_ENETDOWN, FI_ENETUNREACH, FI_ECONNABORTED,
	FI_ECONNRESET, FI_ENOBUFS, FI_EISCONN, FI_ENOTCONN, FI_ESHUTDOWN,
	FI_ETIMEDOUT, FI_ECONNREFUSED, FI_EHOSTDOWN, FI_EHOSTUNREACH, FI_EALREADY,
	FI_EINPROGRESS, FI_EREMOTEIO, FI_ECANCELED, FI_EKEYREJECTED,
};

#define COUNT (sizeof(codes) / sizeof(codes[0]))

/* Every code has a distinct text, for either sign. */
static void one_code(int code, const char **seen, size_t *cnt)
{
	const char *text = fi_strerror(code);
	size_t i;

	assert_non_null(text);
	assert_string_not_equal(text, "Unknown error");
	assert_ptr_equal(fi_strerror(-code), text);
	for (i = 0; i < *cnt; i++)
		assert_string_not_equal(text, seen[i]);
	seen[(*cnt)++] = text;
}

static void test_known(void **state)
{
	const char *seen[COUNT + FI_ERRNO_MAX - FI_ERRNO_OFFSET];
	size_t i, cnt = 0;
	int code;

	for (i = 0; i < COUNT; i++)
		one_code(codes[i], seen, &cnt);
	for (code = FI_ERRNO_OFFSET; code < FI_ERRNO_MAX; code++)
		one_code(code, seen, &cnt);
	assert_string_equal(fi_strerror(0), "Success");
}

static void test_unknown(void **state)
{
	assert_string_equal(fi_strerror(FI_ERRNO_MAX), "Unknown error");
	assert_string_equal(fi_strerror(255), "Unknown error");
	assert_string_equal(fi_strerror(INT_MAX), "Unknown error");
	assert_string_equal(fi_strerror(INT_MIN), "Unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
