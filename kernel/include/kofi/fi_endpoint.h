/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_endpoint.h - endpoints, and plain messages over them, for kernel clients.
 *
 * Data transfer calls return 0 when the provider has taken the operation: its buffers are the
 * provider's until the completion, lists and message structures are the caller's again at
 * once.  -FI_EAGAIN means that nothing has changed and the call may be made again later.
 * Each operation that was taken ends once: by an entry in the completion queue, silently where
 * the caller asked for that, or by the close of its endpoint.
 */
#ifndef KOFI_FI_ENDPOINT_H
#define KOFI_FI_ENDPOINT_H

#include <kofi/fi_domain.h>

/* The most general message. */
struct fi_msg {
	union {
		const struct kvec	*msg_iov;	/* pieces */
		const struct bio_vec	*msg_bvec;	/* the same, with FI_BVEC */
	};
	void		**desc;		/* not used */
	size_t		iov_count;
	fi_addr_t	addr;		/* peer; ignored when connected */
	void		*context;	/* comes back in the completion */
	uint64_t	data;		/* for the peer's completion, with FI_REMOTE_CQ_DATA */
};

/* fi_endpoint - open an endpoint as @info describes; with info->handle of a FI_CONNREQ, the
 * endpoint to accept that request with.
 *
 * Errors: -FI_EINVAL the handle is that of no request of this fabric, or of one that was answered.
 */
static inline int fi_endpoint(struct fid_domain *domain, struct fi_info *info,
			      struct fid_ep **ep_p, void *context)
{
	return domain->ops->endpoint(domain, info, ep_p, context);
}

/* fi_ep_open - another name of it. */
static inline int fi_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
			     void *context)
{
	return fi_endpoint(domain, info, ep_p, context);
}

/* fi_srx_context - open a shared receive context: receives are posted there, and endpoints that are
 * bound to it (fi_ep_bind) take from it. A receive completes in the queue of the endpoint that took it.
 *
 * Errors: -FI_ENOSYS the provider has none.
 */
static inline int fi_srx_context(struct fid_domain *domain, struct fi_rx_attr *attr,
				 struct fid_ep **rx_ep_p, void *context)
{
	return domain->ops->srx_ctx ? domain->ops->srx_ctx(domain, attr, rx_ep_p, context) :
				      -FI_ENOSYS;
}

/* fi_passive_ep - open an endpoint that listens. */
static inline int fi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
				struct fid_pep **pep_p, void *context)
{
	return fabric->ops->passive_ep(fabric, info, pep_p, context);
}

/* fi_ep_bind - tie a queue (FI_TRANSMIT, FI_RECV, FI_SELECTIVE_COMPLETION), counter (FI_SEND,
 * FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_WRITE, FI_REMOTE_READ), event queue or address vector
 * to an endpoint that is not enabled yet.
 */
static inline int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, uint64_t flags)
{
	return ep->fid.ops->bind(&ep->fid, bfid, flags);
}

static inline int fi_pep_bind(struct fid_pep *pep, struct fid *bfid, uint64_t flags)
{
	return pep->fid.ops->bind(&pep->fid, bfid, flags);
}

/* fi_bind - fi_ep_bind(), fi_pep_bind() or fi_mr_bind(), by the object. */
static inline int fi_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return fid->ops->bind(fid, bfid, flags);
}

/* fi_enable - make it ready; receives may be posted, and RDM endpoints may send. */
static inline int fi_enable(struct fid_ep *ep)
{
	return ep->fid.ops->control(&ep->fid, FI_ENABLE, NULL);
}

/* fi_cancel - take back a posted receive: it completes with FI_ECANCELED. */
static inline ssize_t fi_cancel(struct fid *fid, void *context)
{
	struct fid_ep *ep = container_of(fid, struct fid_ep, fid);

	return ep->ops->cancel(fid, context);
}

static inline int fi_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen)
{
	struct fid_ep *ep = container_of(fid, struct fid_ep, fid);

	return ep->ops->getopt(fid, level, optname, optval, optlen);
}

/* fi_setopt - FI_OPT_MIN_MULTI_RECV: bytes that must be left in a buffer of FI_MULTI_RECV. */
static inline int fi_setopt(struct fid *fid, int level, int optname, const void *optval,
			    size_t optlen)
{
	struct fid_ep *ep = container_of(fid, struct fid_ep, fid);

	return ep->ops->setopt(fid, level, optname, optval, optlen);
}

static inline ssize_t fi_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			      fi_addr_t src_addr, void *context)
{
	return ep->msg->recv(ep, buf, len, desc, src_addr, context);
}

static inline ssize_t fi_recvv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			       size_t count, fi_addr_t src_addr, void *context)
{
	return ep->msg->recvv(ep, iov, desc, count, src_addr, context);
}

static inline ssize_t fi_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return ep->msg->recvmsg(ep, msg, flags);
}

static inline ssize_t fi_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      fi_addr_t dest_addr, void *context)
{
	return ep->msg->send(ep, buf, len, desc, dest_addr, context);
}

static inline ssize_t fi_sendv(struct fid_ep *ep, const struct kvec *iov, void **desc,
			       size_t count, fi_addr_t dest_addr, void *context)
{
	return ep->msg->sendv(ep, iov, desc, count, dest_addr, context);
}

static inline ssize_t fi_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return ep->msg->sendmsg(ep, msg, flags);
}

/* fi_inject - send at most tx_attr->inject_size bytes; @buf is free at the return, and there is
 * no completion. */
static inline ssize_t fi_inject(struct fid_ep *ep, const void *buf, size_t len,
				fi_addr_t dest_addr)
{
	return ep->msg->inject(ep, buf, len, dest_addr);
}

static inline ssize_t fi_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				  uint64_t data, fi_addr_t dest_addr, void *context)
{
	return ep->msg->senddata(ep, buf, len, desc, data, dest_addr, context);
}

static inline ssize_t fi_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				    fi_addr_t dest_addr)
{
	return ep->msg->injectdata(ep, buf, len, data, dest_addr);
}

/* fi_sendto, fi_recvfrom - fi_send() and fi_recv() of reliable datagram endpoints. */
static inline ssize_t fi_sendto(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				fi_addr_t dest_addr, void *context)
{
	return ep->msg->send(ep, buf, len, desc, dest_addr, context);
}

static inline ssize_t fi_recvfrom(struct fid_ep *ep, void *buf, size_t len, void *desc,
				  fi_addr_t src_addr, void *context)
{
	return ep->msg->recv(ep, buf, len, desc, src_addr, context);
}

#endif /* KOFI_FI_ENDPOINT_H */
