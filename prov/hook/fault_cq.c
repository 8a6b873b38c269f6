/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Completions.  Those that the hook generates are returned first, and those of its copies are
 * removed from what the provider returns.  A read also sends the copies that are due; blocked
 * readers are woken for that.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "fault.h"
#include "progress/fdset.h"

static const struct fi_ops_cq *real_cq_ops(struct fault_cq *cq)
{
	return hook_table_of(cq->cq->ops)->real;
}

/* ---- wait descriptors and timeouts -------------------------------------------------------- */

bool fault_cq_ready(const struct fault_cq *cq)
{
	return !list_empty(&cq->pending) || fault_due(cq->dom) <= clock_ns();
}

static void set_timer(struct fault_cq *cq)
{
	uint64_t due = list_empty(&cq->pending) ? fault_due(cq->dom) : 1;

	os_alarm_set(&cq->alarm, due);
}

void fault_wake(struct fault_dom *dom)
{
	struct fault_cq *cq;

	list_for_each_entry(cq, &dom->cqs, node) {
		if (cq->alarm.event.fd >= 0)
			set_timer(cq);
		if (cq->waiters)
			real_cq_ops(cq)->signal(cq->cq);
	}
}

/* wait_fd - a set of descriptors that is readable when the provider's is, or when a copy is due. */
static int wait_fd(struct fault_cq *cq, const struct fi_ops *real, int *fd_p)
{
	int theirs, ret;

	if (cq->fd < 0) {
		ret = real->control(&cq->cq->fid, FI_GETWAIT, &theirs);
		if (ret)
			return ret;
		cq->fd = fdset_open();
		if (cq->fd < 0)
			return cq->fd;
		ret = os_alarm_open(&cq->alarm);
		if (!ret)
			ret = fdset_add(cq->fd, theirs, POLLIN, NULL);
		if (!ret)
			ret = fdset_add(cq->fd, cq->alarm.event.fd, POLLIN, NULL);
		if (ret)
			return ret;
		set_timer(cq);
	}
	*fd_p = cq->fd;
	return 0;
}

static int fault_control(struct fid *fid, int command, void *arg)
{
	struct fault_cq *cq = fault_cq_of(container_of(fid, struct fid_cq, fid));
	const struct fi_ops *real = hook_table_of(fid->ops)->real;
	int ret;

	if (command != FI_GETWAIT || cq->wait_obj != FI_WAIT_FD)
		return real->control(fid, command, arg);
	pthread_mutex_lock(&cq->dom->lock);
	ret = wait_fd(cq, real, arg);
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

/* ---- completions of the hook -------------------------------------------------------------- */

void fault_complete(struct fault_ep *ep, struct fault_comp *pending)
{
	list_add_tail(&pending->node, &ep->cq->pending);
}

static size_t entry_size(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	default:
		return sizeof(struct fi_cq_entry);
	}
}

static ssize_t read_pending(struct fault_cq *cq, char *buf, size_t count, fi_addr_t *src)
{
	size_t size = entry_size(cq->format), i;
	struct fi_cq_tagged_entry entry = { .flags = FI_SEND | FI_MSG };
	struct fault_comp *pending;

	for (i = 0; i < count && !list_empty(&cq->pending); i++) {
		pending = container_of(list_pop(&cq->pending), struct fault_comp, node);
		entry.op_context = pending->context;
		memcpy(buf + i * size, &entry, size);
		if (src)
			src[i] = FI_ADDR_NOTAVAIL;
		free(pending);
	}
	return (ssize_t) i;
}

/* ---- completions of copies ------------------------------------------------------------------ */

/* True, and the copy freed, when @context is one of our copies.  Caller holds the lock. */
static bool was_copy(struct fault_cq *cq, const void *context)
{
	struct fault_copy *copy;

	list_for_each_entry(copy, &cq->copies, node) {
		if (copy != context)
			continue;
		list_del(&copy->node);
		fault_copy_free(copy);
		return true;
	}
	return false;
}

/* drop_copies - remove the completions of copies from the @got entries in @buf.
 * Returns the number of those left; -FI_EAGAIN: none.
 */
static ssize_t drop_copies(struct fault_cq *cq, char *buf, ssize_t got, fi_addr_t *src)
{
	size_t size = entry_size(cq->format);
	ssize_t i, kept = 0;
	void *context;

	if (got <= 0 || list_empty(&cq->copies))
		return got;
	for (i = 0; i < got; i++) {
		memcpy(&context, buf + (size_t) i * size, sizeof(context));
		if (was_copy(cq, context))
			continue;
		memmove(buf + (size_t) kept * size, buf + (size_t) i * size, size);
		if (src)
			src[kept] = src[i];
		kept++;
	}
	return kept ? kept : -FI_EAGAIN;
}

