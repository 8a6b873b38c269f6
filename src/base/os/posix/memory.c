/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define ATTEMPTS 100		/* names that another process has just now */

int os_memory_make(size_t size)
{
	static _Atomic unsigned serial;
	int fd, err, left = ATTEMPTS;
	char name[48];

	do {
		snprintf(name, sizeof(name), "/ofi-%ld-%u", (long) getpid(), atomic_fetch_add(&serial, 1));
		fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
	} while (fd < 0 && errno == EEXIST && --left);
	if (fd < 0)
		return -errno;
	shm_unlink(name);
	if (!ftruncate(fd, (off_t) size))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

bool os_memory_is_fixed(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
}

void os_memory_keep(void *mem, size_t size)
{
#if defined(MADV_DONTFORK)
	madvise(mem, size, MADV_DONTFORK);
#elif defined(INHERIT_NONE)
	minherit(mem, size, INHERIT_NONE);
#else
	(void) mem;
	(void) size;
#endif
}

void os_memory_place(void *mem, size_t size)
{
	(void) mem;
	(void) size;
}

int os_memory_node(void)
{
	return -1;
}
