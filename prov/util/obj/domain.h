/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * domain.h - the domain object: what its endpoints, queues and regions share.
 */
#ifndef OBJ_DOMAIN_H
#define OBJ_DOMAIN_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_xpu.h>

#include "base/hmap.h"
#include "base/list.h"
#include "base/lock.h"
#include "obj/fabric.h"
#include "progress/group.h"
#include "obj/ref.h"

struct obj_auto;
struct obj_av;
struct obj_eq;
struct obj_mr;

/* What obj asks of the layer that lets devices post transfers.  A provider names the table in its
 * obj_domain_ops; a domain that was opened with FI_XPU uses it.  The other domains have none, and their
 * calls with FI_XPU answer -FI_ENOSYS.
 */
struct obj_xpu_ops {
	/* As the calls of the same name with FI_XPU; obj has checked no more than that the domain has
	 * FI_XPU.
	 */
	int (*ctx)(struct fid_domain *domain, struct fi_xpu_attr *attr,
		   struct fid_xpu_ctx **ctx_p, void *context);
	int (*endpoint)(struct obj_domain *domain, struct fi_info *info, uint64_t flags,
			struct fid_ep **ep_p, void *context);
	int (*cq)(struct obj_domain *domain, const struct fi_cq_attr *attr,
		  struct fid_cq **cq_p, void *context);
	int (*cntr)(struct obj_domain *domain, const struct fi_cntr_attr *attr,
		    struct fid_cntr **cntr_p, void *context);
	int (*addr)(struct obj_av *av, fi_addr_t fi_addr, void *buf, size_t *len,
		    struct fid_xpu_ctx *ctx);
	int (*desc)(struct obj_mr *mr, const struct fi_mr_xpu_desc *arg);

	/* addr_gone, desc_gone - an address leaves @av (FI_ADDR_UNSPEC: all do), a region closes: no
	 * record of a device names it from now on.  Called only where @av->xpu or @mr->xpu is set.
	 * Threading: without locks of obj.
	 */
	void (*addr_gone)(struct obj_av *av, fi_addr_t fi_addr);
	void (*desc_gone)(struct obj_mr *mr);
};

/* What a provider brings for its domain; a NULL slot answers -FI_ENOSYS. */
struct obj_domain_ops {
	/* As the calls of the same name.  Arguments have been checked for NULL.
	 * fi_endpoint() and fi_endpoint2() both come here; fi_endpoint with flags 0.
	 */
	int (*endpoint)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **ep, uint64_t flags, void *context);
	int (*scalable_ep)(struct fid_domain *domain, struct fi_info *info,
			   struct fid_ep **sep, void *context);
	int (*stx_ctx)(struct fid_domain *domain, struct fi_tx_attr *attr,
		       struct fid_stx **stx, void *context);
	int (*srx_ctx)(struct fid_domain *domain, struct fi_rx_attr *attr,
		       struct fid_ep **rx_ep, void *context);
	int (*query_atomic)(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
			    struct fi_atomic_attr *attr, uint64_t flags);
	int (*query_collective)(struct fid_domain *domain, enum fi_collective_op coll,
				struct fi_collective_attr *attr, uint64_t flags);

	/* mr_open - hand a new region to hardware, which checks every access itself:
	 * set mr->fid.key and mr->fid.mem_desc, keep what is needed in mr->hw.  The
	 * region is then not in the key map.  NULL: software reads the memory.
	 */
	int (*mr_open)(struct obj_mr *mr, const struct fi_mr_attr *attr, uint64_t flags);
	int (*mr_close)(struct obj_mr *mr);	/* an error leaves the region open */
	bool mr_dmabuf;			/* it takes FI_MR_DMABUF; mr->iov is then where peers see it */

	/* mr_expose - software reads the memory, and a layer below may let peers reach it, too.
	 * Called before peers learn of the region.
	 * @key_p: [in, out] the requested key, or with FI_MR_PROV_KEY the one that it gets
	 * Errors: those of fi_mr_reg().  NULL: nothing is below.
	 */
	int (*mr_expose)(struct obj_mr *mr, uint64_t *key_p);
	/* mr_conceal - on return of 0 no peer reaches it from below.  Errors: those of fi_close(). */
	int (*mr_conceal)(struct obj_mr *mr);

	/* cq_strerror - words for fi_cq_err_entry.prov_errno; NULL: it is a FI_E*. */
	const char *(*cq_strerror)(int prov_errno);

	/* What serves devices in a domain with FI_XPU; NULL: nothing does. */
	const struct obj_xpu_ops *xpu;

	/* control - fi_control() commands that obj does not answer by itself. */
	int (*control)(struct obj_domain *domain, int command, void *arg);

	/* fini - the domain closes; all that was in it is closed.  May be NULL. */
	void (*fini)(struct obj_domain *domain);
};

