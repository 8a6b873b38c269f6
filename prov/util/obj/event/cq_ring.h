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

/* cq_errs_init, cq_errs_fini - the spare error entries of a queue.  Errors: -FI_ENOMEM. */
int cq_errs_init(struct obj_cq *cq);
void cq_errs_fini(struct obj_cq *cq);

/* cq_err_put - an error entry, or NULL, is not used any more. */
void cq_err_put(struct obj_cq *cq, struct obj_cq_err *err);

/* cq_time_now - when what is written now was completed: see obj_cq_time. */
struct fi_cq_time cq_time_now(void);

#endif
