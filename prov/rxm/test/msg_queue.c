/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rxm/test/msg_queue.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "obj/test/calls.h"

static struct list completions = { &completions, &completions };
static struct list events = { &events, &events };
static int wait_fd = -1;

/* ---- completions --------------------------------------------------------------------------- */

struct msg_op *msg_op_new(struct msg_ep *ep, void *buf, size_t len, void *context)
{
	struct msg_op *op = calloc(1, sizeof(*op));

	*op = (struct msg_op) { .ep = ep, .buf = buf, .len = len, .context = context };
	list_init(&op->node);
	return op;
}

void msg_op_complete(struct msg_op *op, int err)
{
	list_del(&op->node);
	op->err = err;
	list_add_tail(&op->node, &completions);
}

static ssize_t cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	struct fi_cq_data_entry *entry = buf;
	struct msg_op *op;
	size_t i;

	if (msg_prov.hold_cq || list_empty(&completions))
		return -FI_EAGAIN;
	for (i = 0; i < count && !list_empty(&completions); i++) {
		op = container_of(completions.next, struct msg_op, node);
		if (op->err)
			break;
		entry[i] = (struct fi_cq_data_entry) { .op_context = op->context, .len = op->len };
		list_del(&op->node);
		free(op);
	}
	return i ? (ssize_t) i : -FI_EAVAIL;
}

static ssize_t cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
	struct msg_op *op = container_of(completions.next, struct msg_op, node);

	if (list_empty(&completions) || !op->err)
		return -FI_EAGAIN;
	*entry = (struct fi_cq_err_entry) { .op_context = op->context, .err = op->err };
	list_del(&op->node);
	free(op);
	return 1;
}

/* close_cq - there are no completions any more. */
static int close_cq(struct fid *fid)
{
	struct list *item;

	while ((item = list_pop(&completions)))
		free(container_of(item, struct msg_op, node));
	return 0;
}

/* ---- events -------------------------------------------------------------------------------- */

struct msg_event *msg_event_new(uint32_t event, struct fid *fid, const void *data, size_t len)
{
	struct msg_event *ev = calloc(1, sizeof(*ev));

	CHECK(len <= MSG_CM_DATA);
	*ev = (struct msg_event) { .event = event, .fid = fid, .len = len };
	if (len)
		memcpy(ev->data, data, len);
	list_add_tail(&ev->node, &events);
	return ev;
}

static void free_event(struct msg_event *ev)
{
	list_del(&ev->node);
	free(ev);
}

struct msg_event *msg_event_take(struct fid *fid)
{
	struct msg_event *ev;

	list_for_each_entry(ev, &events, node)
		if (ev->fid == fid) {
			list_del(&ev->node);
			return ev;
		}
	return NULL;
}

static ssize_t eq_read(struct fid_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags)
{
	struct msg_event *ev = container_of(events.next, struct msg_event, node);
	struct fi_eq_cm_entry *entry = buf;
	size_t size;

	msg_prov.eq_reads++;
	if (msg_prov.hold_eq || list_empty(&events))
		return -FI_EAGAIN;
	if (!ev->event)
		return -FI_EAVAIL;
	size = sizeof(*entry) + ev->len;
	CHECK(len >= size);
	entry->fid = ev->fid;
	entry->info = ev->info;
	memcpy(entry->data, ev->data, ev->len);
	*event = ev->event;
	free_event(ev);
	return (ssize_t) size;
}

static ssize_t eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *entry, uint64_t flags)
{
	struct msg_event *ev = container_of(events.next, struct msg_event, node);

	if (list_empty(&events) || ev->event)
		return -FI_EAGAIN;
	CHECK(entry->err_data_size >= ev->len);
	entry->fid = ev->fid;
	entry->err = ev->err;
	memcpy(entry->err_data, ev->data, ev->len);
	entry->err_data_size = ev->len;
	free_event(ev);
	return sizeof(*entry);
}

static int close_eq(struct fid *fid)
{
	return 0;
}

/* ---- the objects ----------------------------------------------------------------------------- */

static int control(struct fid *fid, int command, void *arg)
{
	if (command == FI_GETWAIT)
		*(int *) arg = dup(wait_fd);
	return 0;
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(struct fi_ops), .close = close_cq, .control = control,
};
static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops), .close = close_eq, .control = control,
};
static struct fi_ops_cq cq_ops = {
	.size = sizeof(cq_ops), .read = cq_read, .readerr = cq_readerr,
};
static struct fi_ops_eq eq_ops = {
	.size = sizeof(eq_ops), .read = eq_read, .readerr = eq_readerr,
};
static struct fid_cq the_cq = { .fid = { .fclass = FI_CLASS_CQ, .ops = &cq_fid_ops }, .ops = &cq_ops };
static struct fid_eq the_eq = { .fid = { .fclass = FI_CLASS_EQ, .ops = &eq_fid_ops }, .ops = &eq_ops };

int msg_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq_p, void *context)
{
	*cq_p = &the_cq;
	return 0;
}

int msg_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq_p, void *context)
{
	*eq_p = &the_eq;
	return 0;
}

int msg_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	return (list_empty(&completions) || msg_prov.hold_cq) &&
	       (list_empty(&events) || msg_prov.hold_eq) ? 0 : -FI_EAGAIN;
}

void msg_queues_reset(void)
{
	CHECK(list_empty(&events) && list_empty(&completions));
	if (wait_fd < 0)
		wait_fd = eventfd(0, EFD_CLOEXEC);
}
