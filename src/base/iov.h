/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * iov.h - walking and copying scatter lists.
 *
 * Units: bytes.  Offsets count from the start of the whole list.
 */
#ifndef BASE_IOV_H
#define BASE_IOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* iov_at - the byte at @off of an entry, which may begin at address 0. */
static inline void *iov_at(const struct iovec *iov, size_t off)
{
	return (void *) ((uintptr_t) iov->iov_base + off);
}

/* iov_wraps - do @len bytes at @addr reach beyond the address space?  All of it, from 0 on, do not. */
static inline bool iov_wraps(uint64_t addr, uint64_t len)
{
	uint64_t end;

	return __builtin_expect(__builtin_add_overflow(addr, len, &end), 0) && end;
}

/* iov_asked - the sum of the lengths of a list that a program has passed; SIZE_MAX, which no call takes:
 * an entry, or the sum, reaches beyond the address space.
 */
static inline size_t iov_asked(const struct iovec *iov, size_t cnt)
{
	size_t total = 0, i;

	for (i = 0; i < cnt; i++) {
		if (__builtin_expect(iov_wraps((uintptr_t) iov[i].iov_base, iov[i].iov_len) ||
				     iov[i].iov_len > SIZE_MAX - total, 0))
			return SIZE_MAX;
		total += iov[i].iov_len;
	}
	return total;
}

/* iov_total - sum of the lengths. */
static inline size_t iov_total(const struct iovec *iov, size_t cnt)
{
	size_t total = 0;

	while (cnt--)
		total += iov[cnt].iov_len;
	return total;
}

/* iov_scatter - copy @len bytes of @buf into @iov, starting at @offset.
 * Returns the bytes copied: fewer than @len when the list is too short.
 */
size_t iov_scatter(const struct iovec *iov, size_t cnt, size_t offset,
		   const void *buf, size_t len);

/* iov_gather - copy up to @len bytes of @iov, starting at @offset, into @buf.
 * Returns the bytes copied.
 */
size_t iov_gather(const struct iovec *iov, size_t cnt, size_t offset,
		  void *buf, size_t len);

/* iov_slice - describe bytes @offset .. @offset + @len of @iov in @out.
 *
 * @out: room for @cnt entries; may not overlap @iov
 * Returns the number of entries used; the slice is shorter when the list ends.
 */
size_t iov_slice(const struct iovec *iov, size_t cnt, size_t offset, size_t len,
		 struct iovec *out);

#endif
