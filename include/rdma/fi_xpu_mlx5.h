/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_xpu_mlx5.h - queues of an mlx5 NIC that code of a device uses by itself: an extension of fi_xpu.h.
 *
 * Programs include fi_xpu_device.h, which uses this.  The device writes its request into the send
 * queue, where each takes one block of 64 bytes, tells the NIC by the doorbell record and the
 * register, and reads completions where the NIC writes them.  No thread of the host takes part.
 *
 * An index counts up for ever.  A thread reserves one by compare and swap, writes its request, and
 * marks it as written.  The thread that announces requests to the NIC announces all that are written
 * without a gap; one that finds another thread announcing leaves that to it, and waits for nothing.
 */
#ifndef FI_XPU_MLX5_H
#define FI_XPU_MLX5_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_xpu_ring.h>

/* The provider number of such a handle; the low half is the version of the layout. */
#define FI_XPU_MLX5_PROV	0x72790001u

/* ---- layout ---------------------------------------------------------------- */

/* What is remembered of a request or receive until its completion is read. */
struct fi_xpu_mlx5_slot {
	uint64_t ready;		/* index + 1, written last */
	uint64_t context;
	uint64_t flags;		/* of the completion */
	uint64_t wanted;	/* not 0: a success is reported */
	uint64_t buf;		/* where received, read or fetched data goes */
	uint64_t len;
	uint64_t result;	/* the NIC's, of an atomic that returns nothing */
	uint64_t reserved;
};

/* A send or receive queue.  Each word that threads write has a cache line. */
struct fi_xpu_mlx5_queue {
	uint64_t tail;		/* next index, and FI_XPU_RING_CLOSED */
	uint64_t pad0[7];
	uint64_t done;		/* what is before it is complete, and read */
	uint64_t pad1[7];
	uint64_t rung;		/* what is before it was announced to the NIC */
	uint64_t pad2[7];
	uint64_t ringing;	/* threads that want something announced */
	uint64_t pad3[7];
	uint64_t mask;		/* slots - 1 */
	uint64_t room;		/* requests at most */
	uint64_t stride;	/* bytes of a request */
	char *wqes;
	struct fi_xpu_mlx5_slot *slots;
	uint32_t *dbrec;
	uint64_t *reg;		/* the doorbell; receives have none: NULL */
	uint64_t always;	/* FI_COMPLETION: each success is reported */
};

/* What the handle of an endpoint points to; pointers are the device's. */
struct fi_xpu_mlx5_ep {
	struct fi_xpu_mlx5_queue sq, rq;
	const uint64_t *keys;	/* of regions, by place: generation << 32, local key */
	uint64_t key_cnt;
	uint64_t connected;	/* not 0: requests may be posted */
	uint64_t max_len;	/* of a message */
	uint64_t slots_at;	/* where the NIC sees the slots of @sq */
	uint32_t slots_key;	/* and their local key; 0: no atomics without a result */
	uint32_t qpn;
};

/* What the handle of a queue points to. */
struct fi_xpu_mlx5_cq {
	struct fid_xpu_cq ring;	/* what the library itself reports */
	struct fi_xpu_mlx5_ep *ep;
	char *cqes;
	uint64_t mask;		/* entries - 1 */
	uint64_t stride;	/* bytes; an entry is the last 64 of them */
	uint32_t *dbrec;
	uint64_t entry_size;	/* bytes of an entry as the program reads it */
	uint64_t reading;	/* not 0: a thread reads */
	uint64_t head;		/* index of the next entry; the reader's */
	uint16_t status[64];	/* prov_errno by the NIC's syndrome */
	uint16_t err[2][64];	/* err: of requests, of receives */
};

/* ---- the NIC's words --------------------------------------------------------- */

