/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ep.h - what every active endpoint has, whatever moves its data.
 *
 * A provider's endpoint begins with struct obj_ep.  The same struct serves for
 * a standard endpoint, a scalable one, its transmit and receive contexts, and a
 * shared receive context; fid.fid.fclass says which.
 *
 * Handles.  A program may hold several handles on one endpoint (fi_ep_alias),
 * each with its own operation flags.  Every ops function therefore starts with
 *
 *	struct obj_ep_handle *h = obj_ep_handle_of(fid_ep);
 *	struct my_ep *ep = container_of(h->ep, struct my_ep, base);
 *
 * and takes the default flags from h->tx_op_flags and h->rx_op_flags.
 */
#ifndef OBJ_EP_H
#define OBJ_EP_H

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "base/list.h"
#include "base/probe.h"
#include "obj/av.h"
#include "obj/cm.h"
#include "obj/cntr.h"
#include "obj/cq.h"
#include "obj/domain.h"
#include "obj/eq.h"
#include "progress/group.h"
#include "obj/ref.h"

struct obj_ep;

/* What may be bound to an endpoint that is enabled. */
enum obj_late {
	OBJ_LATE_CNTR = 1,	/* counters and a shared transmit context */
	OBJ_LATE_CQ = 2,	/* a queue for a direction that has none */
};

/* What obj calls in a provider's (or the engine's) endpoint. */
struct obj_ep_ops {
	/* enable - all that is needed is bound and ep->prog is set: start.
	 * Threading: without prog->lock.  On error the endpoint stays disabled and
	 * may be enabled again.
	 */
	int (*enable)(struct obj_ep *ep);

	/* av_removed - @fi_addr leaves the av: forget the peer.  Called before the
	 * entry is gone, only on an enabled endpoint, with prog->lock held.  May be NULL.
	 */
	void (*av_removed)(struct obj_ep *ep, fi_addr_t fi_addr);

	/* av_inserted - addresses came into the av.  Only on an enabled endpoint, with
	 * prog->lock held.  May be NULL.
	 */
	void (*av_inserted)(struct obj_ep *ep);

	/* bind - fi_ep_bind() of an object that obj does not know (class), or FI_CLASS_STX_CTX
	 * and FI_CLASS_SRX_CTX, which have been checked.  May be NULL: -FI_EINVAL.
	 */
	int (*bind)(struct obj_ep *ep, struct fid *fid, uint64_t flags);

	/* rebound - a counter, a queue or a shared transmit context was bound after enable().
	 * Called with prog->lock held.  May be NULL.
	 */
	void (*rebound)(struct obj_ep *ep);
	unsigned late;			/* enum obj_late; the rest is refused once enabled */

	/* Options that obj does not answer by itself; -FI_ENOPROTOOPT if unknown.
	 * May be NULL.  Called without prog->lock.
	 */
	int (*getopt)(struct obj_ep *ep, int optname, void *val, size_t *len);
	int (*setopt)(struct obj_ep *ep, int optname, const void *val, size_t len);

	/* control - commands that obj does not answer by itself.  May be NULL: -FI_ENOSYS. */
	int (*control)(struct obj_ep *ep, int command, void *arg);
};

enum obj_ep_cntr {
	OBJ_CNTR_SEND,
	OBJ_CNTR_RECV,
	OBJ_CNTR_READ,
	OBJ_CNTR_WRITE,
	OBJ_CNTR_REMOTE_READ,
	OBJ_CNTR_REMOTE_WRITE,
	OBJ_CNTR_CNT,
	OBJ_CNTR_NONE = OBJ_CNTR_CNT,	/* the operation bumps none */
};

/* The options FI_OPT_MAX_MSG_SIZE to FI_OPT_INJECT_ATOMIC_SIZE. */
#define OBJ_OPT_MAX_CNT (FI_OPT_INJECT_ATOMIC_SIZE - FI_OPT_MAX_MSG_SIZE + 1)

struct obj_ep_handle {
	struct fid_ep fid;		/* first: what the program holds */
	struct obj_ep *ep;		/* the endpoint behind it */
	uint64_t tx_op_flags;		/* defaults of calls without flags */
	uint64_t rx_op_flags;
};

