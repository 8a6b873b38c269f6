/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/ops.h"

#include <rdma/fi_errno.h>

/* What a slot without an implementation answers: by its type, and by its name where the
 * manual has another answer for "this object has no such thing".  A counter's value cannot
 * carry an error: one without a read reads as 0.
 */
#define ANSWER_int -FI_ENOSYS
#define ANSWER_ssize_t -FI_ENOSYS
#define ANSWER_uint64_t 0
/* fi_endpoint(3), and runtimes that probe for options: an unknown one */
#define OTHER_ep_getopt -, -FI_ENOPROTOOPT
#define OTHER_ep_setopt -, -FI_ENOPROTOOPT

/* The second of the arguments: OTHER_x_y's where that is defined, else ANSWER_type. */
#define SECOND(one, two, ...) two
#define SECOND_OF(...) SECOND(__VA_ARGS__, -)

#define NO(type, name, other, params)						\
	static type name params							\
	{									\
		return SECOND_OF(other, ANSWER_##type);				\
	}

/* ---- the calls that have an entry in calls.def ------------------------------ */

#define CALL(kind, type, table, slot, name, at, params, ...)			\
	NO(type, no_##table##_##slot, OTHER_##table##_##slot, params)
#define READERR(table, name, at, entry)						\
	NO(ssize_t, no_##table##_readerr, -, (struct fid_##table *q, entry *buf, uint64_t flags))
#define FID(kind, slot, name, params) NO(int, no_fid_##slot, -, params)
#include "base/calls.def"

/* ---- the others ------------------------------------------------------------- */

NO(int, no_fid_ops_open, -,
   (struct fid *fid, const char *name, uint64_t flags, void **ops, void *context))
NO(int, no_fid_tostr, -, (const struct fid *fid, char *buf, size_t len))
NO(int, no_fid_ops_set, -,
   (struct fid *fid, const char *name, uint64_t flags, void *ops, void *context))
NO(int, no_query_collective, -,
   (struct fid_domain *domain, enum fi_collective_op coll, struct fi_collective_attr *attr,
    uint64_t flags))
NO(int, no_insert_auth_key, -,
   (struct fid_av *av, const void *key, size_t size, fi_addr_t *fi_addr, uint64_t flags))
NO(int, no_set_user_id, -,
   (struct fid_av *av, fi_addr_t fi_addr, fi_addr_t user_id, uint64_t flags))
NO(int, no_set_set, -, (struct fid_av_set *dst, const struct fid_av_set *src))
NO(int, no_set_member, -, (struct fid_av_set *set, fi_addr_t addr))
NO(int, no_set_addr, -, (struct fid_av_set *set, fi_addr_t *coll_addr))
NO(ssize_t, no_size_left, -, (struct fid_ep *ep))
NO(ssize_t, no_coll_msg, -,
   (struct fid_ep *ep, const struct fi_msg_collective *msg, struct fi_ioc *resultv,
    void **result_desc, size_t result_count, uint64_t flags))

/* fi_atomic(3): an operation that cannot be done is -FI_EOPNOTSUPP. */
static int no_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
			   struct fi_atomic_attr *attr, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

static int no_atomic_valid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			   size_t *count)
{
	return -FI_EOPNOTSUPP;
}

/* The reader prints what comes back, so it may not be NULL. */
static const char *no_straddr(struct fid_av *av, const void *addr, char *buf, size_t *len)
{
	if (buf && len && *len)
		buf[0] = '\0';
	if (len)
		*len = 1;
	return buf;
}

static const char *no_cq_strerror(struct fid_cq *cq, int prov_errno, const void *err_data,
				  char *buf, size_t len)
{
	return "unknown error";
}

static const char *no_eq_strerror(struct fid_eq *eq, int prov_errno, const void *err_data,
				  char *buf, size_t len)
{
	return "unknown error";
}

/* ---- the tables ------------------------------------------------------------- */

#define SIZE(table) .table.size = sizeof(obj_ops_defaults.table)

const struct obj_ops_defaults obj_ops_defaults = {
	SIZE(fid), SIZE(fabric), SIZE(domain), SIZE(mr), SIZE(av), SIZE(av_set), SIZE(cq),
	SIZE(cntr), SIZE(eq), SIZE(wait), SIZE(poll), SIZE(ep), SIZE(cm), SIZE(msg),
	SIZE(tagged), SIZE(rma), SIZE(atomic), SIZE(collective), SIZE(xpu_ctx),
#define CALL(kind, type, table, slot, ...) .table.slot = no_##table##_##slot,
#define READERR(table, name, at, entry) .table.readerr = no_##table##_readerr,
#define FID(kind, slot, name, params) .fid.slot = no_fid_##slot,
#include "base/calls.def"
	.fid.ops_open = no_fid_ops_open,
	.fid.tostr = no_fid_tostr,
	.fid.ops_set = no_fid_ops_set,
	.domain.query_atomic = no_query_atomic,
	.domain.query_collective = no_query_collective,
	.av.straddr = no_straddr,
	.av.insert_auth_key = no_insert_auth_key,
	.av.lookup_auth_key = no_av_lookup,
	.av.set_user_id = no_set_user_id,
	.av_set.set_union = no_set_set,
	.av_set.intersect = no_set_set,
	.av_set.diff = no_set_set,
	.av_set.insert = no_set_member,
	.av_set.remove = no_set_member,
	.av_set.addr = no_set_addr,
	.cq.strerror = no_cq_strerror,
	.eq.strerror = no_eq_strerror,
	.ep.rx_size_left = no_size_left,
	.ep.tx_size_left = no_size_left,
	.atomic.writevalid = no_atomic_valid,
	.atomic.readwritevalid = no_atomic_valid,
	.atomic.compwritevalid = no_atomic_valid,
	.collective.msg = no_coll_msg,
};

void obj_ops_fill(void *table, size_t size, const void *defaults)
{
	size_t i, cnt = size / sizeof(void *);
	void **slot = table;
	void *const *from = defaults;

	/* Slot 0 is the size.  A full table is only read: others may be using it. */
	for (i = 1; i < cnt; i++)
		if (!slot[i])
			slot[i] = from[i];
	if (*(size_t *) table != size)
		*(size_t *) table = size;
}

/* A table of defaults may stand for itself: a full table is not written to. */
#define FILL_OR_DEFAULT(ptr, member)						\
	do {									\
		if (!(ptr))							\
			(ptr) = (void *) &obj_ops_defaults.member;		\
		else								\
			OBJ_OPS_FILL(ptr, member);				\
	} while (0)

void obj_ops_fill_ep(struct fid_ep *ep)
{
	FILL_OR_DEFAULT(ep->fid.ops, fid);
	FILL_OR_DEFAULT(ep->ops, ep);
	FILL_OR_DEFAULT(ep->cm, cm);
	FILL_OR_DEFAULT(ep->msg, msg);
	FILL_OR_DEFAULT(ep->rma, rma);
	FILL_OR_DEFAULT(ep->tagged, tagged);
	FILL_OR_DEFAULT(ep->atomic, atomic);
	FILL_OR_DEFAULT(ep->collective, collective);
}
