/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * plan_tree.c - barrier, and operations with a root that reduce nothing.
 *
 * Trees are binomial over the virtual rank v = rank - root mod n: the parent of v is v without
 * its lowest bit, and v represents the virtual ranks v to v + size - 1, where size is that bit
 * (or what is left of n).
 */
#include "coll/plan.h"

static inline uint32_t virtual_rank(const struct coll_task *t)
{
	return (t->rank + t->n - t->root) % t->n;
}

static inline uint32_t real_rank(const struct coll_task *t, uint32_t v)
{
	return (uint32_t) (((uint64_t) v + t->root) % t->n);
}

/* The lowest bit of @v; for the root the first power of two that is at least n. */
static inline uint64_t low_bit(uint32_t v, uint32_t n)
{
	uint64_t bit = 1;

	while (bit < n && !(v & bit))
		bit <<= 1;
	return bit;
}

/* Number of virtual ranks that the child at @v + @bit represents. */
static inline size_t child_span(uint32_t n, uint64_t v, uint64_t bit)
{
	return (size_t) (v + bit < n ? bit : n - v);
}

/* Dissemination: in round k each member receives from the member 2^k before it. */
void coll_barrier(struct coll_plan *p, const struct coll_task *t)
{
	uint64_t dist;

	for (dist = 1; dist < t->n; dist <<= 1) {
		coll_plan_wait(p);
		coll_plan_send(p, (uint32_t) ((t->rank + dist) % t->n), coll_in(0), 0);
		coll_plan_recv(p, (uint32_t) ((t->rank + t->n - dist) % t->n), coll_in(0), 0);
	}
}

/* ---- trees ------------------------------------------------------------------- */

void coll_broadcast_tree(struct coll_plan *p, const struct coll_task *t, struct coll_at at)
{
	uint32_t v = virtual_rank(t);
	uint64_t low = low_bit(v, t->n), bit;
	size_t len = t->count * t->size;

	if (v)
		coll_plan_recv(p, real_rank(t, v - (uint32_t) low), at, len);
	coll_plan_wait(p);
	/* The child with the largest subtree first. */
	for (bit = low >> 1; bit; bit >>= 1)
		if (v + bit < t->n)
			coll_plan_send(p, real_rank(t, v + (uint32_t) bit), at, len);
}

/* The same tree in the opposite direction, without data. */
void coll_report_tree(struct coll_plan *p, const struct coll_task *t)
{
	uint32_t v = virtual_rank(t);
	uint64_t low = low_bit(v, t->n), bit;

	for (bit = 1; bit < low; bit <<= 1)
		if (v + bit < t->n)
			coll_plan_recv(p, real_rank(t, v + (uint32_t) bit), coll_tmp(0), 0);
	coll_plan_wait(p);
	if (v)
		coll_plan_send(p, real_rank(t, v - (uint32_t) low), coll_tmp(0), 0);
}

/* Long data is split into parts of @part bytes, of which the last ones may be shorter: each
 * member gets one part through the tree, then all parts pass around a ring.
 */
static size_t part_start(size_t len, size_t part, uint64_t i)
{
	return i * part < len ? (size_t) i * part : len;
}

static void broadcast_long(struct coll_plan *p, const struct coll_task *t)
{
	size_t len = t->count * t->size, part = (len + t->n - 1) / t->n;
	uint32_t v = virtual_rank(t), i, give, take;
	uint64_t low = low_bit(v, t->n), bit;

	if (v)
		coll_plan_recv(p, real_rank(t, v - (uint32_t) low), coll_in(part_start(len, part, v)),
			       part_start(len, part, v + child_span(t->n, v, low)) - part_start(len, part, v));
	coll_plan_wait(p);
	for (bit = low >> 1; bit; bit >>= 1)
		if (v + bit < t->n)
			coll_plan_send(p, real_rank(t, v + (uint32_t) bit),
				       coll_in(part_start(len, part, v + bit)),
				       part_start(len, part, v + bit + child_span(t->n, v + bit, bit)) -
				       part_start(len, part, v + bit));
	for (i = 0; i + 1 < t->n; i++) {
		give = (v + t->n - i) % t->n;
		take = (give + t->n - 1) % t->n;
		coll_plan_wait(p);
		coll_plan_send(p, real_rank(t, (v + 1) % t->n), coll_in(part_start(len, part, give)),
			       part_start(len, part, give + 1ull) - part_start(len, part, give));
		coll_plan_recv(p, real_rank(t, (v + t->n - 1) % t->n),
			       coll_in(part_start(len, part, take)),
			       part_start(len, part, take + 1ull) - part_start(len, part, take));
	}
}

