/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "seg.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int map(int fd, struct shm_seg **seg_p)
{
	void *seg = mmap(NULL, sizeof(struct shm_seg), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (seg == MAP_FAILED)
		return -errno;
	/* a child process must neither keep it alive nor write to it */
	madvise(seg, sizeof(struct shm_seg), MADV_DONTFORK);
	*seg_p = seg;
	return 0;
}

/* place - prefer pages on the receiver's NUMA node.  By default the first access decides,
 * which is the sender's, though the receiver reads far more often.  Errors are ignored.
 */
static void place(struct shm_seg *seg)
{
	unsigned long nodes[1024 / (CHAR_BIT * sizeof(unsigned long))] = { 0 };
	const unsigned bits = CHAR_BIT * sizeof(*nodes);
	unsigned node;

	/* the system call: the C library's getcpu() is not in every one */
	if (syscall(SYS_getcpu, NULL, &node, NULL) || node >= CHAR_BIT * sizeof(nodes))
		return;
	nodes[node / bits] = 1ul << node % bits;
	/* the kernel uses one bit less than the size that it is given */
	syscall(SYS_mbind, seg, sizeof(*seg), MPOL_PREFERRED, nodes, CHAR_BIT * sizeof(nodes), 0);
}

int shm_seg_make(struct shm_seg **seg_p, int *fd_p)
{
	int fd = memfd_create("ofi-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct shm_seg)) || fcntl(fd, F_ADD_SEALS, SEALS))
		ret = -errno;
	else
		ret = map(fd, seg_p);
	if (ret) {
		close(fd);
		return ret;
	}
	place(*seg_p);
	*fd_p = fd;
	return 0;
}

int shm_seg_map(int fd, struct shm_seg **seg_p)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW) ||
	    (seals & F_SEAL_WRITE))
		return -FI_EINVAL;
	if (fstat(fd, &st) || st.st_size != sizeof(struct shm_seg))
		return -FI_EINVAL;
	return map(fd, seg_p);
}

void shm_seg_unmap(struct shm_seg *seg)
{
	if (seg)
		munmap(seg, sizeof(*seg));
}
