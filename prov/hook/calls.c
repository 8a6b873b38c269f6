/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The functions in the copied tables: each reports to the watchers and calls the provider. */
#include <inttypes.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_xpu.h>

#include "base/iov.h"
#include "base/list.h"
#include "engine/atomic.h"
#include "intern.h"

/* ---- text of the arguments ----------------------------------------------------------- */

static size_t amo_bytes(enum fi_datatype type, size_t count)
{
	return eng_atomic_size(type) * count;
}

static size_t amo_bytes_of(enum fi_datatype type, const struct fi_ioc *iov, size_t count)
{
	size_t total = 0;

	while (count--)
		total += amo_bytes(type, iov[count].count);
	return total;
}

static size_t attr_bytes(const struct fi_mr_attr *attr, uint64_t flags)
{
	return flags & FI_MR_DMABUF ? 0 : iov_total(attr->mr_iov, attr->iov_count);
}

static const char *domain_name(const struct fi_info *info)
{
	return info && info->domain_attr && info->domain_attr->name ? info->domain_attr->name :
								     "-";
}

static const char *ep_type(const struct fi_info *info)
{
	switch (info && info->ep_attr ? info->ep_attr->type : FI_EP_UNSPEC) {
	case FI_EP_MSG:
		return "FI_EP_MSG";
	case FI_EP_DGRAM:
		return "FI_EP_DGRAM";
	case FI_EP_RDM:
		return "FI_EP_RDM";
	default:
		return "-";
	}
}

/* ---- tables that several classes of objects have ------------------------------------- */

static const struct fi_ops_ep *ep_ops(const struct fid *fid)
{
	if (fid->fclass == FI_CLASS_PEP)
		return container_of(fid, struct fid_pep, fid)->ops;
	if (fid->fclass == FI_CLASS_STX_CTX)
		return container_of(fid, struct fid_stx, fid)->ops;
	return container_of(fid, struct fid_ep, fid)->ops;
}

static const struct fi_ops_cm *cm_ops(const struct fid *fid)
{
	return fid->fclass == FI_CLASS_PEP ? container_of(fid, struct fid_pep, fid)->cm :
					     container_of(fid, struct fid_ep, fid)->cm;
}

static const struct fi_ops_mr *mr_ops(const struct fid *fid)
{
	return container_of(fid, struct fid_domain, fid)->mr;
}

/* ---- the calls ----------------------------------------------------------------------- */

#define LIST(...) __VA_ARGS__

/* The function to call: that of a hook that overrides the slot, or the provider's. */
#define CALLEE(t, type, slot)							\
	((t)->override && ((const type *) (t)->override)->slot ?			\
	 (const type *) (t)->override : (const type *) (t)->real)

