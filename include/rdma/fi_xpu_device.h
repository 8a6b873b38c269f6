/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_xpu_device.h - the calls that code of a device makes.
 *
 * Compile this with the compiler of the device (CUDA, HIP, SYCL), or with that of the host, whose
 * threads may be the device (FI_HMEM_SYSTEM).  A handle is what the host exported, in memory that
 * the device reads; addresses and descriptors are pointers to what fi_av_lookup2() and
 * fi_mr_get_xpu_desc() stored.  All threads of the scope make the same call.
 *
 * Each call goes by the provider number in the handle.  One that this header does not know
 * answers -FI_ENOSYS: code that was compiled with the header of another library, or with an older
 * one, does not touch what it cannot read.
 */
#ifndef FI_XPU_DEVICE_H
#define FI_XPU_DEVICE_H

#include <rdma/fi_errno.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_xpu.h>
#include <rdma/fi_xpu_mlx5.h>
#include <rdma/fi_xpu_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the calls are emitted: for the device where its compiler distinguishes, else like those of
 * the other headers.
 */
#ifndef FI_XPU_FUNC
#if defined(__CUDACC__) || defined(__CUDA__) || defined(__HIP_DEVICE_COMPILE__)
#define FI_XPU_FUNC __attribute__((device)) static inline
#else
#define FI_XPU_FUNC FI_INLINE
#endif
#endif

/* ---- transfers ------------------------------------------------------------- */

/* A record goes to the library, or to the NIC. */
FI_XPU_RING_FUNC int fi_xpu_record_post(struct fid_xpu_ep *ep,
		const struct fi_xpu_ring_record *rec, int words, int scope)
{
	int64_t ret;

	if (ep->fid.prov_id != FI_XPU_MLX5_PROV)
		return fi_xpu_ring_post(ep, rec, words, scope);
	FI_XPU_RING_ONCE(scope, ret, fi_xpu_mlx5_put(ep, rec));
	return (int) ret;
}