/* ---- the calls ------------------------------------------------------------------------------ */

static ssize_t read_from(struct fault_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	ssize_t ret;

	pthread_mutex_lock(&cq->dom->lock);
	fault_send_due(cq->dom);
	ret = read_pending(cq, buf, count, src);
	if (!ret) {
		ret = src ? real_cq_ops(cq)->readfrom(cq->cq, buf, count, src) :
			    real_cq_ops(cq)->read(cq->cq, buf, count);
		ret = drop_copies(cq, buf, ret, src);
	}
	if (cq->alarm.event.fd >= 0)
		set_timer(cq);
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

static ssize_t fault_read(struct fid_cq *cq, void *buf, size_t count)
{
	return read_from(fault_cq_of(cq), buf, count, NULL);
}

static ssize_t fault_readfrom(struct fid_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	return read_from(fault_cq_of(cq), buf, count, src);
}

static ssize_t fault_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
	struct fault_cq *cq = fault_cq_of(fid);
	ssize_t ret;

	pthread_mutex_lock(&cq->dom->lock);
	do
		ret = real_cq_ops(cq)->readerr(fid, entry, flags);
	while (ret == 1 && !(flags & FI_PEEK) && was_copy(cq, entry->op_context));
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

/* ms_until_ready - 0: now; -1: nothing is scheduled. */
static int ms_until_ready(const struct fault_cq *cq)
{
	uint64_t due = list_empty(&cq->pending) ? fault_due(cq->dom) : 1;

	return due == UINT64_MAX ? -1 : clock_ms_left(due, clock_ns());
}

/* sleep_until_due - sleep in the provider's blocking read, at most until something is due.
 *
 * @due_first: [out] something is due before @timeout has passed
 */
static ssize_t sleep_until_due(struct fault_cq *cq, void *buf, size_t count, fi_addr_t *src,
		   const void *cond, int timeout, bool *due_first)
{
	ssize_t ret;
	int ms;

	pthread_mutex_lock(&cq->dom->lock);
	ms = ms_until_ready(cq);
	*due_first = ms >= 0 && (timeout < 0 || ms < timeout);
	if (*due_first)
		timeout = ms;
	cq->waiters++;
	pthread_mutex_unlock(&cq->dom->lock);
	ret = src ? real_cq_ops(cq)->sreadfrom(cq->cq, buf, count, src, cond, timeout) :
		    real_cq_ops(cq)->sread(cq->cq, buf, count, cond, timeout);
	pthread_mutex_lock(&cq->dom->lock);
	cq->waiters--;
	ret = drop_copies(cq, buf, ret, src);
	*due_first = *due_first || fault_cq_ready(cq);
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

static ssize_t sread_from(struct fault_cq *cq, void *buf, size_t count, fi_addr_t *src,
			  const void *cond, int timeout)
{
	uint64_t deadline = clock_deadline(timeout);
	bool due_first;
	ssize_t ret;
	int left;

	for (;;) {
		ret = read_from(cq, buf, count, src);
		left = clock_ms_left(deadline, clock_ns());
		if (ret != -FI_EAGAIN || !left)
			return ret;
		ret = sleep_until_due(cq, buf, count, src, cond, left, &due_first);
		if (ret != -FI_EAGAIN || !due_first)
			return ret;	/* timeout, or the program called fi_cq_signal() */
	}
}

static ssize_t fault_sread(struct fid_cq *cq, void *buf, size_t count, const void *cond,
			   int timeout)
{
	return sread_from(fault_cq_of(cq), buf, count, NULL, cond, timeout);
}

static ssize_t fault_sreadfrom(struct fid_cq *cq, void *buf, size_t count, fi_addr_t *src,
			       const void *cond, int timeout)
{
	return sread_from(fault_cq_of(cq), buf, count, src, cond, timeout);
}

const struct fi_ops_cq fault_cq_ops = {
	.size = sizeof(fault_cq_ops),
	.read = fault_read,
	.readfrom = fault_readfrom,
	.readerr = fault_readerr,
	.sread = fault_sread,
	.sreadfrom = fault_sreadfrom,
};

const struct fi_ops fault_cq_fid_ops = {
	.size = sizeof(fault_cq_fid_ops),
	.control = fault_control,
};
