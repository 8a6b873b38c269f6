/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The commit is in a header that make writes (release.sh): of a git tree that it builds in, and of
 * a tarball from the file that `make dist` has put there.
 */
#include "base/release.h"

#include <rdma/fabric.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/commit.h"

/* "unknown" has no digits, so it is 0. */
struct release release_ours(void)
{
	char digits[9];

	snprintf(digits, sizeof(digits), "%.8s", RELEASE_COMMIT);
	return (struct release) {
		.major = FI_MAJOR_VERSION,
		.minor = FI_MINOR_VERSION,
		.micro = FI_REVISION_VERSION,
		.commit = (uint32_t) strtoul(digits, NULL, 16),
	};
}

char *release_text(struct release release, char *buf)
{
	int n = snprintf(buf, RELEASE_TEXT_MAX, "%u.%u.%u", release.major, release.minor,
			 release.micro);

	if (release.commit)
		snprintf(buf + n, RELEASE_TEXT_MAX - (size_t) n, " (commit %08x)", release.commit);
	return buf;
}

#define DIGITS(number) #number
#define TEXT(number) DIGITS(number)

const char *release_long(void)
{
	return TEXT(FI_MAJOR_VERSION) "." TEXT(FI_MINOR_VERSION) "." TEXT(FI_REVISION_VERSION)
	       " (commit " RELEASE_COMMIT ")";
}
