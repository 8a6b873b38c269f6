/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <pthread.h>
#include <stddef.h>

#include "core/answer.h"
#include "core/import.h"
#include "core/init.h"
#include "core/log.h"
#include "core/monitor.h"
#include "core/openfabric.h"
#include "core/param.h"
#include "core/reason.h"
#include "core/registry.h"

/* Lock order: the order in which these locks may be taken together, outermost first. */
static pthread_mutex_t *const locks[] = {
	&core_openfabric_lock,
	&core_import_lock,
	&core_param_lock,
};

#define LOCKS (sizeof(locks) / sizeof(locks[0]))

static void fork_prepare(void)
{
	size_t i;

	core_registry_fork_prepare();
	for (i = 0; i < LOCKS; i++)
		pthread_mutex_lock(locks[i]);
}

static void unlock_all(void)
{
	size_t i;

	for (i = LOCKS; i; i--)
		pthread_mutex_unlock(locks[i - 1]);
}

static void fork_parent(void)
{
	unlock_all();
	core_registry_fork_parent();
}

static void fork_child(void)
{
	unlock_all();
	core_registry_fork_child();
	core_log_fork_child();
	core_monitor_fork_child();
}

static void init_once(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	explain_set_taker(&core_reason_taker);
	core_param_define_own();
	core_addrformat_init();
}

void core_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
}
