/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_xpu.h - transfers that a device posts: what the host and the device share.
 *
 * The host opens an XPU context on a domain, then endpoints, queues and counters with FI_XPU and
 * that context, exports a handle of each and copies the handles into memory of the device.  Code
 * of the device passes the handles to the functions of fi_xpu_device.h.
 *
 * Close endpoints, queues, counters, registrations and address vectors before the context, and
 * the context before the domain.
 */
#ifndef FI_XPU_H
#define FI_XPU_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- context --------------------------------------------------------------- */

/* Flags of the callbacks below. */
#define FI_XPU_ALLOC_DMABUF	(1ULL << 0)	/* alloc: export the memory as a dma-buf too */
#define FI_XPU_IMPORT_IOMEMORY	(1ULL << 0)	/* import: these are registers of a NIC */
#define FI_XPU_IMPORT_DEVICEMAP	(1ULL << 1)	/* import: the device itself will use the pointer */

/* What the program does for the provider; a callback that lies beyond size, or is NULL, is not
 * there, and the provider has means of its own.  They are called by calls of the host that open or
 * close the context or an object of it.
 */
struct fi_xpu_ops {
	size_t	size;
	/* memory of the device: its address, and with FI_XPU_ALLOC_DMABUF the dma-buf and where
	 * in it the memory begins */
	int (*alloc)(uint64_t device, uint64_t size, uint64_t alignment,
			uint64_t flags, void **addr, int *fd, uint64_t *offset);
	/* a pointer of the device to memory of the host */
	int (*import)(uint64_t device, void *host_addr, uint64_t size,
			uint64_t flags, void **dev_addr);
	/* memory that alloc returned */
	void (*free)(uint64_t device, void *addr);
};

/* Which device. */
struct fi_xpu_attr {
	enum fi_hmem_iface	iface;	/* FI_HMEM_SYSTEM: threads of this process */
	uint64_t		device;	/* as in fi_mr_attr; 0 for FI_HMEM_SYSTEM */
	struct fi_xpu_ops	*ops;	/* callbacks, or NULL */
};

/* fi_xpu_ctx_attr::caps: what can be exported. */
#define FI_XPU_CAP_EP		(1ULL << 0)
#define FI_XPU_CAP_CQ		(1ULL << 1)
#define FI_XPU_CAP_CNTR		(1ULL << 2)

/* What fi_xpu_ctx_query() stores. */
struct fi_xpu_ctx_attr {
	uint64_t	caps;		/* FI_XPU_CAP_ */
	size_t		av_addr_size;	/* bytes of an address, see fi_av_lookup2() */
	size_t		mr_desc_size;	/* bytes of a descriptor, see fi_mr_get_xpu_desc() */
};

struct fi_ops_xpu_ctx {
	size_t	size;
	int (*query)(struct fid_xpu_ctx *ctx, struct fi_xpu_ctx_attr *attr);
};

struct fid_xpu_ctx {
	struct fid		fid;
	struct fi_ops_xpu_ctx	*ops;
};

/* ---- handles of the device -------------------------------------------------- */

/* Who writes and reads what prov_ctx names. */
enum fi_xpu_provider {
	FI_XPU_PROV_EFA = 1
};

/* Which threads of the device make a call together, once for all of them: the last argument of
 * the calls in fi_xpu_device.h.
 */
enum {
	FI_XPU_WORK_ITEM,		/* each thread for itself */
	FI_XPU_SUBGROUP,		/* a warp, a wavefront */
	FI_XPU_WORK_GROUP,		/* a thread block */
	FI_XPU_DEVICE			/* all threads of the kernel */
};

/* First member of every handle: 16 bytes, to be copied to the device as they are. */
struct fid_xpu {
	uint32_t	fclass;		/* FI_CLASS_EP, FI_CLASS_CQ or FI_CLASS_CNTR */
	uint32_t	prov_id;	/* enum fi_xpu_provider, or a number of the library */
	uint64_t	prov_ctx;	/* the provider's */
};

struct fid_xpu_ep {
	struct fid_xpu	fid;
};

struct fid_xpu_cq {
	struct fid_xpu	fid;
};

struct fid_xpu_cntr {
	struct fid_xpu	fid;
};

/* ---- calls ------------------------------------------------------------------ */

/* Open a context for the device that attr names; close it with fi_close(). -FI_ENOSYS: the
 * provider serves no device.
 */
FI_INLINE int fi_xpu_ctx(struct fid_domain *domain, struct fi_xpu_attr *attr,
		struct fid_xpu_ctx **ctx, void *context)
{
	if (!FI_CHECK_OP(domain->ops, struct fi_ops_domain, xpu_ctx))
		return -FI_ENOSYS;
	return domain->ops->xpu_ctx(domain, attr, ctx, context);
}

/* What the context can do, and the sizes of its addresses and descriptors. */
FI_INLINE int fi_xpu_ctx_query(struct fid_xpu_ctx *ctx,
		struct fi_xpu_ctx_attr *attr)
{
	if (!FI_CHECK_OP(ctx->ops, struct fi_ops_xpu_ctx, query))
		return -FI_ENOSYS;
	return ctx->ops->query(ctx, attr);
}

#ifdef __cplusplus
}
#endif

#endif /* FI_XPU_H */
