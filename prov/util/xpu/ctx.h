/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ctx.h - an XPU context, its proxy thread, and the objects that devices use through it.
 *
 * Lock order: domain->xpu_lock; ctx->lock; ctx->names_lock; then the locks of obj.
 */
#ifndef XPU_CTX_H
#define XPU_CTX_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "obj/ep.h"
#include "xpu/name.h"
#include "xpu/native.h"
#include "xpu/ring.h"

/* Memory that both sides reach.  It lives as long as its context, since a device may use it when the
 * object that it was made for is closed.
 */
struct xpu_mem {
	struct list node;		/* on ctx->mems */
	void *host;
	size_t size;
	uint64_t dev;			/* where the device sees it */
	bool foreign;			/* mapped only: the provider's */
};

struct xpu_ctx {
	struct fid_xpu_ctx fid;		/* first: the program's handle */
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	struct obj_refs refs;		/* endpoints, queues, counters */
	struct list node;		/* on domain->xpus */
	enum fi_hmem_iface iface;
	uint64_t device;
	int (*import)(uint64_t device, void *host_addr, uint64_t size, uint64_t flags,
		      void **dev_addr);	/* the program's, or NULL */
	struct fi_ops fi_ops;

	pthread_mutex_t lock;		/* guards the lists; the proxy holds it for a round */
	atomic_uint wanted;		/* threads that wait for @lock */
	struct list eps, cqs, cntrs, mems;

	pthread_mutex_t names_lock;	/* guards the names; held while a record that uses them is posted */
	struct xpu_names addrs;		/* of (address vector, index) */
	struct xpu_names regions;
	uint64_t *keys;			/* of @regions, as devices read them (native.h); or NULL */
	uint64_t keys_dev;
	uint32_t (*key_of)(const struct obj_mr *mr);
	struct list kept;		/* of providers, until the context closes; guarded by @lock */

	pthread_t proxy;
	atomic_bool stop;
};

struct xpu_ep {
	struct list node;		/* on ctx->eps from the first export on */
	struct xpu_ctx *ctx;
	struct obj_ref ctx_ref;
	struct obj_ep *ep;
	struct fi_ops *real;		/* the provider's */
	struct fi_ops fi_ops;		/* its copy, with our close */
	struct fi_ops_ep ep_ops;	/* likewise, with our export */
	struct xpu_mem *mem;
	struct xpu_ring ring;
	struct fi_xpu_ring_record rec;	/* taken from the ring */
	bool pending;			/* @rec waits for room in the endpoint */
	bool listed, closed, warned;
	uint64_t stalled_ns;		/* since when a call of the device is incomplete; 0: it is not */
	uint64_t stalled_at;		/* its index */
	struct xpu_native native;	/* the device uses this in place of the ring */
};

struct xpu_cq {
	struct list node;		/* on ctx->cqs */
	struct xpu_ctx *ctx;
	struct obj_ref ctx_ref;
	struct obj_cq *cq;
	struct fi_ops *real;
	struct fi_ops_cq *real_cq;
	struct fi_ops fi_ops;
	struct fi_ops_cq cq_ops;
	struct obj_av *av;		/* whose addresses its sources are; NULL: unknown */
	bool mixed;			/* endpoints of several address vectors have used it */
	bool exported;
	struct xpu_native native;	/* of its endpoint */
	struct xpu_mem *mem;
	struct xpu_out out;
};

struct xpu_cntr {
	struct list node;		/* on ctx->cntrs */
	struct xpu_ctx *ctx;
	struct obj_ref ctx_ref;
	struct obj_cntr *cntr;
	struct fi_ops *real;
	struct fi_ops fi_ops;
	struct fi_ops_cntr cntr_ops;
	struct xpu_mem *mem;
	struct fi_xpu_ring_cntr *shown;
	uint64_t value, err;		/* of the counter, as added to @shown */
};

/* xpu_ctx_of - the context that @fid is, or NULL; @fid may be anything. */
struct xpu_ctx *xpu_ctx_of(struct obj_domain *domain, const struct fid_xpu_ctx *fid);

