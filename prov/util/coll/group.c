/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * group.c - joining and leaving.
 *
 * Members agree on a random id for the group: each reports to member 0 through a tree, member 0
 * chooses the id, and it is distributed through the same tree.  The messages of a join are
 * named by a hash of the members' addresses, or, with a parent group, of its id and their ranks
 * in it.  Several joins of the same members run one after another.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "coll/group.h"
#include "coll/register.h"
#include "engine/peer.h"
#include "obj/ops.h"

#define JOIN_FLAGS (FI_COLLECTIVE | FI_SEND | FI_RECV)
#define ADDR_BIT (UINT64_C(1) << 63)	/* marks the fi_addr_t of a group */

/* ---- state ---------------------------------------------------------------------------- */

__attribute__((unused)) static const unsigned edges[] = {
	[COLL_WAITING] = 1u << COLL_JOINING | 1u << COLL_FAILED | 1u << COLL_CLOSED,
	[COLL_JOINING] = 1u << COLL_JOINED | 1u << COLL_FAILED | 1u << COLL_CLOSED,
	[COLL_JOINED] = 1u << COLL_CLOSED,
	[COLL_FAILED] = 1u << COLL_CLOSED,
	[COLL_CLOSED] = 0,
};

static void set_state(struct coll_group *group, enum coll_group_state state)
{
	struct coll *coll = group->coll;
	bool was = group->state == COLL_JOINING;

	assert(edges[group->state] & 1u << state && "a group's state only moves forward");
	group->state = state;
	coll->joining += (state == COLL_JOINING) - was;
	if (was && !coll->joining && !coll->stopped)
		coll_unexp_recheck(coll);
}

void coll_group_put(struct coll_group *group)
{
	if (--group->refs)
		return;
	if (group->spare)
		coll_op_free(group->spare);
	free(group);
}

static void begin_next(struct coll *coll, uint64_t join_key);

/* Fail the group's operations with FI_ECANCELED; the other members are notified (op.c).  The
 * group is freed when its last operation has ended.
 */
static int mc_close(struct fid *fid)
{
	struct coll_group *group = container_of(fid, struct coll_group, mc.fid);
	struct coll *coll = group->coll;
	struct eng_ep *ep = coll->oob.ep;
	struct coll_op *op;

	if (obj_inherited(&ep->base.refs))
		return 0;
	lock_get(&ep->base.prog->lock);
	list_del(&group->node);
	hmap_remove(&coll->by_addr, group->mc.fi_addr);
	if (group->state == COLL_JOINED)
		hmap_remove(&coll->by_id, group->id);
	set_state(group, COLL_CLOSED);
	if (!coll->joining)
		coll_unexp_recheck(coll);	/* answer members that wait for operations which will
						 * not start here */
	list_for_each_entry(op, &coll->ops, node) {
		if (op->group != group)
			continue;
		coll_op_fail(op, FI_ECANCELED, group->rank);
		op->due = true;
	}
	coll_op_progress_due(coll);
	begin_next(coll, group->join_key);
	if (ep->base.eq)
		obj_eq_purge(ep->base.eq, fid);
	obj_ref_put(&group->ep_ref);
	coll_group_put(group);
	lock_put(&ep->base.prog->lock);
	return 0;
}

static struct fi_ops mc_ops = {
	.close = mc_close,
};

/* ---- members ----------------------------------------------------------------------------- */

static uint64_t mix_word(uint64_t hash, uint64_t word)
{
	return hmap_hash(hash ^ word) * UINT64_C(0xff51afd7ed558ccd) + 1;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t len)
{
	uint64_t word;
	size_t n;

	for (hash = mix_word(hash, len); len; bytes = (const char *) bytes + n, len -= n) {
		n = len < sizeof(word) ? len : sizeof(word);
		word = 0;
		memcpy(&word, bytes, n);
		hash = mix_word(hash, word);
	}
	return hash;
}

struct found {
	uint64_t *hashes;	/* of each member's address */
	uint32_t times;		/* how often this endpoint's address occurs */
	uint64_t all;		/* hash over all, in order */
};

