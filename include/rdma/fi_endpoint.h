/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_endpoint.h - endpoints, and plain messages over them.
 *
 * An endpoint goes through: open, bind (queues, counters, address vector),
 * enable, use, close.  Transfer calls return at once: 0 means accepted,
 * -FI_EAGAIN means nothing has changed: drive progress and try again.  The
 * buffer belongs to the provider until the completion, unless injected.
 */
#ifndef FI_ENDPOINT_H
#define FI_ENDPOINT_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fi_ops_atomic;
struct fi_ops_cm;
struct fi_ops_collective;
struct fi_ops_rma;
struct fi_ops_tagged;
struct fid_xpu_ep;

/* ---- options (fi_setopt, fi_getopt) -------------------------------------- */

/* Levels. */
enum {
	FI_OPT_ENDPOINT
};

/* Names at FI_OPT_ENDPOINT, with the type of the value. */
enum {
	FI_OPT_MIN_MULTI_RECV,		/* size_t: a multi-receive buffer with less room left is
					 * released */
	FI_OPT_CM_DATA_SIZE,		/* size_t: longest data of fi_connect(), read only */
	FI_OPT_BUFFERED_MIN,		/* size_t: not used */
	FI_OPT_BUFFERED_LIMIT,		/* size_t: not used */
	FI_OPT_SEND_BUF_SIZE,		/* size_t: bytes of the transport's send buffer */
	FI_OPT_RECV_BUF_SIZE,		/* size_t: bytes of its receive buffer */
	FI_OPT_TX_SIZE,			/* size_t: operations in the transmit queue */
	FI_OPT_RX_SIZE,			/* size_t: receives in the receive queue */
	FI_OPT_FI_HMEM_P2P,		/* int: FI_HMEM_P2P_ */
	FI_OPT_XPU_TRIGGER,		/* struct fi_trigger_xpu, read only */
	FI_OPT_CUDA_API_PERMITTED,	/* bool: the provider may call CUDA */
	FI_OPT_SHARED_MEMORY_PERMITTED,	/* bool: peers on this host may be reached by shared memory */
	FI_OPT_MAX_MSG_SIZE,		/* size_t: longest message */
	FI_OPT_MAX_TAGGED_SIZE,		/* size_t: longest tagged message */
	FI_OPT_MAX_RMA_SIZE,		/* size_t: longest read or write */
	FI_OPT_MAX_ATOMIC_SIZE,		/* size_t: longest atomic */
	FI_OPT_INJECT_MSG_SIZE,		/* size_t: longest fi_inject() */
	FI_OPT_INJECT_TAGGED_SIZE,	/* size_t: longest fi_tinject() */
	FI_OPT_INJECT_RMA_SIZE,		/* size_t: longest fi_inject_write() */
	FI_OPT_INJECT_ATOMIC_SIZE,	/* size_t: longest fi_inject_atomic() */
	FI_OPT_FIREWALL_ADDR		/* bool: peers cannot connect to this endpoint: it connects
					 * to them */
};

/* Values of FI_OPT_FI_HMEM_P2P: direct transfers from and to device memory. */
enum {
	FI_HMEM_P2P_ENABLED,		/* where it works */
	FI_HMEM_P2P_REQUIRED,		/* or fail */
	FI_HMEM_P2P_PREFERRED,		/* even where a copy would be quicker */
	FI_HMEM_P2P_DISABLED		/* always copy */
};

/* ---- structs ------------------------------------------------------------- */

/* The most general message. */
struct fi_msg {
	const struct iovec	*msg_iov;	/* pieces */
	void			**desc;		/* one descriptor per piece, or NULL */
	size_t			iov_count;	/* number of pieces */
	fi_addr_t		addr;		/* peer; ignored when connected */
	void			*context;	/* comes back in the completion */
	/* for the peer's completion, with FI_REMOTE_CQ_DATA */
	uint64_t		data;
};

/* Slots are the calls of the same name below. fid: endpoint, passive endpoint,
 * or shared context. */
struct fi_ops_ep {
	size_t	size;
	ssize_t (*cancel)(fid_t fid, void *context);
	int (*getopt)(fid_t fid, int level, int optname, void *optval,
			size_t *optlen);
	int (*setopt)(fid_t fid, int level, int optname, const void *optval,
			size_t optlen);
	int (*tx_ctx)(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
			struct fid_ep **tx_ep, void *context);
	int (*rx_ctx)(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
			struct fid_ep **rx_ep, void *context);
	ssize_t (*rx_size_left)(struct fid_ep *ep);
	ssize_t (*tx_size_left)(struct fid_ep *ep);
	int (*export_xpu)(struct fid_ep *ep, uint64_t flags,
			struct fid_xpu_ep *xpu_ep);
};

