/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "cma.h"

#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "base/os/process.h"
#include "engine/link.h"

bool shm_cma_probe(pid_t pid, bool write, uint64_t addr, uint64_t probe)
{
	uint64_t seen = write ? probe : ~probe;
	struct iovec here = { &seen, sizeof(seen) };
	struct iovec there = { (void *) (uintptr_t) addr, sizeof(seen) };

	return pid > 0 && !shm_cma_copy(pid, write, &here, 1, &there, 1, sizeof(seen)) &&
	       seen == probe;
}

int shm_cma_copy(pid_t pid, bool write, const struct iovec *mine, size_t mine_cnt,
		 const struct iovec *theirs, size_t theirs_cnt, size_t len)
{
	struct iovec here[ENG_IOV_MAX], there[ENG_IOV_MAX];
	size_t done = 0, here_cnt, there_cnt;
	ssize_t ret;

	/* one system call, unless a signal or unmapped memory ends it early */
	while (done < len) {
		here_cnt = iov_slice(mine, mine_cnt, done, len - done, here);
		there_cnt = iov_slice(theirs, theirs_cnt, done, len - done, there);
		ret = write ? os_process_write(pid, here, here_cnt, there, there_cnt) :
			      os_process_read(pid, here, here_cnt, there, there_cnt);
		if (ret == -FI_EINTR)
			continue;
		if (ret <= 0)
			return ret ? (int) ret : -FI_EFAULT;
		done += (size_t) ret;
	}
	return 0;
}
