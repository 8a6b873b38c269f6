/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * forbid - run a program that may not access the memory of another process.
 *
 *   forbid PROGRAM [ARGUMENT]...
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../tcp/node.h"

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	node_forbid(SYS_process_vm_readv, EPERM);
	node_forbid(SYS_process_vm_writev, EPERM);
	execvp(argv[1], argv + 1);
	CHECK(0, "%s: %s", argv[1], strerror(errno));
}
