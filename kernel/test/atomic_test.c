// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * atomic_test.c - atomic operations, between connected and unconnected endpoints.
 */
#include <linux/mm.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"
#include "model.h"

#define CAPS	(FI_MSG | FI_ATOMIC)
#define CNT	5		/* elements of a call */
#define ALL	(FI_REMOTE_READ | FI_REMOTE_WRITE)

static enum fi_ep_type type;

/* ---- calls ---- */

/* What a case works on; each array has a page. */
struct work {
	struct pair	p;
	struct region	r;
	u8		*far, *was, *a, *c, *old;
};

static int work_open(struct test *t, struct work *w, u64 access)
{
	int ret;

	memset(w, 0, sizeof(*w));
	w->far = kzalloc(5 * PAGE_SIZE, GFP_KERNEL);
	if (!w->far)
		return -FI_ENOMEM;
	w->was = w->far + PAGE_SIZE;
	w->a = w->was + PAGE_SIZE;
	w->c = w->a + PAGE_SIZE;
	w->old = w->c + PAGE_SIZE;
	ret = pair_open(t, &w->p, type, CAPS);
	return ret ? ret : region_open(&w->p.b, w->far, PAGE_SIZE, access, &w->r);
}

static void work_close(struct work *w)
{
	if (w->r.mr)
		fi_close(&w->r.mr->fid);
	pair_close(&w->p);
	kfree(w->far);
}

static ssize_t call(struct work *w, enum form form, size_t cnt, size_t off, enum fi_datatype t,
		    enum fi_op op)
{
	u64 addr = w->r.addr + off, key = fi_mr_key(w->r.mr);
	struct side *s = &w->p.a;

	if (form == BASE)
		return fi_atomic(s->ep, w->a, cnt, NULL, s->peer, addr, key, t, op, w);
	if (form == FETCH)
		return fi_fetch_atomic(s->ep, w->a, cnt, NULL, w->old, NULL, s->peer, addr, key, t,
				       op, w);
	return fi_compare_atomic(s->ep, w->a, cnt, NULL, w->c, NULL, w->old, NULL, s->peer, addr,
				 key, t, op, w);
}

static int valid(struct work *w, enum form form, enum fi_datatype t, enum fi_op op, size_t *cnt)
{
	struct fid_ep *ep = w->p.a.ep;

	return form == BASE ? fi_atomicvalid(ep, t, op, cnt) :
	       form == FETCH ? fi_fetch_atomicvalid(ep, t, op, cnt) :
			       fi_compare_atomicvalid(ep, t, op, cnt);
}

static u64 flags_of(enum form form)
{
	return form == BASE ? FI_WRITE | FI_ATOMIC : FI_READ | FI_ATOMIC;
}

/* Values that lie on edges, and some that equal one another. */
static void values(struct work *w, u32 round)
{
	static const u8 edge[] = { 0x00, 0xff, 0x80, 0x7f, 0x01, 0xfe };
	u32 i;

	for (i = 0; i < CNT * 8 + 8; i++) {
		w->far[i] = edge[(i + round) % 6] + (i % 3 == 1 ? i * round : 0);
		w->a[i] = edge[(i / 2 + round) % 6] ^ (i % 5 == 2 ? i : 0);
		w->c[i] = round % 3 ? w->far[i] : edge[(i + 2 * round) % 6];
	}
	memcpy(w->was, w->far, PAGE_SIZE);
	memset(w->old, 0xee, 128);
}

/* A plain one may complete before it is done: a read behind it is not. */
static int settle(struct work *w)
{
	struct fi_cq_tagged_entry e;
	struct side *s = &w->p.a;
	ssize_t ret;

	ret = fi_fetch_atomic(s->ep, NULL, 1, NULL, w->old + 512, NULL, s->peer, w->r.addr,
			      fi_mr_key(w->r.mr), FI_UINT64, FI_ATOMIC_READ, NULL);
	return ret ? ret : wait_comp(s->tx, &e);
}

static int right(struct work *w, enum form form, size_t cnt, size_t off, enum fi_datatype t,
		 enum fi_op op)
{
	size_t i, at, size = model_size(t);
	u64 was;

