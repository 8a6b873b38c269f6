/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cntr.h - counters: two numbers, waiters, and things to do at a value.
 */
#ifndef OBJ_CNTR_H
#define OBJ_CNTR_H

#include <stdatomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/providers/fi_peer.h>

#include "base/list.h"
#include "base/lock.h"
#include "obj/ref.h"
#include "obj/waitset.h"

struct obj_domain;

/* Something to start when a counter reaches a value (triggered operations).
 * Filled and owned by the caller until it fires or is taken back.
 */
struct obj_cntr_thr {
	struct list node;		/* on cntr->thresholds, ascending */
	uint64_t value;
	bool waiting;			/* on the list; guarded by cntr->lock */
	bool with_err;			/* failures count, too */
	/* fire - called once, by the thread that moved the counter, with no lock of
	 * the counter's and possibly with a prog->lock held: it must only record the
	 * work and leave it to a poll.
	 */
	void (*fire)(struct obj_cntr_thr *thr);
};

struct obj_cntr {
	struct fid_cntr fid;		/* first: the program's handle */
	_Atomic uint64_t value;
	_Atomic uint64_t err;
	_Atomic uint64_t next;		/* lowest value at which a threshold may be due; UINT64_MAX: none */
	bool single;			/* only one thread may touch it: no locked instructions */
	bool bytes;			/* FI_CNTR_EVENTS_BYTES */
	struct fid_peer_cntr *peer;	/* FI_PEER: count there instead; else NULL */
	struct lock lock;		/* guards @thresholds */
	struct list thresholds;
	struct obj_wait wait;
	struct obj_ref set_ref;		/* FI_WAIT_SET: to the set */
	_Atomic uint64_t seen;		/* what the program knows: value last read, */
	_Atomic uint64_t seen_err;	/* and error value */
	uint64_t op_flags;		/* FI_SETOPSFLAG; kept and returned, without effect */
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	struct xpu_cntr *xpu;		/* a device reads it; else NULL */
	struct obj_refs refs;		/* endpoints and regions bound to it, poll sets */
};

/* obj_cntr_open - fi_cntr_open().  Errors: -FI_EINVAL, -FI_ENOMEM, -FI_EMFILE. */
int obj_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context);

void obj_cntr_reached(struct obj_cntr *cntr);
void obj_cntr_inc_peer(struct obj_cntr *cntr, bool err);

/* obj_cntr_inc - one operation of @len bytes is done.
 * Threading: any thread; the caller may hold prog->lock.  Cost: one atomic add.
 */
static inline void obj_cntr_inc(struct obj_cntr *cntr, size_t len)
{
	uint64_t by = cntr->bytes ? len : 1, now;

	if (__builtin_expect(cntr->peer != NULL, 0)) {
		obj_cntr_inc_peer(cntr, false);
		return;
	}
	if (cntr->single) {
		now = atomic_load_explicit(&cntr->value, memory_order_relaxed) + by;
		atomic_store_explicit(&cntr->value, now, memory_order_relaxed);
	} else {
		now = atomic_fetch_add(&cntr->value, by) + by;
	}
	if (__builtin_expect(now >= atomic_load(&cntr->next), 0))
		obj_cntr_reached(cntr);
	obj_wait_signal(&cntr->wait);
}

/* obj_cntr_inc_err - one operation has failed. */
static inline void obj_cntr_inc_err(struct obj_cntr *cntr)
{
	if (__builtin_expect(cntr->peer != NULL, 0)) {
		obj_cntr_inc_peer(cntr, true);
		return;
	}
	atomic_fetch_add(&cntr->err, 1);
	if (__builtin_expect(atomic_load(&cntr->next) != UINT64_MAX, 0))
		obj_cntr_reached(cntr);
	obj_wait_signal(&cntr->wait);
}

/* obj_cntr_on_threshold - call thr->fire() once the value, and with_err the errors
 * with it, is at least thr->value; at once if it is already.
 */
void obj_cntr_on_threshold(struct obj_cntr *cntr, struct obj_cntr_thr *thr);

/* obj_cntr_forget - take @thr back.  Returns false if it has fired already. */
bool obj_cntr_forget(struct obj_cntr *cntr, struct obj_cntr_thr *thr);

static inline struct obj_cntr *obj_cntr_of(struct fid_cntr *fid)
{
	return container_of(fid, struct obj_cntr, fid);
}

#endif
