/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/barrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call_membarrier(int cmd)
{
	int ret = (int) syscall(SYS_membarrier, cmd, 0, 0);

	return ret < 0 ? -errno : ret;
}

static bool has_command(int cmd)
{
	int cmds = call_membarrier(MEMBARRIER_CMD_QUERY);

	return cmds > 0 && cmds & cmd;
}

bool os_barrier_able(void)
{
	return has_command(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

int os_barrier_enroll(void)
{
	return call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

int os_barrier_threads(void)
{
	return call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool os_barrier_join(void)
{
	return has_command(MEMBARRIER_CMD_GLOBAL_EXPEDITED) &&
	       !call_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

int os_barrier_joined(void)
{
	return call_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
