/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Ids with generations of two bits, for a test program that is linked with --wrap=ids_put: a slot
 * has its first id again after three requests, while others are open.  A run in which that did not
 * happen fails.
 */
#define GEN_MAX 3u
#include "engine/conn/ids.c"

#include <stdio.h>
#include <unistd.h>

static unsigned long wraps;	/* while another request had an id */

void __real_ids_put(struct ids *ids, uint32_t id);
void __wrap_ids_put(struct ids *ids, uint32_t id);

void __wrap_ids_put(struct ids *ids, uint32_t id)
{
	if (id >> IDS_SLOT_BITS == GEN_MAX && ids->used > 1)
		wraps++;
	__real_ids_put(ids, id);
}

static void __attribute__((destructor)) check_wraps(void)
{
	fprintf(stderr, "# generations began again %lu times beside open requests\n", wraps);
	if (!wraps)
		_exit(1);
}