FI_XPU_RING_FUNC uint64_t fi_xpu_mlx5_be64(uint64_t v)
{
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return v;
#else
	v = (v & 0x00ff00ff00ff00ffull) << 8 | (v >> 8 & 0x00ff00ff00ff00ffull);
	v = (v & 0x0000ffff0000ffffull) << 16 | (v >> 16 & 0x0000ffff0000ffffull);
	return v << 32 | v >> 32;
#endif
}

FI_XPU_RING_FUNC uint32_t fi_xpu_mlx5_be32(uint32_t v)
{
	return (uint32_t) (fi_xpu_mlx5_be64(v) >> 32);
}

/* Orders all stores before it before those behind it, for the NIC. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_fence(void)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("fence.sc.sys;" : : : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
#elif defined(__x86_64__)
	__asm__ volatile("sfence" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb st" : : : "memory");
#else
	__sync_synchronize();
#endif
}

FI_XPU_RING_FUNC void fi_xpu_mlx5_store32(uint32_t *p, uint32_t v)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("st.release.sys.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
#else
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
#endif
}

/* Add v; returns what was there. */
FI_XPU_RING_FUNC uint64_t fi_xpu_mlx5_add(uint64_t *p, uint64_t v)
{
	uint64_t was = fi_xpu_ring_load(p);

	while (!fi_xpu_ring_swap(p, &was, was + v))
		;
	return was;
}

/* ---- announcing --------------------------------------------------------------- */

FI_XPU_RING_FUNC char *fi_xpu_mlx5_wqe(const struct fi_xpu_mlx5_queue *q, uint64_t at)
{
	return q->wqes + (at & q->mask) * q->stride;
}

/* The NIC learns of all that is written without a gap. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_announce(struct fi_xpu_mlx5_queue *q)
{
	uint64_t rung = fi_xpu_ring_load(&q->rung), at = rung, word;

	while (fi_xpu_ring_load(&q->slots[at & q->mask].ready) == at + 1)
		at++;
	if (at == rung)
		return;
	fi_xpu_mlx5_fence();
	fi_xpu_mlx5_store32(q->dbrec, fi_xpu_mlx5_be32((uint32_t) (at & 0xffff)));
	if (q->reg) {
		fi_xpu_ring_copy(&word, (const uint64_t *) (const void *) fi_xpu_mlx5_wqe(q, at - 1),
				 sizeof(word));
		fi_xpu_mlx5_fence();
		*(volatile uint64_t *) q->reg = word;
		fi_xpu_mlx5_fence();
	}
	fi_xpu_ring_store(&q->rung, at);
}

/* One thread announces; those that come meanwhile are counted, and it looks again for them. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_ring(struct fi_xpu_mlx5_queue *q)
{
	uint64_t seen = 1;

	if (fi_xpu_mlx5_add(&q->ringing, 1))
		return;
	do {
		fi_xpu_mlx5_announce(q);
		seen = fi_xpu_mlx5_add(&q->ringing, 0 - seen) - seen;
	} while (seen);
}

/* ---- building ------------------------------------------------------------------ */

/* A request as it is built: four segments of two words at most, the first of them for its control. */
struct fi_xpu_mlx5_build {
	uint64_t words[8];
	uint64_t segs;
	uint64_t op;		/* the NIC's number */
	uint64_t entry;		/* flags of the completion */
	uint64_t buf;		/* where the NIC's answer goes */
	uint64_t own_result;	/* not 0: into the slot */
};

