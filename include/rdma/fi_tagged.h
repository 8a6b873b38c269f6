/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_tagged.h - messages matched by tag.
 *
 * A receive takes the oldest message whose tag equals its own in every bit
 * that ignore leaves clear.
 */
#ifndef FI_TAGGED_H
#define FI_TAGGED_H

#include <rdma/fi_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tags of FI_TAG_MPI: 32 bits of tag, 8 bits of payload above. */
#define FI_MPI_IGNORE_TAG	((uint64_t) 0xFFFFFFFF)
#define FI_MPI_IGNORE_PAYLOAD	((uint64_t) 0xFF << 32)

FI_INLINE uint64_t fi_tag_mpi(int tag, uint8_t payload_id)
{
	return ((uint64_t) payload_id << 32) | (uint32_t) tag;
}

struct fi_msg_tagged {
	const struct iovec	*msg_iov;	/* pieces */
	void			**desc;		/* one descriptor per piece, or NULL */
	size_t			iov_count;
	fi_addr_t		addr;		/* peer; ignored when connected */
	uint64_t		tag;
	uint64_t		ignore;		/* receives: bits that need not match */
	void			*context;	/* comes back in the completion */
	/* for the peer's completion, with FI_REMOTE_CQ_DATA */
	uint64_t		data;
};

struct fi_ops_tagged {
	size_t	size;
	ssize_t (*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			void *context);
	ssize_t (*recvv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			uint64_t tag, uint64_t ignore, void *context);
	ssize_t (*recvmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			uint64_t flags);
	ssize_t (*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, uint64_t tag,
			void *context);
	ssize_t (*sendv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			uint64_t tag, void *context);
	ssize_t (*sendmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			uint64_t flags);
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr, uint64_t tag);
	ssize_t (*senddata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			uint64_t tag, void *context);
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr, uint64_t tag);
};

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_tagged.h>
#endif

#ifndef FABRIC_DIRECT_TAGGED

FI_INLINE ssize_t fi_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc,
		fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
		void *context)
{
	return ep->tagged->recv(ep, buf, len, desc, src_addr, tag, ignore,
			context);
}

FI_INLINE ssize_t fi_trecvv(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t src_addr, uint64_t tag,
		uint64_t ignore, void *context)
{
	return ep->tagged->recvv(ep, iov, desc, count, src_addr, tag, ignore,
			context);
}

/* flags may be FI_PEEK, FI_CLAIM, FI_DISCARD. */
FI_INLINE ssize_t fi_trecvmsg(struct fid_ep *ep,
		const struct fi_msg_tagged *msg, uint64_t flags)
{
	return ep->tagged->recvmsg(ep, msg, flags);
}

FI_INLINE ssize_t fi_tsend(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return ep->tagged->send(ep, buf, len, desc, dest_addr, tag, context);
}

FI_INLINE ssize_t fi_tsendv(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t dest_addr, uint64_t tag,
		void *context)
{
	return ep->tagged->sendv(ep, iov, desc, count, dest_addr, tag, context);
}

FI_INLINE ssize_t fi_tsendmsg(struct fid_ep *ep,
		const struct fi_msg_tagged *msg, uint64_t flags)
{
	return ep->tagged->sendmsg(ep, msg, flags);
}

/* Send at most inject_size bytes; buf is free on return, no completion. */
FI_INLINE ssize_t fi_tinject(struct fid_ep *ep, const void *buf, size_t len,
		fi_addr_t dest_addr, uint64_t tag)
{
	return ep->tagged->inject(ep, buf, len, dest_addr, tag);
}

/* Send with data for the peer's completion. */
FI_INLINE ssize_t fi_tsenddata(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, fi_addr_t dest_addr, uint64_t tag,
		void *context)
{
	return ep->tagged->senddata(ep, buf, len, desc, data, dest_addr, tag,
			context);
}

FI_INLINE ssize_t fi_tinjectdata(struct fid_ep *ep, const void *buf, size_t len,
		uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return ep->tagged->injectdata(ep, buf, len, data, dest_addr, tag);
}

#endif /* FABRIC_DIRECT_TAGGED */

#ifdef __cplusplus
}
#endif

#endif /* FI_TAGGED_H */
