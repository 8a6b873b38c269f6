// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * eq.c - event queues.
 */
#include <linux/slab.h>

#include "obj.h"

struct kofi_event *kofi_event_alloc(size_t room, gfp_t gfp)
{
	struct kofi_event *event = kzalloc(struct_size(event, data, room), gfp);

	if (event)
		event->room = room;
	return event;
}
EXPORT_SYMBOL_GPL(kofi_event_alloc);

void kofi_event_data(struct kofi_event *event, const void *data, size_t len)
{
	event->len = min(len, event->room);
	memcpy(event->data, data, event->len);
}
EXPORT_SYMBOL_GPL(kofi_event_data);

void kofi_eq_post(struct kofi_eq *eq, struct kofi_event *event)
{
	spin_lock_bh(&eq->lock);
	list_add_tail(&event->node, &eq->events);
	spin_unlock_bh(&eq->lock);
	obj_notify_wake(&eq->notify);
}
EXPORT_SYMBOL_GPL(kofi_eq_post);

static void event_free(struct kofi_event *event)
{
	fi_freeinfo(event->info);
	kfree(event);
}

void kofi_eq_purge(struct kofi_eq *eq, const struct fid *fid)
{
	struct kofi_event *event, *next;
	LIST_HEAD(gone);

	spin_lock_bh(&eq->lock);
	list_for_each_entry_safe(event, next, &eq->events, node)
		if (!fid || event->fid == fid)
			list_move(&event->node, &gone);
	spin_unlock_bh(&eq->lock);
	list_for_each_entry_safe(event, next, &gone, node)
		event_free(event);
}
EXPORT_SYMBOL_GPL(kofi_eq_purge);

/* ---- calls ---- */

static size_t event_size(const struct kofi_event *event)
{
	switch (event->event) {
	case FI_CONNREQ:
	case FI_CONNECTED:
	case FI_SHUTDOWN:
		return sizeof(struct fi_eq_cm_entry) + event->len;
	default:
		return event->len;
	}
}

static void event_write(const struct kofi_event *event, void *buf)
{
	struct fi_eq_cm_entry *entry = buf;

	if (event_size(event) == event->len) {
		memcpy(buf, event->data, event->len);
		return;
	}
	entry->fid = event->fid;
	entry->info = event->info;
	memcpy(entry->data, event->data, event->len);
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event_p, void *buf, size_t len,
		       uint64_t flags)
{
	struct kofi_eq *eq = container_of(fid, struct kofi_eq, eq);
	struct kofi_event *event;
	ssize_t ret = -FI_EAGAIN;

	spin_lock_bh(&eq->lock);
	event = list_first_entry_or_null(&eq->events, struct kofi_event, node);
	if (event && event->err) {
		ret = -FI_EAVAIL;
	} else if (event && len < event_size(event)) {
		ret = -FI_ETOOSMALL;
	} else if (event) {
		ret = event_size(event);
		event_write(event, buf);
		*event_p = event->event;
		if (!(flags & FI_PEEK)) {
			list_del(&event->node);
			kfree(event);	/* its info is the reader's */
		}
	}
	spin_unlock_bh(&eq->lock);
	return ret;
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf, uint64_t flags)
{
	struct kofi_eq *eq = container_of(fid, struct kofi_eq, eq);
	struct kofi_event *event;
	ssize_t ret = -FI_EAGAIN;

	spin_lock_bh(&eq->lock);
	event = list_first_entry_or_null(&eq->events, struct kofi_event, node);
	if (event && event->err) {
		buf->fid = event->fid;
		buf->context = event->fid->context;
		buf->data = 0;
		buf->err = event->err;
		buf->prov_errno = event->prov_errno;
		buf->err_data_size = buf->err_data ? min(buf->err_data_size, event->len) : 0;
		if (buf->err_data_size)
			memcpy(buf->err_data, event->data, buf->err_data_size);
		ret = sizeof(*buf);
		if (!(flags & FI_PEEK)) {
			list_del(&event->node);
			event_free(event);
		}
	}
	spin_unlock_bh(&eq->lock);
	return ret;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t number, const void *buf, size_t len,
			uint64_t flags)
{
	struct kofi_eq *eq = container_of(fid, struct kofi_eq, eq);
	struct kofi_event *event;

	if (!(eq->flags & FI_WRITE) || len > 4096)
		return -FI_EINVAL;
	if (number == FI_CONNREQ || number == FI_CONNECTED || number == FI_SHUTDOWN)
		return -FI_EINVAL;
	event = kofi_event_alloc(len, GFP_ATOMIC);
	if (!event)
		return -FI_EAGAIN;
	event->event = number;
	kofi_event_data(event, buf, len);
	kofi_eq_post(eq, event);
	return len;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event_p, void *buf, size_t len,
			int timeout, uint64_t flags)
{
	struct kofi_eq *eq = container_of(fid, struct kofi_eq, eq);
	ssize_t ret;
	long left;

	left = wait_event_interruptible_timeout(eq->notify.wait,
			(ret = eq_read(fid, event_p, buf, len, flags)) != -FI_EAGAIN,
			obj_timeout(timeout));
	return left < 0 ? -FI_EINTR : ret;
}

static const char *eq_strerror(struct fid_eq *eq, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	if (buf && len)
		snprintf(buf, len, "error %d", prov_errno);
	return buf;
}

static int eq_close(struct fid *fid)
{
	struct kofi_eq *eq = container_of(fid, struct kofi_eq, eq.fid);

	if (atomic_read(&eq->refs))
		return -FI_EBUSY;
	obj_notify_stop(&eq->notify);
	kofi_eq_purge(eq, NULL);
	atomic_dec(&eq->fabric->refs);
	kfree(eq);
	return 0;
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = obj_no_bind,
	.control = obj_no_control,
};

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

static void eq_call(struct kofi_notify *notify)
{
	struct kofi_eq *eq = container_of(notify, struct kofi_eq, notify);

	eq->handler(&eq->eq, eq->eq.fid.context);
}

int obj_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq_p,
		void *context)
{
	struct kofi_eq *eq;

	if (attr && attr->flags & ~FI_WRITE)
		return -FI_EBADFLAGS;
	eq = kzalloc(sizeof(*eq), GFP_KERNEL);
	if (!eq)
		return -FI_ENOMEM;
	eq->eq.fid.fclass = FI_CLASS_EQ;
	eq->eq.fid.context = context;
	eq->eq.fid.ops = &eq_fid_ops;
	eq->eq.ops = &eq_ops;
	eq->fabric = container_of(fabric, struct kofi_fabric_obj, fabric);
	eq->flags = attr ? attr->flags : 0;
	eq->handler = attr ? attr->handler : NULL;
	spin_lock_init(&eq->lock);
	INIT_LIST_HEAD(&eq->events);
	obj_notify_init(&eq->notify, eq->handler ? eq_call : NULL);
	atomic_inc(&eq->fabric->refs);
	*eq_p = &eq->eq;
	return 0;
}