#define BEGIN(type, table, slot, at, bytes, text)				\
	struct hook_table *t = hook_table_of(at);				\
	const struct fi_ops_##table *real = CALLEE(t, struct fi_ops_##table, slot);	\
	struct hook_call call;							\
	type ret;								\
										\
	hook_enter(&call, t->obj, HOOK_FN_##table##_##slot, bytes);		\
	if (hook_wants_text(&call))						\
		hook_text(&call, LIST text);					\
	hook_started(&call);

#define CALL(kind, type, table, slot, name, at, params, args, bytes, text)	\
static type table##_##slot params						\
{										\
	BEGIN(type, table, slot, at, bytes, text)				\
	ret = real->slot args;							\
	hook_leave(&call, (int64_t) ret);					\
	return ret;								\
}

#define OPEN(kind, type, table, slot, name, at, params, args, out, bytes, text)	\
static type table##_##slot params						\
{										\
	BEGIN(type, table, slot, at, bytes, text)				\
	ret = real->slot args;							\
	if (!ret) {								\
		call.opened = out;						\
		hook_object(t->obj, call.opened);				\
	}									\
	hook_leave(&call, ret);							\
	return ret;								\
}

/* The text says which operation failed and why. */
#define READERR(table, name, at, entry)						\
static ssize_t table##_readerr(struct fid_##table *queue, entry *buf, uint64_t flags)	\
{										\
	BEGIN(ssize_t, table, readerr, at, 0,					\
	      (#table " %p" CALLS_FLAGS, (void *) queue, flags))			\
	ret = real->readerr(queue, buf, flags);					\
	if (ret > 0 && hook_wants_text(&call))					\
		hook_add_text(&call, ": " CONTEXT_##table ", err %d (%s), provider's %d",	\
			      WHICH_##table, buf->err, fi_strerror(buf->err),	\
			  buf->prov_errno);					\
	hook_leave(&call, ret);							\
	return ret;								\
}
#define CONTEXT_cq "context %p"
#define WHICH_cq buf->op_context
#define CONTEXT_eq "object %p"
#define WHICH_eq (void *) buf->fid

#include "base/calls.def"

static int fid_close(struct fid *fid)
{
	struct hook_table *t = hook_fid_table(fid);
	const struct fi_ops *real = CALLEE(t, struct fi_ops, close);
	struct hook_call call;
	int ret;

	hook_enter(&call, t->obj, HOOK_FN_fid_close, 0);
	if (hook_wants_text(&call))
		hook_text(&call, "object %p", (void *) fid);
	hook_started(&call);
	hook_closing(t->obj, true);
	ret = real->close(fid);
	hook_leave(&call, ret);
	if (ret)
		hook_closing(t->obj, false);
	else
		hook_closed(t->obj);
	return ret;
}

static int fid_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct hook_table *t = hook_fid_table(fid);
	const struct fi_ops *real = CALLEE(t, struct fi_ops, bind);
	struct hook_call call;
	int ret;

	hook_enter(&call, t->obj, HOOK_FN_fid_bind, 0);
	if (hook_wants_text(&call))
		hook_text(&call, "object %p, to %p" CALLS_FLAGS, (void *) fid, (void *) other,
			  flags);
	hook_started(&call);
	ret = real->bind(fid, other, flags);
	hook_leave(&call, ret);
	return ret;
}

static int fid_control(struct fid *fid, int command, void *arg)
{
	struct hook_table *t = hook_fid_table(fid);
	const struct fi_ops *real = CALLEE(t, struct fi_ops, control);
	struct hook_call call;
	int ret;

	hook_enter(&call, t->obj, HOOK_FN_fid_control, 0);
	if (hook_wants_text(&call))
		hook_text(&call, "object %p, command %d%s", (void *) fid, command,
			  command == FI_ENABLE ? " (FI_ENABLE)" : "");
	hook_started(&call);
	ret = real->control(fid, command, arg);
	hook_refresh(t->obj);
	if (!ret && command == FI_ALIAS) {
		call.opened = *((struct fi_alias *) arg)->fid;
		hook_object(t->obj, call.opened);
	}
	hook_leave(&call, ret);
	return ret;
}

/* ---- the tables ------------------------------------------------------------------------ */

static const struct fi_ops fid_hooks = {
	.close = fid_close,
	.bind = fid_bind,
	.control = fid_control,
};

/* Filled by hook_fill_tables(), one slot for each line of calls.def. */
#define TABLE(name) static struct fi_ops_##name name##_hooks;
TABLE(msg) TABLE(tagged) TABLE(rma) TABLE(atomic) TABLE(collective) TABLE(cq) TABLE(cntr)
TABLE(eq) TABLE(wait) TABLE(poll) TABLE(av) TABLE(mr) TABLE(ep) TABLE(cm) TABLE(fabric)
TABLE(domain) TABLE(xpu_ctx)
#undef TABLE

void hook_fill_tables(void)
{
#define CALL(kind, type, table, slot, ...) table##_hooks.slot = table##_##slot;
#define READERR(table, name, at, entry) table##_hooks.readerr = table##_readerr;
#include "base/calls.def"
}

#define SHAPE(object, pointer, table) \
	{ offsetof(object, pointer), sizeof(struct fi_ops_##table), &table##_hooks }
#define FID_SHAPE { offsetof(struct fid, ops), sizeof(struct fi_ops), &fid_hooks }

static const struct hook_shape fabric_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_fabric, ops, fabric), {},
};
static const struct hook_shape domain_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_domain, ops, domain), SHAPE(struct fid_domain, mr, mr), {},
};
static const struct hook_shape ep_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_ep, ops, ep), SHAPE(struct fid_ep, cm, cm),
	SHAPE(struct fid_ep, msg, msg), SHAPE(struct fid_ep, rma, rma),
	SHAPE(struct fid_ep, tagged, tagged), SHAPE(struct fid_ep, atomic, atomic),
	SHAPE(struct fid_ep, collective, collective), {},
};
/* A provider may recognize its passive endpoints by the address of an ops table, so only the
 * other tables are replaced.
 */
static const struct hook_shape pep_shapes[] = {
	SHAPE(struct fid_pep, ops, ep), SHAPE(struct fid_pep, cm, cm), {},
};
static const struct hook_shape stx_shapes[] = { FID_SHAPE, SHAPE(struct fid_stx, ops, ep), {} };
static const struct hook_shape av_shapes[] = { FID_SHAPE, SHAPE(struct fid_av, ops, av), {} };
static const struct hook_shape cq_shapes[] = { FID_SHAPE, SHAPE(struct fid_cq, ops, cq), {} };
static const struct hook_shape cntr_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_cntr, ops, cntr), {},
};
static const struct hook_shape eq_shapes[] = { FID_SHAPE, SHAPE(struct fid_eq, ops, eq), {} };
static const struct hook_shape wait_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_wait, ops, wait), {},
};
static const struct hook_shape poll_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_poll, ops, poll), {},
};
static const struct hook_shape xpu_ctx_shapes[] = {
	FID_SHAPE, SHAPE(struct fid_xpu_ctx, ops, xpu_ctx), {},
};
static const struct hook_shape fid_shapes[] = { FID_SHAPE, {} };

const struct hook_shape *hook_shapes(size_t fclass)
{
	switch (fclass) {
	case FI_CLASS_FABRIC:
		return fabric_shapes;
	case FI_CLASS_DOMAIN:
		return domain_shapes;
	case FI_CLASS_EP:
	case FI_CLASS_SEP:
	case FI_CLASS_RX_CTX:
	case FI_CLASS_SRX_CTX:
	case FI_CLASS_TX_CTX:
		return ep_shapes;
	case FI_CLASS_PEP:
		return pep_shapes;
	case FI_CLASS_STX_CTX:
		return stx_shapes;
	case FI_CLASS_AV:
		return av_shapes;
	case FI_CLASS_CQ:
		return cq_shapes;
	case FI_CLASS_CNTR:
		return cntr_shapes;
	case FI_CLASS_EQ:
		return eq_shapes;
	case FI_CLASS_WAIT:
		return wait_shapes;
	case FI_CLASS_POLL:
		return poll_shapes;
	case FI_CLASS_XPU_CTX:
		return xpu_ctx_shapes;
	case FI_CLASS_MR:
	case FI_CLASS_MC:
	case FI_CLASS_AV_SET:
		return fid_shapes;
	default:
		return NULL;
	}
}