/* The local key of a descriptor, whose region is still open. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_key(const struct fi_xpu_mlx5_ep *ep, uint64_t desc, uint32_t *key)
{
	uint64_t place = (uint32_t) desc, word;

	if (place >= ep->key_cnt || !(desc >> 32))
		return -FI_EINVAL;
	word = fi_xpu_ring_load(&ep->keys[place]);
	*key = (uint32_t) word;
	return word >> 32 == desc >> 32 ? 0 : -FI_EINVAL;
}

/* Where the NIC reads or writes; nothing, where there are no bytes. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_data(const struct fi_xpu_mlx5_ep *ep, struct fi_xpu_mlx5_build *b,
		uint64_t buf, uint64_t len, uint64_t desc)
{
	uint32_t key = 0;
	int ret;

	b->buf = buf;
	if (!len)
		return 0;
	ret = fi_xpu_mlx5_key(ep, desc, &key);
	b->words[b->segs * 2] = fi_xpu_mlx5_be64(len << 32 | key);
	b->words[b->segs * 2 + 1] = fi_xpu_mlx5_be64(buf);
	b->segs++;
	return ret;
}

/* The NIC adds to, and compares and swaps, one integer of 64 bits. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_amo(const struct fi_xpu_mlx5_ep *ep, struct fi_xpu_mlx5_build *b,
		const struct fi_xpu_ring_record *rec)
{
	uint64_t value = fi_xpu_ring_raw((const void *) (uintptr_t) rec->buf), compare = 0;

	if (rec->call == FI_XPU_RING_COMPARE)
		compare = fi_xpu_ring_raw((const void *) (uintptr_t) rec->compare);
	if (rec->op == FI_ATOMIC_READ)
		value = 0;
	b->op = rec->call == FI_XPU_RING_COMPARE ? 0x11 : 0x12;
	b->words[b->segs * 2] = fi_xpu_mlx5_be64(value);
	b->words[b->segs * 2 + 1] = fi_xpu_mlx5_be64(compare);
	b->segs++;
	if (rec->call != FI_XPU_RING_ATOMIC)
		return fi_xpu_mlx5_data(ep, b, rec->result, sizeof(value), rec->result_desc);
	b->own_result = 1;
	return ep->slots_key ? 0 : -FI_EOPNOTSUPP;
}

/* A write of an integer, within the request. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_amo_write(struct fi_xpu_mlx5_build *b,
		const struct fi_xpu_ring_record *rec)
{
	uint32_t len = fi_xpu_mlx5_be32(8 | 0x80000000u);
	char *at = (char *) &b->words[b->segs * 2];

	b->op = 0x08;
	b->words[b->segs * 2 + 1] = 0;
	__builtin_memcpy(at, &len, sizeof(len));
	__builtin_memcpy(at + sizeof(len), (const void *) (uintptr_t) rec->buf, 8);
	b->segs++;
	return 0;
}

FI_XPU_RING_FUNC int fi_xpu_mlx5_atomic(const struct fi_xpu_mlx5_ep *ep, struct fi_xpu_mlx5_build *b,
		const struct fi_xpu_ring_record *rec)
{
	int writes = rec->call == FI_XPU_RING_ATOMIC && rec->op == FI_ATOMIC_WRITE;
	int known = rec->call == FI_XPU_RING_COMPARE ? rec->op == FI_CSWAP : rec->op == FI_SUM ||
		    (rec->call == FI_XPU_RING_FETCH && rec->op == FI_ATOMIC_READ);

	b->entry = FI_ATOMIC | (rec->call == FI_XPU_RING_ATOMIC ? FI_WRITE : FI_READ);
	if ((rec->datatype != FI_INT64 && rec->datatype != FI_UINT64) || rec->len != 1 ||
	    (!writes && !known))
		return -FI_EOPNOTSUPP;
	return writes ? fi_xpu_mlx5_amo_write(b, rec) : fi_xpu_mlx5_amo(ep, b, rec);
}

/* Everything but the control segment. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_fill(const struct fi_xpu_mlx5_ep *ep, struct fi_xpu_mlx5_build *b,
		const struct fi_xpu_ring_record *rec)
{
	b->segs = 1;
	b->own_result = 0;
	b->buf = 0;
	if (rec->call != FI_XPU_RING_SEND) {
		b->words[2] = fi_xpu_mlx5_be64(rec->addr);
		b->words[3] = fi_xpu_mlx5_be64(rec->key << 32);
		b->segs++;
	}
	if (rec->call >= FI_XPU_RING_ATOMIC)
		return fi_xpu_mlx5_atomic(ep, b, rec);
	b->op = rec->call == FI_XPU_RING_SEND ? 0x0a : rec->call == FI_XPU_RING_READ ? 0x10 : 0x08;
	b->op += rec->flags & FI_REMOTE_CQ_DATA ? 1 : 0;
	b->entry = rec->call == FI_XPU_RING_SEND ? FI_SEND | FI_MSG :
		   FI_RMA | (rec->call == FI_XPU_RING_READ ? FI_READ : FI_WRITE);
	return rec->len > ep->max_len ? -FI_EMSGSIZE :
	       fi_xpu_mlx5_data(ep, b, rec->buf, rec->len, rec->desc);
}

/* ---- posting -------------------------------------------------------------------- */