	for (i = 0; i < cnt; i++) {
		at = i * size;
		was = model_get(t, w->was + off + at);
		if (model_get(t, w->far + off + at) !=
		    model(t, op, was, model_get(t, w->a + at), model_get(t, w->c + at)))
			return -1;
		if (form != BASE && model_get(t, w->old + at) != was)
			return -2;
	}
	if (memcmp(w->far, w->was, off) || w->far[off + cnt * size] != w->was[off + cnt * size])
		return -3;
	return form != BASE && w->old[cnt * size] != 0xee ? -4 : 0;
}

static void all(struct test *t)
{
	struct fi_cq_tagged_entry e;
	enum fi_datatype dt;
	unsigned int op, done = 0;
	struct work w;
	size_t cnt, n;
	int form, round, off;

	IS(t, work_open(t, &w, ALL), 0);
	for (form = 0; form < FORMS; form++) {
		for (dt = 0; dt < MODEL_TYPES; dt++) {
			for (op = 0; op <= MODEL_OPS; op++) {
				if (!model_has(form, dt, op)) {
					IS(t, valid(&w, form, dt, op, &n), -FI_EOPNOTSUPP);
					IS(t, call(&w, form, 1, 0, dt, op), -FI_EOPNOTSUPP);
					continue;
				}
				if (valid(&w, form, dt, op, &n))
					continue;	/* devices have less: counted below */
				cnt = min_t(size_t, CNT, n);
				for (round = 0; round < 6; round++) {
					values(&w, round);
					off = n == 1 ? 8 : round == 5 ? 3 : model_size(dt);
					IS(t, call(&w, form, cnt, off, dt, op), 0);
					IS(t, wait_comp(w.p.a.tx, &e), 0);
					NEED(t, e.op_context == &w && e.flags == flags_of(form), e.flags);
					IS(t, form == BASE ? settle(&w) : 0, 0);
					IS(t, right(&w, form, cnt, off, dt, op),
					   0);
				}
				done++;
			}
		}
	}
	/* 8 types: 12 plain, 13 with a result, 7 that compare; a device adds, or compares and swaps */
	IS(t, done, strcmp(t->args.prov, "verbs") ? 8 * (12 + 13 + 7) : 2 * 2);
out:
	work_close(&w);
}

/* Lists of three elements, in two pieces here and at the peer. */
struct lists {
	struct fi_ioc		near[2], cmp[2], res[2];
	struct fi_rma_ioc	far[2];
	struct fi_msg_atomic	msg;
	u32			*a, *c, *old, *at;
};

static void lists_fill(struct lists *l, struct work *w)
{
	u64 addr = w->r.addr, key = fi_mr_key(w->r.mr);

	l->a = (u32 *)w->a;
	l->c = (u32 *)w->c;
	l->old = (u32 *)w->old;
	l->at = (u32 *)w->far;
	l->a[0] = 1;
	l->a[1] = 2;
	l->a[10] = 3;
	l->near[0] = (struct fi_ioc){ l->a, 2 };
	l->near[1] = (struct fi_ioc){ l->a + 10, 1 };
	l->cmp[0] = (struct fi_ioc){ l->c, 1 };
	l->cmp[1] = (struct fi_ioc){ l->c + 7, 2 };
	l->res[0] = (struct fi_ioc){ l->old + 5, 2 };
	l->res[1] = (struct fi_ioc){ l->old, 1 };
	l->far[0] = (struct fi_rma_ioc){ addr + 400, 1, key };
	l->far[1] = (struct fi_rma_ioc){ addr + 800, 2, key };
	l->msg = (struct fi_msg_atomic){ .msg_iov = l->near, .iov_count = 2, .rma_iov = l->far,
					 .rma_iov_count = 2, .datatype = FI_UINT32, .op = FI_SUM,
					 .addr = w->p.a.peer };
}

