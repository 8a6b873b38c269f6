/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_domain.h - a domain (one NIC, or one piece of software that acts as one)
 * and what it owns: address vectors and memory registrations.
 */
#ifndef FI_DOMAIN_H
#define FI_DOMAIN_H

#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fi_atomic_attr;
struct fi_collective_attr;
struct fid_av;
struct fid_av_set;
struct fid_mr;
struct fid_stx;
struct fi_xpu_attr;

/* ---- address vector ------------------------------------------------------ */

/* Flags of inserts and of fi_av_attr. */
#define FI_SYMMETRIC		(1ULL << 59)	/* every host has the same endpoints, in sequence */
#define FI_SYNC_ERR		(1ULL << 58)	/* context is int *: one error per address */
#define FI_UNIVERSE		(1ULL << 57)	/* an AV set starts out with all of the AV */

/* fi_av_set_attr::flags: what the set will be used for. */
#define FI_BARRIER_SET		(1ULL << 40)
#define FI_BROADCAST_SET	(1ULL << 41)
#define FI_ALLTOALL_SET		(1ULL << 42)
#define FI_ALLREDUCE_SET	(1ULL << 43)
#define FI_ALLGATHER_SET	(1ULL << 44)
#define FI_REDUCE_SCATTER_SET	(1ULL << 45)
#define FI_REDUCE_SET		(1ULL << 46)
#define FI_SCATTER_SET		(1ULL << 47)
#define FI_GATHER_SET		(1ULL << 48)

struct fi_av_attr {
	enum fi_av_type	type;
	int		rx_ctx_bits;	/* bits of fi_addr_t kept for fi_rx_addr() */
	size_t		count;		/* addresses expected */
	size_t		ep_per_node;	/* endpoints per host expected, 0: not known */
	const char	*name;		/* of a shared one, or NULL */
	void		*map_addr;	/* [out] base of a shared one */
	uint64_t	flags;		/* FI_READ: share read-only; FI_EVENT, FI_SYMMETRIC */
};

struct fi_av_set_attr {
	size_t		count;		/* members expected */
	fi_addr_t	start_addr;	/* first member, or FI_ADDR_NOTAVAIL for an empty set */
	fi_addr_t	end_addr;	/* last member */
	uint64_t	stride;		/* between members */
	size_t		comm_key_size;	/* bytes */
	uint8_t		*comm_key;	/* distinguishes sets of the same members */
	uint64_t	flags;		/* FI_UNIVERSE, FI_BARRIER_SET... */
};

/* Slots are the calls of the same name below; the control calls may block. */
struct fi_ops_av {
	size_t	size;
	int (*insert)(struct fid_av *av, const void *addr, size_t count,
			fi_addr_t *fi_addr, uint64_t flags, void *context);
	int (*insertsvc)(struct fid_av *av, const char *node,
			const char *service, fi_addr_t *fi_addr, uint64_t flags,
			void *context);
	int (*insertsym)(struct fid_av *av, const char *node, size_t nodecnt,
			const char *service, size_t svccnt, fi_addr_t *fi_addr,
			uint64_t flags, void *context);
	int (*remove)(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
			uint64_t flags);
	int (*lookup)(struct fid_av *av, fi_addr_t fi_addr, void *addr,
			size_t *addrlen);
	const char *(*straddr)(struct fid_av *av, const void *addr, char *buf,
			size_t *len);
	int (*av_set)(struct fid_av *av, struct fi_av_set_attr *attr,
			struct fid_av_set **av_set, void *context);
	int (*insert_auth_key)(struct fid_av *av, const void *auth_key,
			size_t auth_key_size, fi_addr_t *fi_addr,
			uint64_t flags);
	int (*lookup_auth_key)(struct fid_av *av, fi_addr_t addr,
			void *auth_key, size_t *auth_key_size);
	int (*set_user_id)(struct fid_av *av, fi_addr_t fi_addr,
			fi_addr_t user_id, uint64_t flags);
	int (*lookup2)(struct fid_av *av, fi_addr_t fi_addr, void *buf,
			size_t *len, uint64_t flags, struct fid_xpu_ctx *ctx);
};

