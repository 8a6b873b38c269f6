/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/barrier.h"

#include <errno.h>

bool os_barrier_able(void)
{
	return false;
}

int os_barrier_enroll(void)
{
	return -ENOSYS;
}

int os_barrier_threads(void)
{
	return -ENOSYS;
}

bool os_barrier_join(void)
{
	return false;
}

int os_barrier_joined(void)
{
	return -ENOSYS;
}