/* Reserve an index: errors as those of fi_xpu_ring_reserve(). */
FI_XPU_RING_FUNC int fi_xpu_mlx5_reserve(struct fi_xpu_mlx5_queue *q, uint64_t *at)
{
	struct fi_xpu_ring_ep ring;

	ring.tail = &q->tail;
	ring.head = &q->done;
	ring.records = 0;
	ring.mask = q->room - 1;
	return fi_xpu_ring_reserve(&ring, at);
}

/* The request at an index is whole: others may announce it. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_commit(struct fi_xpu_mlx5_queue *q, uint64_t at,
		const uint64_t *words, uint64_t cnt, const struct fi_xpu_mlx5_build *b,
		const struct fi_xpu_ring_record *rec)
{
	struct fi_xpu_mlx5_slot *slot = &q->slots[at & q->mask];

	__builtin_memcpy(fi_xpu_mlx5_wqe(q, at), words, cnt * sizeof(*words));
	slot->context = rec->context;
	slot->flags = b->entry;
	slot->wanted = (rec->flags | q->always) & FI_COMPLETION;
	slot->buf = b->buf;
	slot->len = rec->call >= FI_XPU_RING_ATOMIC ? 8 : rec->len;
	fi_xpu_ring_store(&slot->ready, at + 1);
	fi_xpu_mlx5_ring(q);
}

FI_XPU_RING_FUNC int fi_xpu_mlx5_transmit(struct fi_xpu_mlx5_ep *ep,
		const struct fi_xpu_ring_record *rec)
{
	uint64_t may = FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_FENCE | FI_MORE;
	struct fi_xpu_mlx5_build b;
	uint64_t at = 0, ctrl;
	int ret;

	if (rec->call == FI_XPU_RING_SEND || rec->call == FI_XPU_RING_WRITE)
		may |= FI_REMOTE_CQ_DATA;
	if (rec->flags & ~may)
		return -FI_EBADFLAGS;
	if (!fi_xpu_ring_load(&ep->connected))
		return fi_xpu_ring_load(&ep->sq.tail) & FI_XPU_RING_CLOSED ? -FI_ECANCELED : -FI_ENOTCONN;
	ret = fi_xpu_mlx5_fill(ep, &b, rec);
	if (!ret)
		ret = fi_xpu_mlx5_reserve(&ep->sq, &at);
	if (ret)
		return ret;
	if (b.own_result) {
		b.words[b.segs * 2] = fi_xpu_mlx5_be64(8ull << 32 | ep->slots_key);
		b.words[b.segs * 2 + 1] = fi_xpu_mlx5_be64(ep->slots_at +
			(at & ep->sq.mask) * sizeof(struct fi_xpu_mlx5_slot) +
			__builtin_offsetof(struct fi_xpu_mlx5_slot, result));
		b.segs++;
	}
	/* each has a completion, which makes its place free */
	ctrl = (at & 0xffff) << 40 | b.op << 32 | (uint64_t) ep->qpn << 8 | b.segs;
	b.words[0] = fi_xpu_mlx5_be64(ctrl);
	ctrl = rec->flags & FI_FENCE ? 0x88 : 0x08;
	b.words[1] = fi_xpu_mlx5_be64(ctrl << 32 |
		(rec->flags & FI_REMOTE_CQ_DATA ? rec->data & 0xffffffff : 0));
	fi_xpu_mlx5_commit(&ep->sq, at, b.words, b.segs * 2, &b, rec);
	return 0;
}

