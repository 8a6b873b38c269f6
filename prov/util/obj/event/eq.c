/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/eq.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "obj/fabric.h"
#include "obj/ops.h"

/* ---- the queue ----------------------------------------------------------- */

static struct obj_eq_event *eq_head(struct obj_eq *eq)
{
	return list_empty(&eq->events) ? NULL :
	       container_of(eq->events.next, struct obj_eq_event, node);
}

#define SPARES 16		/* events that a queue takes while there is no memory */
#define SPARE_DATA 512		/* bytes of data in such a one */
#define SPARE_SIZE (sizeof(struct obj_eq_event) + SPARE_DATA)

static void spare_put(struct obj_eq *eq, struct obj_eq_event *event)
{
	lock_get(&eq->lock);
	list_add_tail(&event->node, &eq->spares);
	lock_put(&eq->lock);
}

/* spare_get - room for @len bytes of data, or NULL. */
static struct obj_eq_event *spare_get(struct obj_eq *eq, size_t len)
{
	struct obj_eq_event *event = NULL;

	lock_get(&eq->lock);
	if (len <= SPARE_DATA)
		event = list_pop_entry(&eq->spares, struct obj_eq_event, node);
	lock_put(&eq->lock);
	return event;
}

static int spares_init(struct obj_eq *eq)
{
	struct obj_eq_event *event;
	unsigned i;

	list_init(&eq->spares);
	eq->spare_mem = malloc(SPARES * SPARE_SIZE);
	if (!eq->spare_mem)
		return -FI_ENOMEM;
	for (i = 0; i < SPARES; i++) {
		event = (void *) ((char *) eq->spare_mem + i * SPARE_SIZE);
		event->spare = true;
		list_init(&event->node);
		spare_put(eq, event);
	}
	return 0;
}

/* event_free - without the lock. */
static void event_free(struct obj_eq *eq, struct obj_eq_event *event)
{
	if (event && event->info) {
		/* The request was not read, so it cannot be answered: end it. */
		if (event->info->handle && event->info->handle->fclass == FI_CLASS_CONNREQ)
			fi_close(event->info->handle);
		fi_freeinfo(event->info);
	}
	if (event && event->spare)
		spare_put(eq, event);
	else
		free(event);
}

/* Pushed last, so that a reader sees nothing of an event that is not whole. */
static void eq_push(struct obj_eq *eq, struct obj_eq_event *event)
{
	lock_get(&eq->lock);
	list_add_tail(&event->node, &eq->events);
	obj_wait_signal(&eq->wait);
	lock_put(&eq->lock);
}

/* An event with @len bytes, and @more behind them; NULL: no memory. */
static struct obj_eq_event *new_event(struct obj_eq *eq, uint32_t event, const void *buf, size_t len,
				      const void *more, size_t more_len)
{
	struct obj_eq_event *e = malloc(sizeof(*e) + len + more_len);

	if (e)
		e->spare = false;
	else
		e = spare_get(eq, len + more_len);
	if (!e)
		return NULL;
	e->event = event;
	e->err = 0;
	e->info = NULL;
	e->size = (uint32_t) (len + more_len);
	if (len)
		memcpy(e->data, buf, len);
	if (more_len)
		memcpy(e->data + len, more, more_len);
	return e;
}

int obj_eq_write(struct obj_eq *eq, uint32_t event, const void *buf, size_t len)
{
	struct obj_eq_event *e = new_event(eq, event, buf, len, NULL, 0);

	if (!e)
		return -FI_ENOMEM;
	eq_push(eq, e);
	return 0;
}

int obj_eq_write_cm(struct obj_eq *eq, uint32_t event, struct fid *fid, struct fi_info *info,
		    const void *data, size_t len)
{
	struct fi_eq_cm_entry entry = { .fid = fid, .info = info };
	struct obj_eq_event *e = new_event(eq, event, &entry, sizeof(entry), data, len);

	if (!e)
		return -FI_ENOMEM;
	e->info = info;
	eq_push(eq, e);
	return 0;
}

int obj_eq_write_err(struct obj_eq *eq, const struct fi_eq_err_entry *entry,
		     const void *err_data, size_t size)
{
	struct obj_eq_event *e = new_event(eq, 0, entry, sizeof(*entry), err_data, size);
	struct fi_eq_err_entry *out;

	if (!e)
		return -FI_ENOMEM;
	e->err = entry->err;
	e->size = sizeof(*entry);
	out = (void *) e->data;
	out->err_data = size ? out + 1 : NULL;
	out->err_data_size = size;
	eq_push(eq, e);
	return 0;
}

/* Freed after the lock is released: ending an unread request closes its handle, which may take other
 * locks.
 */
