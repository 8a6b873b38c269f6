/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* copy.c - between buffers of the host and lists with memory of devices. */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "obj/domain.h"
#include "obj/mr.h"

/* by_program - FI_SET_OPS_HMEM_OVERRIDE.  Returns 1: the program has no function. */
static int by_program(enum hmem_dir dir, const struct obj_mr *mr, const struct iovec *part,
		      void *buf)
{
	const struct fi_hmem_override_ops *ops = mr->domain->hmem_ops;
	enum fi_hmem_iface iface = (enum fi_hmem_iface) mr->loc.iface;
	ssize_t ret;

	if (!ops)
		return 1;
	ret = dir == HMEM_TO_HOST ?
	      ops->copy_from_hmem_iov(buf, part->iov_len, iface, mr->loc.device, part, 1, 0) :
	      ops->copy_to_hmem_iov(iface, mr->loc.device, part, 1, 0, buf, part->iov_len);
	return ret == (ssize_t) part->iov_len ? 0 : ret < 0 ? (int) ret : -FI_EIO;
}

static void copy_host(enum hmem_dir dir, const struct iovec *part, void *buf)
{
	if (dir == HMEM_TO_HOST)
		memcpy(buf, part->iov_base, part->iov_len);
	else
		memcpy(part->iov_base, buf, part->iov_len);
}

/* copy_part - one entry of a list; @event NULL: now. */
static int copy_part(enum hmem_dir dir, const struct obj_mr *mr, const struct iovec *part,
		     void *buf, struct hmem_event *event)
{
	int ret;

	if (!mr) {
		copy_host(dir, part, buf);
		return 0;
	}
	ret = by_program(dir, mr, part, buf);
	if (ret <= 0)
		return ret;
	return event ? hmem_copy_start(dir, &mr->loc, part->iov_base, buf, part->iov_len, event) :
		       hmem_copy(dir, &mr->loc, part->iov_base, buf, part->iov_len);
}

/* @event: room for @cnt, of which *@busy_p are used; or NULL: now */
static int copy_list(enum hmem_dir dir, const struct obj_mr_list *list, size_t off, char *buf,
		     size_t len, struct hmem_event *event, unsigned *busy_p)
{
	struct hmem_event *next = event;
	struct iovec part;
	size_t i;
	int ret = 0;

	for (i = 0; len && i < list->cnt && !ret; i++) {
		size_t skip = off < list->iov[i].iov_len ? off : list->iov[i].iov_len;

		off -= skip;
		part = (struct iovec) { iov_at(&list->iov[i], skip), list->iov[i].iov_len - skip };
		if (part.iov_len > len)
			part.iov_len = len;
		if (!part.iov_len)
			continue;
		if (next)
			next->kind = NULL;
		ret = copy_part(dir, list->mrs[i], &part, buf, next);
		if (next && next->kind)
			next++;
		buf += part.iov_len;
		len -= part.iov_len;
	}
	if (busy_p)
		*busy_p = (unsigned) (next - event);
	return ret;
}

int obj_mr_gather(const struct obj_mr_list *list, size_t off, void *buf, size_t len)
{
	return copy_list(HMEM_TO_HOST, list, off, buf, len, NULL, NULL);
}

int obj_mr_scatter(const struct obj_mr_list *list, size_t off, const void *buf, size_t len)
{
	return copy_list(HMEM_TO_DEVICE, list, off, (char *) buf, len, NULL, NULL);
}

int obj_mr_copy_start(enum hmem_dir dir, const struct obj_mr_list *list, size_t off, void *buf,
		      size_t len, struct hmem_event *event, unsigned *busy_p)
{
	return copy_list(dir, list, off, buf, len, event, busy_p);
}