/*
 * Transfers. In every table of transfers (here, rma, tagged, atomic,
 * collective) an operation never blocks; 0 means that the provider has it, and
 * the buffers until its completion; -FI_EAGAIN means that nothing has changed.
 * The caller keeps to its FI_THREAD_ promise: no lock is taken on its behalf.
 */
struct fi_ops_msg {
	size_t	size;
	ssize_t (*recv)(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context);
	ssize_t (*recvv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t src_addr,
			void *context);
	ssize_t (*recvmsg)(struct fid_ep *ep, const struct fi_msg *msg,
			uint64_t flags);
	ssize_t (*send)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, void *context);
	ssize_t (*sendv)(struct fid_ep *ep, const struct iovec *iov,
			void **desc, size_t count, fi_addr_t dest_addr,
			void *context);
	ssize_t (*sendmsg)(struct fid_ep *ep, const struct fi_msg *msg,
			uint64_t flags);
	ssize_t (*inject)(struct fid_ep *ep, const void *buf, size_t len,
			fi_addr_t dest_addr);
	ssize_t (*senddata)(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, uint64_t data, fi_addr_t dest_addr,
			void *context);
	ssize_t (*injectdata)(struct fid_ep *ep, const void *buf, size_t len,
			uint64_t data, fi_addr_t dest_addr);
};

/* Endpoint, or one context of a scalable one. A table it has no use for may
 * be NULL only where the call says -FI_ENOSYS for it. */
struct fid_ep {
	struct fid			fid;
	struct fi_ops_ep		*ops;
	struct fi_ops_cm		*cm;
	struct fi_ops_msg		*msg;
	struct fi_ops_rma		*rma;
	struct fi_ops_tagged		*tagged;
	struct fi_ops_atomic		*atomic;
	struct fi_ops_collective	*collective;
};

/* Passive endpoint: listens. Its start is that of a fid_ep. */
struct fid_pep {
	struct fid		fid;
	struct fi_ops_ep	*ops;
	struct fi_ops_cm	*cm;
};

/* Transmit context that endpoints share. */
struct fid_stx {
	struct fid		fid;
	struct fi_ops_ep	*ops;
};

/* ---- calls --------------------------------------------------------------- */

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_endpoint.h>
#endif

#ifndef FABRIC_DIRECT_ENDPOINT

FI_INLINE int fi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		struct fid_pep **pep, void *context)
{
	return fabric->ops->passive_ep(fabric, info, pep, context);
}

FI_INLINE int fi_endpoint(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context)
{
	return domain->ops->endpoint(domain, info, ep, context);
}

/* The same, with flags: FI_PEER_TRANSFER, FI_XPU. */
FI_INLINE int fi_endpoint2(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, uint64_t flags, void *context)
{
	if (!FI_CHECK_OP(domain->ops, struct fi_ops_domain, endpoint2))
		return -FI_ENOSYS;
	return domain->ops->endpoint2(domain, info, ep, flags, context);
}

FI_INLINE int fi_scalable_ep(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **sep, void *context)
{
	return domain->ops->scalable_ep(domain, info, sep, context);
}

/* Bind a queue, counter, address vector, shared context... to the endpoint; flags say for which
 * operations.
 */
FI_INLINE int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, uint64_t flags)
{
	return ep->fid.ops->bind(&ep->fid, bfid, flags);
}

FI_INLINE int fi_pep_bind(struct fid_pep *pep, struct fid *bfid, uint64_t flags)
{
	return pep->fid.ops->bind(&pep->fid, bfid, flags);
}

FI_INLINE int fi_scalable_ep_bind(struct fid_ep *sep, struct fid *bfid,
		uint64_t flags)
{
	return sep->fid.ops->bind(&sep->fid, bfid, flags);
}

/* Everything is bound: enable it. */
FI_INLINE int fi_enable(struct fid_ep *ep)
{
	return fi_control(&ep->fid, FI_ENABLE, NULL);
}

/* Cancel the operation posted with this context; it completes as FI_ECANCELED unless it was too
 * late.
 */
FI_INLINE ssize_t fi_cancel(fid_t fid, void *context)
{
	struct fid_ep *ep = (struct fid_ep *) fid;

	return ep->ops->cancel(fid, context);
}

FI_INLINE int fi_setopt(fid_t fid, int level, int optname, const void *optval,
		size_t optlen)
{
	struct fid_ep *ep = (struct fid_ep *) fid;

	return ep->ops->setopt(fid, level, optname, optval, optlen);
}

