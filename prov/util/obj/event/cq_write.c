/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Writing to a completion queue, as far as obj_cq_write() does not do it: errors, and a ring that grows. */
#include "cq_ring.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "obj/domain.h"

__thread uint64_t obj_cq_time;

size_t obj_cq_used(struct obj_cq *cq)
{
	size_t used;

	lock_get(&cq->lock);
	used = cq_used(cq);
	lock_put(&cq->lock);
	return used;
}

static void cq_overrun(struct obj_cq *cq, const char *cause)
{
	if (cq->overrun)
		return;
	__atomic_store_n(&cq->overrun, true, __ATOMIC_RELAXED);
	cq->unlocked = false;
	cq->direct = false;
	cq->room = 0;
	FI_WARN(cq->domain->prov, FI_LOG_CQ,
		"completion queue %p (context %p) lost a completion: %s; it reports no more. "
		"Read it more often, open it with a larger size, or ask for FI_RM_ENABLED\n",
		(void *) cq, cq->fid.fid.context, cause);
}

/* Twice the times, where they are kept, at the places that they will have. */
static bool grow_times(struct obj_cq *cq, size_t slots)
{
	struct fi_cq_time *times;
	size_t i;

	if (!cq->times)
		return true;
	times = calloc(slots, sizeof(*times));
	if (!times)
		return false;
	for (i = cq->head; i != cq->tail; i++)
		times[i & (slots - 1)] = cq->times[i & cq->mask];
	free(cq->times);
	cq->times = times;
	return true;
}

static bool cq_enlarge(struct obj_cq *cq)
{
	size_t i, slots = cq->mask + 1;
	struct obj_cq_slot *ring;

	if (cq->fixed) {
		cq_overrun(cq, "it is full and resource management is off");
		return false;
	}
	ring = aligned_alloc(sizeof(*ring), 2 * slots * sizeof(*ring));
	if (!ring || !grow_times(cq, 2 * slots)) {
		free(ring);
		cq_overrun(cq, "it is full and there is no memory to make it larger");
		return false;
	}
	for (i = cq->head; i != cq->tail; i++)
		ring[i & (2 * slots - 1)] = cq->ring[i & cq->mask];
	free(cq->ring);
	cq->ring = ring;
	cq->mask = 2 * slots - 1;
	*(cq->times ? &cq->timed_room : &cq->room) = 2 * slots;
	return true;
}

struct fi_cq_time cq_time_now(void)
{
	uint64_t device = obj_cq_time;

	return (struct fi_cq_time) {
		.ns = device ? device : clock_ns(),
		.clock = device ? FI_CQ_CLOCK_DEVICE : FI_CQ_CLOCK_HOST,
	};
}

/* make_room - for one more, with its time where these are kept. */
static bool make_room(struct obj_cq *cq)
{
	if (cq->overrun)
		return false;
	if (!cq->times)
		return cq_enlarge(cq);
	if (cq_used(cq) >= cq->timed_room && !cq_enlarge(cq))
		return false;
	cq->times[cq->tail & cq->mask] = cq_time_now();
	return true;
}

/* ---- error entries -------------------------------------------------------- */

#define SPARES 32		/* errors that a queue takes while there is no memory */
#define SPARE_DATA 64		/* bytes of err_data in such a one: longer data is left out */
#define SPARE_SIZE (sizeof(struct obj_cq_err) + SPARE_DATA)

int cq_errs_init(struct obj_cq *cq)
{
	struct obj_cq_err *err;
	unsigned i;

	cq->spare_mem = malloc(SPARES * SPARE_SIZE);
	if (!cq->spare_mem)
		return -FI_ENOMEM;
	for (i = 0; i < SPARES; i++) {
		err = (void *) ((char *) cq->spare_mem + i * SPARE_SIZE);
		err->spare = true;
		cq_err_put(cq, err);
	}
	return 0;
}

void cq_errs_fini(struct obj_cq *cq)
{
	free(cq->spare_mem);
}

void cq_err_put(struct obj_cq *cq, struct obj_cq_err *err)
{
	if (!err || !err->spare) {
		free(err);
		return;
	}
	err->next = cq->spares;
	cq->spares = err;
}

/* cq_spare_get - NULL: all are in use.  *@size_p bytes of data have room in it, or none. */
static struct obj_cq_err *cq_spare_get(struct obj_cq *cq, size_t *size_p)
{
	struct obj_cq_err *err = cq->spares;

	if (err)
		cq->spares = err->next;
	if (*size_p > SPARE_DATA)
		*size_p = 0;
	return err;
}

static void push_err(struct obj_cq *cq, struct obj_cq_err *err)
{
	struct obj_cq_slot *slot;

	if (obj_cq_gives(cq)) {		/* what comes from now on is behind it */
		cq->sink_asked -= cq->sink_room;
		__atomic_store_n(&cq->sink_room, 0, __ATOMIC_RELAXED);
	}
	if (cq_used(cq) >= cq->room && !make_room(cq)) {
		cq_err_put(cq, err);
		return;
	}
	slot = &cq->ring[cq->tail & cq->mask];
	slot->err = err;
	__atomic_store_n(&cq->tail, cq->tail + 1, __ATOMIC_RELAXED);
	obj_wait_signal(&cq->wait);
}

static void fill_err(struct obj_cq_err *err, const struct fi_cq_err_entry *entry, const void *data,
		     size_t size)
{
	err->e = *entry;
	err->e.err_data = size ? err->data : NULL;
	err->e.err_data_size = size;
	if (size)
		memcpy(err->data, data, size);
}

void obj_cq_write_err(struct obj_cq *cq, const struct fi_cq_err_entry *entry,
		      const void *err_data, size_t size)
{
	struct obj_cq_err *err;

	if (cq->peer) {
		struct fi_cq_err_entry copy = *entry;

		copy.err_data = (void *) err_data;
		copy.err_data_size = size;
		cq->peer->owner_ops->writeerr(cq->peer, &copy);
		return;
	}
	err = malloc(sizeof(*err) + size);
	if (err)
		err->spare = false;
	lock_get(&cq->lock);
	if (!err)
		err = cq_spare_get(cq, &size);
	if (err) {
		fill_err(err, entry, err_data, size);
		push_err(cq, err);
	} else {
		cq_overrun(cq, "there is no memory for an error entry");
	}
	lock_put(&cq->lock);
}

void obj_cq_wake_and_leave(struct obj_cq *cq)
{
	obj_wait_wake(&cq->wait);
	lock_put(&cq->lock);
}

void obj_cq_write_slow(struct obj_cq *cq, void *context, uint64_t flags, size_t len,
		       void *buf, uint64_t data, uint64_t tag, fi_addr_t src)
{
	if (cq->peer) {
		cq->peer->owner_ops->write(cq->peer, context, flags, len, buf, data, tag, src);
		return;
	}
	lock_get(&cq->lock);
	if (cq_used(cq) < cq->room || make_room(cq)) {
		cq->ring[cq->tail & cq->mask] = (struct obj_cq_slot) {
			.e = { context, flags, len, buf, data, tag }, .src = src,
		};
		__atomic_store_n(&cq->tail, cq->tail + 1, __ATOMIC_RELAXED);
		obj_wait_signal(&cq->wait);
	}
	lock_put(&cq->lock);
}
