/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fake.h - the link under prov/util/channel/test/fake_engine.h; included after <cmocka.h>. */
#ifndef LOOP_FAKE_H
#define LOOP_FAKE_H

#include "loop/link.h"

#define FAKE_OPS loop_link_ops
#define FAKE_CHAN struct loop_chan
#define FAKE_NAME "loop"
#define FAKE_DATA_MAX 8

typedef struct { char name[LOOP_NAME_MAX]; } fake_addr;

static bool fake_addr_is(const fake_addr *a, const void *b)
{
	return !strcmp(a->name, b);
}

static void fake_addr_set(fake_addr *a, const void *b)
{
	strcpy(a->name, b);
}

#include "channel/test/fake_engine.h"

static void fake_start(void)
{
	list_init(&fake_prog.pollers);
	loop_conf.retry_ms = 200;
	loop_conf.timeout_ms = 2000;
}

#endif
