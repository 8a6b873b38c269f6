/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * lease.h - who may touch the memory of this process, and until when.
 *
 * The rule: once fi_close() of a region has returned 0, nothing touches its memory on behalf of a
 * peer.  There are three ways to touch it, each of which has one place that fi_close() looks at:
 *
 *   our threads, for a request     obj_mr.uses, from obj_mr_enter() to obj_mr_leave()
 *   a peer, by a lease             its tenant: end() is true while the peer is inside
 *   a peer, by a copy that its     its tenant: touches(), once the connection has closed, or the operation goes on
 *   connection carries             without the copy.  Before that the operation, and so obj_mr.uses, lasts as long
 *
 * A tenant is a peer that reaches our memory, not a connection to it.  The connection makes
 * the tenant, and can leave it (obj_lease_leave) and give it up (obj_lease_part), but not remove it:
 * tenant_reap() in lease.c alone does, and only when inside() is false, which is when the peer has
 * left or its process has ended.  So nothing that closes, in any thread and any order, makes a peer
 * that is inside disappear from what fi_close() looks at.  What tells whether it is inside (memory
 * that is shared with it, descriptors) belongs to the tenant, and goes with it.
 *
 * fi_close() of a region waits for obj_lease_patience_ns, then returns -FI_EBUSY, and may be repeated;
 * the region then has no key any more.  fi_close() of a domain does the same for a
 * tenant that is left: after it no fi_close() could tell the program that its memory is in use.
 *
 * A peer that can reach this process's memory could read its keys there, too; so it is
 * told of the regions that it may access through an endpoint: where they are, and what
 * it may do.  It then checks key, bounds and rights of each access itself.  fi_close()
 * of a region calls all its leases back and returns when no peer is inside any more.
 *
 * Threading: the functions of a tenant are called with domain->mr_lock held, from any
 * thread, and must not take prog->lock.
 */
#ifndef OBJ_LEASE_H
#define OBJ_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"

struct obj_domain;
struct obj_ep;
struct obj_mr;
struct obj_tenant;

/* How long fi_close() waits for a peer: 10 s; a copy of 1 GiB takes some 0.1 s.  Tests shorten it. */
extern uint64_t obj_lease_patience_ns;

struct obj_lease {
	uint64_t key;
	uint64_t base;		/* address that stands for the first byte in RMA calls */
	uint64_t len;		/* bytes */
	uint64_t access;	/* FI_REMOTE_READ, FI_REMOTE_WRITE */
	uintptr_t addr;		/* of the first byte in this process */
	bool counted;		/* each write must be reported: it is counted */
};

struct obj_tenant_ops {
	/* let - the peer has @lease from now on, or not, if there is no room. */
	void (*let)(struct obj_tenant *tenant, const struct obj_lease *lease);
	/* end - take back what it has of @key.  Returns true while the peer is still
	 * inside: then it is called again.  After obj_lease_leave(), too.
	 */
	bool (*end)(struct obj_tenant *tenant, uint64_t key);
	/* touches - is the peer still copying, other than by a lease, from or to any of these @len bytes?  Before
	 * obj_lease_leave() only what an operation may end without.
	 */
	bool (*touches)(const struct obj_tenant *tenant, uintptr_t addr, size_t len);
	/* inside - after obj_lease_leave(): does the peer still touch anything here? */
	bool (*inside)(const struct obj_tenant *tenant);
	/* free - it does not. */
	void (*free)(struct obj_tenant *tenant);
};

/* A peer that reaches our memory; its first use of this is obj_lease_join(). */
struct obj_tenant {
	const struct obj_tenant_ops *ops;
	struct list node;		/* on domain->tenants, then domain->left */
	struct obj_domain *domain;	/* NULL: it has not joined */
	struct obj_ep *ep;		/* whose peer it is; NULL: no lease is given any more */
	bool may_let;			/* it gets leases of regions */
	bool parted;			/* it belongs to the domain alone */
	pid_t pid;			/* its process, for the log; 0: not known */
};

/* obj_lease_join - the peer of @tenant reaches our memory: it gets a lease of each region
 * that it may access through @ep, now and when there are more, as far as nothing at
 * this end needs a notification of its accesses.  Regions of several pieces are left out.
 *
 * @may_let: false: it gets none, and touches() is all that it may do
 *
 * Ownership: @tenant stays where it is until obj_lease_part().
 */
void obj_lease_join(struct obj_tenant *tenant, struct obj_ep *ep, bool may_let);

/* obj_lease_ask - it has shown a good key, but has no lease of that region: once more. */
void obj_lease_ask(struct obj_tenant *tenant, uint64_t key);

/* obj_lease_offer - @mr may be accessed by peers from now on.  Holds domain->mr_lock. */
void obj_lease_offer(struct obj_mr *mr);

/* obj_lease_leave - @tenant gets no more leases, and from now on touches() names all: call it before an
 * operation of the connection ends.  Nothing if it has not joined.
 */
void obj_lease_leave(struct obj_tenant *tenant);

/* obj_lease_part - after it: the connection needs @tenant no more.
 *
 * Ownership: the domain's; ops->free() follows, now or when the peer is out.
 */
void obj_lease_part(struct obj_tenant *tenant);

/* obj_lease_end - call back all leases of @mr, which no peer can ask for any more, and wait until
 * no peer touches its memory, as far as that is not counted in mr->uses.
 * Blocks for as long as an access in progress lasts, but for obj_lease_patience_ns at most.
 * Errors: -FI_EBUSY: a peer does not come out; it may be stopped.
 */
int obj_lease_end(struct obj_mr *mr);

/* obj_lease_recall - what leases of @mr say has changed: call all back, and wait as obj_lease_end() does, but only
 * for peers that use one.
 * Errors: as for obj_lease_end().
 */
int obj_lease_recall(struct obj_mr *mr);

/* obj_lease_end_all - the domain closes, all that was in it is closed: wait for the tenants that are left.
 * Errors: as for obj_lease_end().
 */
int obj_lease_end_all(struct obj_domain *domain);

#endif
