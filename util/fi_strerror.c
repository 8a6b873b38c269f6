/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_strerror - print the meaning of an error number. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_errno.h>

static int print_usage(FILE *out)
{
	fprintf(out,
		"Usage: fi_strerror FI_ERROR_CODE\n\n"
		"Prints the text of an error number as the fi_* calls return it.\n"
		"The number may be decimal, octal (011) or hexadecimal (0xb), or a name such as\n"
		"FI_EAGAIN; its sign does not matter, so that a return value can be pasted as it is.\n");
	return out == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The names of fi_errno(3). */
#define E(name) { #name, FI_##name }
static const struct {
	const char *name;
	int err;
} names[] = {
	E(EAGAIN), E(EPERM), E(ENOENT), E(EINTR), E(EIO), E(E2BIG), E(EBADF), E(EWOULDBLOCK),
	E(ENOMEM), E(EACCES), E(EFAULT), E(EBUSY), E(ENODEV), E(EINVAL), E(EMFILE), E(ENOSPC),
	E(ENOSYS), E(ENOMSG), E(ENODATA), E(EPROTO), E(EOVERFLOW), E(EMSGSIZE), E(ENOPROTOOPT),
	E(EOPNOTSUPP), E(EADDRINUSE), E(EADDRNOTAVAIL), E(ENETDOWN), E(ENETUNREACH),
	E(ECONNABORTED), E(ECONNRESET), E(ENOBUFS), E(EISCONN), E(ENOTCONN), E(ESHUTDOWN),
	E(ETIMEDOUT), E(ECONNREFUSED), E(EHOSTDOWN), E(EHOSTUNREACH), E(EALREADY),
	E(EINPROGRESS), E(EREMOTEIO), E(ECANCELED), E(EKEYREJECTED), E(EOTHER), E(ETOOSMALL),
	E(EOPBADSTATE), E(EAVAIL), E(EBADFLAGS), E(ENOEQ), E(EDOMAIN), E(ENOCQ), E(ECRC),
	E(ETRUNC), E(ENOKEY), E(ENOAV), E(EOVERRUN), E(ENORX), E(ENOMR), E(EFIREWALLADDR),
};

/* by_name - the number of FI_EAGAIN, EAGAIN or -FI_EAGAIN, in either case; 0: no such name. */
static int by_name(const char *text)
{
	size_t i;

	text += *text == '-';
	if (!strncasecmp(text, "FI_", 3))
		text += 3;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(names[i].name, text))
			return names[i].err;
	return 0;
}

/* parse_code - parse an error number or its name; the sign is dropped.
 * Returns 0, or -FI_EINVAL when @text is neither, or does not fit an int.
 */
static int parse_code(const char *text, int *err_p)
{
	char *end;
	long val;

	*err_p = by_name(text);
	if (*err_p)
		return 0;
	errno = 0;
	val = strtol(text, &end, 0);
	if (end == text || *end || errno || val > 0x7fffffffL || val < -0x7fffffffL)
		return -FI_EINVAL;
	*err_p = (int) (val < 0 ? -val : val);
	return 0;
}

int main(int argc, char **argv)
{
	int err;

	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return print_usage(stdout);
	if (argc != 2)
		return print_usage(stderr);
	if (parse_code(argv[1], &err)) {
		fprintf(stderr, "ERROR: unable to parse '%s': expected an error number, "
			"such as 11, -11 or 0xb, or its name, such as FI_EAGAIN\n\n", argv[1]);
		return print_usage(stderr);
	}
	puts(fi_strerror(err));
	return EXIT_SUCCESS;
}
