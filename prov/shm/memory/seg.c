/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "shm/seg.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_limit.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int map_memory(int fd, size_t size, void **mem_p)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		return -errno;
	/* a child process must neither keep it alive nor write to it */
	madvise(mem, size, MADV_DONTFORK);
	*mem_p = mem;
	return 0;
}

/* place_memory - prefer pages on the receiver's NUMA node.  By default the first access decides,
 * which is the sender's, though the receiver reads far more often.  Errors are ignored.
 */
static void place_memory(void *mem, size_t size)
{
	unsigned long nodes[1024 / (CHAR_BIT * sizeof(unsigned long))] = { 0 };
	const unsigned bits = CHAR_BIT * sizeof(*nodes);
	unsigned node;

	/* the system call: the C library's getcpu() is not in every one */
	if (syscall(SYS_getcpu, NULL, &node, NULL) || node >= CHAR_BIT * sizeof(nodes))
		return;
	nodes[node / bits] = 1ul << node % bits;
	/* the kernel uses one bit less than the size that it is given */
	syscall(SYS_mbind, mem, size, MPOL_PREFERRED, nodes, CHAR_BIT * sizeof(nodes), 0);
}

int shm_mem_make(size_t size, void **mem_p, int *fd_p)
{
	int fd, ret;

	if (!file_limit_admits(size))
		return -FI_ENOSPC;
	fd = memfd_create("ofi-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t) size) || fcntl(fd, F_ADD_SEALS, SEALS))
		ret = -errno;
	else
		ret = map_memory(fd, size, mem_p);
	if (ret) {
		close(fd);
		return ret;
	}
	place_memory(*mem_p, size);
	*fd_p = fd;
	return 0;
}

int shm_mem_map(int fd, size_t size, void **mem_p)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW) ||
	    (seals & F_SEAL_WRITE))
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