static void vectors(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct lists l;
	struct side *s;
	struct work w;
	u64 addr, key;

	IS(t, work_open(t, &w, ALL), 0);
	lists_fill(&l, &w);
	s = &w.p.a;
	addr = w.r.addr;
	key = fi_mr_key(w.r.mr);
	IS(t, fi_atomicv(s->ep, l.near, NULL, 2, s->peer, addr, key, FI_UINT32, FI_SUM, NULL), 0);
	IS(t, wait_comp(s->tx, &e), 0);
	IS(t, fi_inject_atomic(s->ep, l.a, 2, s->peer, addr + 4, key, FI_UINT32, FI_SUM), 0);
	IS(t, fi_fetch_atomicv(s->ep, l.near, NULL, 2, l.res, NULL, 2, s->peer, addr, key, FI_UINT32,
			       FI_SUM, NULL), 0);
	IS(t, wait_comp(s->tx, &e), 0);
	NEED(t, l.old[5] == 1 && l.old[6] == 3 && l.old[0] == 5, l.old[6]);
	NEED(t, l.at[0] == 2 && l.at[1] == 5 && l.at[2] == 8, l.at[1]);
	l.c[0] = 2;
	l.c[7] = 0;
	l.c[8] = 8;
	IS(t, fi_compare_atomicv(s->ep, l.near, NULL, 2, l.cmp, NULL, 2, l.res, NULL, 2, s->peer, addr,
				 key, FI_UINT32, FI_CSWAP, NULL), 0);
	IS(t, wait_comp(s->tx, &e), 0);
	NEED(t, l.at[0] == 1 && l.at[1] == 5 && l.at[2] == 3 && l.old[0] == 8, l.at[2]);
out:
	work_close(&w);
}

static void messages(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct lists l;
	struct side *s;
	struct work w;

	IS(t, work_open(t, &w, ALL), 0);
	lists_fill(&l, &w);
	s = &w.p.a;
	IS(t, fi_atomicmsg(s->ep, &l.msg, FI_DELIVERY_COMPLETE), 0);
	IS(t, wait_comp(s->tx, &e), 0);
	NEED(t, l.at[100] == 1 && l.at[200] == 2 && l.at[201] == 3, l.at[200]);
	IS(t, fi_fetch_atomicmsg(s->ep, &l.msg, l.res, NULL, 2, FI_FETCH_ATOMIC), 0);
	IS(t, wait_comp(s->tx, &e), 0);
	NEED(t, l.old[5] == 1 && l.old[6] == 2 && l.old[0] == 3 && l.at[201] == 6, l.at[201]);
	l.c[0] = 2;
	l.c[7] = 0;
	l.c[8] = 8;
	l.msg.op = FI_CSWAP_NE;
	IS(t, fi_compare_atomicmsg(s->ep, &l.msg, l.cmp, NULL, 2, l.res, NULL, 2, 0), 0);
	IS(t, wait_comp(s->tx, &e), 0);
	NEED(t, l.at[100] == 2 && l.at[200] == 2 && l.at[201] == 3, l.at[200]);

	/* with data for the peer */
	l.msg.op = FI_SUM;
	l.msg.data = 0x77;
	IS(t, fi_atomicmsg(s->ep, &l.msg, FI_REMOTE_CQ_DATA), 0);
	IS(t, wait_comp(w.p.b.rx, &e), 0);
	NEED(t, e.data == 0x77 && e.len == 12 &&
	     e.flags == (FI_ATOMIC | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA), e.flags);
	IS(t, wait_comp(s->tx, &e), 0);
out:
	work_close(&w);
}

