/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * plan_reduce.c - reduce, allreduce and reduce-scatter.
 *
 * Operations are treated as associative and commutative; floating point results may differ in
 * rounding and in the sign of zero.  Where several members compute the same value, all do so
 * with the same order of operands, so that the results of an allreduce are identical.
 *
 * Folding.  The doubling algorithms need a power of two of members: of the first 2 * rest
 * members each even one gives its data to the next, which represents both.  The remaining
 * members are renumbered; number j represents the members first(j) to first(j + 1) - 1.
 */
#include "coll/plan.h"

struct fold {
	uint32_t pow;		/* remaining members: a power of two */
	uint32_t rest;		/* pairs at the front */
	uint32_t me;		/* our new number */
	bool gone;		/* we gave our data to the next member and only get the result */
};

static struct fold fold_of(const struct coll_task *t)
{
	struct fold f = { .pow = 1 };

	while (f.pow <= t->n / 2)
		f.pow *= 2;
	f.rest = t->n - f.pow;
	f.gone = t->rank < 2 * f.rest && !(t->rank & 1);
	f.me = t->rank < 2 * f.rest ? t->rank / 2 : t->rank - f.rest;
	return f;
}

static inline uint32_t fold_rank(const struct fold *f, uint32_t j)
{
	return j < f->rest ? 2 * j + 1 : j + f->rest;
}

/* First member that number @j represents. */
static inline uint32_t fold_first(const struct fold *f, uint32_t j)
{
	return j < f->rest ? 2 * j : j + f->rest;
}

/* The odd member of a pair reduces the even one's data into @acc, which holds its own. */
static void fold_in(struct coll_plan *p, const struct coll_task *t, const struct fold *f,
		    struct coll_at acc, struct coll_at spare, size_t len)
{
	if (f->gone) {
		coll_plan_send(p, t->rank + 1, coll_in(0), len);
	} else if (t->rank < 2 * f->rest) {
		coll_plan_wait(p);
		coll_plan_recv(p, t->rank - 1, spare, len);
		coll_plan_reduce(p, acc, spare, len);
	}
}

/* ---- reduce --------------------------------------------------------------------- */

void coll_reduce(struct coll_plan *p, const struct coll_task *t)
{
	uint32_t v = (t->rank + t->n - t->root) % t->n, parent;
	size_t len = t->count * t->size;
	struct coll_at acc = v ? coll_tmp(0) : coll_out(0);
	struct coll_at spare = v ? coll_tmp(len) : coll_tmp(0);
	uint64_t bit;
	bool mine = false;

	for (bit = 1; bit < t->n && !(v & bit); bit <<= 1) {
		if (v + bit >= t->n)
			continue;
		if (!mine)
			coll_plan_copy(p, acc, coll_in(0), len);
		mine = true;
		p->tmp = v ? 2 * len : len;
		coll_plan_wait(p);
		coll_plan_recv(p, (uint32_t) ((v + bit + t->root) % t->n), spare, len);
		coll_plan_reduce(p, acc, spare, len);
	}
	parent = (uint32_t) ((v - (v & bit) + (uint64_t) t->root) % t->n);
	coll_plan_wait(p);
	if (v)
		coll_plan_send(p, parent, mine ? acc : coll_in(0), len);
	else if (!mine)
		coll_plan_copy(p, acc, coll_in(0), len);
}

/* ---- halving and doubling --------------------------------------------------------- */

/* A list in pow pieces: piece j begins at begin(f, t, j). */
typedef size_t (*begin_fn)(const struct fold *f, const struct coll_task *t, uint32_t j);

/* Pieces are the parts of the members. */
static size_t begin_of_parts(const struct fold *f, const struct coll_task *t, uint32_t j)
{
	return j == f->pow ? t->n * t->count * t->size :
	       fold_first(f, j) * t->count * t->size;
}

/* Pieces have nearly equal numbers of values. */
static size_t begin_of_values(const struct fold *f, const struct coll_task *t, uint32_t j)
{
	size_t each = t->count / f->pow, more = t->count % f->pow;

	return (j * each + (j < more ? j : more)) * t->size;
}

/* Recursive halving: afterwards piece f->me of @acc is reduced over all members.  In each round
 * the partner reduces the other half of what is left.
 */
