/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* split.h - what the tests of split copies have in common. */
#ifndef SHM_TEST_SPLIT_H
#define SHM_TEST_SPLIT_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "shm/test/fake.h"
#include "shm/cma.h"

#define LONG (1u << 20)
#define PLACE 3

static struct shm_conn *conn_of(struct eng_peer *peer)
{
	return ((struct chan *) peer->chan)->conn;
}

/* may_write - as the link finds out: may one process write another's memory? */
static bool may_write(void)
{
	uint64_t probe = 1;

	return shm_cma_probe(getpid(), true, (uintptr_t) &probe, probe);
}

/* let - what the target knows of lease PLACE of LONG bytes from @at on. */
static void let(struct shm_conn *target, uint8_t *at, uint32_t rights)
{
	struct shm_lease_slot *slot;

	if (!target->tenant->leases)
		target->tenant->leases = calloc(SHM_LEASES, sizeof(*slot));
	slot = &target->tenant->leases[PLACE];
	slot->addr = (uintptr_t) at;
	slot->len = LONG;
	slot->rights = rights;
	slot->live = rights != 0;
}

#endif