static void misuse(struct test *t)
{
	struct fi_atomic_attr attr = {};
	struct lists l;
	struct side *s;
	struct work w;

	IS(t, work_open(t, &w, ALL), 0);
	lists_fill(&l, &w);
	s = &w.p.a;
	IS(t, fi_query_atomic(s->domain, FI_INT64, FI_PROD, &attr, FI_FETCH_ATOMIC), 0);
	NEED(t, attr.size == 8 && attr.count == 512, attr.count);
	IS(t, fi_query_atomic(s->domain, FI_INT64, FI_CSWAP, &attr, 0), -FI_EOPNOTSUPP);
	IS(t, fi_query_atomic(s->domain, FI_DOUBLE, FI_SUM, &attr, 0), -FI_EOPNOTSUPP);
	IS(t, fi_query_atomic(s->domain, FI_INT64, FI_SUM, &attr, FI_TAGGED), -FI_EBADFLAGS);
	IS(t, fi_atomicmsg(s->ep, &l.msg, FI_BVEC), -FI_EBADFLAGS);
	l.near[1].count = 2;
	IS(t, fi_atomicmsg(s->ep, &l.msg, 0), -FI_EINVAL);
	l.near[1].count = 1;
	l.far[0].count = 1025;
	IS(t, fi_atomicmsg(s->ep, &l.msg, 0), -FI_EMSGSIZE);
	l.far[0].count = l.far[1].count = 0;
	IS(t, fi_atomicmsg(s->ep, &l.msg, 0), -FI_EINVAL);
	l.msg.rma_iov_count = 9;
	IS(t, fi_atomicmsg(s->ep, &l.msg, 0), -FI_EINVAL);
	IS(t, fi_inject_atomic(s->ep, l.a, 512, s->peer, w.r.addr, fi_mr_key(w.r.mr), FI_UINT32,
			       FI_SUM), -FI_EMSGSIZE);
out:
	work_close(&w);
}

/* The longest one, on a region of odd page lists: elements lie across pieces. */
static void pieces(struct test *t)
{
	struct bio_vec bvec[3] = {};
	struct fi_mr_attr attr = { .mr_bvec = bvec, .iov_count = 3, .requested_key = 78, .access = ALL };
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr = NULL;
	struct work w;
	struct side *s;
	int i, piece;
	size_t at = 0;

	IS(t, work_open(t, &w, ALL), 0);
	s = &w.p.a;
	for (i = 0; i < 3; i++) {
		bvec[i].bv_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		NEED(t, bvec[i].bv_page, i);
		bvec[i].bv_offset = 3 * i;
		bvec[i].bv_len = 1373;
	}
	IS(t, fi_mr_regattr(w.p.b.domain, &attr, FI_BVEC, &mr), 0);
	fill(w.a, PAGE_SIZE, 9);
	for (i = 0; i < 2; i++) {
		IS(t, fi_fetch_atomic(s->ep, w.a, 512, NULL, w.old, NULL, s->peer, 5, fi_mr_key(mr),
				      FI_UINT64, FI_BXOR, NULL), 0);
		IS(t, wait_comp(s->tx, &e), 0);
		IS(t, e.len, PAGE_SIZE);
		for (piece = 0, at = 0; piece < 3 && !i; piece++) {
			u8 *p = page_address(bvec[piece].bv_page) + bvec[piece].bv_offset;
			size_t skip = piece ? 0 : 5;
			size_t n = min_t(size_t, 1373 - skip, PAGE_SIZE - at);

			IS(t, memcmp(p + skip, w.a + at, n), 0);
			at += n;
		}
	}
	NEED(t, !memcmp(w.old, w.a, PAGE_SIZE), 0);
	NEED(t, !memchr_inv(page_address(bvec[0].bv_page), 0, PAGE_SIZE), 0);
out:
	if (mr)
		fi_close(&mr->fid);
	work_close(&w);
	for (i = 0; i < 3; i++)
		if (bvec[i].bv_page)
			__free_page(bvec[i].bv_page);
}

/* Many are in flight, from both sides at once, and none is lost or done twice. */
static void many(struct test *t)
{
	const int rounds = 100, burst = 40;
	struct fi_cq_tagged_entry e;
	struct region back = {};
	struct work w;
	u64 sum = 0, *one, *far;
	int i, j;

	IS(t, work_open(t, &w, ALL), 0);
	one = (u64 *)w.a;
	far = (u64 *)w.far;
	*one = 1;
	IS(t, region_open(&w.p.a, w.was, PAGE_SIZE, ALL, &back), 0);
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < burst; j++) {
			IS(t, fi_fetch_atomic(w.p.a.ep, one, 1, NULL, w.old + 8 * j, NULL, w.p.a.peer,
					      w.r.addr, fi_mr_key(w.r.mr), FI_UINT64, FI_SUM, NULL), 0);
			IS(t, fi_fetch_atomic(w.p.b.ep, one, 1, NULL, w.c + 8 * j, NULL, w.p.b.peer,
					      back.addr, fi_mr_key(back.mr), FI_UINT64, FI_SUM, NULL), 0);
		}
		for (j = 0; j < burst; j++) {
			IS(t, wait_comp(w.p.a.tx, &e), 0);
			IS(t, wait_comp(w.p.b.tx, &e), 0);
		}
		for (j = 0; j < burst; j++)
			sum += ((u64 *)w.old)[j];
	}
	IS(t, far[0], rounds * burst);
	IS(t, *(u64 *)w.was, rounds * burst);
	IS(t, sum, (u64)rounds * burst * (rounds * burst - 1) / 2);
