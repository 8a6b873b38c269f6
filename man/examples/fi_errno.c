/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

/* [page */
/* Returns 1 when the call is to be repeated. */
static int failed(const char *call, ssize_t ret)
{
	if (ret >= 0)
		return 0;
	if (ret == -FI_EAGAIN || ret == -FI_EINTR)
		return 1;
	fprintf(stderr, "%s: %s (%zd)\n", call, fi_strerror((int) ret), ret);
	return 0;
}
/* page] */

int main(void)
{
	if (failed("fi_send", 0) || !failed("fi_send", -FI_EAGAIN) ||
	    failed("fi_send", -FI_EMSGSIZE))
		return 1;
	return strcmp(fi_strerror(-FI_ETRUNC), fi_strerror(FI_ETRUNC)) != 0;
}
