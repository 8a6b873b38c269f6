/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * coll_model_test [seed [count]] - random groups and operations under faults.
 *
 * A seed chooses members, groups, operations, lengths, the order of calls, which members die,
 * which connections break and when memory is short.  Each operation that was called must
 * complete once; one without an error must have the right result; and without faults there must
 * be no error.
 */
#include "coll/test/world.h"

#define GROUPS 3
#define OPS 12
#define COUNT_MAX 3000

static uint64_t first_seed = 1;
static unsigned seeds = 100;

/* The part of one member in one operation; its address is the context. */
struct part {
	int node, op, group;
	bool called, done;
	int err;
	uint64_t *in, *out;
};

struct group {
	int cnt, list[NODES_MAX];
	struct fid_mc *mc[NODES_MAX];
};

struct oper {
	enum fi_collective_op coll;
	int group;
	size_t count;
	int root;		/* index in the list */
};

struct model {
	struct cworld cw;
	struct group group[GROUPS];
	struct oper op[OPS];
	struct part part[OPS][NODES_MAX];
	int next[GROUPS][NODES_MAX];	/* next operation of each member */
	bool dead[NODES_MAX];
	bool faults;
	unsigned completions;
};

static uint64_t value(int op, int place, size_t i)
{
	return ((uint64_t) op * 131 + (uint64_t) place * 7 + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static void choose(struct model *m, int n)
{
	int g, i, k, at;

	for (g = 0; g < GROUPS; g++) {
		struct group *group = &m->group[g];

		for (i = 0; i < n; i++) {
			if (g && sim_rnd(3) == 0)
				continue;
			at = (int) sim_rnd((uint64_t) group->cnt + 1);
			for (k = group->cnt++; k > at; k--)
				group->list[k] = group->list[k - 1];
			group->list[at] = i;
		}
		if (!group->cnt)
			group->list[group->cnt++] = 0;
	}
	for (i = 0; i < OPS; i++) {
		struct oper *op = &m->op[i];

		op->coll = (enum fi_collective_op) sim_rnd(FI_GATHER + 1);
		op->group = (int) sim_rnd(GROUPS);
		op->count = sim_rnd(3) ? sim_rnd(40) : sim_rnd(COUNT_MAX);
		op->root = (int) sim_rnd((uint64_t) m->group[op->group].cnt);
	}
}

static void make_parts(struct model *m)
{
	size_t i, room;
	int o, k;

	for (o = 0; o < OPS; o++) {
		struct oper *op = &m->op[o];
		struct group *group = &m->group[op->group];

		room = op->count * (size_t) group->cnt + 1;
		for (k = 0; k < group->cnt; k++) {
			struct part *p = &m->part[o][k];

			*p = (struct part) { .node = group->list[k], .op = o, .group = op->group };
			p->in = malloc(room * 8);
			p->out = calloc(room, 8);
			for (i = 0; i < room; i++)
				p->in[i] = value(o, k, i);
		}
	}
}

/* The group is joined without faults; joining under faults is tested below. */
static void join_groups(struct model *m)
{
	for (int g = 0; g < GROUPS; g++)
		join_all(&m->cw, m->group[g].list, m->group[g].cnt, NULL, m->group[g].mc);
}

/* ---- calls --------------------------------------------------------------------------- */

static ssize_t call(struct model *m, struct part *p, int k)
{
	struct oper *op = &m->op[p->op];
	struct fid_ep *ep = m->cw.w.node[p->node].ep;
	fi_addr_t g = fi_mc_addr(m->group[op->group].mc[k]);
	fi_addr_t root = (fi_addr_t) m->group[op->group].list[op->root];
	size_t c = op->count;

	switch (op->coll) {
	case FI_BARRIER:
		return fi_barrier(ep, g, p);
	case FI_BROADCAST:
		return fi_broadcast(ep, p->in, c, NULL, g, root, FI_UINT64, 0, p);
	case FI_ALLTOALL:
		return fi_alltoall(ep, p->in, c, NULL, p->out, NULL, g, FI_UINT64, 0, p);
	case FI_ALLREDUCE:
		return fi_allreduce(ep, p->in, c, NULL, p->out, NULL, g, FI_UINT64, FI_SUM, 0, p);
	case FI_ALLGATHER:
		return fi_allgather(ep, p->in, c, NULL, p->out, NULL, g, FI_UINT64, 0, p);
	case FI_REDUCE_SCATTER:
		return fi_reduce_scatter(ep, p->in, c, NULL, p->out, NULL, g, FI_UINT64, FI_SUM, 0,
					 p);
	case FI_REDUCE:
		return fi_reduce(ep, p->in, c, NULL, p->out, NULL, g, root, FI_UINT64, FI_SUM, 0,
				 p);
	case FI_SCATTER:
		return fi_scatter(ep, p->in, c, NULL, p->out, NULL, g, root, FI_UINT64, 0, p);
	default:
		return fi_gather(ep, p->in, c, NULL, p->out, NULL, g, root, FI_UINT64, 0, p);
	}
}

/* A random member calls its next operation of some group.  Returns false if all have. */
static bool call_one(struct model *m)
{
	int g = (int) sim_rnd(GROUPS), k, tries;

	for (tries = 0; tries < GROUPS; tries++, g = (g + 1) % GROUPS) {
		struct group *group = &m->group[g];
		int first = (int) sim_rnd((uint64_t) group->cnt);

		for (k = first; k < first + group->cnt; k++) {
			int place = k % group->cnt, *next = &m->next[g][place];

			while (*next < OPS && m->op[*next].group != g)
				++*next;
			if (*next == OPS || m->dead[group->list[place]])
				continue;
			if (call(m, &m->part[*next][place], place) == 0)
				m->part[(*next)++][place].called = true;
			return true;
		}
	}
	return false;
}

/* ---- results -------------------------------------------------------------------------- */

static uint64_t sum(const struct model *m, const struct part *p, size_t i)
{
	uint64_t all = 0;

	for (int k = 0; k < m->group[p->group].cnt; k++)
		all += value(p->op, k, i);
	return all;
}

static void check(const struct model *m, const struct part *p, int place)
{
	const struct oper *op = &m->op[p->op];
	size_t i, c = op->count, all = c * (size_t) m->group[p->group].cnt;
	size_t mine = (size_t) place * c;

	switch (op->coll) {
	case FI_BROADCAST:
		for (i = 0; i < c; i++)
			assert_true(p->in[i] == value(p->op, op->root, i));
		break;
	case FI_ALLTOALL:
		for (i = 0; i < all; i++)
			assert_true(p->out[i] == value(p->op, (int) (i / c), mine + i % c));
		break;
	case FI_REDUCE:
	case FI_ALLREDUCE:
		for (i = 0; i < c && (op->coll == FI_ALLREDUCE || place == op->root); i++)
			assert_true(p->out[i] == sum(m, p, i));
		break;
	case FI_GATHER:
	case FI_ALLGATHER:
		for (i = 0; i < all && (op->coll == FI_ALLGATHER || place == op->root); i++)
			assert_true(p->out[i] == value(p->op, (int) (i / c), i % c));
		break;
	case FI_REDUCE_SCATTER:
		for (i = 0; i < c; i++)
			assert_true(p->out[i] == sum(m, p, mine + i));
		break;
	case FI_SCATTER:
		for (i = 0; i < c; i++)
			assert_true(p->out[i] == value(p->op, op->root, mine + i));
		break;
	default:
		break;
	}
}

static void take(struct model *m, const struct comp *c)
{
	struct part *p = c->e.op_context;
	int place = (int) (p - m->part[p->op]);

	assert_true(p->called && !p->done);
	assert_int_equal(c->e.flags, FI_COLLECTIVE);
	p->done = true;
	p->err = c->err;
	m->completions++;
	if (!c->err)
		check(m, p, place);
	else if (!m->faults)
		fail_msg("operation %d, member %d: %s", p->op, place, fi_strerror(c->err));
}

static void read_all(struct model *m)
{
	struct comp c;
	int i;

	for (i = 0; i < m->cw.w.cnt; i++)
		while (!m->dead[i] && node_read(&m->cw.w.node[i], &c))
			take(m, &c);
}

/* ---- faults ------------------------------------------------------------------------------ */

static void die(struct model *m, int i)
{
	int g, k;

	m->dead[i] = true;
	for (g = 0; g < GROUPS; g++)
		for (k = 0; k < m->group[g].cnt; k++)
			if (m->group[g].list[k] == i) {
				assert_int_equal(fi_close(&m->group[g].mc[k]->fid), 0);
				m->group[g].mc[k] = NULL;
			}
	sim_crash(PORT(i));
	node_close(&m->cw.w, i);
}

static void fault(struct model *m, int n)
{
	int a = (int) sim_rnd((uint64_t) n), b = (int) sim_rnd((uint64_t) n);

	m->faults = true;
	if (sim_rnd(2) && !m->dead[a])
		die(m, a);
	else
		sim_break(PORT(a), PORT(b));
}

/* True when all operations of living members have completed. */
static bool all_over(const struct model *m)
{
	int o, k;

	for (o = 0; o < OPS; o++)
		for (k = 0; k < m->group[m->op[o].group].cnt; k++) {
			const struct part *p = &m->part[o][k];

			if (p->called && !p->done && !m->dead[p->node])
				return false;
		}
	return true;
}

static void finish(struct model *m)
{
	int g, k, o, turn;

	sim_fail_after = 0;
	for (turn = 0; turn < 200000 && !all_over(m); turn++) {
		world_poll(&m->cw.w);
		read_all(m);
	}
	for (o = 0; o < OPS; o++)
		for (k = 0; k < m->group[m->op[o].group].cnt; k++)
			if (m->part[o][k].called && !m->part[o][k].done &&
			    !m->dead[m->part[o][k].node])
				fail_msg("operation %d (kind %d, group %d of %d, count %zu): member %d "
					 "never ends", o, m->op[o].coll, m->op[o].group,
					 m->group[m->op[o].group].cnt, m->op[o].count, k);
	for (g = 0; g < GROUPS; g++)
		for (k = 0; k < m->group[g].cnt; k++)
			if (m->group[g].mc[k])
				assert_int_equal(fi_close(&m->group[g].mc[k]->fid), 0);
	for (k = 0; k < 50; k++)
		world_poll(&m->cw.w);
	read_all(m);
	for (o = 0; o < OPS; o++)
		for (k = 0; k < m->group[m->op[o].group].cnt; k++) {
			free(m->part[o][k].in);
			free(m->part[o][k].out);
		}
}

static void one_seed(uint64_t seed, bool faults)
{
	struct sim_conf conf = sim_rough;
	struct model *m = calloc(1, sizeof(*m));
	int n, turn;

	n = 2 + (int) (seed % 9);
	conf.delay = (unsigned) (seed * 7 % 20);
	conf.queue_pct = (unsigned) (seed * 13 % 70);
	cworld_open(&m->cw, n, seed, &conf);
	choose(m, n);
	join_groups(m);
	make_parts(m);
	for (turn = 0; call_one(m) || turn < 100; turn++) {
		if (sim_rnd(3) == 0)
			world_poll(&m->cw.w);
		read_all(m);
		if (sim_rnd(60) == 0)
			sim_fail_after = 1 + (long) sim_rnd(4);
		else if (sim_rnd(10) == 0)
			sim_fail_after = 0;
		if (faults && sim_rnd(40) == 0)
			fault(m, n);
	}
	finish(m);
	for (turn = 0; turn < m->cw.w.cnt; turn++)
		if (!m->cw.w.node[turn].cq)
			m->dead[turn] = true;
	cworld_close(&m->cw);
	free(m);
}

static void run(bool faults)
{
	uint64_t seed;

	for (seed = first_seed; seed < first_seed + seeds; seed++) {
		if (seeds == 1)
			print_message("seed %llu\n", (unsigned long long) seed);
		one_seed(seed, faults);
	}
}

/* ---- joining under faults --------------------------------------------------------------- */

#define ENOUGH 6		/* barriers without an error after which the group counts as working */

/* A program that needs a working group: a member that gets an error leaves and joins again. */
struct member {
	struct fid_mc *mc;
	bool joined, waits;	/* waits: a barrier is in progress */
	int good;		/* barriers in this group */
};

static void member_leave(struct cworld *cw, int i, struct member *me)
{
	struct comp c;

	assert_int_equal(fi_close(&me->mc->fid), 0);
	while (me->waits) {	/* the barrier ends with its group */
		node_wait(&cw->w, &cw->w.node[i], &c);
		me->waits = false;
	}
	*me = (struct member) { 0 };
}

static void member_event(struct cworld *cw, int i, struct member *me)
{
	struct fi_eq_err_entry bad = { 0 };
	struct fi_eq_entry entry;
	uint32_t event;
	ssize_t ret = fi_eq_read(cw->eq[i], &event, &entry, sizeof(entry), 0);

	if (ret == sizeof(entry)) {
		assert_true(entry.fid == &me->mc->fid && !me->joined);
		me->joined = true;
	} else if (ret == -FI_EAVAIL) {
		assert_int_equal(fi_eq_readerr(cw->eq[i], &bad, 0), sizeof(bad));
		assert_true(bad.fid == &me->mc->fid && !me->joined);
		member_leave(cw, i, me);
	}
}

static void member_step(struct cworld *cw, int i, struct member *me)
{
	struct node *n = &cw->w.node[i];
	struct comp c;

	if (!me->mc)
		me->mc = start_join(cw, i, NULL, cw->w.cnt, FI_ADDR_NOTAVAIL);
	else if (!me->joined)
		member_event(cw, i, me);
	else if (!me->waits)
		me->waits = !fi_barrier(n->ep, fi_mc_addr(me->mc), me);
	else if (node_read(n, &c)) {
		assert_ptr_equal(c.e.op_context, me);
		me->waits = false;
		me->good++;
		if (c.err)
			member_leave(cw, i, me);
	}
}

/* While connections break anything may fail; afterwards all members must join a working group.
 * Two members only: see "Ambiguities" in the README.
 */
static void rejoin_seed(uint64_t seed)
{
	struct member me[NODES_MAX] = { { 0 } };
	struct sim_conf conf = sim_rough;
	int n = 2, i, turn, works = 0;
	struct cworld cw;

	conf.delay = (unsigned) (seed * 7 % 20);
	cworld_open(&cw, n, seed, &conf);
	for (turn = 0; works < n && turn < 300000; turn++) {
		i = (int) sim_rnd((uint64_t) n);
		member_step(&cw, i, &me[i]);
		if (sim_rnd(3) == 0)
			fi_cq_read(cw.w.node[sim_rnd((uint64_t) n)].cq, NULL, 0);
		if (turn < 3000 && sim_rnd(50) == 0)
			sim_break(PORT(sim_rnd((uint64_t) n)), PORT(sim_rnd((uint64_t) n)));
		for (works = i = 0; turn > 3000 && i < n; i++)
			works += me[i].good >= ENOUGH;
	}
	if (works < n)
		fail_msg("seed %llu: %d of %d members have no working group",
			 (unsigned long long) seed, n - works, n);
	for (i = 0; i < n; i++)
		if (me[i].mc)
			member_leave(&cw, i, &me[i]);
	cworld_close(&cw);
}

static void test_rejoin(void **state)
{
	uint64_t seed;

	for (seed = first_seed; seed < first_seed + seeds; seed++)
		rejoin_seed(seed);
}

static void test_calm(void **state) { run(false); }
static void test_faults(void **state) { run(true); }

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calm),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_rejoin),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 0);
	seeds = argc > 2 ? (unsigned) atoi(argv[2]) : argc > 1 ? 1 : seeds;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