struct obj_ep {
	struct obj_ep_handle h;		/* first: the program's own handle, h.ep is us */
	struct obj_prog *prog;		/* from enable on; its lock guards the provider's state */
	struct obj_cq *rx_cq, *tx_cq;
	struct obj_cntr *cntrs[OBJ_CNTR_CNT];
	bool tx_selective;		/* FI_SELECTIVE_COMPLETION at bind */
	bool rx_selective;
	bool enabled;
	enum fi_ep_type type;
	uint64_t caps;			/* info->caps */
	/* up to here lies what most calls need */
	struct obj_domain *domain;
	const struct obj_ep_ops *ops;
	struct obj_av *av;
	struct obj_eq *eq;
	struct obj_ep *srx;		/* bound shared receive context */
	struct obj_ep *sep;		/* the scalable endpoint that we are a context of */
	unsigned index;			/* of the context in it */
	uint64_t eq_flags;
	size_t min_multi_recv;		/* FI_OPT_MIN_MULTI_RECV */
	int hmem_p2p;			/* FI_OPT_FI_HMEM_P2P */
	bool stx_bound;			/* a shared transmit context; it may be closed by now */
	bool no_cuda;			/* FI_OPT_CUDA_API_PERMITTED is false */
	size_t opt_max[OBJ_OPT_MAX_CNT];/* FI_OPT_MAX_MSG_SIZE ... FI_OPT_INJECT_ATOMIC_SIZE as set */
	struct fi_info *info;		/* our copy; its attribute structs are never NULL */
	const struct fi_provider *prov;
	struct list av_node;		/* on av->eps */
	struct obj_ref domain_ref, tx_cq_ref, rx_cq_ref, av_ref, eq_ref, srx_ref, sep_ref;
	struct obj_ref cntr_refs[OBJ_CNTR_CNT];
	struct obj_refs refs;		/* aliases, contexts, regions, endpoints with this srx */
	struct xpu_ep *xpu;		/* a device posts to it; else NULL */
	struct sec_policy *sec;		/* how its connections are protected; NULL: not at all */
	struct obj_cm cm;		/* name and connection; filled in by the provider */
};

/* Endpoints keep nothing of it after fi_ep_bind(): a program may close it before them. */
struct obj_stx {
	struct fid_stx fid;
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	unsigned process;		/* that opened it: obj_opened_before_fork() */
	struct fi_tx_attr attr;
};

static inline struct obj_ep_handle *obj_ep_handle_of(struct fid_ep *fid)
{
	return container_of(fid, struct obj_ep_handle, fid);
}

/* obj_ep_of - the endpoint behind a handle that may be an alias. */
static inline struct obj_ep *obj_ep_of(struct fid_ep *fid)
{
	return obj_ep_handle_of(fid)->ep;
}

/* obj_cm_state - of the endpoint's connection.  Threading: a caller that does not hold the
 * connection's lock learns what was true a moment ago.
 */
static inline enum obj_cm_state obj_cm_state(const struct obj_ep *ep)
{
	return (enum obj_cm_state) atomic_load_explicit(&ep->cm.state, memory_order_relaxed);
}

/* obj_ep_init - prepare the common part.
 *
 * @fclass: FI_CLASS_EP, SEP, TX_CTX, RX_CTX or SRX_CTX
 * @info:   copied; its missing attributes are taken from the domain's info
 *
 * Sets fid, default flags and min_multi_recv; the provider sets h.fid.fid.ops and
 * the other tables and then calls obj_ops_fill_ep().
 * Errors: -FI_EINVAL (no endpoint attributes or another domain's info), -FI_ENOMEM.
 */
int obj_ep_init(struct obj_ep *ep, size_t fclass, struct fid_domain *domain,
		const struct fi_info *info, const struct obj_ep_ops *ops, void *context);

/* obj_ep_set_context - make @ep a context of the scalable endpoint @sep: it shares
 * the endpoint's address vector and group, and holds it open.
 */
void obj_ep_set_context(struct obj_ep *ep, struct obj_ep *sep, unsigned index);

/* obj_ep_lend_av - @ep is about to be enabled with @srx, which takes on its address
 * vector, for directed receives; nothing for connected endpoints.
 *
 * Threading: without prog->lock, which both share.
 * Errors:    -FI_EINVAL: another endpoint with @srx has another address vector (logged).
 */
int obj_ep_lend_av(struct obj_ep *srx, struct obj_ep *ep);

/* obj_ep_return_av - the last endpoint with @srx is gone: let go of the vector. */
void obj_ep_return_av(struct obj_ep *srx);

/* obj_ep_busy - the first thing of a provider's close, unless obj_inherited(&ep->refs), which is to return 0
 * at once: 0, or -FI_EBUSY (logged).
 */
int obj_ep_busy(struct obj_ep *ep);

/* obj_ep_quiesce - the second: leave the av, so that no av_removed() comes any
 * more.  Threading: without prog->lock.
 */
void obj_ep_quiesce(struct obj_ep *ep);

/* obj_ep_fini - the last: drop all that is bound, events that name the endpoint,
 * the group, and the info.  The provider frees the struct.
 * Threading: without prog->lock; nothing calls into the endpoint any more.
 */
void obj_ep_fini(struct obj_ep *ep);

/* obj_ep_bind - fi_ep_bind() with every check of fi_endpoint(3).
 * An enabled endpoint takes what ops->late allows, for slots that are empty.
 * Errors: -FI_EOPBADSTATE enabled already; -FI_EINVAL wrong flags, another
 * domain's object, bound twice; -FI_EBADFLAGS; -FI_ENOMEM.
 */