/* Send a message; data is for the peer, with FI_REMOTE_CQ_DATA. */
FI_XPU_FUNC int fi_xpu_send(struct fid_xpu_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, void *dest_addr, void *context,
		uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_SEND, buf, len, desc, dest_addr, context, flags);
		rec.data = data;
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Post a buffer for a message from src_addr, or from any peer: NULL. */
FI_XPU_FUNC int fi_xpu_recv(struct fid_xpu_ep *ep, void *buf, size_t len,
		void *desc, void *src_addr, void *context, uint64_t flags,
		int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_RECV, buf, len, desc, src_addr, context, flags);
		return fi_xpu_record_post(ep, &rec, 8, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Send a tagged message. */
FI_XPU_FUNC int fi_xpu_tsend(struct fid_xpu_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, void *dest_addr, uint64_t tag,
		void *context, uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_TSEND, buf, len, desc, dest_addr, context, flags);
		rec.data = data;
		rec.addr = tag;
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Post a buffer for a message whose tag differs in bits of ignore at most. */
FI_XPU_FUNC int fi_xpu_trecv(struct fid_xpu_ep *ep, void *buf, size_t len,
		void *desc, void *src_addr, uint64_t tag, uint64_t ignore,
		void *context, uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_TRECV, buf, len, desc, src_addr, context, flags);
		rec.addr = tag;
		rec.key = ignore;
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Read len bytes of remote memory into buf. */
FI_XPU_FUNC int fi_xpu_read(struct fid_xpu_ep *ep, void *buf, size_t len,
		void *desc, void *src_addr, uint64_t addr, uint64_t key,
		void *context, uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_READ, buf, len, desc, src_addr, context, flags);
		rec.addr = addr;
		rec.key = key;
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Write len bytes to remote memory; data is for the peer, with FI_REMOTE_CQ_DATA. */
FI_XPU_FUNC int fi_xpu_write(struct fid_xpu_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, void *dest_addr, uint64_t addr,
		uint64_t key, void *context, uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_WRITE, buf, len, desc, dest_addr, context, flags);
		rec.data = data;
		rec.addr = addr;
		rec.key = key;
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Combine count values with remote memory; datatype and op as in fi_atomic(). */
FI_XPU_FUNC int fi_xpu_atomic(struct fid_xpu_ep *ep, const void *buf,
		size_t count, void *desc, void *dest_addr, uint64_t addr,
		uint64_t key, int datatype, int op, void *context,
		uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_ATOMIC, buf, count, desc, dest_addr, context, flags);
		rec.datatype = (uint16_t) datatype;
		rec.op = (uint16_t) op;
		rec.addr = addr;
		rec.key = key;
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* The same, and the values that were there into result. */
FI_XPU_FUNC int fi_xpu_fetch_atomic(struct fid_xpu_ep *ep, const void *buf,
		size_t count, void *desc, void *result, void *result_desc,
		void *dest_addr, uint64_t addr, uint64_t key, int datatype,
		int op, void *context, uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_FETCH, buf, count, desc, dest_addr, context, flags);
		rec.datatype = (uint16_t) datatype;
		rec.op = (uint16_t) op;
		rec.addr = addr;
		rec.key = key;
		rec.result = (uintptr_t) result;
		rec.result_desc = fi_xpu_ring_raw(result_desc);
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* The same, where a comparison with compare decides. */
FI_XPU_FUNC int fi_xpu_compare_atomic(struct fid_xpu_ep *ep, const void *buf,
		size_t count, void *desc, const void *compare,
		void *compare_desc, void *result, void *result_desc,
		void *dest_addr, uint64_t addr, uint64_t key, int datatype,
		int op, void *context, uint64_t flags, int scope)
{
	struct fi_xpu_ring_record rec;

	switch (ep->fid.prov_id) {
	case FI_XPU_RING_PROV:
	case FI_XPU_MLX5_PROV:
		fi_xpu_ring_fill(&rec, FI_XPU_RING_COMPARE, buf, count, desc, dest_addr, context, flags);
		rec.datatype = (uint16_t) datatype;
		rec.op = (uint16_t) op;
		rec.addr = addr;
		rec.key = key;
		rec.result = (uintptr_t) result;
		rec.result_desc = fi_xpu_ring_raw(result_desc);
		rec.compare = (uintptr_t) compare;
		rec.compare_desc = fi_xpu_ring_raw(compare_desc);
		return fi_xpu_record_post(ep, &rec, 16, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* ---- completion queue ------------------------------------------------------ */

/* Up to count entries into buf, in the format of the queue; returns how many. -FI_EAGAIN none,
 * -FI_EAVAIL an error entry waits.
 */
FI_XPU_FUNC int64_t fi_xpu_cq_read(struct fid_xpu_cq *cq, void *buf,
		size_t count, int scope)
{
	int64_t ret;

	switch (cq->fid.prov_id) {
	case FI_XPU_RING_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_ring_read(cq, buf, count, NULL));
		return ret;
	case FI_XPU_MLX5_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_mlx5_read(cq, buf, count, NULL));
		return ret;
	default:
		return -FI_ENOSYS;
	}
}

/* The same, with the sources: av_addr_size bytes each. */
FI_XPU_FUNC int64_t fi_xpu_cq_readfrom(struct fid_xpu_cq *cq, void *buf,
		size_t count, void *src_addr, int scope)
{
	int64_t ret;

	switch (cq->fid.prov_id) {
	case FI_XPU_RING_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_ring_read(cq, buf, count, src_addr));
		return ret;
	case FI_XPU_MLX5_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_mlx5_read(cq, buf, count, src_addr));
		return ret;
	default:
		return -FI_ENOSYS;
	}
}

/* The error entry that waits, a struct fi_cq_err_entry; returns 1. */
FI_XPU_FUNC int64_t fi_xpu_cq_readerr(struct fid_xpu_cq *cq, void *buf,
		uint64_t flags, int scope)
{
	int64_t ret;

	(void) flags;
	switch (cq->fid.prov_id) {
	case FI_XPU_RING_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_ring_readerr(cq, buf, sizeof(struct fi_cq_err_entry)));
		return ret;
	case FI_XPU_MLX5_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_mlx5_readerr(cq, buf, sizeof(struct fi_cq_err_entry)));
		return ret;
	default:
		return -FI_ENOSYS;
	}
}