void coll_broadcast(struct coll_plan *p, const struct coll_task *t)
{
	if (t->n > 4 && t->count * t->size / t->n >= t->long_len)
		broadcast_long(p, t);
	else
		coll_broadcast_tree(p, t, coll_in(0));
}

/* ---- gather ------------------------------------------------------------------- */

static void gather_direct(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	uint32_t i;

	if (t->rank != t->root) {
		coll_plan_send(p, t->root, coll_in(0), len);
		return;
	}
	coll_plan_copy(p, coll_out(t->rank * len), coll_in(0), len);
	for (i = 1; i < t->n; i++)
		coll_plan_recv(p, real_rank(t, i), coll_out(real_rank(t, i) * len), len);
}

/* Parts are in the order of virtual ranks; the root rotates the list. */
static void gather_tree(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	uint32_t v = virtual_rank(t);
	uint64_t low = low_bit(v, t->n), bit;
	size_t mine = child_span(t->n, v, low), join_no = (t->n - t->root) * len;
	struct coll_at at = !v && !t->root ? coll_out(0) : coll_tmp(0);

	if (mine == 1 && v) {
		coll_plan_send(p, real_rank(t, v - (uint32_t) low), coll_in(0), len);
		return;
	}
	if (at.buf == COLL_TMP)
		p->tmp = mine * len;
	coll_plan_copy(p, at, coll_in(0), len);
	for (bit = 1; bit < low; bit <<= 1)
		if (v + bit < t->n)
			coll_plan_recv(p, real_rank(t, v + (uint32_t) bit),
				       coll_plus(at, (size_t) bit * len),
				       child_span(t->n, v + bit, bit) * len);
	coll_plan_wait(p);
	if (v) {
		coll_plan_send(p, real_rank(t, v - (uint32_t) low), at, mine * len);
	} else if (t->root) {
		coll_plan_copy(p, coll_out(t->root * len), at, join_no);
		coll_plan_copy(p, coll_out(0), coll_plus(at, join_no), t->root * len);
	}
}

void coll_gather(struct coll_plan *p, const struct coll_task *t)
{
	size_t len = t->count * t->size;

	if (len >= t->long_len)
		gather_direct(p, t, len);
	else
		gather_tree(p, t, len);
}

/* ---- scatter ------------------------------------------------------------------ */

static void scatter_direct(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	uint32_t i;

	if (t->rank != t->root) {
		coll_plan_recv(p, t->root, coll_out(0), len);
		return;
	}
	for (i = 1; i < t->n; i++)
		coll_plan_send(p, real_rank(t, i), coll_in(real_rank(t, i) * len), len);
	/* The result may be inside the buffer that is still being sent, at the root's own part. */
	coll_plan_copy(p, coll_out(0), coll_in(t->rank * len), len);
}

static void scatter_tree(struct coll_plan *p, const struct coll_task *t, size_t len)
{
	uint32_t v = virtual_rank(t);
	uint64_t low = low_bit(v, t->n), bit;
	size_t mine = child_span(t->n, v, low), join_no = (t->n - t->root) * len;
	struct coll_at at = !v && !t->root ? coll_in(0) : coll_tmp(0);

	if (mine == 1 && v) {
		coll_plan_recv(p, real_rank(t, v - (uint32_t) low), coll_out(0), len);
		return;
	}
	if (at.buf == COLL_TMP)
		p->tmp = mine * len;
	if (v) {
		coll_plan_recv(p, real_rank(t, v - (uint32_t) low), at, mine * len);
	} else if (t->root) {
		coll_plan_copy(p, at, coll_in(t->root * len), join_no);
		coll_plan_copy(p, coll_plus(at, join_no), coll_in(0), t->root * len);
	}
	coll_plan_wait(p);
	for (bit = low >> 1; bit; bit >>= 1)
		if (v + bit < t->n)
			coll_plan_send(p, real_rank(t, v + (uint32_t) bit),
				       coll_plus(at, (size_t) bit * len),
				       child_span(t->n, v + bit, bit) * len);
	coll_plan_copy(p, coll_out(0), at, len);
}

void coll_scatter(struct coll_plan *p, const struct coll_task *t)
{
	size_t len = t->count * t->size;

	if (len >= t->long_len)
		scatter_direct(p, t, len);
	else
		scatter_tree(p, t, len);
}