struct fid_av {
	struct fid		fid;
	struct fi_ops_av	*ops;
};

/* ---- memory registration ------------------------------------------------- */

/* Flags of a registration. */
#define FI_MR_DMABUF		(1ULL << 40)	/* attr names a dmabuf, not addresses */
#define FI_MR_SINGLE_USE	(1ULL << 41)	/* valid for one remote access */
#define FI_HMEM_HOST_ALLOC	(1ULL << 45)	/* device memory that the host can access */
#define FI_HMEM_DEVICE_ONLY	(1ULL << 46)	/* device memory that it cannot access */

struct fid_mr {
	struct fid	fid;
	void		*mem_desc;	/* local descriptor, for the desc arguments */
	uint64_t	key;		/* remote key */
};

enum fi_hmem_iface {
	FI_HMEM_SYSTEM,			/* ordinary memory */
	FI_HMEM_CUDA,
	FI_HMEM_ROCR,
	FI_HMEM_ZE,
	FI_HMEM_NEURON,
	FI_HMEM_SYNAPSEAI
};

/* One number for a Level Zero device: driver above, device below. */
FI_INLINE int fi_hmem_ze_device(int driver_index, int device_index)
{
	return (driver_index << 16) | device_index;
}

struct fi_mr_dmabuf {
	int		fd;
	uint64_t	offset;		/* of the region in the dmabuf */
	size_t		len;		/* bytes */
	void		*base_addr;	/* where the dmabuf starts for peers */
};

/* fi_mr_attr::auth_key with an AV: access for one peer's key only. */
struct fi_mr_auth_key {
	struct fid_av	*av;
	fi_addr_t	src_addr;
};

struct fi_mr_attr {
	__extension__ union {
		const struct iovec		*mr_iov;	/* iov_count pieces */
		const struct fi_mr_dmabuf	*dmabuf;	/* FI_MR_DMABUF */
	};
	size_t				iov_count;
	/* FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE */
	uint64_t			access;
	/* 0; address of the first byte for peers is this without FI_MR_VIRT_ADDR */
	uint64_t			offset;
	uint64_t			requested_key;	/* unless FI_MR_PROV_KEY */
	void				*context;
	size_t				auth_key_size;	/* bytes */
	uint8_t				*auth_key;
	enum fi_hmem_iface		iface;		/* whose memory */
	union {
		uint64_t	reserved;
		int		cuda;
		int		ze;		/* fi_hmem_ze_device() */
		int		neuron;
		int		synapseai;
		int		rocr;
	} device;				/* member by iface */
	void				*hmem_data;	/* depends on iface */
	size_t				page_size;	/* bytes, 0: provider finds out */
	/* registration that this one is part of, or NULL */
	const struct fid_mr		*base_mr;
	size_t				sub_mr_cnt;	/* parts expected */
};

struct fi_mr_modify {
	uint64_t		flags;
	struct fi_mr_attr	attr;	/* fields to change */
};

/* FI_GET_MR_XPU_DESC: the descriptor that calls of the device take. */
struct fi_mr_xpu_desc {
	void			*buf;	/* [out] room for it */
	size_t			*len;	/* [in,out] bytes */
	uint64_t		flags;	/* FI_XPU */
	struct fid_xpu_ctx	*ctx;	/* of the endpoint that will use it */
};

/* Copy functions that a program offers for its device memory. */
#define FI_SET_OPS_HMEM_OVERRIDE	"hmem_override_ops"

struct fi_hmem_override_ops {
	size_t	size;
	/* device to host; returns bytes */
	ssize_t (*copy_from_hmem_iov)(void *dest, size_t size,
			enum fi_hmem_iface iface, uint64_t device,
			const struct iovec *hmem_iov, size_t hmem_iov_count,
			uint64_t hmem_iov_offset);
	/* host to device; returns bytes */
	ssize_t (*copy_to_hmem_iov)(enum fi_hmem_iface iface, uint64_t device,
			const struct iovec *hmem_iov, size_t hmem_iov_count,
			uint64_t hmem_iov_offset, const void *src, size_t size);
};

