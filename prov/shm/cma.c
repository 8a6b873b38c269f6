/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "cma.h"

#include <errno.h>
#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "engine/link.h"

typedef ssize_t copy_fn(pid_t pid, const struct iovec *here, unsigned long here_cnt,
			const struct iovec *there, unsigned long there_cnt, unsigned long flags);

bool shm_cma_probe_read(pid_t pid, uint64_t addr, uint64_t probe)
{
	uint64_t seen = ~probe;
	struct iovec here = { &seen, sizeof(seen) };
	struct iovec there = { (void *) (uintptr_t) addr, sizeof(seen) };

	return pid > 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(seen) &&
	       seen == probe;
}

bool shm_cma_probe_write(pid_t pid, uint64_t addr, uint64_t probe)
{
	struct iovec here = { &probe, sizeof(probe) };
	struct iovec there = { (void *) (uintptr_t) addr, sizeof(probe) };

	return shm_cma_probe_read(pid, addr, probe) &&
	       process_vm_writev(pid, &here, 1, &there, 1, 0) == sizeof(probe);
}

/* copy - by @fn, in one call unless a signal or unmapped memory ends it early. */
static int copy(copy_fn *fn, pid_t pid, const struct iovec *mine, size_t mine_cnt,
		const struct iovec *theirs, size_t theirs_cnt, size_t len)
{
	struct iovec here[ENG_IOV_MAX], there[ENG_IOV_MAX];
	size_t done = 0, here_cnt, there_cnt;
	ssize_t ret;

	while (done < len) {
		here_cnt = iov_slice(mine, mine_cnt, done, len - done, here);
		there_cnt = iov_slice(theirs, theirs_cnt, done, len - done, there);
		ret = fn(pid, here, here_cnt, there, there_cnt, 0);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			return ret ? -errno : -FI_EFAULT;
		done += (size_t) ret;
	}
	return 0;
}

int shm_cma_read(pid_t pid, const struct iovec *to, size_t to_cnt,
		  const struct iovec *from, size_t from_cnt, size_t len)
{
	return copy(process_vm_readv, pid, to, to_cnt, from, from_cnt, len);
}

int shm_cma_write(pid_t pid, const struct iovec *from, size_t from_cnt,
		   const struct iovec *to, size_t to_cnt, size_t len)
{
	return copy(process_vm_writev, pid, from, from_cnt, to, to_cnt, len);
}
