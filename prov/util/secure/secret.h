/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* secret.h - memory for keys: it is in no core file, and nothing of them stays when it is freed. */
#ifndef SEC_SECRET_H
#define SEC_SECRET_H

#include <stddef.h>

/* sec_secret_new - @size zero bytes, in pages of their own; NULL without memory. */
void *sec_secret_new(size_t size);

/* sec_secret_free - @size: as it was made.  @secret may be NULL. */
void sec_secret_free(void *secret, size_t size);

#endif
