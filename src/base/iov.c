/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/iov.h"

#include <string.h>

size_t iov_slice(const struct iovec *iov, size_t cnt, size_t offset, size_t len,
		 struct iovec *out)
{
	size_t i, used = 0, room;

	for (i = 0; i < cnt && len; i++) {
		if (offset >= iov[i].iov_len) {
			offset -= iov[i].iov_len;
			continue;
		}
		room = iov[i].iov_len - offset;
		if (room > len)
			room = len;
		out[used].iov_base = iov_at(&iov[i], offset);
		out[used++].iov_len = room;
		len -= room;
		offset = 0;
	}
	return used;
}

/* Both directions walk the list in the same way; @to_iov is a constant in each caller. */
static inline size_t iov_copy(const struct iovec *iov, size_t cnt, size_t offset,
			      char *buf, size_t len, int to_iov)
{
	size_t done = 0, room;
	char *at;

	for (; cnt && done < len; iov++, cnt--) {
		if (offset >= iov->iov_len) {
			offset -= iov->iov_len;
			continue;
		}
		room = iov->iov_len - offset;
		if (room > len - done)
			room = len - done;
		at = iov_at(iov, offset);
		memcpy(to_iov ? at : buf + done, to_iov ? buf + done : at, room);
		done += room;
		offset = 0;
	}
	return done;
}

size_t iov_scatter(const struct iovec *iov, size_t cnt, size_t offset,
		   const void *buf, size_t len)
{
	return iov_copy(iov, cnt, offset, (char *) buf, len, 1);
}

size_t iov_gather(const struct iovec *iov, size_t cnt, size_t offset,
		  void *buf, size_t len)
{
	return iov_copy(iov, cnt, offset, buf, len, 0);
}
