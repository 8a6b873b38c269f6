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

/* A tag of the format FI_TAG_MPI; FI_MPI_IGNORE_TAG and FI_MPI_IGNORE_PAYLOAD are masks for ignore,
 * to receive any of the one or the other.
 */
FI_INLINE uint64_t fi_tag_mpi(int tag, uint8_t payload_id)
{
	return ((uint64_t) payload_id << 32) | (uint32_t) tag;
}

/* The argument of the msg forms. It is read by the call; the pieces it lists are in use later. */
struct fi_msg_tagged {
	const struct iovec	*msg_iov;	/* pieces */
	void			**desc;		/* one descriptor per piece, or NULL */
	size_t			iov_count;	/* at most iov_limit of tx_attr or rx_attr */
	fi_addr_t		addr;		/* peer; ignored when connected */
	uint64_t		tag;		/* sent, or received */
	uint64_t		ignore;		/* receives: bits that need not match */
	void			*context;	/* comes back in the completion */
	/* for the peer's completion, with FI_REMOTE_CQ_DATA */
	uint64_t		data;
};

/*
 * Each returns 0 or a negative FI_E* value: -FI_EAGAIN where the queue is full, and nothing
 * has changed then. On 0 the memory is the provider's until the completion, but for inject.
 * desc is fi_mr_desc() of the memory where the domain asks for it (FI_MR_LOCAL).
 *
 * A receive takes the oldest message whose tag is its own in all bits that ignore does not
 * have, from src_addr where it names a peer (FI_DIRECTED_RECV).
 */
struct fi_ops_tagged {
	size_t	size;	/* of this structure, where it was compiled */
	/* one piece; v: several; msg: several, with flags */
	ssize_t (*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			void *context);
	ssize_t (*recvv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			uint64_t tag, uint64_t ignore, void *context);
	ssize_t (*recvmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			uint64_t flags);
	/* the same forms */
	ssize_t (*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, uint64_t tag,
			void *context);
	ssize_t (*sendv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			uint64_t tag, void *context);
	ssize_t (*sendmsg)(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			uint64_t flags);
	/* buf is copied, and there is no completion */
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr, uint64_t tag);
	/* data is in the peer's completion, cq_data_size bytes of it at most */
	ssize_t (*senddata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			uint64_t tag, void *context);
	/* both */
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr, uint64_t tag);
};

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_tagged.h>
#endif

#ifndef FABRIC_DIRECT_TAGGED

/* Receive into buf; a message that is longer ends in FI_ETRUNC. */
FI_INLINE ssize_t fi_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc,
		fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
		void *context)
{
	return ep->tagged->recv(ep, buf, len, desc, src_addr, tag, ignore,
			context);
}

/* Receive into several pieces, which are filled in their order. */
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

/* Send several pieces as one message, in their order. */
FI_INLINE ssize_t fi_tsendv(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t dest_addr, uint64_t tag,
		void *context)
{
	return ep->tagged->sendv(ep, iov, desc, count, dest_addr, tag, context);
}

/* The same with flags in place of the endpoint's defaults. */
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

/* fi_tinject() with data for the peer's completion. */
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
