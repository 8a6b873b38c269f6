/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Address vector sets: ordered lists of entries of one address vector. */
#include <rdma/providers/fi_log.h>
#include <stdlib.h>

#include "base/array.h"
#include "obj/av.h"
#include "obj/av_table.h"
#include "obj/domain.h"
#include "obj/ops.h"

#define SET_FLAGS (FI_UNIVERSE | FI_BARRIER_SET | FI_BROADCAST_SET | FI_ALLTOALL_SET |	\
		   FI_ALLREDUCE_SET | FI_ALLGATHER_SET | FI_REDUCE_SCATTER_SET |	\
		   FI_REDUCE_SET | FI_SCATTER_SET | FI_GATHER_SET)

static size_t set_position(const struct obj_av_set *set, fi_addr_t addr)
{
	size_t i;

	for (i = 0; i < set->cnt && set->addrs[i] != addr; i++)
		;
	return i;
}

/* Caller knows that @addr is not there. */
static int set_append(struct obj_av_set *set, fi_addr_t addr)
{
	int ret = array_reserve(&set->addrs, set->cnt, &set->room, sizeof(*set->addrs));

	if (!ret)
		set->addrs[set->cnt++] = addr;
	return ret;
}

/* The others keep their order, which is that of their ranks. */
static void take_out(struct obj_av_set *set, size_t at)
{
	set->cnt--;
	memmove(&set->addrs[at], &set->addrs[at + 1], (set->cnt - at) * sizeof(set->addrs[0]));
}

/* A stable copy of @src, so that no two sets are locked at once. */
static int copy_members(struct obj_av_set *src, fi_addr_t **addrs_p, size_t *cnt_p)
{
	lock_get(&src->lock);
	*cnt_p = src->cnt;
	*addrs_p = malloc((src->cnt + 1) * sizeof(**addrs_p));
	if (*addrs_p && src->cnt)
		memcpy(*addrs_p, src->addrs, src->cnt * sizeof(**addrs_p));
	lock_put(&src->lock);
	return *addrs_p ? 0 : -FI_ENOMEM;
}

static int by_addr(const void *a, const void *b)
{
	fi_addr_t x = *(const fi_addr_t *) a, y = *(const fi_addr_t *) b;

	return (x > y) - (x < y);
}

/* Keep the members that @addrs has (or has not), in their order. */
static void set_keep(struct obj_av_set *dst, fi_addr_t *addrs, size_t cnt, bool members)
{
	size_t i, kept = 0;

	qsort(addrs, cnt, sizeof(*addrs), by_addr);
	lock_get(&dst->lock);
	for (i = 0; i < dst->cnt; i++)
		if (!!bsearch(&dst->addrs[i], addrs, cnt, sizeof(*addrs), by_addr) == members)
			dst->addrs[kept++] = dst->addrs[i];
	dst->cnt = kept;
	lock_put(&dst->lock);
}

static int check_pair(const struct fid_av_set *dst, const struct fid_av_set *src)
{
	struct obj_av_set *d = obj_av_set_of((struct fid_av_set *) dst);

	if (src && obj_av_set_of((struct fid_av_set *) src)->av == d->av)
		return 0;
	FI_WARN(d->av->domain->prov, FI_LOG_AV,
		"two address vector sets can be combined only within one address vector\n");
	return -FI_EINVAL;
}

/* Without the lookup by sorting: only what is new is added, in the source's order. */
static int set_union(struct fid_av_set *dst_fid, const struct fid_av_set *src_fid)
{
	struct obj_av_set *dst = obj_av_set_of(dst_fid);
	fi_addr_t *addrs, *have = NULL;
	size_t cnt, have_cnt, i;
	int ret = check_pair(dst_fid, src_fid);

	if (!ret)
		ret = copy_members(obj_av_set_of((struct fid_av_set *) src_fid), &addrs, &cnt);
	if (ret)
		return ret;
	ret = copy_members(dst, &have, &have_cnt);
	if (ret)
		goto out;
	qsort(have, have_cnt, sizeof(*have), by_addr);
	lock_get(&dst->lock);
	for (i = 0; i < cnt && !ret; i++)
		if (!bsearch(&addrs[i], have, have_cnt, sizeof(*have), by_addr))
			ret = set_append(dst, addrs[i]);
	lock_put(&dst->lock);
	free(have);
out:
	free(addrs);
	return ret;
}

/* The source may be the destination: its members are copied first. */
static int set_filter(struct fid_av_set *dst, const struct fid_av_set *src, bool members)
{
	fi_addr_t *addrs;
	size_t cnt;
	int ret = check_pair(dst, src);

	if (!ret)
		ret = copy_members(obj_av_set_of((struct fid_av_set *) src), &addrs, &cnt);
	if (ret)
		return ret;
	set_keep(obj_av_set_of(dst), addrs, cnt, members);
	free(addrs);
	return 0;
}

static int set_intersect(struct fid_av_set *dst, const struct fid_av_set *src)
{
	return set_filter(dst, src, true);
}

static int set_diff(struct fid_av_set *dst, const struct fid_av_set *src)
{
	return set_filter(dst, src, false);
}