void obj_eq_purge(struct obj_eq *eq, const struct fid *fid)
{
	struct obj_eq_event *e, *tmp;
	struct list *pos, drop;

	list_init(&drop);
	lock_get(&eq->lock);
	list_for_each_entry_safe(e, tmp, &eq->events, node) {
		/* Every entry begins with its fid. */
		if (e->size < sizeof(fid) || *(const struct fid **) (void *) e->data != fid)
			continue;
		list_del(&e->node);
		list_add_tail(&e->node, &drop);
	}
	lock_put(&eq->lock);
	while ((pos = list_pop(&drop)))
		event_free(eq, container_of(pos, struct obj_eq_event, node));
}

/* ---- the program's calls ------------------------------------------------- */

/* What of @e goes into @len bytes.  Private data of connection events may be cut,
 * nothing else.
 */
static ssize_t event_fit(const struct obj_eq_event *e, size_t len)
{
	if (len >= e->size)
		return (ssize_t) e->size;
	if ((e->event == FI_CONNREQ || e->event == FI_CONNECTED) &&
	    len >= sizeof(struct fi_eq_cm_entry) && e->size > sizeof(struct fi_eq_cm_entry))
		return (ssize_t) len;
	return -FI_ETOOSMALL;
}

/* Returns bytes, or -FI_EAGAIN when there is nothing. */
static ssize_t eq_take(struct obj_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags)
{
	struct obj_eq_event *e;
	ssize_t ret;

	obj_wait_called(&eq->wait);
	lock_get(&eq->lock);
	e = eq_head(eq);
	if (!e) {
		ret = -FI_EAGAIN;
	} else if (e->err) {
		ret = -FI_EAVAIL;
	} else {
		ret = event_fit(e, len);
	}
	if (ret < 0) {
		lock_put(&eq->lock);
		return ret;
	}
	if (event)
		*event = e->event;
	if (ret)
		memcpy(buf, e->data, (size_t) ret);
	if (flags & FI_PEEK)
		e = NULL;
	else
		list_del(&e->node);
	lock_put(&eq->lock);
	if (e)
		e->info = NULL;		/* the reader's now */
	event_free(eq, e);
	return ret;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
		       uint64_t flags)
{
	struct obj_eq *eq = obj_eq_of(fid);
	ssize_t ret = eq_take(eq, event, buf, len, flags);

	if (ret != -FI_EAGAIN)
		return ret;
	obj_wait_called(&eq->wait);
	obj_feed_poll(&eq->wait.feed);
	return eq_take(eq, event, buf, len, flags);
}

static bool eq_ready(struct obj_wait *wait, const void *arg)
{
	struct obj_eq *eq = container_of(wait, struct obj_eq, wait);
	bool ready;

	lock_get(&eq->lock);
	ready = !list_empty(&eq->events);
	lock_put(&eq->lock);
	return ready;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf, size_t len, int timeout,
			uint64_t flags)
{
	struct obj_eq *eq = obj_eq_of(fid);
	uint64_t deadline;
	ssize_t ret;
	int woke;

	if (!obj_wait_can_block(&eq->wait))
		return obj_wait_cannot(&eq->wait, eq->fabric->prov, FI_LOG_EQ, "fi_eq_sread");
	deadline = clock_deadline(timeout);
	do {
		ret = eq_read(fid, event, buf, len, flags);
		if (ret != -FI_EAGAIN)
			return ret;
		woke = obj_wait_sleep(&eq->wait, deadline, eq_ready, NULL);
	} while (!woke);
	if (woke != -FI_ETIMEDOUT && woke != -FI_EINTR)
		return woke;
	/* fi_eq(3): both end in -FI_EAGAIN, unless something came at the last moment. */
	return eq_read(fid, event, buf, len, flags);
}

/* Where the error data goes: into the program's buffer, if it gave one (1.5 and
 * later); else it stays ours until the next call.
 */
static void eq_show_err(struct obj_eq *eq, const struct fi_eq_err_entry *err,
			struct fi_eq_err_entry *buf)
{
	bool old = FI_VERSION_LT(eq->fabric->api_version, FI_VERSION(1, 5));
	struct fi_eq_err_entry out = *err;