/* Hashes all addresses, and finds this endpoint's. */
static int look_at_members(struct coll_group *group, const void *name, size_t name_len, struct found *found)
{
	_Alignas(16) char addr[OBJ_ADDR_MAX];
	struct obj_av *av = group->coll->oob.ep->base.av;
	size_t len;
	uint32_t i;

	for (i = 0; i < group->n; i++) {
		if (obj_av_addr(av, group->addrs[i], addr, &len))
			return -FI_EINVAL;
		if (len == name_len && !memcmp(addr, name, len)) {
			group->rank = i;
			found->times++;
		}
		found->hashes[i] = mix_bytes(0, addr, len);
		found->all = mix_word(found->all, found->hashes[i]);
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static bool has_twins(struct found *found, uint32_t n)
{
	uint32_t i;

	qsort(found->hashes, n, sizeof(*found->hashes), by_value);
	for (i = 1; i < n; i++)
		if (found->hashes[i] == found->hashes[i - 1])
			return true;
	return false;
}

static int refuse_join(struct eng_ep *ep, const char *why)
{
	ENG_WARN(ep, "fi_join_collective: %s\n", why);
	return -FI_EINVAL;
}

/* Finds this endpoint's rank, and a key that all members compute alike. */
static int find_us(struct coll_group *group, struct obj_av_set *set)
{
	_Alignas(16) char name[OBJ_ADDR_MAX];
	struct eng_ep *ep = group->coll->oob.ep;
	struct found found = { 0 };
	size_t len = sizeof(name);
	int ret = ep->link_ops->getname(ep->link, NULL, name, &len);

	if (ret)
		return ret;
	found.hashes = malloc(group->n * sizeof(*found.hashes));
	if (!found.hashes)
		return -FI_ENOMEM;
	ret = look_at_members(group, name, len, &found);
	if (ret)
		refuse_join(ep, "a member of the set has been removed from the address vector");
	else if (!found.times)
		ret = refuse_join(ep, "this endpoint is not a member of the set: insert its own "
				  "address, as fi_getname() tells it, at its place");
	else if (has_twins(&found, group->n))
		ret = refuse_join(ep, "an address is in the set twice, as two entries of the address "
				  "vector");
	group->join_key = mix_bytes(found.all, set->comm_key, set->comm_key_size);
	free(found.hashes);
	return ret;
}

/* The same, for the members of a parent group. */
static int find_in_parent(struct coll_group *group, const struct coll_group *parent)
{
	struct hmap ranks;
	uint64_t key = mix_word(parent->id, group->n);
	uint32_t i;
	int ret = 0;

	hmap_init(&ranks);
	for (i = 0; i < parent->n && !ret; i++)
		ret = hmap_insert(&ranks, parent->addrs[i], (void *) (uintptr_t) (i + 1));
	for (i = 0; i < group->n && !ret; i++) {
		uintptr_t rank = (uintptr_t) hmap_find(&ranks, group->addrs[i]);

		if (!rank)
			ret = refuse_join(group->coll->oob.ep,
					  "a member of the set is not in the parent group");
		key = mix_word(key, rank);
	}
	hmap_destroy(&ranks);
	group->join_key = key;
	return ret == -FI_EALREADY ? -FI_EINVAL : ret;
}

/* ---- joining ------------------------------------------------------------------------------- */

static void make_id(struct coll_group *group)
{
	static uint64_t cnt;

	/* Fallback without kernel random numbers: unique within this process. */
	if (getrandom(&group->id, sizeof(group->id), GRND_NONBLOCK) != sizeof(group->id))
		group->id = mix_word(mix_word(group->join_key, (uintptr_t) group),
				     __atomic_add_fetch(&cnt, 1, __ATOMIC_RELAXED));
	if (!group->id)
		group->id = 1;
}

/* True while a join with this key is in progress; joins of the same members would be confused. */
static bool others_join(const struct coll *coll, uint64_t join_key)
{
	struct coll_group *other;
	struct coll_op *op;

	list_for_each_entry(other, &coll->groups, node)
		if (other->join_key == join_key && other->state == COLL_JOINING)
			return true;
	/* the join of a closed group ends later */
	list_for_each_entry(op, &coll->ops, node)
		if (op->join && op->space == join_key)
			return true;
	return false;
}

/* Start the join as an operation with a fixed plan; its memory was allocated in group_enter(). */
static void begin_join(struct coll_group *group)
{
	struct coll *coll = group->coll;
	struct coll_op *op = group->spare;

	group->spare = NULL;
	if (!group->rank)
		make_id(group);
	op->group = group;
	op->base[COLL_OUT] = (char *) &group->id;
	op->join = true;
	op->join_no = ++coll->join_cnt & 0x3ff;
	op->space = group->join_key;
	op->seq = 0;
	set_state(group, COLL_JOINING);
	coll_op_start(op);
}

/* A join with this key has ended: start the next one that waits. */
static void begin_next(struct coll *coll, uint64_t join_key)
{
	struct coll_group *group;

	if (coll->stopped || others_join(coll, join_key))
		return;
	list_for_each_entry(group, &coll->groups, node) {
		if (group->join_key == join_key && group->state == COLL_WAITING) {
			begin_join(group);
			return;
		}
	}
}

/* Write FI_JOIN_COMPLETE, or an error entry that names the member that caused it. */
static void report_join(struct coll_group *group, int err, uint32_t culprit)
{
	struct obj_eq *eq = group->coll->oob.ep->base.eq;
	struct fi_eq_entry entry = {
		.fid = &group->mc.fid, .context = group->mc.fid.context,
		.data = group->mc.fi_addr,
	};
	struct fi_eq_err_entry bad = {
		.fid = &group->mc.fid, .context = group->mc.fid.context,
		.err = err, .prov_errno = err,
		.data = culprit < group->n ? group->addrs[culprit] : FI_ADDR_NOTAVAIL,
	};

	if (err)
		obj_eq_write_err(eq, &bad, NULL, 0);
	else
		obj_eq_write(eq, FI_JOIN_COMPLETE, &entry, sizeof(entry));
}

/* A failed join may have dropped messages of a group that other members have joined, so groups
 * joined later must probe.
 */
void coll_group_joined(struct coll_group *group, int err, uint32_t culprit)
{
	struct coll *coll = group->coll;

	if (group->state == COLL_JOINING) {
		if (!err)
			err = -hmap_insert(&coll->by_id, group->id, group);
		group->verify |= coll->may_have_dropped;
		set_state(group, err ? COLL_FAILED : COLL_JOINED);
		report_join(group, err, culprit);
	}
	coll->failed |= group->state != COLL_JOINED;
	begin_next(coll, group->join_key);
}

/* ---- the call --------------------------------------------------------------------------------- */

static bool is_a_set(struct obj_av *av, fi_addr_t addr)
{
	struct obj_ref *ref;
	bool found = false;

	pthread_mutex_lock(&av->refs.lock);
	list_for_each_entry(ref, &av->refs.holders, node) {
		const struct fid *fid = ref->holder;

		if (fid->fclass == FI_CLASS_AV_SET)
			found |= obj_av_set_of(container_of(fid, struct fid_av_set, fid))->coll_addr ==
				 addr;
	}
	pthread_mutex_unlock(&av->refs.lock);
	return found;
}

static int find_place(struct coll_group *group, struct obj_av_set *set, fi_addr_t coll_addr)
{
	struct coll_group *parent;

	if (coll_addr == FI_ADDR_NOTAVAIL || coll_addr == set->coll_addr ||
	    is_a_set(set->av, coll_addr))
		return find_us(group, set);
	parent = hmap_find(&group->coll->by_addr, coll_addr);
	if (!parent || parent->state != COLL_JOINED)
		return refuse_join(group->coll->oob.ep, "coll_addr is neither that of a set nor of a "
				   "group that has been joined");
	return find_us(group, set) ? -FI_EINVAL : find_in_parent(group, parent);
}

static struct coll_group *new_group(struct eng_ep *ep, struct obj_av_set *set, void *context)
{
	struct coll_group *group;

	lock_get(&set->lock);
	group = calloc(1, sizeof(*group) + set->cnt * sizeof(group->addrs[0]));
	if (group) {
		group->n = (uint32_t) set->cnt;
		if (set->cnt)
			memcpy(group->addrs, set->addrs, set->cnt * sizeof(group->addrs[0]));
	}
	lock_put(&set->lock);
	if (!group)
		return NULL;
	group->coll = coll_of(ep);
	group->refs = 1;
	group->state = COLL_WAITING;
	obj_fid_init(&group->mc.fid, FI_CLASS_MC, context, &mc_ops);
	list_init(&group->node);
	return group;
}

static int group_enter(struct coll_group *group)
{
	struct coll *coll = group->coll;
	int ret;

	/* Memory for the join is allocated before any other member can depend on it. */
	group->spare = coll_op_new(group, NULL, 0);
	if (!group->spare)
		return -FI_ENOMEM;
	group->mc.fi_addr = ADDR_BIT | coll->addr_seq++;
	ret = hmap_insert(&coll->by_addr, group->mc.fi_addr, group);
	if (ret)
		return ret;
	list_add_tail(&group->node, &coll->groups);
	obj_ref_get(&coll->oob.ep->base.refs, &group->ep_ref, &group->mc.fid);
	return 0;
}

static int join_locked(struct eng_ep *ep, struct obj_av_set *set, fi_addr_t coll_addr,
		       struct fid_mc **mc_p, void *context)
{
	struct coll_group *group;
	int ret;

	if (!eng_oob_get(ep))
		return -FI_ENOMEM;
	group = new_group(ep, set, context);
	if (!group)
		return -FI_ENOMEM;
	if (!group->n)
		ret = refuse_join(ep, "the set is empty");
	else if (group->n > COLL_MEMBERS_MAX)
		ret = -FI_EMSGSIZE;
	else
		ret = find_place(group, set, coll_addr);
	if (!ret)
		ret = group_enter(group);
	if (ret) {
		coll_group_put(group);
		return ret;
	}
	*mc_p = &group->mc;
	if (!others_join(group->coll, group->join_key))
		begin_join(group);
	return 0;
}

int coll_join(struct fid_ep *fid, const void *addr, uint64_t flags, struct fid_mc **mc_p,
	      void *context)
{
	struct eng_ep *ep = eng_ep_of(fid);
	const struct fi_collective_addr *where = addr;
	struct obj_av_set *set;
	int ret;

	if (!(flags & FI_COLLECTIVE))
		return -FI_ENOSYS;
	if (flags & ~(uint64_t) JOIN_FLAGS)
		return -FI_EBADFLAGS;
	if (!eng_ep_enabled(ep))
		return -FI_EOPBADSTATE;
	if (!ep->base.eq) {
		refuse_join(ep, "the endpoint has no event queue to report the end to; bind one with "
			    "fi_ep_bind()");
		return -FI_ENOEQ;
	}
	if (!where || !where->set)
		return -FI_EINVAL;
	set = obj_av_set_of((struct fid_av_set *) where->set);
	if (set->av != ep->base.av)
		return refuse_join(ep, "the set belongs to another address vector than the endpoint");
	lock_get(&ep->base.prog->lock);
	ret = join_locked(ep, set, where->coll_addr, mc_p, context);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* ---- collectives of an endpoint
 * -----------------------------------------------------------------
 */

static struct eng_oob *coll_open(struct eng_ep *ep)
{
	struct coll *coll = calloc(1, sizeof(*coll));

	if (!coll)
		return NULL;
	hmap_init(&coll->by_id);
	hmap_init(&coll->by_addr);
	list_init(&coll->groups);
	list_init(&coll->ops);
	return &coll->oob;
}

static void coll_close(struct eng_oob *oob)
{
	struct coll *coll = (struct coll *) oob;

	assert(list_empty(&coll->groups) && list_empty(&coll->ops) &&
	       "open groups hold their endpoint, and operations end with the link");
	hmap_destroy(&coll->by_id);
	hmap_destroy(&coll->by_addr);
	free(coll);
}

/* The link is about to close: no message can be sent any more. */
static void coll_stop(struct eng_oob *oob)
{
	struct coll *coll = (struct coll *) oob;
	struct coll_op *op;

	coll->stopped = true;
	list_for_each_entry(op, &coll->ops, node) {
		coll_op_fail(op, FI_ECANCELED, op->group->rank);
		op->due = true;
	}
	coll_op_progress_due(coll);
}

static const struct eng_oob_user user = {
	.open = coll_open,
	.close = coll_close,
	.arrived = coll_unexp_arrived,
	.lost = coll_unexp_lost,
	.stop = coll_stop,
};

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;
static struct fi_ops_cm cm_ops;

static void fill_tables(void)
{
	cm_ops = obj_cm_rdm_ops;
	cm_ops.join = coll_join;
	OBJ_OPS_FILL(&cm_ops, cm);
	OBJ_OPS_FILL(&mc_ops, fid);
	OBJ_OPS_FILL(&coll_ops, collective);
}

static void coll_attach(struct eng_ep *ep)
{
	pthread_once(&tables_once, fill_tables);
	ep->oob_user = &user;
	ep->base.h.fid.cm = &cm_ops;
	ep->base.h.fid.collective = &coll_ops;
}

void coll_register(void)
{
	static const struct eng_coll_ops ops = { .attach = coll_attach, .query = coll_query };

	eng_coll_register(&ops);
}