/* ---- values and operations of atomics and collectives ------------------- */

#define FI_COLLECTIVE_OFFSET	256	/* codes for collectives only start here */

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_atomic_def.h>
#endif

#ifndef FABRIC_DIRECT_ATOMIC_DEF

enum fi_datatype {
	FI_INT8,
	FI_UINT8,
	FI_INT16,
	FI_UINT16,
	FI_INT32,
	FI_UINT32,
	FI_INT64,
	FI_UINT64,
	FI_FLOAT,
	FI_DOUBLE,
	FI_FLOAT_COMPLEX,
	FI_DOUBLE_COMPLEX,
	FI_LONG_DOUBLE,
	FI_LONG_DOUBLE_COMPLEX,
	FI_INT128,
	FI_UINT128,
	FI_FLOAT16,
	FI_BFLOAT16,
	FI_FLOAT8_E4M3,
	FI_FLOAT8_E5M2,

	FI_VOID = FI_COLLECTIVE_OFFSET
};

/* t the target's value, o the operand, c the value compared with. */
enum fi_op {
	FI_MIN,
	FI_MAX,
	FI_SUM,
	FI_PROD,
	FI_LOR,
	FI_LAND,
	FI_BOR,
	FI_BAND,
	FI_LXOR,
	FI_BXOR,
	FI_ATOMIC_READ,
	FI_ATOMIC_WRITE,
	FI_CSWAP,			/* t = o if c == t */
	FI_CSWAP_NE,			/* t = o if c != t */
	FI_CSWAP_LE,			/* t = o if c <= t */
	FI_CSWAP_LT,			/* t = o if c < t */
	FI_CSWAP_GE,			/* t = o if c >= t */
	FI_CSWAP_GT,			/* t = o if c > t */
	FI_MSWAP,			/* t = (o & c) | (t & ~c) */
	FI_DIFF,			/* t = t - o */

	FI_NOOP = FI_COLLECTIVE_OFFSET
};

#endif /* FABRIC_DIRECT_ATOMIC_DEF */

enum fi_collective_op {
	FI_BARRIER,
	FI_BROADCAST,
	FI_ALLTOALL,
	FI_ALLREDUCE,
	FI_ALLGATHER,
	FI_REDUCE_SCATTER,
	FI_REDUCE,
	FI_SCATTER,
	FI_GATHER
};

/* ---- domain -------------------------------------------------------------- */

/* fi_domain_bind: an event queue gets the completions of registrations. */
#define FI_REG_MR		(1ULL << 59)

/* Opens objects of the domain; each may block, none is called from a transfer. */
struct fi_ops_domain {
	size_t	size;
	int (*av_open)(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av, void *context);
	int (*cq_open)(struct fid_domain *domain, struct fi_cq_attr *attr,
			struct fid_cq **cq, void *context);
	int (*endpoint)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **ep, void *context);
	int (*scalable_ep)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **sep, void *context);
	int (*cntr_open)(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context);
	int (*poll_open)(struct fid_domain *domain, struct fi_poll_attr *attr,
			struct fid_poll **pollset);
	int (*stx_ctx)(struct fid_domain *domain, struct fi_tx_attr *attr,
			struct fid_stx **stx, void *context);
	int (*srx_ctx)(struct fid_domain *domain, struct fi_rx_attr *attr,
			struct fid_ep **rx_ep, void *context);
	int (*query_atomic)(struct fid_domain *domain,
			enum fi_datatype datatype, enum fi_op op,
			struct fi_atomic_attr *attr, uint64_t flags);
	int (*query_collective)(struct fid_domain *domain,
			enum fi_collective_op coll,
			struct fi_collective_attr *attr, uint64_t flags);
	int (*endpoint2)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **ep, uint64_t flags, void *context);
	int (*xpu_ctx)(struct fid_domain *domain, struct fi_xpu_attr *attr,
			struct fid_xpu_ctx **ctx, void *context);
};

