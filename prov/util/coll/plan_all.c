/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * plan_all.c - allgather and alltoall.
 */
#include "coll/plan.h"

/* concurrent exchanges of a pairwise alltoall */
#define WINDOW 8

static inline uint32_t rank_ahead(const struct coll_task *t, uint64_t by)
{
	return (uint32_t) ((t->rank + by) % t->n);
}

static inline uint32_t rank_behind(const struct coll_task *t, uint64_t by)
{
	return (uint32_t) ((t->rank + t->n - by % t->n) % t->n);
}

/* ---- allgather ------------------------------------------------------------------ */

/* COLL_TMP holds the parts of rank, rank + 1, ...; each round doubles their number. */
static void allgather_bruck(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	size_t have, give, join_no = (t->n - t->rank) * len;

	p->tmp = t->n * len;
	coll_plan_copy(p, coll_tmp(0), coll_in(0), len);
	for (have = 1; have < t->n; have += give) {
		give = have < t->n - have ? have : t->n - have;
		coll_plan_wait(p);
		coll_plan_send(p, rank_behind(t, have), coll_tmp(0), give * len);
		coll_plan_recv(p, rank_ahead(t, have), coll_tmp(have * len), give * len);
	}
	coll_plan_copy(p, coll_out(t->rank * len), coll_tmp(0), join_no);
	coll_plan_copy(p, coll_out(0), coll_tmp(join_no), t->rank * len);
}

static void allgather_ring(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	uint32_t i;

	coll_plan_copy(p, coll_out(t->rank * len), coll_in(0), len);
	for (i = 0; i + 1 < t->n; i++) {
		coll_plan_wait(p);
		coll_plan_send(p, rank_ahead(t, 1), coll_out(rank_behind(t, i) * len), len);
		coll_plan_recv(p, rank_behind(t, 1), coll_out(rank_behind(t, i + 1ull) * len), len);
	}
}

void coll_allgather(struct coll_plan *p, const struct coll_task *t)
{
	size_t len = t->count * t->size;

	if (len >= t->long_len)
		allgather_ring(p, t, len);
	else
		allgather_bruck(p, t, len);
}

/* ---- alltoall ------------------------------------------------------------------- */

/* Copies the parts whose number has @bit between the list and a contiguous buffer. */
static void pack_parts(struct coll_plan *p, const struct coll_task *t, size_t len, uint64_t bit,
		       struct coll_at dense, bool out)
{
	uint64_t i, run;

	for (i = bit; i < t->n; i += 2 * bit) {
		run = i + bit < t->n ? bit : t->n - i;
		if (out)
			coll_plan_copy(p, dense, coll_tmp((size_t) i * len), (size_t) run * len);
		else
			coll_plan_copy(p, coll_tmp((size_t) i * len), dense, (size_t) run * len);
		dense.off += (size_t) run * len;
	}
}

static size_t with_bit(uint64_t n, uint64_t bit)
{
	uint64_t rest = n % (2 * bit);

	return (size_t) (n / (2 * bit) * bit + (rest > bit ? rest - bit : 0));
}

/* Part i has to move i members ahead.  In the round of each bit of i it moves that far,
 * together with all other parts that have the bit.
 */
static void alltoall_bruck(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	size_t join_no = (t->n - t->rank) * len, cnt, half = 0;
	struct coll_at give = coll_tmp(t->n * len), take;
	uint64_t bit;
	uint32_t i;

	for (bit = 1; bit < t->n; bit <<= 1)
		if (with_bit(t->n, bit) > half)
			half = with_bit(t->n, bit);
	take = coll_plus(give, half * len);
	p->tmp = (t->n + 2 * half) * len;
	coll_plan_copy(p, coll_tmp(0), coll_in(t->rank * len), join_no);
	coll_plan_copy(p, coll_tmp(join_no), coll_in(0), t->rank * len);
	for (bit = 1; bit < t->n; bit <<= 1) {
		cnt = with_bit(t->n, bit);
		pack_parts(p, t, len, bit, give, true);
		coll_plan_wait(p);
		coll_plan_send(p, rank_ahead(t, bit), give, cnt * len);
		coll_plan_recv(p, rank_behind(t, bit), take, cnt * len);
		pack_parts(p, t, len, bit, take, false);
	}
	for (i = 0; i < t->n; i++)
		coll_plan_copy(p, coll_out(rank_behind(t, i) * len), coll_tmp(i * len), len);
}

static void alltoall_pairs(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	uint32_t i;

	coll_plan_copy(p, coll_out(t->rank * len), coll_in(t->rank * len), len);
	for (i = 1; i < t->n; i++) {
		if (i % WINDOW == 0)
			coll_plan_wait(p);
		coll_plan_recv(p, rank_behind(t, i), coll_out(rank_behind(t, i) * len), len);
		coll_plan_send(p, rank_ahead(t, i), coll_in(rank_ahead(t, i) * len), len);
	}
}

void coll_alltoall(struct coll_plan *p, const struct coll_task *t)
{
	size_t len = t->count * t->size;

	/* Bruck sends each part log n / 2 times. */
	if (len >= t->long_len / 32 || t->n < 4)
		alltoall_pairs(p, t, len);
	else
		alltoall_bruck(p, t, len);
}