	if (!old && buf->err_data && buf->err_data_size) {
		if (out.err_data_size > buf->err_data_size)
			out.err_data_size = buf->err_data_size;
		if (out.err_data_size)
			memcpy(buf->err_data, out.err_data, out.err_data_size);
		out.err_data = buf->err_data;
	}
	memcpy(buf, &out, old ? offsetof(struct fi_eq_err_entry, err_data_size) : sizeof(out));
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf, uint64_t flags)
{
	struct obj_eq *eq = obj_eq_of(fid);
	struct obj_eq_event *e, *was = NULL;
	ssize_t ret = -FI_EAGAIN;

	obj_wait_called(&eq->wait);
	lock_get(&eq->lock);
	e = eq_head(eq);
	if (e && e->err) {
		eq_show_err(eq, (void *) e->data, buf);
		ret = sizeof(*buf);
		if (!(flags & FI_PEEK)) {
			list_del(&e->node);
			was = eq->shown;
			eq->shown = e;
		}
	}
	lock_put(&eq->lock);
	event_free(eq, was);	/* takes the lock */
	return ret;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *buf, size_t len,
			uint64_t flags)
{
	struct obj_eq *eq = obj_eq_of(fid);
	int ret;

	if (!(eq->flags & FI_WRITE)) {
		FI_WARN(eq->fabric->prov, FI_LOG_EQ,
			"fi_eq_write: the event queue was not opened with FI_WRITE\n");
		return -FI_EINVAL;
	}
	if ((len && !buf) || len > UINT32_MAX)
		return -FI_EINVAL;
	/* Whatever the program calls it: what it wrote is data, and owns nothing. */
	ret = obj_eq_write(eq, event, buf, len);
	return ret ? ret : (ssize_t) len;
}

static const char *eq_strerror(struct fid_eq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	const char *text = fi_strerror(prov_errno);

	if (!buf || !len)
		return text;
	snprintf(buf, len, "%s", text);
	return buf;
}

/* ---- opening and closing ------------------------------------------------- */

static int eq_control(struct fid *fid, int cmd, void *arg)
{
	return obj_wait_control(&container_of(fid, struct obj_eq, fid.fid)->wait, cmd, arg);
}

static int eq_close(struct fid *fid)
{
	struct obj_eq *eq = container_of(fid, struct obj_eq, fid.fid);
	int ret;
	struct list *pos;

	if (obj_inherited(&eq->refs))
		return 0;
	ret = obj_refs_busy(&eq->refs, fid, eq->fabric->prov, FI_LOG_EQ);
	if (ret)
		return ret;
	obj_wait_close(&eq->wait, &eq->set_ref);
	while ((pos = list_pop(&eq->events)))
		event_free(eq, container_of(pos, struct obj_eq_event, node));
	event_free(eq, eq->shown);
	free(eq->spare_mem);
	lock_destroy(&eq->lock);
	obj_refs_fini(&eq->refs);
	obj_ref_put(&eq->fabric_ref);
	free(eq);
	return 0;
}

static struct fi_ops eq_fi_ops = {
	.close = eq_close,
	.control = eq_control,
};
OBJ_OPS_TABLE(eq_fi_ops, fid)

static struct fi_ops_eq eq_ops = {
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};
OBJ_OPS_TABLE(eq_ops, eq)

static int eq_check_attr(struct obj_fabric *fabric, const struct fi_eq_attr *attr)
{
	const char *what = NULL;

	if (attr->flags & ~(FI_WRITE | FI_AFFINITY))
		what = "flags other than FI_WRITE and FI_AFFINITY";
	else if (!obj_wait_kind_of(attr->wait_obj, false))
		what = "an unknown wait object";
	else if (attr->wait_obj == FI_WAIT_SET && !attr->wait_set)
		what = "FI_WAIT_SET without a wait set";
	else if ((attr->flags & FI_AFFINITY) && attr->signaling_vector < 0)
		what = "FI_AFFINITY with a negative signaling_vector";
	if (!what)
		return 0;
	FI_WARN(fabric->prov, FI_LOG_EQ, "fi_eq_open: the attributes have %s\n", what);
	return -FI_EINVAL;
}

int obj_eq_open(struct fid_fabric *fabric_fid, struct fi_eq_attr *attr,
		struct fid_eq **eq_p, void *context)
{
	static const struct fi_eq_attr plain = { 0 };
	struct obj_fabric *fabric = obj_fabric_of(fabric_fid);
	struct obj_eq *eq;
	int ret;

	if (!attr)
		attr = (struct fi_eq_attr *) &plain;
	ret = eq_check_attr(fabric, attr);
	if (ret)
		return ret;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	obj_fid_init(&eq->fid.fid, FI_CLASS_EQ, context, &eq_fi_ops);
	eq->fid.ops = &eq_ops;
	eq->fabric = fabric;
	eq->flags = attr->flags;
	list_init(&eq->events);
	/* Always locked: it belongs to no domain, so no domain's promise covers it. */
	ret = lock_init(&eq->lock, LOCK_MUTEX);
	if (ret)
		goto err_lock;
	ret = spares_init(eq);
	if (ret)
		goto err_spares;
	ret = obj_wait_open(&eq->wait, attr->wait_obj, attr->wait_set, &eq->set_ref, &eq->fid.fid, eq_ready);
	if (ret)
		goto err_wait;
	obj_refs_init(&eq->refs);
	obj_ref_get(&fabric->refs, &eq->fabric_ref, &eq->fid.fid);
	*eq_p = &eq->fid;
	return 0;

err_wait:
	free(eq->spare_mem);
err_spares:
	lock_destroy(&eq->lock);
err_lock:
	free(eq);
	return ret;
}
