/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_eq.h - event queues, completion queues and counters, for kernel clients.
 *
 * A queue with a handler calls it in process context from a work item: it may sleep, it may
 * make every call but close its own queue, it never runs twice at a time for one queue, and
 * it is called again when entries arrive after its last look.  A handler reads until
 * -FI_EAGAIN.
 */
#ifndef KOFI_FI_EQ_H
#define KOFI_FI_EQ_H

#include <kofi/fabric.h>

struct fi_eq_attr {
	size_t		size;		/* 0: no limit; events are allocated as they come */
	uint64_t	flags;		/* FI_WRITE: the client writes events too */
	/* called when there are events, or NULL */
	void		(*handler)(struct fid_eq *eq, void *context);
};

struct fi_cq_attr {
	size_t			size;	/* entries, 0 for the default */
	uint64_t		flags;	/* 0 */
	enum fi_cq_format	format;	/* FI_CQ_FORMAT_UNSPEC: as FI_CQ_FORMAT_TAGGED */
	gfp_t			gfp;	/* for its memory; 0: GFP_KERNEL */
	/* called when there are entries, or NULL */
	void			(*handler)(struct fid_cq *cq, void *context);
};

struct fi_cntr_attr {
	uint64_t	flags;		/* 0 */
};

/* fi_eq_read - take the oldest event.
 *
 * @event_p: [out] FI_CONNREQ, FI_CONNECTED ...
 * @buf:     [out] fi_eq_cm_entry or fi_eq_entry, as the event says
 * @flags:   FI_PEEK: leave it in the queue
 *
 * Returns bytes written; -FI_EAGAIN none; -FI_EAVAIL an error entry is first: fi_eq_readerr();
 * -FI_ETOOSMALL @len does not hold it, which stays.
 */
static inline ssize_t fi_eq_read(struct fid_eq *eq, uint32_t *event_p, void *buf, size_t len,
				 uint64_t flags)
{
	return eq->ops->read(eq, event_p, buf, len, flags);
}

/* fi_eq_sread - the same; sleeps up to @timeout milliseconds, -1 without end. A signal ends
 * the wait with -FI_EINTR. */
static inline ssize_t fi_eq_sread(struct fid_eq *eq, uint32_t *event_p, void *buf, size_t len,
				  int timeout, uint64_t flags)
{
	return eq->ops->sread(eq, event_p, buf, len, timeout, flags);
}

/* fi_eq_readerr - take the error entry that is first; returns its size. */
static inline ssize_t fi_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf,
				    uint64_t flags)
{
	return eq->ops->readerr(eq, buf, flags);
}

/* fi_eq_error - another name of it. */
static inline ssize_t fi_eq_error(struct fid_eq *eq, struct fi_eq_err_entry *buf, uint64_t flags)
{
	return fi_eq_readerr(eq, buf, flags);
}

/* fi_eq_write - add an event of the client's own (FI_WRITE). */
static inline ssize_t fi_eq_write(struct fid_eq *eq, uint32_t event, const void *buf, size_t len,
				  uint64_t flags)
{
	return eq->ops->write(eq, event, buf, len, flags);
}

/* fi_cq_read - take up to @count entries in the queue's format.
 *
 * Returns how many; -FI_EAGAIN none; -FI_EAVAIL an error entry is first: fi_cq_readerr().
 */
static inline ssize_t fi_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return cq->ops->read(cq, buf, count);
}

/* fi_cq_readfrom - the same, with the source of each received message. */
static inline ssize_t fi_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
				     fi_addr_t *src_addr)
{
	return cq->ops->readfrom(cq, buf, count, src_addr);
}

/* fi_cq_readerr - take the error entry that is first; returns 1, or -FI_EAGAIN. */
static inline ssize_t fi_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf,
				    uint64_t flags)
{
	return cq->ops->readerr(cq, buf, flags);
}

/* fi_cq_error - another name of it. */
static inline ssize_t fi_cq_error(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
{
	return fi_cq_readerr(cq, buf, flags);
}

/* fi_cq_sread - fi_cq_read() that sleeps up to @timeout milliseconds, -1 without end. */
static inline ssize_t fi_cq_sread(struct fid_cq *cq, void *buf, size_t count, const void *cond,
				  int timeout)
{
	return cq->ops->sread(cq, buf, count, cond, timeout);
}

/* fi_cq_signal - end the sleep of a reader, which returns -FI_EAGAIN. */
static inline int fi_cq_signal(struct fid_cq *cq)
{
	return cq->ops->signal(cq);
}

/* fi_cntr_read - how many operations succeeded. */
static inline uint64_t fi_cntr_read(struct fid_cntr *cntr)
{
	return cntr->ops->read(cntr);
}

/* fi_cntr_readerr - how many operations failed. */
static inline uint64_t fi_cntr_readerr(struct fid_cntr *cntr)
{
	return cntr->ops->readerr(cntr);
}

static inline int fi_cntr_add(struct fid_cntr *cntr, uint64_t value)
{
	return cntr->ops->add(cntr, value);
}

static inline int fi_cntr_set(struct fid_cntr *cntr, uint64_t value)
{
	return cntr->ops->set(cntr, value);
}

/* fi_cntr_wait - sleep until the value is at least @threshold.
 *
 * Errors: -FI_ETIMEDOUT; -FI_EAVAIL the error count rose; -FI_EINTR.
 */
static inline int fi_cntr_wait(struct fid_cntr *cntr, uint64_t threshold, int timeout)
{
	return cntr->ops->wait(cntr, threshold, timeout);
}

#endif /* KOFI_FI_EQ_H */
