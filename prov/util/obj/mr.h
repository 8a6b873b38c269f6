/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mr.h - memory regions and the one place that checks a remote key.
 *
 * A region that grants remote access is in the domain's key map; one for local
 * use only is not, and may repeat a key that another has.
 */
#ifndef OBJ_MR_H
#define OBJ_MR_H

#include <stdatomic.h>
#include <sys/uio.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_rma.h>

#include "hmem/share.h"
#include "obj/ref.h"

struct obj_cntr;
struct obj_domain;
struct obj_ep;

#define OBJ_MR_IOV_MAX 8

enum obj_mr_state {
	OBJ_MR_BOUND,			/* waits for bind and FI_ENABLE (FI_MR_ENDPOINT, FI_MR_RMA_EVENT) */
	OBJ_MR_ENABLED,			/* usable */
};

struct obj_mr {
	struct fid_mr fid;		/* first: the program's handle; mem_desc is this struct */
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	enum obj_mr_state state;
	bool mapped;			/* in domain->mr_map */
	atomic_bool xpu;		/* devices have descriptors of it */
	bool leased;			/* peers may have leases of it; see lease.h */
	uint64_t access;
	uint64_t base;			/* address that stands for its first byte in RMA calls */
	uint64_t len;			/* bytes in all */
	uint64_t flags;
	struct hmem_loc loc;		/* where it is: in system memory, or a device's */
	_Atomic(struct hmem_share *) share;	/* of obj_mr_share(); NULL: not asked for yet */
	struct obj_ep *ep;		/* FI_MR_ENDPOINT: only through this endpoint; or NULL */
	struct obj_ref ep_ref;
	struct obj_cntr *cntr;		/* FI_RMA_EVENT: remote writes count here; or NULL */
	struct obj_ref cntr_ref;
	void *hw;			/* the provider's, from mr_open on; or NULL */
	void *below;			/* a layer's, from mr_expose on; or NULL */
	/* Accesses of peers that have begun and not ended; those of a new phase are counted
	 * apart, so that fi_mr_refresh() waits for earlier ones alone.
	 */
	_Atomic unsigned uses[2];
	unsigned phase;			/* which of @uses a new access counts in; by mr_lock */
	unsigned process;		/* that opened it: obj_opened_before_fork() */
	/* Peers that have proven this key may access it (secure/policy.h): its own, or the domain's. */
	const uint8_t *auth_key;
	size_t auth_key_size;		/* 0: any peer of the domain's endpoints */
	size_t iov_cnt;
	struct iovec iov[];
};

/* An access of a peer, from obj_mr_enter() to obj_mr_leave(). */
struct obj_mr_use {
	struct obj_mr *mr;
	unsigned phase;
};

/* How long fi_close() and fi_mr_refresh() of a region wait for accesses that have begun,
 * before they end the connections that these are part of.
 */
#define OBJ_MR_PATIENCE_MS 2000


/* The domain's fi_ops_mr. */
int obj_mr_reg(struct fid *domain, const void *buf, size_t len, uint64_t access,
	       uint64_t offset, uint64_t requested_key, uint64_t flags,
	       struct fid_mr **mr_p, void *context);
int obj_mr_regv(struct fid *domain, const struct iovec *iov, size_t cnt, uint64_t access,
		uint64_t offset, uint64_t requested_key, uint64_t flags,
		struct fid_mr **mr_p, void *context);
int obj_mr_regattr(struct fid *domain, const struct fi_mr_attr *attr, uint64_t flags,
		   struct fid_mr **mr_p);

/* obj_mr_enter - may a peer access this memory?  With obj_mr_put() the only gate for remote keys.
 *
 * @ep:     endpoint that the request came in on
 * @key:    as the peer sent it
 * @addr:   as the peer sent it: virtual address or offset, by the domain's mode
 * @len:    bytes; 0 is allowed anywhere within the region, its end included
 * @access: FI_REMOTE_READ and/or FI_REMOTE_WRITE, all of which are needed
 * @out:    [out] where the bytes are; room for OBJ_MR_IOV_MAX entries
 * @cnt_p:  [out] entries used
 * @use:    [out] on 0: until obj_mr_leave() the memory stays the region's: fi_close() of the
 *          region does not return before.  An access that lasts longer than the caller
 *          holds prog->lock must be known to revoke() of one of the group's pollers.
 *
 * Threading: takes domain->mr_lock; the caller may hold prog->lock.
 * Errors:    -FI_ENOKEY no such key here; -FI_EACCES right not granted, another
 *            endpoint's region, or one of another authorization key; -FI_EINVAL out of bounds.  Nothing is logged:
 *            the caller knows the peer.
 */
