/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* value.h - for tests: a number as text, an error with its name.  Needs no library. */
#ifndef BASE_TEST_VALUE_H
#define BASE_TEST_VALUE_H

#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static inline const char *verify_error_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
#define VERIFY_NAME(err) { err, #err }
		VERIFY_NAME(FI_EPERM), VERIFY_NAME(FI_ENOENT), VERIFY_NAME(FI_EINTR),
		VERIFY_NAME(FI_EIO), VERIFY_NAME(FI_E2BIG), VERIFY_NAME(FI_EBADF),
		VERIFY_NAME(FI_EAGAIN), VERIFY_NAME(FI_ENOMEM), VERIFY_NAME(FI_EACCES),
		VERIFY_NAME(FI_EFAULT), VERIFY_NAME(FI_EBUSY), VERIFY_NAME(FI_ENODEV),
		VERIFY_NAME(FI_EINVAL), VERIFY_NAME(FI_EMFILE), VERIFY_NAME(FI_ENOSPC),
		VERIFY_NAME(FI_ENOSYS), VERIFY_NAME(FI_ENOMSG), VERIFY_NAME(FI_ENODATA),
		VERIFY_NAME(FI_EOVERFLOW), VERIFY_NAME(FI_EMSGSIZE), VERIFY_NAME(FI_ENOPROTOOPT),
		VERIFY_NAME(FI_EOPNOTSUPP), VERIFY_NAME(FI_EADDRINUSE),
		VERIFY_NAME(FI_EADDRNOTAVAIL), VERIFY_NAME(FI_ENETDOWN),
		VERIFY_NAME(FI_ENETUNREACH), VERIFY_NAME(FI_ECONNABORTED),
		VERIFY_NAME(FI_ECONNRESET), VERIFY_NAME(FI_ENOBUFS), VERIFY_NAME(FI_EISCONN),
		VERIFY_NAME(FI_ENOTCONN), VERIFY_NAME(FI_ESHUTDOWN), VERIFY_NAME(FI_ETIMEDOUT),
		VERIFY_NAME(FI_ECONNREFUSED), VERIFY_NAME(FI_EHOSTDOWN),
		VERIFY_NAME(FI_EHOSTUNREACH), VERIFY_NAME(FI_EALREADY),
		VERIFY_NAME(FI_EINPROGRESS), VERIFY_NAME(FI_EREMOTEIO), VERIFY_NAME(FI_ECANCELED),
		VERIFY_NAME(FI_EKEYREJECTED), VERIFY_NAME(FI_EOTHER), VERIFY_NAME(FI_ETOOSMALL),
		VERIFY_NAME(FI_EOPBADSTATE), VERIFY_NAME(FI_EAVAIL), VERIFY_NAME(FI_EBADFLAGS),
		VERIFY_NAME(FI_ENOEQ), VERIFY_NAME(FI_EDOMAIN), VERIFY_NAME(FI_ENOCQ),
		VERIFY_NAME(FI_ECRC), VERIFY_NAME(FI_ETRUNC), VERIFY_NAME(FI_ENOKEY),
		VERIFY_NAME(FI_ENOAV), VERIFY_NAME(FI_EOVERRUN), VERIFY_NAME(FI_ENORX),
		VERIFY_NAME(FI_ENOMR), VERIFY_NAME(FI_EFIREWALLADDR),
#undef VERIFY_NAME
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].err == err)
			return names[i].name;
	return NULL;
}

/* verify_value_text - a number; an error has its name.
 * @positive: a positive number may be an error, too; else -1 is none, but the address or key that
 *            is not available
 */
static inline const char *verify_value_text(uintmax_t value, bool positive, char *buf, size_t size)
{
	intmax_t number = (intmax_t) value;
	const char *name = number < (positive ? 0 : -1) && number > -FI_ERRNO_MAX ?
			   verify_error_name((int) -number) :
			   positive && number > 0 && number < FI_ERRNO_MAX ?
			   verify_error_name((int) number) : NULL;

	if (name)
		snprintf(buf, size, "%jd (%s%s)", number, number < 0 ? "-" : "", name);
	else if (number < 0)
		snprintf(buf, size, "%jd (0x%jx)", number, value);
	else
		snprintf(buf, size, "%ju", value);
	return buf;
}

#endif