/* Registration. fid is the domain's. */
struct fi_ops_mr {
	size_t	size;
	int (*reg)(struct fid *fid, const void *buf, size_t len,
			uint64_t access, uint64_t offset,
			uint64_t requested_key, uint64_t flags,
			struct fid_mr **mr, void *context);
	int (*regv)(struct fid *fid, const struct iovec *iov, size_t count,
			uint64_t access, uint64_t offset,
			uint64_t requested_key, uint64_t flags,
			struct fid_mr **mr, void *context);
	int (*regattr)(struct fid *fid, const struct fi_mr_attr *attr,
			uint64_t flags, struct fid_mr **mr);
};

struct fid_domain {
	struct fid		fid;
	struct fi_ops_domain	*ops;
	struct fi_ops_mr	*mr;
};

/* ---- calls --------------------------------------------------------------- */

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_domain.h>
#endif

#ifndef FABRIC_DIRECT_DOMAIN

/* Open the domain that info->domain_attr names. */
FI_INLINE int fi_domain(struct fid_fabric *fabric, struct fi_info *info,
		struct fid_domain **domain, void *context)
{
	return fabric->ops->domain(fabric, info, domain, context);
}

/* The same, with flags: FI_PEER. */
FI_INLINE int fi_domain2(struct fid_fabric *fabric, struct fi_info *info,
		struct fid_domain **domain, uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(fabric->ops, struct fi_ops_fabric, domain2))
		return -FI_ENOSYS;
	return fabric->ops->domain2(fabric, info, domain, flags, context);
}

/* Events of the domain go to this event queue. */
FI_INLINE int fi_domain_bind(struct fid_domain *domain, struct fid *fid,
		uint64_t flags)
{
	return domain->fid.ops->bind(&domain->fid, fid, flags);
}

FI_INLINE int fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **cq, void *context)
{
	return domain->ops->cq_open(domain, attr, cq, context);
}

FI_INLINE int fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		struct fid_cntr **cntr, void *context)
{
	return domain->ops->cntr_open(domain, attr, cntr, context);
}

FI_DEPRECATED_FUNC
FI_INLINE int fi_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		struct fid_wait **waitset)
{
	return fabric->ops->wait_open(fabric, attr, waitset);
}

FI_DEPRECATED_FUNC
FI_INLINE int fi_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		struct fid_poll **pollset)
{
	return domain->ops->poll_open(domain, attr, pollset);
}

/* Register len bytes at buf for the uses in acs. */
FI_INLINE int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len,
		uint64_t acs, uint64_t offset, uint64_t requested_key,
		uint64_t flags, struct fid_mr **mr, void *context)
{
	return domain->mr->reg(&domain->fid, buf, len, acs, offset,
			requested_key, flags, mr, context);
}

FI_INLINE int fi_mr_regv(struct fid_domain *domain, const struct iovec *iov,
		size_t count, uint64_t acs, uint64_t offset,
		uint64_t requested_key, uint64_t flags, struct fid_mr **mr,
		void *context)
{
	return domain->mr->regv(&domain->fid, iov, count, acs, offset,
			requested_key, flags, mr, context);
}

FI_INLINE int fi_mr_regattr(struct fid_domain *domain,
		const struct fi_mr_attr *attr, uint64_t flags,
		struct fid_mr **mr)
{
	if (!FI_CHECK_OP(domain->mr, struct fi_ops_mr, regattr))
		return -FI_ENOSYS;
	return domain->mr->regattr(&domain->fid, attr, flags, mr);
}

/* Descriptor for the desc argument of a transfer. */
FI_INLINE void *fi_mr_desc(struct fid_mr *mr)
{
	return mr->mem_desc;
}

