/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <string.h>

#include <rdma/fi_errno.h>

#include "core/export.h"

/* Texts of the library's codes, from FI_EOTHER on. */
static const char *const own[] = {
	[FI_EOTHER - FI_ERRNO_OFFSET] = "Failure without a more exact code",
	[FI_ETOOSMALL - FI_ERRNO_OFFSET] = "Buffer is too small for the result",
	[FI_EOPBADSTATE - FI_ERRNO_OFFSET] = "Not allowed in the object's present state",
	[FI_EAVAIL - FI_ERRNO_OFFSET] = "An error entry is waiting to be read",
	[FI_EBADFLAGS - FI_ERRNO_OFFSET] = "Flags or capabilities are not valid here",
	[FI_ENOEQ - FI_ERRNO_OFFSET] = "No event queue is bound, or it cannot be used",
	[FI_EDOMAIN - FI_ERRNO_OFFSET] = "Objects belong to different domains",
	[FI_ENOCQ - FI_ERRNO_OFFSET] = "No completion queue is bound, or it cannot be used",
	[FI_ECRC - FI_ERRNO_OFFSET] = "Checksum of received data is wrong",
	[FI_ETRUNC - FI_ERRNO_OFFSET] = "Message was longer than the receive buffer",
	[FI_ENOKEY - FI_ERRNO_OFFSET] = "Required key is not available",
	[FI_ENOAV - FI_ERRNO_OFFSET] = "No address vector is bound, or it cannot be used",
	[FI_EOVERRUN - FI_ERRNO_OFFSET] = "Queue ran over and entries were lost",
	[FI_ENORX - FI_ERRNO_OFFSET] = "Peer has no receive buffer posted",
	[FI_ENOMR - FI_ERRNO_OFFSET] = "No more memory regions can be registered",
	[FI_EFIREWALLADDR - FI_ERRNO_OFFSET] =
		"Peer is behind a firewall and cannot be connected to",
};

/* System error codes that have a narrower meaning here. */
static const char *system_text(int code)
{
	switch (code) {
	case FI_SUCCESS:
		return "Success";
	case FI_EAGAIN:
		return "Try again later: out of a resource for now";
	case FI_ECANCELED:
		return "Operation was canceled";
	case FI_EMSGSIZE:
		return "Message is too long";
	case FI_ENODATA:
		return "No matching data or provider available";
	case FI_ENOSYS:
		return "Function is not implemented by the provider or library";
	}
#ifdef HAVE_STRERRORDESC_NP
	return strerrordesc_np(code);
#else
	return strerror(code);
#endif
}

CORE_EXPORT
const char *fi_strerror(int errnum)
{
	const char *text = NULL;
	int code = errnum < 0 ? -(unsigned int) errnum : (unsigned int) errnum;

	if (code >= FI_ERRNO_OFFSET && code < FI_ERRNO_MAX)
		text = own[code - FI_ERRNO_OFFSET];
	else if (code >= 0 && code < FI_ERRNO_OFFSET)
		text = system_text(code);
	return text ? text : "Unknown error";
}
