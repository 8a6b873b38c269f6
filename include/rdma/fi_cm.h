/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_cm.h - names and connections.
 *
 * A passive endpoint listens; each request arrives as FI_CONNREQ with a fi_info
 * to open the endpoint with, and is answered by fi_accept() or fi_reject().
 * Both sides get FI_CONNECTED.
 */
#ifndef FI_CM_H
#define FI_CM_H

#include <rdma/fi_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Membership of a multicast or collective group; fi_close() leaves it. */
struct fid_mc {
	struct fid	fid;
	fi_addr_t	fi_addr;	/* address of the group */
};

/*
 * None blocks: the outcome of connect, accept and join is an event. param is private data
 * for the other side, copied by the call. All return 0 or a negative FI_E* value.
 */
struct fi_ops_cm {
	size_t	size;	/* of this structure, where it was compiled */
	/* fid: an endpoint or a passive endpoint, for these two */
	int (*setname)(fid_t fid, void *addr, size_t addrlen);
	int (*getname)(fid_t fid, void *addr, size_t *addrlen);
	/* from FI_CONNECTED on */
	int (*getpeer)(struct fid_ep *ep, void *addr, size_t *addrlen);
	/* an endpoint of type FI_EP_MSG, enabled by the call if need be */
	int (*connect)(struct fid_ep *ep, const void *addr, const void *param,
			size_t paramlen);
	int (*listen)(struct fid_pep *pep);
	/* an endpoint that was opened with the fi_info of a request */
	int (*accept)(struct fid_ep *ep, const void *param, size_t paramlen);
	int (*reject)(struct fid_pep *pep, fid_t handle, const void *param,
			size_t paramlen);
	/* flags: 0 */
	int (*shutdown)(struct fid_ep *ep, uint64_t flags);
	int (*join)(struct fid_ep *ep, const void *addr, uint64_t flags,
			struct fid_mc **mc, void *context);
};

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_cm.h>
#endif

#ifndef FABRIC_DIRECT_CM

/* Address to use, before enable or listen. */
FI_INLINE int fi_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct fid_ep *ep = (struct fid_ep *) fid;

	return ep->cm->setname(fid, addr, addrlen);
}

/* Own address; -FI_ETOOSMALL stores the bytes needed in *addrlen. */
FI_INLINE int fi_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct fid_ep *ep = (struct fid_ep *) fid;

	return ep->cm->getname(fid, addr, addrlen);
}

/* Address of the peer of a connected endpoint. */
FI_INLINE int fi_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return ep->cm->getpeer(ep, addr, addrlen);
}

/* Requests are reported from now on, on the event queue that pep is bound to. */
FI_INLINE int fi_listen(struct fid_pep *pep)
{
	return pep->cm->listen(pep);
}

/* Ask for a connection; param goes along, up to FI_OPT_CM_DATA_SIZE bytes. */
FI_INLINE int fi_connect(struct fid_ep *ep, const void *addr, const void *param,
		size_t paramlen)
{
	return ep->cm->connect(ep, addr, param, paramlen);
}

/* Accept the request that the endpoint was opened from. */
FI_INLINE int fi_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return ep->cm->accept(ep, param, paramlen);
}

/* Refuse a request: handle is fi_info::handle of it. */
FI_INLINE int fi_reject(struct fid_pep *pep, fid_t handle, const void *param,
		size_t paramlen)
{
	return pep->cm->reject(pep, handle, param, paramlen);
}

/* End the connection; the peer gets FI_SHUTDOWN. */
FI_INLINE int fi_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return ep->cm->shutdown(ep, flags);
}

/* Join a group. With FI_COLLECTIVE addr is a struct fi_collective_addr. */
FI_INLINE int fi_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		struct fid_mc **mc, void *context)
{
	if (!FI_CHECK_OP(ep->cm, struct fi_ops_cm, join))
		return -FI_ENOSYS;
	return ep->cm->join(ep, addr, flags, mc, context);
}

/* Address to send to all of the group. */
FI_INLINE fi_addr_t fi_mc_addr(struct fid_mc *mc)
{
	return mc->fi_addr;
}

#endif /* FABRIC_DIRECT_CM */

#ifdef __cplusplus
}
#endif

#endif /* FI_CM_H */