struct obj_domain {
	struct fid_domain fid;		/* first: the program's handle */
	const struct fi_provider *prov;
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	const struct obj_domain_ops *ops;
	void *below;			/* a layer's; see ops->mr_expose */
	struct fi_info *info;		/* our copy of what it was opened with */
	struct fi_domain_attr *attr;	/* info->domain_attr */
	uint32_t api_version;
	uint32_t addr_format;		/* of the address vectors */
	enum lock_kind prog_lock_kind;	/* of groups: NONE only if no two threads may meet */
	enum lock_kind obj_lock_kind;	/* of cq and cntr; av, eq and mr always lock */
	bool auto_progress;		/* a thread of ours drives idle groups */
	struct obj_refs refs;		/* everything opened in it */
	struct obj_eq *eq;		/* fi_domain_bind(), or NULL */
	struct obj_ref eq_ref;
	uint64_t eq_flags;		/* FI_REG_MR: registrations complete there */

	struct obj_groups groups;	/* progress groups */
	pthread_mutex_t auto_lock;	/* guards the making of @autop */
	struct obj_auto *autop;		/* progress thread; NULL until an endpoint is enabled */

	struct lock mr_lock;		/* guards @mr_map, the regions in it, @tenants and @left */
	struct hmap mr_map;		/* remote key -> struct obj_mr, remotely accessible only */
	struct list tenants;		/* peers that touch regions by themselves; lease.h */
	struct list left;		/* tenants whose connection has closed, and who may still be inside */
	uint32_t mr_mode;		/* info's, legacy values translated to bits */
	/* FI_SET_OPS_HMEM_OVERRIDE: copies of the program's, or NULL; set before there are regions */
	const struct fi_hmem_override_ops *hmem_ops;

	/* Triggered operations and deferred work: an engine's, guarded by @works_lock. */
	pthread_mutex_t works_lock;	/* taken after a prog->lock */
	struct list works;		/* wait for a counter, or for their turn */
	struct list works_due;		/* counter operations that are being done */
	bool works_busy;		/* some thread does them */

	const struct obj_xpu_ops *xpu;	/* NULL: the domain has no FI_XPU */
	pthread_mutex_t xpu_lock;	/* guards @xpus */
	struct list xpus;		/* XPU contexts; the table's */

	struct fi_ops fi_ops;
	struct fi_ops_domain domain_ops;
	struct fi_ops_mr mr_ops;
};

/* obj_domain_open - fi_domain() and fi_domain2() of every provider of ours. */
int obj_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, uint64_t flags, void *context);

/* obj_domain_has_regions - is there a region that peers may access?  Threading: any. */
bool obj_domain_has_regions(struct obj_domain *domain);

/* obj_domain_started - an endpoint of @prog is about to be enabled: start the progress
 * thread if this domain has one and it does not run.  Errors: -FI_ENOMEM,
 * -FI_EAGAIN (no more threads).
 */
int obj_domain_started(struct obj_domain *domain, struct obj_prog *prog);

/* obj_domain_may_share - may contexts with several queues share their receives or
 * their address?  Not where the domain was opened without locks on the promise of
 * FI_THREAD_COMPLETION and without hints that name such contexts.
 *
 * @what: "a shared receive context", for the log
 * Errors: -FI_EINVAL (logged).
 */
int obj_domain_may_share(struct obj_domain *domain, const char *what);

/* obj_domain_no_xpu - what a call with FI_XPU returns in a domain without FI_XPU.
 *
 * @what: the call, for the log
 * Errors: -FI_ENOSYS (logged).
 */
int obj_domain_no_xpu(struct obj_domain *domain, const char *what);

static inline struct obj_domain *obj_domain_of(struct fid_domain *fid)
{
	return container_of(fid, struct obj_domain, fid);
}

#endif
