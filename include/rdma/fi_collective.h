/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_collective.h - operations of a whole group.
 *
 * Build an AV set of the members, join it (the end is FI_JOIN_COMPLETE), and
 * use the address of the returned fid_mc.  Every member makes the same calls
 * in the same order.  Counts are values, not bytes.
 */
#ifndef FI_COLLECTIVE_H
#define FI_COLLECTIVE_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fi_ops_av_set {
	size_t	size;
	int (*set_union)(struct fid_av_set *dst, const struct fid_av_set *src);
	int (*intersect)(struct fid_av_set *dst, const struct fid_av_set *src);
	int (*diff)(struct fid_av_set *dst, const struct fid_av_set *src);
	int (*insert)(struct fid_av_set *set, fi_addr_t addr);
	int (*remove)(struct fid_av_set *set, fi_addr_t addr);
	int (*addr)(struct fid_av_set *set, fi_addr_t *coll_addr);
};

struct fid_av_set {
	struct fid		fid;
	struct fi_ops_av_set	*ops;
};

struct fi_collective_attr {
	enum fi_op		op;		/* [in] operation asked about */
	enum fi_datatype	datatype;	/* [in] values asked about */
	struct fi_atomic_attr	datatype_attr;	/* [out] limits of one operation */
	size_t			max_members;	/* [out] members of a group */
	uint64_t		mode;		/* 0 */
};

/* fi_join() with FI_COLLECTIVE. */
struct fi_collective_addr {
	const struct fid_av_set	*set;		/* members */
	/* parent group, or FI_ADDR_NOTAVAIL for the set's own */
	fi_addr_t		coll_addr;
};

/* The most general collective. */
struct fi_msg_collective {
	const struct fi_ioc	*msg_iov;	/* operands */
	void			**desc;		/* one descriptor per piece, or NULL */
	size_t			iov_count;
	fi_addr_t		coll_addr;	/* group */
	fi_addr_t		root_addr;	/* member at the root, where there is one */
	enum fi_collective_op	coll;
	enum fi_datatype	datatype;
	enum fi_op		op;
	void			*context;	/* comes back in the completion */
};

struct fi_ops_collective {
	size_t	size;
	ssize_t (*barrier)(struct fid_ep *ep, fi_addr_t coll_addr,
			void *context);
	ssize_t (*broadcast)(struct fid_ep *ep, void *buf, size_t count,
			void *desc, fi_addr_t coll_addr, fi_addr_t root_addr,
			enum fi_datatype datatype, uint64_t flags,
			void *context);
	ssize_t (*alltoall)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t coll_addr, enum fi_datatype datatype,
			uint64_t flags, void *context);
	ssize_t (*allreduce)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t coll_addr, enum fi_datatype datatype,
			enum fi_op op, uint64_t flags, void *context);
	ssize_t (*allgather)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t coll_addr, enum fi_datatype datatype,
			uint64_t flags, void *context);
	ssize_t (*reduce_scatter)(struct fid_ep *ep, const void *buf,
			size_t count, void *desc, void *result,
			void *result_desc, fi_addr_t coll_addr,
			enum fi_datatype datatype, enum fi_op op,
			uint64_t flags, void *context);
	ssize_t (*reduce)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t coll_addr, fi_addr_t root_addr,
			enum fi_datatype datatype, enum fi_op op,
			uint64_t flags, void *context);
	ssize_t (*scatter)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t coll_addr, fi_addr_t root_addr,
			enum fi_datatype datatype, uint64_t flags,
			void *context);
	ssize_t (*gather)(struct fid_ep *ep, const void *buf, size_t count,
			void *desc, void *result, void *result_desc,
			fi_addr_t coll_addr, fi_addr_t root_addr,
			enum fi_datatype datatype, uint64_t flags,
			void *context);
	ssize_t (*msg)(struct fid_ep *ep, const struct fi_msg_collective *msg,
			struct fi_ioc *resultv, void **result_desc,
			size_t result_count, uint64_t flags);
	ssize_t (*barrier2)(struct fid_ep *ep, fi_addr_t coll_addr,
			uint64_t flags, void *context);
};

/* A direct provider has no header for this set: it says so in fi_direct.h. */
#ifndef FABRIC_DIRECT_COLLECTIVE

/* ---- sets of addresses --------------------------------------------------- */

FI_INLINE int fi_av_set(struct fid_av *av, struct fi_av_set_attr *attr,
		struct fid_av_set **set, void *context)
{
	if (!FI_CHECK_OP(av->ops, struct fi_ops_av, av_set))
		return -FI_ENOSYS;
	return av->ops->av_set(av, attr, set, context);
}

/* dst = dst + src */
FI_INLINE int fi_av_set_union(struct fid_av_set *dst,
		const struct fid_av_set *src)
{
	if (!FI_CHECK_OP(dst->ops, struct fi_ops_av_set, set_union))
		return -FI_ENOSYS;
	return dst->ops->set_union(dst, src);
}

/* dst = members of both */
FI_INLINE int fi_av_set_intersect(struct fid_av_set *dst,
		const struct fid_av_set *src)
{
	if (!FI_CHECK_OP(dst->ops, struct fi_ops_av_set, intersect))
		return -FI_ENOSYS;
	return dst->ops->intersect(dst, src);
}

/* dst = dst without src */
FI_INLINE int fi_av_set_diff(struct fid_av_set *dst,
		const struct fid_av_set *src)
{
	if (!FI_CHECK_OP(dst->ops, struct fi_ops_av_set, diff))
		return -FI_ENOSYS;
	return dst->ops->diff(dst, src);
}

