/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * by_msg.h - calls without flags, made as calls with flags.
 *
 * These tables turn fi_send() into fi_sendmsg() of the endpoint with the default flags of the handle,
 * and so on for every call that takes no flags.  Two kinds of handle use them:
 *
 * - an alias (fi_ep_alias) with default flags that only the calls with flags of a provider know:
 *   FI_TRIGGER, FI_FENCE, FI_MORE, FI_PEEK and the like.  Aliases with the usual flags keep the
 *   tables of their endpoint.
 * - an endpoint whose provider has written the calls with flags alone, because the others of that
 *   table are not worth a path of their own (OBJ_OPS_BY_MSG).
 *
 * Sources: fi_endpoint(3) "Operation flags", fi_trigger(3).
 */
#ifndef OBJ_BY_MSG_H
#define OBJ_BY_MSG_H

#include <stdbool.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "obj/ep.h"
#include "obj/ops.h"

extern struct obj_by_msg_tables {
	struct fi_ops_msg msg;
	struct fi_ops_tagged tagged;
	struct fi_ops_rma rma;
	struct fi_ops_atomic atomic;
} obj_by_msg_tables;

/* OBJ_OPS_BY_MSG(&tcp_rma_ops, rma) - complete a table of a provider with these calls, before an
 * endpoint uses it.  It has the calls with flags and the injects itself: those of obj_by_msg_tables
 * would call themselves.
 */
#define OBJ_OPS_BY_MSG(table, member)						\
	do {									\
		_Static_assert(sizeof(*(table)) == sizeof(obj_by_msg_tables.member), \
			       "table and defaults are of one type");		\
		obj_ops_fill((table), sizeof(*(table)), &obj_by_msg_tables.member); \
	} while (0)

/* OBJ_OPS_TABLE_BY_MSG(tcp_rma_ops, rma) - the same, as OBJ_OPS_TABLE(): at file scope, behind the
 * table, when the library is loaded.  No semicolon follows.
 */
#define OBJ_OPS_TABLE_BY_MSG(table, member)					\
	__attribute__((constructor)) static void fill_##table(void)		\
	{									\
		OBJ_OPS_BY_MSG(&table, member);					\
	}

/* obj_by_msg - give @alias these tables, or those of its endpoint.
 * Calls of the inject kind have no context, hence no such flags: they go on unchanged.
 * Threading: no other thread uses @alias.
 */
void obj_by_msg(struct fid_ep *alias, bool on);

#endif
