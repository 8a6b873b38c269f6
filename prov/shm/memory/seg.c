/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "shm/seg.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/memory.h"

static int map_memory(int fd, size_t size, void **mem_p)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		return -errno;
	/* a child process must neither keep it alive nor write to it */
	os_memory_keep(mem, size);
	*mem_p = mem;
	return 0;
}

int shm_mem_make(size_t size, void **mem_p, int *fd_p)
{
	int fd, ret;

	if (!os_memory_admits(size))
		return -FI_ENOSPC;
	fd = os_memory_make(size);
	if (fd < 0)
		return fd;
	ret = map_memory(fd, size, mem_p);
	if (ret) {
		close(fd);
		return ret;
	}
	/* By default the first access decides, which is the sender's, though the receiver, this process,
	 * reads far more often.
	 */
	os_memory_place(*mem_p, size);
	*fd_p = fd;
	return 0;
}

int shm_mem_map(int fd, size_t size, void **mem_p)
{
	struct stat st;

	if (!os_memory_is_fixed(fd))
		return -FI_EINVAL;
	if (fstat(fd, &st) || st.st_size != (off_t) size)
		return -FI_EINVAL;
	return map_memory(fd, size, mem_p);
}

void shm_mem_unmap(void *mem, size_t size)
{
	if (mem)
		munmap(mem, size);
}