/* Poll until threshold entries are there, then as fi_xpu_cq_read(). */
FI_XPU_FUNC int64_t fi_xpu_cq_sread(struct fid_xpu_cq *cq, void *buf,
		size_t count, uint64_t threshold, int scope)
{
	int64_t ret;

	switch (cq->fid.prov_id) {
	case FI_XPU_RING_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_ring_sread(cq, buf, count, NULL, threshold));
		return ret;
	case FI_XPU_MLX5_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_mlx5_sread(cq, buf, count, NULL, threshold));
		return ret;
	default:
		return -FI_ENOSYS;
	}
}

/* The same, with the sources. */
FI_XPU_FUNC int64_t fi_xpu_cq_sreadfrom(struct fid_xpu_cq *cq, void *buf,
		size_t count, void *src_addr, uint64_t threshold, int scope)
{
	int64_t ret;

	switch (cq->fid.prov_id) {
	case FI_XPU_RING_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_ring_sread(cq, buf, count, src_addr, threshold));
		return ret;
	case FI_XPU_MLX5_PROV:
		FI_XPU_RING_ONCE(scope, ret, fi_xpu_mlx5_sread(cq, buf, count, src_addr, threshold));
		return ret;
	default:
		return -FI_ENOSYS;
	}
}

/* ---- counter --------------------------------------------------------------- */

/* Successes so far. */
FI_XPU_FUNC uint64_t fi_xpu_cntr_read(struct fid_xpu_cntr *cntr, int scope)
{
	switch (cntr->fid.prov_id) {
	case FI_XPU_RING_PROV:
		return fi_xpu_ring_count(&fi_xpu_ring_cntr_of(cntr)->value, scope);
	default:
		return 0;
	}
}

/* Failures so far. */
FI_XPU_FUNC uint64_t fi_xpu_cntr_readerr(struct fid_xpu_cntr *cntr, int scope)
{
	switch (cntr->fid.prov_id) {
	case FI_XPU_RING_PROV:
		return fi_xpu_ring_count(&fi_xpu_ring_cntr_of(cntr)->err, scope);
	default:
		return 0;
	}
}

/* Add to the successes. */
FI_XPU_FUNC int fi_xpu_cntr_add(struct fid_xpu_cntr *cntr, uint64_t value,
		int scope)
{
	switch (cntr->fid.prov_id) {
	case FI_XPU_RING_PROV:
		return fi_xpu_ring_add_once(&fi_xpu_ring_cntr_of(cntr)->value, value, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Add to the failures. */
FI_XPU_FUNC int fi_xpu_cntr_adderr(struct fid_xpu_cntr *cntr, uint64_t value,
		int scope)
{
	switch (cntr->fid.prov_id) {
	case FI_XPU_RING_PROV:
		return fi_xpu_ring_add_once(&fi_xpu_ring_cntr_of(cntr)->err, value, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Set the successes. */
FI_XPU_FUNC int fi_xpu_cntr_set(struct fid_xpu_cntr *cntr, uint64_t value,
		int scope)
{
	switch (cntr->fid.prov_id) {
	case FI_XPU_RING_PROV:
		return fi_xpu_ring_store_once(&fi_xpu_ring_cntr_of(cntr)->value, value, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Set the failures. */
FI_XPU_FUNC int fi_xpu_cntr_seterr(struct fid_xpu_cntr *cntr, uint64_t value,
		int scope)
{
	switch (cntr->fid.prov_id) {
	case FI_XPU_RING_PROV:
		return fi_xpu_ring_store_once(&fi_xpu_ring_cntr_of(cntr)->err, value, scope);
	default:
		return -FI_ENOSYS;
	}
}

/* Poll until the counter is at least threshold, or an operation fails; timeout in ms, -1 for ever. */
FI_XPU_FUNC void fi_xpu_cntr_wait(struct fid_xpu_cntr *cntr, uint64_t threshold,
		int timeout, int scope)
{
	if (cntr->fid.prov_id == FI_XPU_RING_PROV)
		fi_xpu_ring_wait_once(cntr, threshold, timeout, scope);
}

#ifdef __cplusplus
}
#endif

#endif /* FI_XPU_DEVICE_H */
