/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ops.h - the one place that says "not supported".
 *
 * A provider writes an ops table by named member and leaves out what it does
 * not do.  OBJ_OPS_TABLE() behind a static table, or OBJ_OPS_FILL() for one that
 * is made at run time, puts our answer into every empty slot and sets the size;
 * never in a table that an open object already uses.
 */
#ifndef OBJ_OPS_H
#define OBJ_OPS_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_xpu.h>

/* One full table per ops struct: each slot answers -FI_ENOSYS, except where the
 * manual names another answer for "this object has no such thing".
 */
struct obj_ops_defaults {
	struct fi_ops fid;
	struct fi_ops_fabric fabric;
	struct fi_ops_domain domain;
	struct fi_ops_mr mr;
	struct fi_ops_av av;
	struct fi_ops_av_set av_set;
	struct fi_ops_cq cq;
	struct fi_ops_cntr cntr;
	struct fi_ops_eq eq;
	struct fi_ops_wait wait;
	struct fi_ops_poll poll;
	struct fi_ops_ep ep;
	struct fi_ops_cm cm;
	struct fi_ops_msg msg;
	struct fi_ops_tagged tagged;
	struct fi_ops_rma rma;
	struct fi_ops_atomic atomic;
	struct fi_ops_collective collective;
	struct fi_ops_xpu_ctx xpu_ctx;
};

extern const struct obj_ops_defaults obj_ops_defaults;

/* obj_ops_fill - complete an ops table.
 *
 * @table:    starts with its size_t size, then function pointers
 * @size:     of the table; at most that of @defaults
 * @defaults: the member of obj_ops_defaults of the same type
 *
 * Ownership: @table stays the caller's.  Threading: before anyone uses @table;
 * filling a full table again writes nothing.  Errors: none.
 */
void obj_ops_fill(void *table, size_t size, const void *defaults);

/* OBJ_OPS_FILL(&tcp_msg_ops, msg) */
#define OBJ_OPS_FILL(table, member)						\
	do {									\
		_Static_assert(sizeof(*(table)) == sizeof(obj_ops_defaults.member), \
			       "table and defaults are of one type");		\
		obj_ops_fill((table), sizeof(*(table)), &obj_ops_defaults.member); \
	} while (0)

/* OBJ_OPS_TABLE(tcp_msg_ops, msg) - at file scope, behind the table: complete it when the library
 * is loaded, before any thread can use it.  No semicolon follows.
 */
#define OBJ_OPS_TABLE(table, member)						\
	__attribute__((constructor)) static void fill_##table(void)		\
	{									\
		OBJ_OPS_FILL(&table, member);					\
	}

/* obj_fid_init - what every object begins with.  @ops: full, see OBJ_OPS_TABLE() */
static inline void obj_fid_init(struct fid *fid, size_t fclass, void *context, struct fi_ops *ops)
{
	fid->fclass = fclass;
	fid->context = context;
	fid->ops = ops;
}

/* obj_ops_fill_ep - complete the seven tables that @ep points to, with a table
 * of defaults for each pointer that is NULL.
 *
 * Threading: as obj_ops_fill().  Tables that the provider's init has completed
 * are only read.
 */
void obj_ops_fill_ep(struct fid_ep *ep);

#endif
