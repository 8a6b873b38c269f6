/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_cq_time.h - when transfers completed: an extension of completion queues.
 *
 * Open it on a queue before its endpoints are enabled, then read by
 * fi_cq_readtime() instead of fi_cq_read().
 */
#ifndef FI_CQ_TIME_H
#define FI_CQ_TIME_H

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FI_CQ_TIME_OPS "cq_time"

enum fi_cq_clock {
	FI_CQ_CLOCK_HOST,	/* CLOCK_MONOTONIC, when the library saw the completion */
	FI_CQ_CLOCK_DEVICE	/* device clock with any origin, when the device wrote the completion */
};

struct fi_cq_time {
	uint64_t ns;
	uint32_t clock;		/* enum fi_cq_clock: only times of the same clock can be compared */
	uint32_t reserved;
};

struct fi_ops_cq_time {
	size_t size;
	ssize_t (*read)(struct fid_cq *cq, void *buf, size_t count, struct fi_cq_time *time);
};

/*
 * fi_cq_open_time - have times kept from now on.
 *
 * @ops_p: [out] valid as long as @cq
 * Errors: -FI_ENOSYS: not on this queue (a library, a hook or a shared queue without them);
 *         -FI_ENOMEM.
 */
FI_INLINE int fi_cq_open_time(struct fid_cq *cq, struct fi_ops_cq_time **ops_p)
{
	return fi_open_ops(&cq->fid, FI_CQ_TIME_OPS, 0, (void **)ops_p, NULL);
}

/*
 * fi_cq_readtime - as fi_cq_read(), and for each entry its time.
 *
 * @time: [out] as many as entries
 */
FI_INLINE ssize_t fi_cq_readtime(struct fi_ops_cq_time *ops, struct fid_cq *cq, void *buf,
				 size_t count, struct fi_cq_time *time)
{
	return ops->read(cq, buf, count, time);
}

#ifdef __cplusplus
}
#endif

#endif
