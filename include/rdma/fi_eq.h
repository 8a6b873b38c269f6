/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_eq.h - event queues, completion queues, counters, and waiting for them.
 *
 * Event queues (control events), completion queues (one entry per transfer) and counters (a
 * number).  A read never blocks; the s-forms and fi_cntr_wait() sleep.  To sleep in poll() or
 * epoll, ask for FI_WAIT_FD and call fi_trywait() immediately before.
 */
#ifndef FI_EQ_H
#define FI_EQ_H

#include <poll.h>
#include <pthread.h>

#include <rdma/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fid_cntr;
struct fid_cq;
struct fid_poll;
struct fid_xpu_cntr;
struct fid_xpu_cq;

/* ---- waiting ------------------------------------------------------------- */

/* What a blocked program sleeps on. */
enum fi_wait_obj {
	FI_WAIT_NONE,			/* nothing: it only polls */
	FI_WAIT_UNSPEC,			/* the calls here; provider's choice inside */
	FI_WAIT_SET,			/* a wait set; older programs only */
	FI_WAIT_FD,			/* one descriptor */
	FI_WAIT_MUTEX_COND,		/* mutex and condition; older programs only */
	FI_WAIT_YIELD,			/* the calls here; they yield the processor */
	FI_WAIT_POLLFD			/* a changing set of descriptors */
};

struct fi_wait_attr {
	enum fi_wait_obj	wait_obj;
	uint64_t		flags;	/* 0 */
};

struct fi_ops_wait {
	size_t	size;
	int (*wait)(struct fid_wait *waitset, int timeout);
};

struct fid_wait {
	struct fid		fid;
	struct fi_ops_wait	*ops;
};

/* FI_GETWAIT of FI_WAIT_MUTEX_COND. */
struct fi_mutex_cond {
	pthread_mutex_t	*mutex;
	pthread_cond_t	*cond;
};

/* FI_GETWAIT of FI_WAIT_POLLFD. */
struct fi_wait_pollfd {
	uint64_t	change_index;	/* [out] differs when the set has changed */
	size_t		nfds;		/* [in,out] room in fd, then descriptors in the set */
	struct pollfd	*fd;		/* [out] the set */
};

struct fi_poll_attr {
	uint64_t	flags;	/* 0 */
};

struct fi_ops_poll {
	size_t	size;
	int (*poll)(struct fid_poll *pollset, void **context, int count);
	int (*poll_add)(struct fid_poll *pollset, struct fid *event_fid,
			uint64_t flags);
	int (*poll_del)(struct fid_poll *pollset, struct fid *event_fid,
			uint64_t flags);
};

struct fid_poll {
	struct fid		fid;
	struct fi_ops_poll	*ops;
};

/* ---- event queue --------------------------------------------------------- */

struct fi_eq_attr {
	size_t			size;			/* events that fit, or 0 for the default */
	/* FI_WRITE: the program writes events too */
	uint64_t		flags;
	enum fi_wait_obj	wait_obj;
	/* interrupt or processor, with FI_AFFINITY */
	int			signaling_vector;
	struct fid_wait		*wait_set FI_DEPRECATED_FIELD;	/* with FI_WAIT_SET */
};

/* Events, and the struct that each is read into. */
enum {
	FI_NOTIFY,			/* fi_eq_entry */
	FI_CONNREQ,			/* fi_eq_cm_entry; info is the reader's */
	FI_CONNECTED,			/* fi_eq_cm_entry */
	FI_SHUTDOWN,			/* fi_eq_cm_entry */
	FI_MR_COMPLETE,			/* fi_eq_entry */
	FI_AV_COMPLETE,			/* fi_eq_entry; data counts what was inserted */
	FI_JOIN_COMPLETE		/* fi_eq_entry */
};

struct fi_eq_entry {
	fid_t		fid;		/* object it is about */
	void		*context;	/* its opener's, or the operation's */
	uint64_t	data;		/* depends on the event */
};

struct fi_eq_err_entry {
	fid_t		fid;
	void		*context;
	uint64_t	data;
	int		err;		/* FI_E number, positive */
	int		prov_errno;	/* the provider's own, for fi_eq_strerror() */
	void		*err_data;	/* [in] room for detail; [out] the detail */
	/* [in] bytes of room, 0: provider's own buffer; [out] bytes */
	size_t		err_data_size;
};

/* C++ has no flexible array; every compiler does, clang complains. */
#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
struct fi_eq_cm_entry {
	fid_t		fid;
	struct fi_info	*info;	/* FI_CONNREQ: to open the endpoint with; reader frees it */
	__extension__ uint8_t data[];	/* private data of the peer */
};
#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic pop
#endif