FI_XPU_RING_FUNC int fi_xpu_mlx5_receive(struct fi_xpu_mlx5_ep *ep,
		const struct fi_xpu_ring_record *rec)
{
	struct fi_xpu_mlx5_build b;
	uint64_t at = 0;
	int ret;

	if (rec->flags & ~FI_COMPLETION)
		return -FI_EBADFLAGS;
	if (rec->len > 0x7fffffff)
		return -FI_EMSGSIZE;
	b.segs = 0;
	b.entry = FI_RECV | FI_MSG;
	ret = fi_xpu_mlx5_data(ep, &b, rec->buf, rec->len, rec->desc);
	if (!ret)
		ret = fi_xpu_mlx5_reserve(&ep->rq, &at);
	if (ret)
		return ret;
	/* a key that means the end of the list */
	if (b.segs * 16 < ep->rq.stride) {
		b.words[b.segs * 2] = fi_xpu_mlx5_be64(0x100);
		b.words[b.segs * 2 + 1] = 0;
		b.segs++;
	}
	fi_xpu_mlx5_commit(&ep->rq, at, b.words, b.segs * 2, &b, rec);
	return 0;
}

/* Post what a record says.  A wrong argument is refused here. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_put(const struct fid_xpu_ep *fid, const struct fi_xpu_ring_record *rec)
{
	struct fi_xpu_mlx5_ep *ep = (struct fi_xpu_mlx5_ep *) fi_xpu_ring_of(&fid->fid);

	if (rec->peer)
		return -FI_EINVAL;	/* a connected endpoint has one peer */
	if (rec->call == FI_XPU_RING_TSEND || rec->call == FI_XPU_RING_TRECV)
		return -FI_ENOSYS;
	return rec->call == FI_XPU_RING_RECV ? fi_xpu_mlx5_receive(ep, rec) :
					       fi_xpu_mlx5_transmit(ep, rec);
}

/* ---- completions ------------------------------------------------------------------ */

/* One entry of the NIC, by what it is of. */
struct fi_xpu_mlx5_entry {
	const uint64_t *cqe;
	uint64_t op;			/* the NIC's number */
	uint64_t here;			/* where short data is */
	struct fi_xpu_mlx5_queue *q;
	struct fi_xpu_mlx5_slot *slot;
	uint64_t at;			/* index in the queue */
};

/* A 32-bit number in the entry. */
FI_XPU_RING_FUNC uint32_t fi_xpu_mlx5_u32(const uint64_t *cqe, unsigned byte)
{
	uint64_t word = fi_xpu_mlx5_be64(cqe[byte / 8]);

	return (uint32_t) (byte & 4 ? word : word >> 32);
}

/* The entry at an index, if the NIC has written it in this lap. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_look(const struct fi_xpu_mlx5_cq *cq, uint64_t at,
		struct fi_xpu_mlx5_entry *e)
{
	const char *cqe = cq->cqes + (at & cq->mask) * cq->stride + cq->stride - 64;
	uint64_t word, counter;

	e->cqe = (const uint64_t *) (const void *) cqe;
	/* queue pair, counter, signature; then what the NIC writes last: operation and owner bit */
	word = fi_xpu_mlx5_be64(fi_xpu_ring_load(&e->cqe[7]));
	e->op = word >> 4 & 0xf;
	if (e->op == 0xf || (word & 1) != !!(at & (cq->mask + 1)))
		return 0;
	e->q = e->op == 0 || e->op == 13 ? &cq->ep->sq : &cq->ep->rq;
	e->here = word & 0x4 ? (uintptr_t) cqe : word & 0x8 ? (uintptr_t) cqe - 64 : 0;
	counter = word >> 16 & 0xffff;
	e->at = fi_xpu_ring_load(&e->q->done);
	e->at += (counter - e->at) & 0xffff;
	e->slot = &e->q->slots[e->at & e->q->mask];
	return 1;
}

