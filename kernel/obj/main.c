// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * main.c - the module, payload lists, and waking.
 */
#include <linux/highmem.h>
#include <linux/module.h>

#include <kofi/compat.h>

#include "obj.h"

struct workqueue_struct *obj_wq;

/* ---- payload lists ---- */

void kofi_segs_iter(const struct kofi_segs *segs, unsigned int dir, size_t off, size_t len,
		    struct iov_iter *iter)
{
	if (segs->is_bvec)
		iov_iter_bvec(iter, dir, segs->bvec, segs->cnt, segs->len);
	else
		iov_iter_kvec(iter, dir, segs->kvec, segs->cnt, segs->len);
	iov_iter_advance(iter, off);
	iov_iter_truncate(iter, len);
}
EXPORT_SYMBOL_GPL(kofi_segs_iter);

/* Copies one page or less at a time, so that at most one is mapped. */
static size_t copy_bvec(const struct bio_vec *bvec, size_t off, size_t len, struct iov_iter *iter)
{
	size_t at = bvec->bv_offset + off, n;
	void *base;

	n = min(len, PAGE_SIZE - offset_in_page(at));
	base = kmap_local_page(bvec->bv_page + at / PAGE_SIZE);
	n = copy_to_iter(base + offset_in_page(at), n, iter);
	kunmap_local(base);
	return n;
}

void kofi_segs_copy(const struct kofi_segs *dst, size_t dst_off, const struct kofi_segs *src,
		    size_t src_off, size_t len)
{
	struct iov_iter iter;
	size_t piece, n;
	u32 i = 0;

	kofi_segs_iter(dst, ITER_DEST, dst_off, len, &iter);
	for (; len && i < src->cnt; src_off -= piece, i++) {
		piece = src->is_bvec ? src->bvec[i].bv_len : src->kvec[i].iov_len;
		while (src_off < piece && len) {
			n = min(len, piece - src_off);
			n = src->is_bvec ? copy_bvec(&src->bvec[i], src_off, n, &iter) :
			    copy_to_iter(src->kvec[i].iov_base + src_off, n, &iter);
			if (WARN_ON_ONCE(!n))
				return;
			src_off += n;
			len -= n;
		}
	}
}
EXPORT_SYMBOL_GPL(kofi_segs_copy);

/* ---- waking ---- */

static void notify_work(struct work_struct *work)
{
	struct kofi_notify *notify = container_of(work, struct kofi_notify, work);

	notify->call(notify);
}

void obj_notify_init(struct kofi_notify *notify, void (*call)(struct kofi_notify *notify))
{
	init_waitqueue_head(&notify->wait);
	INIT_WORK(&notify->work, notify_work);
	notify->call = call;
}

void obj_notify_wake(struct kofi_notify *notify)
{
	if (notify->call)
		queue_work(obj_wq, &notify->work);
	if (wq_has_sleeper(&notify->wait))
		wake_up_all(&notify->wait);
}

void obj_notify_stop(struct kofi_notify *notify)
{
	cancel_work_sync(&notify->work);
}

long obj_timeout(int timeout)
{
	return timeout < 0 ? MAX_SCHEDULE_TIMEOUT : msecs_to_jiffies(timeout);
}

int obj_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int obj_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int kofi_name_copy(void *addr, size_t *addrlen, const void *name, size_t len)
{
	size_t room = *addrlen;

	*addrlen = len;
	if (addr)
		memcpy(addr, name, min(room, len));
	return room < len ? -FI_ETOOSMALL : 0;
}
EXPORT_SYMBOL_GPL(kofi_name_copy);

static int __init obj_init(void)
{
	/* Handlers may serve the write-back of memory: there is always a worker. */
	obj_wq = alloc_workqueue("kofi_obj", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	return obj_wq ? 0 : -ENOMEM;
}

static void __exit obj_exit(void)
{
	destroy_workqueue(obj_wq);
	rcu_barrier();		/* entries of address vectors */
}

module_init(obj_init);
module_exit(obj_exit);
MODULE_DESCRIPTION("kOFI: objects that providers share");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");