/* Only sread may block. */
struct fi_ops_eq {
	size_t	size;
	ssize_t (*read)(struct fid_eq *eq, uint32_t *event, void *buf,
			size_t len, uint64_t flags);
	ssize_t (*readerr)(struct fid_eq *eq, struct fi_eq_err_entry *buf,
			uint64_t flags);
	ssize_t (*write)(struct fid_eq *eq, uint32_t event, const void *buf,
			size_t len, uint64_t flags);
	ssize_t (*sread)(struct fid_eq *eq, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags);
	const char *(*strerror)(struct fid_eq *eq, int prov_errno,
			const void *err_data, char *buf, size_t len);
};

struct fid_eq {
	struct fid		fid;
	struct fi_ops_eq	*ops;
};

/* ---- completion queue ---------------------------------------------------- */

/* Which struct entries are read as. */
enum fi_cq_format {
	FI_CQ_FORMAT_UNSPEC,
	FI_CQ_FORMAT_CONTEXT,		/* fi_cq_entry */
	FI_CQ_FORMAT_MSG,		/* fi_cq_msg_entry */
	FI_CQ_FORMAT_DATA,		/* fi_cq_data_entry */
	FI_CQ_FORMAT_TAGGED		/* fi_cq_tagged_entry */
};

/* Each format is the one before it, and more. */
struct fi_cq_entry {
	void	*op_context;	/* as passed to the operation */
};

struct fi_cq_msg_entry {
	void		*op_context;
	uint64_t	flags;	/* kind of operation: FI_SEND, FI_RECV, FI_MSG, FI_TAGGED... */
	size_t		len;	/* bytes received */
};

struct fi_cq_data_entry {
	void		*op_context;
	uint64_t	flags;
	size_t		len;
	void		*buf;	/* FI_MULTI_RECV: where the message lies */
	uint64_t	data;	/* the sender's, with FI_REMOTE_CQ_DATA in flags */
};

struct fi_cq_tagged_entry {
	void		*op_context;
	uint64_t	flags;
	size_t		len;
	void		*buf;
	uint64_t	data;
	uint64_t	tag;	/* as sent */
};

struct fi_cq_err_entry {
	void		*op_context;
	uint64_t	flags;
	size_t		len;
	void		*buf;
	uint64_t	data;
	uint64_t	tag;
	size_t		olen;		/* bytes that did not fit */
	int		err;		/* FI_E number, positive */
	int		prov_errno;	/* the provider's own, for fi_cq_strerror() */
	void		*err_data;	/* [in] room for detail; [out] the detail */
	/* [in] bytes of room, 0: provider's own buffer; [out] bytes */
	size_t		err_data_size;
	fi_addr_t	src_addr;	/* FI_SOURCE_ERR: whose operation failed, from 1.20 on */
};

/* What wakes a sleeping reader. */
enum fi_cq_wait_cond {
	FI_CQ_COND_NONE,		/* any completion */
	FI_CQ_COND_THRESHOLD		/* so many; cond points to a size_t */
};

struct fi_cq_attr {
	size_t			size;			/* entries that fit, or 0 for the default */
	uint64_t		flags;			/* FI_AFFINITY, FI_XPU */
	enum fi_cq_format	format;
	enum fi_wait_obj	wait_obj;
	/* interrupt or processor, with FI_AFFINITY */
	int			signaling_vector;
	/* what the cond argument of fi_cq_sread() means */
	enum fi_cq_wait_cond	wait_cond;
	struct fid_wait		*wait_set FI_DEPRECATED_FIELD;	/* with FI_WAIT_SET */
	struct fid_xpu_ctx	*xpu_ctx;		/* from 2.7 on; read only with FI_XPU */
};

/* Only sread and sreadfrom may block. A read of 0 entries only drives progress. */
struct fi_ops_cq {
	size_t	size;
	ssize_t (*read)(struct fid_cq *cq, void *buf, size_t count);
	ssize_t (*readfrom)(struct fid_cq *cq, void *buf, size_t count,
			fi_addr_t *src_addr);
	ssize_t (*readerr)(struct fid_cq *cq, struct fi_cq_err_entry *buf,
			uint64_t flags);
	ssize_t (*sread)(struct fid_cq *cq, void *buf, size_t count,
			const void *cond, int timeout);
	ssize_t (*sreadfrom)(struct fid_cq *cq, void *buf, size_t count,
			fi_addr_t *src_addr, const void *cond, int timeout);
	int (*signal)(struct fid_cq *cq);
	const char *(*strerror)(struct fid_cq *cq, int prov_errno,
			const void *err_data, char *buf, size_t len);
	int (*export_xpu)(struct fid_cq *cq, uint64_t flags,
			struct fid_xpu_cq *xpu_cq);
};

struct fid_cq {
	struct fid		fid;
	struct fi_ops_cq	*ops;
};