/* Only what the address vector has, and each once: a rank is one member. */
static int set_insert(struct fid_av_set *fid, fi_addr_t addr)
{
	struct obj_av_set *set = obj_av_set_of(fid);
	_Alignas(8) char buf[OBJ_ADDR_MAX];
	size_t len;
	int ret;

	if (addr != (uint32_t) addr || obj_av_addr(set->av, addr, buf, &len))
		return -FI_EINVAL;
	lock_get(&set->lock);
	ret = set_position(set, addr) < set->cnt ? -FI_EINVAL : set_append(set, addr);
	lock_put(&set->lock);
	return ret;
}

static int set_remove(struct fid_av_set *fid, fi_addr_t addr)
{
	struct obj_av_set *set = obj_av_set_of(fid);
	int ret = -FI_EINVAL;
	size_t at;

	lock_get(&set->lock);
	at = set_position(set, addr);
	if (at < set->cnt) {
		take_out(set, at);
		ret = 0;
	}
	lock_put(&set->lock);
	return ret;
}

static int set_addr(struct fid_av_set *fid, fi_addr_t *coll_addr)
{
	*coll_addr = obj_av_set_of(fid)->coll_addr;
	return 0;
}

static int av_set_close(struct fid *fid)
{
	struct obj_av_set *set = container_of(fid, struct obj_av_set, fid.fid);
	int ret;

	if (obj_inherited(&set->refs))
		return 0;
	ret = obj_refs_busy(&set->refs, fid, set->av->domain->prov, FI_LOG_AV);
	if (ret)
		return ret;
	obj_ref_put(&set->av_ref);
	obj_refs_fini(&set->refs);
	lock_destroy(&set->lock);
	free(set->comm_key);
	free(set->addrs);
	free(set);
	return 0;
}

static struct fi_ops set_fid_ops = {
	.close = av_set_close,
};
OBJ_OPS_TABLE(set_fid_ops, fid)

static struct fi_ops_av_set set_ops = {
	.set_union = set_union,
	.intersect = set_intersect,
	.diff = set_diff,
	.insert = set_insert,
	.remove = set_remove,
	.addr = set_addr,
};
OBJ_OPS_TABLE(set_ops, av_set)

static int av_set_check_attr(const struct obj_av *av, const struct fi_av_set_attr *attr)
{
	bool range = attr->start_addr != FI_ADDR_NOTAVAIL || attr->end_addr != FI_ADDR_NOTAVAIL;
	const char *why = NULL;

	if (attr->flags & ~(uint64_t) SET_FLAGS)
		why = "unknown flags";
	else if (attr->flags & FI_UNIVERSE)
		return 0;
	else if (attr->comm_key_size && !attr->comm_key)
		why = "comm_key is NULL";
	else if (range && (attr->start_addr > attr->end_addr || attr->end_addr == FI_ADDR_NOTAVAIL))
		why = "start_addr must not be above end_addr (both are FI_ADDR_NOTAVAIL for an empty set)";
	else if (range && attr->comm_key_size)
		why = "a communication key and a range exclude each other";
	else if (!range && attr->stride > 1)
		why = "stride is 0 or 1 without a range";
	if (!why)
		return 0;
	FI_WARN(av->domain->prov, FI_LOG_AV, "cannot make an address vector set: %s\n", why);
	return -FI_EINVAL;
}

/* The initial members: everything, or a range with a stride. */
static int add_members(struct obj_av_set *set, const struct fi_av_set_attr *attr)
{
	fi_addr_t addr = 0, end = (fi_addr_t) atomic_load(&set->av->top), step = 1;
	_Alignas(8) char buf[OBJ_ADDR_MAX];
	size_t len;
	int ret = 0;

	if (!(attr->flags & FI_UNIVERSE)) {
		if (attr->start_addr == FI_ADDR_NOTAVAIL)
			return 0;
		addr = attr->start_addr;
		end = attr->end_addr + 1 < end ? attr->end_addr + 1 : end;
		step = attr->stride ? attr->stride : 1;
	}
	for (; addr < end && !ret; addr += step)
		if (!obj_av_addr(set->av, addr, buf, &len))
			ret = set_append(set, addr);
	return ret;
}

/* The set's collective address is the set itself: no two have the same while both are open. */
int obj_av_set_open(struct fid_av *av_fid, struct fi_av_set_attr *attr,
		    struct fid_av_set **set_p, void *context)
{
	struct obj_av *av = obj_av_of(av_fid);
	struct obj_av_set *set;
	int ret;

	if (!attr)
		return -FI_EINVAL;
	ret = av_set_check_attr(av, attr);
	if (ret)
		return ret;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	obj_fid_init(&set->fid.fid, FI_CLASS_AV_SET, context, &set_fid_ops);
	set->fid.ops = &set_ops;
	set->av = av;
	set->flags = attr->flags;
	set->coll_addr = (fi_addr_t) (uintptr_t) set;
	ret = add_members(set, attr);
	if (!ret && attr->comm_key_size) {
		set->comm_key = malloc(attr->comm_key_size);
		ret = set->comm_key ? 0 : -FI_ENOMEM;
	}
	if (ret) {
		free(set->addrs);
		free(set);
		return ret;
	}
	if (attr->comm_key_size)
		memcpy(set->comm_key, attr->comm_key, attr->comm_key_size);
	set->comm_key_size = attr->comm_key_size;
	lock_init(&set->lock, av->domain->obj_lock_kind);
	obj_refs_init(&set->refs);
	obj_ref_get(&av->refs, &set->av_ref, &set->fid.fid);
	*set_p = &set->fid;
	return 0;
}
