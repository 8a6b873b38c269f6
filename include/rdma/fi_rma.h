/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_rma.h - read and write a peer's registered memory.
 *
 * addr is a virtual address of the peer with FI_MR_VIRT_ADDR, else an offset
 * into the region that key names.
 */
#ifndef FI_RMA_H
#define FI_RMA_H

#include <rdma/fi_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of remote memory. */
struct fi_rma_iov {
	uint64_t	addr;	/* as above */
	size_t		len;	/* bytes */
	uint64_t	key;	/* fi_mr_key() of the peer's region */
};

/* Remote memory as an array of values (atomics). */
struct fi_rma_ioc {
	uint64_t	addr;	/* as above */
	size_t		count;	/* values, not bytes */
	uint64_t	key;	/* fi_mr_key() of the peer's region */
};

/* The argument of the msg forms. It is read by the call; the pieces it lists are in use later. */
struct fi_msg_rma {
	const struct iovec	*msg_iov;	/* local pieces */
	void			**desc;		/* one descriptor per piece, or NULL */
	size_t			iov_count;	/* at most tx_attr's iov_limit */
	fi_addr_t		addr;		/* peer; ignored when connected */
	const struct fi_rma_iov	*rma_iov;	/* remote pieces, as many bytes in all */
	size_t			rma_iov_count;	/* at most tx_attr's rma_iov_limit */
	void			*context;	/* comes back in the completion */
	/* for the peer's completion, with FI_REMOTE_CQ_DATA */
	uint64_t		data;
};

/*
 * Each returns 0 or a negative FI_E* value: -FI_EAGAIN where the queue is full, and nothing
 * has changed then. On 0 the local memory is the provider's until the completion, but for
 * inject. desc is fi_mr_desc() of the local memory where the domain asks for it (FI_MR_LOCAL).
 */
struct fi_ops_rma {
	size_t	size;	/* of this structure, where it was compiled */
	/* one local piece; v: several; msg: several on both sides, with flags */
	ssize_t (*read)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key,
			void *context);
	ssize_t (*readv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			uint64_t addr, uint64_t key, void *context);
	ssize_t (*readmsg)(struct fid_ep *ep, const struct fi_msg_rma *msg,
			uint64_t flags);
	/* the same forms */
	ssize_t (*write)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, uint64_t addr,
			uint64_t key, void *context);
	ssize_t (*writev)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			uint64_t addr, uint64_t key, void *context);
	ssize_t (*writemsg)(struct fid_ep *ep, const struct fi_msg_rma *msg,
			uint64_t flags);
	/* buf is copied, and there is no completion */
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key);
	/* the peer gets a completion with data, of cq_data_size bytes at most */
	ssize_t (*writedata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			uint64_t addr, uint64_t key, void *context);
	/* both */
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			uint64_t key);
};

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_rma.h>
#endif

#ifndef FABRIC_DIRECT_RMA

/* Remote memory to buf. */
FI_INLINE ssize_t fi_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
		fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	return ep->rma->read(ep, buf, len, desc, src_addr, addr, key, context);
}

/* Remote memory to several pieces, in their order. */
FI_INLINE ssize_t fi_readv(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t src_addr, uint64_t addr,
		uint64_t key, void *context)
{
	return ep->rma->readv(ep, iov, desc, count, src_addr, addr, key,
			context);
}

/* The same with flags in place of the endpoint's defaults, and several remote pieces. */
FI_INLINE ssize_t fi_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
		uint64_t flags)
{
	return ep->rma->readmsg(ep, msg, flags);
}

/* buf to remote memory. */
FI_INLINE ssize_t fi_write(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
		void *context)
{
	return ep->rma->write(ep, buf, len, desc, dest_addr, addr, key,
			context);
}

/* Several pieces, in their order, to remote memory. */
FI_INLINE ssize_t fi_writev(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t dest_addr, uint64_t addr,
		uint64_t key, void *context)
{
	return ep->rma->writev(ep, iov, desc, count, dest_addr, addr, key,
			context);
}

/* The same with flags in place of the endpoint's defaults, and several remote pieces. */
FI_INLINE ssize_t fi_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
		uint64_t flags)
{
	return ep->rma->writemsg(ep, msg, flags);
}

/* Write at most inject_size bytes; buf is free on return, no completion. */
FI_INLINE ssize_t fi_inject_write(struct fid_ep *ep, const void *buf,
		size_t len, fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return ep->rma->inject(ep, buf, len, dest_addr, addr, key);
}

/* Write, and notify the peer by a completion with data. */
FI_INLINE ssize_t fi_writedata(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, fi_addr_t dest_addr, uint64_t addr,
		uint64_t key, void *context)
{
	return ep->rma->writedata(ep, buf, len, desc, data, dest_addr, addr,
			key, context);
}

/* fi_inject_write() with the peer's completion of fi_writedata(). */
FI_INLINE ssize_t fi_inject_writedata(struct fid_ep *ep, const void *buf,
		size_t len, uint64_t data, fi_addr_t dest_addr, uint64_t addr,
		uint64_t key)
{
	return ep->rma->injectdata(ep, buf, len, data, dest_addr, addr, key);
}

#endif /* FABRIC_DIRECT_RMA */

#ifdef __cplusplus
}
#endif

#endif /* FI_RMA_H */