/* ---- counter ------------------------------------------------------------- */

/* What a counter counts. */
enum fi_cntr_events {
	FI_CNTR_EVENTS_COMP,		/* operations */
	FI_CNTR_EVENTS_BYTES		/* bytes moved */
};

struct fi_cntr_attr {
	enum fi_cntr_events	events;
	enum fi_wait_obj	wait_obj;
	struct fid_wait		*wait_set FI_DEPRECATED_FIELD;	/* with FI_WAIT_SET */
	uint64_t		flags;	/* 0, or FI_XPU */
	struct fid_xpu_ctx	*xpu_ctx;	/* from 2.7 on; read only with FI_XPU */
};

/* Only wait may block. */
struct fi_ops_cntr {
	size_t	size;
	uint64_t (*read)(struct fid_cntr *cntr);
	uint64_t (*readerr)(struct fid_cntr *cntr);
	int (*add)(struct fid_cntr *cntr, uint64_t value);
	int (*set)(struct fid_cntr *cntr, uint64_t value);
	int (*wait)(struct fid_cntr *cntr, uint64_t threshold, int timeout);
	int (*adderr)(struct fid_cntr *cntr, uint64_t value);
	int (*seterr)(struct fid_cntr *cntr, uint64_t value);
	int (*export_xpu)(struct fid_cntr *cntr, uint64_t flags,
			struct fid_xpu_cntr *xpu_cntr);
};

struct fid_cntr {
	struct fid		fid;
	struct fi_ops_cntr	*ops;
};

/* ---- calls --------------------------------------------------------------- */

#ifdef FABRIC_DIRECT
#include <rdma/fi_direct_eq.h>
#endif

#ifndef FABRIC_DIRECT_EQ

/* May the caller sleep on the wait objects of these now? 0 yes; -FI_EAGAIN: there is an entry
 * or event already, read it first.
 */
FI_INLINE int fi_trywait(struct fid_fabric *fabric, struct fid **fids,
		int count)
{
	if (!FI_CHECK_OP(fabric->ops, struct fi_ops_fabric, trywait))
		return -FI_ENOSYS;
	return fabric->ops->trywait(fabric, fids, count);
}

/* Sleep until something in the set has events; timeout in ms, -1 for ever. */
FI_DEPRECATED_FUNC
FI_INLINE int fi_wait(struct fid_wait *waitset, int timeout)
{
	return waitset->ops->wait(waitset, timeout);
}

/* Contexts of the members that have events; returns how many. */
FI_DEPRECATED_FUNC
FI_INLINE int fi_poll(struct fid_poll *pollset, void **context, int count)
{
	return pollset->ops->poll(pollset, context, count);
}

FI_DEPRECATED_FUNC
FI_INLINE int fi_poll_add(struct fid_poll *pollset, struct fid *event_fid,
		uint64_t flags)
{
	return pollset->ops->poll_add(pollset, event_fid, flags);
}

FI_DEPRECATED_FUNC
FI_INLINE int fi_poll_del(struct fid_poll *pollset, struct fid *event_fid,
		uint64_t flags)
{
	return pollset->ops->poll_del(pollset, event_fid, flags);
}

FI_INLINE int fi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq, void *context)
{
	return fabric->ops->eq_open(fabric, attr, eq, context);
}

/* Next event into buf; returns its bytes. -FI_EAGAIN none, -FI_EAVAIL an error
 * entry waits, -FI_ETOOSMALL buf is too short. FI_PEEK leaves it there. */
FI_INLINE ssize_t fi_eq_read(struct fid_eq *eq, uint32_t *event, void *buf,
		size_t len, uint64_t flags)
{
	return eq->ops->read(eq, event, buf, len, flags);
}

/* The error entry that waits. */
FI_INLINE ssize_t fi_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf,
		uint64_t flags)
{
	return eq->ops->readerr(eq, buf, flags);
}

/* Add an event of the program's own; the queue was opened with FI_WRITE. */
FI_INLINE ssize_t fi_eq_write(struct fid_eq *eq, uint32_t event,
		const void *buf, size_t len, uint64_t flags)
{
	if (!FI_CHECK_OP(eq->ops, struct fi_ops_eq, write))
		return -FI_ENOSYS;
	return eq->ops->write(eq, event, buf, len, flags);
}

/* As fi_eq_read(), but sleeps; timeout in ms, -1 for ever. */
FI_INLINE ssize_t fi_eq_sread(struct fid_eq *eq, uint32_t *event, void *buf,
		size_t len, int timeout, uint64_t flags)
{
	return eq->ops->sread(eq, event, buf, len, timeout, flags);
}