out:
	if (back.mr)
		fi_close(&back.mr->fid);
	work_close(&w);
}

/* Each breach is an error at the initiator, and leaves the region as it was. */
static void denied(struct test *t)
{
	static const struct {
		long off;
		u64 key_xor, access;
		enum form form;
		enum fi_op op;
	} breach[] = {
		{ 0, 0x1000, ALL, FETCH, FI_SUM },
		{ PAGE_SIZE - 8, 0, ALL, FETCH, FI_SUM },
		{ -8, 0, ALL, FETCH, FI_SUM },
		{ 0, 0, FI_REMOTE_READ, FETCH, FI_SUM },
		{ 0, 0, FI_REMOTE_WRITE, FETCH, FI_SUM },
		{ 0, 0, FI_REMOTE_READ, COMPARE, FI_CSWAP },
		{ 0, 0, FI_REMOTE_WRITE, FETCH, FI_ATOMIC_READ },
	};
	struct fi_cq_tagged_entry e;
	struct fi_ioc near, res;
	struct fi_rma_ioc far;
	struct fi_msg_atomic msg = { .msg_iov = &near, .iov_count = 1, .rma_iov = &far,
				     .rma_iov_count = 1, .datatype = FI_UINT64 };
	struct work w;
	int i, ret;

	memset(&w, 0, sizeof(w));
	for (i = 0; i < ARRAY_SIZE(breach); i++) {
		IS(t, work_open(t, &w, breach[i].access), 0);
		memset(w.a, 'a', PAGE_SIZE);
		near = (struct fi_ioc){ w.a, 2 };
		res = (struct fi_ioc){ w.old, 2 };
		far = (struct fi_rma_ioc){ w.r.addr + breach[i].off, 2,
					   fi_mr_key(w.r.mr) ^ breach[i].key_xor };
		msg.op = breach[i].op;
		msg.addr = w.p.a.peer;
		ret = breach[i].form == FETCH ?
		      fi_fetch_atomicmsg(w.p.a.ep, &msg, &res, NULL, 1, 0) :
		      fi_compare_atomicmsg(w.p.a.ep, &msg, &near, NULL, 1, &res, NULL, 1, 0);
		IS(t, ret, 0);
		ret = wait_comp(w.p.a.tx, &e);
		NEED(t, ret < 0 && ret != -FI_ETIMEDOUT, ret);
		NEED(t, !memchr_inv(w.far, 0, PAGE_SIZE) && !memchr_inv(w.old, 0, 16), i);
		work_close(&w);
		memset(&w, 0, sizeof(w));
	}
out:
	work_close(&w);
}

/* The counters of @s are these; those of the initiator may have to be waited for. */
static int counters_are(struct side *s, u64 read, u64 write, u64 remote_read, u64 remote_write)
{
	const u64 want[ACCESS_CNT] = { read, write, remote_read, remote_write };
	int i;

	for (i = 0; i < ACCESS_CNT; i++)
		if (fi_cntr_wait(s->access[i], want[i], WAIT_MS) || fi_cntr_read(s->access[i]) != want[i])
			return i + 1;
	return fi_cntr_read(s->cntr) ? ACCESS_CNT + 1 : 0;
}

