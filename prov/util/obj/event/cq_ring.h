/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cq_ring.h - the ring of a completion queue, for the files that read and write it: all under cq->lock.
 */
#ifndef OBJ_CQ_RING_H
#define OBJ_CQ_RING_H

#include "obj/cq.h"

static inline size_t cq_used(const struct obj_cq *cq)
{
	return cq->tail - cq->head;
}

static inline struct obj_cq_slot *cq_head(struct obj_cq *cq)
{
	return &cq->ring[cq->head & cq->mask];
}

/* cq_time_now - when what is written now was completed: see obj_cq_time. */
struct fi_cq_time cq_time_now(void);

#endif