FI_INLINE int fi_getopt(fid_t fid, int level, int optname, void *optval,
		size_t *optlen)
{
	struct fid_ep *ep = (struct fid_ep *) fid;

	return ep->ops->getopt(fid, level, optname, optval, optlen);
}

/* A second handle on the endpoint, with other default flags. */
FI_INLINE int fi_ep_alias(struct fid_ep *ep, struct fid_ep **alias_ep,
		uint64_t flags)
{
	struct fid *fid = NULL;
	int ret = fi_alias(&ep->fid, &fid, flags);

	if (!ret)
		*alias_ep = (struct fid_ep *) fid;
	return ret;
}

FI_INLINE int fi_tx_context(struct fid_ep *ep, int idx, struct fi_tx_attr *attr,
		struct fid_ep **tx_ep, void *context)
{
	return ep->ops->tx_ctx(ep, idx, attr, tx_ep, context);
}

FI_INLINE int fi_rx_context(struct fid_ep *ep, int idx, struct fi_rx_attr *attr,
		struct fid_ep **rx_ep, void *context)
{
	return ep->ops->rx_ctx(ep, idx, attr, rx_ep, context);
}

FI_DEPRECATED_FUNC
FI_INLINE ssize_t fi_rx_size_left(struct fid_ep *ep)
{
	if (!FI_CHECK_OP(ep->ops, struct fi_ops_ep, rx_size_left))
		return -FI_ENOSYS;
	return ep->ops->rx_size_left(ep);
}

FI_DEPRECATED_FUNC
FI_INLINE ssize_t fi_tx_size_left(struct fid_ep *ep)
{
	if (!FI_CHECK_OP(ep->ops, struct fi_ops_ep, tx_size_left))
		return -FI_ENOSYS;
	return ep->ops->tx_size_left(ep);
}

FI_INLINE int fi_stx_context(struct fid_domain *domain, struct fi_tx_attr *attr,
		struct fid_stx **stx, void *context)
{
	return domain->ops->stx_ctx(domain, attr, stx, context);
}

FI_INLINE int fi_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
		struct fid_ep **rx_ep, void *context)
{
	return domain->ops->srx_ctx(domain, attr, rx_ep, context);
}

/* The handle by which the device posts to an endpoint that was opened with FI_XPU and is enabled:
 * copy it there.
 */
FI_INLINE int fi_ep_export_xpu(struct fid_ep *ep, uint64_t flags,
		struct fid_xpu_ep *xpu_ep)
{
	if (!FI_CHECK_OP(ep->ops, struct fi_ops_ep, export_xpu))
		return -FI_ENOSYS;
	return ep->ops->export_xpu(ep, flags, xpu_ep);
}

/* Post a buffer for a message from src_addr, or FI_ADDR_UNSPEC. */
FI_INLINE ssize_t fi_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
		fi_addr_t src_addr, void *context)
{
	return ep->msg->recv(ep, buf, len, desc, src_addr, context);
}

FI_INLINE ssize_t fi_recvv(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t src_addr, void *context)
{
	return ep->msg->recvv(ep, iov, desc, count, src_addr, context);
}

FI_INLINE ssize_t fi_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
		uint64_t flags)
{
	return ep->msg->recvmsg(ep, msg, flags);
}

FI_INLINE ssize_t fi_send(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, fi_addr_t dest_addr, void *context)
{
	return ep->msg->send(ep, buf, len, desc, dest_addr, context);
}

FI_INLINE ssize_t fi_sendv(struct fid_ep *ep, const struct iovec *iov,
		void **desc, size_t count, fi_addr_t dest_addr, void *context)
{
	return ep->msg->sendv(ep, iov, desc, count, dest_addr, context);
}

FI_INLINE ssize_t fi_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
		uint64_t flags)
{
	return ep->msg->sendmsg(ep, msg, flags);
}

/* Send at most inject_size bytes; the buffer is free on return, and no
 * completion is written. */
FI_INLINE ssize_t fi_inject(struct fid_ep *ep, const void *buf, size_t len,
		fi_addr_t dest_addr)
{
	return ep->msg->inject(ep, buf, len, dest_addr);
}

/* Send with data for the peer's completion. */
FI_INLINE ssize_t fi_senddata(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, fi_addr_t dest_addr, void *context)
{
	return ep->msg->senddata(ep, buf, len, desc, data, dest_addr, context);
}

FI_INLINE ssize_t fi_injectdata(struct fid_ep *ep, const void *buf, size_t len,
		uint64_t data, fi_addr_t dest_addr)
{
	return ep->msg->injectdata(ep, buf, len, data, dest_addr);
}

#endif /* FABRIC_DIRECT_ENDPOINT */

#ifdef __cplusplus
}
#endif

#endif /* FI_ENDPOINT_H */
