/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_profile.h - values and events inside a domain or endpoint.
 *
 * Open a profile on the object, ask what it has, then read values or have
 * events call back.
 */
#ifndef FI_PROFILE_H
#define FI_PROFILE_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fid_profile;

/* How a value is described. */
enum fi_profile_type {
	fi_primitive_type,		/* datatype.primitive */
	fi_defined_type			/* datatype.defined: a struct of these headers */
};

/* Values that have a number of their own; a provider adds others after. */
enum {
	FI_VAR_UNEXP_MSG_CNT,		/* unexpected messages waiting */
	FI_VAR_UNEXP_MSG_QUEUE,		/* those messages */
	FI_VAR_MSG_QUEUE_CNT,		/* receives posted */
	FI_VAR_CONNECTION_CNT,		/* open connections */
	FI_VAR_CONN_REQUEST,		/* connection requests so far */
	FI_VAR_CONN_ACCEPT,		/* of them accepted */
	FI_VAR_CONN_REJECT,		/* of them refused */
	FI_VAR_OFI_MEM			/* bytes that the object holds */
};

/* Events, likewise. */
enum {
	FI_EVENT_UNEXP_MSG_RECVD,	/* an unexpected message arrived */
	FI_EVENT_UNEXP_MSG_MATCHED	/* a receive matched one of those */
};

struct fi_profile_desc {
	uint32_t		id;		/* FI_VAR_ or FI_EVENT_ */
	enum fi_profile_type	datatype_sel;	/* selects the member of datatype */
	union {
		enum fi_datatype	primitive;
		enum fi_type		defined;
	} datatype;
	uint64_t		flags;
	size_t			size;		/* bytes of the value */
	const char		*name;		/* short */
	const char		*desc;		/* one line */
};

struct fi_profile_ops {
	size_t	size;
	void (*reset)(struct fid_profile *prof_fid, uint64_t flags);
	ssize_t (*query_vars)(struct fid_profile *prof_fid,
			struct fi_profile_desc *varlist, size_t *count);
	ssize_t (*query_events)(struct fid_profile *prof_fid,
			struct fi_profile_desc *eventlist, size_t *count);
	/* [in,out] size: bytes of room, then of the value */
	ssize_t (*read_var)(struct fid_profile *prof_fid, uint32_t var_id,
			void *data, size_t *size);
	int (*reg_callback)(struct fid_profile *prof_fid, uint32_t event_id,
			int (*callback)(struct fid_profile *prof_fid,
				struct fi_profile_desc *event, void *param,
				size_t size, void *context),
			void *context);
	void (*start_reads)(struct fid_profile *prof_fid, uint64_t flags);
	void (*end_reads)(struct fid_profile *prof_fid, uint64_t flags);
};

struct fid_profile {
	struct fid		fid;
	struct fi_profile_ops	*ops;
};

/* Values start from zero again. */
FI_INLINE void fi_profile_reset(struct fid_profile *prof_fid, uint64_t flags)
{
	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, reset))
		return;
	prof_fid->ops->reset(prof_fid, flags);
}

/* Values there are: fills up to *count, stores how many there are. NULL list
 * only asks for the number. */
FI_INLINE ssize_t fi_profile_query_vars(struct fid_profile *prof_fid,
		struct fi_profile_desc *varlist, size_t *count)
{
	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, query_vars))
		return -FI_ENOSYS;
	return prof_fid->ops->query_vars(prof_fid, varlist, count);
}

FI_INLINE ssize_t fi_profile_query_events(struct fid_profile *prof_fid,
		struct fi_profile_desc *eventlist, size_t *count)
{
	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, query_events))
		return -FI_ENOSYS;
	return prof_fid->ops->query_events(prof_fid, eventlist, count);
}

FI_INLINE ssize_t fi_profile_read_u64(struct fid_profile *prof_fid,
		uint32_t var_id, uint64_t *data)
{
	size_t size = sizeof(*data);

	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, read_var))
		return -FI_ENOSYS;
	return prof_fid->ops->read_var(prof_fid, var_id, data, &size);
}

/* Call back on each such event, from whatever thread makes progress. */
FI_INLINE int fi_profile_register_callback(struct fid_profile *prof_fid,
		uint32_t event_id,
		int (*callback)(struct fid_profile *prof_fid,
			struct fi_profile_desc *event, void *param,
			size_t size, void *context),
		void *context)
{
	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, reg_callback))
		return -FI_ENOSYS;
	return prof_fid->ops->reg_callback(prof_fid, event_id, callback,
			context);
}

/* Between these two, values read belong to one moment. */
FI_INLINE void fi_profile_start_reads(struct fid_profile *prof_fid,
		uint64_t flags)
{
	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, start_reads))
		return;
	prof_fid->ops->start_reads(prof_fid, flags);
}

FI_INLINE void fi_profile_end_reads(struct fid_profile *prof_fid,
		uint64_t flags)
{
	if (!FI_CHECK_OP(prof_fid->ops, struct fi_profile_ops, end_reads))
		return;
	prof_fid->ops->end_reads(prof_fid, flags);
}

/* Profile of a domain or endpoint. */
FI_INLINE int fi_profile_open(struct fid *fid, uint64_t flags,
		struct fid_profile **prof_fid, void *context)
{
	void *ops = NULL;
	int ret = fi_open_ops(fid, "fi_profile_ops", flags, &ops, context);

	if (!ret)
		*prof_fid = (struct fid_profile *) ops;
	return ret;
}

FI_INLINE int fi_profile_close(struct fid_profile *prof_fid)
{
	return fi_close(&prof_fid->fid);
}

#ifdef __cplusplus
}
#endif

#endif /* FI_PROFILE_H */
