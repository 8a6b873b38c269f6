/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_cm.h - names and connections, for kernel clients.
 *
 * None of these waits for the peer: the outcome of fi_connect() and fi_accept() is an event.
 * They may sleep for memory and locks: process context.
 */
#ifndef KOFI_FI_CM_H
#define KOFI_FI_CM_H

#include <kofi/fi_endpoint.h>

/* fi_setname - address to use, before fi_enable() or fi_listen(). */
static inline int fi_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct fid_ep *ep = container_of(fid, struct fid_ep, fid);

	return ep->cm->setname(fid, addr, addrlen);
}

/* fi_getname - own address; -FI_ETOOSMALL stores the bytes needed in *addrlen. */
static inline int fi_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct fid_ep *ep = container_of(fid, struct fid_ep, fid);

	return ep->cm->getname(fid, addr, addrlen);
}

/* fi_getpeer - address of the connected peer. */
static inline int fi_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return ep->cm->getpeer(ep, addr, addrlen);
}

/* fi_listen - requests arrive from now on as FI_CONNREQ. */
static inline int fi_listen(struct fid_pep *pep)
{
	return pep->cm->listen(pep);
}

/* fi_connect - connect to a passive endpoint; FI_CONNECTED or an error event follows. */
static inline int fi_connect(struct fid_ep *ep, const void *addr, const void *param,
			     size_t paramlen)
{
	return ep->cm->connect(ep, addr, param, paramlen);
}

/* fi_accept - accept the request that the endpoint was opened from; FI_CONNECTED follows. */
static inline int fi_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return ep->cm->accept(ep, param, paramlen);
}

/* fi_reject - refuse a request; @handle is that of its fi_info, and void afterwards: -FI_EINVAL. */
static inline int fi_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen)
{
	return pep->cm->reject(pep, handle, param, paramlen);
}

/* fi_shutdown - end the connection: outstanding operations complete with errors, and both
 * sides get FI_SHUTDOWN. */
static inline int fi_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return ep->cm->shutdown(ep, flags);
}

#endif /* KOFI_FI_CM_H */