FI_XPU_RING_FUNC int fi_xpu_mlx5_failed(const struct fi_xpu_mlx5_entry *e)
{
	return e->op == 13 || e->op == 14;
}

/* Short data may have come in the entry. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_fetch(const struct fi_xpu_mlx5_entry *e, uint64_t len)
{
	char *to = (char *) (uintptr_t) e->slot->buf;
	uint64_t i;

	for (i = 0; e->here && to && i < len && i < e->slot->len; i++)
		to[i] = ((const char *) (uintptr_t) e->here)[i];
}

/* A success as the program reads it: the words of a struct fi_cq_tagged_entry. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_tell(const struct fi_xpu_mlx5_entry *e, uint64_t words[6])
{
	uint64_t len = fi_xpu_mlx5_u32(e->cqe, 44);

	words[0] = e->slot->context;
	words[1] = e->slot->flags;
	words[2] = words[3] = words[4] = words[5] = 0;
	if (e->op != 1)
		fi_xpu_mlx5_fetch(e, len);
	if (e->op == 0)
		return;
	words[2] = len;
	words[3] = e->slot->buf;
	if (e->op == 2)
		return;
	words[1] = e->op == 1 ? FI_RMA | FI_REMOTE_WRITE : e->slot->flags;
	words[1] |= FI_REMOTE_CQ_DATA;
	words[4] = fi_xpu_mlx5_u32(e->cqe, 36);
}

/* The entry is read: its request's place is free, and so will be the NIC's. */
FI_XPU_RING_FUNC void fi_xpu_mlx5_retire(struct fi_xpu_mlx5_cq *cq, const struct fi_xpu_mlx5_entry *e)
{
	fi_xpu_ring_store(&e->q->done, e->at + 1);
	fi_xpu_ring_store(&cq->head, cq->head + 1);
	fi_xpu_mlx5_store32(cq->dbrec, fi_xpu_mlx5_be32((uint32_t) (cq->head & 0xffffff)));
}

/* One thread reads at a time. */
FI_XPU_RING_FUNC int fi_xpu_mlx5_enter(struct fi_xpu_mlx5_cq *cq)
{
	uint64_t none = 0;

	return fi_xpu_ring_swap(&cq->reading, &none, 1);
}

/* Up to count entries; -FI_EAVAIL: an error is first, -FI_EAGAIN: nothing is there for this thread. */
FI_XPU_RING_FUNC int64_t fi_xpu_mlx5_take(struct fi_xpu_mlx5_cq *cq, char *buf, uint64_t count, void *src)
{
	const uint64_t none = ~0ull;
	struct fi_xpu_mlx5_entry e;
	uint64_t words[6], n = 0;
	int64_t ret = -FI_EAGAIN;

	if (!fi_xpu_mlx5_enter(cq))
		return -FI_EAGAIN;
	while (n < count && fi_xpu_mlx5_look(cq, cq->head, &e)) {
		if (fi_xpu_mlx5_failed(&e)) {
			ret = -FI_EAVAIL;
			break;
		}
		fi_xpu_mlx5_tell(&e, words);
		if (e.slot->wanted) {
			__builtin_memcpy(buf + n * cq->entry_size, words, cq->entry_size);
			if (src)
				__builtin_memcpy((char *) src + n * sizeof(none), &none, sizeof(none));
			n++;
		}
		fi_xpu_mlx5_retire(cq, &e);
	}
	fi_xpu_ring_store(&cq->reading, 0);
	return n ? (int64_t) n : ret;
}

