/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * plan_test - the plans of all members of a group, run together.
 *
 * The simulated network has no buffers: a message moves only when both steps have started, as
 * late as a random choice allows, directly from buffer to buffer.  So a plan that depends on
 * buffering hangs, and one that modifies data in flight computes a wrong result.  Every result
 * is compared with the definition of the operation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include "coll/plan.h"

#define N_MAX 33
#define XFERS_MAX 4096

static uint64_t rnd_state = 1;

static uint64_t rnd(void)
{
	rnd_state = rnd_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return rnd_state >> 20;
}

/* ---- a group --------------------------------------------------------------------- */

struct member {
	struct coll_plan plan;
	char *buf[COLL_BUFS];
	size_t room[COLL_BUFS];
	size_t next;			/* step to start */
	size_t active[XFERS_MAX];	/* steps that have started, in order */
	size_t active_cnt;
};

struct group {
	struct coll_task task;
	struct member m[N_MAX];
	bool fp;		/* values are doubles, else uint64_t */
	bool in_place;
	size_t messages;	/* most messages that one member sent */
};

static size_t room_of(const struct coll_task *t, enum coll_buf buf)
{
	size_t one = t->count * t->size, all = one * t->n;
	bool root = t->rank == t->root;

	switch (t->op) {
	case FI_BARRIER: return 0;
	case FI_BROADCAST: return buf == COLL_IN ? one : 0;
	case FI_ALLTOALL: return all;
	case FI_ALLREDUCE: return one;
	case FI_ALLGATHER: return buf == COLL_IN ? one : all;
	case FI_REDUCE_SCATTER: return buf == COLL_IN ? all : one;
	case FI_REDUCE: return buf == COLL_IN || root ? one : 0;
	case FI_SCATTER: return buf == COLL_OUT ? one : root ? all : 0;
	case FI_GATHER: return buf == COLL_IN ? one : root ? all : 0;
	default: return 0;
	}
}

/* The i-th value of the input of member @rank. */
static uint64_t value(const struct group *g, uint32_t rank, size_t i)
{
	uint64_t x = (rank + 1) * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(0xd1342543de82ef95);
	double d;

	x ^= x >> 29;
	if (!g->fp)
		return x;
	d = (double) (x >> 11) / 1e10 * (x & 1 ? 1 : -1);
	memcpy(&x, &d, sizeof(x));
	return x;
}

static void bring(struct group *g, struct member *m, uint32_t rank)
{
	size_t i;

	for (i = 0; i < m->room[COLL_IN] / 8; i++) {
		uint64_t v = g->task.op == FI_BROADCAST && rank != g->task.root ? 0 :
			     value(g, rank, i);
		memcpy(m->buf[COLL_IN] + i * 8, &v, 8);
	}
}

/* The position of the call's input in its result, when one buffer is used for both. */
static char *in_place(struct group *g, struct member *m, uint32_t rank)
{
	size_t one = g->task.count * 8;

	switch (g->task.op) {
	case FI_ALLREDUCE: return m->buf[COLL_OUT];
	case FI_REDUCE: return rank == g->task.root ? m->buf[COLL_OUT] : NULL;
	case FI_ALLGATHER: return m->buf[COLL_OUT] + rank * one;
	case FI_GATHER: return rank == g->task.root ? m->buf[COLL_OUT] + rank * one : NULL;
	default: return NULL;
	}
}

static void open_member(struct group *g, uint32_t rank)
{
	struct coll_task task = g->task;
	struct member *m = &g->m[rank];

	task.rank = rank;
	memset(m, 0, sizeof(*m));
	assert_int_equal(coll_plan_make(&m->plan, &task), 0);
	m->room[COLL_IN] = room_of(&task, COLL_IN);
	m->room[COLL_OUT] = room_of(&task, COLL_OUT);
	m->room[COLL_TMP] = m->plan.tmp;
	for (int b = 0; b < COLL_BUFS; b++)
		m->buf[b] = malloc(m->room[b] + 1);
	if (g->in_place && in_place(g, m, rank)) {
		free(m->buf[COLL_IN]);
		m->buf[COLL_IN] = in_place(g, m, rank);
	} else if (g->in_place && g->task.op == FI_SCATTER && rank == g->task.root) {
		free(m->buf[COLL_OUT]);
		m->buf[COLL_OUT] = m->buf[COLL_IN] + rank * g->task.count * 8;
	}
	bring(g, m, rank);
}