/* Text for prov_errno; err_data may add to it. */
FI_INLINE const char *fi_eq_strerror(struct fid_eq *eq, int prov_errno,
		const void *err_data, char *buf, size_t len)
{
	return eq->ops->strerror(eq, prov_errno, err_data, buf, len);
}

/* Up to count entries into buf; returns how many. -FI_EAGAIN none,
 * -FI_EAVAIL an error entry waits. Drives manual progress. */
FI_INLINE ssize_t fi_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return cq->ops->read(cq, buf, count);
}

/* As fi_cq_read(), with the sources of receives; FI_ADDR_NOTAVAIL: not known. */
FI_INLINE ssize_t fi_cq_readfrom(struct fid_cq *cq, void *buf, size_t count,
		fi_addr_t *src_addr)
{
	return cq->ops->readfrom(cq, buf, count, src_addr);
}

/* The error entry that waits; returns 1. */
FI_INLINE ssize_t fi_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf,
		uint64_t flags)
{
	return cq->ops->readerr(cq, buf, flags);
}

/* As fi_cq_read(), but sleeps; timeout in ms, -1 for ever. */
FI_INLINE ssize_t fi_cq_sread(struct fid_cq *cq, void *buf, size_t count,
		const void *cond, int timeout)
{
	return cq->ops->sread(cq, buf, count, cond, timeout);
}

FI_INLINE ssize_t fi_cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count,
		fi_addr_t *src_addr, const void *cond, int timeout)
{
	return cq->ops->sreadfrom(cq, buf, count, src_addr, cond, timeout);
}

/* Wake a reader that sleeps in fi_cq_sread(); it returns -FI_EAGAIN. */
FI_INLINE int fi_cq_signal(struct fid_cq *cq)
{
	if (!FI_CHECK_OP(cq->ops, struct fi_ops_cq, signal))
		return -FI_ENOSYS;
	return cq->ops->signal(cq);
}

/* Text for prov_errno; err_data may add to it. */
FI_INLINE const char *fi_cq_strerror(struct fid_cq *cq, int prov_errno,
		const void *err_data, char *buf, size_t len)
{
	return cq->ops->strerror(cq, prov_errno, err_data, buf, len);
}

/* The handle by which the device reads a queue that was opened with FI_XPU: copy it there. */
FI_INLINE int fi_cq_export_xpu(struct fid_cq *cq, uint64_t flags,
		struct fid_xpu_cq *xpu_cq)
{
	if (!FI_CHECK_OP(cq->ops, struct fi_ops_cq, export_xpu))
		return -FI_ENOSYS;
	return cq->ops->export_xpu(cq, flags, xpu_cq);
}

/* Successes so far. Drives manual progress. */
FI_INLINE uint64_t fi_cntr_read(struct fid_cntr *cntr)
{
	return cntr->ops->read(cntr);
}

/* Failures so far. */
FI_INLINE uint64_t fi_cntr_readerr(struct fid_cntr *cntr)
{
	return cntr->ops->readerr(cntr);
}

FI_INLINE int fi_cntr_add(struct fid_cntr *cntr, uint64_t value)
{
	return cntr->ops->add(cntr, value);
}

FI_INLINE int fi_cntr_adderr(struct fid_cntr *cntr, uint64_t value)
{
	if (!FI_CHECK_OP(cntr->ops, struct fi_ops_cntr, adderr))
		return -FI_ENOSYS;
	return cntr->ops->adderr(cntr, value);
}

FI_INLINE int fi_cntr_set(struct fid_cntr *cntr, uint64_t value)
{
	return cntr->ops->set(cntr, value);
}

FI_INLINE int fi_cntr_seterr(struct fid_cntr *cntr, uint64_t value)
{
	if (!FI_CHECK_OP(cntr->ops, struct fi_ops_cntr, seterr))
		return -FI_ENOSYS;
	return cntr->ops->seterr(cntr, value);
}

/* Sleep until the counter is at least threshold; timeout in ms, -1 for ever.
 * -FI_EAVAIL when a failure is counted, -FI_ETIMEDOUT. */
FI_INLINE int fi_cntr_wait(struct fid_cntr *cntr, uint64_t threshold,
		int timeout)
{
	return cntr->ops->wait(cntr, threshold, timeout);
}

/* The handle by which the device uses a counter that was opened with FI_XPU: copy it there. */
FI_INLINE int fi_cntr_export_xpu(struct fid_cntr *cntr, uint64_t flags,
		struct fid_xpu_cntr *xpu_cntr)
{
	if (!FI_CHECK_OP(cntr->ops, struct fi_ops_cntr, export_xpu))
		return -FI_ENOSYS;
	return cntr->ops->export_xpu(cntr, flags, xpu_cntr);
}

#endif /* FABRIC_DIRECT_EQ */

#ifdef __cplusplus
}
#endif

#endif /* FI_EQ_H */