FI_XPU_RING_FUNC struct fi_xpu_mlx5_cq *fi_xpu_mlx5_cq_of(const struct fid_xpu_cq *fid)
{
	return (struct fi_xpu_mlx5_cq *) fi_xpu_ring_of(&fid->fid);
}

/* As fi_xpu_ring_read(). */
FI_XPU_RING_FUNC int64_t fi_xpu_mlx5_read(const struct fid_xpu_cq *fid, void *buf, uint64_t count,
		void *src)
{
	struct fi_xpu_mlx5_cq *cq = fi_xpu_mlx5_cq_of(fid);
	int64_t n = count ? fi_xpu_mlx5_take(cq, (char *) buf, count, src) : 0;

	return n == -FI_EAGAIN ? fi_xpu_ring_read(&cq->ring, buf, count, src) : n;
}

/* As fi_xpu_ring_readerr(). */
FI_XPU_RING_FUNC int64_t fi_xpu_mlx5_readerr(const struct fid_xpu_cq *fid, void *buf, uint64_t size)
{
	struct fi_xpu_mlx5_cq *cq = fi_xpu_mlx5_cq_of(fid);
	struct fi_cq_err_entry err;
	struct fi_xpu_mlx5_entry e;
	int found = 0;
	unsigned why;

	if (fi_xpu_mlx5_enter(cq)) {
		found = fi_xpu_mlx5_look(cq, cq->head, &e) && fi_xpu_mlx5_failed(&e);
		if (found) {
			why = fi_xpu_mlx5_u32(e.cqe, 52) & 63;
			__builtin_memset(&err, 0, sizeof(err));
			err.op_context = (void *) (uintptr_t) e.slot->context;
			err.flags = e.slot->flags;
			err.len = e.op == 13 ? e.slot->len : 0;
			err.buf = e.op == 14 ? (void *) (uintptr_t) e.slot->buf : 0;
			err.err = cq->err[e.op == 14][why];
			err.prov_errno = cq->status[why];
			err.src_addr = FI_ADDR_NOTAVAIL;
			__builtin_memcpy(buf, &err, size);
			fi_xpu_mlx5_retire(cq, &e);
		}
		fi_xpu_ring_store(&cq->reading, 0);
	}
	return found ? 1 : fi_xpu_ring_readerr(&cq->ring, buf, size);
}

/* How many entries are there, up to want; an error among them is as good as all. */
FI_XPU_RING_FUNC uint64_t fi_xpu_mlx5_ready(const struct fi_xpu_mlx5_cq *cq, uint64_t want)
{
	uint64_t head = fi_xpu_ring_load(&cq->head), n;
	struct fi_xpu_mlx5_entry e;

	for (n = 0; n < want && n <= cq->mask && fi_xpu_mlx5_look(cq, head + n, &e); n++)
		if (fi_xpu_mlx5_failed(&e))
			return want;
	return n > cq->mask ? want : n;
}

/* As fi_xpu_ring_sread(). */
FI_XPU_RING_FUNC int64_t fi_xpu_mlx5_sread(const struct fid_xpu_cq *fid, void *buf, uint64_t count,
		void *src, uint64_t threshold)
{
	const struct fi_xpu_mlx5_cq *cq = fi_xpu_mlx5_cq_of(fid);
	uint64_t want = threshold < count ? threshold : count;
	int64_t n;

	for (;;) {
		n = fi_xpu_mlx5_ready(cq, want ? want : 1) >= want ?
		    fi_xpu_mlx5_read(fid, buf, count, src) : fi_xpu_ring_read(&cq->ring, buf, count, src);
		if (n != -FI_EAGAIN)
			return n;
		fi_xpu_ring_relax();
	}
}

#endif /* FI_XPU_MLX5_H */