/* Key for peers; FI_KEY_NOTAVAIL: it is longer, see fi_mr_raw_attr(). */
FI_INLINE uint64_t fi_mr_key(struct fid_mr *mr)
{
	return mr->key;
}

/* Key of FI_MR_RAW: -FI_ETOOSMALL stores the bytes needed in *key_size. */
FI_INLINE int fi_mr_raw_attr(struct fid_mr *mr, uint64_t *base_addr,
		uint8_t *raw_key, size_t *key_size, uint64_t flags)
{
	struct fi_mr_raw_attr attr;

	attr.flags = flags;
	attr.base_addr = base_addr;
	attr.raw_key = raw_key;
	attr.key_size = key_size;
	return fi_control(&mr->fid, FI_GET_RAW_MR, &attr);
}

/* 64-bit key for a peer's raw one; fi_mr_unmap_key() when done with it. */
FI_INLINE int fi_mr_map_raw(struct fid_domain *domain, uint64_t base_addr,
		uint8_t *raw_key, size_t key_size, uint64_t *key,
		uint64_t flags)
{
	struct fi_mr_map_raw map;

	map.flags = flags;
	map.base_addr = base_addr;
	map.raw_key = raw_key;
	map.key_size = key_size;
	map.key = key;
	return fi_control(&domain->fid, FI_MAP_RAW_MR, &map);
}

FI_INLINE int fi_mr_unmap_key(struct fid_domain *domain, uint64_t key)
{
	return fi_control(&domain->fid, FI_UNMAP_KEY, &key);
}

/* Bind an endpoint (FI_MR_ENDPOINT) or a counter (FI_REMOTE_WRITE) to it. */
FI_INLINE int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, uint64_t flags)
{
	return mr->fid.ops->bind(&mr->fid, bfid, flags);
}

/* FI_MR_MMU_NOTIFY: the pages of these ranges have changed. */
FI_INLINE int fi_mr_refresh(struct fid_mr *mr, const struct iovec *iov,
		size_t count, uint64_t flags)
{
	struct fi_mr_modify modify;

	memset(&modify, 0, sizeof(modify));
	modify.flags = flags;
	modify.attr.mr_iov = iov;
	modify.attr.iov_count = count;
	return fi_control(&mr->fid, FI_REFRESH, &modify);
}

/* FI_MR_ENDPOINT: everything is bound, enable it. */
FI_INLINE int fi_mr_enable(struct fid_mr *mr)
{
	return fi_control(&mr->fid, FI_ENABLE, NULL);
}

/* FI_MR_XPU_DESC: descriptor for the calls of the device, mr_desc_size bytes of the context.
 * -FI_ETOOSMALL stores the bytes needed in *len.
 */
FI_INLINE int fi_mr_get_xpu_desc(struct fid_mr *mr, void *buf, size_t *len,
		uint64_t flags, struct fid_xpu_ctx *ctx)
{
	struct fi_mr_xpu_desc desc;

	desc.buf = buf;
	desc.len = len;
	desc.flags = flags;
	desc.ctx = ctx;
	return fi_control(&mr->fid, FI_GET_MR_XPU_DESC, &desc);
}

FI_INLINE int fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		struct fid_av **av, void *context)
{
	return domain->ops->av_open(domain, attr, av, context);
}

/* Events of inserts go to this event queue; older programs only. */
FI_DEPRECATED_FUNC
FI_INLINE int fi_av_bind(struct fid_av *av, struct fid *fid, uint64_t flags)
{
	return av->fid.ops->bind(&av->fid, fid, flags);
}

/* Insert count addresses; returns how many were inserted. Each that was not is FI_ADDR_NOTAVAIL
 * in fi_addr, which may be NULL with FI_AV_TABLE.
 */
FI_INLINE int fi_av_insert(struct fid_av *av, const void *addr, size_t count,
		fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	return av->ops->insert(av, addr, count, fi_addr, flags, context);
}

