/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/conf.h"

#include <pthread.h>
#include <rdma/providers/fi_prov.h>
#include <unistd.h>

#include "base/clock.h"

#define SPIN_US 50		/* FI_SPIN_US, if it is not set */
#define SPIN_US_MAX 1000000

static uint64_t limit_ns, wait_ns;

static void read_conf(void)
{
	size_t us = SPIN_US;

	fi_param_get_size_t(NULL, "spin_us", &us);
	limit_ns = (uint64_t) (us < SPIN_US_MAX ? us : SPIN_US_MAX) * CLOCK_NS_PER_US;
	wait_ns = sysconf(_SC_NPROCESSORS_ONLN) == 1 ? 0 : limit_ns;
}

static void read_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_conf);
}

uint64_t obj_spin_limit_ns(void)
{
	read_once();
	return limit_ns;
}

uint64_t obj_spin_wait_ns(void)
{
	read_once();
	return wait_ns;
}
