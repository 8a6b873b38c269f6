// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * atomic.c - atomic operations at their target: what there is, and how memory is changed.
 *
 * An element that is naturally aligned and lies in one piece of memory is changed by a
 * compare-and-swap of the processor; any other one under a lock that all of these share.
 */
#include <linux/atomic.h>
#include <linux/highmem.h>

#include "element.h"
#include "obj.h"

#define CHUNK	128	/* bytes that are worked on at once */
#define WIDEST	8

static const struct element_type types[] = { INTEGER_TYPES };

static DEFINE_SPINLOCK(split_lock);	/* elements that no instruction changes at once */

size_t kofi_atomic_size(enum kofi_op_type type, unsigned int datatype, unsigned int op)
{
	if (datatype >= ARRAY_SIZE(types) || op >= OP_CNT || !types[datatype].op[op] ||
	    !element_form_fits(op, type != KOFI_ATOMIC, type == KOFI_COMPARE))
		return 0;
	return types[datatype].size;
}
EXPORT_SYMBOL_GPL(kofi_atomic_size);

/* ---- one element ---- */

#define UPDATE(W)								\
static void update_##W(element_fn fn, W *dst, const void *a, const void *c, void *old)	\
{										\
	W was = READ_ONCE(*dst), now;						\
										\
	do {									\
		fn(&now, &was, a, c, 1);					\
	} while (!try_cmpxchg(dst, &was, now));					\
	memcpy(old, &was, sizeof(was));						\
}

UPDATE(u8)
UPDATE(u16)
UPDATE(u32)
UPDATE(u64)

static void update_element(element_fn fn, size_t size, void *dst, const void *a, const void *c, void *old)
{
	switch (size) {
	case 1:
		return update_u8(fn, dst, a, c, old);
	case 2:
		return update_u16(fn, dst, a, c, old);
	case 4:
		return update_u32(fn, dst, a, c, old);
	default:
		return update_u64(fn, dst, a, c, old);
	}
}

static void update_split(element_fn fn, size_t size, const struct kofi_segs *segs, size_t off,
			 const void *a, const void *c, void *old)
{
	u8 now[WIDEST];
	struct kvec new_iov = { now, size }, old_iov = { old, size };
	struct kofi_segs new_segs = { .cnt = 1, .len = size, .kvec = &new_iov };
	struct kofi_segs old_segs = { .cnt = 1, .len = size, .kvec = &old_iov };

	spin_lock_bh(&split_lock);
	kofi_segs_copy(&old_segs, 0, segs, off, size);
	fn(now, old, a, c, 1);
	kofi_segs_copy(segs, off, &new_segs, 0, size);
	spin_unlock_bh(&split_lock);
}

/* ---- elements in a list of pieces ---- */

/* The memory at @off, as far as it can be seen at once: *len_p bytes. Unmapped by segs_unmap(). */
static void *segs_map(const struct kofi_segs *segs, size_t off, size_t *len_p)
{
	const struct bio_vec *bvec = segs->bvec;
	const struct kvec *iov = segs->kvec;
	size_t at;

	if (!segs->is_bvec) {
		while (off >= iov->iov_len)
			off -= iov++->iov_len;
		*len_p = iov->iov_len - off;
		return iov->iov_base + off;
	}
	while (off >= bvec->bv_len)
		off -= bvec++->bv_len;
	at = bvec->bv_offset + off;
	*len_p = min_t(size_t, bvec->bv_len - off, PAGE_SIZE - offset_in_page(at));
	return kmap_local_page(bvec->bv_page + at / PAGE_SIZE) + offset_in_page(at);
}

static void segs_unmap(const struct kofi_segs *segs, const void *p)
{
	if (segs->is_bvec)
		kunmap_local(p);
}

/* Elements of @len bytes at @off, operands and old values being linear. */
static void elements_apply(element_fn fn, size_t size, const struct kofi_segs *segs, size_t off, size_t len,
			   const u8 *a, const u8 *c, u8 *old)
{
	size_t at, n, i;
	u8 *base;

	for (at = 0; at < len; at += n) {
		base = segs_map(segs, off + at, &n);
		n = IS_ALIGNED((unsigned long)base, size) ? round_down(min(n, len - at), size) : 0;
		for (i = 0; i < n; i += size)
			update_element(fn, size, base + i, a + at + i, c + at + i, old + at + i);
		segs_unmap(segs, base);
		if (!n) {
			n = size;
			update_split(fn, size, segs, off + at, a + at, c + at, old + at);
		}
	}
}

static void copy_in(u8 *out, const struct kofi_segs *segs, size_t off, size_t len)
{
	struct kvec iov = { out, len };
	struct kofi_segs dst = { .cnt = 1, .len = len, .kvec = &iov };

	if (segs && segs->len)
		kofi_segs_copy(&dst, 0, segs, off, len);
}

static void copy_out(const struct kofi_segs *segs, size_t off, u8 *from, size_t len)
{
	struct kvec iov = { from, len };
	struct kofi_segs src = { .cnt = 1, .len = len, .kvec = &iov };

	if (segs)
		kofi_segs_copy(segs, off, &src, 0, len);
}

/* ---- a whole operation ---- */

static uint64_t access_of(const struct kofi_atomic *atomic)
{
	if (atomic->type == KOFI_ATOMIC)
		return FI_REMOTE_WRITE;
	return atomic->op == FI_ATOMIC_READ ? FI_REMOTE_READ : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

static void range_apply(const struct kofi_atomic *atomic, struct kofi_mr *mr, size_t mr_off, size_t len,
			size_t off)
{
	const struct element_type *type = &types[atomic->datatype];
	u8 a[CHUNK] = {}, c[CHUNK] = {}, old[CHUNK];
	size_t at, n;

	for (at = 0; at < len; at += n) {
		n = min_t(size_t, len - at, CHUNK);
		copy_in(a, atomic->operand, off + at, n);
		copy_in(c, atomic->compare, off + at, n);
		elements_apply(type->op[atomic->op], type->size, &mr->segs, mr_off + at, n, a, c, old);
		copy_out(atomic->result, off + at, old, n);
	}
}

int kofi_atomic_serve(struct kofi_ep *ep, const struct kofi_atomic *atomic)
{
	struct kofi_mr *mr[KOFI_ATOMIC_RANGES];
	size_t at[KOFI_ATOMIC_RANGES], off = 0;
	u32 i, held;
	int ret = 0;

	for (held = 0; held < atomic->rma_cnt && !ret; held += !ret)
		ret = kofi_mr_get(ep->domain, atomic->rma[held].key, atomic->rma[held].addr,
				  atomic->rma[held].len, access_of(atomic), &mr[held], &at[held]);
	for (i = 0; i < held; i++) {
		if (!ret)
			range_apply(atomic, mr[i], at[i], atomic->rma[i].len, off);
		off += atomic->rma[i].len;
		kofi_mr_put(mr[i]);
	}
	if (ret)
		return ret;
	return kofi_remote_done(ep, FI_ATOMIC | access_of(atomic) | atomic->flags, off, atomic->data);
}
EXPORT_SYMBOL_GPL(kofi_atomic_serve);