static void halve_parts(struct coll_plan *p, const struct coll_task *t, const struct fold *f,
			begin_fn begin, struct coll_at acc, struct coll_at spare)
{
	uint32_t half, low = 0, mid, give, take, peer;
	size_t at, len;

	for (half = f->pow / 2; half; half /= 2) {
		mid = low + half;
		peer = fold_rank(f, f->me ^ half);
		give = f->me & half ? low : mid;
		take = f->me & half ? mid : low;
		at = begin(f, t, give);
		coll_plan_wait(p);
		coll_plan_send(p, peer, coll_plus(acc, at), begin(f, t, give + half) - at);
		at = begin(f, t, take);
		len = begin(f, t, take + half) - at;
		coll_plan_recv(p, peer, spare, len);
		coll_plan_reduce(p, coll_plus(acc, at), spare, len);
		low = take;
	}
}

/* Recursive doubling: distribute the pieces to all. */
static void collect_parts(struct coll_plan *p, const struct coll_task *t, const struct fold *f,
			  begin_fn begin, struct coll_at acc)
{
	uint32_t half, mine, theirs, peer;
	size_t at, from;

	for (half = 1; half < f->pow; half *= 2) {
		peer = fold_rank(f, f->me ^ half);
		mine = f->me / half * half;
		theirs = mine ^ half;
		at = begin(f, t, mine);
		from = begin(f, t, theirs);
		coll_plan_wait(p);
		coll_plan_send(p, peer, coll_plus(acc, at), begin(f, t, mine + half) - at);
		coll_plan_recv(p, peer, coll_plus(acc, from),
			       begin(f, t, theirs + half) - from);
	}
}

/* ---- allreduce -------------------------------------------------------------------- */

/* Recursive doubling with whole lists.  The lower number's list is always the left operand, so
 * the result may be in either of two buffers.
 */
static struct coll_at double_up(struct coll_plan *p, const struct fold *f,
				struct coll_at acc, struct coll_at spare, size_t len)
{
	struct coll_at was;
	uint32_t dist, peer;

	for (dist = 1; dist < f->pow; dist *= 2) {
		peer = fold_rank(f, f->me ^ dist);
		coll_plan_wait(p);
		coll_plan_send(p, peer, acc, len);
		coll_plan_recv(p, peer, spare, len);
		if (f->me & dist) {
			was = acc;
			acc = spare;
			spare = was;
		}
		coll_plan_reduce(p, acc, spare, len);
	}
	return acc;
}

void coll_allreduce(struct coll_plan *p, const struct coll_task *t)
{
	size_t len = t->count * t->size;
	struct fold f = fold_of(t);
	struct coll_at sum = coll_out(0);

	p->tmp = t->n > 1 && !f.gone ? len : 0;
	if (!f.gone)
		coll_plan_copy(p, coll_out(0), coll_in(0), len);
	fold_in(p, t, &f, coll_out(0), coll_tmp(0), len);
	if (f.gone) {
		coll_plan_wait(p);
		coll_plan_recv(p, t->rank + 1, coll_out(0), len);
		return;
	}
	if (len >= t->long_len && t->count >= f.pow) {
		halve_parts(p, t, &f, begin_of_values, coll_out(0), coll_tmp(0));
		collect_parts(p, t, &f, begin_of_values, coll_out(0));
	} else {
		sum = double_up(p, &f, coll_out(0), coll_tmp(0), len);
		if (sum.buf != COLL_OUT)
			coll_plan_copy(p, coll_out(0), sum, len);
	}
	coll_plan_wait(p);
	if (t->rank < 2 * f.rest)
		coll_plan_send(p, t->rank - 1, coll_out(0), len);
}

/* ---- reduce-scatter ----------------------------------------------------------------- */

void coll_reduce_scatter(struct coll_plan *p, const struct coll_task *t)
{
	size_t part = t->count * t->size, len = t->n * part;
	struct coll_at acc = coll_tmp(0), spare = coll_tmp(len);
	struct fold f = fold_of(t);

	p->tmp = f.gone ? 0 : 2 * len;
	if (!f.gone)
		coll_plan_copy(p, acc, coll_in(0), len);
	fold_in(p, t, &f, acc, spare, len);
	if (f.gone) {
		coll_plan_wait(p);
		coll_plan_recv(p, t->rank + 1, coll_out(0), part);
		return;
	}
	halve_parts(p, t, &f, begin_of_parts, acc, spare);
	coll_plan_wait(p);
	if (t->rank < 2 * f.rest)
		coll_plan_send(p, t->rank - 1, coll_plus(acc, (t->rank - 1) * part), part);
	coll_plan_copy(p, coll_out(0), coll_plus(acc, t->rank * part), part);
}
