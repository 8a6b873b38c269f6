// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cq.c - completion queues.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "obj.h"

#define SIZE_DEFAULT	1024
#define SIZE_MAX_CQ	(1 << 18)

bool kofi_cq_reserve(struct kofi_cq *cq)
{
	bool ok;

	spin_lock_bh(&cq->lock);
	ok = cq->reserved + cq->cnt < cq->size;
	cq->reserved += ok;
	spin_unlock_bh(&cq->lock);
	return ok;
}
EXPORT_SYMBOL_GPL(kofi_cq_reserve);

void kofi_cq_unreserve(struct kofi_cq *cq)
{
	spin_lock_bh(&cq->lock);
	cq->reserved--;
	spin_unlock_bh(&cq->lock);
}
EXPORT_SYMBOL_GPL(kofi_cq_unreserve);

void kofi_cq_post(struct kofi_cq *cq, const struct kofi_comp *comp)
{
	spin_lock_bh(&cq->lock);
	cq->ring[(cq->head + cq->cnt) & (cq->size - 1)] = *comp;
	cq->cnt++;
	cq->reserved--;
	spin_unlock_bh(&cq->lock);
	obj_notify_wake(&cq->notify);
}
EXPORT_SYMBOL_GPL(kofi_cq_post);

/* ---- calls ---- */

/* Each format is a beginning of the largest one. */
static size_t entry_size(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_CONTEXT:
		return sizeof(struct fi_cq_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	default:
		return sizeof(struct fi_cq_tagged_entry);
	}
}

static void entry_write(const struct kofi_comp *comp, void *buf, size_t size)
{
	const struct fi_cq_tagged_entry entry = {
		.op_context = comp->context, .flags = comp->flags, .len = comp->len,
		.buf = comp->buf, .data = comp->data, .tag = comp->tag,
	};

	memcpy(buf, &entry, size);
}

static struct kofi_comp *cq_first(struct kofi_cq *cq)
{
	return cq->cnt ? &cq->ring[cq->head & (cq->size - 1)] : NULL;
}

static void cq_drop(struct kofi_cq *cq)
{
	cq->head++;
	cq->cnt--;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr)
{
	struct kofi_cq *cq = container_of(fid, struct kofi_cq, cq);
	size_t size = entry_size(cq->format), n = 0;
	struct kofi_comp *comp;
	ssize_t ret;

	spin_lock_bh(&cq->lock);
	while (n < count && (comp = cq_first(cq)) && !comp->err) {
		entry_write(comp, buf + n * size, size);
		if (src_addr)
			src_addr[n] = comp->src_addr;
		cq_drop(cq);
		n++;
	}
	comp = cq_first(cq);
	ret = n ? n : comp && comp->err ? -FI_EAVAIL : -FI_EAGAIN;
	spin_unlock_bh(&cq->lock);
	return ret;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return cq_readfrom(fid, buf, count, NULL);
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
	struct kofi_cq *cq = container_of(fid, struct kofi_cq, cq);
	struct kofi_comp *comp;
	ssize_t ret = -FI_EAGAIN;

	spin_lock_bh(&cq->lock);
	comp = cq_first(cq);
	if (comp && comp->err) {
		buf->op_context = comp->context;
		buf->flags = comp->flags;
		buf->len = comp->len;
		buf->buf = comp->buf;
		buf->data = comp->data;
		buf->tag = comp->tag;
		buf->olen = comp->olen;
		buf->err = comp->err;
		buf->prov_errno = comp->prov_errno;
		buf->err_data_size = 0;
		buf->src_addr = comp->src_addr;
		cq_drop(cq);
		ret = 1;
	}
	spin_unlock_bh(&cq->lock);
	return ret;
}

static bool signal_taken(struct kofi_cq *cq)
{
	bool taken;

	spin_lock_bh(&cq->lock);
	taken = cq->signaled;
	cq->signaled = false;
	spin_unlock_bh(&cq->lock);
	return taken;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr,
			    const void *cond, int timeout)
{
	struct kofi_cq *cq = container_of(fid, struct kofi_cq, cq);
	ssize_t ret;
	long left;

	left = wait_event_interruptible_timeout(cq->notify.wait,
			(ret = cq_readfrom(fid, buf, count, src_addr)) != -FI_EAGAIN ||
			signal_taken(cq), obj_timeout(timeout));
	return left < 0 ? -FI_EINTR : ret;
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
			int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	struct kofi_cq *cq = container_of(fid, struct kofi_cq, cq);

	spin_lock_bh(&cq->lock);
	cq->signaled = true;
	spin_unlock_bh(&cq->lock);
	wake_up_all(&cq->notify.wait);
	return 0;
}

static const char *cq_strerror(struct fid_cq *cq, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	if (buf && len)
		snprintf(buf, len, "error %d", prov_errno);
	return buf;
}

static int cq_close(struct fid *fid)
{
	struct kofi_cq *cq = container_of(fid, struct kofi_cq, cq.fid);

	if (atomic_read(&cq->refs))
		return -FI_EBUSY;
	obj_notify_stop(&cq->notify);
	atomic_dec(&cq->domain->refs);
	kvfree(cq->ring);
	kfree(cq);
	return 0;
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = obj_no_bind,
	.control = obj_no_control,
};

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};

static void cq_call(struct kofi_notify *notify)
{
	struct kofi_cq *cq = container_of(notify, struct kofi_cq, notify);

	cq->handler(&cq->cq, cq->cq.fid.context);
}

int obj_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq_p,
		void *context)
{
	size_t size = attr && attr->size ? attr->size : SIZE_DEFAULT;
	gfp_t gfp = attr && attr->gfp ? attr->gfp : GFP_KERNEL;
	struct kofi_cq *cq;

	if (attr && (attr->flags || attr->format > FI_CQ_FORMAT_TAGGED))
		return attr->flags ? -FI_EBADFLAGS : -FI_EINVAL;
	if (size > SIZE_MAX_CQ)
		return -FI_EINVAL;
	cq = kzalloc(sizeof(*cq), gfp);
	if (!cq)
		return -FI_ENOMEM;
	cq->size = roundup_pow_of_two(size);
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), gfp);
	if (!cq->ring) {
		kfree(cq);
		return -FI_ENOMEM;
	}
	cq->cq.fid.fclass = FI_CLASS_CQ;
	cq->cq.fid.context = context;
	cq->cq.fid.ops = &cq_fid_ops;
	cq->cq.ops = &cq_ops;
	cq->domain = container_of(domain, struct kofi_domain, domain);
	cq->format = attr ? attr->format : FI_CQ_FORMAT_UNSPEC;
	cq->handler = attr ? attr->handler : NULL;
	spin_lock_init(&cq->lock);
	obj_notify_init(&cq->notify, cq->handler ? cq_call : NULL);
	atomic_inc(&cq->domain->refs);
	*cq_p = &cq->cq;
	return 0;
}