int obj_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags);

/* obj_ep_control - fi_control() of an endpoint: FI_ENABLE, FI_ALIAS,
 * FI_GETOPSFLAG, FI_SETOPSFLAG; the rest goes to ops->control.
 */
int obj_ep_control(struct fid *fid, int command, void *arg);

/* obj_ep_enable - check, choose the group, ops->enable().  Nothing if enabled.
 * fi_connect and fi_accept call it, as fi_endpoint(3) has it.
 * Errors: -FI_ENOCQ, -FI_ENOAV, -FI_ENOEQ, -FI_ENOMEM, and those of ops->enable.
 */
int obj_ep_enable(struct obj_ep *ep);

/* obj_ep_show_size - the answer of fi_getopt() for an option that is a size_t.
 * Errors: -FI_EINVAL no @optlen, -FI_ETOOSMALL.
 */
int obj_ep_show_size(size_t size, void *optval, size_t *optlen);

/* fi_getopt() and fi_setopt(): FI_OPT_MIN_MULTI_RECV, sizes out of ep->info, and
 * FI_OPT_CM_DATA_SIZE where ep->cm has one; the rest goes to ops.  Unknown:
 * -FI_ENOPROTOOPT.  Short buffer: -FI_ETOOSMALL.
 */
int obj_ep_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen);
int obj_ep_setopt(struct fid *fid, int level, int optname, const void *optval, size_t optlen);

/* obj_ep_prog - choose (or make) the progress group of @ep and enter it.
 * For shared receive contexts, which are not enabled by programs; idempotent.
 */
int obj_ep_prog(struct obj_ep *ep);

/* ---- completions --------------------------------------------------------- */

/* obj_ep_want_tx_comp - is a success of this operation reported?
 * @op_flags: the call's own flags, or h->tx_op_flags for calls without
 * fi_inject and its kin never are; that is the caller's to know.
 */
static inline bool obj_ep_want_tx_comp(const struct obj_ep *ep, uint64_t op_flags)
{
	return ep->tx_cq && (!ep->tx_selective || (op_flags & FI_COMPLETION));
}

static inline bool obj_ep_want_rx_comp(const struct obj_ep *ep, uint64_t op_flags)
{
	return ep->rx_cq && (!ep->rx_selective || (op_flags & FI_COMPLETION));
}

static inline void obj_ep_count(struct obj_ep *ep, enum obj_ep_cntr c, size_t len)
{
	if (c != OBJ_CNTR_NONE && ep->cntrs[c])
		obj_cntr_inc(ep->cntrs[c], len);
}

/* obj_ep_comp_tx - a transmit, read, write or atomic is done.
 *
 * @want:  what obj_ep_want_tx_comp() said when it was posted
 * @flags: of the entry: FI_SEND | FI_MSG, FI_WRITE | FI_RMA, ...
 * @len:   bytes, for byte counters
 *
 * The CQ entry is written before the counter moves.
 */
static inline __attribute__((always_inline)) void
obj_ep_comp_tx(struct obj_ep *ep, bool want, void *context, uint64_t flags, size_t len,
	       enum obj_ep_cntr c)
{
	if (want) {
		PROBE2(complete, context, flags);
		obj_cq_write(ep->tx_cq, context, flags, 0, NULL, 0, 0, FI_ADDR_NOTAVAIL);
	}
	obj_ep_count(ep, c, len);
}

/* obj_ep_comp_rx - a message or remote data has arrived.
 *
 * @src: fi_addr_t of the sender with FI_SOURCE, else FI_ADDR_NOTAVAIL
 */
static inline __attribute__((always_inline)) void
obj_ep_comp_rx(struct obj_ep *ep, bool want, void *context, uint64_t flags, size_t len,
	       void *buf, uint64_t data, uint64_t tag, fi_addr_t src, enum obj_ep_cntr c)
{
	if (want) {
		PROBE2(complete, context, flags);
		obj_cq_write(ep->rx_cq, context, flags, len, buf, data, tag, src);
	}
	obj_ep_count(ep, c, len);
}

/* obj_ep_err_tx, obj_ep_err_rx - an operation has failed.  Always reported, wanted
 * or not.  @entry, @err_data, @size: as obj_cq_write_err().
 */
void obj_ep_err_tx(struct obj_ep *ep, const struct fi_cq_err_entry *entry,
		   const void *err_data, size_t size, enum obj_ep_cntr c);
void obj_ep_err_rx(struct obj_ep *ep, const struct fi_cq_err_entry *entry,
		   const void *err_data, size_t size, enum obj_ep_cntr c);

/* ---- shared transmit contexts -------------------------------------------- */

/* obj_stx_open - fi_stx_context() for providers whose transmit contexts need no
 * state of their own.
 */
int obj_stx_open(struct fid_domain *domain, struct fi_tx_attr *attr,
		 struct fid_stx **stx_p, void *context);

#endif