static void close_member(struct group *g, uint32_t rank)
{
	struct member *m = &g->m[rank];

	if (!g->in_place || !in_place(g, m, rank))
		free(m->buf[COLL_IN]);
	if (!g->in_place || g->task.op != FI_SCATTER || rank != g->task.root)
		free(m->buf[COLL_OUT]);
	free(m->buf[COLL_TMP]);
	coll_plan_free(&m->plan);
}

/* ---- running --------------------------------------------------------------------- */

static char *at(struct member *m, struct coll_at where, size_t len)
{
	if (len)
		assert_true(where.off + len <= m->room[where.buf]);
	return m->buf[where.buf] + where.off;
}

static void reduce(const struct group *g, char *dst, const char *src, size_t len)
{
	uint64_t a, b;
	double x, y;

	for (; len; len -= 8, dst += 8, src += 8) {
		memcpy(&a, dst, 8);
		memcpy(&b, src, 8);
		if (g->fp) {
			memcpy(&x, &a, 8);
			memcpy(&y, &b, 8);
			x += y;
			memcpy(dst, &x, 8);
		} else {
			a += b;
			memcpy(dst, &a, 8);
		}
	}
}

static bool can_start(const struct member *m)
{
	return m->next < m->plan.cnt && !(m->plan.steps[m->next].wait && m->active_cnt);
}

static void start(struct group *g, struct member *m)
{
	struct coll_step *s = &m->plan.steps[m->next];

	switch (s->kind) {
	case COLL_SEND:
		at(m, s->src, s->len);
		m->active[m->active_cnt++] = m->next;
		break;
	case COLL_RECV:
		at(m, s->dst, s->len);
		m->active[m->active_cnt++] = m->next;
		break;
	case COLL_COPY:
		memmove(at(m, s->dst, s->len), at(m, s->src, s->len), s->len);
		break;
	case COLL_REDUCE:
		reduce(g, at(m, s->dst, s->len), at(m, s->src, s->len), s->len);
		break;
	}
	assert_true(m->active_cnt < XFERS_MAX);
	m->next++;
}

static size_t find(const struct member *m, enum coll_kind kind, uint32_t peer)
{
	size_t i;

	for (i = 0; i < m->active_cnt; i++)
		if (m->plan.steps[m->active[i]].kind == kind &&
		    m->plan.steps[m->active[i]].peer == peer)
			return i;
	return SIZE_MAX;
}

static void end(struct member *m, size_t i)
{
	m->active_cnt--;
	memmove(&m->active[i], &m->active[i + 1], (m->active_cnt - i) * sizeof(m->active[0]));
}

/* Move one message that @rank sends, if any can move. */
static bool move(struct group *g, uint32_t rank)
{
	struct member *m = &g->m[rank], *to;
	struct coll_step *s, *r;
	size_t i, k, j, first = m->active_cnt ? rnd() % m->active_cnt : 0;

	for (k = 0; k < m->active_cnt; k++) {
		i = (first + k) % m->active_cnt;
		s = &m->plan.steps[m->active[i]];
		if (s->kind != COLL_SEND)
			continue;
		assert_true(s->peer < g->task.n && s->peer != rank);
		to = &g->m[s->peer];
		i = find(m, COLL_SEND, s->peer);
		s = &m->plan.steps[m->active[i]];
		j = find(to, COLL_RECV, rank);
		if (j == SIZE_MAX)
			continue;
		r = &to->plan.steps[to->active[j]];
		assert_int_equal(s->len, r->len);
		if (s->len)
			memmove(at(to, r->dst, r->len), at(m, s->src, s->len), s->len);
		end(m, i);
		end(to, j);
		return true;
	}
	return false;
}

static bool finished(const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->task.n; i++)
		if (g->m[i].next < g->m[i].plan.cnt || g->m[i].active_cnt)
			return false;
	return true;
}

static void run(struct group *g)
{
	unsigned idle = 0;
	uint32_t rank;
	bool any;

	while (idle < 64 * g->task.n) {
		rank = (uint32_t) (rnd() % g->task.n);
		if (rnd() & 1 && can_start(&g->m[rank])) {
			start(g, &g->m[rank]);
			idle = 0;
		} else if (move(g, rank)) {
			idle = 0;
		} else {
			idle++;
		}
	}
	/* the random choice may have missed a member */
	do {
		any = false;
		for (rank = 0; rank < g->task.n; rank++) {
			while (can_start(&g->m[rank])) {
				start(g, &g->m[rank]);
				any = true;
			}
			any |= move(g, rank);
		}
	} while (any);
	assert_true(finished(g));
}

