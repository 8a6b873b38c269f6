/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av_user.h - what av.c takes from its neighbours: ids that programs give to
 * entries, and addresses made from names and ranges.
 */
#ifndef OBJ_AV_USER_H
#define OBJ_AV_USER_H

#include "obj/av.h"

/* obj_av_user_set - completions shall show @id for entry @i.  Caller holds av->lock. */
int obj_av_user_set(struct obj_av *av, uint32_t i, uint64_t id);

/* obj_av_user_clear - entry @i was removed: what comes into its place has no id.  Caller holds av->lock. */
void obj_av_user_clear(struct obj_av *av, uint32_t i);
void obj_av_user_free(struct obj_av *av);
int obj_av_set_user_id(struct fid_av *fid, fi_addr_t fi_addr, fi_addr_t user_id, uint64_t flags);

/* obj_av_notify - endpoints learn of new entries (FI_ADDR_UNSPEC), or forget the peer, and the number, of @removed while
 * the entry can still be read.
 */
void obj_av_notify(struct obj_av *av, fi_addr_t removed);

/* Gives address @i of a call in turn, or NULL for one that cannot be had. */
typedef const void *(*obj_av_next_fn)(struct obj_av *av, void *source, size_t i);

/* obj_av_insert_from - the body of every insert call.
 * @next: gives the addresses in order, each valid until the next call
 */
int obj_av_insert_from(struct obj_av *av, obj_av_next_fn next, void *source, size_t count,
		       fi_addr_t *fi_addr, uint64_t flags, void *context);

int obj_av_insertsvc(struct fid_av *fid, const char *node, const char *service,
		     fi_addr_t *fi_addr, uint64_t flags, void *context);
int obj_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt,
		     const char *service, size_t svccnt, fi_addr_t *fi_addr,
		     uint64_t flags, void *context);

#endif