/* 3 plain ones, 4 with a result of which 2 only read, 5 that compare; then one that is refused. */
static void counted(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct side *a, *b;
	struct work w;
	int i, ret;

	IS(t, work_open(t, &w, ALL), 0);
	a = &w.p.a;
	b = &w.p.b;
	for (i = 0; i < 12; i++) {
		if (i < 3)
			ret = call(&w, BASE, 2, 0, FI_UINT32, FI_SUM);
		else if (i < 7)
			ret = call(&w, FETCH, 2, 0, FI_UINT32, i % 2 ? FI_SUM : FI_ATOMIC_READ);
		else
			ret = call(&w, COMPARE, 2, 0, FI_UINT32, FI_CSWAP);
		IS(t, ret, 0);
		IS(t, wait_comp(a->tx, &e), 0);
	}
	IS(t, fi_inject_atomic(a->ep, w.a, 2, a->peer, w.r.addr, fi_mr_key(w.r.mr), FI_UINT32,
			       FI_SUM), 0);
	IS(t, settle(&w), 0);
	IS(t, counters_are(a, 4 + 5 + 1, 3 + 1, 0, 0), 0);
	IS(t, counters_are(b, 0, 0, 4 + 5 + 1, 3 + 2 + 5 + 1), 0);
	IS(t, call(&w, FETCH, 1, PAGE_SIZE, FI_UINT64, FI_SUM), 0);
	ret = wait_comp(a->tx, &e);
	NEED(t, ret < 0 && ret != -FI_ETIMEDOUT, ret);
	IS(t, fi_cntr_readerr(a->access[ACCESS_READ]), 1);
	IS(t, fi_cntr_readerr(a->access[ACCESS_WRITE]), 0);
	IS(t, counters_are(a, 10, 4, 0, 0), 0);
	IS(t, counters_are(b, 0, 0, 10, 11), 0);
out:
	work_close(&w);
}

/* Opened, used and closed, again and again: some with atomics in flight. */
static void cycles(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct work w;
	int i, ret = 0;

	for (i = 0; i < test_cycles && !ret; i++) {
		ret = work_open(t, &w, ALL);
		if (!ret)
			ret = call(&w, i % FORMS, CNT, 0, FI_INT32, i % FORMS == COMPARE ? FI_CSWAP : FI_SUM);
		if (!ret)
			ret = wait_comp(w.p.a.tx, &e);
		if (!ret && i % 2)
			ret = call(&w, FETCH, 100, 8, FI_UINT64, FI_BXOR);
		work_close(&w);
	}
	IS(t, ret, 0);
	IS(t, i, test_cycles);
out:
	return;
}

/* An endpoint that was not opened for them. */
static void without(struct test *t)
{
	size_t cnt;
	struct pair p;
	u64 a = 1;

	IS(t, pair_open(t, &p, type, FI_MSG | FI_RMA), 0);
	IS(t, fi_atomic(p.a.ep, &a, 1, NULL, p.a.peer, 0, 1, FI_UINT64, FI_SUM, NULL), -FI_ENOSYS);
	IS(t, fi_atomicvalid(p.a.ep, FI_UINT64, FI_SUM, &cnt), -FI_ENOSYS);
out:
	pair_close(&p);
}

void test_atomic(struct test *t, enum fi_ep_type of)
{
	struct fi_info *info;
	bool device = !strcmp(t->args.prov, "verbs");

	type = of;
	if (info_get(t, of, CAPS, true, &info)) {
		test_skip(t, "atomics", "not offered here");
		return;
	}
	fi_freeinfo(info);
#define CASE(text, fn) test_case(t, of == FI_EP_MSG ? "MSG: " text : "RDM: " text, fn)
	CASE("atomics: every type and operation, against a model", all);
	CASE("atomics: without the capability", without);
	if (device)
		return;
	CASE("atomics: lists, injection", vectors);
	CASE("atomics: message forms, data for the peer", messages);
	CASE("atomics: queries, misuse", misuse);
	CASE("atomics: elements across pieces of a region", pieces);
	CASE("atomics: many at once, both ways", many);
	CASE("atomics: key, bounds and rights are checked", denied);
	CASE("atomics: counters of both sides", counted);
	CASE("atomics: cycles of open, use, close", cycles);
}