/* ---- expected results ------------------------------------------------------------------ */

static uint64_t sum(const struct group *g, size_t i)
{
	uint64_t all = 0;
	uint32_t rank;

	for (rank = 0; rank < g->task.n; rank++)
		all += value(g, rank, i);
	return all;
}

/* The i-th value of the result of member @rank. */
static uint64_t right(const struct group *g, uint32_t rank, size_t i)
{
	size_t c = g->task.count;

	switch (g->task.op) {
	case FI_BROADCAST: return value(g, g->task.root, i);
	case FI_ALLTOALL: return value(g, (uint32_t) (i / c), rank * c + i % c);
	case FI_ALLREDUCE:
	case FI_REDUCE: return sum(g, i);
	case FI_REDUCE_SCATTER: return sum(g, rank * c + i);
	case FI_SCATTER: return value(g, g->task.root, rank * c + i);
	case FI_ALLGATHER:
	case FI_GATHER: return value(g, (uint32_t) (i / c), i % c);
	default: return 0;
	}
}

static void check(const struct group *g)
{
	enum coll_buf buf = g->task.op == FI_BROADCAST ? COLL_IN : COLL_OUT;
	uint64_t got;
	uint32_t rank;
	size_t i;

	for (rank = 0; rank < g->task.n; rank++) {
		const struct member *m = &g->m[rank];

		for (i = 0; i < m->room[buf] / 8; i++) {
			memcpy(&got, m->buf[buf] + i * 8, 8);
			if (g->fp)	/* any rounding, but the same at all members */
				assert_memory_equal(&got, g->m[0].buf[buf] + i * 8, 8);
			else if (got != right(g, rank, i))
				fail_msg("op %d n %u rank %u root %u count %zu long %zu: value %zu",
					 g->task.op, g->task.n, rank, g->task.root, g->task.count,
					 g->task.long_len, i);
		}
	}
}

static void count_messages(struct group *g)
{
	uint32_t rank;
	size_t i, cnt;

	g->messages = 0;
	for (rank = 0; rank < g->task.n; rank++) {
		for (i = cnt = 0; i < g->m[rank].plan.cnt; i++)
			cnt += g->m[rank].plan.steps[i].kind == COLL_SEND;
		if (cnt > g->messages)
			g->messages = cnt;
	}
}

static void one(struct group *g, enum fi_collective_op op, uint32_t n, uint32_t root,
		size_t count, size_t long_len)
{
	uint32_t rank;

	g->task = (struct coll_task) { .op = op, .n = n, .root = root, .count = count,
				       .size = 8, .long_len = long_len };
	for (rank = 0; rank < n; rank++)
		open_member(g, rank);
	run(g);
	check(g);
	count_messages(g);
	for (rank = 0; rank < n; rank++)
		close_member(g, rank);
}

/* ---- tests ----------------------------------------------------------------------- */

static const size_t longs[] = { 1, 64, SIZE_MAX / 2 };

static void sweep(enum fi_collective_op op, bool rooted, bool in_place)
{
	struct group *g = calloc(1, sizeof(*g));
	const size_t counts[] = { 0, 1, 3, 37 };
	uint32_t n, root;

	g->in_place = in_place;
	for (n = 1; n <= N_MAX; n++)
		for (size_t c = 0; c < 4; c++)
			for (size_t l = 0; l < 3; l++)
				for (root = 0; root < (rooted ? n : 1);
				     root += n < 10 ? 1 : 1 + (uint32_t) (rnd() % 12))
					one(g, op, n, root, counts[c], longs[l]);
	free(g);
}

static void test_barrier(void **state) { sweep(FI_BARRIER, false, false); }
static void test_broadcast(void **state) { sweep(FI_BROADCAST, true, false); }
static void test_alltoall(void **state) { sweep(FI_ALLTOALL, false, false); }
static void test_reduce_scatter(void **state) { sweep(FI_REDUCE_SCATTER, false, false); }

static void test_allreduce(void **state)
{
	sweep(FI_ALLREDUCE, false, false);
	sweep(FI_ALLREDUCE, false, true);
}

static void test_allgather(void **state)
{
	sweep(FI_ALLGATHER, false, false);
	sweep(FI_ALLGATHER, false, true);
}

static void test_reduce(void **state)
{
	sweep(FI_REDUCE, true, false);
	sweep(FI_REDUCE, true, true);
}

static void test_scatter(void **state)
{
	sweep(FI_SCATTER, true, false);
	sweep(FI_SCATTER, true, true);
}