FI_INLINE int fi_av_set_insert(struct fid_av_set *set, fi_addr_t addr)
{
	if (!FI_CHECK_OP(set->ops, struct fi_ops_av_set, insert))
		return -FI_ENOSYS;
	return set->ops->insert(set, addr);
}

FI_INLINE int fi_av_set_remove(struct fid_av_set *set, fi_addr_t addr)
{
	if (!FI_CHECK_OP(set->ops, struct fi_ops_av_set, remove))
		return -FI_ENOSYS;
	return set->ops->remove(set, addr);
}

/* Address of the set itself, to join it by. */
FI_INLINE int fi_av_set_addr(struct fid_av_set *set, fi_addr_t *coll_addr)
{
	if (!FI_CHECK_OP(set->ops, struct fi_ops_av_set, addr))
		return -FI_ENOSYS;
	return set->ops->addr(set, coll_addr);
}

/* ---- groups -------------------------------------------------------------- */

FI_INLINE int fi_join_collective(struct fid_ep *ep, fi_addr_t coll_addr,
		const struct fid_av_set *set, uint64_t flags,
		struct fid_mc **mc, void *context)
{
	struct fi_collective_addr addr;

	addr.set = set;
	addr.coll_addr = coll_addr;
	return fi_join(ep, &addr, flags | FI_COLLECTIVE, mc, context);
}

FI_INLINE ssize_t fi_barrier(struct fid_ep *ep, fi_addr_t coll_addr,
		void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, barrier))
		return -FI_ENOSYS;
	return ep->collective->barrier(ep, coll_addr, context);
}

FI_INLINE ssize_t fi_barrier2(struct fid_ep *ep, fi_addr_t coll_addr,
		uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, barrier2))
		return -FI_ENOSYS;
	return ep->collective->barrier2(ep, coll_addr, flags, context);
}

/* buf of the root to buf of all. */
FI_INLINE ssize_t fi_broadcast(struct fid_ep *ep, void *buf, size_t count,
		void *desc, fi_addr_t coll_addr, fi_addr_t root_addr,
		enum fi_datatype datatype, uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, broadcast))
		return -FI_ENOSYS;
	return ep->collective->broadcast(ep, buf, count, desc, coll_addr,
			root_addr, datatype, flags, context);
}

/* Member i gets the i-th slice of every member's buf. */
FI_INLINE ssize_t fi_alltoall(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, enum fi_datatype datatype, uint64_t flags,
		void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, alltoall))
		return -FI_ENOSYS;
	return ep->collective->alltoall(ep, buf, count, desc, result,
			result_desc, coll_addr, datatype, flags, context);
}

/* All get op over the buf of all members. */
FI_INLINE ssize_t fi_allreduce(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, enum fi_datatype datatype, enum fi_op op,
		uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, allreduce))
		return -FI_ENOSYS;
	return ep->collective->allreduce(ep, buf, count, desc, result,
			result_desc, coll_addr, datatype, op, flags, context);
}

/* All get the buf of all members, in order of members. */
FI_INLINE ssize_t fi_allgather(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, enum fi_datatype datatype, uint64_t flags,
		void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, allgather))
		return -FI_ENOSYS;
	return ep->collective->allgather(ep, buf, count, desc, result,
			result_desc, coll_addr, datatype, flags, context);
}

/* Member i gets the i-th slice of op over the buf of all members. */
FI_INLINE ssize_t fi_reduce_scatter(struct fid_ep *ep, const void *buf,
		size_t count, void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, enum fi_datatype datatype, enum fi_op op,
		uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, reduce_scatter))
		return -FI_ENOSYS;
	return ep->collective->reduce_scatter(ep, buf, count, desc, result,
			result_desc, coll_addr, datatype, op, flags, context);
}

/* The root gets op over the buf of all members. */
FI_INLINE ssize_t fi_reduce(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, fi_addr_t root_addr,
		enum fi_datatype datatype, enum fi_op op, uint64_t flags,
		void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, reduce))
		return -FI_ENOSYS;
	return ep->collective->reduce(ep, buf, count, desc, result, result_desc,
			coll_addr, root_addr, datatype, op, flags, context);
}

/* Member i gets the i-th slice of the root's buf. */
FI_INLINE ssize_t fi_scatter(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, fi_addr_t root_addr,
		enum fi_datatype datatype, uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, scatter))
		return -FI_ENOSYS;
	return ep->collective->scatter(ep, buf, count, desc, result,
			result_desc, coll_addr, root_addr, datatype, flags,
			context);
}

/* The root gets the buf of all members, in order of members. */
FI_INLINE ssize_t fi_gather(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, fi_addr_t root_addr,
		enum fi_datatype datatype, uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(ep->collective, struct fi_ops_collective, gather))
		return -FI_ENOSYS;
	return ep->collective->gather(ep, buf, count, desc, result, result_desc,
			coll_addr, root_addr, datatype, flags, context);
}

/* Is it supported, and within which limits? */
FI_INLINE int fi_query_collective(struct fid_domain *domain,
		enum fi_collective_op coll, struct fi_collective_attr *attr,
		uint64_t flags)
{
	if (!FI_CHECK_OP(domain->ops, struct fi_ops_domain, query_collective))
		return -FI_ENOSYS;
	return domain->ops->query_collective(domain, coll, attr, flags);
}

#endif /* FABRIC_DIRECT_COLLECTIVE */

#ifdef __cplusplus
}
#endif

#endif /* FI_COLLECTIVE_H */