/* xpu_ctx_enter, xpu_ctx_leave - take @ctx->lock, for which the proxy makes way; release it. */
void xpu_ctx_enter(struct xpu_ctx *ctx);
void xpu_ctx_leave(struct xpu_ctx *ctx);

/* xpu_ctx_mem - zeroed memory that both sides reach.
 *
 * Ownership: the context's, until it is closed.  Threading: takes ctx->lock.
 * Errors:    -FI_ENOMEM, those of the program's import, and -FI_EIO of the device.
 */
int xpu_ctx_mem(struct xpu_ctx *ctx, size_t size, struct xpu_mem **mem_p);

/* xpu_ctx_gives_mem - does the device give it, and not the host?  xpu_ctx_free_mems - all of it; the context closes. */
bool xpu_ctx_gives_mem(const struct xpu_ctx *ctx);
void xpu_ctx_free_mems(struct xpu_ctx *ctx);

/* xpu_ctx_map - as xpu_native_map(). */
int xpu_ctx_map(struct xpu_ctx *ctx, void *host, size_t size, uint64_t flags, uint64_t *dev_p);

/* xpu_handle_fill - what a device gets of an object of @fclass whose ring is in @mem.
 * xpu_handle_native - the same where it uses @at instead, which is of the provider @prov_id.
 */
void xpu_handle_fill(struct fid_xpu *handle, size_t fclass, const struct xpu_mem *mem);
void xpu_handle_native(struct fid_xpu *handle, size_t fclass, uint32_t prov_id, uint64_t at);

/* xpu_close_real - the provider's close of a queue or counter, while the proxy stays away; closed, it is
 * off its list in @ctx.  Returns what the provider does.
 */
int xpu_close_real(struct xpu_ctx *ctx, const struct fi_ops *real, struct fid *fid, struct list *node);

int xpu_ctx_open(struct fid_domain *domain, struct fi_xpu_attr *attr,
		 struct fid_xpu_ctx **ctx_p, void *context);

/* ---- names ------------------------------------------------------------------ */

int xpu_addr_show(struct obj_av *av, fi_addr_t fi_addr, void *buf, size_t *len,
		  struct fid_xpu_ctx *ctx);
int xpu_desc_show(struct obj_mr *mr, const struct fi_mr_xpu_desc *arg);
void xpu_addr_gone(struct obj_av *av, fi_addr_t fi_addr);
void xpu_desc_gone(struct obj_mr *mr);

/* xpu_native_name - devices may read the key of the region @name (native.h).  Threading: names_lock.
 * Errors: -FI_ENOSPC, more than XPU_NATIVE_KEYS.
 */
int xpu_native_name(struct xpu_ctx *ctx, struct xpu_name *name);

/* ---- endpoints --------------------------------------------------------------- */

int xpu_ep_open(struct obj_domain *domain, struct fi_info *info, uint64_t flags,
		struct fid_ep **ep_p, void *context);

/* xpu_post - do what a record asks for.
 *
 * @rec: may be anything; a wrong one becomes an error completion
 *
 * Returns false if the endpoint has no room: nothing has changed, post it again later.
 * Threading: the proxy; takes names_lock.
 */
bool xpu_post(struct xpu_ep *x, const struct fi_xpu_ring_record *rec);

/* xpu_fail - an error completion for @rec.  @err: FI_E* */
void xpu_fail(struct xpu_ep *x, const struct fi_xpu_ring_record *rec, int err);

/* ---- queues and counters ------------------------------------------------------- */

int xpu_cq_open(struct obj_domain *domain, const struct fi_cq_attr *attr,
		struct fid_cq **cq_p, void *context);
int xpu_cntr_open(struct obj_domain *domain, const struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context);

/* xpu_cq_pass, xpu_cntr_pass - drive what feeds it, and pass on to the device what has come; returns
 * how much.  Threading: the proxy, with ctx->lock.
 */
unsigned xpu_cq_pass(struct xpu_cq *x);
unsigned xpu_cntr_pass(struct xpu_cntr *x);

/* ---- the proxy ------------------------------------------------------------------ */

/* xpu_proxy_start - Errors: -FI_EAGAIN, no more threads. */
int xpu_proxy_start(struct xpu_ctx *ctx);
void xpu_proxy_stop(struct xpu_ctx *ctx);

#endif
