/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/secret.h"

#include <string.h>
#include <sys/mman.h>

void *sec_secret_new(size_t size)
{
	void *secret = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (secret == MAP_FAILED)
		return NULL;
	madvise(secret, size, MADV_DONTDUMP);
	return secret;
}

void sec_secret_free(void *secret, size_t size)
{
	if (!secret)
		return;
	explicit_bzero(secret, size);
	munmap(secret, size);
}
