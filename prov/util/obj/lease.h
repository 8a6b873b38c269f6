/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * lease.h - regions that a peer may touch by itself, until they are called back.
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
#include <stdint.h>

#include "base/list.h"

struct obj_domain;
struct obj_ep;
struct obj_mr;

struct obj_lease {
	uint64_t key;
	uint64_t base;		/* address that stands for the first byte in RMA calls */
	uint64_t len;		/* bytes */
	uint64_t access;	/* FI_REMOTE_READ, FI_REMOTE_WRITE */
	uintptr_t addr;		/* of the first byte in this process */
	bool counted;		/* each write must be reported: it is counted */
};

/* Who holds leases: a connection. */
struct obj_tenant {
	struct list node;		/* on the domain's tenants */
	struct obj_ep *ep;		/* whose peer it is; NULL: it has not joined */
	/* let - the peer has @lease from now on, or not, if there is no room. */
	void (*let)(struct obj_tenant *tenant, const struct obj_lease *lease);
	/* end - take back what it has of @key.  Returns true while the peer is still
	 * inside: then it is called again.
	 */
	bool (*end)(struct obj_tenant *tenant, uint64_t key);
};

/* obj_lease_join - the peer of @tenant reaches our memory: it gets a lease of each region
 * that it may access through @ep, now and when there are more, as far as nothing at
 * this end needs a notification of its accesses.  Regions of several pieces are left out.
 *
 * Ownership: @tenant stays where it is until obj_lease_leave().
 */
void obj_lease_join(struct obj_tenant *tenant, struct obj_ep *ep);

/* obj_lease_ask - it has shown a good key, but has no lease of that region: once more. */
void obj_lease_ask(struct obj_tenant *tenant, uint64_t key);

/* obj_lease_offer - @mr may be accessed by peers from now on.  Holds domain->mr_lock. */
void obj_lease_offer(struct obj_mr *mr);

/* obj_lease_leave - @tenant is not called any more.  It ends what it still has. */
void obj_lease_leave(struct obj_tenant *tenant);

/* obj_lease_end - call back all leases of @mr, which no peer can ask for any more.
 * Blocks for as long as an access in progress lasts.
 * Errors: -FI_EBUSY: a peer does not come out; it may be stopped.
 */
int obj_lease_end(struct obj_mr *mr);

#endif
