/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <poll.h>
#include <string.h>

#include "common/ft.h"

static const enum fi_wait_obj waits[] = { FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD,
					  FI_WAIT_MUTEX_COND, FI_WAIT_YIELD };

static void formats(struct ft *ft)
{
	static const enum fi_cq_format fmt[] = { FI_CQ_FORMAT_UNSPEC, FI_CQ_FORMAT_CONTEXT,
		FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_DATA, FI_CQ_FORMAT_TAGGED };

	for (size_t i = 0; i < FT_COUNT(fmt); i++) {
		struct fi_cq_attr attr = { .format = fmt[i], .wait_obj = FI_WAIT_NONE };
		struct fi_cq_tagged_entry entry[4];
		struct fi_cq_err_entry err = { 0 };
		struct fid_cq *cq;

		FT_TRY(fi_cq_open(ft->domain, &attr, &cq, NULL));
		FT_IS(fi_cq_read(cq, entry, 4), -FI_EAGAIN);
		FT_IS(fi_cq_read(cq, NULL, 0), -FI_EAGAIN);
		FT_IS(fi_cq_readerr(cq, &err, 0), -FI_EAGAIN);
		FT_TRY(fi_close(&cq->fid));
	}
}

static void sizes(struct ft *ft)
{
	for (size_t size = 1; size <= 1u << 15; size *= 2) {
		struct fi_cq_attr attr = { .size = size, .wait_obj = FI_WAIT_NONE };
		struct fid_cq *cq;

		FT_TRY(fi_cq_open(ft->domain, &attr, &cq, NULL));
		FT_WANT(attr.size >= size, "a queue of %zu became one of %zu", size, attr.size);
		FT_TRY(fi_close(&cq->fid));
	}
}

static int wait_objects(struct ft *ft)
{
	int opened = 0;

	for (size_t i = 0; i < FT_COUNT(waits); i++) {
		struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = waits[i] };
		struct fi_cq_tagged_entry entry;
		struct fid_cq *cq;
		uint64_t start;
		int ret = fi_cq_open(ft->domain, &attr, &cq, NULL);

		if (ret == -FI_ENOSYS || ret == -FI_EINVAL || ret == -FI_EOPNOTSUPP) {
			printf("# wait object %d is not offered\n", waits[i]);
			continue;
		}
		FT_TRY(ret);
		opened++;
		start = ft_now_ns();
		if (waits[i] != FI_WAIT_NONE) {
			FT_IS(fi_cq_sread(cq, &entry, 1, NULL, 30), -FI_EAGAIN);
			FT_WANT(ft_now_ns() - start >= 25000000, "fi_cq_sread came back early");
			FT_WANT(ft_now_ns() - start < 5000000000, "fi_cq_sread overslept");
		}
		FT_TRY(fi_close(&cq->fid));
	}
	return opened;
}

static void signalled(struct ft *ft)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_entry entry;
	struct fid_cq *cq;
	uint64_t start = ft_now_ns();

	FT_TRY(fi_cq_open(ft->domain, &attr, &cq, NULL));
	FT_MAY(fi_cq_signal(cq));
	FT_WANT(fi_cq_sread(cq, &entry, 1, NULL, 5000) < 0, "an empty queue gave an entry");
	FT_WANT(ft_now_ns() - start < 4000000000, "fi_cq_signal did not wake fi_cq_sread");
	FT_TRY(fi_close(&cq->fid));
}

static void by_fd(struct ft *ft)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };
	struct pollfd pfd = { .fd = -1, .events = POLLIN };
	struct fid *fids[1];
	struct fid_cq *cq;

	FT_TRY(fi_cq_open(ft->domain, &attr, &cq, NULL));
	FT_TRY(fi_control(&cq->fid, FI_GETWAIT, &pfd.fd));
	FT_WANT(pfd.fd >= 0, "FI_GETWAIT gave no descriptor");
	fids[0] = &cq->fid;
	FT_TRY(fi_trywait(ft->fabric, fids, 1));
	FT_WANT(!poll(&pfd, 1, 0), "the fd of an empty queue is readable");
	FT_TRY(fi_close(&cq->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: completion queues: formats, sizes, wait objects, signals.",
		.local = true,
	};
	struct ft ft;

	ft_begin(&ft, &test, argc, argv);
	formats(&ft);
	sizes(&ft);
	FT_WANT(wait_objects(&ft) >= 3, "fewer than three wait objects are offered");
	by_fd(&ft);
	signalled(&ft);
	return ft_end(&ft);
}