/* Insert one by name; returns 1. */
FI_INLINE int fi_av_insertsvc(struct fid_av *av, const char *node,
		const char *service, fi_addr_t *fi_addr, uint64_t flags,
		void *context)
{
	return av->ops->insertsvc(av, node, service, fi_addr, flags, context);
}

/* Insert nodecnt hosts counted up from node, each with svccnt services counted
 * up from service. */
FI_INLINE int fi_av_insertsym(struct fid_av *av, const char *node,
		size_t nodecnt, const char *service, size_t svccnt,
		fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	return av->ops->insertsym(av, node, nodecnt, service, svccnt, fi_addr,
			flags, context);
}

FI_INLINE int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count,
		uint64_t flags)
{
	return av->ops->remove(av, fi_addr, count, flags);
}

/* The address as it was inserted, cut to *addrlen bytes; stores the bytes that
 * it has in *addrlen. */
FI_INLINE int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr,
		size_t *addrlen)
{
	return av->ops->lookup(av, fi_addr, addr, addrlen);
}

/* With flags 0 as fi_av_lookup(). With FI_XPU the address as calls of the device take it,
 * av_addr_size bytes of the context; -FI_ETOOSMALL stores the bytes needed in *len.
 */
FI_INLINE int fi_av_lookup2(struct fid_av *av, fi_addr_t fi_addr, void *buf,
		size_t *len, uint64_t flags, struct fid_xpu_ctx *ctx)
{
	if (!FI_CHECK_OP(av->ops, struct fi_ops_av, lookup2))
		return -FI_ENOSYS;
	return av->ops->lookup2(av, fi_addr, buf, len, flags, ctx);
}

/* Print an address; stores the bytes it takes in *len, returns buf. */
FI_INLINE const char *fi_av_straddr(struct fid_av *av, const void *addr,
		char *buf, size_t *len)
{
	return av->ops->straddr(av, addr, buf, len);
}

FI_INLINE int fi_av_insert_auth_key(struct fid_av *av, const void *auth_key,
		size_t auth_key_size, fi_addr_t *fi_addr, uint64_t flags)
{
	if (!FI_CHECK_OP(av->ops, struct fi_ops_av, insert_auth_key))
		return -FI_ENOSYS;
	return av->ops->insert_auth_key(av, auth_key, auth_key_size, fi_addr,
			flags);
}

FI_INLINE int fi_av_lookup_auth_key(struct fid_av *av, fi_addr_t addr,
		void *auth_key, size_t *auth_key_size)
{
	if (!FI_CHECK_OP(av->ops, struct fi_ops_av, lookup_auth_key))
		return -FI_ENOSYS;
	return av->ops->lookup_auth_key(av, addr, auth_key, auth_key_size);
}

/* Completions name this peer user_id instead of fi_addr. */
FI_INLINE int fi_av_set_user_id(struct fid_av *av, fi_addr_t fi_addr,
		fi_addr_t user_id, uint64_t flags)
{
	if (!FI_CHECK_OP(av->ops, struct fi_ops_av, set_user_id))
		return -FI_ENOSYS;
	return av->ops->set_user_id(av, fi_addr, user_id, flags);
}

/* Address of one receive context; its number sits in the top bits. */
FI_INLINE fi_addr_t fi_rx_addr(fi_addr_t fi_addr, int rx_index, int rx_ctx_bits)
{
	return (fi_addr_t) (((uint64_t) rx_index << (64 - rx_ctx_bits)) |
			    fi_addr);
}

/* Address of a peer (or of any, FI_ADDR_UNSPEC) within one group; the group
 * sits in the upper half, in place of what was there. */
FI_INLINE fi_addr_t fi_group_addr(fi_addr_t fi_addr, uint32_t group_id)
{
	return (fi_addr_t) (((uint64_t) group_id << 32) |
			    (fi_addr & 0xFFFFFFFF));
}

#endif /* FABRIC_DIRECT_DOMAIN */

#ifdef __cplusplus
}
#endif

#endif /* FI_DOMAIN_H */