int obj_mr_enter(struct obj_domain *domain, struct obj_ep *ep, uint64_t key, uint64_t addr,
		 uint64_t len, uint64_t access, struct iovec *out, size_t *cnt_p,
		 struct obj_mr_use *use);

/* obj_mr_has_key_of - is @ep, which is protected, one whose peers have the region's key? */
bool obj_mr_has_key_of(const struct obj_mr *mr, const struct obj_ep *ep);

/* obj_mr_key_fits - have the peers of @ep the region's key, if it has one and @ep is protected? */
static inline bool obj_mr_key_fits(const struct obj_mr *mr, const struct obj_ep *ep)
{
	return !mr->auth_key_size || obj_mr_has_key_of(mr, ep);
}

static inline void obj_mr_leave(const struct obj_mr_use *use)
{
	atomic_fetch_sub_explicit(&use->mr->uses[use->phase], 1, memory_order_release);
}

/* obj_mr_put - obj_mr_enter(), copy and obj_mr_leave() for a short write of a peer, all of which is
 * here: the lock keeps the region meanwhile.
 *
 * @ep, @key, @addr: as for obj_mr_enter()
 * Returns false where that is to be called: the access is refused, or the bytes are on a device or
 * not in one piece.
 */
bool obj_mr_put(struct obj_domain *domain, struct obj_ep *ep, uint64_t key, uint64_t addr,
		const void *data, size_t len);

/* obj_mr_counts - has the region with @key a counter of remote writes? */
bool obj_mr_counts(struct obj_domain *domain, uint64_t key);

/* obj_mr_device - the region behind @desc of a data call, if it is memory of a device, else
 * NULL.  Only in domains with FI_HMEM, whose programs pass fi_mr_desc() or NULL.
 */
static inline struct obj_mr *obj_mr_device(void *desc)
{
	struct obj_mr *mr = desc;

	return mr && mr->loc.iface != FI_HMEM_SYSTEM ? mr : NULL;
}

/* obj_mr_device_any - is an entry of a call's list memory of a device?  @desc may be NULL. */
static inline bool obj_mr_device_any(void *const *desc, size_t cnt)
{
	size_t i;

	for (i = 0; desc && i < cnt; i++)
		if (obj_mr_device(desc[i]))
			return true;
	return false;
}

/* obj_mr_name - of each of @cnt entries the region, if it is a device's, else NULL. */
static inline void obj_mr_name(struct obj_mr **mrs, void *const *desc, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		mrs[i] = desc ? obj_mr_device(desc[i]) : NULL;
}

/* A list of which some entries are memory of a device. */
struct obj_mr_list {
	const struct iovec *iov;
	struct obj_mr *const *mrs;	/* of each entry; NULL: the host's */
	size_t cnt;
};

/* obj_mr_gather, obj_mr_scatter - copy @len bytes, from byte @off of the list on, now.
 * Errors: the device's, or those of the program's function (FI_SET_OPS_HMEM_OVERRIDE).
 */
int obj_mr_gather(const struct obj_mr_list *list, size_t off, void *buf, size_t len);
int obj_mr_scatter(const struct obj_mr_list *list, size_t off, const void *buf, size_t len);

/* obj_mr_copy_start - begin such a copy.
 * @event:  room for list->cnt
 * @busy_p: [out] how many of them are in flight, also after an error
 */
int obj_mr_copy_start(enum hmem_dir dir, const struct obj_mr_list *list, size_t off, void *buf,
		      size_t len, struct hmem_event *event, unsigned *busy_p);

/* obj_mr_share - how another process of the host opens the allocation of @mr, memory of a device;
 * found once, and valid while the region lives.  NULL: no process may, or the device failed.
 */
const struct hmem_share *obj_mr_share(struct obj_mr *mr);

/* obj_mr_share_fini - the region closes. */
void obj_mr_share_fini(struct obj_mr *mr);

static inline struct obj_mr *obj_mr_of(struct fid_mr *fid)
{
	return container_of(fid, struct obj_mr, fid);
}

#endif