static void test_gather(void **state)
{
	sweep(FI_GATHER, true, false);
	sweep(FI_GATHER, true, true);
}

/* Floating point: the order of operands does not matter, but the results are identical. */
static void test_allreduce_agrees(void **state)
{
	struct group *g = calloc(1, sizeof(*g));
	uint32_t n;

	g->fp = true;
	for (n = 1; n <= N_MAX; n++)
		for (size_t l = 0; l < 3; l++)
			one(g, FI_ALLREDUCE, n, 0, 40, longs[l]);
	free(g);
}

/* No member leaves a barrier before all have entered it. */
static void test_barrier_holds(void **state)
{
	struct group *g = calloc(1, sizeof(*g));
	uint32_t n, rank, late;
	bool any;

	for (n = 2; n <= N_MAX; n++) {
		g->task = (struct coll_task) { .op = FI_BARRIER, .n = n, .size = 1 };
		for (rank = 0; rank < n; rank++)
			open_member(g, rank);
		late = (uint32_t) (rnd() % n);
		do {
			any = false;
			for (rank = 0; rank < n; rank++) {
				while (rank != late && can_start(&g->m[rank])) {
					start(g, &g->m[rank]);
					any = true;
				}
				any |= move(g, rank);
			}
		} while (any);
		for (rank = 0; rank < n; rank++)
			assert_true(g->m[rank].next < g->m[rank].plan.cnt ||
				    g->m[rank].active_cnt);
		run(g);
		for (rank = 0; rank < n; rank++)
			close_member(g, rank);
	}
	free(g);
}

static unsigned log2_up(uint32_t n)
{
	unsigned log = 0;

	while (1u << log < n)
		log++;
	return log;
}

/* Short operations: no member sends more messages than the logarithm of the group size, plus
 * two where a group has to be folded.
 */
static void test_logarithmic(void **state)
{
	static const enum fi_collective_op ops[] = {
		FI_BARRIER, FI_BROADCAST, FI_ALLTOALL, FI_ALLREDUCE, FI_ALLGATHER,
		FI_REDUCE_SCATTER, FI_REDUCE, FI_SCATTER, FI_GATHER,
	};
	struct group *g = calloc(1, sizeof(*g));
	uint32_t n;

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		for (n = 2; n <= N_MAX; n++) {
			one(g, ops[i], n, n / 2, 1, 1 << 20);
			assert_true(g->messages <= log2_up(n) + 1);
		}
	free(g);
}

static void test_join(void **state)
{
	struct group *g = calloc(1, sizeof(*g));
	uint32_t n, rank;

	for (n = 1; n <= N_MAX; n++) {
		g->task = (struct coll_task) { .op = FI_BROADCAST, .n = n, .size = 8, .count = 1 };
		for (rank = 0; rank < n; rank++) {
			struct member *m = &g->m[rank];

			memset(m, 0, sizeof(*m));
			assert_int_equal(coll_plan_join(&m->plan, n, rank, 8), 0);
			m->room[COLL_OUT] = 8;
			m->buf[COLL_OUT] = calloc(1, 8);
			if (!rank)
				memcpy(m->buf[COLL_OUT], "the name", 8);
		}
		run(g);
		for (rank = 0; rank < n; rank++) {
			assert_memory_equal(g->m[rank].buf[COLL_OUT], "the name", 8);
			free(g->m[rank].buf[COLL_OUT]);
			coll_plan_free(&g->m[rank].plan);
		}
	}
	free(g);
}

/* A list is reused for several plans. */
static void test_again(void **state)
{
	struct coll_plan plan = { 0 };
	struct coll_task big = { .op = FI_ALLTOALL, .n = 500, .rank = 7, .count = 1000, .size = 8 };
	struct coll_task small = { .op = FI_BARRIER, .n = 4, .rank = 1 };
	struct coll_step *steps;

	assert_int_equal(coll_plan_make(&plan, &big), 0);
	steps = plan.steps;
	assert_true(plan.cnt > 900);
	assert_int_equal(coll_plan_make(&plan, &small), 0);
	assert_ptr_equal(plan.steps, steps);
	assert_int_equal(plan.cnt, 4);
	assert_int_equal(plan.tmp, 0);
	coll_plan_free(&plan);
	assert_null(plan.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_barrier_holds),
		cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_allreduce),
		cmocka_unit_test(test_allreduce_agrees),
		cmocka_unit_test(test_reduce_scatter),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_scatter),
		cmocka_unit_test(test_allgather),
		cmocka_unit_test(test_alltoall),
		cmocka_unit_test(test_logarithmic),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
