/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/host.h"

#include <pthread.h>

#include "base/os/process.h"

#define MARK_MIN 65536	/* below lie the interface numbers that earlier releases send in its place */

static uint32_t mark;

/* FNV-1a. */
uint32_t chan_host_mark_of(const char *boot_id)
{
	uint32_t hash = 2166136261u;

	if (!*boot_id)
		return 0;
	for (; *boot_id; boot_id++)
		hash = (hash ^ (uint8_t) *boot_id) * 16777619u;
	return hash < MARK_MIN ? hash + MARK_MIN : hash;
}

static void read_mark(void)
{
	char id[64];

	if (os_boot_id(id, sizeof(id)))
		mark = chan_host_mark_of(id);
}

uint32_t chan_host_mark(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_mark);
	return mark;
}
