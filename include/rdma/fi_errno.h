/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_errno.h - the error numbers of the interface.
 *
 * Calls return 0 (or a count) on success and the negated number on failure:
 * `return -FI_EAGAIN`.  Numbers below FI_ERRNO_OFFSET are those of the system;
 * the ones above it exist only here.  fi_strerror() knows both.
 */
#ifndef FI_ERRNO_H
#define FI_ERRNO_H

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FI_ERRNO_OFFSET		256	/* our own numbers start here */

#define FI_SUCCESS		0

/* Numbers shared with the system. */
#define FI_EPERM		EPERM		/* not permitted */
#define FI_ENOENT		ENOENT		/* no such name */
#define FI_EINTR		EINTR		/* a signal cut the call short */
#define FI_EIO			EIO		/* the transfer failed in the system or the device */
#define FI_E2BIG		E2BIG		/* argument list too long */
#define FI_EBADF		EBADF		/* bad descriptor */
#define FI_EAGAIN		EAGAIN		/* not now: make progress, then retry */
#define FI_EWOULDBLOCK		EWOULDBLOCK	/* the same number as FI_EAGAIN */
#define FI_ENOMEM		ENOMEM		/* out of memory */
#define FI_EACCES		EACCES		/* access rights do not cover the operation */
#define FI_EFAULT		EFAULT		/* bad address */
#define FI_EBUSY		EBUSY		/* still in use: close what depends on it first */
#define FI_ENODEV		ENODEV		/* no such device or interface */
#define FI_EINVAL		EINVAL		/* an argument makes no sense */
#define FI_EMFILE		EMFILE		/* out of descriptors */
#define FI_ENOSPC		ENOSPC		/* out of room on the device */
#define FI_ENOSYS		ENOSYS		/* not implemented by this object */
#define FI_ENOMSG		ENOMSG		/* no message matches */
#define FI_ENODATA		ENODATA		/* nothing fits the hints */
#define FI_EPROTO		EPROTO		/* the peer broke the protocol */
#define FI_EOVERFLOW		EOVERFLOW	/* value does not fit its type */
#define FI_EMSGSIZE		EMSGSIZE	/* longer than the endpoint can send */
#define FI_ENOPROTOOPT		ENOPROTOOPT	/* no such option at this level */
#define FI_EOPNOTSUPP		EOPNOTSUPP	/* known, but not on this object */
#define FI_EADDRINUSE		EADDRINUSE	/* the address is taken */
#define FI_EADDRNOTAVAIL	EADDRNOTAVAIL	/* the address cannot be used here */
#define FI_ENETDOWN		ENETDOWN	/* network is down */
#define FI_ENETUNREACH		ENETUNREACH	/* no route to that network */
#define FI_ECONNABORTED		ECONNABORTED	/* connection aborted locally */
#define FI_ECONNRESET		ECONNRESET	/* connection was lost */
#define FI_ENOBUFS		ENOBUFS		/* out of buffers */
#define FI_EISCONN		EISCONN		/* already connected */
#define FI_ENOTCONN		ENOTCONN	/* not connected */
#define FI_ESHUTDOWN		ESHUTDOWN	/* endpoint was shut down */
#define FI_ETIMEDOUT		ETIMEDOUT	/* timeout */
#define FI_ECONNREFUSED		ECONNREFUSED	/* peer refused the connection */
#define FI_EHOSTDOWN		EHOSTDOWN	/* peer host is down */
#define FI_EHOSTUNREACH		EHOSTUNREACH	/* no route to that host */
#define FI_EALREADY		EALREADY	/* already in progress */
#define FI_EINPROGRESS		EINPROGRESS	/* started, not done yet */
#define FI_EREMOTEIO		EREMOTEIO	/* failed at the peer */
#define FI_ECANCELED		ECANCELED	/* cancelled by fi_cancel or a close */
#define FI_EKEYREJECTED		EKEYREJECTED	/* authorization key refused */

/* Numbers of our own. */
enum {
	FI_EOTHER = FI_ERRNO_OFFSET,	/* unspecified error */
	FI_ETOOSMALL,			/* caller's buffer too small; the size needed is stored */
	FI_EOPBADSTATE,			/* not in the state the call needs */
	FI_EAVAIL,			/* an error entry waits: call the readerr of the queue */
	FI_EBADFLAGS,			/* a flag this call does not take */
	FI_ENOEQ,			/* no event queue bound */
	FI_EDOMAIN,			/* objects of two different domains */
	FI_ENOCQ,			/* no completion queue bound */
	FI_ECRC,			/* checksum did not match */
	FI_ETRUNC,			/* message longer than the posted buffer */
	FI_ENOKEY,			/* no key, or a wrong one */
	FI_ENOAV,			/* no address vector bound */
	FI_EOVERRUN,			/* a queue overflowed and lost entries */
	FI_ENORX,			/* receiver was not ready */
	FI_ENOMR,			/* no memory registration to use */
	FI_EFIREWALLADDR,		/* address lies behind a firewall */
	FI_ERRNO_MAX			/* one past the last */
};

/* fi_strerror - text for an error number.
 *
 * @errnum: an FI_E number; the sign does not matter
 *
 * Ownership: static text, never freed.
 * Threading: any thread, never blocks.
 * Errors:    none; an unknown number gets a text that says so.
 */
const char *fi_strerror(int errnum);

#ifdef __cplusplus
}
#endif

#endif /* FI_ERRNO_H */
