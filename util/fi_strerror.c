/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fi_strerror - print the meaning of an error number. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

static int usage(FILE *out)
{
	fprintf(out,
		"Usage: fi_strerror FI_ERROR_CODE\n\n"
		"Prints the text of an error number as the fi_* calls return it.\n"
		"The number may be decimal, octal (011) or hexadecimal (0xb); its sign does\n"
		"not matter, so that a return value can be pasted as it is.\n");
	return out == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* parse - parse an error number; the sign is dropped.
 * Returns 0, or -FI_EINVAL when @text is not a number or does not fit an int.
 */
static int parse(const char *text, int *err_p)
{
	char *end;
	long val;

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
		return usage(stdout);
	if (argc != 2)
		return usage(stderr);
	if (parse(argv[1], &err)) {
		fprintf(stderr, "ERROR: unable to parse '%s': expected an error number, "
			"such as 11, -11 or 0xb\n\n", argv[1]);
		return usage(stderr);
	}
	puts(fi_strerror(err));
	return EXIT_SUCCESS;
}
