/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIXED (F_SEAL_SHRINK | F_SEAL_GROW)

int os_memory_make(size_t size)
{
	int fd = memfd_create("ofi-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t) size) && !fcntl(fd, F_ADD_SEALS, FIXED | F_SEAL_SEAL))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

bool os_memory_is_fixed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & FIXED) == FIXED && !(seals & F_SEAL_WRITE);
}

void os_memory_keep(void *mem, size_t size)
{
	madvise(mem, size, MADV_DONTFORK);
}

int os_memory_node(void)
{
	unsigned node;

	/* the system call: the C library's getcpu() is not in every one */
	return syscall(SYS_getcpu, NULL, &node, NULL) ? -1 : (int) node;
}

void os_memory_place(void *mem, size_t size)
{
	unsigned long nodes[1024 / (CHAR_BIT * sizeof(unsigned long))] = { 0 };
	const int bits = CHAR_BIT * sizeof(*nodes), node = os_memory_node();

	if (node < 0 || node >= (int) (CHAR_BIT * sizeof(nodes)))
		return;
	nodes[node / bits] = 1ul << node % bits;
	/* the kernel uses one bit less than the size that it is given */
	syscall(SYS_mbind, mem, size, MPOL_PREFERRED, nodes, CHAR_BIT * sizeof(nodes), 0);
}
