/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "shm_pull.h"

#include <errno.h>
#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "engine/link.h"

bool shm_pull_try(pid_t pid, uint64_t addr, uint64_t probe)
{
	uint64_t seen = ~probe;
	struct iovec here = { &seen, sizeof(seen) };
	struct iovec there = { (void *) (uintptr_t) addr, sizeof(seen) };

	return pid > 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(seen) &&
	       seen == probe;
}

int shm_pull_read(pid_t pid, const struct iovec *to, size_t to_cnt,
		  const struct iovec *from, size_t from_cnt, size_t len)
{
	struct iovec here[ENG_IOV_MAX], there[ENG_IOV_MAX];
	size_t done = 0, here_cnt, there_cnt;
	ssize_t ret;

	while (done < len) {
		here_cnt = iov_slice(to, to_cnt, done, len - done, here);
		there_cnt = iov_slice(from, from_cnt, done, len - done, there);
		ret = process_vm_readv(pid, here, here_cnt, there, there_cnt, 0);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			return ret ? -errno : -FI_EFAULT;
		done += (size_t) ret;
	}
	return 0;
}
